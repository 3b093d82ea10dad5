/* The four functions compilers call on their own in freestanding code. Machines charge per instruction and
   per access of any width, so words are moved while both sides are aligned. Built with -fno-builtin: otherwise the loops
   are recognised and become calls to themselves. */
#include <stddef.h>
#include <stdint.h>

typedef uintptr_t __attribute__((may_alias)) word;

static int aligned(const void *a, const void *b)
{
  return (((uintptr_t)a | (uintptr_t)b) & (sizeof(word) - 1)) == 0;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
  unsigned char *t = to;
  const unsigned char *f = from;
  if (aligned(t, f))
    for (; n >= sizeof(word); n -= sizeof(word), t += sizeof(word), f += sizeof(word)) *(word *)t = *(const word *)f;
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
    word w = (unsigned char)value * ((word)-1 / 255);
    for (; n >= sizeof(word); n -= sizeof(word), t += sizeof(word)) *(word *)t = w;
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
