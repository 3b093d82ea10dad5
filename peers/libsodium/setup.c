/* libsodium has NaCl's functions by their names; it chooses its code for the processor when it is told to. */
#include <sodium.h>

int rival_setup(void)
{
  return sodium_init() < 0;
}
