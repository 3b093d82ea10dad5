/* Every exported function with its secrets marked as undefined: memcheck reports a branch on one, and an address with one in it. What is published
 * (ciphertexts, authenticators, public keys, verdicts) is marked as defined before it is used. Prints how many calls it made. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/memcheck.h>
#include "aead_aesgcm.h"
#include "aead_chacha20poly1305.h"
#include "aead_xchacha20poly1305.h"
#include "hash_sha256.h"
#include "hash_sha384.h"
#include "hkdf_sha256.h"
#include "hkdf_sha512.h"
#include "hmac_sha256.h"
#include "hmac_sha384.h"
#include "hmac_sha512.h"
#include "nacl.h"

#define MOST 1700

static unsigned calls;
static uint8_t key[300], nonce[24], m[MOST], c[MOST], back[MOST], out[256], pk[32], sk[64], shared[32];

static void secret(void *p, size_t n)
{
    (void)VALGRIND_MAKE_MEM_UNDEFINED(p, n);
}

static void shown(void *p, size_t n)
{
    calls++;
    (void)VALGRIND_MAKE_MEM_DEFINED(p, n);
}

void randombytes(unsigned char *x, unsigned long long n)
{
    unsigned long long i;
    for (i = 0; i < n; i++) {
        x[i] = (unsigned char)(i * 11 + 5);
    }
    secret(x, n);
}

static void fresh(uint8_t *p, size_t n, unsigned value)
{
    size_t i;
    (void)VALGRIND_MAKE_MEM_DEFINED(p, n);
    for (i = 0; i < n; i++) {
        p[i] = (uint8_t)(i * 7 + value);
    }
    secret(p, n);
}

/* A verdict that its function has not shown. */
static void verdict(int v, int wanted)
{
    shown(&v, sizeof v);
    if (v != wanted) {
        printf("a wrong verdict\n");
        exit(1);
    }
}

/* One that it has. */
static void known(int ok)
{
    calls++;
    if (!ok) {
        printf("a right box is refused\n");
        exit(1);
    }
}

static void of_length(size_t n)
{
    unsigned long long padded = n + 32;
    uint32_t ok;
    fresh(key, sizeof key, 3);
    fresh(m, MOST, 9);
    (void)VALGRIND_MAKE_MEM_DEFINED(m, 32);
    memset(m, 0, 32);

    crypto_stream(c, n, nonce, key); shown(c, n);
    crypto_stream_xor(c, m, n, nonce, key); shown(c, n);
    crypto_stream_salsa20(c, n, nonce, key); shown(c, n);
    crypto_stream_salsa20_xor(c, m, n, nonce, key); shown(c, n);
    crypto_secretbox(c, m, padded, nonce, key); shown(c, padded);
    known(crypto_secretbox_open(back, c, padded, nonce, key) == 0);
    c[31] ^= 1;
    known(crypto_secretbox_open(back, c, padded, nonce, key) != 0);
    crypto_box_afternm(c, m, padded, nonce, shared); shown(c, padded);
    known(crypto_box_open_afternm(back, c, padded, nonce, shared) == 0);
    c[20] ^= 1;
    known(crypto_box_open_afternm(back, c, padded, nonce, shared) != 0);
    crypto_onetimeauth(out, m, n, key); shown(out, 16);
    known(crypto_onetimeauth_verify(out, m, n, key) == 0);
    out[9] ^= 128;
    known(crypto_onetimeauth_verify(out, m, n, key) != 0);
    crypto_hash(out, m, n); shown(out, 64);
    fresh(out, 64, 1);
    crypto_hashblocks(out, m, n); shown(out, 64);
    santoku_sha256(out, n, m); shown(out, 32);
    santoku_sha384(out, n, m); shown(out, 48);
    santoku_hmac_sha256(out, n % 300, n, key, m); shown(out, 32);
    known(santoku_hmac_sha256_verify(n % 300, n, key, m, out));
    santoku_hmac_sha384(out, n % 300, n, key, m); shown(out, 48);
    known(santoku_hmac_sha384_verify(n % 300, n, key, m, out));
    santoku_hmac_sha512(out, n % 300, n, key, m); shown(out, 64);
    known(santoku_hmac_sha512_verify(n % 300, n, key, m, out));
    santoku_hkdf_sha256_extract(out, n % 300, n, key, m); shown(out, 32);
    santoku_hkdf_sha256_expand(c, n % 70, n, key, m); shown(c, n);
    santoku_hkdf_sha256(c, 24, n, n % 70, n, nonce, m, key); shown(c, n);
    santoku_hkdf_sha512_extract(out, n % 300, n, key, m); shown(out, 64);
    santoku_hkdf_sha512_expand(c, n % 70, n, key, m); shown(c, n);
    santoku_hkdf_sha512(c, 24, n, n % 70, n, nonce, m, key); shown(c, n);
    santoku_chacha20poly1305_seal(c, out, n, n, key, nonce, m, m); shown(c, n); shown(out, 16);
    santoku_chacha20poly1305_open(back, &ok, n, n, key, nonce, m, c, out);
    known(ok == 1);
    santoku_xchacha20poly1305_seal(c, out, 0, n, key, nonce, m, m); shown(c, n); shown(out, 16);
    santoku_xchacha20poly1305_open(back, &ok, 0, n, key, nonce, m, c, out);
    known(ok == 1);
    santoku_aes128gcm_seal(c, out, n % 50, n, key, nonce, m, m); shown(c, n); shown(out, 16);
    santoku_aes128gcm_open(back, &ok, n % 50, n, key, nonce, m, c, out);
    known(ok == 1);
    santoku_aes256gcm_seal(c, out, n % 50, n, key, nonce, m, m); shown(c, n); shown(out, 16);
    santoku_aes256gcm_open(back, &ok, n % 50, n, key, nonce, m, c, out);
    known(ok == 1);
    out[15] ^= 1;
    santoku_aes256gcm_open(back, &ok, n % 50, n, key, nonce, m, c, out);
    known(ok == 0);
    santoku_aes128gcm_open(back, &ok, n % 50, n, key, nonce, m, c, out);
    known(ok == 0);
    santoku_xchacha20poly1305_seal(c, out, 0, n, key, nonce, m, m); shown(c, n); shown(out, 16);
    out[3] ^= 1;
    santoku_xchacha20poly1305_open(back, &ok, 0, n, key, nonce, m, c, out);
    known(ok == 0);
}

/* A message of `n` bytes, signed, and one with a wrong signature. */
static void signatures(const uint8_t *seed, size_t n)
{
    uint8_t public[32], signature[64];
    unsigned long long size;
    crypto_sign_seed_keypair(public, sk, seed); shown(public, 32);
    fresh(m, n, 2);
    crypto_sign_detached(signature, &size, m, n, sk); shown(signature, 64);
    crypto_sign(c, &size, m, n, sk); shown(c, n + 64);
    (void)VALGRIND_MAKE_MEM_DEFINED(m, n);
    known(crypto_sign_verify_detached(signature, m, n, public) == 0);
    known(crypto_sign_open(back, &size, c, n + 64, public) == 0);
    c[n + 63] ^= 1;
    known(crypto_sign_open(back, &size, c, n + 64, public) != 0);
    c[n + 63] ^= 1;
    public[2] ^= 1;
    known(crypto_sign_open(back, &size, c, n + 64, public) != 0);
}

static void keys(void)
{
    uint8_t seed[32], theirs[32];
    crypto_box_keypair(pk, sk); shown(pk, 32);
    crypto_box_beforenm(shared, pk, sk); calls++;
    fresh(seed, 32, 77);
    crypto_scalarmult_base(theirs, seed); shown(theirs, 32);
    crypto_scalarmult(out, seed, pk); calls++;
    fresh(m, 72, 9);
    (void)VALGRIND_MAKE_MEM_DEFINED(m, 32);
    memset(m, 0, 32);
    crypto_box(c, m, 72, nonce, theirs, sk); shown(c, 72);
    known(crypto_box_open(back, c, 72, nonce, pk, seed) == 0);
    c[50] ^= 4;
    known(crypto_box_open(back, c, 72, nonce, pk, seed) != 0);
    crypto_core_salsa20(out, nonce, seed, nonce + 4); calls++;
    crypto_core_hsalsa20(out, nonce, seed, nonce + 4); calls++;
    signatures(seed, 40);
    fresh(m, 64, 1);
    fresh(c, 64, 1);
    verdict(crypto_verify_16(m, c), 0);
    verdict(crypto_verify_16(m, c + 1), -1);
    verdict(crypto_verify_32(m, c), 0);
    verdict(crypto_verify_32(m, c + 1), -1);
    verdict(crypto_verify_64(m, c), 0);
    verdict(crypto_verify_64(m, c + 1), -1);
    crypto_sign_keypair(out, sk); shown(out, 32);
}

/* Lengths that are refused, before anything is read. */
static void refused(void)
{
    static const unsigned long long too_long = 1ULL << 40;
    unsigned long long size = 0;
    known(crypto_stream(c, too_long, nonce, key) == -1);
    known(crypto_stream_xor(c, m, too_long, nonce, key) == -1);
    known(crypto_stream_salsa20(c, too_long, nonce, key) == -1);
    known(crypto_stream_salsa20_xor(c, m, too_long, nonce, key) == -1);
    known(crypto_onetimeauth(out, m, too_long, key) == -1);
    known(crypto_onetimeauth_verify(out, m, too_long, key) == -1);
    known(crypto_hash(out, m, too_long) == -1);
    known(crypto_hashblocks(out, m, too_long) == -1);
    known(crypto_secretbox(c, m, 31, nonce, key) == -1);
    known(crypto_secretbox_open(c, m, 31, nonce, key) == -1);
    known(crypto_secretbox(c, m, too_long, nonce, key) == -1);
    known(crypto_box_afternm(c, m, 31, nonce, key) == -1);
    known(crypto_box_open_afternm(c, m, 31, nonce, key) == -1);
    known(crypto_box(c, m, 31, nonce, pk, sk) == -1);
    known(crypto_box_open(c, m, 31, nonce, pk, sk) == -1);
    known(crypto_sign_detached(out, &size, m, too_long, sk) == -1);
    known(crypto_sign_verify_detached(out, m, too_long, pk) == -1);
    known(crypto_sign(c, &size, m, too_long, sk) == -1);
    known(crypto_sign_open(back, &size, c, too_long, pk) == -1);
}

int main(void)
{
    static const size_t lengths[] = {0, 1, 15, 16, 31, 63, 64, 65, 130, 400, 512, 600, 1030};
    size_t i;
    for (i = 0; i < sizeof nonce; i++) {
        nonce[i] = (uint8_t)(i * 3 + 1);
    }
    keys();
    refused();
#ifdef EVERY_LENGTH
    (void)lengths;
    for (i = 0; i < 1300; i++) {
        of_length(i);
    }
    for (i = 0; i < 300; i++) {
        uint8_t seed[32];
        fresh(seed, 32, (unsigned)i);
        signatures(seed, i);
    }
#else
    for (i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        of_length(lengths[i]);
    }
#endif
#ifdef TWIN_INDEX
    fresh(key, 1, 3);
    out[0] = m[key[0]];
#endif
    printf("%u\n", calls);
    return 0;
}
