/* The C interface of NaCl over the functions above. Why not in the language: it reads a caller's randomness, and pointers may be
 * null and objects overlap, neither of which the language has. What gets a secret has a frame of its own, which its caller clears. */

#define STK_SIGN_MAX 0x7fffff7fu

/* Stands for an empty message, which callers may give as a null pointer. */
static const unsigned char stk_no_bytes[1] = {0};

/* sk holds the seed. */
static STK_BODY void stk_sign_complete(unsigned char *pk, unsigned char *sk)
{
    uint8_t p[32];
    santoku_sign_public_key(p, sk);
    memcpy(sk + 32, p, 32);
    memcpy(pk, p, 32);
}

static STK_BODY void stk_sign_seed_keypair(unsigned char *pk, unsigned char *sk, const unsigned char *seed)
{
    memmove(sk, seed, 32);
    stk_sign_complete(pk, sk);
}

static STK_BODY void stk_sign_keypair(unsigned char *pk, unsigned char *sk)
{
    randombytes(sk, 32);
    stk_sign_complete(pk, sk);
}

/* The message lies at m, or at sig + 64 where sig begins a signed message. */
static STK_BODY void stk_sign_detached(unsigned char *sig, const unsigned char *m, unsigned long long n, const unsigned char *sk)
{
    santoku_sign_detached(sig, (uint32_t)n, n ? m : stk_no_bytes, sk);
}

STK_API int STK_NAME(crypto_sign_seed_keypair)(unsigned char *pk, unsigned char *sk, const unsigned char *seed)
{
    stk_sign_seed_keypair(pk, sk, seed);
    STK_CLEAR(STK_STACK_NACL_SIGN);
    return 0;
}

STK_API int STK_NAME(crypto_sign_keypair)(unsigned char *pk, unsigned char *sk)
{
    stk_sign_keypair(pk, sk);
    STK_CLEAR(STK_STACK_NACL_SIGN);
    return 0;
}

STK_API int STK_NAME(crypto_sign_detached)(unsigned char *sig, unsigned long long *siglen, const unsigned char *m, unsigned long long n, const unsigned char *sk)
{
    if (n > STK_SIGN_MAX) {
        return -1;
    }
    stk_sign_detached(sig, m, n, sk);
    STK_CLEAR(STK_STACK_NACL_SIGN);
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

STK_API int STK_NAME(crypto_sign)(unsigned char *sm, unsigned long long *smlen, const unsigned char *m, unsigned long long n, const unsigned char *sk)
{
    if (n > STK_SIGN_MAX) {
        return -1;
    }
    if (n) {
        memmove(sm + 64, m, (size_t)n);
    }
    stk_sign_detached(sm, sm + 64, n, sk);
    STK_CLEAR(STK_STACK_NACL_SIGN);
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
