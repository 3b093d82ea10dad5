/* Signs with one key after another, in the same places of memory; each call stands between two marks. */
#include "nacl_sign.h"

__attribute__((noinline)) void trace_begin(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void trace_end(void) { __asm__ volatile("" ::: "memory"); }

void randombytes(unsigned char *x, unsigned long long n)
{
  while (n--) *x++ = 0;
}

static unsigned char pk[32], sk[64], sm[64 + 48], own[32], message[48];

/* Returns 0; every signature's first byte goes to `first`. */
int traced(unsigned char *first, const unsigned char *seeds, unsigned long n);
int traced(unsigned char *first, const unsigned char *seeds, unsigned long n)
{
  unsigned long k, i;
  unsigned long long length;
  for (k = 0; k < n; k++) {
    for (i = 0; i < 32; i++) own[i] = seeds[32 * k + i];
    trace_begin();
    crypto_sign_seed_keypair(pk, sk, own);
    trace_end();
    trace_begin();
    crypto_sign(sm, &length, message, sizeof message, sk);
    trace_end();
    first[k] = sm[0];
  }
  return 0;
}
