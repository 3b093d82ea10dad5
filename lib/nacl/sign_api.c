/* The C interface of NaCl over the functions above. */

#define STK_SIGN_MAX 0x7fffff7fu

int crypto_sign_seed_keypair(unsigned char *pk, unsigned char *sk, const unsigned char *seed)
{
    uint8_t s[32], p[32];
    memcpy(s, seed, 32);
    santoku_sign_public_key(p, s);
    memcpy(sk, s, 32);
    memcpy(sk + 32, p, 32);
    memcpy(pk, p, 32);
    return 0;
}

int crypto_sign_keypair(unsigned char *pk, unsigned char *sk)
{
    uint8_t s[32];
    randombytes(s, 32);
    return crypto_sign_seed_keypair(pk, sk, s);
}

int crypto_sign_detached(unsigned char *sig, unsigned long long *siglen, const unsigned char *m, unsigned long long n, const unsigned char *sk)
{
    if (n > STK_SIGN_MAX) {
        return -1;
    }
    santoku_sign_detached(sig, (uint32_t)n, m, sk);
    if (siglen) {
        *siglen = 64;
    }
    return 0;
}

int crypto_sign_verify_detached(const unsigned char *sig, const unsigned char *m, unsigned long long n, const unsigned char *pk)
{
    if (n > STK_SIGN_MAX) {
        return -1;
    }
    return santoku_sign_verify((uint32_t)n, m, sig, pk) ? 0 : -1;
}

int crypto_sign(unsigned char *sm, unsigned long long *smlen, const unsigned char *m, unsigned long long n, const unsigned char *sk)
{
    if (n > STK_SIGN_MAX) {
        return -1;
    }
    memmove(sm + 64, m, (size_t)n);
    santoku_sign_detached(sm, (uint32_t)n, sm + 64, sk);
    *smlen = n + 64;
    return 0;
}

int crypto_sign_open(unsigned char *m, unsigned long long *mlen, const unsigned char *sm, unsigned long long n, const unsigned char *pk)
{
    *mlen = (unsigned long long)-1;
    if (n < 64 || n - 64 > STK_SIGN_MAX || !santoku_sign_verify((uint32_t)(n - 64), sm + 64, sm, pk)) {
        memset(m, 0, (size_t)n);
        return -1;
    }
    memmove(m, sm + 64, (size_t)(n - 64));
    *mlen = n - 64;
    return 0;
}
