/* TweetNaCl behind the bench's interface: crypto_sign and crypto_sign_open with attached signatures, as the API has it. */
#include "bench.h"
#include "tweetnacl.h"

/* The library asks for randomness in key generation only: it gets the bench's fixed seed. */
void randombytes(unsigned char *out, unsigned long long n)
{
  memcpy(out, bench_key, n);
}

static unsigned char pk[32], sk[64], sig[64], verdict[1];
static unsigned char *signed_msg, *opened;
static unsigned long long signed_len, opened_len;

static void sign(void)
{
  crypto_sign(signed_msg, &signed_len, bench_msg, bench_msg_len, sk);
  memcpy(sig, signed_msg, 64);
}

static void verify(void)
{
  verdict[0] = crypto_sign_open(opened, &opened_len, signed_msg, signed_len, pk) == 0;
}

static int setup(void)
{
  signed_msg = malloc(bench_msg_len + 64);
  opened = malloc(bench_msg_len + 64);
  if (!signed_msg || !opened) return 1;
  crypto_sign_keypair(pk, sk);
  sign();
  signed_msg[64] ^= 1;
  verify();
  signed_msg[64] ^= 1;
  return verdict[0] != 0;
}

static const struct bench_op ops[] = {
  {"sign", sign, 0, sig, sizeof sig},
  {"verify", verify, 0, verdict, sizeof verdict},
};

const struct bench_impl BENCH_IMPL = {setup, ops, sizeof ops / sizeof ops[0]};
