//! Functions of the header leave no secret behind: text that overwrites the stack below a function, and the registers that it need not preserve.
//!
//! Needs: how deep the stack goes, as somebody measured or estimated it.  Keeps: results.  Absent: whether it is deep enough: for RISC-V
//! `santoku certify` says so of the object.
//! Trusted: nothing: what is left behind is found out on the bytes.

use crate::options::{Options, Stack};

/// The macro with the bytes of stack of a unit.
pub fn stack_macro(unit: &str) -> String {
    format!("STK_STACK_{}", unit.to_uppercase())
}

/// The macro with the bytes of stack of a function that C with an interface of its own calls.
pub fn function_stack_macro(function: &str) -> String {
    format!("STK_STACK_OF_{function}")
}

/// For the header.
pub fn note(unit: &str) -> String {
    format!(
        "/* Before a function that gets secrets returns, it overwrites the registers and the stack that it used: as many bytes as the macro\n \
* {} of the source says. Define STK_KEEP_SECRETS to leave that out. */\n\n",
        stack_macro(unit)
    )
}

/// Multiples of what stack pointers are aligned to everywhere.
const ALIGN: u32 = 16;

fn aligned(bytes: u32) -> u32 {
    bytes.div_ceil(ALIGN) * ALIGN
}

/// A function of which it is known by itself how much stack it uses, and whether there are [kernels](crate::lanes) among what it calls.
pub struct Each {
    pub name: String,
    pub stack: Stack,
    pub kernels: bool,
}

/// What the unit needs to clear the stack; `more`: a term for what kernels use.
pub fn clearing(opts: &Options, stack: Stack, each: &[Each], more: &str) -> String {
    let name = stack_macro(&opts.unit);
    let [optimised, plain] = [stack.optimised, stack.plain].map(aligned);
    let of_kernels = |f: &Each| if f.kernels { more } else { "" };
    let whole = |bytes: u32| format!("#define {name} ({bytes} + STK_STACK_MORE{more})\n");
    let own = |of: &dyn Fn(&Each) -> u32| each.iter().map(|f| format!("#define {} ({} + STK_STACK_MORE{})\n", function_stack_macro(&f.name), of(f), of_kernels(f))).collect::<String>();
    let (each_optimised, each_plain) = (whole(optimised) + &own(&|f| f.stack.optimised), whole(plain) + &own(&|f| f.stack.plain));
    let measured = &opts.measured.bytes;
    let each_optimised = match measured.values().max() {
        Some(deepest) => {
            let measured = whole(aligned(*deepest)) + &own(&|f| measured.get(&f.name).map_or(f.stack.optimised, |n| aligned(*n)));
            format!("#if {} /* as far as machine code of two compilers was seen to go */\n{measured}#else\n{each_optimised}#endif\n", opts.measured.condition())
        }
        None => each_optimised,
    };
    let chosen: String = each.iter().map(|f| format!("#define {} {name}\n", function_stack_macro(&f.name))).collect();
    let chosen = if chosen.is_empty() { chosen } else { format!("#else\n{chosen}") };
    format!(
        "/* Functions that get secrets leave none behind: before they return, they overwrite the stack below their own frame, and the registers that\n \
* they need not preserve. So many bytes are overwritten, which is as deep as what they call goes with the compilers that were tried: define the\n \
* macro, a multiple of {ALIGN}, where frames are larger, or STK_KEEP_SECRETS to leave all that out. */\n\
#ifndef {name}\n#ifdef __OPTIMIZE__\n{each_optimised}#else\n{each_plain}#endif\n{chosen}#endif\n\n{MORE}\n{BODY}\n{CLEAR}"
    )
}

/// Machines whose frames are larger than those of others.
const MORE: &str = "#ifndef STK_STACK_MORE\n#ifdef __s390x__ /* every frame has 160 bytes for what is called */\n#define STK_STACK_MORE 1024\n#else\n#define STK_STACK_MORE 0\n#endif\n#endif\n";

/// What is called so has a frame of its own, below its caller's.
const BODY: &str = "/* Never inlined: its frame lies below that of the function which clears it; called as functions of other files are. */\n\
#ifndef STK_BODY\n#if defined(__GNUC__) || defined(__clang__)\n#define STK_BODY __attribute__((noinline, used))\n#elif defined(_MSC_VER)\n#define STK_BODY __declspec(noinline)\n\
#else\n#define STK_BODY\n#endif\n#endif\n";

/// Assembly where registers can be cleared too. The stack pointer is moved for as long as the stack is written, so that nothing is written
/// below it.
const CLEAR: &str = r#"#ifndef STK_CLEAR
#if defined(STK_KEEP_SECRETS)
#define STK_CLEAR(bytes) ((void)0)
#elif (defined(__GNUC__) || defined(__clang__)) && defined(__riscv) && !defined(__riscv_e) && !defined(__riscv_32e)
#if __riscv_xlen == 64
#define STK_CLEAR_16 "sd a4, 0(a5)\n\tsd a4, 8(a5)\n\t"
#else
#define STK_CLEAR_16 "sw a4, 0(a5)\n\tsw a4, 4(a5)\n\tsw a4, 8(a5)\n\tsw a4, 12(a5)\n\t"
#endif
#ifdef __riscv_vector
#define STK_CLEAR_VECTORS "vsetvli t0, zero, e8, m8, ta, ma\n\tvmv.v.i v0, 0\n\tvmv.v.i v8, 0\n\tvmv.v.i v16, 0\n\tvmv.v.i v24, 0\n\t"
#define STK_CLEAR_CLOBBERS , "vl", "vtype", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", \
    "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"
#else
#define STK_CLEAR_VECTORS
#define STK_CLEAR_CLOBBERS
#endif
#define STK_CLEAR(bytes) __asm__ __volatile__("mv a3, sp\n\tli a5, %0\n\tli a4, 0\n\tsub sp, sp, a5\n\tmv a5, sp\n1:\n\t" STK_CLEAR_16 \
    "addi a5, a5, 16\n\tbne a5, a3, 1b\n\tmv sp, a3\n\t" STK_CLEAR_VECTORS \
    "li t0, 0\n\tli t1, 0\n\tli t2, 0\n\tli t3, 0\n\tli t4, 0\n\tli t5, 0\n\tli t6, 0\n\t" \
    "li a0, 0\n\tli a1, 0\n\tli a2, 0\n\tli a3, 0\n\tli a5, 0\n\tli a6, 0\n\tli a7, 0" \
    :: "i"(bytes) : "memory", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7" STK_CLEAR_CLOBBERS)
#elif (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__) && !defined(__ILP32__)
#define STK_CLEAR_XMM , "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#if defined(__AVX512F__)
#define STK_CLEAR_VECTORS "vzeroall\n\tvpxord %%zmm16, %%zmm16, %%zmm16\n\tvpxord %%zmm17, %%zmm17, %%zmm17\n\tvpxord %%zmm18, %%zmm18, %%zmm18\n\t" \
    "vpxord %%zmm19, %%zmm19, %%zmm19\n\tvpxord %%zmm20, %%zmm20, %%zmm20\n\tvpxord %%zmm21, %%zmm21, %%zmm21\n\tvpxord %%zmm22, %%zmm22, %%zmm22\n\t" \
    "vpxord %%zmm23, %%zmm23, %%zmm23\n\tvpxord %%zmm24, %%zmm24, %%zmm24\n\tvpxord %%zmm25, %%zmm25, %%zmm25\n\tvpxord %%zmm26, %%zmm26, %%zmm26\n\t" \
    "vpxord %%zmm27, %%zmm27, %%zmm27\n\tvpxord %%zmm28, %%zmm28, %%zmm28\n\tvpxord %%zmm29, %%zmm29, %%zmm29\n\tvpxord %%zmm30, %%zmm30, %%zmm30\n\t" \
    "vpxord %%zmm31, %%zmm31, %%zmm31\n\tkxorw %%k0, %%k0, %%k0\n\tkxorw %%k1, %%k1, %%k1\n\tkxorw %%k2, %%k2, %%k2\n\tkxorw %%k3, %%k3, %%k3\n\t" \
    "kxorw %%k4, %%k4, %%k4\n\tkxorw %%k5, %%k5, %%k5\n\tkxorw %%k6, %%k6, %%k6\n\tkxorw %%k7, %%k7, %%k7\n\t"
#elif defined(__AVX__)
#define STK_CLEAR_VECTORS "vzeroall\n\t"
#elif defined(__SSE2__)
#define STK_CLEAR_VECTORS "pxor %%xmm0, %%xmm0\n\tpxor %%xmm1, %%xmm1\n\tpxor %%xmm2, %%xmm2\n\tpxor %%xmm3, %%xmm3\n\tpxor %%xmm4, %%xmm4\n\t" \
    "pxor %%xmm5, %%xmm5\n\tpxor %%xmm6, %%xmm6\n\tpxor %%xmm7, %%xmm7\n\tpxor %%xmm8, %%xmm8\n\tpxor %%xmm9, %%xmm9\n\tpxor %%xmm10, %%xmm10\n\t" \
    "pxor %%xmm11, %%xmm11\n\tpxor %%xmm12, %%xmm12\n\tpxor %%xmm13, %%xmm13\n\tpxor %%xmm14, %%xmm14\n\tpxor %%xmm15, %%xmm15\n\t"
#else
#define STK_CLEAR_VECTORS
#endif
#if defined(__AVX512F__)
#define STK_CLEAR_CLOBBERS STK_CLEAR_XMM , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", \
    "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#elif defined(__SSE2__)
#define STK_CLEAR_CLOBBERS STK_CLEAR_XMM
#else
#define STK_CLEAR_CLOBBERS
#endif
#define STK_CLEAR(bytes) __asm__ __volatile__("movq %%rsp, %%rdx\n\tsubq %0, %%rsp\n\tmovq %%rsp, %%rdi\n\txorl %%eax, %%eax\n\tmovl %1, %%ecx\n\t" \
    "rep stosq\n\tmovq %%rdx, %%rsp\n\txorl %%edx, %%edx\n\txorl %%esi, %%esi\n\txorl %%edi, %%edi\n\txorl %%r8d, %%r8d\n\txorl %%r9d, %%r9d\n\t" \
    STK_CLEAR_VECTORS "xorl %%r10d, %%r10d\n\txorl %%r11d, %%r11d" \
    :: "i"(bytes), "i"((bytes) / 8) : "memory", "cc", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11" STK_CLEAR_CLOBBERS)
#elif (defined(__GNUC__) || defined(__clang__)) && defined(__aarch64__) && !defined(__ILP32__)
#ifdef __ARM_NEON
#define STK_CLEAR_VECTORS "movi v0.16b, #0\n\tmovi v1.16b, #0\n\tmovi v2.16b, #0\n\tmovi v3.16b, #0\n\tmovi v4.16b, #0\n\tmovi v5.16b, #0\n\tmovi v6.16b, #0\n\tmovi v7.16b, #0\n\t" \
    "mov v8.d[1], xzr\n\tmov v9.d[1], xzr\n\tmov v10.d[1], xzr\n\tmov v11.d[1], xzr\n\tmov v12.d[1], xzr\n\tmov v13.d[1], xzr\n\tmov v14.d[1], xzr\n\tmov v15.d[1], xzr\n\t" \
    "movi v16.16b, #0\n\tmovi v17.16b, #0\n\tmovi v18.16b, #0\n\tmovi v19.16b, #0\n\tmovi v20.16b, #0\n\tmovi v21.16b, #0\n\tmovi v22.16b, #0\n\tmovi v23.16b, #0\n\t" \
    "movi v24.16b, #0\n\tmovi v25.16b, #0\n\tmovi v26.16b, #0\n\tmovi v27.16b, #0\n\tmovi v28.16b, #0\n\tmovi v29.16b, #0\n\tmovi v30.16b, #0\n\tmovi v31.16b, #0\n\t"
#define STK_CLEAR_CLOBBERS , "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", \
    "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"
#else
#define STK_CLEAR_VECTORS
#define STK_CLEAR_CLOBBERS
#endif
#define STK_CLEAR(bytes) __asm__ __volatile__("mov x10, sp\n\tmov x9, %0\n\tsub sp, sp, x9\n\tmov x9, sp\n1:\n\tstp xzr, xzr, [x9], #16\n\tcmp x9, x10\n\t" \
    "b.ne 1b\n\tmov sp, x10\n\tmov x0, xzr\n\tmov x1, xzr\n\tmov x2, xzr\n\tmov x3, xzr\n\tmov x4, xzr\n\tmov x5, xzr\n\tmov x6, xzr\n\tmov x7, xzr\n\t" \
    "mov x8, xzr\n\tmov x9, xzr\n\tmov x10, xzr\n\tmov x11, xzr\n\tmov x12, xzr\n\tmov x13, xzr\n\tmov x14, xzr\n\tmov x15, xzr\n\tmov x16, xzr\n\t" \
    STK_CLEAR_VECTORS "mov x17, xzr" \
    :: "i"(bytes) : "memory", "cc", "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", \
    "x17" STK_CLEAR_CLOBBERS)
#elif (defined(__GNUC__) || defined(__clang__)) && defined(__arm__)
#ifdef __ARM_FP
#define STK_CLEAR_LOW "vmov d0, r2, r2\n\tvmov d1, r2, r2\n\tvmov d2, r2, r2\n\tvmov d3, r2, r2\n\tvmov d4, r2, r2\n\tvmov d5, r2, r2\n\tvmov d6, r2, r2\n\tvmov d7, r2, r2\n\t"
#define STK_CLEAR_LOW_CLOBBERS , "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"
#else
#define STK_CLEAR_LOW
#define STK_CLEAR_LOW_CLOBBERS
#endif
#ifdef __ARM_NEON
#define STK_CLEAR_VECTORS STK_CLEAR_LOW "vmov.i32 q8, #0\n\tvmov.i32 q9, #0\n\tvmov.i32 q10, #0\n\tvmov.i32 q11, #0\n\tvmov.i32 q12, #0\n\tvmov.i32 q13, #0\n\t" \
    "vmov.i32 q14, #0\n\tvmov.i32 q15, #0\n\t"
#define STK_CLEAR_CLOBBERS STK_CLEAR_LOW_CLOBBERS , "d16", "d17", "d18", "d19", "d20", "d21", "d22", "d23", "d24", "d25", "d26", "d27", "d28", "d29", "d30", "d31"
#else
#define STK_CLEAR_VECTORS STK_CLEAR_LOW
#define STK_CLEAR_CLOBBERS STK_CLEAR_LOW_CLOBBERS
#endif
#define STK_CLEAR(bytes) __asm__ __volatile__(".syntax unified\n\tmov r1, sp\n\tmov r0, sp\n\tsubs r0, r0, %0\n\tmov sp, r0\n\tmovs r2, #0\n1:\n\tstr r2, [r0]\n\t" \
    "adds r0, r0, #4\n\tcmp r0, r1\n\tbne 1b\n\tmov sp, r1\n\t" STK_CLEAR_VECTORS "movs r0, #0\n\tmovs r1, #0\n\tmovs r3, #0\n\tmov r12, r0\n\tmov lr, r0" \
    :: "l"(bytes) : "memory", "cc", "r0", "r1", "r2", "r3", "r12", "lr" STK_CLEAR_CLOBBERS)
#elif (defined(__GNUC__) || defined(__clang__)) && defined(__s390x__)
#ifdef __VX__
#define STK_CLEAR_VECTORS "vzero %%v0\n\tvzero %%v1\n\tvzero %%v2\n\tvzero %%v3\n\tvzero %%v4\n\tvzero %%v5\n\tvzero %%v6\n\tvzero %%v7\n\t" \
    "vzero %%v16\n\tvzero %%v17\n\tvzero %%v18\n\tvzero %%v19\n\tvzero %%v20\n\tvzero %%v21\n\tvzero %%v22\n\tvzero %%v23\n\t" \
    "vzero %%v24\n\tvzero %%v25\n\tvzero %%v26\n\tvzero %%v27\n\tvzero %%v28\n\tvzero %%v29\n\tvzero %%v30\n\tvzero %%v31\n\t"
#define STK_CLEAR_CLOBBERS , "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"
#else
#define STK_CLEAR_CLOBBERS
#define STK_CLEAR_VECTORS "lzdr %%f0\n\tlzdr %%f1\n\tlzdr %%f2\n\tlzdr %%f3\n\tlzdr %%f4\n\tlzdr %%f5\n\tlzdr %%f6\n\tlzdr %%f7\n\t"
#endif
#define STK_CLEAR(bytes) __asm__ __volatile__("lgr %%r1, %%r15\n\tlghi %%r2, %0\n\tsgr %%r15, %%r2\n\tlgr %%r2, %%r15\n1:\n\txc 0(16,%%r2), 0(%%r2)\n\t" \
    "aghi %%r2, 16\n\tcgr %%r2, %%r1\n\tjl 1b\n\tlgr %%r15, %%r1\n\t" STK_CLEAR_VECTORS \
    "lghi %%r0, 0\n\tlghi %%r1, 0\n\tlghi %%r2, 0\n\tlghi %%r3, 0\n\tlghi %%r4, 0\n\tlghi %%r5, 0" \
    :: "i"(bytes) : "memory", "cc", "r0", "r1", "r2", "r3", "r4", "r5", "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7" STK_CLEAR_CLOBBERS)
#else
/* The stack alone, as far as a compiler leaves no gaps in it. */
static STK_BODY void stk_clear_below(size_t bytes)
{
    volatile unsigned char below[256];
    size_t k;
    for (k = 0; k < sizeof below; k++) {
        below[k] = 0;
    }
    if (bytes > sizeof below) {
        stk_clear_below(bytes - sizeof below);
        below[0] = 0;
    }
}
#define STK_CLEAR(bytes) stk_clear_below(bytes)
#endif
#endif
"#;
