/* Checks a signed image before it runs, as a boot loader does. */
#include "nacl_sign.h"

static void print(const char *s) {
    for (; *s; s++) *(volatile unsigned char *)0x10000000 = (unsigned char)*s; /* the board's serial port */
}

/* Only crypto_sign_keypair asks for random bytes, and a boot loader makes no keys. */
void randombytes(unsigned char *x, unsigned long long n) { (void)x, (void)n; }

static const unsigned char seed[32] = "the vendor's key, kept elsewhere";
static const unsigned char image[] = "firmware 1.2.3";
static unsigned char sealed[sizeof image + 64], opened[sizeof sealed], pk[32], sk[64];

int main(void) {
    unsigned long long n, m;
    crypto_sign_seed_keypair(pk, sk, seed); /* at the vendor */
    crypto_sign(sealed, &n, image, sizeof image, sk);

    if (crypto_sign_open(opened, &m, sealed, n, pk) != 0 || m != sizeof image) return print("refused a good image\n"), 1;
    print("accepted: "), print((const char *)opened), print("\n");

    sealed[70] ^= 1; /* one bit of the image */
    if (crypto_sign_open(opened, &m, sealed, n, pk) == 0) return print("accepted a changed image\n"), 1;
    print("refused: one changed bit\n");
    return 0;
}
