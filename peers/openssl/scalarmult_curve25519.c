/* OpenSSL's X25519 behind our function: keys are loaded with every call, since each call brings its own. */
#include <openssl/evp.h>
#include <stdint.h>

void santoku_x25519(uint8_t *result, const uint8_t *k, const uint8_t *u)
{
  size_t n = 32;
  EVP_PKEY *own = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, 0, k, 32);
  EVP_PKEY *other = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, 0, u, 32);
  EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(own, 0);
  EVP_PKEY_derive_init(ctx);
  EVP_PKEY_derive_set_peer(ctx, other);
  EVP_PKEY_derive(ctx, result, &n);
  EVP_PKEY_CTX_free(ctx);
  EVP_PKEY_free(other);
  EVP_PKEY_free(own);
}
