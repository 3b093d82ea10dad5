/* libsecp256k1's verification behind our function: the key and the signature are parsed with every call. It accepts only the lower of both values of s,
   ours accepts both, so that a signature is normalised first. The library asks for memory and for a way to fail only in what verification does not call. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "secp256k1.h"

/* The header of the crate leaves it out. */
extern const rustsecp256k1_v0_11_context *rustsecp256k1_v0_11_context_static;

void rustsecp256k1_v0_11_default_illegal_callback_fn(const char *message, void *data);
void rustsecp256k1_v0_11_default_illegal_callback_fn(const char *message, void *data) { (void)message; (void)data; for (;;) {} }
void rustsecp256k1_v0_11_default_error_callback_fn(const char *message, void *data);
void rustsecp256k1_v0_11_default_error_callback_fn(const char *message, void *data) { (void)message; (void)data; for (;;) {} }

int secp256k1_ecdsa_verify(const uint8_t *digest, const uint8_t *sig, const uint8_t *pk);
int secp256k1_ecdsa_verify(const uint8_t *digest, const uint8_t *sig, const uint8_t *pk)
{
  const rustsecp256k1_v0_11_context *context = rustsecp256k1_v0_11_context_static;
  rustsecp256k1_v0_11_pubkey key;
  rustsecp256k1_v0_11_ecdsa_signature s;
  uint8_t encoded[65];
  encoded[0] = 4;
  memcpy(encoded + 1, pk, 64);
  if (!rustsecp256k1_v0_11_ec_pubkey_parse(context, &key, encoded, 65)) return -1;
  if (!rustsecp256k1_v0_11_ecdsa_signature_parse_compact(context, &s, sig)) return -1;
  rustsecp256k1_v0_11_ecdsa_signature_normalize(context, &s, &s);
  return rustsecp256k1_v0_11_ecdsa_verify(context, &s, digest, &key) ? 0 : -1;
}
