/* libsodium's detached Ed25519 behind the bench's interface. */
#include <sodium.h>
#include "bench.h"

static unsigned char pk[32], sk[64], sig[64], verdict[1];

static void sign(void)
{
  crypto_sign_detached(sig, 0, bench_msg, bench_msg_len, sk);
}

static void verify(void)
{
  verdict[0] = crypto_sign_verify_detached(sig, bench_msg, bench_msg_len, pk) == 0;
}

static int setup(void)
{
  if (sodium_init() < 0) return 1;
  crypto_sign_seed_keypair(pk, sk, bench_key);
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
