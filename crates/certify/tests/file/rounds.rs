//! Long loops of a constant number of rounds with branches on public values, and rounds whose ways meet at the loop's head
//! alone: what is proved of them, and wrong twins of all.

use crate::support::{judged_with, made, object, of, Compiler, Made, Memory};
use santoku_certify::report::Status;
use santoku_certify::Options;

/// Signed digits, a ladder with calls under a condition, padding from two arrays, and a precondition on a length.
const PROGRAM: &str = "
@export(\"digits\")
fn digits(k: public [u8; 32]) -> public [int in -3..3; 200] {
  var d: public [int in -3..3; 200] = [0; 200]
  var carry: public int in 0..1 = 0
  var skip: public int in 0..2 = 0
  @rolled for i in 0..<200 {
    if skip > 0 {
      skip = skip - 1
    } else {
      let v = int((u32(k[i / 8]) >> (i % 8)) & 3) + carry
      if v % 2 == 1 {
        if v > 2 {
          d[i] = v - 4
          carry = 1
        } else {
          d[i] = v
          carry = 0
        }
        skip = 2
      }
    }
  }
  d
}

@noinline
fn mix(h: [u32; 4], x: u32) -> [u32; 4] {
  var r: [u32; 4]
  for i in 0..<4 { r[i] = h[i] + 5 * h[(i + 1) % 4] + x }
  r
}

@export(\"ladder\")
fn ladder(k: public [u8; 32], s: [u32; 4]) -> [u32; 4] {
  var r = s
  @rolled for i in rev 0..<200 {
    r = mix(r, 1)
    if k[i / 8] > 100 { r = mix(r, 7) }
  }
  r
}

@export(\"pad\")
fn pad<n: len>(head: [u8; 16], m: [u8; n]) -> [u8; 32] {
  let total = n + 16
  let start = 32 * (total / 32)
  var p: [u8; 32] = [0; 32]
  for i in 0..<32 {
    if start + i < total {
      if start + i < 16 {
        p[i] = head[start + i]
      } else {
        p[i] = m[start + i - 16]
      }
    }
  }
  p[total % 32] = 0x80
  p
}

@export(\"first\")
fn first<n: len>(m: [u8; n]) -> [u8; 20]
  requires n >= 20
{
  var p: [u8; 20]
  for i in 0..<20 { p[i] = m[i] }
  p
}
";

/// What is wrong with a function: a piece of C, and what stands there instead.
const TWINS: [(&str, &str, &str, &str); 5] = [
    ("ladder", "another bound", "> UINT32_C(100)", "> UINT32_C(101)"),
    ("ladder", "a round too few", "i = 200; i-- > 0", "i = 200; i-- > 1"),
    ("pad", "one byte of the head too many", "< UINT32_C(16)", "< UINT32_C(17)"),
    ("pad", "another end mark", "= UINT32_C(128)", "= UINT32_C(129)"),
    ("first", "one byte behind the array", "m[19]", "m[20]"),
];

/// The status of one function of an object; `None` where there is no such compiler.
fn status(made: &Made, (compiler, march, level): (Compiler, &str, &str), symbol: &str) -> Option<Status> {
    let bytes = object(compiler, march, level, "unit.c", &made.c)?;
    let options = Options { only: Some(symbol.into()), ..Options::default() };
    Some(of(&judged_with(made, &bytes, &options, &Memory::default()), symbol).status.clone())
}

#[test]
fn long_loops_and_rounds_that_meet_at_the_head_are_proved() {
    let made = made(PROGRAM);
    let mut count = 0;
    for (k, compiler) in [Compiler::Gcc, Compiler::Clang].into_iter().enumerate() {
        for march in santoku_skips::seeds::one(["rv32imc", "rv64imc"], k) {
            for symbol in ["digits", "ladder", "pad", "first"] {
                // gcc threads the rounds of `digits` into each other.
                if compiler == Compiler::Gcc && symbol == "digits" {
                    continue;
                }
                let Some(found) = status(&made, (compiler, march, "O2"), symbol) else { continue };
                assert_eq!(found, Status::Equal, "{compiler:?} {march} {symbol}");
                count += 1;
            }
        }
    }
    santoku_skips::checked(count, "functions proved");
}

#[test]
fn wrong_rounds_are_refused() {
    let right = made(PROGRAM);
    let mut count = 0;
    for (symbol, what, from, to) in TWINS {
        assert_eq!(right.c.matches(from).count(), 1, "{what}");
        let wrong = Made { c: right.c.replace(from, to), ..made(PROGRAM) };
        let Some(found) = status(&wrong, (Compiler::Clang, "rv32imc", "O2"), symbol) else { continue };
        assert!(!matches!(found, Status::Equal | Status::RestsOn { .. }), "{what}: {found:?}");
        println!("{what}: {}", found.reason().unwrap_or_default().chars().take(120).collect::<String>());
        count += 1;
    }
    santoku_skips::checked(count, "wrong functions refused");
}
