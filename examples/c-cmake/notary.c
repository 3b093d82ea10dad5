/* Signs a message and checks the signature, with keys of this moment. */
#include <santoku.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The library asks for random bytes; where they come from is the program's choice. */
void randombytes(unsigned char *x, unsigned long long n) {
    FILE *f = fopen("/dev/urandom", "rb");
    if (!f || fread(x, 1, (size_t)n, f) != n) abort();
    fclose(f);
}

int main(void) {
    static const char text[] = "I owe you one.";
    unsigned char pk[crypto_sign_PUBLICKEYBYTES], sk[crypto_sign_SECRETKEYBYTES], digest[32];
    unsigned char sm[sizeof text + crypto_sign_BYTES], m[sizeof sm];
    unsigned long long smlen, mlen;

    crypto_sign_keypair(pk, sk);
    crypto_sign(sm, &smlen, (const unsigned char *)text, sizeof text, sk);
    if (crypto_sign_open(m, &mlen, sm, smlen, pk) != 0) return puts("refused"), 1;
    printf("signed: %s\n", (char *)m);

    santoku_sha256(digest, sizeof text - 1, (const unsigned char *)text);
    printf("sha256: ");
    for (size_t i = 0; i < sizeof digest; i++) printf("%02x", digest[i]);
    puts("");

    sm[0] ^= 1;
    if (crypto_sign_open(m, &mlen, sm, smlen, pk) == 0) return puts("accepted a changed signature"), 1;
    puts("refused: one changed bit");
    return 0;
}
