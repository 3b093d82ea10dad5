//! Arrays of run-time length that loops write and calls give: every compiler's form of them is proved, wrong ones are refused.

use crate::loops::objects;
use crate::support::{made, of, Made};
use santoku_certify::report::Status;
use santoku_skips::seeds;

/// A stream cipher's two loops, a function that changes what it gave, and one that begins with the same element everywhere.
const PROGRAM: &str = "
@noinline
fn pad(k: [u32; 2], b: public int in 0..2^31) -> [u8; 4] {
  var r: [u8; 4]
  le32(r, 0) = (k[0] + u32(b)) * (k[1] ^ u32(b))
  r
}

@noinline
fn both(m: [u8; 4], s: [u8; 4]) -> [u8; 4] {
  [for i in 0..<4: m[i] ^ s[i]]
}

@noinline
fn one(x: u8, s: [u8; 4], k: public int in 0..3) -> u8 {
  x ^ s[k]
}

@export(\"masked\")
@noinline
fn masked<n: len>(m: [u8; n], k: [u32; 2]) -> [u8; n] {
  var out: [u8; n] = m
  for b in 0..<n / 4 {
    out[4 * b; 4] = both(out[4 * b; 4], pad(k, b))
  }
  let start = 4 * (n / 4)
  let s = pad(k, n / 4)
  for i in start..<n { out[i] = one(out[i], s, i - start) }
  out
}

@export(\"boxed\")
fn boxed<n: len in 8..2^31 - 1>(m: [u8; n], k: [u32; 2]) -> [u8; n] {
  var c: [u8; n] = masked(m, k)
  c[0; 4] = pad(k, 7)
  c[4] = c[5] ^ m[0]
  c
}

@export(\"counted\")
fn counted<n: len>(m: [u8; n], x: u8) -> [u8; n] {
  var r: [u8; n] = [0; n]
  for i in 0..<n { r[i] = one(r[i], [m[i]; 4], 2) }
  if n > 3 { r[2] = x }
  r
}

@export(\"cleared\")
fn cleared<n: len>() -> [u8; n] {
  [0; n]
}
";

/// The functions with an array, and what is wrong with them: a piece of C, and what stands there instead.
const TWINS: [(&str, &str, &str, &str); 17] = [
    ("masked", "one block too few", "b < (n >> 2)", "b + 1 < (n >> 2)"),
    ("masked", "the pad of another block", "unit_pad(t, k, b)", "unit_pad(t, k, b + 1)"),
    ("masked", "the block next to it", "memmove((&out[UINT32_C(4) * b]), tmp, 4)", "memmove((&out[UINT32_C(4) * (b ? b - 1 : b)]), tmp, 4)"),
    ("masked", "half of a block", "memmove((&out[UINT32_C(4) * b]), tmp, 4)", "memmove((&out[UINT32_C(4) * b]), tmp, 2)"),
    ("masked", "more than the rest", "for (i = start; i < n", "for (i = start ? start - 1 : 0; i < n"),
    ("masked", "the last byte left out", "for (i = start; i < n", "for (i = start; i + 1 < n"),
    ("masked", "another copy at the beginning", "memmove(out, m, n)", "memmove(out, m, n >> 1)"),
    ("masked", "no copy at the beginning", "memmove(out, m, n);", ""),
    ("masked", "read from the wrong array", "unit_one((uint32_t)out[i]", "unit_one((uint32_t)m[i]"),
    ("boxed", "a shorter array", "    masked(c, n, m, k)", "    masked(c, n - 1, m, k)"),
    ("boxed", "a write that the source has not", "    masked(c, n, m, k);", "    masked(c, n, m, k); c[6] ^= 1;"),
    ("boxed", "the byte next to it", "c[4] = ", "c[3] = "),
    ("counted", "another byte", "memset(r, 0, n)", "memset(r, 1, n)"),
    ("counted", "one element too few", "memset(r, 0, n)", "memset(r, 0, n - 1)"),
    ("counted", "a write on another condition", "n > UINT32_C(3)", "n > UINT32_C(4)"),
    ("cleared", "one element left as it was", "memset(result, 0, n);", "if (n > 1) memset(result, 0, n);"),
    ("cleared", "nothing but for one length", "memset(result, 0, n);", "if (n == 5) memset(result, 0, n);"),
];

const FUNCTIONS: [&str; 4] = ["masked", "boxed", "counted", "cleared"];

fn all_proved(made: &Made) -> usize {
    objects(made, &["O1", "O2", "O3", "Os"], &mut |name, report| {
        for symbol in FUNCTIONS {
            assert_eq!(of(report, symbol).status, Status::Equal, "{name}: {symbol}");
        }
        assert!(report.holds(), "{name}");
    })
}

#[test]
fn arrays_that_loops_and_calls_change_are_proved_by_every_compiler_and_level() {
    santoku_skips::checked(all_proved(&made(PROGRAM)), "objects with arrays of run-time length that are written");
}

/// Compilers ask first whether there is anything to fill.
#[test]
fn an_array_without_elements_may_stay_as_it_was() {
    let right = made(PROGRAM);
    let from = "memset(result, 0, n);";
    assert_eq!(right.c.matches(from).count(), 1, "{}", right.c);
    let asked = Made { c: right.c.replace(from, "if (n != 0) { memset(result, 0, n); }"), ..right };
    santoku_skips::checked(all_proved(&asked), "objects that fill no array without elements");
}

#[test]
fn wrong_writes_to_arrays_are_refused() {
    let right = made(PROGRAM);
    let mut count = 0;
    for (symbol, what, from, to) in seeds::some(TWINS, 4) {
        assert_eq!(right.c.matches(from).count(), 1, "{what}: {}", right.c);
        let wrong = Made { c: right.c.replace(from, to), ..made(PROGRAM) };
        count += objects(&wrong, &seeds::some(["O1", "O2", "Os"], 2), &mut |name, report| {
            let status = &of(report, symbol).status;
            assert!(*status != Status::Equal && !report.holds(), "{what}: {name}: {status:?}");
            println!("{what}: {name}: {}", status.reason().unwrap_or_default());
        });
    }
    santoku_skips::checked(count, "objects with wrong writes refused");
}
