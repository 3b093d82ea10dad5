/* BearSSL's AES-GCM behind our functions: its constant-time code for 64-bit machines, eight words for four blocks; the key is set with every message. */
#include <bearssl.h>
#include <stdint.h>
#include <string.h>

static void seal(uint8_t *c, uint8_t *tag, uint32_t k, uint32_t n, const uint8_t *key, size_t bytes, const uint8_t *nonce, const uint8_t *a,
                 const uint8_t *m)
{
  br_aes_ct64_ctr_keys cipher;
  br_gcm_context ctx;
  br_aes_ct64_ctr_init(&cipher, key, bytes);
  br_gcm_init(&ctx, &cipher.vtable, br_ghash_ctmul64);
  br_gcm_reset(&ctx, nonce, 12);
  br_gcm_aad_inject(&ctx, a, k);
  br_gcm_flip(&ctx);
  memcpy(c, m, n);
  br_gcm_run(&ctx, 1, c, n);
  br_gcm_get_tag(&ctx, tag);
}

void santoku_aes128gcm_seal(uint8_t *c, uint8_t *tag, uint32_t k, uint32_t n, const uint8_t *key, const uint8_t *nonce, const uint8_t *a,
                            const uint8_t *m)
{
  seal(c, tag, k, n, key, 16, nonce, a, m);
}

void santoku_aes256gcm_seal(uint8_t *c, uint8_t *tag, uint32_t k, uint32_t n, const uint8_t *key, const uint8_t *nonce, const uint8_t *a,
                            const uint8_t *m)
{
  seal(c, tag, k, n, key, 32, nonce, a, m);
}
