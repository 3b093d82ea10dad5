/* Freestanding <stdint.h>: the compiler's own. */
#include <stdint-gcc.h>
