//! Static functions that are not called as the source says: what compilers make of arguments that are the same in every call or are
//! not read, written by hand so that any compiler shows it; and the twins in which that is not so.

use crate::support::{judged, made, object, of, Compiler, Made, Memory};
use santoku_certify::report::{FileReport, Status};

/// A loop of run-time length calls a function that has one: it cannot be executed in place of its calls.
pub const PROGRAM: &str = "
@noinline
fn total<n: len>(m: [u8; n], k: public u32, skip: u32) -> u32 {
  var t: u32 = k
  for i in 0..<n { t = t + u32(m[i]) }
  t
}

@export(\"sums\")
fn sums<n: len>(m: [u8; n], x: u32) -> u32 {
  var t: u32 = 0
  for j in 0..<n { t = t + total(m, 7, x) }
  t
}
";

/// What a compiler may make of it: `k` is a constant in the code, `skip` is gone.
const CODE: &str = "#include <stdint.h>
SCOPE __attribute__((noipa)) uint32_t unit_total(uint32_t n, const uint8_t *m)
{
  uint32_t t = 7;
  for (uint32_t i = 0; i < n; i++) t += m[i];
  return t;
}
uint32_t sums(uint32_t n, const uint8_t *m, uint32_t x)
{
  uint32_t t = 0;
  for (uint32_t j = 0; j < n; j++) t += unit_total(n, m);
  return t;
}
MORE
";

pub fn text(more: &str) -> String {
    CODE.replace("SCOPE", "static").replace("MORE", more)
}

fn judged_as(made: &Made, march: &str, text: &str) -> Option<FileReport> {
    Some(judged(made, &object(Compiler::Gcc, march, "O1", "unit.c", text)?))
}

/// Nothing is called wrong, and the function is not called proved.
pub fn in_doubt(report: &FileReport) {
    let alarm = |f: &&santoku_certify::report::FunctionReport| matches!(f.status, Status::Refuted(_) | Status::Leak { .. } | Status::Broken { .. });
    assert!(!report.functions.iter().any(|f| alarm(&f)), "{:?}", report.open().map(|f| (&f.symbol, f.status.reason())).collect::<Vec<_>>());
    let total = &of(report, "unit_total").status;
    assert!(matches!(total, Status::OtherConvention { .. }), "{total:?}");
}

#[test]
fn what_every_call_passes_and_what_nothing_reads_need_not_be_passed() {
    let made = made(PROGRAM);
    for march in ["rv32imc", "rv64imc"] {
        let Some(report) = judged_as(&made, march, &text("")) else { return };
        assert!(report.holds(), "{march}: {:?}", report.open().map(|f| (&f.symbol, f.status.reason())).collect::<Vec<_>>());
        let total = of(&report, "unit_total");
        assert_eq!(total.status, Status::Equal);
        assert_eq!(total.convention, ["`k` is always 7, and it is not passed", "`skip` is not read, and it is not passed"]);
        assert!(of(&report, "sums").convention.is_empty() && of(&report, "sums").calls[0].function == "unit.total");
    }
}

#[test]
fn an_argument_may_be_passed_in_a_register_that_nothing_reads() {
    let made = made(&PROGRAM.replace("m: [u8; n], k: public u32, skip: u32", "k: public u32, skip: u32, m: [u8; n]").replace("total(m, 7, x)", "total(7, x, m)"));
    let text = text("").replace("const uint8_t *m)\n{\n  uint32_t t = 7", "uint32_t k, uint32_t skip, const uint8_t *m)\n{\n  uint32_t t = 7");
    let text = text.replace("unit_total(n, m);", "unit_total(n, 99, 3, m);");
    let Some(report) = judged_as(&made, "rv32imc", &text) else { return };
    assert!(report.holds(), "{:?}", report.open().map(|f| (&f.symbol, f.status.reason())).collect::<Vec<_>>());
    assert!(of(&report, "unit_total").convention[0].contains("holds anything"), "{:?}", of(&report, "unit_total").convention);
}

#[test]
fn another_value_in_another_call_is_no_constant() {
    let two = format!("{PROGRAM}\n@export(\"more\")\nfn more<n: len>(m: [u8; n], x: u32) -> u32 {{ total(m, 8, x) + 1 }}\n");
    let made = made(&two);
    let more = "uint32_t more(uint32_t n, const uint8_t *m, uint32_t x) { return unit_total(n, m) + 1; }";
    let Some(report) = judged_as(&made, "rv32imc", &text(more)) else { return };
    assert!(!of(&report, "unit_total").status.holds() && !of(&report, "more").status.holds(), "{:?}", report.totals);
    assert!(matches!(of(&report, "more").status, Status::Refuted(_)), "{:?}", of(&report, "more").status);
}

#[test]
fn an_argument_that_the_code_gets_is_the_source_s() {
    let made = made(PROGRAM);
    let passed = |k: u32| {
        let text = text("").replace("const uint8_t *m)\n{\n  uint32_t t = 7", "const uint8_t *m, uint32_t k)\n{\n  uint32_t t = k");
        text.replace("unit_total(n, m);", &format!("unit_total(n, m, {k});"))
    };
    let Some(report) = judged_as(&made, "rv32imc", &passed(7)) else { return };
    assert!(report.holds(), "{:?}", report.open().map(|f| (&f.symbol, f.status.reason())).collect::<Vec<_>>());
    let Some(report) = judged_as(&made, "rv32imc", &passed(8)) else { return };
    assert!(matches!(of(&report, "sums").status, Status::Refuted(_)), "{:?}", of(&report, "sums").status);
}

#[test]
fn what_the_source_reads_has_to_be_passed() {
    let made = made(&PROGRAM.replace("var t: u32 = k", "var t: u32 = k + skip"));
    let Some(report) = judged_as(&made, "rv32imc", &text("")) else { return };
    assert!(!of(&report, "unit_total").status.holds());
    assert!(matches!(of(&report, "sums").status, Status::Refuted(_)), "{:?}", of(&report, "sums").status);
}

#[test]
fn a_wrong_body_is_wrong_under_any_convention() {
    let made = made(PROGRAM);
    for wrong in [text("").replace("uint32_t t = 7", "uint32_t t = 6"), text("").replace("t += m[i]", "t += m[i] + 1")] {
        let Some(report) = judged_as(&made, "rv32imc", &wrong) else { return };
        assert!(matches!(of(&report, "unit_total").status, Status::Refuted(_)), "{:?}", of(&report, "unit_total").status);
        assert!(!of(&report, "sums").status.holds());
    }
}

#[test]
fn who_can_be_called_from_elsewhere_is_called_as_the_source_says() {
    let made = made(PROGRAM);
    let Some(report) = judged_as(&made, "rv32imc", &CODE.replace("SCOPE", "").replace("MORE", "")) else { return };
    assert!(matches!(of(&report, "unit_total").status, Status::Refuted(_)), "exported: {:?}", of(&report, "unit_total").status);
    for more in [
        "void *taken(void) { return (void *)unit_total; }",
        "uint32_t (*const table[])(uint32_t, const uint8_t *) = {unit_total};",
        "uint32_t stranger(const uint8_t *m) { return unit_total(3, m); }",
    ] {
        let Some(report) = judged_as(&made, "rv32imc", &text(more)) else { return };
        in_doubt(&report);
    }
}

/// By value what the source hands over by address: right, and not followed.
#[test]
fn a_convention_that_is_not_found_out_is_no_alarm() {
    let made = made(&PROGRAM.replace("skip: u32", "c: [u32; 2]").replace("var t: u32 = k", "var t: u32 = k + c[1]").replace("x: u32", "x: [u32; 2]"));
    let text = text("")
        .replace("const uint8_t *m)\n{\n  uint32_t t = 7", "const uint8_t *m, uint32_t c1)\n{\n  uint32_t t = 7 + c1")
        .replace("uint32_t x)", "const uint32_t *x)")
        .replace("unit_total(n, m);", "unit_total(n, m, x[1]);");
    // What a run cannot follow shows nothing of the code.
    let stranger = text.replace("uint32_t sums(", "extern uint32_t stranger(uint32_t n);\nuint32_t sums(").replace("  return t;\n}\n\n", "  return t ^ stranger(n) ^ stranger(n);\n}\n\n");
    assert!(stranger.contains("t ^ stranger"));
    for text in [text, stranger] {
        let Some(report) = judged_as(&made, "rv32imc", &text) else { return };
        in_doubt(&report);
        assert!(!report.holds());
    }
}

#[test]
fn a_proof_under_a_convention_is_kept_for_that_alone() {
    let (first, second) = (made(PROGRAM), made(&PROGRAM.replace("total(m, 7, x)", "total(m, 9, x)")));
    let store = Memory::default();
    let Some(object) = object(Compiler::Gcc, "rv32imc", "O1", "unit.c", &text("")) else { return };
    let judged = |made: &Made| crate::support::judged_with(made, &object, &Default::default(), &store);
    assert!(judged(&first).holds());
    let again = judged(&first);
    assert!(again.holds() && of(&again, "unit_total").work.cached);
    assert!(!judged(&second).holds(), "the code has 7");
}
