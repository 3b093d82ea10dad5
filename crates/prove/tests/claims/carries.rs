//! Programs whose obligations need a split on a carry, with calls and loops around it that some budget ends in.
//!
//! Needs: a seed.  Keeps: values of two bits, so that sixty inputs break what is false.  Absent: what is true of them.

use santoku_ir::gen::Rng;
use std::fmt::Write;

/// A callee whose result nothing is declared of: what it is run for depends on budgets.
fn callee(rng: &mut Rng, name: &str, out: &mut String) {
    let _ = writeln!(out, "@noinline\nfn {name}(p: int in 0..9) -> int {{\n  var w: int = p");
    for _ in 0..rng.below(5) {
        let s = ["w = p", "w = 3 * p - w", "w = w >> 1", "w = (w >> 1) + (w & 1)", "w = p & 3"][rng.below(5) as usize];
        let _ = writeln!(out, "  {s}");
    }
    if rng.one_in(3) {
        let _ = writeln!(out, "  var r: int in 0..9 = p\n  for i in 0..<{} {{ r = (r + p) & 7 }}\n  w = r", 1 + rng.below(6));
    }
    out.push_str("  w\n}\n");
}

fn simple(rng: &mut Rng) -> String {
    let from = ["y", "z", "t[0]", "t[1]"][rng.below(4) as usize];
    let to = ["a", "b"][rng.below(2) as usize];
    match rng.below(9) {
        0 | 1 => format!("{to} = {from} >> 1"),
        2 => format!("{to} = {from} & 1"),
        3 => format!("{to} = ({from} + 1) / 2"),
        4 | 5 => format!("acc = {}({})", ["g", "h"][rng.below(2) as usize], ["x", "y", "z", "t[0]"][rng.below(4) as usize]),
        6 => format!("{} = {}", ["y", "z"][rng.below(2) as usize], ["y", "z", "t[0]", "t[1]"][rng.below(4) as usize]),
        7 => format!("s = s + {to}"),
        _ => format!("s = (if {from} >= 2 {{ {from} >> 1 }} else {{ {to} }})"),
    }
}

fn statement(rng: &mut Rng, depth: u32) -> String {
    let mut body = || (0..1 + rng.below(3)).map(|_| if depth > 0 { statement(rng, depth - 1) } else { simple(rng) }).collect::<Vec<_>>().join("\n");
    let inner = body();
    let trips = 1 + rng.below(5);
    match rng.below(6) {
        0 if depth > 0 => format!("@unroll for i in 0..<{trips} {{\n{inner}\n}}"),
        1 | 2 if depth > 0 => format!("for i in 0..<{trips} {{\n{inner}\n}}"),
        3 if depth > 0 => format!("if {} {{\n{inner}\n}}", ["x > 1", "c"][rng.below(2) as usize]),
        _ => simple(rng),
    }
}

pub fn program(rng: &mut Rng) -> String {
    let mut out = String::new();
    callee(rng, "g", &mut out);
    callee(rng, "h", &mut out);
    let _ = writeln!(out, "fn main(x: public int in 0..3, c: public bool, y0: public int in 0..3, z0: public int in 0..3, t: public [int in 0..3; 2]) -> int in -99..99\n{{");
    out.push_str("  var y: int in 0..3 = y0\n  var z: int in 0..3 = z0\n  var a: int in 0..9 = 0\n  var b: int in 0..9 = 0\n  var acc: int = 0\n  var s: int = 0\n");
    for _ in 0..2 + rng.below(5) {
        let _ = writeln!(out, "{}", statement(rng, 2));
    }
    let sum = ["y - z", "y - z - t[0]", "y - z - t[0] - t[1]", "y - 2 * a", "y - 2 * a - z + 2 * b", "z - 2 * b + y", "a + b", "s", "s - a"][rng.below(9) as usize];
    let _ = writeln!(out, "  let r: int in -{}..{} = {sum}", rng.below(10), rng.below(4));
    out.push_str("  r\n}\n");
    out
}
