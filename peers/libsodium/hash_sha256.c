/* libsodium's SHA-256 behind our function. */
#include <sodium.h>
#include <stdint.h>

int rival_setup(void)
{
  return sodium_init() < 0;
}

void santoku_sha256(uint8_t *result, uint32_t n, const uint8_t *m)
{
  crypto_hash_sha256(result, m, n);
}
