/* libsodium's XChaCha20-Poly1305 behind our function. */
#include <sodium.h>
#include <stdint.h>

int rival_setup(void)
{
  return sodium_init() < 0;
}

void santoku_xchacha20poly1305_seal(uint8_t *c, uint8_t *tag, uint32_t k, uint32_t n, const uint8_t *key, const uint8_t *nonce, const uint8_t *a,
                                    const uint8_t *m)
{
  unsigned long long taken;
  crypto_aead_xchacha20poly1305_ietf_encrypt_detached(c, tag, &taken, m, n, a, k, 0, nonce, key);
}
