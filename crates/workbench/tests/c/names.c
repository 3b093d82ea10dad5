/* Signs the message of RFC 8032, section 7.1, test 2, and opens it, by whatever names the headers give. FIRST, SECOND: headers, in order. */
#include <stdio.h>
#include <string.h>
#ifdef FIRST
#include FIRST
#endif
#ifdef SECOND
#include SECOND
#endif
#ifndef OWN
#define OWN(name) name
#endif

#ifndef HAS_RANDOMBYTES
void randombytes(unsigned char *x, unsigned long long n)
{
  while (n--) *x++ = 7;
}
#endif

static const unsigned char sk[64] = {
  0x4c, 0xcd, 0x08, 0x9b, 0x28, 0xff, 0x96, 0xda, 0x9d, 0xb6, 0xc3, 0x46, 0xec, 0x11, 0x4e, 0x0f,
  0x5b, 0x8a, 0x31, 0x9f, 0x35, 0xab, 0xa6, 0x24, 0xda, 0x8c, 0xf6, 0xed, 0x4f, 0xb8, 0xa6, 0xfb,
  0x3d, 0x40, 0x17, 0xc3, 0xe8, 0x43, 0x89, 0x5a, 0x92, 0xb7, 0x0a, 0xa7, 0x4d, 0x1b, 0x7e, 0xbc,
  0x9c, 0x98, 0x2c, 0xcf, 0x2e, 0xc4, 0x96, 0x8c, 0xc0, 0xcd, 0x55, 0xf1, 0x2a, 0xf4, 0x66, 0x0c
};

int main(void)
{
  unsigned char m[1] = {0x72}, sm[crypto_sign_BYTES + 1], opened[crypto_sign_BYTES + 1];
  unsigned char pk[crypto_sign_PUBLICKEYBYTES], own[crypto_sign_SECRETKEYBYTES];
  unsigned long long n = 0;
  if (OWN(crypto_sign)(sm, &n, m, 1, sk) || n != 65 || sm[0] != 0x92 || sm[63] != 0x00) return 1;
  if (OWN(crypto_sign_open)(opened, &n, sm, 65, sk + 32) || n != 1 || opened[0] != 0x72) return 2;
  sm[3] ^= 1;
  if (!OWN(crypto_sign_open)(opened, &n, sm, 65, sk + 32)) return 3;
  if (OWN(crypto_sign_keypair)(pk, own) || memcmp(pk, own + 32, 32)) return 4;
  puts(crypto_sign_PRIMITIVE);
  return 0;
}
