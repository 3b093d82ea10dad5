/* What compilers call by themselves; a C library has them, this firmware has none. */
#include <stddef.h>

void *memcpy(void *to, const void *from, size_t n) {
    unsigned char *t = to;
    for (const unsigned char *f = from; n; n--) *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t n) {
    unsigned char *t = to;
    const unsigned char *f = from;
    if (t < f) return memcpy(to, from, n);
    while (n--) t[n] = f[n];
    return to;
}

void *memset(void *to, int byte, size_t n) {
    for (unsigned char *t = to; n; n--) *t++ = (unsigned char)byte;
    return to;
}
