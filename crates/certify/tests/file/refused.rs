//! Wrong code.

use crate::support::{judged, made, object, of, patched, Compiler, Made};
use crate::PROGRAM;
use santoku_certify::report::{FileReport, Status};

/// `xor rd, rs1, rs2` as `or`.
pub fn xor_to_or(word: u32) -> Option<u32> {
    (word & 0xfe00_707f == 0x0000_4033).then_some(word | 0x2000)
}

/// The report of hand-written C (or assembly) in the place of the program's.
pub fn by_hand(name: &str, text: &str) -> Option<(Made, FileReport)> {
    let made = made(PROGRAM);
    let object = object(Compiler::Gcc, "rv32im", "O1", name, text)?;
    let report = judged(&made, &object);
    assert!(!report.holds(), "{report:?}");
    Some((made, report))
}

#[test]
fn a_patched_instruction_is_refuted_by_an_input() {
    let made = made(PROGRAM);
    let Some(good) = object(Compiler::Gcc, "rv32im", "O2", "unit.c", &made.c) else { return };
    assert!(judged(&made, &good).holds());
    let report = judged(&made, &patched(&good, "choose", xor_to_or));
    assert!(!report.holds());
    let Status::Refuted(d) = &of(&report, "choose").status else { panic!("{:?}", of(&report, "choose").status) };
    let witness = d.witness.as_ref().expect("an input");
    assert_eq!(d.what, "the result in a0");
    assert_ne!(witness.machine, witness.source);
    assert_eq!(witness.inputs.len(), 3);
    assert_eq!(of(&report, "add").status, Status::Equal, "the others stand");
}

#[test]
fn a_wrong_body_is_refuted_and_so_is_who_rests_on_it() {
    let made = made(PROGRAM);
    let wrong = made.c.replace("<< 7", "<< 8");
    assert_ne!(wrong, made.c);
    let Some(object) = object(Compiler::Gcc, "rv32im", "O1", "unit.c", &wrong) else { return };
    let report = judged(&made, &object);
    assert!(!report.holds());
    assert!(matches!(of(&report, "unit_step").status, Status::Refuted(_)), "{:?}", of(&report, "unit_step").status);
    let Status::RestsOn { callee } = &of(&report, "twice").status else { panic!("{:?}", of(&report, "twice").status) };
    assert_eq!(callee.function, "unit.step");
    assert_eq!(of(&report, "add").status, Status::Equal);
}

/// A compiler may leave nothing of a function; a call of it runs whatever lies there.
#[test]
fn a_function_without_code_is_not_passed_over() {
    let made = made("@export(\"f\")\nfn f(x: u32) -> u32 { x }\n@export(\"g\")\nfn g(x: u32) -> u32 { x + 1 }\n");
    let g = ".section .text.g,\"ax\"\n.globl g\n.type g,@function\ng: addi a0,a0,1\n ret\n.size g,.-g\n";
    let f = ".globl f\n.type f,@function\nf:\n";
    let cases = [
        (format!(".section .text.f,\"ax\"\n{f} ret\n.size f,.-f\n{g}"), true),
        (format!(".section .text.f,\"ax\"\n{f}.size f,0\n{g}"), false),
        (format!(".section .text.f,\"ax\"\n{f}{g}"), false),
        (format!("{g}{f}"), false),
        (format!("{g}{f}.size f,0\n .section .text.h,\"ax\"\nh: ret\n"), false),
        (format!("{g}.data\n{f} ret\n.size f,.-f\n"), false),
        (format!("{g}.section .rodata\n{f} ret\n.size f,.-f\n"), false),
        (format!("{g}.globl f\n.set f, 0x10000\n"), false),
        (format!("{g}.section .rodata\n.globl f\n.type f,@object\nf: .word 0x8067\n.size f,4\n"), false),
        (format!("{g}.comm f,4,4\n"), false),
    ];
    let mut refused = 0;
    for (text, right) in &cases {
        let Some(object) = object(Compiler::Gcc, "rv32im", "O1", "unit.S", text) else { return };
        let report = judged(&made, &object);
        assert_eq!(of(&report, "g").status, Status::Equal, "{text}");
        assert_eq!((report.holds(), of(&report, "f").status.holds()), (*right, *right), "{text}{report:?}");
        refused += usize::from(!report.holds());
    }
    // What the file does not name at all is told.
    let Some(object) = object(Compiler::Gcc, "rv32im", "O1", "unit.S", g) else { return };
    let absent: Vec<String> = judged(&made, &object).without_symbol.into_iter().filter(|w| w.exported).map(|w| w.function).collect();
    assert_eq!(absent, ["unit.f"]);
    println!("tried: {} objects, {refused} in which a function has no code, none of them proved", cases.len());
    assert_eq!(refused + 1, cases.len());
}

#[test]
fn writes_outside_the_results_are_refused() {
    for (line, word) in [("r[4] = 1;", "outside"), ("((uint32_t *)b)[0] = r[0];", "input"), ("*(volatile uint32_t *)64 = 1;", "fixed")] {
        let text = format!("#include <stdint.h>\nvoid add(uint32_t *r, const uint32_t *a, const uint32_t *b)\n{{\n  for (int i = 0; i < 4; i++) r[i] = a[i] + b[i];\n  {line}\n}}\n");
        let Some((_, report)) = by_hand("unit.c", &text) else { return };
        let Status::Broken { reason, site } = &of(&report, "add").status else { panic!("{line}: {:?}", of(&report, "add").status) };
        assert!(reason.contains(word), "{line}: {reason}");
        assert!(site.instruction.starts_with("sw"), "{site:?}");
    }
}

/// Calls are not looked into, so terms alone cannot say that the values differ: a run can.
#[test]
fn a_call_too_many_is_refuted_by_a_run() {
    let text = "#include <stdint.h>
static __attribute__((noinline)) void unit_step(uint32_t *r, const uint32_t *a)
{
  uint32_t t[4];
  for (int i = 0; i < 4; i++) t[i] = a[i] ^ (a[(i + 1) % 4] << 7 | a[(i + 1) % 4] >> 25);
  for (int i = 0; i < 4; i++) r[i] = t[i];
}
void twice(uint32_t *r, const uint32_t *a) { uint32_t t[4]; unit_step(t, a); unit_step(r, t); CALL }
";
    let made = made(PROGRAM);
    let Some(good) = object(Compiler::Gcc, "rv32im", "O1", "unit.c", &text.replace("CALL", "")) else { return };
    assert!(judged(&made, &good).holds());
    let Some((_, report)) = by_hand("unit.c", &text.replace("CALL", "unit_step(r, r);")) else { return };
    assert_eq!(of(&report, "unit_step").status, Status::Equal);
    let Status::Refuted(d) = &of(&report, "twice").status else { panic!("{:?}", of(&report, "twice").status) };
    let witness = d.witness.as_ref().expect("an input");
    assert!(d.what.contains("run") && witness.machine != witness.source && witness.inputs[0].0 == "a", "{d:?}");
}

#[test]
fn words_at_odd_places_are_refused() {
    for (line, word) in [("(void)*(const volatile uint32_t *)((const uint8_t *)a + 2);", "lw"), ("*(volatile uint16_t *)((uint8_t *)r + 3) = 1;", "sh")] {
        let text = format!("#include <stdint.h>\nvoid add(uint32_t *r, const uint32_t *a, const uint32_t *b)\n{{\n  {line}\n  for (int i = 0; i < 4; i++) r[i] = a[i] + b[i];\n}}\n");
        let Some((_, report)) = by_hand("unit.c", &text) else { return };
        let Status::Broken { reason, site } = &of(&report, "add").status else { panic!("{line}: {:?}", of(&report, "add").status) };
        assert!(reason.contains("multiple") && site.instruction.starts_with(word), "{line}: {reason} {site:?}");
    }
}

#[test]
fn a_register_that_is_not_handed_back_is_told() {
    let choose = |body: &str| format!(".globl choose\n.type choose, @function\nchoose:\n{body}\n  ret\n.size choose, .-choose\n");
    let right = "  neg a2, a2\n  xor a0, a0, a1\n  and a0, a0, a2\n  xor a0, a0, a1";
    let made = made(PROGRAM);
    let Some(good) = object(Compiler::Gcc, "rv32im", "O1", "unit.S", &choose(right)) else { return };
    assert!(judged(&made, &good).holds());
    for (line, what) in [("  li s0, 1", "register s0"), ("  addi sp, sp, -16", "the stack pointer")] {
        let Some((_, report)) = by_hand("unit.S", &choose(&format!("{right}\n{line}"))) else { return };
        match &of(&report, "choose").status {
            Status::Refuted(d) | Status::NotProved(d) => assert_eq!(d.what, what),
            other => panic!("{line}: {other:?}"),
        }
    }
}

#[test]
fn a_proof_of_nothing_is_no_success() {
    let Some((_, report)) = by_hand("other.c", "int something_else(void) { return 1; }\n") else { return };
    assert_eq!((report.totals.functions, report.totals.proved), (0, 0));
    assert_eq!(of(&report, "something_else").status, Status::NoSource);
    assert!(report.without_symbol.iter().all(|w| !w.inlined) && !report.without_symbol.is_empty());
}

/// The wrong one is right while the result shares its object with nothing or with `a`; no longer once `b` is that object, too.
#[test]
fn one_object_for_a_result_and_two_parameters_is_a_way_to_call_of_its_own() {
    let source = "@noinline
fn total(a: [u32; 4], b: [u32; 4]) -> [u32; 4] {
  var r: [u32; 4]
  for i in 0..<4 { r[i] = a[i] + b[i] }
  r
}
@export(\"doubled\")
fn doubled(a: [u32; 4]) -> [u32; 4] { total(a, a) }
";
    let text = |before: &str| {
        format!(
            "#include <stdint.h>
static __attribute__((noinline)) void unit_total(uint32_t *r, const uint32_t *a, const uint32_t *b)
{{
  for (int i = 0; i < 4; i++) {{
    uint32_t x = a[i];
    {before}
    *(volatile uint32_t *)&r[i] = x + ((const volatile uint32_t *)b)[i];
  }}
}}
void doubled_(uint32_t *r, const uint32_t *a) __asm__(\"doubled\");
void doubled_(uint32_t *r, const uint32_t *a)
{{
  for (int i = 0; i < 4; i++) *(volatile uint32_t *)&r[i] = a[i];
  unit_total(r, r, r);
}}
"
        )
    };
    let made = made(source);
    let Some(right) = object(Compiler::Gcc, "rv32im", "O1", "unit.c", &text("")) else { return };
    let report = judged(&made, &right);
    assert!(report.holds(), "{:?}", report.open().map(|f| (&f.symbol, f.status.reason())).collect::<Vec<_>>());
    let total = of(&report, "unit_total");
    assert!(total.shared.iter().any(|s| s.pairs.len() == 2 && s.status == Status::Equal), "{:?}", total.shared);
    let Some(wrong) = object(Compiler::Gcc, "rv32im", "O1", "unit.c", &text("*(volatile uint32_t *)&r[i] = x + 1;")) else { return };
    let report = judged(&made, &wrong);
    let total = of(&report, "unit_total");
    assert_eq!(total.status, Status::Equal);
    assert!(total.shared.iter().any(|s| s.pairs.len() == 2 && matches!(s.status, Status::Refuted(_))), "{:?}", total.shared);
    assert!(!of(&report, "doubled").status.holds(), "{:?}", of(&report, "doubled").status);
    assert!(!report.holds());
}
