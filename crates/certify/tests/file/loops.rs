//! Loops of a run-time number of rounds: every compiler's form of them is proved, wrong ones are refused, and soon.

use crate::support::{image, isa, judged, made, object, of, Compiler, Made, Memory};
use santoku_certify::report::{FileReport, Status};
use santoku_certify::{certify, Options, World};
use santoku_isa::decode;
use santoku_skips::seeds;

/// Rounds up, rounds down, a first round apart, several values carried, loads at the position.
const PROGRAM: &str = "
@noinline
fn mix(h: [u32; 4], x: u32) -> [u32; 4] {
  var r: [u32; 4]
  for i in 0..<4 { r[i] = h[i] + 5 * h[(i + 1) % 4] + x }
  r
}

@export(\"absorb\")
fn absorb<n: len>(m: [u32; n]) -> [u32; 4] {
  var h: [u32; 4] = [1, 2, 3, 4]
  for i in 0..<n { h = mix(h, m[i]) }
  h
}

@export(\"pairs\")
fn pairs<n: len>(m: [u32; n], k: u32) -> [u32; 4] {
  let count = n / 2
  var h: [u32; 4] = [k, 0, k, 5]
  if count > 0 {
    h = mix(h, m[0])
    for i in 1..<count { h = mix(mix(h, m[2 * i]), m[2 * i + 1]) }
  }
  mix(h, k)
}

@export(\"spread\")
fn spread<n: len>(m: [u8; n], k: [u32; 4]) -> [u32; 4] {
  var h = k
  for i in 0..<n {
    for j in 0..<4 { h[j] = 3 * h[j] + u32(m[i]) }
  }
  h
}

@export(\"total\")
fn total<n: len>(m: [u32; n], s: u32) -> u32 {
  var t = s
  for i in 0..<n { t = (t + m[i]) * (t + 1) }
  t
}

@export(\"horner\")
fn horner<n: len>(m: [u32; n], x: u32) -> u32 {
  var t: u32 = 1
  for i in rev 0..<n { t = t * x + m[i] }
  t
}

@export(\"rest\")
fn rest<n: len in 0..2^20>(m: [u32; n], s: u32) -> u32 {
  var t = s
  for i in n / 4..<(n + 3) / 4 { t = t * 3 + m[4 * i] }
  for i in 0..<n % 2 { t = t * 5 + m[n - 1] + u32(i) }
  t
}
";

/// The functions with a loop, and what is wrong with them: a piece of C, and what stands there instead.
const TWINS: [(&str, &str, &str, &str); 18] = [
    ("absorb", "one round too few", "i < n; i++) {\n        {", "i + 1 < n; i++) {\n        {"),
    ("absorb", "one round too many", "i < n; i++) {\n        {", "i <= n; i++) {\n        {"),
    ("absorb", "an index off by one", "unit_mix(tmp, h, m[i])", "unit_mix(tmp, h, m[i ? i - 1 : 0])"),
    ("absorb", "a wrong initial value", "h[3] = UINT32_C(4)", "h[3] = UINT32_C(5)"),
    ("absorb", "half of what is carried lost", "unit_mix(tmp, h, m[i]);\n            memmove(h, tmp, 4", "unit_mix(tmp, h, m[i]);\n            memmove(h, tmp, 2"),
    ("pairs", "the second round first", "for (i = 1; i < count", "for (i = 2; i < count"),
    ("pairs", "the same half twice", "m[(UINT32_C(2) * i) + UINT32_C(1)]", "m[(UINT32_C(2) * i)]"),
    ("total", "every second round left out", "i++) {\n        t = (t + m[i])", "i += 2) {\n        t = (t + m[i])"),
    ("total", "a wrong update of what is carried", "(t + UINT32_C(1))", "(t + UINT32_C(3))"),
    ("total", "a way out before the end", "t = (t + m[i])", "if (i == 7) break;\n        t = (t + m[i])"),
    ("total", "the last round again", "    return t;\n}\n\n/* unit.horner", "    return n ? t + m[n - 1] : t;\n}\n\n/* unit.horner"),
    ("horner", "the last round left out", "for (i = n; i-- > 0;)", "for (i = n; i-- > 1;)"),
    ("rest", "a round that is always taken", "i < ((n + UINT32_C(3)) >> 2)", "i <= (n >> 2)"),
    ("rest", "a round that is left out for one length", "(n + UINT32_C(3)) >> 2", "(n + UINT32_C(2)) >> 2"),
    ("rest", "two rounds", "i < ((n + UINT32_C(3)) >> 2)", "i < ((n + UINT32_C(7)) >> 2)"),
    ("rest", "the other parity", "(n & UINT32_C(1))", "((n + 1) & UINT32_C(1))"),
    ("rest", "a round on another element", "m[UINT32_C(4) * i]", "m[UINT32_C(2) * i]"),
    ("horner", "the other direction", "for (i = n; i-- > 0;)", "for (i = 0; i < n; i++)"),
];

/// An odd round before the loop, and two in each lap; gcc's own.
const BY_TWO: &str = "O2 -funroll-loops --param max-unroll-times=2";

/// Instructions and monomials that the comparison of a function with one loop may take.
const STEPS: u64 = 20_000;
const TERMS: usize = 300_000;

fn in_bounds(report: &FileReport, symbol: &str) {
    let work = &of(report, symbol).work;
    assert!(work.instructions < STEPS && work.terms < TERMS, "{symbol}: {work:?}");
}

pub(crate) fn objects(made: &Made, levels: &[&str], with: &mut dyn FnMut(&str, &FileReport)) -> usize {
    let mut objects = 0;
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        for march in ["rv32imc", "rv64imc"] {
            for level in levels.iter().filter(|l| compiler == Compiler::Gcc || **l != BY_TWO) {
                let Some(object) = object(compiler, march, level, "unit.c", &made.c) else { continue };
                with(&format!("{compiler:?} {march} {level}"), &judged(made, &object));
                objects += 1;
            }
        }
    }
    objects
}

#[test]
fn loops_of_run_time_length_are_proved_by_every_compiler_and_level() {
    let made = made(PROGRAM);
    let count = objects(&made, &["O1", "O2", "O3", "Os", BY_TWO], &mut |name, report| {
        for symbol in ["absorb", "pairs", "spread", "total", "horner", "rest"] {
            assert_eq!(of(report, symbol).status, Status::Equal, "{name}");
            in_bounds(report, symbol);
        }
        assert!(report.holds(), "{name}");
    });
    santoku_skips::checked(count, "objects proved whole");
}

/// Which rounds are taken before the pairs, and when the pairs end, hangs on few branches.
#[test]
fn no_branch_of_a_loop_unrolled_by_two_can_be_turned_round() {
    let made = made(PROGRAM);
    let mut count = 0;
    for march in ["rv32imc", "rv64imc"] {
        let Some(object) = object(Compiler::Gcc, march, BY_TWO, "unit.c", &made.c) else { continue };
        let whole = image(&object);
        let isa = isa(&whole);
        for symbol in ["absorb", "pairs", "total", "horner"] {
            let f = whole.function(symbol).expect("a function").clone();
            let mut pc = f.address;
            while pc < f.address + f.size {
                let word = whole.fetch(pc).expect("code");
                let inst = decode(&isa, word).expect("an instruction");
                // beq and bne, blt and bge, c.beqz and c.bnez differ in one bit.
                let other = match (inst.len, word & 0x7f, word >> 13 & 7) {
                    (4, 0x63, _) => Some((word ^ 1 << 12).to_le_bytes().to_vec()),
                    (2, _, 6 | 7) if word & 3 == 1 => Some((word as u16 ^ 1 << 13).to_le_bytes().to_vec()),
                    _ => None,
                };
                if let Some(changed) = other.and_then(|bytes| whole.replaced(pc, &bytes)) {
                    let world = World { store: &Memory::default(), clock: &|| 0, tell: &|_, _, _| {} };
                    let options = Options { only: Some(symbol.into()), ..Options::default() };
                    let report = certify(&changed, isa, &made.program, made.symbols.clone(), &options, &world);
                    assert_ne!(of(&report, symbol).status, Status::Equal, "{march} {symbol} {pc:#x}: {inst}");
                    count += 1;
                }
                pc += u64::from(inst.len);
            }
        }
    }
    println!("tried {count} branches of unrolled loops turned round: none accepted");
    santoku_skips::checked(count, "branches turned round");
}

#[test]
fn wrong_loops_are_refused_soon() {
    let right = made(PROGRAM);
    let mut count = 0;
    for (symbol, what, from, to) in seeds::some(TWINS, 3) {
        assert_eq!(right.c.matches(from).count(), 1, "{what}");
        let wrong = Made { c: right.c.replace(from, to), ..made(PROGRAM) };
        count += objects(&wrong, &seeds::some(["O1", "O2", "Os", BY_TWO], 2), &mut |name, report| {
            let status = &of(report, symbol).status;
            let refused = matches!(status, Status::NotProved(_) | Status::Refuted(_) | Status::Broken { .. } | Status::NotFollowed { .. });
            assert!(refused && !report.holds(), "{what}: {name}: {status:?}");
            in_bounds(report, symbol);
            println!("{what}: {name}: {}", status.reason().unwrap_or_default());
        });
    }
    santoku_skips::checked(count, "wrong objects refused");
}

/// The ranges of what a loop changes hold where the source comes to the loop, and nowhere else.
const GUARDED: &str = "
@export(\"tally\")
fn tally<n: len>(m: [u8; n]) -> u32 {
  var k: int in 0..30 = 0
  var r: u32 = 0
  if n <= 10 {
    for i in 0..<n
      invariant k == 3 * i
    { k += 3 }
    r = u32(k)
  }
  r
}
";

/// The loop is taken for every length. A count beyond the range of the source's leads to other code, for lengths that do not come to the loop.
fn hoisted(first: &str, last: &str) -> String {
    format!(
        ".text\n.globl tally\n.type tally, @function\ntally:\n li t0,0\n li t1,0\n li t3,0\n {first}\n beqz a0,2f\n1: addi t0,t0,3\n addi t1,t1,1\n \
         bne t1,a0,1b\n li t2,30\n bltu t2,t0,3f\n li t4,11\n bgeu a0,t4,2f\n mv t3,t0\n2: mv a0,t3\n ret\n3: {last}\n.size tally, .-tally\n"
    )
}

#[test]
fn a_loop_before_the_test_that_guards_it_has_no_ranges() {
    let made = made(GUARDED);
    let mut count = 0;
    for march in ["rv32imc", "rv64imc"] {
        for (first, last, right) in [
            // The test comes first: what is behind is never reached.
            ("li t4,11\n bgeu a0,t4,2f", "li a0,7\n ret", true),
            ("nop", "li a0,7\n ret", false),
            ("nop", "sw t0,0(a1)\n j 2b", false),
        ] {
            let Some(object) = object(Compiler::Gcc, march, "O1", "unit.S", &hoisted(first, last)) else { continue };
            let status = of(&judged(&made, &object), "tally").status.clone();
            assert_eq!(status == Status::Equal, right, "{march} {first} {last}: {status:?}");
            count += 1;
        }
    }
    santoku_skips::checked(count, "loops before and behind the test that guards them");
}

#[test]
fn a_loop_that_fits_none_of_the_source_is_told_with_both() {
    let right = made(PROGRAM);
    let wrong = Made { c: right.c.replace("i < n; i++) {\n        t", "i + 1 < n; i++) {\n        t"), ..right };
    let Some(object) = object(Compiler::Gcc, "rv32imc", "O1", "unit.c", &wrong.c) else { return };
    let report = judged(&wrong, &object);
    let (Status::Refuted(d) | Status::NotProved(d)) = &of(&report, "total").status else { panic!("{:?}", of(&report, "total").status) };
    assert!(d.machine.contains("a way out when"), "{}", d.machine);
    assert!(d.source.contains("a loop over `i` from 0 up to n"), "{}", d.source);
}

#[test]
fn a_secret_branch_in_a_loop_is_a_leak() {
    let right = made(PROGRAM);
    let leak = "if (m[i] & 1) __asm__ volatile(\"\");\n        t = (t + m[i])";
    let wrong = Made { c: right.c.replace("t = (t + m[i])", leak), ..right };
    let Some(object) = object(Compiler::Gcc, "rv32imc", "O1", "unit.c", &wrong.c) else { return };
    let report = judged(&wrong, &object);
    let Status::Leak { what, term, .. } = &of(&report, "total").status else { panic!("{:?}", of(&report, "total").status) };
    assert!(what.contains("branch") && term.contains("array0[0]"), "{what} {term}");
}
