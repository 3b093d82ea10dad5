/* Runs a batch of binary test vectors through the C interface of nacl_sign. One text for hosts and for bare machines.
 *
 * A record: one byte of operation, four of length (little-endian), then
 *   K seed[32]                -> pk[32] sk[64] of crypto_sign_keypair, the same of crypto_sign_seed_keypair
 *   S sk[64] m[len]           -> smlen[8] sm[len + 64], the same with m in the place of sm
 *   D sk[64] m[len]           -> siglen[8] sig[64], verdict of crypto_sign_verify_detached [1]
 *   O pk[32] sm[len]          -> verdict[1] mlen[8] m[len], the same with sm in the place of m
 *   V pk[32] sig[64] m[len]   -> verdict[1]
 * A verdict is the low byte of the returned value. */
#include <string.h>
#include "nacl_sign.h"

unsigned long long stk_batch(unsigned char *out, const unsigned char *in, unsigned long long n);

static const unsigned char *random_source;

void randombytes(unsigned char *x, unsigned long long n)
{
    memcpy(x, random_source, (size_t)n);
}

static unsigned char *put64(unsigned char *out, unsigned long long v)
{
    for (int i = 0; i < 8; i++) {
        *out++ = (unsigned char)(v >> 8 * i);
    }
    return out;
}

static unsigned char *keys(unsigned char *out, const unsigned char *in)
{
    random_source = in;
    crypto_sign_keypair(out, out + 32);
    crypto_sign_seed_keypair(out + 96, out + 128, in);
    return out + 192;
}

static unsigned char *sign(unsigned char *out, const unsigned char *in, size_t len, int in_place)
{
    unsigned long long smlen = 0;
    const unsigned char *m = in + 64;
    if (in_place) {
        m = memcpy(out + 8, m, len);
    }
    crypto_sign(out + 8, &smlen, m, len, in);
    put64(out, smlen);
    return out + 8 + len + 64;
}

static unsigned char *detached(unsigned char *out, const unsigned char *in, size_t len)
{
    unsigned long long siglen = 0;
    crypto_sign_detached(out + 8, &siglen, in + 64, len, in);
    put64(out, siglen);
    out[72] = (unsigned char)crypto_sign_verify_detached(out + 8, in + 64, len, in + 32);
    return out + 73;
}

static unsigned char *open_signed(unsigned char *out, const unsigned char *in, size_t len, int in_place)
{
    unsigned long long mlen = 0;
    const unsigned char *sm = in + 32;
    if (in_place) {
        sm = memcpy(out + 9, sm, len);
    }
    out[0] = (unsigned char)crypto_sign_open(out + 9, &mlen, sm, len, in);
    put64(out + 1, mlen);
    return out + 9 + len;
}

unsigned long long stk_batch(unsigned char *out, const unsigned char *in, unsigned long long n)
{
    const unsigned char *end = in + n;
    unsigned char *at = out;
    while (in < end) {
        unsigned char op = in[0];
        size_t len = in[1] | (size_t)in[2] << 8 | (size_t)in[3] << 16 | (size_t)in[4] << 24;
        in += 5;
        if (op == 'K') {
            at = keys(at, in);
            in += 32;
        } else if (op == 'S') {
            at = sign(sign(at, in, len, 0), in, len, 1);
            in += 64 + len;
        } else if (op == 'D') {
            at = detached(at, in, len);
            in += 64 + len;
        } else if (op == 'O') {
            at = open_signed(open_signed(at, in, len, 0), in, len, 1);
            in += 32 + len;
        } else {
            *at++ = (unsigned char)crypto_sign_verify_detached(in + 32, in + 96, len, in);
            in += 96 + len;
        }
    }
    return (unsigned long long)(at - out);
}
