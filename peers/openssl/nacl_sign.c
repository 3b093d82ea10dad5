/* OpenSSL's Ed25519 behind NaCl's functions. A key is loaded when it is first seen; each operation re-initialises the digest context, as callers do. */
#include <openssl/evp.h>
#include <string.h>

static EVP_MD_CTX *context(void)
{
  static EVP_MD_CTX *ctx;
  if (!ctx) ctx = EVP_MD_CTX_new();
  return ctx;
}

int crypto_sign(unsigned char *sm, unsigned long long *smlen, const unsigned char *m, unsigned long long n, const unsigned char *sk)
{
  static EVP_PKEY *key;
  static unsigned char seed[32];
  size_t length = 64;
  if (!key || memcmp(seed, sk, 32)) {
    EVP_PKEY_free(key);
    memcpy(seed, sk, 32);
    key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, 0, seed, 32);
  }
  memmove(sm + 64, m, n);
  EVP_DigestSignInit(context(), 0, 0, 0, key);
  EVP_DigestSign(context(), sm, &length, sm + 64, n);
  EVP_MD_CTX_reset(context());
  *smlen = n + 64;
  return 0;
}

int crypto_sign_open(unsigned char *m, unsigned long long *mlen, const unsigned char *sm, unsigned long long n, const unsigned char *pk)
{
  static EVP_PKEY *key;
  static unsigned char public[32];
  int good;
  if (!key || memcmp(public, pk, 32)) {
    EVP_PKEY_free(key);
    memcpy(public, pk, 32);
    key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, 0, public, 32);
  }
  EVP_DigestVerifyInit(context(), 0, 0, 0, key);
  good = EVP_DigestVerify(context(), sm, 64, sm + 64, n - 64) == 1;
  EVP_MD_CTX_reset(context());
  if (!good) return -1;
  memmove(m, sm + 64, n - 64);
  *mlen = n - 64;
  return 0;
}
