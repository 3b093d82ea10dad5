/* The edges of the C interface of nacl_sign: exact rooms, null pointers, refused lengths. Meant for sanitizers. Prints how many calls it
 * checked; status 1 and the line of the first that went wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nacl_sign.h"

static unsigned checked;

#define EXPECT(what)                                   \
    do {                                               \
        checked++;                                     \
        if (!(what)) {                                 \
            printf("line %d: %s\n", __LINE__, #what);  \
            exit(1);                                   \
        }                                              \
    } while (0)

static const unsigned long long NONE = (unsigned long long)-1;

void randombytes(unsigned char *x, unsigned long long n)
{
    unsigned long long i;
    for (i = 0; i < n; i++) {
        x[i] = (unsigned char)(i * 7 + 1);
    }
}

/* n bytes with nothing behind them; never null, so that a null argument is always meant. */
static unsigned char *room(size_t n, int value)
{
    unsigned char *p = malloc(n ? n : 1);
    if (!p) {
        exit(2);
    }
    memset(p, value, n);
    return p;
}

static int all(const unsigned char *p, size_t n, int value)
{
    while (n) {
        if (p[--n] != value) {
            return 0;
        }
    }
    return 1;
}

/* Opens sm[n], whose signature is wrong, into a room of exactly the message's size, as libsodium's callers have it. */
static void refused(const unsigned char *sm, size_t n, const unsigned char *pk)
{
    size_t size = n < 64 ? 0 : n - 64;
    unsigned char *m = room(size, 0x5a);
    unsigned long long mlen = 1;
    EXPECT(crypto_sign_open(m, &mlen, sm, n, pk) == -1 && mlen == NONE);
    EXPECT(all(m, size, 0));
    EXPECT(crypto_sign_open(m, NULL, sm, n, pk) == -1);
    EXPECT(crypto_sign_open(NULL, &mlen, sm, n, pk) == -1 && mlen == NONE);
    free(m);
}

static void size(size_t n, const unsigned char *pk, const unsigned char *sk)
{
    unsigned char *message = room(n, 0x33), *sm = room(n + 64, 0), *m = room(n, 0), *sig = room(64, 0);
    unsigned long long smlen = 0, mlen = 0, siglen = 0;
    EXPECT(crypto_sign(sm, &smlen, n ? message : NULL, n, sk) == 0 && smlen == n + 64);
    EXPECT(crypto_sign(sm, NULL, n ? message : NULL, n, sk) == 0);
    EXPECT(crypto_sign_detached(sig, &siglen, n ? message : NULL, n, sk) == 0 && siglen == 64 && memcmp(sig, sm, 64) == 0);
    EXPECT(crypto_sign_detached(sig, NULL, n ? message : NULL, n, sk) == 0);
    EXPECT(crypto_sign_verify_detached(sig, n ? message : NULL, n, pk) == 0);
    EXPECT(crypto_sign_open(m, &mlen, sm, smlen, pk) == 0 && mlen == n && memcmp(m, message, n) == 0);
    EXPECT(crypto_sign_open(NULL, NULL, sm, smlen, pk) == 0);
    sm[n % 64] ^= 1;
    refused(sm, n + 64, pk);
    EXPECT(crypto_sign_verify_detached(sm, n ? message : NULL, n, pk) == -1);
    free(message);
    free(sm);
    free(m);
    free(sig);
}

int main(void)
{
    unsigned char pk[32], sk[64], m[1] = {0x5a}, *shorter;
    unsigned long long mlen;
    size_t n;
    EXPECT(crypto_sign_keypair(pk, sk) == 0);
    for (n = 0; n < 8; n++) {
        size(n, pk, sk);
    }
    size(1000, pk, sk);
    for (n = 0; n < 64; n++) {
        shorter = room(n, 1);
        refused(shorter, n, pk);
        free(shorter);
    }
    /* Lengths that no object has: nothing may be read or written. */
    for (n = 0; n < 4; n++) {
        static const unsigned long long REFUSED[4] = {(unsigned long long)-1, (unsigned long long)-64, 0x80000000u + 64, 0x100000000ull + 64};
        EXPECT(crypto_sign_open(m, &mlen, m, REFUSED[n], pk) == -1 && mlen == NONE && m[0] == 0x5a);
        EXPECT(crypto_sign(m, &mlen, m, REFUSED[n], sk) == -1 && m[0] == 0x5a);
        EXPECT(crypto_sign_detached(m, &mlen, m, REFUSED[n], sk) == -1 && m[0] == 0x5a);
        EXPECT(crypto_sign_verify_detached(m, m, REFUSED[n], pk) == -1);
    }
    printf("%u calls\n", checked);
    return 0;
}
