/* OpenSSL's AES-GCM behind our functions: the algorithm is fetched once; key and nonce are set with every message. */
#include <openssl/evp.h>
#include <stdint.h>

static void seal(EVP_CIPHER *cipher, uint8_t *c, uint8_t *tag, uint32_t k, uint32_t n, const uint8_t *key, const uint8_t *nonce, const uint8_t *a,
                 const uint8_t *m)
{
  static EVP_CIPHER_CTX *ctx;
  int taken;
  if (!ctx) ctx = EVP_CIPHER_CTX_new();
  EVP_EncryptInit_ex2(ctx, cipher, key, nonce, 0);
  EVP_EncryptUpdate(ctx, 0, &taken, a, (int)k);
  EVP_EncryptUpdate(ctx, c, &taken, m, (int)n);
  EVP_EncryptFinal_ex(ctx, c + taken, &taken);
  EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag);
}

void santoku_aes128gcm_seal(uint8_t *c, uint8_t *tag, uint32_t k, uint32_t n, const uint8_t *key, const uint8_t *nonce, const uint8_t *a,
                            const uint8_t *m)
{
  static EVP_CIPHER *cipher;
  if (!cipher) cipher = EVP_CIPHER_fetch(0, "AES-128-GCM", 0);
  seal(cipher, c, tag, k, n, key, nonce, a, m);
}

void santoku_aes256gcm_seal(uint8_t *c, uint8_t *tag, uint32_t k, uint32_t n, const uint8_t *key, const uint8_t *nonce, const uint8_t *a,
                            const uint8_t *m)
{
  static EVP_CIPHER *cipher;
  if (!cipher) cipher = EVP_CIPHER_fetch(0, "AES-256-GCM", 0);
  seal(cipher, c, tag, k, n, key, nonce, a, m);
}
