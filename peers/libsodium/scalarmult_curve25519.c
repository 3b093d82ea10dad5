/* libsodium's X25519 behind our function. */
#include <sodium.h>
#include <stdint.h>

int rival_setup(void)
{
  return sodium_init() < 0;
}

void santoku_x25519(uint8_t *result, const uint8_t *k, const uint8_t *u)
{
  if (crypto_scalarmult(result, k, u)) result[0] ^= 1;
}
