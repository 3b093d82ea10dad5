//! Small programs with arrays of run-time length, structs that are written and handed on, helpers and invariants: one bound in each is as
//! tight as all inputs allow, and in its false twin tighter by one.
//!
//! Needs: a seed.  Keeps: every input is run, lengths 0 to 3 among them; the bound is found by running.  Absent: indices; `grow` has
//! them.

use crate::judge::{self, Ask};
use santoku_ir::gen::Rng;
use santoku_ir::interp::{Fault, Int, Interp, Options as Checks, Value};
use santoku_ir::Program;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What the bound is of.
pub const KINDS: [&str; 8] = ["local", "field", "helper result", "helper ensures", "invariant", "ensures", "argument", "requires"];

/// Stand for the bounds, which are looked for in this range.
const LOW: &str = "LOW";
const HIGH: &str = "HIGH";
const WIDE: i64 = 200;

#[derive(Default)]
pub struct Tiny {
    /// Per kind: lies tried, truths tried, truths proved.
    pub by_kind: BTreeMap<&'static str, [usize; 3]>,
    pub programs: usize,
    pub found: Vec<String>,
}

/// An integer in -60..60.
fn small(rng: &mut Rng, a: &str, b: &str, k: &str) -> String {
    match rng.below(7) {
        0 => format!("({a} + {k}) >> 1"),
        1 => format!("(3 * {a} - {k}) & 7"),
        2 => format!("(if {b} > 1 {{ {k} }} else {{ {a} }})"),
        3 => format!("int({b} & 3) - {k}"),
        4 => format!("(({a} + {k}) & 15) - 4"),
        5 => format!("({a} >> 1) - 2"),
        _ => format!("(if {a} > {k} {{ {a} - {k} }} else {{ {k} }}) & 7"),
    }
}

struct Made {
    text: String,
    kind: &'static str,
    up: bool,
}

fn program(rng: &mut Rng) -> Made {
    let kind = KINDS[rng.below(KINDS.len() as u64) as usize];
    let up = rng.one_in(2);
    let range = format!("int in {LOW}..{HIGH}");
    let of = |k: &str, wide: &str| if kind == k { range.clone() } else { wide.to_string() };
    let bound = |x: &str| if up { format!("{x} <= {HIGH}") } else { format!("{x} >= {LOW}") };
    let clause = |k: &str, word: &str, x: &str| if kind == k { format!("  {word} {}\n", bound(x)) } else { String::new() };
    let mut out = format!("struct P {{ a: {}, b: u{} }}\n", of("field", "int in -60..60"), 2 + rng.below(127));
    let wrap = ["w.b = v.b + 1", "w.b = ~v.b", "w.b = v.b >> 1", "w.b = w.b ^ 2"][rng.below(4) as usize];
    let _ = writeln!(out, "fn step(v: P, k: int in -9..9) -> P {{\n  var w: P = v\n  {wrap}\n  w.a = {}\n  w\n}}", small(rng, "v.a", "w.b", "k"));
    let _ = writeln!(out, "fn give(v: P, k: int in -9..9) -> {}\n{}{{\n  {}\n}}", of("helper result", "int in -200..200"), clause("helper ensures", "ensures", "result"), small(rng, "v.a", "v.b", "k"));
    let _ = writeln!(out, "fn need(k: {}) -> int in -200..200\n{}{{\n  k\n}}", of("argument", "int in -200..200"), clause("requires", "requires", "k"));
    let _ = writeln!(out, "fn main<n: len>(x: [u1; n], p: public int in 0..3, c: bool) -> int in -200..200\n  requires n <= 3\n{}{{", clause("ensures", "ensures", "result"));
    out.push_str("  var s: P = P { a: p - 1, b: 1 }\n  var acc: int in -200..200 = p\n");
    let rev = if rng.one_in(3) { "rev " } else { "" };
    let _ = write!(out, "  for i in {rev}{}..<n", ["0", "0", "1", "p"][rng.below(4) as usize]);
    out.push_str(&if kind == "invariant" { format!("\n    invariant {}\n  {{\n", bound(["acc", "s.a"][rng.below(2) as usize])) } else { " {\n".into() });
    for _ in 0..1 + rng.below(3) {
        let line = match rng.below(6) {
            0 => "acc = acc + int(x[i])".to_string(),
            1 => "s = step(s, int(x[i]) - p)".into(),
            2 => format!("s.a = {}", small(rng, "s.a", "s.b", "int(x[n - 1 - i])")),
            3 => "if c {\n      s.b = s.b + 1\n    }".into(),
            4 => format!("acc = {}", small(rng, "s.a", "s.b", "p")),
            _ => "let t = x[i; 1]\n    acc = (acc & 7) + int(t[0])".into(),
        };
        let _ = writeln!(out, "    {line}");
    }
    out.push_str("  }\n");
    let value = match rng.below(4) {
        0 => "acc - s.a".to_string(),
        1 => "acc".into(),
        _ => small(rng, "s.a", "s.b", "p"),
    };
    let last = match kind {
        "local" => format!("let z: {range} = {value}"),
        "argument" | "requires" => format!("let z = need({value})"),
        "helper result" | "helper ensures" => "acc = give(s, p - 2)".into(),
        _ => format!("acc = {value}"),
    };
    let _ = writeln!(out, "  {last}\n  acc\n}}");
    Made { text: out, kind, up }
}

/// Lengths and arguments of every input.
fn inputs() -> Vec<(Vec<u64>, Vec<Value>)> {
    let mut all = Vec::new();
    for n in 0..4u64 {
        for bits in 0..1u128 << n {
            let x = Value::array((0..n).map(|i| Value::Word(bits >> i & 1)).collect());
            for p in 0..4u64 {
                all.extend([false, true].map(|c| (vec![n], vec![x.clone(), Value::Int(Int::from(p)), Value::Bool(c)])));
            }
        }
    }
    all
}

type Input = (Vec<u64>, Vec<Value>);

/// The first input that something breaks on.
fn broken(p: &Program, inputs: &[Input]) -> Option<(usize, Box<Fault>)> {
    let mut interp = Interp::with_options(p, Checks::checked());
    inputs.iter().enumerate().find_map(|(nr, (lens, args))| interp.call(judge::entry(p), lens, args.clone()).err().map(|f| (nr, f)))
}

impl Made {
    fn with(&self, lo: i64, hi: i64) -> (String, Program) {
        let text = self.text.replace(LOW, &lo.to_string()).replace(HIGH, &hi.to_string());
        let p = judge::compile(&text).unwrap_or_else(|e| panic!("refused: {e}\n{text}"));
        (text, p)
    }
    /// The last of the bounds that all inputs meet, from a wide one towards one that some do not: every input is run for each.
    fn tightest(&self, of: impl Fn(i64) -> (i64, i64), inputs: &[Input]) -> i64 {
        let (mut good, mut bad) = (0, 2 * WIDE);
        while bad - good > 1 {
            let by = (good + bad) / 2;
            let (lo, hi) = of(by);
            if lo <= hi && broken(&self.with(lo, hi).1, inputs).is_none() { good = by } else { bad = by }
        }
        good
    }
}

pub fn attack(seeds: std::ops::Range<u64>, ask: Ask, t: &mut Tiny) {
    let inputs = inputs();
    for seed in seeds {
        let mut rng = Rng::new(seed.wrapping_mul(0x9e37_79b9) ^ 0x7147);
        let made = program(&mut rng);
        if broken(&made.with(-WIDE, WIDE).1, &inputs).is_some() {
            continue;
        }
        let high = WIDE - made.tightest(|by| (-WIDE, WIDE - by), &inputs);
        let low = made.tightest(|by| (by - WIDE, high), &inputs) - WIDE;
        let (lie, p) = if made.up { made.with(low.min(high - 1), high - 1) } else { made.with(low + 1, high.max(low + 1)) };
        let Some((nr, fault)) = broken(&p, &inputs) else { continue };
        t.programs += 1;
        let count = t.by_kind.entry(made.kind).or_default();
        count[0] += 1;
        if let Some(engines) = judge::fooled(&p, &lie, &fault, &judge::obligations(&p, ask)) {
            t.found.push(format!("// seed {seed}, {}: {engines:?} proved what {:?} breaks: {fault}\n{lie}", made.kind, inputs[nr]));
        }
        if rng.one_in(6) {
            let (text, p) = made.with(low, high);
            count[1] += 1;
            count[2] += usize::from(judge::fooled(&p, &text, &fault, &judge::obligations(&p, ask)).is_some());
        }
    }
}
