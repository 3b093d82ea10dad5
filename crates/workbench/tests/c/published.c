/* Answers questions about published vectors: an operation, two lengths (little-endian), two strings of bytes; the answer has a length that the
 * operation knows. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "aead_aesgcm.h"
#include "hash_sha256.h"
#include "hash_sha384.h"
#include "hkdf_sha256.h"
#include "hmac_sha256.h"
#include "hmac_sha384.h"
#include "hmac_sha512.h"
#include "nacl.h"

/* Keys are never made here. */
void randombytes(unsigned char *x, unsigned long long n)
{
    (void)x;
    (void)n;
    abort();
}

static uint8_t out[1400];

static size_t hash(int which, uint8_t *digest, const uint8_t *m, size_t n)
{
    switch (which) {
    case 0: santoku_sha256(digest, n, m); return 32;
    case 1: santoku_sha384(digest, n, m); return 48;
    default: crypto_hash(digest, m, n); return 64;
    }
}

/* SHAVS, 6.4: a thousand digests of the last three. */
static void monte(int which, const uint8_t *seed, size_t size)
{
    uint8_t md[4][64];
    int j, i;
    memcpy(md[2], seed, size);
    for (j = 0; j < 100; j++) {
        memcpy(md[0], md[2], size);
        memcpy(md[1], md[2], size);
        for (i = 0; i < 1000; i++) {
            uint8_t m[3 * 64];
            memcpy(m, md[0], size);
            memcpy(m + size, md[1], size);
            memcpy(m + 2 * size, md[2], size);
            hash(which, md[3], m, 3 * size);
            memcpy(md[0], md[1], size);
            memcpy(md[1], md[2], size);
            memcpy(md[2], md[3], size);
        }
        fwrite(md[2], 1, size, stdout);
    }
}

static size_t number(const uint8_t *b)
{
    return (size_t)b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
}

/* RFC 7748, section 5.2: the result is the next scalar, and the scalar the next point. */
static size_t ladders(uint8_t *k, size_t times)
{
    uint8_t u[32], r[32];
    memcpy(u, k, 32);
    while (times-- > 0) {
        crypto_scalarmult(r, k, u);
        memcpy(u, k, 32);
        memcpy(k, r, 32);
    }
    memcpy(out, k, 32);
    return 32;
}

static size_t signature(const uint8_t *seed, const uint8_t *m, size_t n)
{
    uint8_t secret[64];
    crypto_sign_seed_keypair(out, secret, seed);
    crypto_sign_detached(out + 32, 0, m, n, secret);
    out[96] = crypto_sign_verify_detached(out + 32, m, n, out) == 0;
    return 97;
}

/* AES-GCM with a key of `size` bytes: key, nonce and associated data, then the message, or ciphertext and tag; what is opened has a verdict behind it. */
static size_t gcm(size_t size, int open, const uint8_t *a, size_t k, const uint8_t *m, size_t n)
{
    const uint8_t *nonce = a + size, *ad = nonce + 12;
    uint32_t ok = 0;
    if (k < size + 12 || (open && n < 16) || n > sizeof out - 16) {
        return 0;
    }
    k -= size + 12;
    if (!open) {
        (size == 16 ? santoku_aes128gcm_seal : santoku_aes256gcm_seal)(out, out + n, k, n, a, nonce, ad, m);
        return n + 16;
    }
    n -= 16;
    (size == 16 ? santoku_aes128gcm_open : santoku_aes256gcm_open)(out, &ok, k, n, a, nonce, ad, m, m + n);
    out[n] = (uint8_t)ok;
    return n + 1;
}

/* HKDF-SHA-256 of `ikm`: bytes of salt, of output (two), salt, info. */
static size_t hkdf(const uint8_t *a, size_t k, const uint8_t *ikm, size_t n)
{
    size_t salt = k > 2 ? a[0] : 0, size = k > 2 ? a[1] + 256u * a[2] : 0;
    if (k < 3 + salt || size > sizeof out) {
        return 0;
    }
    santoku_hkdf_sha256(out, salt, n, k - 3 - salt, size, a + 3, ikm, a + 3 + salt);
    return size;
}

int main(void)
{
    uint8_t head[9];
    while (fread(head, 1, 9, stdin) == 9) {
        size_t k = number(head + 1), n = number(head + 5), size = 0;
        uint8_t *a = malloc(k + 1), *b = malloc(n + 1);
        if (!a || !b || fread(a, 1, k, stdin) != k || fread(b, 1, n, stdin) != n) {
            return 1;
        }
        switch (head[0]) {
        case 0: case 1: case 2: size = hash(head[0], out, a, k); break;
        case 3: santoku_hmac_sha256(out, k, n, a, b); size = 32; break;
        case 4: santoku_hmac_sha384(out, k, n, a, b); size = 48; break;
        case 5: santoku_hmac_sha512(out, k, n, a, b); size = 64; break;
        case 6: size = k == 32 && n == 32 ? (crypto_scalarmult(out, a, b), 32) : 0; break;
        case 7: size = k == 32 ? signature(a, b, n) : 0; break;
        case 8: case 9: case 10: monte(head[0] - 8, a, k); break;
        case 11: size = k == 32 && n == 4 ? ladders(a, number(b)) : 0; break;
        case 12: case 13: size = gcm(16, head[0] == 13, a, k, b, n); break;
        case 14: case 15: size = gcm(32, head[0] == 15, a, k, b, n); break;
        case 16: size = hkdf(a, k, b, n); break;
        default: return 1;
        }
        fwrite(out, 1, size, stdout);
        free(a);
        free(b);
    }
    return 0;
}
