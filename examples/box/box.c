/* Files in boxes, for one reader: box keys NAME; box seal MINE.secret THEIRS.public; box open MINE.secret THEIRS.public.
 * A sealed file is a nonce of 24 bytes, then the box without the 16 zeros before it. */
#include "nacl_box.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NONCE = crypto_box_NONCEBYTES, HEAD = crypto_box_ZEROBYTES, BOXHEAD = crypto_box_BOXZEROBYTES };

static void stop(const char *why, const char *what) {
    fprintf(stderr, "box: %s%s\n", why, what);
    exit(2);
}

void randombytes(unsigned char *x, unsigned long long n) {
    FILE *from = fopen("/dev/urandom", "rb");
    if (!from || fread(x, 1, (size_t)n, from) != n) stop("no randomness: ", "/dev/urandom");
    fclose(from);
}

static void key(unsigned char k[32], const char *path) {
    FILE *from = fopen(path, "rb");
    if (!from || fread(k, 1, 32, from) != 32 || fgetc(from) != EOF) stop("no key of 32 bytes: ", path);
    fclose(from);
}

static void put_key(const unsigned char k[32], const char *name, const char *ending) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s.%s", name, ending) >= (int)sizeof path) stop("too long a name: ", name);
    FILE *to = fopen(path, "wbx"); /* a key is never overwritten */
    if (!to || fwrite(k, 1, 32, to) != 32 || fclose(to)) stop("not written: ", path);
}

/* All of standard input behind `head` zeros; *n: bytes, those included. */
static unsigned char *input(size_t head, unsigned long long *n) {
    size_t room = 1 << 16, used = head, got;
    unsigned char *all = calloc(1, room);
    while (all && (got = fread(all + used, 1, room - used, stdin)) > 0) {
        used += got;
        if (used == room) all = realloc(all, room *= 2);
    }
    if (!all || ferror(stdin)) stop("not read: ", "standard input");
    *n = used;
    return all;
}

static void output(const unsigned char *bytes, size_t n) {
    if (fwrite(bytes, 1, n, stdout) != n) stop("not written: ", "standard output");
}

static int seal(const unsigned char pk[32], const unsigned char sk[32]) {
    unsigned char nonce[NONCE];
    unsigned long long n;
    unsigned char *m = input(HEAD, &n);
    randombytes(nonce, sizeof nonce);
    if (crypto_box(m, m, n, nonce, pk, sk) != 0) stop("too much for one box", "");
    output(nonce, sizeof nonce);
    output(m + BOXHEAD, n - BOXHEAD);
    return fflush(stdout) != 0;
}

static int unseal(const unsigned char pk[32], const unsigned char sk[32]) {
    unsigned char nonce[NONCE];
    unsigned long long n;
    if (fread(nonce, 1, sizeof nonce, stdin) != sizeof nonce) return fputs("box: not authentic\n", stderr), 1;
    unsigned char *c = input(BOXHEAD, &n);
    if (crypto_box_open(c, c, n, nonce, pk, sk) != 0) return fputs("box: not authentic\n", stderr), 1;
    output(c + HEAD, n - HEAD);
    return fflush(stdout) != 0;
}

int main(int argc, char **argv) {
    unsigned char pk[32], sk[32];
    if (argc == 3 && strcmp(argv[1], "keys") == 0) {
        crypto_box_keypair(pk, sk);
        put_key(sk, argv[2], "secret");
        put_key(pk, argv[2], "public");
        return 0;
    }
    if (argc != 4 || (strcmp(argv[1], "seal") != 0 && strcmp(argv[1], "open") != 0)) {
        stop("usage: box keys NAME | box seal MINE.secret THEIRS.public <FILE | box open MINE.secret THEIRS.public <FILE", "");
    }
    key(sk, argv[2]);
    key(pk, argv[3]);
    return argv[1][0] == 's' ? seal(pk, sk) : unseal(pk, sk);
}
