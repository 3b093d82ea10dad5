//! Calls by hand-written code.

use crate::support::{judged, made, object, of, Compiler};
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
";

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
