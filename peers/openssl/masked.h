/* A processor that is said to have neither instructions for SHA nor AVX: included by an adapter of such a rival. */
#include <openssl/crypto.h>

/* Features as the library found them: EDX and ECX of CPUID's leaf 1, EBX and ECX of leaf 7. */
extern unsigned int OPENSSL_ia32cap_P[4];

int rival_setup(void)
{
  const unsigned int xop = 1u << 11, avx = 1u << 28, avx2 = 1u << 5, avx512f = 1u << 16, sha = 1u << 29;
  if (!OPENSSL_init_crypto(0, 0)) return 1;
  OPENSSL_ia32cap_P[1] &= ~(xop | avx);
  OPENSSL_ia32cap_P[2] &= ~(avx2 | avx512f | sha);
  return 0;
}
