/* The C interface of NaCl over the functions above. Why not in the language: it reads a caller's randomness, and pointers may be
 * null and objects overlap, neither of which the language has. What gets a secret has a frame of its own, which its caller clears. */

#define STK_SIGN_MAX 0x7fffff7fu

/* Stands for an empty message, which callers may give as a null pointer. */
static const unsigned char stk_no_bytes[1] = {0};

static STK_BODY int stk_sign_seed_keypair(unsigned char *pk, unsigned char *sk, const unsigned char *seed)
{
    uint8_t p[32];
    memmove(sk, seed, 32);
    santoku_sign_public_key(p, sk);
    memcpy(sk + 32, p, 32);
    memcpy(pk, p, 32);
    return 0;
}

static STK_BODY int stk_sign_detached(unsigned char *sig, unsigned long long *siglen, const unsigned char *m, unsigned long long n, const unsigned char *sk)
{
    if (n > STK_SIGN_MAX) {
        return -1;
    }
    santoku_sign_detached(sig, (uint32_t)n, n ? m : stk_no_bytes, sk);
    if (siglen) {
        *siglen = 64;
    }
    return 0;
}

STK_API int STK_NAME(crypto_sign_verify_detached)(const unsigned char *sig, const unsigned char *m, unsigned long long n, const unsigned char *pk)
{
    if (n > STK_SIGN_MAX) {
        return -1;
    }
    return santoku_sign_verify((uint32_t)n, n ? m : stk_no_bytes, sig, pk) ? 0 : -1;
}

static STK_BODY int stk_sign(unsigned char *sm, unsigned long long *smlen, const unsigned char *m, unsigned long long n, const unsigned char *sk)
{
    if (n > STK_SIGN_MAX) {
        return -1;
    }
    if (n) {
        memmove(sm + 64, m, (size_t)n);
    }
    santoku_sign_detached(sm, (uint32_t)n, n ? sm + 64 : stk_no_bytes, sk);
    if (smlen) {
        *smlen = n + 64;
    }
    return 0;
}

STK_API int STK_NAME(crypto_sign_open)(unsigned char *m, unsigned long long *mlen, const unsigned char *sm, unsigned long long n, const unsigned char *pk)
{
    /* Callers of libsodium give m room for n - 64 bytes, those of TweetNaCl for n: no more than the former is touched. */
    unsigned long long size = n - 64;
    if (mlen) {
        *mlen = (unsigned long long)-1;
    }
    if (n < 64 || size > STK_SIGN_MAX) {
        return -1;
    }
    if (!santoku_sign_verify((uint32_t)size, size ? sm + 64 : stk_no_bytes, sm, pk)) {
        if (m && size) {
            memset(m, 0, (size_t)size);
        }
        return -1;
    }
    if (m && size) {
        memmove(m, sm + 64, (size_t)size);
    }
    if (mlen) {
        *mlen = size;
    }
    return 0;
}

STK_API int STK_NAME(crypto_sign_seed_keypair)(unsigned char *pk, unsigned char *sk, const unsigned char *seed)
{
    int status = stk_sign_seed_keypair(pk, sk, seed);
    STK_CLEAR(STK_STACK_NACL_SIGN);
    return status;
}

STK_API int STK_NAME(crypto_sign_keypair)(unsigned char *pk, unsigned char *sk)
{
    randombytes(sk, 32);
    return STK_NAME(crypto_sign_seed_keypair)(pk, sk, sk);
}

STK_API int STK_NAME(crypto_sign_detached)(unsigned char *sig, unsigned long long *siglen, const unsigned char *m, unsigned long long n, const unsigned char *sk)
{
    int status = stk_sign_detached(sig, siglen, m, n, sk);
    STK_CLEAR(STK_STACK_NACL_SIGN);
    return status;
}

STK_API int STK_NAME(crypto_sign)(unsigned char *sm, unsigned long long *smlen, const unsigned char *m, unsigned long long n, const unsigned char *sk)
{
    int status = stk_sign(sm, smlen, m, n, sk);
    STK_CLEAR(STK_STACK_NACL_SIGN);
    return status;
}
