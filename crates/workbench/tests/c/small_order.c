/* Verdicts of ours, under the prefix my_, beside libsodium's: points of small order as keys and as R, honest and spoiled signatures.
 * Prints: cases, ours accepted, libsodium accepted, verdicts that differ. */
#include <sodium.h>
#include "nacl_sign.h"
#include <stdio.h>
#include <string.h>

/* All multiples of a point of order 8, as encoded. */
static const char *const torsion[8] = {
    "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
    "\x26\xe8\x95\x8f\xc2\xb2\x27\xb0\x45\xc3\xf4\x89\xf2\xef\x98\xf0\xd5\xdf\xac\x05\xd3\xc6\x33\x39\xb1\x38\x02\x88\x6d\x53\xfc\x85",
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80",
    "\xc7\x17\x6a\x70\x3d\x4d\xd8\x4f\xba\x3c\x0b\x76\x0d\x10\x67\x0f\x2a\x20\x53\xfa\x2c\x39\xcc\xc6\x4e\xc7\xfd\x77\x92\xac\x03\xfa",
    "\xec\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    "\xc7\x17\x6a\x70\x3d\x4d\xd8\x4f\xba\x3c\x0b\x76\x0d\x10\x67\x0f\x2a\x20\x53\xfa\x2c\x39\xcc\xc6\x4e\xc7\xfd\x77\x92\xac\x03\x7a",
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
    "\x26\xe8\x95\x8f\xc2\xb2\x27\xb0\x45\xc3\xf4\x89\xf2\xef\x98\xf0\xd5\xdf\xac\x05\xd3\xc6\x33\x39\xb1\x38\x02\x88\x6d\x53\xfc\x05",
};

static unsigned cases, ours, theirs, differ;

static void ask(const unsigned char *sig, const unsigned char *m, unsigned long long n, const unsigned char *pk)
{
    unsigned char sm[64 + 64], opened[64];
    unsigned long long size;
    int a = my_crypto_sign_verify_detached(sig, m, n, pk) == 0, b = crypto_sign_verify_detached(sig, m, n, pk) == 0;
    memcpy(sm, sig, 64);
    memcpy(sm + 64, m, (size_t)n);
    cases++, ours += (unsigned)a, theirs += (unsigned)b, differ += a != b;
    if ((my_crypto_sign_open(opened, &size, sm, 64 + n, pk) == 0) != a) {
        puts("crypto_sign_open says something else");
    }
}

int main(void)
{
    unsigned char pk[32], sk[64], seed[32] = { 7 }, sig[64] = { 0 }, m[64];
    unsigned k, r, n;
    crypto_sign_seed_keypair(pk, sk, seed);
    for (n = 0; n < 64; n++) {
        m[n] = (unsigned char)(n * 11);
    }
    for (n = 0; n < 64; n++) {
        /* S = 0: such a signature holds wherever h times the key is -R. */
        memset(sig, 0, 64);
        for (k = 0; k < 8; k++) {
            for (r = 0; r < 8; r++) {
                memcpy(sig, torsion[r], 32);
                ask(sig, m, n, (const unsigned char *)torsion[k]);
            }
        }
        memcpy(sig, torsion[n % 8], 32);
        ask(sig, m, n, pk);
        crypto_sign_detached(sig, NULL, m, n, sk);
        ask(sig, m, n, pk);
        sig[n] ^= 1;
        ask(sig, m, n, pk);
    }
    printf("%u %u %u %u\n", cases, ours, theirs, differ);
    return 0;
}

void randombytes(unsigned char *x, unsigned long long n) { randombytes_buf(x, (size_t)n); }
