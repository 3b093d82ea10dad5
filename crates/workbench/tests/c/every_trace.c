/* Every function of the library that gets a secret, on one secret after another in the same places of memory. What is opened was sealed here, so that
 * every verdict is the same. */
#include <stddef.h>
#include <stdint.h>
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

/* Bytes of a secret, of a message, of what is sealed. */
enum { SECRET = 64, LENGTH = 100, SEALED = LENGTH + 64 };

__attribute__((noinline)) void trace_begin(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void trace_end(void) { __asm__ volatile("" ::: "memory"); }

static uint8_t m[SEALED], c[SEALED], back[SEALED], out[64], sk[64], pk[32];
static const uint8_t nonce[24] = {3, 1, 4, 1, 5, 9, 2, 6}, theirs[32] = {9};

void randombytes(unsigned char *x, unsigned long long n)
{
    while (n--) *x++ = 0;
}

static int of_nacl(unsigned which, const uint8_t *key)
{
    unsigned long long size;
    switch (which) {
    case 0: return crypto_scalarmult_base(pk, key) | crypto_scalarmult(out, key, theirs);
    case 1: return crypto_box_beforenm(out, theirs, key);
    case 2: return crypto_box_afternm(c, m, LENGTH + 32, nonce, key) | crypto_box_open_afternm(back, c, LENGTH + 32, nonce, key);
    case 3: return crypto_secretbox(c, m, LENGTH + 32, nonce, key) | crypto_secretbox_open(back, c, LENGTH + 32, nonce, key);
    case 4: return crypto_stream(c, LENGTH, nonce, key) | crypto_stream_xor(c, m, LENGTH, nonce, key);
    case 5: return crypto_stream_salsa20(c, LENGTH, nonce, key) | crypto_stream_salsa20_xor(c, m, LENGTH, nonce, key);
    case 6: return crypto_onetimeauth(out, m, LENGTH, key) | crypto_onetimeauth_verify(out, m, LENGTH, key);
    case 7: return crypto_hash(out, m, LENGTH);
    case 8: return crypto_hashblocks(out, m, SEALED) == SEALED % 128 ? 0 : 1;
    case 9: return crypto_core_salsa20(out, nonce, key, theirs) | crypto_core_hsalsa20(out, nonce, key, theirs);
    case 10: return crypto_verify_16(key, key) | crypto_verify_32(key, key) | crypto_verify_64(m, m);
    default:
        crypto_sign_seed_keypair(pk, sk, key);
        return crypto_sign_detached(out, &size, m, LENGTH, sk);
    }
}

static int of_others(unsigned which, const uint8_t *key)
{
    uint32_t ok = 1;
    switch (which) {
    case 12: santoku_chacha20poly1305_seal(c, out, 5, LENGTH, key, nonce, theirs, m); santoku_chacha20poly1305_open(back, &ok, 5, LENGTH, key, nonce, theirs, c, out); break;
    case 13: santoku_xchacha20poly1305_seal(c, out, 5, LENGTH, key, nonce, theirs, m); santoku_xchacha20poly1305_open(back, &ok, 5, LENGTH, key, nonce, theirs, c, out); break;
    case 14: santoku_aes128gcm_seal(c, out, 5, LENGTH, key, nonce, theirs, m); santoku_aes128gcm_open(back, &ok, 5, LENGTH, key, nonce, theirs, c, out); break;
    case 15: santoku_aes256gcm_seal(c, out, 5, LENGTH, key, nonce, theirs, m); santoku_aes256gcm_open(back, &ok, 5, LENGTH, key, nonce, theirs, c, out); break;
    case 16: santoku_sha256(out, LENGTH, m); santoku_sha384(out, LENGTH, m); break;
    case 17: santoku_hmac_sha256(out, 32, LENGTH, key, m); ok = (uint32_t)santoku_hmac_sha256_verify(32, LENGTH, key, m, out); break;
    case 18: santoku_hmac_sha384(out, 32, LENGTH, key, m); ok = (uint32_t)santoku_hmac_sha384_verify(32, LENGTH, key, m, out); break;
    case 19: santoku_hmac_sha512(out, 32, LENGTH, key, m); ok = (uint32_t)santoku_hmac_sha512_verify(32, LENGTH, key, m, out); break;
    case 20: santoku_hkdf_sha256_extract(out, 32, LENGTH, key, m); santoku_hkdf_sha256_expand(back, 32, LENGTH, key, m); santoku_hkdf_sha256(back, 24, LENGTH, 32, LENGTH, nonce, m, key); break;
    case 21: santoku_hkdf_sha512_extract(out, 32, LENGTH, key, m); santoku_hkdf_sha512_expand(back, 32, LENGTH, key, m); santoku_hkdf_sha512(back, 24, LENGTH, 32, LENGTH, nonce, m, key); break;
#ifdef TWIN
    /* What must be seen: an address with a secret in it. */
    default: out[0] = m[key[0] & 63]; break;
#else
    default: break;
#endif
    }
    return ok == 1 ? 0 : 1;
}

/* 0 where all is well. The message is secret, too, but for the zeros in front of boxes. */
int operation(unsigned which, const uint8_t *secret);
int operation(unsigned which, const uint8_t *secret)
{
    unsigned i;
    for (i = 0; i < SEALED; i++) m[i] = i < 32 && (which == 2 || which == 3) ? 0 : secret[i % SECRET] ^ (uint8_t)i;
    return which < 12 ? of_nacl(which, secret) : of_others(which, secret);
}

/* Operations `first` to `last` on `n` secrets; how many went wrong. */
int traced(unsigned char *wrong, const unsigned char *secrets, unsigned first, unsigned last, unsigned n);
int traced(unsigned char *wrong, const unsigned char *secrets, unsigned first, unsigned last, unsigned n)
{
    static uint8_t own[SECRET];
    unsigned which, k, i;
    int bad = 0;
    for (which = first; which <= last; which++) {
        for (k = 0; k < n; k++) {
            for (i = 0; i < SECRET; i++) own[i] = secrets[SECRET * k + i];
            trace_begin();
            bad |= operation(which, own);
            trace_end();
        }
    }
    wrong[0] = (unsigned char)bad;
    return bad;
}
