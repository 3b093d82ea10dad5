/* What a call leaves on the stack below it: paints the stack, makes the call, and copies the stack to out, the lowest byte first. Written
 * before: PROBE_DECLARE, the function's declaration; PROBE_CALL(out, a), its call; PROBE_BYTES of stack. */
#include <stddef.h>
#include <stdint.h>

PROBE_DECLARE;

#if defined(__GNUC__) || defined(__clang__)
#define APART __attribute__((noinline))
#else
#define APART
#endif

#define PAINT 0xA5

static unsigned char seen[PROBE_BYTES];

/* Painting and looking have the same frame, where that of the call was. */
static APART void frame(int look)
{
    volatile unsigned char below[PROBE_BYTES];
    size_t k;
    if (look) {
        for (k = 0; k < PROBE_BYTES; k++) {
            seen[k] = below[k];
        }
    } else {
        for (k = 0; k < PROBE_BYTES; k++) {
            below[k] = PAINT;
        }
    }
}

void stk_residue(unsigned char *out, unsigned char *left, const unsigned char *a);
void stk_residue(unsigned char *out, unsigned char *left, const unsigned char *a)
{
    size_t k;
    /* The first call may look functions of shared libraries up, which takes stack. */
    PROBE_CALL(out, a);
    frame(0);
    PROBE_CALL(out, a);
    frame(1);
    for (k = 0; k < PROBE_BYTES; k++) {
        left[k] = seen[k];
    }
}

/* Measured calls draw no randomness, but linkers want the function. */
void randombytes(unsigned char *x, unsigned long long n);
void randombytes(unsigned char *x, unsigned long long n)
{
    while (n--) {
        *x++ = 0;
    }
}
