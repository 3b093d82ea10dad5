//! Machines: register width, compiler flags, and the macros that operations print as.

use std::fmt::Write;

/// How blocks lie in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layout {
    /// One block, one word per register.
    Scalar,
    /// One word of many blocks per register, a lane each.
    Vertical,
    /// One bit of many blocks per register.
    Bitslice,
}

/// Instruction set and register width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// 64-bit registers, portable C.
    Portable64,
    /// 256 bits, AVX2 and nothing newer.
    Avx2,
    /// 256 bits with the instructions of AVX-512 (F, VL, BW, DQ, VBMI, VBMI2).
    Avx512Vl,
    /// 512 bits.
    Avx512,
}

impl Layout {
    pub const ALL: [Layout; 3] = [Layout::Scalar, Layout::Vertical, Layout::Bitslice];

    pub fn name(self) -> &'static str {
        match self {
            Layout::Scalar => "scalar",
            Layout::Vertical => "vertical",
            Layout::Bitslice => "bitslice",
        }
    }
}

impl Isa {
    pub const ALL: [Isa; 4] = [Isa::Portable64, Isa::Avx2, Isa::Avx512Vl, Isa::Avx512];

    pub fn name(self) -> &'static str {
        match self {
            Isa::Portable64 => "portable64",
            Isa::Avx2 => "avx2",
            Isa::Avx512Vl => "avx512vl",
            Isa::Avx512 => "avx512",
        }
    }
    /// Bits of a register.
    pub fn bits(self) -> u32 {
        match self {
            Isa::Portable64 => 64,
            Isa::Avx2 | Isa::Avx512Vl => 256,
            Isa::Avx512 => 512,
        }
    }
    /// Has `vpternlog`.
    pub fn lut3(self) -> bool {
        matches!(self, Isa::Avx512Vl | Isa::Avx512)
    }
    /// Flags for gcc and clang.
    pub fn cflags(self) -> &'static [&'static str] {
        const NEW: &[&str] = &[
            "-mavx2", "-mavx512f", "-mavx512vl", "-mavx512bw", "-mavx512dq", "-mavx512vbmi", "-mavx512vbmi2",
        ];
        match self {
            Isa::Portable64 => &[],
            Isa::Avx2 => &["-mavx2"],
            Isa::Avx512Vl | Isa::Avx512 => NEW,
        }
    }
    /// Names in `/proc/cpuinfo` that a processor must list to run it.
    pub fn cpu_flags(self) -> &'static [&'static str] {
        const NEW: &[&str] = &["avx2", "avx512f", "avx512vl", "avx512bw", "avx512dq", "avx512_vbmi2"];
        match self {
            Isa::Portable64 => &[],
            Isa::Avx2 => &["avx2"],
            Isa::Avx512Vl | Isa::Avx512 => NEW,
        }
    }
}

/// The register type `V` and its macros, with the three-input cells of these tables.
pub fn preamble(isa: Isa, tables: &[u8]) -> String {
    let mut text = match isa {
        Isa::Portable64 => PORTABLE.to_string(),
        Isa::Avx2 | Isa::Avx512Vl | Isa::Avx512 => vector(isa),
    };
    for t in tables {
        let _ = match isa {
            Isa::Avx512 => writeln!(text, "#define V_LUT_{t:02x}(a, b, c) _mm512_ternarylogic_epi64(c, b, a, 0x{t:02x})"),
            _ => writeln!(text, "#define V_LUT_{t:02x}(a, b, c) _mm256_ternarylogic_epi64(c, b, a, 0x{t:02x})"),
        };
    }
    text
}

const PORTABLE: &str = "\
typedef uint64_t V;
#define V_SET64(x) (x)
#define V_XOR(a, b) ((a) ^ (b))
#define V_AND(a, b) ((a) & (b))
#define V_OR(a, b) ((a) | (b))
#define V_NOT(a) (~(a))
#define V_SHL64(a, k) ((a) << (k))
#define V_SHR64(a, k) ((a) >> (k))
#define V_LOAD(p, stride) stk_load64(p)
#define V_STORE(p, stride, v) stk_store64(p, v)
static inline uint64_t stk_load64(const uint8_t *p) { uint64_t v; memcpy(&v, p, 8); return v; }
static inline void stk_store64(uint8_t *p, uint64_t v) { memcpy(p, &v, 8); }
";

/// `V_LOAD(p, stride)`: 128-bit groups, `stride` bytes apart.
const GROUPS_256: &str = "\
#define V_LOAD(p, stride) ((stride) == 16 ? _mm256_loadu_si256((const __m256i *)(p)) \\
    : _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(p))), \\
        _mm_loadu_si128((const __m128i *)((p) + (stride))), 1))
static inline void stk_store(uint8_t *p, size_t stride, V v)
{
    if (stride == 16) {
        _mm256_storeu_si256((__m256i *)p, v);
    } else {
        _mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(v));
        _mm_storeu_si128((__m128i *)(p + stride), _mm256_extracti128_si256(v, 1));
    }
}
#define V_STORE(p, stride, v) stk_store(p, stride, v)
";

const GROUPS_512: &str = "\
static inline V stk_load(const uint8_t *p, size_t stride)
{
    __m512i v;
    if (stride == 16) {
        return _mm512_loadu_si512((const void *)p);
    }
    v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)p));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(p + stride)), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(p + 2 * stride)), 2);
    return _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(p + 3 * stride)), 3);
}
static inline void stk_store(uint8_t *p, size_t stride, V v)
{
    if (stride == 16) {
        _mm512_storeu_si512((void *)p, v);
    } else {
        _mm_storeu_si128((__m128i *)p, _mm512_castsi512_si128(v));
        _mm_storeu_si128((__m128i *)(p + stride), _mm512_extracti32x4_epi32(v, 1));
        _mm_storeu_si128((__m128i *)(p + 2 * stride), _mm512_extracti32x4_epi32(v, 2));
        _mm_storeu_si128((__m128i *)(p + 3 * stride), _mm512_extracti32x4_epi32(v, 3));
    }
}
#define V_LOAD(p, stride) stk_load(p, stride)
#define V_STORE(p, stride, v) stk_store(p, stride, v)
";

fn vector(isa: Isa) -> String {
    let wide = isa == Isa::Avx512;
    let (mm, si) = if wide { ("_mm512", "si512") } else { ("_mm256", "si256") };
    let mut t = format!("#include <immintrin.h>\ntypedef __m{}i V;\n", isa.bits());
    for (name, op) in [("XOR", "xor"), ("AND", "and"), ("OR", "or")] {
        let _ = writeln!(t, "#define V_{name}(a, b) {mm}_{op}_{si}(a, b)");
    }
    let _ = writeln!(t, "#define V_NOT(a) {mm}_xor_{si}(a, {mm}_set1_epi32(-1))");
    for (bits, c) in [(8, "char"), (16, "short"), (32, "int")] {
        let _ = writeln!(t, "#define V_SET{bits}(x) {mm}_set1_epi{bits}(({c})(x))");
    }
    let set64 = if wide { "epi64" } else { "epi64x" };
    let _ = writeln!(t, "#define V_SET64(x) {mm}_set1_{set64}((long long)(x))");
    for bits in [8, 16, 32, 64] {
        let _ = writeln!(t, "#define V_ADD{bits}(a, b) {mm}_add_epi{bits}(a, b)\n#define V_SUB{bits}(a, b) {mm}_sub_epi{bits}(a, b)");
        let _ = writeln!(t, "#define V_UNPACKLO{bits}(a, b) {mm}_unpacklo_epi{bits}(a, b)\n#define V_UNPACKHI{bits}(a, b) {mm}_unpackhi_epi{bits}(a, b)");
    }
    for bits in [16, 32, 64] {
        let _ = writeln!(t, "#define V_SHL{bits}(a, k) {mm}_slli_epi{bits}(a, k)\n#define V_SHR{bits}(a, k) {mm}_srli_epi{bits}(a, k)");
    }
    let _ = writeln!(t, "#define V_MUL16(a, b) {mm}_mullo_epi16(a, b)\n#define V_MUL32(a, b) {mm}_mullo_epi32(a, b)");
    t.push_str(&match isa.lut3() {
        true => format!("#define V_MUL64(a, b) {mm}_mullo_epi64(a, b)\n"),
        false => format!(
            "#define V_MUL64(a, b) V_ADD64({mm}_mul_epu32(a, b), \\\n    \
             V_SHL64(V_ADD64({mm}_mul_epu32(a, V_SHR64(b, 32)), {mm}_mul_epu32(V_SHR64(a, 32), b)), 32))\n"
        ),
    });
    t.push_str("#define V_MUL8(a, b) V_OR(V_AND(V_MUL16(a, b), V_SET16(0xff)), V_SHL16(V_MUL16(V_SHR16(a, 8), V_SHR16(b, 8)), 8))\n");
    let _ = writeln!(t, "#define V_SHL8(a, k) V_AND(V_SHL16(a, k), V_SET8(0xff << (k)))\n#define V_SHR8(a, k) V_AND(V_SHR16(a, k), V_SET8(0xff >> (k)))");
    let _ = writeln!(t, "#define V_ROTL8(a, k) V_OR(V_SHL8(a, k), V_SHR8(a, 8 - (k)))");
    t.push_str(&rotations(isa, mm));
    // Counts that are known when the program runs, the number of bits among them.
    for bits in [16, 32, 64] {
        let count = "_mm_cvtsi32_si128((int)(k))";
        let _ = writeln!(t, "#define V_SHLV{bits}(a, k) {mm}_sll_epi{bits}(a, {count})\n#define V_SHRV{bits}(a, k) {mm}_srl_epi{bits}(a, {count})");
    }
    t.push_str("#define V_SHLV8(a, k) V_AND(V_SHLV16(a, k), V_SET8(0xff << (k)))\n#define V_SHRV8(a, k) V_AND(V_SHRV16(a, k), V_SET8(0xff >> (k)))\n");
    for bits in [8, 16, 32, 64] {
        let _ = writeln!(t, "#define V_ROTLV{bits}(a, k) V_OR(V_SHLV{bits}(a, k), V_SHRV{bits}(a, {bits} - (k)))");
    }
    t.push_str(if wide { GROUPS_512 } else { GROUPS_256 });
    t
}

fn rotations(isa: Isa, mm: &str) -> String {
    if isa.lut3() {
        let mut t = format!("#define V_ROTL16(a, k) {mm}_shldi_epi16(a, a, k)\n");
        for bits in [32, 64] {
            let _ = writeln!(t, "#define V_ROTL{bits}(a, k) {mm}_rol_epi{bits}(a, k)");
        }
        return t;
    }
    let mut t = String::new();
    for bits in [16, 32, 64] {
        let _ = writeln!(t, "#define V_SHIFTS{bits}(a, k) V_OR(V_SHL{bits}(a, k), V_SHR{bits}(a, {bits} - (k)))");
    }
    t.push_str(
        "#define V_ROTL64(a, k) V_SHIFTS64(a, k)\n\
         #define V_BYTES(a, hi, lo) _mm256_shuffle_epi8(a, _mm256_set_epi64x(hi, lo, hi, lo))\n\
         #define V_ROTL16(a, k) ((k) == 8 ? V_BYTES(a, 0x0e0f0c0d0a0b0809LL, 0x0607040502030001LL) : V_SHIFTS16(a, k))\n\
         #define V_ROTL32(a, k) ((k) == 16 ? V_BYTES(a, 0x0d0c0f0e09080b0aLL, 0x0504070601000302LL) \\\n    \
             : (k) == 8 ? V_BYTES(a, 0x0e0d0c0f0a09080bLL, 0x0605040702010003LL) : V_SHIFTS32(a, k))\n",
    );
    t
}
