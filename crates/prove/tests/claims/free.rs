//! Programs of which nothing is known: whatever an input breaks must be left open.
//!
//! Needs: a seed.  Keeps: an obligation counts as false only where a run in the interpreter broke it.  Absent: true twins;
//! here run-time lengths, and claims that travel with values.

use crate::judge::{self, Ask};
use santoku_ir::gen::{self, Rng};
use santoku_ir::interp::{FaultKind, Interp, Options as Checks};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Inputs per program.
const INPUTS: u64 = 60;
/// An array that the prover follows as one element, and inputs where there is one.
const LONG: &str = "66000";
const INPUTS_LONG: u64 = 8;

#[derive(Default)]
pub struct Free {
    pub programs: usize,
    pub refused: usize,
    /// Programs that no input broke, and how many of them were proved whole.
    pub whole: [usize; 2],
    pub broken: usize,
    pub found: Vec<String>,
}

pub fn attack(seeds: std::ops::Range<u64>, make: fn(&mut Rng) -> String, ask: Ask, t: &mut Free) {
    for seed in seeds {
        let text = make(&mut Rng::new(seed ^ 0xf4ee_0000));
        let Ok(p) = judge::compile(&text) else {
            t.refused += 1;
            continue;
        };
        t.programs += 1;
        let main = judge::entry(&p);
        let mut interp = Interp::with_options(&p, Checks::checked());
        let mut faults = Vec::new();
        let mut places = BTreeSet::new();
        for k in 0..if text.contains(LONG) { INPUTS_LONG } else { INPUTS } {
            let (lens, args) = gen::args(&p, main, seed * 1000 + k);
            let Err(f) = interp.call(main, &lens, args.clone()) else { continue };
            let allowed = !matches!(&f.kind, FaultKind::BadArgument { .. })
                && !(matches!(f.kind, FaultKind::Contract { kind: santoku_ir::ContractKind::Requires, .. }) && f.func == p.func(main).name);
            if allowed && places.insert((f.func.clone(), f.loc, f.kind.to_string().split(' ').next().map(String::from))) {
                faults.push((lens, args, f));
            }
        }
        let all = judge::obligations(&p, ask.of(seed));
        if faults.is_empty() {
            t.whole[0] += 1;
            t.whole[1] += usize::from(all.iter().all(|o| o.proved()));
        }
        for (lens, args, f) in faults {
            t.broken += 1;
            if let Some(engines) = judge::fooled(&p, &text, &f, &all) {
                t.found.push(format!("// seed {seed}: {engines:?} proved what {lens:?} {args:?} breaks: {f}\n{text}"));
            }
        }
    }
}

/// Loops and indices over arrays of run-time length, each a little off or not.
pub fn lengths(rng: &mut Rng) -> String {
    let mut out = String::from("fn main<n: len>(x: [u8; n], p: public int in 0..4) -> int in -9..9999\n");
    let _ = writeln!(out, "  requires n <= 40");
    if rng.one_in(2) {
        let _ = writeln!(out, "  requires n >= {}", rng.below(4));
    }
    let add = rng.below(3);
    let _ = writeln!(out, "{{\n  var t: int in 0..9999 = 0\n  var y: [u8; n + {add}] = [0; n + {add}]");
    for nr in 0..1 + rng.below(4) {
        let mut off = || [" - 2", " - 1", "", "", " + 1", " + 2"][rng.below(6) as usize];
        let (a, b, c) = (off(), off(), off());
        let (k, m) = (rng.below(4), 1 + rng.below(3));
        let rev = if rng.one_in(3) { "rev " } else { "" };
        let s = match rng.below(12) {
            0 => format!("for i in {rev}{k}..<n{b} {{\n    t = int(x[i{c}])\n  }}"),
            1 => format!("for i in {rev}{k}..<n {{\n    y[i{a}] = x[n - 1 - i{b}]\n  }}"),
            2 => format!("if n > {k} {{\n    t = int(x[{m}])\n  }}"),
            3 => format!("if p < n{b} {{\n    t = int(x[p{c}])\n  }}"),
            4 => format!("for i in {rev}0..<n / 2{a} {{\n    t = int(x[2 * i{c}])\n  }}"),
            5 => format!("for i in {rev}0..<n - {k} {{\n    let z{nr} = x[i{a}; {m}]\n  }}"),
            6 => format!("var c{nr}: int in 0..60 = 0\n  for i in {rev}{k}..<n{b} {{\n    c{nr} += 1\n  }}\n  assert c{nr} <= n{c}"),
            7 => format!("var c{nr}: int in 0..60 = 0\n  for i in {rev}0..<n {{\n    c{nr} += 1\n  }}\n  assert c{nr} == n{c}"),
            8 => format!("for i in {rev}0..<len(y){a} {{\n    y[i] = 1\n  }}"),
            9 => format!("var c{nr}: int in 0..60 = 0\n  for i in {rev}0..<n {{\n    if i < p {{\n      y[c{nr}] = x[i]\n      c{nr} += 1\n    }}\n  }}\n  assert c{nr} <= p{c}"),
            10 => format!("var c{nr}: int in -3..60 = n{a}\n  for i in {rev}0..<n / {m} {{\n    c{nr} -= 1\n  }}\n  if c{nr} >= {k} {{\n    t = int(y[c{nr}{b}])\n  }}"),
            _ => format!("for i in {rev}0..<n {{\n    for j in i..<n{b} {{\n      y[j{c}] = x[i]\n    }}\n  }}"),
        };
        let _ = writeln!(out, "  {s}");
    }
    out.push_str("  t\n}\n");
    out
}

/// Arrays that are written in part, short, long and of run-time length, and read.
pub fn written(rng: &mut Rng) -> String {
    let size = *rng.pick(&["4", "6", "7", "n"]);
    written_of(rng, size)
}

/// As [`written`], of an array that the prover follows as one element.
pub fn written_long(rng: &mut Rng) -> String {
    written_of(rng, LONG)
}

fn written_of(rng: &mut Rng, size: &str) -> String {
    let (head, most) = match size {
        "n" => ("<n: len>(x: [u8; n], ", "  requires n <= 12\n  requires n >= 2\n"),
        _ => ("(", ""),
    };
    let mut out = format!("fn main{head}p: public int in 0..3, c: public bool) -> int in 0..999\n{most}{{\n  var y: [u8; {size}]\n  var t: int in 0..999 = 0\n");
    for _ in 0..1 + rng.below(4) {
        let (k, m) = (rng.below(3), 1 + rng.below(2));
        let (a, b) = (["", "", " - 1"][rng.below(3) as usize], [" + 0", "", " + 1"][rng.below(3) as usize]);
        let rev = if rng.one_in(4) { "rev " } else { "" };
        let write = match rng.below(8) {
            0 => format!("for i in {rev}{k}..<{size}{a} {{\n    y[i] = 1\n  }}"),
            1 => format!("for i in {rev}0..<{size} / 2 {{\n    y[2 * i{b}] = 1\n  }}"),
            2 => format!("for i in {rev}0..<{size} / 2 {{\n    y[2 * i; {m}] = [1; {m}]\n  }}"),
            3 => format!("y[p{b}] = 2"),
            4 => format!("if c {{\n    y[{k}] = 3\n  }}"),
            5 => format!("y[{k}; {m}] = [1; {m}]"),
            6 => format!("for i in {rev}0..<p {{\n    y[i{b}] = 4\n  }}"),
            _ => format!("for i in {rev}0..<{size}{a} {{\n    if i >= p {{\n      y[i] = 5\n    }} else {{\n      y[{k}] = 6\n    }}\n  }}"),
        };
        let _ = writeln!(out, "  {write}");
    }
    let read = match rng.below(6) {
        0 => "t = int(y[p])".into(),
        1 => format!("t = int(y[{}])", rng.below(4)),
        2 => format!("for i in {}..<{size} {{\n    t = int(y[i])\n  }}", rng.below(2)),
        3 => "let w = y\n  t = int(w[1])".into(),
        4 => format!("let w = y[{}; 2]\n  t = int(w[0])", rng.below(3)),
        _ => "if c {\n    t = int(y[1])\n  }".into(),
    };
    let _ = writeln!(out, "  {read}\n  t\n}}");
    out
}

/// Records of which something is known by a clause, copied, changed, kept in arrays, tested; one of them is needed good.
pub fn claims(rng: &mut Rng) -> String {
    let (a, b) = (rng.below(5) as i64 - 2, rng.below(5) as i64 - 2);
    let mut out = format!("struct P {{ x: int in -3..3, y: int in -3..3 }}\nspec fn small(p: P) -> bool = p.x <= {a} && p.y >= {b}\n");
    let _ = writeln!(out, "fn good(a: public int in -2..2) -> P\n  ensures small(result)\n{{\n  P {{ x: (if a > {a} {{ {a} }} else {{ a }}), y: (if a < {b} {{ {b} }} else {{ a }}) }}\n}}");
    let _ = writeln!(out, "fn holds(p: public P) -> public bool\n  ensures result == small(p)\n{{\n  p.x <= {a} && p.y >= {b}\n}}");
    let one = rng.below(2);
    let clause = match rng.below(4) {
        0 => format!("p.x <= {a}"),
        1 => format!("p.y >= {}", b - one as i64),
        _ => "small(p)".to_string(),
    };
    let _ = writeln!(out, "fn need(p: P) -> int\n  requires {clause}\n{{\n  p.x\n}}");
    let c = if rng.one_in(3) { "" } else { "public " };
    let _ = writeln!(out, "fn main(a: public int in -2..2, b: public int in -2..2, c: {c}bool) -> int in -9..9\n{{");
    let _ = writeln!(out, "  var p: P = good(a)\n  var q: P = P {{ x: b, y: a }}\n  var r: [P; 3] = [p, q, good(b)]");
    let mut ops = String::new();
    for _ in 0..2 + rng.below(6) {
        let s = simple(rng);
        let s = match rng.below(7) {
            0 => format!("if c {{\n    {s}\n  }} else {{\n    {}\n  }}", simple(rng)),
            1 => format!("for i in 0..<{} {{\n    {s}\n  }}", 1 + rng.below(3)),
            2 => format!("for i in 0..<3 {{\n    {}\n  }}", ["r[i] = p", "q = r[i]", "r[i] = r[2 - i]", "r[i].x = b"][rng.below(4) as usize]),
            3 if !c.is_empty() => format!("if holds({}) {{\n    {s}\n  }}", ["p", "q", "r[1]"][rng.below(3) as usize]),
            4 => format!("for i in 0..<b {{\n    {s}\n  }}"),
            _ => s,
        };
        let _ = writeln!(ops, "  {s}");
    }
    out.push_str(&ops);
    let what = ["p", "q", "r[0]", "r[1]", "r[2]"][rng.below(5) as usize];
    if rng.one_in(4) && !c.is_empty() {
        let test = if rng.one_in(2) { what } else { "q" };
        let _ = writeln!(out, "  if holds({test}) {{\n    {}\n    let z = need({what})\n  }}\n  0\n}}", simple(rng));
    } else {
        let _ = writeln!(out, "  let z = need({what})\n  0\n}}");
    }
    out
}

fn simple(rng: &mut Rng) -> String {
    let all = [
        "p = q", "q = p", "q = good(b)", "p = good(a)", "r[0] = p", "r[1] = q", "p = r[1]", "q = r[0]", "r[1].x = b", "p.x = a", "q.y = p.y",
        "q.x = p.x", "r[2] = r[0]", "p = P { x: p.x, y: p.y }", "r = [q, p, good(a)]", "q = r[2]", "r[0; 2] = r[1; 2]", "p.x = p.x", "r[1; 2] = [p, q]",
    ];
    all[rng.below(all.len() as u64) as usize].to_string()
}
