typedef unsigned int u32;
typedef unsigned long long u64;
typedef __SIZE_TYPE__ size;
void *memcpy(void *, const void *, size);
void *memset(void *, int, size);
void outside(u32 *);

static const u32 table[16] = {1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
const u64 wide[4] = {0x0123456789abcdefull, 2, 3, 4};
u32 counter = 7;
static u32 scratch[8];

__attribute__((noinline)) static u32 local(u32 x) {
  return table[x & 15] * 2654435761u + counter;
}

u32 calls(u32 *out, const u32 *in, u32 n) {
  u32 sum = 0;
  memcpy(scratch, in, sizeof scratch);
  for (u32 i = 0; i < n; i++) sum += local(in[i]) ^ scratch[i & 7];
  out[0] = sum;
  outside(out);
  return sum;
}

u64 constants(const u64 *a) {
  return a[0] * 0x9e3779b97f4a7c15ull + wide[a[1] & 3];
}

u32 jumps(u32 a, u32 b) {
  switch (a) {
    case 0: return b + 1;
    case 1: return b * 3;
    case 2: return b ^ 0x5a5a5a5a;
    case 3: return local(b);
    case 4: return b >> 3;
    case 5: return b - a;
    case 6: return counter += b;
    case 7: return b * b * b;
    default: return 0;
  }
}

void tail(u32 *p) {
  memset(p, 0, 400);
  outside(p);
}
