//! The rules of a call, each broken in hand-written assembly: the prover refuses it and a run shows it; the right twins are proved.

use crate::support::{image, isa, judged, made, object, of, Compiler, Made};
use santoku_certify::concrete::inputs::inputs;
use santoku_certify::concrete::{Bench, End};
use santoku_certify::report::Status;
use santoku_ir::interp::{Interp, Options};

/// Functions that are called, and one that calls each.
const PROGRAM: &str = "
struct Wide { a: u8, b: u64 }

@noinline
fn step(a: [u32; 4]) -> [u32; 4] {
  var r: [u32; 4]
  for i in 0..<4 { r[i] = a[i] ^ (a[(i + 1) % 4] <<< 7) }
  r
}
@export(\"outer\")
fn outer(a: [u32; 4]) -> [u32; 4] { step(a) }

@noinline
fn widen(x: u8, y: u64) -> Wide { Wide { a: x, b: y + u64(x) } }
@export(\"wide\")
fn wide(x: u8, y: u64) -> Wide { widen(x, y) }

@noinline
fn narrow(x: u32, y: u32) -> u32 { (x >> 3) ^ y }
@export(\"both\")
fn both(x: u32, y: u32) -> u32 { narrow(x, y) }

@noinline
fn many(a: u32, b: u32, c: u32, d: u32, e: u32, f: u32, g: u32, h: [u32; 2], i: u32, j: u32) -> [u32; 2] {
  var r: [u32; 2]
  r[0] = a ^ b ^ c ^ d ^ h[0] ^ i
  r[1] = e ^ f ^ g ^ h[1] ^ j
  r
}
@export(\"full\")
fn full(x: u32, y: u32, z: u32) -> [u32; 2] {
  var m: [u32; 2]
  m[0] = y
  m[1] = z
  many(x, x, x, x, x, x, x, m, y, z)
}

@export(\"up_to_one\")
fn up_to_one(x: u32, n: public int in 0..1) -> u32 {
  var r = x
  if n > 0 { r = r + 5 }
  r
}
";

/// What is called, as a compiler makes it.
const CALLEES: &str = "
#include <stdint.h>
struct wide { uint8_t a; uint64_t b; };
__attribute__((noinline)) void unit_step(uint32_t *r, const uint32_t *a)
{
  uint32_t b[4] = {a[0], a[1], a[2], a[3]};
  for (int i = 0; i < 4; i++) { uint32_t x = b[(i + 1) % 4]; r[i] = b[i] ^ (x << 7 | x >> 25); }
}
__attribute__((noinline)) void unit_widen(struct wide *r, uint32_t x, uint64_t y) { r->a = x; r->b = y + (uint8_t)x; }
__attribute__((noinline)) uint32_t unit_narrow(uint32_t x, uint32_t y) { return (x >> 3) ^ y; }
__attribute__((noinline)) void unit_many(uint32_t *r, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e, uint32_t f, uint32_t g, const uint32_t *h, uint32_t i, uint32_t j)
{
  uint32_t u = a ^ b ^ c ^ d ^ h[0] ^ i, v = e ^ f ^ g ^ h[1] ^ j;
  r[0] = u;
  r[1] = v;
}
";

/// One function by hand, and what is to be said of it: nothing where it is right.
pub struct Case {
    what: &'static str,
    symbol: &'static str,
    body: &'static str,
    refused: Option<&'static str>,
    /// A run shows it; what is right by the places alone that the reader gives to sections looks right.
    shown: bool,
}

pub const fn right(what: &'static str, symbol: &'static str, body: &'static str) -> Case {
    Case { what, symbol, body, refused: None, shown: false }
}

pub const fn wrong(what: &'static str, symbol: &'static str, body: &'static str, word: &'static str) -> Case {
    Case { what, symbol, body, refused: Some(word), shown: true }
}

pub const fn by_chance(what: &'static str, symbol: &'static str, body: &'static str, word: &'static str) -> Case {
    Case { what, symbol, body, refused: Some(word), shown: false }
}

/// On machines of 32 bits.
const CASES: [Case; 34] = [
    right("a loop that begins where the function does", "up_to_one", "beqz a1,1f; addi a0,a0,5; addi a1,a1,-1; j up_to_one; 1: ret"),
    wrong("such a loop that goes on too long", "up_to_one", "addi a0,a0,5; addi a1,a1,-1; bgez a1,up_to_one; ret", ""),
    right("a call", "outer", "addi sp,sp,-16; sw ra,12(sp); jal ra,unit_step; lw ra,12(sp); addi sp,sp,16; ret"),
    right("a far call", "outer", "addi sp,sp,-16; sw ra,12(sp); call unit_step; lw ra,12(sp); addi sp,sp,16; ret"),
    right("a jump in place of a call", "outer", "tail unit_step"),
    right("ra kept in a register", "outer", "addi sp,sp,-16; sw s0,0(sp); mv s0,ra; jal ra,unit_step; mv ra,s0; lw s0,0(sp); addi sp,sp,16; ret"),
    right("a return by another register", "outer", "addi sp,sp,-16; sw ra,12(sp); call unit_step; lw t0,12(sp); addi sp,sp,16; jr t0"),
    right("a link of one's own: ra leads to the caller, and there the callee returns", "outer", "jal t0,unit_step; ret"),
    wrong("t0 linked, ra is the caller's", "outer", "addi sp,sp,-16; sw ra,12(sp); jal t0,unit_step; lw ra,12(sp); addi sp,sp,16; ret", "stack pointer"),
    wrong("s1 linked", "outer", "addi sp,sp,-16; sw ra,12(sp); sw s1,8(sp); jal s1,unit_step; lw s1,8(sp); lw ra,12(sp); addi sp,sp,16; ret", "stack pointer"),
    wrong("gp linked", "outer", "addi sp,sp,-16; sw ra,12(sp); sw gp,8(sp); jal gp,unit_step; lw gp,8(sp); lw ra,12(sp); addi sp,sp,16; ret", "platform"),
    wrong("s1 linked by the second half of a far call", "outer", "addi sp,sp,-16; sw ra,12(sp); sw s1,8(sp); 1: auipc ra,0; jalr s1,0(ra); .reloc 1b, R_RISCV_CALL_PLT, unit_step; lw s1,8(sp); lw ra,12(sp); addi sp,sp,16; ret", "does not return"),
    wrong("t0 linked by a far call", "outer", "addi sp,sp,-16; sw ra,12(sp); call t0,unit_step; lw ra,12(sp); addi sp,sp,16; ret", "stack pointer"),
    wrong("nothing linked", "outer", "addi sp,sp,-16; sw ra,12(sp); j unit_step; lw ra,12(sp); addi sp,sp,16; ret", "stack pointer"),
    wrong("a second call that returns to the first's", "outer", "addi sp,sp,-32; sw ra,28(sp); sw a0,0(sp); sw a1,4(sp); call unit_step; lw a0,0(sp); lw a1,4(sp); jal t0,unit_step; lw ra,28(sp); addi sp,sp,32; ret", "does not return"),
    wrong("ra lost", "outer", "mv ra,a1; tail unit_step", "does not return"),
    wrong("a jump behind the beginning", "outer", "addi sp,sp,-16; sw ra,12(sp); call unit_step+4; lw ra,12(sp); addi sp,sp,16; ret", ""),
    wrong("sp no multiple of 16 by 8", "outer", "addi sp,sp,-8; sw ra,4(sp); call unit_step; lw ra,4(sp); addi sp,sp,8; ret", "multiple of 16"),
    wrong("sp no multiple of 16 by 4", "outer", "addi sp,sp,-20; sw ra,4(sp); call unit_step; lw ra,4(sp); addi sp,sp,20; ret", "multiple of 16"),
    wrong("gp holds a secret at the call", "outer", "addi sp,sp,-16; sw ra,12(sp); sw gp,8(sp); lw gp,0(a1); call unit_step; lw gp,8(sp); lw ra,12(sp); addi sp,sp,16; ret", "gp"),
    wrong("tp holds a secret at the call", "outer", "addi sp,sp,-16; sw ra,12(sp); sw tp,8(sp); lw tp,0(a1); call unit_step; lw tp,8(sp); lw ra,12(sp); addi sp,sp,16; ret", "tp"),
    right("a copy passed", "outer", "addi sp,sp,-32; sw ra,28(sp); lw t0,0(a1); sw t0,4(sp); lw t0,4(a1); sw t0,8(sp); lw t0,8(a1); sw t0,12(sp); lw t0,12(a1); sw t0,16(sp); addi a1,sp,4; call unit_step; lw ra,28(sp); addi sp,sp,32; ret"),
    wrong("an object at an odd address", "outer", "addi sp,sp,-32; sw ra,28(sp); addi a2,sp,1; addi a3,a1,16; 1: lbu t0,0(a1); sb t0,0(a2); addi a1,a1,1; addi a2,a2,1; bne a1,a3,1b; addi a1,sp,1; call unit_step; lw ra,28(sp); addi sp,sp,32; ret", "multiple of 4"),
    wrong("an object below the stack pointer", "outer", "addi a1,sp,-32; tail unit_step", "outside the frame"),
    right("a result put in place", "wide", "tail unit_widen"),
    right("ra beside a result", "wide", "addi sp,sp,-32; sw ra,28(sp); sw s0,24(sp); mv s0,a0; mv a0,sp; call unit_widen; lw t0,0(sp); sb t0,0(s0); lw t0,8(sp); sw t0,8(s0); lw t0,12(sp); sw t0,12(s0); lw ra,28(sp); lw s0,24(sp); addi sp,sp,32; ret"),
    wrong("ra kept between the scalars of a result", "wide", "addi sp,sp,-32; sw ra,4(sp); sw s0,24(sp); mv s0,a0; mv a0,sp; call unit_widen; lw t0,0(sp); sb t0,0(s0); lw t0,8(sp); sw t0,8(s0); lw t0,12(sp); sw t0,12(s0); lw ra,4(sp); lw s0,24(sp); addi sp,sp,32; ret", "computed address"),
    right("arguments on the stack", "full", "addi sp,sp,-32; sw ra,28(sp); sw a2,0(sp); sw a3,4(sp); sw a2,16(sp); sw a3,20(sp); addi t0,sp,16; sw t0,-0(sp); sw a2,4(sp); sw a3,8(sp); mv a2,a1; mv a3,a1; mv a4,a1; mv a5,a1; mv a6,a1; mv a7,a1; call unit_many; lw ra,28(sp); addi sp,sp,32; ret"),
    wrong("an object among the arguments on the stack", "full", "addi sp,sp,-32; sw ra,28(sp); addi t0,sp,4; sw t0,0(sp); sw a2,4(sp); sw a3,8(sp); mv a2,a1; mv a3,a1; mv a4,a1; mv a5,a1; mv a6,a1; mv a7,a1; call unit_many; lw ra,28(sp); addi sp,sp,32; ret", "on the stack"),
    wrong("a result among the arguments on the stack", "full", "addi sp,sp,-48; sw ra,44(sp); sw s0,40(sp); mv s0,a0; sw a2,16(sp); sw a3,20(sp); addi t0,sp,16; sw t0,0(sp); sw a2,4(sp); sw a3,8(sp); addi a0,sp,4; mv a2,a1; mv a3,a1; mv a4,a1; mv a5,a1; mv a6,a1; mv a7,a1; call unit_many; lw t0,4(sp); sw t0,0(s0); lw t0,8(sp); sw t0,4(s0); lw ra,44(sp); lw s0,40(sp); addi sp,sp,48; ret", "on the stack"),
    wrong("64 MiB above the stack pointer read and not used", "outer", "li t1,0x4000000; add t1,sp,t1; lw t0,0(t1); tail unit_step", "outside the frame"),
    wrong("64 MiB below the stack pointer read and not used", "outer", "li t1,0x4000000; sub t1,sp,t1; lw t0,0(t1); tail unit_step", "outside the frame"),
    wrong("the frame of the caller read", "outer", "lw t0,0(sp); tail unit_step", "outside the frame"),
    wrong("a word below the stack pointer read", "outer", "addi sp,sp,-16; sw a1,0(sp); addi sp,sp,16; lw t0,-16(sp); tail unit_step", "outside the frame"),
];

/// On machines of 64 bits.
const WIDE_CASES: [Case; 4] = [
    right("narrow arguments", "both", "addi sp,sp,-16; sd ra,8(sp); sext.w a0,a0; call unit_narrow; ld ra,8(sp); addi sp,sp,16; ret"),
    wrong("a narrow argument with zeros above", "both", "addi sp,sp,-16; sd ra,8(sp); slli a0,a0,32; srli a0,a0,32; call unit_narrow; ld ra,8(sp); addi sp,sp,16; ret", "not extended"),
    wrong("a narrow argument with anything above", "both", "addi sp,sp,-16; sd ra,8(sp); slli t0,a1,32; xor a0,a0,t0; call unit_narrow; ld ra,8(sp); addi sp,sp,16; ret", "not extended"),
    right("nothing linked but by the caller", "both", "tail unit_narrow"),
];

/// Whether runs tell the code from the source.
pub fn shown_by_runs(made: &Made, object: &[u8], symbol: &str) -> bool {
    let image = image(object);
    let (isa, func) = (isa(&image), made.symbols[symbol]);
    let entry = image.function(symbol).expect("it is there").address;
    let bench = Bench::new((&image, isa), &made.program, func, entry, &[]).and_then(|b| b.with_calls(&made.symbols)).unwrap_or_else(|e| panic!("{e}"));
    let all = inputs(&made.program, func, image.xlen, 12, 3);
    assert!(!all.is_empty());
    let mut source = Interp::with_options(&made.program, Options::default());
    all.iter().zip(1..).any(|(input, noise)| {
        let ran = bench.run(input, noise, 100_000);
        let want = source.call(func, &input.lens, input.args.clone()).expect("the source runs");
        ran.end != End::Returned || ran.results != bench.expected(&want)
    })
}

/// A function of nothing but these instructions. `scope`: nothing, or `static`.
fn by_hand(scope: &str, symbol: &str, body: &str) -> String {
    format!("__attribute__((naked, used)) {scope} void {symbol}_by_hand(void) __asm__(\"{symbol}\");\n{scope} void {symbol}_by_hand(void) {{ __asm__(\"{body}\"); }}\n")
}

/// Judges functions by hand: how many were right and how many refused.
pub fn judge(made: &Made, march: &str, callees: &str, cases: &[Case]) -> Option<(usize, usize)> {
    let (mut proved, mut refused) = (0, 0);
    for Case { what, symbol, body, refused: word, shown } in cases {
        let text = format!("{callees}\n{}", by_hand("", symbol, body));
        let object = object(Compiler::Gcc, march, "O1", "unit.c", &text)?;
        let report = judged(made, &object);
        let status = &of(&report, symbol).status;
        let seen = shown_by_runs(made, &object, symbol);
        match word {
            None => {
                assert_eq!(*status, Status::Equal, "{what}");
                assert!(!seen, "{what}: runs take it for wrong");
                proved += 1;
            }
            Some(word) => {
                let said = format!("{status:?}");
                assert!(!status.holds() && !matches!(status, Status::RestsOn { .. }) && said.contains(word), "{what}: {said}");
                assert!(seen == *shown, "{what}: shown by a run: {seen}");
                refused += 1;
            }
        }
    }
    Some((proved, refused))
}

#[test]
fn a_call_that_breaks_a_rule_is_refused_and_shown_by_a_run() {
    let made = made(PROGRAM);
    let Some((a, b)) = judge(&made, "rv32im", CALLEES, &CASES) else { return };
    let Some((c, d)) = judge(&made, "rv64im", CALLEES, &WIDE_CASES) else { return };
    println!("tried: calls by hand: {} right ones proved, {} wrong ones refused and shown by runs", a + c, b + d);
    assert!(a + c >= 10 && b + d >= 24);
}

/// Compilers need not extend what a function of their own does not read so: right inside the caller. Where runs show wrong values it is no
/// other convention.
#[test]
fn a_static_function_need_not_get_what_it_does_not_read() {
    let program = "@noinline\nfn narrow(x: u32, y: u32) -> u32 { (x >> 3) ^ y }\n@export(\"both\")\nfn both(x: u32, y: u32) -> u32 { narrow(x, y) }\n@export(\"again\")\nfn again(x: u32, y: u32) -> u32 { narrow(y, x) }\n";
    let made = made(program);
    let callee = "#include <stdint.h>\n__attribute__((noinline, used)) static uint32_t unit_narrow(uint32_t x, uint32_t y) { return (x >> 3) ^ y; }\n";
    let other = "uint32_t again(uint32_t x, uint32_t y) { return unit_narrow(y, x); }\n";
    let zeros = "slli a0,a0,32; srli a0,a0,32";
    for (how, with, word) in [(zeros, "", "equal"), (zeros, other, "equal"), ("addi a0,a0,8; slli t0,a1,32; xor a0,a0,t0", "", "broken rule")] {
        let body = format!("addi sp,sp,-16; sd ra,8(sp); {how}; call unit_narrow; ld ra,8(sp); addi sp,sp,16; ret");
        let text = format!("{callee}{with}{}", by_hand("", "both", &body));
        let Some(object) = object(Compiler::Gcc, "rv64im", "O1", "unit.c", &text) else { return };
        let report = judged(&made, &object);
        let status = &of(&report, "both").status;
        assert_eq!(status.word(), word, "{how}, {with}: {status:?}");
    }
}

/// What belongs to the platform at a call is no matter between two functions of a file, though the callee be not proved.
#[test]
fn no_convention_of_a_static_function_changes_the_platform_s_rules() {
    let program = "@noinline\nfn narrow(x: u32, y: u32) -> u32 { (x >> 3) ^ y }\n@export(\"both\")\nfn both(x: u32, y: u32) -> u32 { narrow(x, y) }\n";
    let made = made(program);
    let callee = "#include <stdint.h>\n__attribute__((noinline, used)) static uint32_t unit_narrow(uint32_t x, uint32_t y) { __asm__ volatile (\"ebreak\"); return (x >> 3) ^ y; }\n";
    let cases = [
        ("addi sp,sp,-16; sw ra,12(sp); call unit_narrow; lw ra,12(sp); addi sp,sp,16; ret", "rests on another", ""),
        ("addi sp,sp,-8; sw ra,4(sp); call unit_narrow; lw ra,4(sp); addi sp,sp,8; ret", "broken rule", "multiple of 16"),
        ("addi sp,sp,-16; sw ra,12(sp); sw gp,8(sp); mv gp,a0; call unit_narrow; lw gp,8(sp); lw ra,12(sp); addi sp,sp,16; ret", "broken rule", "gp"),
        ("addi sp,sp,-16; sw ra,12(sp); sw tp,8(sp); mv tp,a0; call unit_narrow; lw tp,8(sp); lw ra,12(sp); addi sp,sp,16; ret", "broken rule", "tp"),
        ("mv ra,a1; tail unit_narrow", "broken rule", "does not return"),
    ];
    for (body, word, why) in cases {
        let text = format!("{callee}{}", by_hand("", "both", body));
        let Some(object) = object(Compiler::Gcc, "rv32im", "O1", "unit.c", &text) else { return };
        let report = judged(&made, &object);
        assert!(!of(&report, "unit_narrow").status.holds(), "{:?}", of(&report, "unit_narrow").status);
        let status = &of(&report, "both").status;
        assert!(status.word() == word && status.reason().unwrap_or_default().contains(why), "{body}: {status:?}");
    }
}

/// The same where who breaks it is static itself, and nobody calls it as the source does.
#[test]
fn a_static_function_keeps_the_platform_s_rules_too() {
    let program = "@noinline\nfn narrow(x: u32, y: u32) -> u32 { (x >> 3) ^ y }\n@noinline\nfn mid(x: u32, y: u32) -> u32 { narrow(x, y) }\n@export(\"both\")\nfn both(x: u32, y: u32) -> u32 { mid(x, y) }\n";
    let made = made(program);
    let narrow = by_hand("static", "unit_narrow", "srli a0,a0,3; xor a0,a0,a1; ret");
    let both = by_hand("", "both", "ebreak; tail unit_mid");
    for (how, why) in [("addi sp,sp,-8; sw ra,4(sp); call unit_narrow; lw ra,4(sp); addi sp,sp,8; ret", "multiple of 16"), ("mv t0,gp; mv gp,a0; tail unit_narrow", "gp")] {
        let text = narrow.clone() + &by_hand("static", "unit_mid", how) + &both;
        let Some(object) = object(Compiler::Gcc, "rv32im", "O1", "unit.c", &text) else { return };
        let report = judged(&made, &object);
        assert_eq!(of(&report, "unit_narrow").status, Status::Equal);
        assert!(!of(&report, "both").status.holds());
        let status = &of(&report, "unit_mid").status;
        assert!(status.word() == "broken rule" && status.reason().unwrap_or_default().contains(why), "{how}: {status:?}");
    }
}
