//! What is congruent to something, not negative and below the modulus is the remainder of that, also inside other remainders.

use santoku_prove::{prove, ProveOptions};

const TEXT: &str = "
const P = 2^130 - 5
type Limb = int in 0..2^26 - 1
spec fn value(x: [int; 5]) -> int = sum(i in 0..<5) x[i] * 2^(26*i)
spec fn number(s: [int; 4]) -> int = sum(i in 0..<4) s[i] * 2^(32*i)
spec fn bytes(x: [u8; 16]) -> int = sum(i in 0..<16) x[i] * 2^(8*i)

@noinline
fn canonical(h: [Limb; 5]) -> [Limb; 5]
  ensures value(result) ≡ value(h) mod P
  ensures value(result) < P
{
  var t: [Limb; 5]
  var c: int in 0..31 = 5
  for i in 0..<5 {
    let v = h[i] + c
    t[i] = v & (2^26 - 1)
    c = v >> 26
  }
  if c == 1 { t } else { h }
}

fn exact(h: [Limb; 5]) -> [Limb; 5]
  ensures value(result) == value(h) % P
{ canonical(h) }

@noinline
fn tight(h: [int in 0..2^27; 5]) -> [Limb; 5]
  ensures value(result) ≡ value(h) mod P
{
  var c: [int; 5] = h
  for r in 0..<2 {
    for i in 0..<4 {
      c[i + 1] += c[i] >> 26
      c[i] &= 0x3ffffff
    }
    c[0] += 5 * (c[4] >> 26)
    c[4] &= 0x3ffffff
  }
  c[1] += c[0] >> 26
  c[0] &= 0x3ffffff
  c
}

fn twice(h: [int in 0..2^27; 5]) -> [Limb; 5]
  ensures value(result) == value(h) % P
{ exact(tight(h)) }

fn finish(h: [Limb; 5], s: [int in 0..2^32 - 1; 4]) -> [u8; 16]
  ensures bytes(result) == (value(h) % P + number(s)) % 2^128
{
  let x = canonical(h)
  let w: [int in 0..2^40; 4] = [x[0] + ((x[1] & 63) << 26), (x[1] >> 6) + ((x[2] & 4095) << 20), (x[2] >> 12) + ((x[3] & 262143) << 14), (x[3] >> 18) + (x[4] << 8)]
  var out: [u8; 16]
  var c: int in 0..2^9 = 0
  for i in 0..<4 {
    let v = w[i] + s[i] + c
    for k in 0..<4 { out[4*i + k] = u8(u32(v) >> (8*k)) }
    c = v >> 32
  }
  out
}
";

/// Clauses left open, and how many the judge accepts of those closed.
fn open(text: String) -> (Vec<String>, (usize, usize)) {
    let mut read = |path: &str| (path == "main.stk").then(|| text.clone());
    let p = santoku_sema::compile("main.stk", &[], &mut read, &santoku_sema::Options::default()).unwrap_or_else(|f| panic!("{:?}", f.diagnostics)).program;
    let report = prove(&p, &ProveOptions::default());
    assert_eq!(report.faults().count(), 0, "{text}");
    (report.failed().map(|o| o.text.clone()).collect(), report.clauses())
}

#[test]
fn the_end_of_poly1305() {
    assert_eq!(open(TEXT.into()), (vec![], (6, 6)));
}

#[test]
fn what_is_as_close_and_wrong() {
    for (what, right, wrong) in [
        ("the modulus itself is allowed", "value(result) < P", "value(result) <= P"),
        ("less than twice the modulus", "value(result) < P", "value(result) < 2 * P"),
        ("another modulus", "mod P\n  ensures value(result) < P", "mod (P + 2)\n  ensures value(result) < P"),
        ("the remainder by another modulus", "% P\n{ canonical", "% (P + 2)\n{ canonical"),
        ("of what is congruent, by another modulus", "% P\n{ exact", "% (P + 2)\n{ exact"),
        ("of what is congruent, one more", "% P\n{ exact", "% P + 1\n{ exact"),
        ("a remainder that is one more", "% P\n{ canonical", "% P + 1\n{ canonical"),
        ("congruent by another modulus", "value(h) mod P\n{\n  var c", "value(h) mod (P + 2)\n{\n  var c"),
        ("one bit less", "% 2^128", "% 2^127"),
        ("one bit more", "% 2^128", "% 2^129"),
        ("a sum that is one more", "number(s)) %", "number(s) + 1) %"),
        ("nothing is reduced", "(value(h) % P + number(s))", "(value(h) + number(s))"),
        ("a carry is lost", "    c = v >> 32\n", "    c = 0\n"),
    ] {
        assert_eq!(TEXT.matches(right).count(), 1, "{what}: what it replaces");
        assert_ne!(open(TEXT.replace(right, wrong)).0, Vec::<String>::new(), "{what}");
    }
}
