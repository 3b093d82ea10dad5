//! Calls as compilers and hand-written code make them: jumped to, copied into both ways of a branch, put in place, with arrays
//! of fixed length for those of run-time length; and wrong twins of all.

use crate::support::{judged, made, object, of, Compiler, Made};
use santoku_certify::report::Status;

const PROGRAM: &str = "
@noinline
fn step(a: [u32; 4]) -> [u32; 4] {
  var r: [u32; 4]
  for i in 0..<4 { r[i] = a[i] ^ (a[(i + 1) % 4] <<< 7) }
  r
}

@export(\"outer\")
fn outer(a: [u32; 4]) -> [u32; 4] { step(a) }

@export(\"choice\")
fn choice(a: [u32; 4], k: public u32) -> [u32; 4] {
  var r = a
  if k > 9 { r = step(r) }
  step(r)
}

@noinline
fn total<n: len>(m: [u8; n]) -> u32 {
  var t: u32 = 0
  for i in 0..<n { t = t + u32(m[i]) }
  t
}

@export(\"of_ten\")
fn of_ten(m: [u8; 10]) -> u32 { total(m) }
";

/// The status of a function of this C text, and whether it calls another one. `None` where there is no compiler.
fn status(made: &Made, level: &str, text: &str, symbol: &str) -> Option<(Status, bool)> {
    let object = object(Compiler::Gcc, "rv32imc", level, "unit.c", text)?;
    let report = judged(made, &object);
    let f = of(&report, symbol);
    Some((f.status.clone(), !f.calls.is_empty()))
}

/// A function whose way without the first call has a call of its own.
fn copied(bound: u32, second: &str) -> String {
    format!(
        "#include <stdint.h>
__attribute__((noinline)) void unit_step(uint32_t *r, const uint32_t *a)
{{
  uint32_t b[4] = {{a[0], a[1], a[2], a[3]}};
  for (int i = 0; i < 4; i++) {{ uint32_t x = b[(i + 1) % 4]; r[i] = b[i] ^ (x << 7 | x >> 25); }}
}}
void choice(uint32_t *r, const uint32_t *a, uint32_t k)
{{
  uint32_t t[4];
  if (k > {bound}) {{ unit_step(t, a); unit_step(r, t); __asm__ volatile(\"nop\"); }} else {{ {second} }}
}}
"
    )
}

#[test]
fn a_call_copied_into_both_ways_is_the_one_of_the_source() {
    let made = made(PROGRAM);
    for level in ["O1", "O2", "Os"] {
        let Some(found) = status(&made, level, &copied(9, "unit_step(r, a);"), "choice") else { return };
        assert_eq!(found, (Status::Equal, true), "{level}");
        for (what, text) in [
            ("another bound", copied(8, "unit_step(r, a);")),
            ("no call", copied(9, "for (int i = 0; i < 4; i++) r[i] = a[i];")),
            ("a call too many", copied(9, "unit_step(t, a); unit_step(r, t);")),
            ("another argument", copied(9, "for (int i = 0; i < 4; i++) t[i] = a[3 - i]; unit_step(r, t);")),
        ] {
            let Some((found, _)) = status(&made, level, &text, "choice") else { return };
            assert!(!found.holds() && !matches!(found, Status::RestsOn { .. }), "{what} at {level}: {found:?}");
        }
    }
}

#[test]
fn a_function_that_stands_elsewhere_may_be_put_in_place() {
    let made = made(PROGRAM);
    let text = |turn: u32| {
        copied(9, "unit_step(r, a);")
            + &format!(
                "void outer(uint32_t *r, const uint32_t *a)
{{
  uint32_t b[4] = {{a[0], a[1], a[2], a[3]}};
  for (int i = 0; i < 4; i++) {{ uint32_t x = b[(i + 1) % 4]; r[i] = b[i] ^ (x << {turn} | x >> (32 - {turn})); }}
}}
"
            )
    };
    let Some(found) = status(&made, "O2", &text(7), "outer") else { return };
    assert_eq!(found, (Status::Equal, false));
    let Some((found, _)) = status(&made, "O2", &text(8), "outer") else { return };
    assert!(matches!(found, Status::Refuted(_)), "{found:?}");
}

#[test]
fn an_array_of_fixed_length_is_passed_for_one_of_run_time_length() {
    let made = made(PROGRAM);
    let call = "unit_total(UINT32_C(10), m)";
    assert_eq!(made.c.matches(call).count(), 1, "{}", made.c);
    let Some(found) = status(&made, "O1", &made.c, "of_ten") else { return };
    assert_eq!(found, (Status::Equal, true));
    for (what, wrong) in [("a byte too few", "unit_total(UINT32_C(9), m)"), ("beginning at the second", "unit_total(UINT32_C(9), m + 1)")] {
        let Some((found, _)) = status(&made, "O1", &made.c.replace(call, wrong), "of_ten") else { return };
        assert!(matches!(found, Status::Refuted(_)), "{what}: {found:?}");
    }
    let Some((found, _)) = status(&made, "O1", &made.c.replace(call, "unit_total(UINT32_C(11), m)"), "of_ten") else { return };
    assert!(!matches!(found, Status::Equal | Status::RestsOn { .. }), "a byte behind it: {found:?}");
}

#[test]
fn a_jump_in_place_of_a_call_returns_to_where_its_caller_does() {
    let made = made(PROGRAM);
    let text = |body: &str| {
        format!(
            "#include <stdint.h>
__attribute__((noinline)) void unit_step(uint32_t *r, const uint32_t *a)
{{
  uint32_t b[4] = {{a[0], a[1], a[2], a[3]}};
  for (int i = 0; i < 4; i++) {{ uint32_t x = b[(i + 1) % 4]; r[i] = b[i] ^ (x << 7 | x >> 25); }}
}}
__attribute__((naked)) void outer(uint32_t *r, const uint32_t *a) {{ __asm__(\"{body}\"); }}
"
        )
    };
    let Some(right) = object(Compiler::Gcc, "rv32imc", "O2", "unit.c", &text("tail unit_step")) else { return };
    let report = judged(&made, &right);
    assert!(report.holds(), "{:?}", report.open().map(|f| (&f.symbol, f.status.reason())).collect::<Vec<_>>());
    assert_eq!(of(&report, "outer").calls[0].function, "unit.step");
    let Some(wrong) = object(Compiler::Gcc, "rv32imc", "O2", "unit.c", &text("mv ra, a1\\n tail unit_step")) else { return };
    let report = judged(&made, &wrong);
    let Status::Broken { reason, .. } = &of(&report, "outer").status else { panic!("{:?}", of(&report, "outer").status) };
    assert!(reason.contains("does not return"), "{reason}");
}

/// What a callee declares of its parameters holds of every argument: what is handed on in fewer bits than it was got in is the same number. One that loses a bit
/// of that is not.
#[test]
fn arguments_lie_in_the_ranges_that_the_callee_declares() {
    let made = made(
        "@noinline\nfn wide(x: u32) -> [int in 0..2^40; 2]\n  ensures result[0] < 64\n  ensures result[1] < 64\n{\n  var t: [int in 0..2^40; 2] = [int(x) * 16, int(x) * 2]\n  \
         for i in 0..<2 { t[i] = t[i] & 63 }\n  t\n}\n\
         @noinline\nfn narrow(a: [int in 0..63; 2]) -> u32 { u32(a[0]) + u32(a[1]) }\n\
         @export(\"f\")\nfn f(x: u32) -> u32 { narrow(wide(x)) }\n",
    );
    let found = |c: &str| Some(judged(&made, &object(Compiler::Gcc, "rv32im", "O1", "unit.c", c)?));
    let Some(report) = found(&made.c) else { return };
    assert_eq!(of(&report, "f").status, Status::Equal);
    let kept = ["(uint8_t)t[0]", "(uint8_t)t[1]", "(uint8_t)t[k]"];
    let line = kept.iter().find(|k| made.c.contains(**k)).unwrap_or_else(|| panic!("no conversion:\n{}", made.c));
    let spoiled = made.c.replace(*line, &line.replace("(uint8_t)", "31 & (uint8_t)"));
    let report = found(&spoiled).expect("it is compiled");
    assert!(!of(&report, "f").status.holds(), "{:?}", of(&report, "unit_f").status);
    println!("tried: an argument in fewer bits, and one that loses a bit");
}
