//! Arrays of run-time length whose elements are structs: scalars of several sizes, gaps between them, arrays inside.

use crate::support::{judged, made, object, of, Compiler, Made};
use santoku_certify::report::Status;

/// Elements without gaps and with them, in front, between and behind; of one size alone; with an array inside.
const PROGRAM: &str = "
struct Mixed { a: u8, b: u8, c: u16 }
struct Gaps { a: u8, b: u32, c: u16 }
struct Deep { t: u16, v: [u32; 3], z: u8 }
struct Wide { a: u64, b: u8 }
struct Signed { a: int in -100..100, b: u8, c: int in -70000..5 }

@export(\"second\")
fn second<n: len>(m: [Mixed; n]) -> u32
  requires n >= 2
{ u32(m[1].a) + (u32(m[1].b) << 8) ^ u32(m[0].c) }

@export(\"all\")
fn all<n: len>(m: [Mixed; n]) -> u32 {
  var t: u32 = 0
  for i in 0..<n { t = 3 * t + (u32(m[i].a) ^ (u32(m[i].b) << 4)) + u32(m[i].c) }
  t
}

@export(\"gaps\")
fn gaps<n: len>(m: [Gaps; n]) -> u32 {
  var t: u32 = 0
  for i in 0..<n { t = 5 * t + (u32(m[i].a) ^ m[i].b) + (u32(m[i].c) << 3) }
  t
}

@export(\"deep\")
fn deep<n: len>(m: [Deep; n]) -> u32 {
  var t: u32 = 0
  for i in 0..<n { t = (t ^ m[i].v[0]) + 3 * m[i].v[1] + (m[i].v[2] ^ u32(m[i].t)) + u32(m[i].z) }
  t
}

@export(\"wide\")
fn wide<n: len>(m: [Wide; n]) -> u64 {
  var t: u64 = 0
  for i in 0..<n { t = (t ^ m[i].a) + u64(m[i].b) }
  t
}

@export(\"signs\")
fn signs<n: len>(m: [Signed; n]) -> u32 {
  var t: u32 = 0
  for i in 0..<n { t = 7 * t + u32(m[i].a) + (u32(m[i].b) ^ u32(m[i].c)) }
  t
}
";

const ALL: [&str; 6] = ["second", "all", "gaps", "deep", "wide", "signs"];

/// Another field of the same size, another element, another shift of what was read.
const TWINS: [(&str, &str, &str); 8] = [
    ("second", "m[1].a", "m[1].b"),
    ("second", "m[1].b", "m[0].b"),
    ("second", "m[0].c", "m[1].c"),
    ("all", "m[i].a", "m[i].b"),
    ("gaps", "m[i].b", "m[i].a"),
    ("deep", "m[i].v[1]", "m[i].v[2]"),
    ("wide", "m[i].b", "m[0].b"),
    ("signs", "m[i].c", "m[i].a"),
];

fn each(made: &Made, levels: &[&str], with: &mut dyn FnMut(&str, &str, &Status)) {
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        for march in ["rv32imc", "rv64imc"] {
            for level in levels {
                let Some(object) = object(compiler, march, level, "unit.c", &made.c) else { continue };
                let report = judged(made, &object);
                for symbol in ALL {
                    with(&format!("{compiler:?} {march} {level} {symbol}"), symbol, &of(&report, symbol).status);
                }
            }
        }
    }
}

#[test]
fn elements_of_any_layout_are_read_where_they_lie() {
    let made = made(PROGRAM);
    let mut count = 0;
    each(&made, &["O1", "O2", "Os"], &mut |name, _, status| {
        assert_eq!(*status, Status::Equal, "{name}");
        count += 1;
    });
    println!("{count} functions proved");
    assert!(count >= ALL.len());
}

#[test]
fn another_field_of_an_element_is_refused() {
    let right = made(PROGRAM);
    let mut count = 0;
    for (symbol, from, to) in TWINS {
        let at = right.c.rfind(&format!("{symbol}(")).expect("its definition");
        let (before, body) = right.c.split_at(at);
        assert!(body.contains(from), "{symbol}: {from}\n{body}");
        let wrong = Made { c: format!("{before}{}", body.replacen(from, to, 1)), ..made(PROGRAM) };
        each(&wrong, &["O2"], &mut |name, found, status| {
            if found == symbol {
                assert!(matches!(status, Status::Refuted(_) | Status::NotProved(_)), "{name}: {from} as {to}: {status:?}");
                count += 1;
            }
        });
    }
    println!("{count} wrong functions refused");
    assert!(count >= TWINS.len());
}
