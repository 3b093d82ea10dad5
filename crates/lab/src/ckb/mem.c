/* The four functions compilers call on their own in freestanding code. The VM charges per instruction and 2 or 3 cycles
   per access of any width, so words are moved while both sides are aligned. Built with -fno-builtin: otherwise the loops
   are recognised and become calls to themselves. */
#include <stddef.h>
#include <stdint.h>

typedef uint64_t __attribute__((may_alias)) word;

static int aligned(const void *a, const void *b)
{
  return (((uintptr_t)a | (uintptr_t)b) & 7) == 0;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
  unsigned char *t = to;
  const unsigned char *f = from;
  if (aligned(t, f))
    for (; n >= 8; n -= 8, t += 8, f += 8) *(word *)t = *(const word *)f;
  for (; n; n--) *t++ = *f++;
  return to;
}

void *memmove(void *to, const void *from, size_t n)
{
  unsigned char *t = to;
  const unsigned char *f = from;
  if ((uintptr_t)t - (uintptr_t)f >= n) return memcpy(to, from, n);
  while (n--) t[n] = f[n];
  return to;
}

void *memset(void *to, int value, size_t n)
{
  unsigned char *t = to;
  if (aligned(t, t)) {
    word w = (unsigned char)value * 0x0101010101010101u;
    for (; n >= 8; n -= 8, t += 8) *(word *)t = w;
  }
  for (; n; n--) *t++ = (unsigned char)value;
  return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
  const unsigned char *x = a, *y = b;
  for (; n; n--, x++, y++)
    if (*x != *y) return *x - *y;
  return 0;
}
