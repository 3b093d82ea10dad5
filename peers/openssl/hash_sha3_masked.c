/* OpenSSL's SHA-3 on a processor that is said to have neither SHA nor AVX. */
#include "hash_sha3.c"
#include "masked.h"
