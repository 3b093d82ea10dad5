/* crypto_sign of NaCl, with TweetNaCl's names and signatures. Ed25519: RFC 8032.
 *
 * Public keys of small order are accepted, as by RFC 8032, OpenSSL and AWS-LC; libsodium refuses them, and so does this
 * file if STK_REFUSE_SMALL_ORDER is defined, as keys and as R of signatures. S of a signature must be below the group order, and a public key
 * must be encoded canonically.
 *
 * Messages are at most 2^31 - 129 bytes. Nothing is allocated; there is no state. No seed, secret scalar or nonce stays on the stack or in a
 * register when a function returns; that randombytes leaves none either is up to its author. On processors whose 64-bit products take a time
 * that depends on the operands, the source makes them of narrower ones; others that would leak secrets through multiplication are refused with
 * an #error. */
/* Supplied by the caller: fills x with xlen random bytes. Used by crypto_sign_keypair alone. */
extern void randombytes(unsigned char *x, unsigned long long xlen);

/* A new key pair: pk[32], sk[64] = seed || pk. Returns 0. */
int STK_NAME(crypto_sign_keypair)(unsigned char *pk, unsigned char *sk);

/* The key pair of a 32-byte seed. Returns 0. */
int STK_NAME(crypto_sign_seed_keypair)(unsigned char *pk, unsigned char *sk, const unsigned char *seed);

/* sm[n + 64] = signature || m; *smlen = n + 64 where smlen is not null. m and sm may overlap; m may be null if n is 0. Returns 0, or -1
 * if n is too large (nothing is written). */
int STK_NAME(crypto_sign)(unsigned char *sm, unsigned long long *smlen, const unsigned char *m, unsigned long long n, const unsigned char *sk);

/* Checks sm[n] and puts the message into m[n - 64]; *mlen = n - 64 where mlen is not null. Returns 0; or -1, with
 * *mlen = (unsigned long long)-1, if sm is not a valid signed message under pk: m[n - 64] is then zeroed, or left alone where n is below 64 or
 * too large. Never more than n - 64 bytes of m are written. m may be null: nothing but the verdict is then wanted. S below the group order
 * and a canonical pk are required (RFC 8032, 5.1.7). m and sm may overlap. */
int STK_NAME(crypto_sign_open)(unsigned char *m, unsigned long long *mlen, const unsigned char *sm, unsigned long long n, const unsigned char *pk);

/* sig[64] of m[n]; *siglen = 64 where siglen is not null. sig must not overlap m or sk; m may be null if n is 0. Returns 0, or
 * -1 if n is too large. */
int STK_NAME(crypto_sign_detached)(unsigned char *sig, unsigned long long *siglen, const unsigned char *m, unsigned long long n, const unsigned char *sk);

/* Returns 0 if sig is a signature of m[n] under pk, else -1. m may be null if n is 0. */
int STK_NAME(crypto_sign_verify_detached)(const unsigned char *sig, const unsigned char *m, unsigned long long n, const unsigned char *pk);

