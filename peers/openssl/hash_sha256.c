/* OpenSSL's SHA-256 behind our function: the algorithm is fetched once, as callers do. */
#include <openssl/evp.h>
#include <stdint.h>

void santoku_sha256(uint8_t *result, uint32_t n, const uint8_t *m)
{
  static EVP_MD *md;
  static EVP_MD_CTX *ctx;
  if (!md) {
    md = EVP_MD_fetch(0, "SHA256", 0);
    ctx = EVP_MD_CTX_new();
  }
  EVP_DigestInit_ex2(ctx, md, 0);
  EVP_DigestUpdate(ctx, m, n);
  EVP_DigestFinal_ex(ctx, result, 0);
}
