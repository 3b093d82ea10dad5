/* ChaCha20's key stream, eight blocks side by side, compared with RFC 8439, 2.3.2. */
#include "chacha20.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 8, BYTES = 64 };

static void put32(unsigned char *to, unsigned long word) {
    for (int i = 0; i < 4; i++) to[i] = (unsigned char)(word >> 8 * i);
}

int main(void) {
    static const unsigned char constant[] = "expand 32-byte k", nonce[12] = {0, 0, 0, 9, 0, 0, 0, 0x4a};
    static const unsigned char first[16] = {0x10, 0xf1, 0xe7, 0xe4, 0xd1, 0x3b, 0x59, 0x15, 0x50, 0x0f, 0xdd, 0x1f, 0xa3, 0x20, 0x71, 0xc4};
    static unsigned char in[BLOCKS * BYTES], out[BLOCKS * BYTES];
    for (unsigned long block = 0; block < BLOCKS; block++) {
        unsigned char *state = in + block * BYTES;
        memcpy(state, constant, 16);
        for (int i = 0; i < 32; i++) state[16 + i] = (unsigned char)i; /* the key */
        put32(state + 48, 1 + block);                                  /* the counter */
        memcpy(state + 52, nonce, 12);
    }
    struct chacha20_keys *none = malloc(chacha20_keys_size() + 1); /* all input is in the blocks */
    if (!none) return 1;
    chacha20_setup(none, NULL);
    chacha20_blocks(out, in, none, 1);
    free(none);
    if (memcmp(out, first, sizeof first) != 0) return puts("not ChaCha20"), 1;
    puts("eight blocks of ChaCha20, the first as RFC 8439 has it");
    return 0;
}
