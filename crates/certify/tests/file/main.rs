//! Whole files: what is right is proved whole, every kind of wrong code is refused with its reason.

mod addresses;
mod arrays;
mod attack;
mod bytes;
mod calling;
mod calls;
mod ciphers;
mod constants;
mod contract;
mod copies;
mod entered;
mod conventions;
mod fused;
mod leaks;
mod linked;
mod lists;
mod miscompiled;
mod loops;
mod paths;
mod records;
mod refused;
mod relaxed;
mod residue;
mod rounds;
mod support;
mod verdicts;

use santoku_certify::report::Status;
use santoku_certify::Options;
use support::{judged, judged_with, made, object, of, Compiler, Memory};

/// Loops, calls, a selection, carries, sharing of objects.
pub const PROGRAM: &str = "
@noinline
fn step(a: [u32; 4]) -> [u32; 4] {
  var r: [u32; 4]
  for i in 0..<4 { r[i] = a[i] ^ (a[(i + 1) % 4] <<< 7) }
  r
}

@export(\"twice\")
fn twice(a: [u32; 4]) -> [u32; 4] { step(step(a)) }

@export(\"choose\")
fn choose(x: u32, y: u32, s: bool) -> u32 { if s { x } else { y } }

@export(\"add\")
fn add(a: [u32; 4], b: [u32; 4]) -> [u32; 4] {
  var r: [u32; 4]
  for i in 0..<4 { r[i] = a[i] + b[i] }
  r
}
";

#[test]
fn a_program_is_proved_whole_by_every_compiler_and_level() {
    let made = made(PROGRAM);
    let mut objects = 0;
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        for march in ["rv32im", "rv32imc", "rv64imc"] {
            for level in ["O1", "O2", "O3", "Os"] {
                let Some(object) = object(compiler, march, level, "unit.c", &made.c) else { continue };
                let report = judged(&made, &object);
                let open: Vec<_> = report.open().map(|f| (&f.symbol, f.status.reason())).collect();
                assert!(report.holds(), "{compiler:?} {march} {level}: {open:?}");
                assert!(report.totals.functions >= 3 && report.totals.equal == report.totals.functions, "{:?}", report.totals);
                assert_eq!(of(&report, "twice").calls.is_empty(), report.functions.iter().all(|f| f.symbol != "unit_step"));
                objects += 1;
            }
        }
    }
    santoku_skips::checked(objects, "objects proved whole");
}

#[test]
fn results_in_the_place_of_parameters_are_proved_and_told() {
    let made = made(PROGRAM);
    let Some(object) = object(Compiler::Gcc, "rv32im", "O2", "unit.c", &made.c) else { return };
    let report = judged(&made, &object);
    let add = of(&report, "add");
    let ways: Vec<&str> = add.shared.iter().map(|s| s.pairs[0].1.as_str()).collect();
    assert_eq!(ways, ["a", "b"]);
    assert!(add.shared.iter().all(|s| s.status == Status::Equal));
    // The other way: code that is right only while the objects are apart.
    let wrong = "#include <stdint.h>\nvoid add(uint32_t *r, const uint32_t *a, const uint32_t *b)\n{\n  for (int i = 3; i >= 0; i--) { r[i] = 0; __asm__ volatile(\"\" ::: \"memory\"); r[i] = a[i] + b[i]; }\n}\n";
    let Some(object) = support::object(Compiler::Gcc, "rv32im", "O2", "unit.c", wrong) else { return };
    let report = judged(&made, &object);
    let add = of(&report, "add");
    assert_eq!(add.status, Status::Equal);
    assert!(add.shared.len() == 2 && add.shared.iter().all(|s| matches!(s.status, Status::Refuted(_))), "{:?}", add.shared);
    assert!(report.holds(), "no caller does so");
}

#[test]
fn the_report_is_the_same_whatever_the_threads() {
    let made = made(PROGRAM);
    let Some(object) = object(Compiler::Clang, "rv64imc", "O2", "unit.c", &made.c) else { return };
    let text = |threads| {
        let report = judged_with(&made, &object, &Options { threads, ..Options::default() }, &Memory::default());
        serde_json::to_string(&report).expect("JSON")
    };
    assert_eq!(text(1), text(3));
    assert!(text(1).contains("\"verdict\":\"equal\""));
}

#[test]
fn proofs_are_kept_by_content_and_failures_are_not() {
    let made = made(PROGRAM);
    let Some(good) = object(Compiler::Gcc, "rv32im", "O2", "unit.c", &made.c) else { return };
    let store = Memory::default();
    let options = Options::default();
    let first = judged_with(&made, &good, &options, &store);
    assert!(first.holds() && first.totals.cached == 0);
    let again = judged_with(&made, &good, &options, &store);
    assert!(again.holds() && again.functions.iter().all(|f| f.work.cached));
    // One function changed: that one is looked at again, and refused each time.
    let bad = support::patched(&good, "choose", refused::xor_to_or);
    for _ in 0..2 {
        let report = judged_with(&made, &bad, &options, &store);
        assert!(matches!(of(&report, "choose").status, Status::Refuted(_)));
        assert!(!of(&report, "choose").work.cached && of(&report, "add").work.cached);
    }
    // Other options are another question.
    let strict = Options { secret_mul_leaks: true, ..Options::default() };
    assert_eq!(judged_with(&made, &good, &strict, &store).totals.cached, 0);
}

#[test]
fn one_function_is_judged_with_what_it_calls() {
    let made = made(PROGRAM);
    let Some(object) = object(Compiler::Gcc, "rv32im", "O1", "unit.c", &made.c) else { return };
    let only = |name: &str| judged_with(&made, &object, &Options { only: Some(name.into()), ..Options::default() }, &Memory::default());
    let report = only("twice");
    assert!(report.holds());
    let names: Vec<&str> = report.functions.iter().map(|f| f.symbol.as_str()).collect();
    assert!(names.contains(&"twice") && !names.contains(&"add"), "{names:?}");
    assert!(!only("nowhere").holds(), "a proof of nothing");
}

/// A function whose first result has a length that is known when it runs: what is right is not called wrong, and what is wrong is.
#[test]
fn results_of_run_time_length_are_run_whole() {
    let made = made("@export(\"masked\")\nfn masked<n: len>(m: [u8; n], k: u8) -> ([u8; n], [u8; 2]) {\n  var c: [u8; n] = m\n  for i in 0..<n { c[i] = m[i] ^ k }\n  (c, [k, 7])\n}\n");
    let c = |last: &str, mask: &str| {
        format!("#include <stdint.h>\nvoid masked(uint8_t *c, uint8_t *t, uint32_t n, const uint8_t *m, uint32_t k)\n{{\n  for (uint32_t i = 0; i < n; i++) {{ c[i] = m[i] ^ {mask}; }}\n  t[0] = k;\n  t[1] = {last};\n}}\n")
    };
    let mut refuted = 0;
    for (last, mask, right) in [("7", "k", true), ("8", "k", false), ("7", "(k | 1)", false)] {
        let Some(object) = object(Compiler::Gcc, "rv32im", "O1", "unit.c", &c(last, mask)) else { return };
        let status = of(&judged(&made, &object), "masked").status.clone();
        assert_eq!(matches!(status, Status::Refuted(_)), !right, "{last} {mask}: {status:?}");
        refuted += usize::from(!right);
    }
    assert_eq!(refuted, 2);
}
