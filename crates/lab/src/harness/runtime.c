/* What a freestanding program may ask of its C library: the four memory functions compilers call by themselves, and,
   for NaCl-like libraries, a repeatable stand-in for the caller's source of randomness. Not part of any size. */
typedef __SIZE_TYPE__ size;

/* Ascending copy: right for overlapping areas too when the target is not above the source. */
static inline void copy_up(unsigned char *t, const unsigned char *f, size n)
{
    if ((((size)t | (size)f) & 3) == 0)
        for (; n >= 4; n -= 4, t += 4, f += 4)
            *(unsigned __attribute__((may_alias)) *)t = *(const unsigned __attribute__((may_alias)) *)f;
    while (n--)
        *t++ = *f++;
}

void *memcpy(void *restrict to, const void *restrict from, size n)
{
    copy_up(to, from, n);
    return to;
}

void *memset(void *to, int c, size n)
{
    unsigned char *t = to;
    if (((size)t & 3) == 0) {
        unsigned w = (unsigned char)c * 0x01010101u;
        for (; n >= 4; n -= 4, t += 4)
            *(unsigned __attribute__((may_alias)) *)t = w;
    }
    while (n--)
        *t++ = (unsigned char)c;
    return to;
}

void *memmove(void *to, const void *from, size n)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    if (t <= f)
        copy_up(t, f, n);
    else
        while (n--)
            t[n] = f[n];
    return to;
}

int memcmp(const void *a, const void *b, size n)
{
    const unsigned char *x = a, *y = b;
    for (; n--; x++, y++)
        if (*x != *y)
            return *x < *y ? -1 : 1;
    return 0;
}

__attribute__((weak)) void randombytes(unsigned char *to, unsigned long long n)
{
    static unsigned state = 0x6a09e667u;
    while (n--) {
        state = state * 1664525u + 1013904223u;
        *to++ = (unsigned char)(state >> 24);
    }
}
