/* What the calibration programs of our own assembly compute: a signature of 256 bytes under an arbitrary key, its verification, a shared secret. */
#include <stddef.h>
#include <stdint.h>
void santoku_sign_public_key(uint8_t *pk, const uint8_t *seed);
void santoku_sign_detached(uint8_t *sig, size_t n, const uint8_t *m, const uint8_t *sk);
uint32_t santoku_sign_verify(size_t n, const uint8_t *m, const uint8_t *sig, const uint8_t *pk);
void santoku_x25519(uint8_t *r, const uint8_t *k, const uint8_t *u);
static uint8_t message[256] = {1, 2, 3}, key[64] = {4, 5, 6}, signature[64], point[32] = {9}, shared[32];
static uint32_t valid;
static void prepare(void) { santoku_sign_public_key(key + 32, key); santoku_sign_detached(signature, sizeof message, message, key); }
static void sign(void) { santoku_sign_detached(signature, sizeof message, message, key); }
static void verify(void) { valid = santoku_sign_verify(sizeof message, message, signature, key + 32); }
static void x25519(void) { santoku_x25519(shared, key, point); }
