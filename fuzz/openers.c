/* A fuzz target for everything in the library that takes bytes of strangers: openers, verifiers, key exchange. The first byte of the input chooses a
 * function and what is done to it. Arbitrary bytes must be judged as libsodium judges them; what was sealed must open, and must not once a bit of it
 * is another. Ours is compiled with STK_NAME(name) as our_name, and with STK_REFUSE_SMALL_ORDER, as libsodium has it. */
#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "aead_aesgcm.h"
#include "aead_chacha20poly1305.h"
#include "aead_xchacha20poly1305.h"
#include "hmac_sha256.h"
#include "hmac_sha512.h"
#include "nacl.h"
#include "p256_ecdsa_verify.h"
#include "secp256k1_ecdsa_verify.h"

int our_crypto_box_open_afternm(unsigned char *, const unsigned char *, unsigned long long, const unsigned char *, const unsigned char *);

void our_randombytes(unsigned char *x, unsigned long long n);
void our_randombytes(unsigned char *x, unsigned long long n)
{
    memset(x, 7, (size_t)n);
}

/* Objects of exact sizes, so that sanitizers see the first byte beyond. */
static uint8_t *room(const uint8_t *from, size_t n)
{
    uint8_t *p = malloc(n ? n : 1);
    if (!p) {
        abort();
    }
    if (from) {
        memcpy(p, from, n);
    }
    return p;
}

static void expect(int right)
{
    if (!right) {
        abort();
    }
}

/* Number of functions that the first byte chooses from. */
enum { FUNCTIONS = 10 };

struct given {
    const uint8_t *key, *nonce, *m;
    size_t n;
    /* The byte of a box that becomes another, and by what; 0: none. */
    size_t at;
    uint8_t change;
};

/* What a stranger sends as a box. */
static void strangers(const struct given *g, int which)
{
    size_t n = g->n;
    uint8_t *c = room(g->m, n), *ours = room(0, n), *theirs = room(0, n + 64);
    unsigned long long size = 0;
    uint32_t ok = 0;
    int known;
    memset(ours, 0, n);
    switch (which) {
    case 0:
        known = crypto_secretbox_open(theirs, c, n, g->nonce, g->key);
        expect(our_crypto_secretbox_open(ours, c, n, g->nonce, g->key) == known);
        break;
    case 1:
        known = crypto_sign_open(theirs, &size, c, n, g->key);
        expect(our_crypto_sign_open(ours, &size, c, n, g->key) == known);
        break;
    case 2:
        known = n < 16 ? -1 : crypto_aead_chacha20poly1305_ietf_decrypt(theirs, &size, 0, c, n, 0, 0, g->nonce, g->key);
        if (n >= 16) {
            our_santoku_chacha20poly1305_open(ours, &ok, 0, n - 16, g->key, g->nonce, c, c, c + n - 16);
            expect((ok == 1) == (known == 0));
        }
        break;
    case 3:
        known = n < 16 ? -1 : crypto_aead_xchacha20poly1305_ietf_decrypt(theirs, &size, 0, c, n, 0, 0, g->nonce, g->key);
        if (n >= 16) {
            our_santoku_xchacha20poly1305_open(ours, &ok, 0, n - 16, g->key, g->nonce, c, c, c + n - 16);
            expect((ok == 1) == (known == 0));
        }
        break;
    case 4:
        if (n >= 16) {
            expect(our_crypto_onetimeauth_verify(c, c + 16, n - 16, g->key) == crypto_onetimeauth_verify(c, c + 16, n - 16, g->key));
        }
        break;
    case 5:
        if (n >= 32) {
            expect(our_santoku_hmac_sha256_verify(32, n - 32, g->key, c + 32, c) == (crypto_auth_hmacsha256_verify(c, c + 32, n - 32, g->key) == 0));
        }
        break;
    case 8:
    case 9:
        if (n >= 16) {
            void (*open)(uint8_t *, uint32_t *, size_t, size_t, const uint8_t *, const uint8_t *, const uint8_t *, const uint8_t *, const uint8_t *) =
                which == 8 ? our_santoku_aes128gcm_open : our_santoku_aes256gcm_open;
            open(ours, &ok, n / 2, n - 16, g->key, g->nonce, c, c, c + n - 16);
            /* libsodium has keys of 256 bits, where the processor has the instructions. */
            if (which == 9 && crypto_aead_aes256gcm_is_available()) {
                known = crypto_aead_aes256gcm_decrypt(theirs, &size, 0, c, n, c, n / 2, g->nonce, g->key);
                expect((ok == 1) == (known == 0));
            }
        }
        break;
    case 6:
        if (n >= 64) {
            uint8_t q[32], r[32];
            int low = crypto_scalarmult(q, c, c + 32);
            our_crypto_scalarmult(r, c, c + 32);
            expect(low != 0 || memcmp(q, r, 32) == 0);
        }
        break;
    default:
        if (n >= 160) {
            /* Of these, libsodium has nothing: they may not read what is not theirs. */
            (void)our_p256_ecdsa_verify(c, c + 32, c + 96);
            (void)our_secp256k1_ecdsa_verify(c, c + 32, c + 96);
        }
    }
    free(c);
    free(ours);
    free(theirs);
}

/* What was sealed, and then changed. */
static void changed(const struct given *g, int which)
{
    size_t n = g->n, all = n + 64;
    uint8_t *m = room(0, n + 32), *c = room(0, all), *back = room(0, all), tag[64], pk[32], sk[64];
    unsigned long long size = 0;
    uint32_t ok = 0;
    int intact = g->change == 0, opened, moved;
    memset(m, 0, 32);
    memcpy(m + 32, g->m, n);
    memset(c, 0, all);
    switch (which) {
    case 0:
        our_crypto_secretbox(c, m, n + 32, g->nonce, g->key);
        /* The first 16 bytes of a box are nothing of it. */
        c[16 + g->at % (n + 16)] ^= g->change;
        opened = our_crypto_secretbox_open(back, c, n + 32, g->nonce, g->key) == 0;
        moved = opened && memcmp(back + 32, g->m, n) != 0;
        break;
    case 1:
        our_crypto_sign_seed_keypair(pk, sk, g->key);
        our_crypto_sign(c, &size, g->m, n, sk);
        c[g->at % size] ^= g->change;
        opened = our_crypto_sign_open(back, &size, c, n + 64, pk) == 0;
        moved = opened && memcmp(back, g->m, n) != 0;
        break;
    case 2:
        our_santoku_chacha20poly1305_seal(c, c + n, 32, n, g->key, g->nonce, m, g->m);
        c[g->at % (n + 16)] ^= g->change;
        our_santoku_chacha20poly1305_open(back, &ok, 32, n, g->key, g->nonce, m, c, c + n);
        opened = ok == 1;
        moved = opened && memcmp(back, g->m, n) != 0;
        break;
    case 3:
        our_santoku_xchacha20poly1305_seal(c, c + n, 32, n, g->key, g->nonce, m, g->m);
        c[g->at % (n + 16)] ^= g->change;
        our_santoku_xchacha20poly1305_open(back, &ok, 32, n, g->key, g->nonce, m, c, c + n);
        opened = ok == 1;
        moved = opened && memcmp(back, g->m, n) != 0;
        break;
    case 4:
        our_crypto_onetimeauth(tag, g->m, n, g->key);
        tag[g->at % 16] ^= g->change;
        opened = our_crypto_onetimeauth_verify(tag, g->m, n, g->key) == 0;
        moved = 0;
        break;
    case 5:
        our_santoku_hmac_sha256(tag, 32, n, g->key, g->m);
        tag[g->at % 32] ^= g->change;
        opened = our_santoku_hmac_sha256_verify(32, n, g->key, g->m, tag) == 1;
        moved = 0;
        break;
    case 6:
        our_santoku_hmac_sha512(tag, 24, n, g->nonce, g->m);
        tag[g->at % 64] ^= g->change;
        opened = our_santoku_hmac_sha512_verify(24, n, g->nonce, g->m, tag) == 1;
        moved = 0;
        break;
    case 8:
        our_santoku_aes128gcm_seal(c, c + n, 32, n, g->key, g->nonce, m, g->m);
        c[g->at % (n + 16)] ^= g->change;
        our_santoku_aes128gcm_open(back, &ok, 32, n, g->key, g->nonce, m, c, c + n);
        opened = ok == 1;
        moved = opened && memcmp(back, g->m, n) != 0;
        break;
    case 9:
        our_santoku_aes256gcm_seal(c, c + n, 32, n, g->key, g->nonce, m, g->m);
        if (crypto_aead_aes256gcm_is_available()) {
            uint8_t *theirs = room(0, n + 16);
            crypto_aead_aes256gcm_encrypt(theirs, &size, g->m, n, m, 32, 0, g->nonce, g->key);
            expect(size == n + 16 && memcmp(theirs, c, n + 16) == 0);
            free(theirs);
        }
        c[g->at % (n + 16)] ^= g->change;
        our_santoku_aes256gcm_open(back, &ok, 32, n, g->key, g->nonce, m, c, c + n);
        opened = ok == 1;
        moved = opened && memcmp(back, g->m, n) != 0;
        break;
    default:
        our_crypto_box_afternm(c, m, n + 32, g->nonce, g->key);
        c[16 + g->at % (n + 16)] ^= g->change;
        opened = our_crypto_box_open_afternm(back, c, n + 32, g->nonce, g->key) == 0;
        moved = opened && memcmp(back + 32, g->m, n) != 0;
    }
    expect(opened == intact);
    expect(!moved);
    free(m);
    free(c);
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct given g;
    if (size < 60 || sodium_init() < 0) {
        return 0;
    }
    g.change = data[1];
    g.at = (size_t)data[2] | (size_t)data[3] << 8;
    g.key = data + 4;
    g.nonce = data + 36;
    g.m = data + 60;
    g.n = size - 60;
    if (data[0] & 16) {
        strangers(&g, data[0] % 16 % FUNCTIONS);
    } else {
        changed(&g, data[0] % 16 % FUNCTIONS);
    }
    return 0;
}
