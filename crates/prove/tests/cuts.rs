//! Long bodies in one piece: the prover cuts them where few values go on, and no wrong one gets through.

use santoku_prove::{prove, ProveOptions};

/// A block of Poly1305 in one function: 44-bit limbs, reduced, the residue itself, its low 16 bytes.
const STEP: &str = "const P = 2^130 - 5
spec fn value(x: [int; 3]) -> int = sum(i in 0..<3) x[i] * 2^(44*i)
fn step(h: [int in 0..2^45; 3], r: [int in 0..2^44 - 1; 3], m: [u8; 16]) -> [u8; 16]
  ensures sum(i in 0..<16) result[i] * 2^(8*i) == ((value(h) + (sum(i in 0..<16) m[i] * 2^(8*i)) + 2^128) * value(r)) % P % 2^128
{
  var lo: int in 0..2^64 - 1 = 0
  for i in 0..<8 { lo += int(m[i]) << (8*i) }
  var hi: int in 0..2^64 - 1 = 0
  for i in 0..<8 { hi += int(m[i + 8]) << (8*i) }
  let a0 = h[0] + (lo & (2^44 - 1))
  let a1 = h[1] + (lo >> 44) + ((hi & (2^24 - 1)) << 20)
  let a2 = h[2] + (hi >> 24) + 2^40
  let d0 = a0 * r[0] + 20 * (a1 * r[2] + a2 * r[1])
  let d1 = a0 * r[1] + a1 * r[0] + 20 * a2 * r[2] + (d0 >> 44)
  let d2 = a0 * r[2] + a1 * r[1] + a2 * r[0] + (d1 >> 44)
  let e0 = (d0 & (2^44 - 1)) + 5 * (d2 >> 42)
  let e1 = (d1 & (2^44 - 1)) + (e0 >> 44)
  let e2 = (d2 & (2^42 - 1)) + (e1 >> 44)
  let f0 = (e0 & (2^44 - 1)) + 5 * (e2 >> 42)
  let y0 = f0 & (2^44 - 1)
  let y1 = (e1 & (2^44 - 1)) + (f0 >> 44)
  let y2 = e2 & (2^42 - 1)
  let q = (y2 + ((y1 + ((y0 + 5) >> 44)) >> 44)) >> 42
  let z0 = y0 + 5 * q
  let z1 = y1 + (z0 >> 44)
  let z2 = y2 + (z1 >> 44)
  let v = (z0 & (2^44 - 1)) + ((z1 & (2^44 - 1)) << 44) + ((z2 & (2^40 - 1)) << 88)
  var out: [u8; 16]
  for i in 0..<16 { out[i] = u8(v >> (8*i)) }
  out
}
";

fn open(text: &str) -> usize {
    let mut read = |p: &str| (p == "main.stk").then(|| text.to_string());
    let done = santoku_sema::compile("main.stk", &[], &mut read, &santoku_sema::Options::default());
    let p = done.unwrap_or_else(|f| panic!("{:?}\n{text}", f.diagnostics)).program;
    let report = prove(&p, &ProveOptions::default());
    assert_eq!(report.faults().count(), 0, "{}", report.table());
    report.failed().count()
}

#[test]
fn a_body_of_many_steps_is_proved_in_one_piece() {
    assert_eq!(open(STEP), 0);
}

/// One constant or operand changed, before the cut, at it and behind it.
#[test]
fn no_wrong_body_is_proved() {
    let wrong = [
        ("h[0] + (lo", "h[1] + (lo"),
        ("(lo >> 44) +", "(lo >> 43) +"),
        ("(hi >> 24) + 2^40", "(hi >> 24) + 2^39"),
        ("20 * (a1 * r[2]", "19 * (a1 * r[2]"),
        ("20 * a2 * r[2]", "20 * a2 * r[1]"),
        ("+ (d0 >> 44)", "+ (d0 >> 45)"),
        ("+ 5 * (d2 >> 42)", "+ 4 * (d2 >> 42)"),
        ("let e2 = (d2 & (2^42 - 1)) + (e1 >> 44)", "let e2 = (d2 & (2^42 - 1))"),
        ("let y1 = (e1 & (2^44 - 1)) + (f0 >> 44)", "let y1 = e1 & (2^44 - 1)"),
        ("y2 = e2 & (2^42 - 1)", "y2 = e2 & (2^41 - 1)"),
        ("(y0 + 5)", "(y0 + 4)"),
        ("let z0 = y0 + 5 * q", "let z0 = y0 + 6 * q"),
        ("let z0 = y0 + 5 * q", "let z0 = y0"),
        ("let z1 = y1 + (z0 >> 44)", "let z1 = y1"),
        ("<< 88", "<< 87"),
        ("u8(v >> (8*i))", "u8(v >> (8*(15 - i)))"),
        ("% P % 2^128", "% P % 2^127"),
        ("% P % 2^128", "% (P - 2) % 2^128"),
        (" + 2^128) * value(r)", ") * value(r)"),
    ];
    for (from, to) in wrong {
        assert!(STEP.contains(from), "{from}");
        assert!(open(&STEP.replacen(from, to, 1)) > 0, "`{from}` is `{to}`");
    }
    println!("tried: {} wrong bodies, all refused", wrong.len());
}
