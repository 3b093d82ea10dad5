/* OpenSSL's SHA-256 on a processor that is said to have neither SHA nor AVX. */
#include "hash_sha256.c"
#include "masked.h"
