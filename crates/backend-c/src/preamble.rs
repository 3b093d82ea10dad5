//! Fixed text of every emitted unit: includes, compile-time checks, branch-free helpers.
//!
//! Trusted: c.

use crate::options::Products;

/// Before a type of 128 bits.
macro_rules! no_int128 {
    () => {
        "#ifndef __SIZEOF_INT128__\n#error \"This file computes with unsigned __int128, which this compiler does not have for this processor. Generate it for a target with widest = 64.\"\n#endif\n"
    };
}

/// Helpers in dependency order: `(name, text)`. Only those a unit uses are printed.
pub const HELPERS: &[(&str, &str)] = &[
    ("stk_u128", concat!(no_int128!(), "__extension__ typedef unsigned __int128 stk_u128;\n")),
    ("stk_i128", concat!(no_int128!(), "__extension__ typedef __int128 stk_i128;\n")),
    (
        "stk_barrier",
        "/* Hides from the compiler that x is 0 or 1, so that it cannot turn a selection into a branch. */\n\
static inline uint32_t stk_barrier(uint32_t x)\n{\n#if defined(__GNUC__) || defined(__clang__)\n    __asm__(\"\" : \"+r\"(x));\n    return x;\n#else\n    volatile uint32_t v = x;\n    return v;\n#endif\n}\n",
    ),
    ("stk_mask_u8", "static inline uint8_t stk_mask_u8(uint32_t c)\n{\n    return (uint8_t)(0u - stk_barrier(c));\n}\n"),
    ("stk_mask_u16", "static inline uint16_t stk_mask_u16(uint32_t c)\n{\n    return (uint16_t)(0u - stk_barrier(c));\n}\n"),
    ("stk_mask_u32", "static inline uint32_t stk_mask_u32(uint32_t c)\n{\n    return 0u - stk_barrier(c);\n}\n"),
    ("stk_mask_u64", "static inline uint64_t stk_mask_u64(uint32_t c)\n{\n    return 0u - (uint64_t)stk_barrier(c);\n}\n"),
    ("stk_mask_u128", "static inline stk_u128 stk_mask_u128(uint32_t c)\n{\n    return 0u - (stk_u128)stk_barrier(c);\n}\n"),
    ("stk_sel_u32", "static inline uint32_t stk_sel_u32(uint32_t c, uint32_t a, uint32_t b)\n{\n    return b ^ (stk_mask_u32(c) & (a ^ b));\n}\n"),
    ("stk_sel_u64", "static inline uint64_t stk_sel_u64(uint32_t c, uint64_t a, uint64_t b)\n{\n    return b ^ (stk_mask_u64(c) & (a ^ b));\n}\n"),
    ("stk_sel_u128", "static inline stk_u128 stk_sel_u128(uint32_t c, stk_u128 a, stk_u128 b)\n{\n    return b ^ (stk_mask_u128(c) & (a ^ b));\n}\n"),
    ("stk_eq_u32", "static inline uint32_t stk_eq_u32(uint32_t a, uint32_t b)\n{\n    uint32_t d = a ^ b;\n    return ((d | (0u - d)) >> 31) ^ 1u;\n}\n"),
    ("stk_eq_u64", "static inline uint32_t stk_eq_u64(uint64_t a, uint64_t b)\n{\n    uint64_t d = a ^ b;\n    return (uint32_t)((d | (0u - d)) >> 63) ^ 1u;\n}\n"),
    ("stk_eq_u128", "static inline uint32_t stk_eq_u128(stk_u128 a, stk_u128 b)\n{\n    stk_u128 d = a ^ b;\n    return (uint32_t)((d | (0u - d)) >> 127) ^ 1u;\n}\n"),
    ("stk_carry_u64", "static inline uint32_t stk_carry_u64(uint64_t a, uint64_t b)\n{\n    return a + b < b;\n}\n"),
    ("stk_lt_u32", "static inline uint32_t stk_lt_u32(uint32_t a, uint32_t b)\n{\n    return ((~a & b) | ((~a | b) & (a - b))) >> 31;\n}\n"),
    ("stk_lt_u64", "static inline uint32_t stk_lt_u64(uint64_t a, uint64_t b)\n{\n    return (uint32_t)(((~a & b) | ((~a | b) & (a - b))) >> 63);\n}\n"),
    ("stk_lt_u128", "static inline uint32_t stk_lt_u128(stk_u128 a, stk_u128 b)\n{\n    return (uint32_t)(((~a & b) | ((~a | b) & (a - b))) >> 127);\n}\n"),
    ("stk_lt_i32", "static inline uint32_t stk_lt_i32(int32_t a, int32_t b)\n{\n    return stk_lt_u32((uint32_t)a ^ UINT32_C(0x80000000), (uint32_t)b ^ UINT32_C(0x80000000));\n}\n"),
    ("stk_lt_i64", "static inline uint32_t stk_lt_i64(int64_t a, int64_t b)\n{\n    return stk_lt_u64((uint64_t)a ^ UINT64_C(0x8000000000000000), (uint64_t)b ^ UINT64_C(0x8000000000000000));\n}\n"),
    ("stk_lt_i128", "static inline uint32_t stk_lt_i128(stk_i128 a, stk_i128 b)\n{\n    return stk_lt_u128((stk_u128)a ^ ((stk_u128)1 << 127), (stk_u128)b ^ ((stk_u128)1 << 127));\n}\n"),
    ("stk_rotl32", "static inline uint32_t stk_rotl32(uint32_t x, uint32_t k)\n{\n    return (x << k) | (x >> ((32u - k) & 31u));\n}\n"),
    ("stk_rotr32", "static inline uint32_t stk_rotr32(uint32_t x, uint32_t k)\n{\n    return (x >> k) | (x << ((32u - k) & 31u));\n}\n"),
    ("stk_rotl64", "static inline uint64_t stk_rotl64(uint64_t x, uint32_t k)\n{\n    return (x << k) | (x >> ((64u - k) & 63u));\n}\n"),
    ("stk_rotr64", "static inline uint64_t stk_rotr64(uint64_t x, uint32_t k)\n{\n    return (x >> k) | (x << ((64u - k) & 63u));\n}\n"),
    ("stk_rotl128", "static inline stk_u128 stk_rotl128(stk_u128 x, uint32_t k)\n{\n    return (x << k) | (x >> ((128u - k) & 127u));\n}\n"),
    ("stk_rotr128", "static inline stk_u128 stk_rotr128(stk_u128 x, uint32_t k)\n{\n    return (x >> k) | (x << ((128u - k) & 127u));\n}\n"),
    (
        "stk_product_u32",
        "#if STK_PRODUCTS_IN_PARTS\n/* The 64-bit product, made of products of 16 by 16 bits. */\n\
static inline uint64_t stk_product_u32(uint32_t a, uint32_t b)\n{\n    uint32_t al = a & 0xffffu, ah = a >> 16, bl = b & 0xffffu, bh = b >> 16;\n    \
uint32_t ll = al * bl, lh = al * bh, hl = ah * bl;\n    uint32_t mid = (ll >> 16) + (lh & 0xffffu) + (hl & 0xffffu);\n    \
uint32_t hi = ah * bh + (lh >> 16) + (hl >> 16) + (mid >> 16);\n    return ((uint64_t)hi << 32) | ((mid << 16) | (ll & 0xffffu));\n}\n#endif\n",
    ),
    (
        "STK_MUL_WIDE",
        "/* The product of two numbers below 2^32. */\n#if STK_PRODUCTS_IN_PARTS\n#define STK_MUL_WIDE(a, b) stk_product_u32((uint32_t)(a), (uint32_t)(b))\n#else\n\
#define STK_MUL_WIDE(a, b) ((a) * (b))\n#endif\n",
    ),
    (
        "stk_product_u64",
        "#if STK_PRODUCTS_IN_PARTS\n/* The low 64 bits of the product, made of products of at most 32 bits. */\n\
static inline uint64_t stk_product_u64(uint64_t a, uint64_t b)\n{\n    uint32_t al = (uint32_t)a, ah = (uint32_t)(a >> 32), bl = (uint32_t)b, bh = (uint32_t)(b >> 32);\n    \
return stk_product_u32(al, bl) + ((uint64_t)(al * bh + ah * bl) << 32);\n}\n#endif\n",
    ),
    (
        "STK_MUL_LOW",
        "/* The low 64 bits of a product. */\n#if STK_PRODUCTS_IN_PARTS\n#define STK_MUL_LOW(a, b) stk_product_u64((uint64_t)(a), (uint64_t)(b))\n#else\n\
#define STK_MUL_LOW(a, b) ((a) * (b))\n#endif\n",
    ),
    (
        "STK_LENGTH",
        "/* A caller gave a length that is greater than the header says: nothing was read or written yet, and the program stops. What you define here\n * instead must not return. */\n\
#ifndef STK_MISUSE\n#if defined(__GNUC__) || defined(__clang__)\n#define STK_MISUSE() __builtin_trap()\n#else\n#define STK_MISUSE() for (;;) { }\n#endif\n#endif\n\
#define STK_LENGTH(n, most) do { if ((n) > (most)) { STK_MISUSE(); } } while (0)\n",
    ),
    ("stk_load_le16", "static inline uint32_t stk_load_le16(const uint8_t *p)\n{\n    return (uint32_t)p[0] | ((uint32_t)p[1] << 8);\n}\n"),
    ("stk_load_be16", "static inline uint32_t stk_load_be16(const uint8_t *p)\n{\n    return ((uint32_t)p[0] << 8) | (uint32_t)p[1];\n}\n"),
    ("stk_load_le32", "static inline uint32_t stk_load_le32(const uint8_t *p)\n{\n    return (uint32_t)p[0] | ((uint32_t)p[1] << 8) | ((uint32_t)p[2] << 16) | ((uint32_t)p[3] << 24);\n}\n"),
    ("stk_load_be32", "static inline uint32_t stk_load_be32(const uint8_t *p)\n{\n    return ((uint32_t)p[0] << 24) | ((uint32_t)p[1] << 16) | ((uint32_t)p[2] << 8) | (uint32_t)p[3];\n}\n"),
    ("stk_load_le64", "static inline uint64_t stk_load_le64(const uint8_t *p)\n{\n    return (uint64_t)p[0] | ((uint64_t)p[1] << 8) | ((uint64_t)p[2] << 16) | ((uint64_t)p[3] << 24) | ((uint64_t)p[4] << 32) | ((uint64_t)p[5] << 40) | ((uint64_t)p[6] << 48) | ((uint64_t)p[7] << 56);\n}\n"),
    ("stk_load_be64", "static inline uint64_t stk_load_be64(const uint8_t *p)\n{\n    return ((uint64_t)p[0] << 56) | ((uint64_t)p[1] << 48) | ((uint64_t)p[2] << 40) | ((uint64_t)p[3] << 32) | ((uint64_t)p[4] << 24) | ((uint64_t)p[5] << 16) | ((uint64_t)p[6] << 8) | (uint64_t)p[7];\n}\n"),
    ("stk_store_le16", "static inline void stk_store_le16(uint8_t *p, uint32_t x)\n{\n    p[0] = (uint8_t)x;\n    p[1] = (uint8_t)(x >> 8);\n}\n"),
    ("stk_store_be16", "static inline void stk_store_be16(uint8_t *p, uint32_t x)\n{\n    p[0] = (uint8_t)(x >> 8);\n    p[1] = (uint8_t)x;\n}\n"),
    ("stk_store_le32", "static inline void stk_store_le32(uint8_t *p, uint32_t x)\n{\n    p[0] = (uint8_t)x;\n    p[1] = (uint8_t)(x >> 8);\n    p[2] = (uint8_t)(x >> 16);\n    p[3] = (uint8_t)(x >> 24);\n}\n"),
    ("stk_store_be32", "static inline void stk_store_be32(uint8_t *p, uint32_t x)\n{\n    p[0] = (uint8_t)(x >> 24);\n    p[1] = (uint8_t)(x >> 16);\n    p[2] = (uint8_t)(x >> 8);\n    p[3] = (uint8_t)x;\n}\n"),
    ("stk_store_le64", "static inline void stk_store_le64(uint8_t *p, uint64_t x)\n{\n    p[0] = (uint8_t)x;\n    p[1] = (uint8_t)(x >> 8);\n    p[2] = (uint8_t)(x >> 16);\n    p[3] = (uint8_t)(x >> 24);\n    p[4] = (uint8_t)(x >> 32);\n    p[5] = (uint8_t)(x >> 40);\n    p[6] = (uint8_t)(x >> 48);\n    p[7] = (uint8_t)(x >> 56);\n}\n"),
    ("stk_store_be64", "static inline void stk_store_be64(uint8_t *p, uint64_t x)\n{\n    p[0] = (uint8_t)(x >> 56);\n    p[1] = (uint8_t)(x >> 48);\n    p[2] = (uint8_t)(x >> 40);\n    p[3] = (uint8_t)(x >> 32);\n    p[4] = (uint8_t)(x >> 24);\n    p[5] = (uint8_t)(x >> 16);\n    p[6] = (uint8_t)(x >> 8);\n    p[7] = (uint8_t)x;\n}\n"),
];

/// Types that not every compiler has; helpers, but wanted in headers too.
const WIDE: [&str; 2] = ["stk_u128", "stk_i128"];

/// What the emitted code assumes of the compiler beyond C99, refused at compile time elsewhere.
pub const ASSUMPTIONS: &str = "/* Assumed of the compiler: two's complement and arithmetic right shift of negative values. */\n\
typedef char stk_assume_arithmetic_shift[((-1) >> 1) == -1 ? 1 : -1];\n\
typedef char stk_assume_twos_complement[((-1) & 3) == 3 ? 1 : -1];\n";

/// The names that [`ASSUMPTIONS`] defines.
pub const ASSUMED: [&str; 2] = ["stk_assume_arithmetic_shift", "stk_assume_twos_complement"];

/// Defined by a user who takes the risk on himself.
const OVERRIDE: &str = "STK_ALLOW_VARIABLE_TIME";

/// Processors whose multiplications of more than so many bits take a time that depends on the operands, or are functions of the
/// compiler's library that branch on them: what the preprocessor knows them by, and what is wrong with them.
///
/// Sources: RISC-V unprivileged specification (M is an extension; libgcc's `__muldi3` loops over the bits of an operand), ARMv6-M and
/// ARMv8-M Baseline reference manuals (no UMULL), Cortex-M3 technical reference manual, table of instruction timings (UMULL ends early),
/// ARM7TDMI and ARM9TDMI technical reference manuals (MUL ends early), i486 and M68000 programmer's manuals (IMUL, MULU).
const SLOW_PRODUCTS: [(u32, &str, &str); 6] = [
    (0, "defined(__riscv) && !defined(__riscv_mul) && !defined(__riscv_muldiv)", "RISC-V without M: multiplication is a function that branches on its operands"),
    (0, "defined(__ARM_ARCH) && __ARM_ARCH < 6", "before ARMv6: multiplication ends early for small operands"),
    (0, "defined(__i486__) || defined(__m68k__)", "multiplication takes a time that depends on its operands"),
    (32, "defined(__ARM_ARCH_6M__)", "ARMv6-M (Cortex-M0): 64-bit multiplication is a function that branches on its operands"),
    (32, "defined(__ARM_ARCH_8M_BASE__)", "ARMv8-M Baseline (Cortex-M23): 64-bit multiplication is a function that branches on its operands"),
    (32, "defined(__ARM_ARCH_7M__)", "ARMv7-M (Cortex-M3): 64-bit multiplication ends early for small operands"),
];

/// Whether wide products are made in parts: by the processor that the compiler compiles for, or always. A user may decide otherwise.
pub fn in_parts(how: Products) -> String {
    let slow: Vec<&str> = SLOW_PRODUCTS.iter().filter(|(least, ..)| *least > 0).map(|(_, known_by, _)| *known_by).collect();
    let define = match how {
        Products::Whole => return String::new(),
        Products::Parts => "#define STK_PRODUCTS_IN_PARTS 1\n".to_string(),
        Products::Chosen => format!("#if {}\n#define STK_PRODUCTS_IN_PARTS 1\n#else\n#define STK_PRODUCTS_IN_PARTS 0\n#endif\n", slow.join(" || ")),
    };
    format!(
        "/* 1: products of secrets that are wider than 32 bits are made of products of 16 by 16 bits, for processors on which wider ones take\n \
* a time that depends on the operands. */\n#ifndef STK_PRODUCTS_IN_PARTS\n{define}#endif\n"
    )
}

/// What the unit needs of the processor because it multiplies secrets, of `bits` bits at most: an `#error` on those known to lack it.
pub fn products(unit: &str, bits: u32, how: Products) -> String {
    let width = match bits {
        0..=32 => "32-bit products",
        33..=64 if how == Products::Whole => "products of 32 by 32 bits, 64 bits wide,",
        33..=64 => "products of 32 bits, and of 64 where they are not made in parts,",
        _ => "products of 64 by 64 bits, 128 bits wide,",
    };
    let mut text = format!(
        "/* Needed of the processor: {width} in constant time, because secrets are multiplied. Processors\n \
* known to lack them are refused; define {OVERRIDE} to compile all the same, where nobody can measure the time. */\n#ifndef {OVERRIDE}\n"
    );
    for (k, (least, known_by, why)) in SLOW_PRODUCTS.iter().filter(|(least, ..)| bits > *least).enumerate() {
        let branch = if k == 0 { "#if" } else { "#elif" };
        let whole = if how != Products::Whole && *least > 0 { "!STK_PRODUCTS_IN_PARTS && " } else { "" };
        text.push_str(&format!("{branch} {whole}{known_by}\n#error \"{unit} would not be constant-time here ({why}); {OVERRIDE} overrides this\"\n"));
    }
    text.push_str("#endif\n#endif\n");
    text
}

/// Declarations of the memory functions: they need no header, so the unit compiles where there is no C library.
pub const MEMORY: &str = "/* Declared here so that no header of a C library is needed; compilers call these by themselves in any case. */\n\
void *(memcpy)(void *, const void *, size_t);\nvoid *(memmove)(void *, const void *, size_t);\nvoid *(memset)(void *, int, size_t);\n";

/// Names of functions that other files see, for headers.
pub const NAMES: &str = "/* Every function of this header is declared as STK_NAME(its name), and so it is defined: to give all of them a prefix, define the macro for\n \
* every file, for example with -D'STK_NAME(name)=my_##name'. */\n#ifndef STK_NAME\n#define STK_NAME(name) name\n#endif\n";

/// Who sees the functions of the header.
pub const API: &str = "/* Functions of the header are seen by what this file is linked into, a program or a shared library, and by nobody who loads that: another\n \
* library that looks for one of these names finds its own. Define STK_API otherwise, or empty, to export them. */\n\
#ifndef STK_API\n#if (defined(__GNUC__) || defined(__clang__)) && !defined(_WIN32)\n#define STK_API __attribute__((visibility(\"hidden\")))\n#else\n#define STK_API\n#endif\n#endif\n";

/// Functions kept apart by `@noinline`: their frames then do not add up in their callers'.
pub const NOINLINE: &str = "/* Kept out of line, so that stack frames do not add up, and with the arguments that they have here; define it empty to let the compiler\n\
   choose. Compilers change no signature of a function that others may call. */\n\
#ifndef STK_NOINLINE\n#if defined(__clang__)\n#define STK_NOINLINE __attribute__((noinline, used))\n\
#elif defined(__GNUC__)\n#define STK_NOINLINE __attribute__((noinline, noclone, used))\n#else\n#define STK_NOINLINE\n#endif\n#endif\n";

/// Placement of constant tables: flash (`const`) by default, RAM on request.
pub const PLACEMENT: &str = "/* Define STK_TABLES_IN_RAM where reading flash is slow: constant tables then live in initialised data. */\n\
#ifdef STK_TABLES_IN_RAM\n#define STK_TABLE static __attribute__((section(\".data.stk_tables\")))\n#else\n#define STK_TABLE static const\n#endif\n";

/// The 128-bit types named in a header, for headers: C before C11 knows no second `typedef` of a name, so that of another
/// unit's header is guarded against.
pub fn wide_types(header: &str) -> String {
    let wide = HELPERS.iter().filter(|(name, _)| WIDE.contains(name) && mentions(header, name));
    wide.map(|(name, text)| format!("#ifndef {0}_TYPE\n#define {0}_TYPE\n{text}#endif\n\n", name.to_uppercase())).collect()
}

/// The helpers named in `body`, and those they name in turn, in table order; types that `header` defines are left out.
pub fn helpers_for(body: &str, header: &str) -> String {
    let mut needed: Vec<bool> = HELPERS.iter().map(|(n, _)| needs(body, n)).collect();
    for k in (0..HELPERS.len()).rev() {
        if needed[k] {
            for (j, need) in needed.iter_mut().enumerate().take(k) {
                *need |= needs(HELPERS[k].1, HELPERS[j].0);
            }
        }
    }
    let there = |name: &str| WIDE.contains(&name) && mentions(header, name);
    HELPERS.iter().zip(needed).filter(|((name, _), n)| *n && !there(name)).map(|((_, text), _)| format!("{text}\n")).collect()
}

/// `name` occurs in `text` as a whole identifier.
pub fn mentions(text: &str, name: &str) -> bool {
    followed(text, name, |after| !after.is_some_and(is_of_name))
}

/// `text` calls a helper, or names it where it is a type: a field may have its name.
fn needs(text: &str, helper: &str) -> bool {
    if WIDE.contains(&helper) { mentions(text, helper) } else { followed(text, helper, |after| after == Some('(')) }
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn followed(text: &str, name: &str, by: impl Fn(Option<char>) -> bool) -> bool {
    text.match_indices(name).any(|(k, _)| {
        let before = text[..k].chars().next_back();
        !before.is_some_and(is_of_name) && by(text[k + name.len()..].chars().next())
    })
}
