/* OpenSSL's Ed25519 through EVP: keys are loaded once, each operation re-initialises the digest context, as callers do. */
#include <openssl/evp.h>
#include "bench.h"

static EVP_PKEY *key, *pub;
static EVP_MD_CTX *ctx;
static unsigned char sig[64], verdict[1];

static void sign(void)
{
  size_t n = sizeof sig;
  EVP_DigestSignInit(ctx, 0, 0, 0, key);
  EVP_DigestSign(ctx, sig, &n, bench_msg, bench_msg_len);
  EVP_MD_CTX_reset(ctx);
}

static void verify(void)
{
  EVP_DigestVerifyInit(ctx, 0, 0, 0, pub);
  verdict[0] = EVP_DigestVerify(ctx, sig, sizeof sig, bench_msg, bench_msg_len) == 1;
  EVP_MD_CTX_reset(ctx);
}

static int setup(void)
{
  unsigned char pk[32];
  size_t n = sizeof pk;
  key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, 0, bench_key, 32);
  if (!key || EVP_PKEY_get_raw_public_key(key, pk, &n) != 1) return 1;
  pub = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, 0, pk, n);
  ctx = EVP_MD_CTX_new();
  if (!pub || !ctx) return 1;
  sign();
  sig[0] ^= 1;
  verify();
  sig[0] ^= 1;
  return verdict[0] != 0;
}

static const struct bench_op ops[] = {
  {"sign", sign, 0, sig, sizeof sig},
  {"verify", verify, 0, verdict, sizeof verdict},
};

const struct bench_impl BENCH_IMPL = {setup, ops, sizeof ops / sizeof ops[0]};
