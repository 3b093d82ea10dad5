//! Programs in which a budget runs out in one case of a split and not in another: no input may be in no case.
//!
//! Needs: a seed.  Keeps: the exact range of the result is known from running every input; its false twin is off by one at
//! one end.  Absent: other limits than that of callees run in place; `carries` has them.

use crate::judge::{self, Ask};
use num_traits::ToPrimitive;
use santoku_ir::gen::Rng;
use santoku_ir::interp::{Interp, Int, Options as Checks, Value};
use santoku_ir::Program;
use std::fmt::Write;

/// Stands for the range of the result.
const RANGE: &str = "RANGE";

#[derive(Default)]
pub struct Cases {
    pub programs: usize,
    /// False ranges tried, each with another budget.
    pub tried: usize,
    /// True twins, and how many of them were proved.
    pub truths: [usize; 2],
    pub found: Vec<String>,
}

/// A parameter of `main`.
struct Var {
    name: &'static str,
    /// Its values have so many bits.
    bits: u32,
}

impl Var {
    /// A quotient or a remainder that has two to four values.
    fn part(&self, rng: &mut Rng) -> String {
        let (v, k) = (self.name, 1 + rng.below(u64::from(self.bits) - 1));
        let n = 1 << k;
        match rng.below(6) {
            0..3 => format!("{v} >> {k}"),
            3 => format!("{v} / {n}"),
            4 => format!("{v} & {}", n - 1),
            _ => format!("{v} % {n}"),
        }
    }
    fn last(&self) -> u64 {
        (1 << self.bits) - 1
    }
}

/// The callee called beside the quotients: a few statements that one case runs through and another does not. `most`: of its
/// arguments.
fn beside(rng: &mut Rng, most: u64, out: &mut String) {
    let last = if rng.one_in(6) { most } else { 9 };
    let _ = writeln!(out, "@noinline\nfn g(p: int in 0..{last}) -> int {{\n  var w: int = p");
    for _ in 0..rng.below(5) {
        let _ = writeln!(out, "  {}", rng.pick(&["w = p", "w = 3 * p - w", "w = p + 1", "w = w >> 1"]));
    }
    out.push_str("  w\n}\n");
}

/// The callee that uses the budget up: only for narrower arguments than it takes, which `var` may be in one case.
fn costly(rng: &mut Rng, var: &Var, out: &mut String) {
    let last = if rng.one_in(5) { 15 } else { var.last() };
    let step = format!("r = (r + p) & {last}");
    let (n, m) = (1 + rng.below(6), 1 + rng.below(3));
    let body = if rng.one_in(2) { format!("for i in 0..<{n} {{ {step} }}") } else { format!("for i in 0..<{n} {{ for j in 0..<{m} {{ {step} }} }}") };
    let _ = writeln!(out, "@noinline\nfn h(p: int in 0..{last}) -> int {{\n  var r: int in 0..{last} = p\n  {body}\n  r\n}}");
}

/// The text, with `RANGE` for the range of the result, and what it is of.
fn program(rng: &mut Rng) -> (String, Vec<Var>) {
    let three = rng.one_in(2);
    let mut vars: Vec<Var> = ["y", "z"].map(|name| Var { name, bits: if three { 2 } else { 2 + rng.below(2) as u32 } }).into();
    if three {
        vars.push(Var { name: "t[0]", bits: 2 });
    }
    let (one, two) = if rng.one_in(2) { (0, 1) } else { (1, 0) };
    let (v, s) = (&vars[one], &vars[two]);
    let third = vars.last().unwrap_or(s);
    let mut out = String::new();
    let (arg, most) = if rng.one_in(5) { (v.name, v.last()) } else { ("x", 1) };
    beside(rng, most, &mut out);
    costly(rng, v, &mut out);
    let public = if rng.one_in(4) { "public " } else { "" };
    let _ = write!(out, "fn main(x: {public}int in 0..1, y: {public}int in 0..{}, z: {public}int in 0..{}", vars[0].last(), vars[1].last());
    out.push_str(if three { ", t: [int in 0..3; 1]" } else { "" });
    out.push_str(") -> int in -999..999\n{\n  var a: int = 0\n  var b: int = 0\n  var c: int = 0\n  var acc: int = 0\n");

    let filler = |rng: &mut Rng| rng.pick(&["c = 1", "c = b", "c = x + 1", "b = 3"]).to_string();
    let mut first = vec![format!("acc = g({arg})"), format!("a = {}", v.part(rng))];
    if rng.one_in(4) {
        first.swap(0, 1);
    }
    if rng.one_in(3) {
        let more = if rng.one_in(2) { filler(rng) } else { format!("b = {}", third.part(rng)) };
        first.insert(rng.below(3) as usize, more);
    }
    let head = if rng.one_in(4) { "" } else { "@unroll " };
    let _ = writeln!(out, "  {head}for i in 0..<{} {{\n    {}\n  }}", 1 + rng.below(4) / 3, first.join("\n    "));
    for _ in 0..rng.below(4) {
        let _ = writeln!(out, "  {}", filler(rng));
    }
    let _ = writeln!(out, "  b = {}", s.part(rng));
    if rng.one_in(3) {
        let _ = writeln!(out, "  c = {}", third.part(rng));
    }
    let of = if rng.one_in(8) && s.bits <= v.bits { s.name } else { v.name };
    let _ = writeln!(out, "  for i in 0..<{} {{ acc = h({of}) }}", 1 + rng.below(4));
    let (v, s, u) = (v.name, s.name, third.name);
    let sum = match rng.below(8) {
        0 | 1 => format!("{v} - {s}"),
        2 => format!("{s} - {v}"),
        3 => format!("{v} - {s} - {u}"),
        4 => format!("{s} + {u} - {v}"),
        5 => format!("{v} - {s} - 2 * a"),
        6 => format!("2 * {s} - {v} - b"),
        _ => format!("{v} - 2 * a + {s} - 2 * b"),
    };
    let _ = writeln!(out, "  let r: int in {RANGE} = {sum}\n  r\n}}");
    (out, vars)
}

/// The arguments of every input.
fn inputs(vars: &[Var]) -> Vec<Vec<Value>> {
    let int = |n: u64| Value::Int(Int::from(n));
    let mut all: Vec<Vec<Value>> = (0..2).map(|x| vec![int(x)]).collect();
    for v in vars {
        let value = |n: u64| if v.name == "t[0]" { Value::array(vec![int(n)]) } else { int(n) };
        all = all.iter().flat_map(|a| (0..=v.last()).map(|n| [&a[..], &[value(n)]].concat())).collect();
    }
    all
}

/// The result of each input.
fn results(p: &Program, inputs: &[Vec<Value>]) -> Vec<i64> {
    let mut interp = Interp::with_options(p, Checks::checked());
    let mut one = |a: &Vec<Value>| match interp.call(judge::entry(p), &[], a.clone()).as_deref() {
        Ok([Value::Int(n)]) => n.to_big().to_i64().expect("a small result"),
        other => panic!("one result of {a:?}, not {other:?}"),
    };
    inputs.iter().map(&mut one).collect()
}

pub fn attack(seeds: std::ops::Range<u64>, t: &mut Cases) {
    for seed in seeds {
        let mut rng = Rng::new(seed.wrapping_mul(0x9e37_79b9) ^ 0xca5e);
        let (text, vars) = program(&mut rng);
        let of = |lo: i64, hi: i64| {
            let text = text.replace(RANGE, &format!("{lo}..{hi}"));
            let p = judge::compile(&text).unwrap_or_else(|e| panic!("seed {seed} is refused: {e}\n{text}"));
            (text, p)
        };
        let inputs = inputs(&vars);
        let results = results(&of(-999, 999).1, &inputs);
        let (lo, hi) = (*results.iter().min().expect("inputs"), *results.iter().max().expect("inputs"));
        if lo == hi {
            continue;
        }
        t.programs += 1;
        let low = rng.one_in(2);
        let (lie, p) = if low { of(lo + 1, hi) } else { of(lo, hi - 1) };
        let nr = results.iter().position(|r| *r == if low { lo } else { hi }).expect("an end");
        let fault = judge::fault(&p, inputs[nr].clone()).unwrap_or_else(|| panic!("seed {seed}: the lie holds\n{lie}"));
        let budgets = [20, 80, 300].map(|most| 1 + rng.below(most));
        for steps in budgets {
            t.tried += 1;
            if let Some(engines) = judge::fooled(&p, &lie, &fault, &judge::obligations(&p, Ask::InPlace(steps))) {
                t.found.push(format!("// seed {seed}, {steps} steps in place: {engines:?} proved what {:?} breaks: {fault}\n{lie}", inputs[nr]));
            }
        }
        if rng.one_in(4) {
            let (text, p) = of(lo, hi);
            t.truths[0] += 1;
            t.truths[1] += usize::from(judge::fooled(&p, &text, &fault, &judge::obligations(&p, Ask::InPlace(budgets[0]))).is_some());
        }
    }
}
