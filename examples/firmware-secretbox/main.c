/* A sensor that sends its readings in boxes, and takes none that was changed or sent before. Everything happens in one buffer. */
#include "nacl_box.h"

static void print(const char *s) {
    for (; *s; s++) *(volatile unsigned char *)0x10000000 = (unsigned char)*s; /* the board's serial port */
}

/* Only crypto_box_keypair asks for random bytes; the key of this sensor was given to it. */
void randombytes(unsigned char *x, unsigned long long n) { (void)x, (void)n; }

enum { ZERO = crypto_secretbox_ZEROBYTES };
static const unsigned char key[crypto_secretbox_KEYBYTES] = "shared by sensor and gateway....";
static unsigned char packet[ZERO + 16];

/* A number that is never used twice: here the number of the packet; it must outlive a reset. */
static void numbered(unsigned char nonce[crypto_secretbox_NONCEBYTES], unsigned long packet_number) {
    for (int i = 0; i < crypto_secretbox_NONCEBYTES; i++) nonce[i] = i < 4 ? (unsigned char)(packet_number >> (8 * i)) : 0;
}

static int same(const unsigned char *a, const char *b, int n) {
    for (int i = 0; i < n; i++) {
        if (a[i] != (unsigned char)b[i]) return 0;
    }
    return 1;
}

int main(void) {
    static const char reading[] = "21.5 C, 1013 hPa";
    unsigned char nonce[crypto_secretbox_NONCEBYTES];
    for (int i = 0; i < 16; i++) packet[ZERO + i] = (unsigned char)reading[i];
    numbered(nonce, 7);
    crypto_secretbox(packet, packet, sizeof packet, nonce, key); /* at the sensor: the first 32 bytes are 0 */
    if (same(packet + ZERO, reading, 16)) return print("sent in the clear\n"), 1;

    numbered(nonce, 8); /* at the gateway, which waits for the next one */
    if (crypto_secretbox_open(packet, packet, sizeof packet, nonce, key) == 0) return print("took an old packet\n"), 1;
    print("refused: another number\n");

    packet[ZERO + 3] ^= 1;
    numbered(nonce, 7);
    if (crypto_secretbox_open(packet, packet, sizeof packet, nonce, key) == 0) return print("took a changed packet\n"), 1;
    print("refused: one changed bit\n");

    packet[ZERO + 3] ^= 1; /* a box that is refused stays as it was */
    if (crypto_secretbox_open(packet, packet, sizeof packet, nonce, key) != 0 || !same(packet + ZERO, reading, 16)) return print("lost a good packet\n"), 1;
    print("taken: "), print(reading), print("\n");
    return 0;
}
