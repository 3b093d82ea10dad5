/* The C interface of NaCl over the functions above. Why not in the language: it reads a caller's randomness, and pointers may be
 * null and objects overlap, neither of which the language has. What gets a secret has a frame of its own, which its caller clears. */

#define STK_SIGN_MAX 0x7fffff7fu

/* Stands for an empty message, which callers may give as a null pointer. */
static const unsigned char stk_no_bytes[1] = {0};

#ifdef STK_REFUSE_SMALL_ORDER
/* The y of all points whose order divides 8, encoded as in RFC 8032, 5.1.2. The top bit of an encoded point is the sign of x. */
static const unsigned char stk_small_order_y[5][32] = {
    { 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00 },
    { 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00 },
    { 0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05 },
    { 0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a },
    { 0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f },
};

/* Signatures and public keys are public: branches on them tell nothing. */
static int stk_has_small_order(const unsigned char *point)
{
    int k, i;
    for (k = 0; k < 5; k++) {
        for (i = 0; i < 32 && (point[i] & (i == 31 ? 0x7f : 0xff)) == stk_small_order_y[k][i]; i++) {
        }
        if (i == 32) {
            return 1;
        }
    }
    return 0;
}
#define STK_ADMITTED(sig, pk) (!stk_has_small_order(sig) && !stk_has_small_order(pk))
#else
#define STK_ADMITTED(sig, pk) 1
#endif

static STK_BODY int stk_sign_seed_keypair(unsigned char *pk, unsigned char *sk, const unsigned char *seed)
{
    memmove(sk, seed, 32);
    santoku_sign_public_key(pk, sk);
    memcpy(sk + 32, pk, 32);
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
    return STK_ADMITTED(sig, pk) && santoku_sign_verify((uint32_t)n, n ? m : stk_no_bytes, sig, pk) ? 0 : -1;
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
    if (!STK_ADMITTED(sm, pk) || !santoku_sign_verify((uint32_t)size, size ? sm + 64 : stk_no_bytes, sm, pk)) {
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
    STK_CLEAR(STK_STACK_UNIT);
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
    STK_CLEAR(STK_STACK_UNIT);
    return status;
}

STK_API int STK_NAME(crypto_sign)(unsigned char *sm, unsigned long long *smlen, const unsigned char *m, unsigned long long n, const unsigned char *sk)
{
    int status = stk_sign(sm, smlen, m, n, sk);
    STK_CLEAR(STK_STACK_UNIT);
    return status;
}
