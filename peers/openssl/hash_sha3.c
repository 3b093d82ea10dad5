/* OpenSSL's SHA3-256 and SHA3-512 behind our functions: the algorithms are fetched once, as callers do. */
#include <openssl/evp.h>
#include <stdint.h>

static void digest(EVP_MD **md, const char *name, uint8_t *result, uint32_t n, const uint8_t *m)
{
  static EVP_MD_CTX *ctx;
  if (!*md) {
    *md = EVP_MD_fetch(0, name, 0);
    ctx = EVP_MD_CTX_new();
  }
  EVP_DigestInit_ex2(ctx, *md, 0);
  EVP_DigestUpdate(ctx, m, n);
  EVP_DigestFinal_ex(ctx, result, 0);
}

void santoku_sha3_256(uint8_t *result, uint32_t n, const uint8_t *m)
{
  static EVP_MD *md;
  digest(&md, "SHA3-256", result, n, m);
}

void santoku_sha3_512(uint8_t *result, uint32_t n, const uint8_t *m)
{
  static EVP_MD *md;
  digest(&md, "SHA3-512", result, n, m);
}
