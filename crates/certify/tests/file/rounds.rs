//! Long loops of a constant number of rounds with branches on public values, and rounds whose ways meet at the loop's head
//! alone: what is proved of them, and wrong twins of all.

use crate::support::{judged, made, object, of, Compiler, Made};
use santoku_certify::report::Status;
use std::collections::BTreeMap;

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
const TWINS: [(&str, &str, &str, &str); 8] = [
    ("digits", "a digit off by one", "- INT32_C(4)", "- INT32_C(3)"),
    ("digits", "the carry forgotten", "carry = UINT32_C(1)", "carry = UINT32_C(0)"),
    ("digits", "too many skipped", "skip = UINT32_C(2)", "skip = UINT32_C(1)"),
    ("ladder", "another bound", "> 100", "> 101"),
    ("ladder", "a round too few", "i = 200; i-- > 0", "i = 200; i-- > 1"),
    ("pad", "one byte of the head too many", "< UINT32_C(16)", "< UINT32_C(17)"),
    ("pad", "another end mark", "= UINT8_C(128)", "= UINT8_C(129)"),
    ("first", "one byte behind the array", "m[19]", "m[20]"),
];

fn each(made: &Made, levels: &[&str], f: &mut dyn FnMut(Compiler, &str, &Made, &[u8])) -> usize {
    let mut objects = 0;
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        for march in ["rv32imc", "rv64imc"] {
            for level in levels {
                if let Some(bytes) = object(compiler, march, level, "unit.c", &made.c) {
                    f(compiler, &format!("{compiler:?} {march} {level}"), made, &bytes);
                    objects += 1;
                }
            }
        }
    }
    objects
}

#[test]
fn the_c() {
    println!("{}", made(PROGRAM).c);
}

#[test]
fn long_loops_and_woven_rounds_are_proved() {
    let mut equal: BTreeMap<&str, usize> = BTreeMap::new();
    let count = each(&made(PROGRAM), &["O1", "O2", "O3", "Os"], &mut |compiler, name, made, bytes| {
        let report = judged(made, bytes);
        for symbol in ["digits", "ladder", "pad", "first"] {
            let status = &of(&report, symbol).status;
            println!("{name} {symbol}: {}", status.reason().unwrap_or_else(|| "equal".into()).chars().take(200).collect::<String>());
            *equal.entry(symbol).or_default() += usize::from(*status == Status::Equal);
            let _ = compiler;
        }
    });
    println!("{count} objects: {equal:?}");
}
