/* OpenSSL's ECDSA verification on secp256k1 behind our function: the public key is loaded when it is first seen, the signature read with every call. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/obj_mac.h>
#include <stdint.h>
#include <string.h>

int secp256k1_ecdsa_verify(const uint8_t *digest, const uint8_t *sig, const uint8_t *pk);
int secp256k1_ecdsa_verify(const uint8_t *digest, const uint8_t *sig, const uint8_t *pk)
{
  static EC_KEY *key;
  static uint8_t seen[65];
  ECDSA_SIG *s = ECDSA_SIG_new();
  int good;
  if (!key || memcmp(seen + 1, pk, 64)) {
    EC_KEY_free(key);
    key = EC_KEY_new_by_curve_name(NID_secp256k1);
    seen[0] = 4;
    memcpy(seen + 1, pk, 64);
    if (EC_KEY_oct2key(key, seen, 65, 0) != 1) return -1;
  }
  ECDSA_SIG_set0(s, BN_bin2bn(sig, 32, 0), BN_bin2bn(sig + 32, 32, 0));
  good = ECDSA_do_verify(digest, 32, s, key) == 1;
  ECDSA_SIG_free(s);
  return good ? 0 : -1;
}
