/* libsodium's ChaCha20 (RFC 8439: 96-bit nonce, 32-bit counter) over the whole message, counter from 0. */
#include <sodium.h>
#include "bench.h"

static const unsigned char nonce[12];
static unsigned char *out;

static void encrypt(void)
{
  crypto_stream_chacha20_ietf_xor_ic(out, bench_msg, bench_msg_len, nonce, 0, bench_key);
}

static struct bench_op ops[] = {{"encrypt", encrypt, 0, 0, 0}};

static int setup(void)
{
  if (sodium_init() < 0) return 1;
  out = malloc(bench_msg_len);
  ops[0].bytes = ops[0].result_len = bench_msg_len;
  ops[0].result = out;
  return out == 0;
}

const struct bench_impl BENCH_IMPL = {setup, ops, 1};
