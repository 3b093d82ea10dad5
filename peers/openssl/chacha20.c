/* OpenSSL's ChaCha20 through EVP over the whole message, counter and nonce zero. The context is re-initialised with
   the key each time, as an encryption of one message has to. */
#include <openssl/evp.h>
#include "bench.h"

static const unsigned char counter_and_nonce[16];
static EVP_CIPHER_CTX *ctx;
static EVP_CIPHER *cipher;
static unsigned char *out;

static void encrypt(void)
{
  int n;
  EVP_EncryptInit_ex2(ctx, cipher, bench_key, counter_and_nonce, 0);
  EVP_EncryptUpdate(ctx, out, &n, bench_msg, (int)bench_msg_len);
}

static struct bench_op ops[] = {{"encrypt", encrypt, 0, 0, 0}};

static int setup(void)
{
  ctx = EVP_CIPHER_CTX_new();
  cipher = EVP_CIPHER_fetch(0, "ChaCha20", 0);
  out = malloc(bench_msg_len);
  ops[0].bytes = ops[0].result_len = bench_msg_len;
  ops[0].result = out;
  return !ctx || !cipher || !out;
}

const struct bench_impl BENCH_IMPL = {setup, ops, 1};
