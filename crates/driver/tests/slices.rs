//! Slices of run-time length: random programs of functions that are given slices of slices. What is proved computes what Rust
//! computes on slices, in the interpreter and in C under sanitizers; what would leave a slice is refused.

use santoku_driver::{build, check, open_obligations, prove, prover_fault, BuildOptions, Checked, Request};
use santoku_ir::interp::{Interp, Options, Value};
use santoku_passes::Level;
use santoku_skips::{checked, installed, seeds};
use santoku_num::SplitMix64 as Rng;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Command;

/// What a function does with its array `x` of `m` bytes, in order. A function calls those before it.
#[derive(Clone, Debug)]
enum Step {
    /// Folds all bytes in.
    All,
    /// The length.
    Length,
    /// One byte, where there is one; `short`: the test forgets one byte.
    Byte { at: u64, short: bool },
    /// All words of four bytes.
    Words,
    /// All blocks of eight bytes.
    Blocks,
    /// A function, of what is between; `slack` is what the test asks for beyond what it needs.
    Inner { first: u64, last: u64, of: usize, slack: i64 },
    /// A function and a byte of what is behind, under a name.
    Named { first: u64, at: u64, of: usize, short: bool },
    /// A function, of both halves.
    Halves { of: usize },
    /// A function, of `len` bytes from `first`.
    Fixed { first: u64, len: u64, of: usize },
    /// A function, of as many bytes as there are, but no more than `most`; `short`: of at least so many.
    Most { most: u64, of: usize, short: bool },
    /// A function, of what is left behind blocks of eight bytes, the last of them being left too; `short`: it is not.
    Last { of: usize, short: bool },
}

fn step(rng: &mut Rng, before: usize, wrong: bool) -> Step {
    let of = if before == 0 { 0 } else { rng.below(before as u64) as usize };
    let (first, last) = (rng.below(5), rng.below(4));
    let short = wrong && rng.below(2) == 0;
    match rng.below(if before == 0 { 5 } else { 11 }) {
        0 => Step::All,
        1 => Step::Length,
        2 => Step::Byte { at: first, short },
        3 => Step::Words,
        4 => Step::Blocks,
        5 => Step::Inner { first, last, of, slack: if short { -1 } else { rng.below(2) as i64 } },
        6 => Step::Named { first, at: last, of, short },
        7 => Step::Halves { of },
        8 => Step::Most { most: first + 2, of, short },
        9 => Step::Last { of, short },
        _ => Step::Fixed { first, len: last, of },
    }
}

impl Step {
    fn text(&self, nr: usize, out: &mut String) {
        let _ = match self {
            Step::All => writeln!(out, "  for i in 0..<m {{ s = 31 * s + u64(x[i]) }}"),
            Step::Length => writeln!(out, "  s = 3 * s + u64(len(x))"),
            Step::Byte { at, short } => writeln!(out, "  if m > {} {{ s = 7 * s + u64(x[{at}]) }}", if *short { format!("{at} - 1") } else { at.to_string() }),
            Step::Words => writeln!(out, "  for i in 0..<m / 4 {{ s = 5 * s + u64(le32(x, 4 * i)) }}"),
            Step::Blocks => writeln!(out, "  for i in 0..<m / 8 {{\n    let b: [u8; 8] = x[8 * i; 8]\n    s = (s <<< 9) ^ le64(b, 0)\n  }}"),
            Step::Inner { first, last, of, slack } => {
                writeln!(out, "  if m >= {} {{ s = 11 * s + g{of}(x[{first}; m - {}]) }}", (first + last) as i64 + slack, first + last)
            }
            Step::Named { first, at, of, short } => writeln!(
                out,
                "  if m > {} {{\n    let v{nr} = x[{first}; m - {first}]\n    s = 13 * s + u64(v{nr}[{at}]) + g{of}(v{nr})\n  }}",
                if *short { format!("{} - 1", first + at) } else { (first + at).to_string() }
            ),
            Step::Halves { of } => writeln!(out, "  let k{nr} = m / 2\n  s = 17 * s + g{of}(x[0; k{nr}]) + (g{of}(x[k{nr}; m - k{nr}]) <<< 3)"),
            Step::Most { most, of, short } => {
                let (a, b) = if *short { (format!("{most}"), "m".to_string()) } else { ("m".to_string(), format!("{most}")) };
                writeln!(out, "  let k{nr} = if m < {most} {{ {a} }} else {{ {b} }}\n  s = 23 * s + g{of}(x[m - k{nr}; k{nr}])")
            }
            Step::Last { of, short } => {
                let blocks = if *short { "m / 8 + 1" } else { "(m - 1) / 8" };
                writeln!(out, "  let q{nr} = if m == 0 {{ 0 }} else {{ {blocks} }}\n  s = 29 * s + u64(q{nr}) + g{of}(x[8 * q{nr}; m - 8 * q{nr}])")
            }
            Step::Fixed { first, len, of } => writeln!(out, "  if m >= {} {{ s = 19 * s + g{of}(x[{first}; {len}]) }}", first + len),
        };
    }

    /// `None`: it leaves the slice.
    fn run(&self, x: &[u8], s: u64, all: &[Vec<Step>]) -> Option<u64> {
        let m = x.len() as i64;
        let times = |f: u64, v: u64| Some(s.wrapping_mul(f).wrapping_add(v));
        match self {
            Step::All => Some(x.iter().fold(s, |s, b| s.wrapping_mul(31).wrapping_add((*b).into()))),
            Step::Length => times(3, x.len() as u64),
            Step::Byte { at, short } => if m > *at as i64 - i64::from(*short) { times(7, (*x.get(*at as usize)?).into()) } else { Some(s) },
            Step::Words => Some(x.chunks_exact(4).fold(s, |s, w| s.wrapping_mul(5).wrapping_add(u32::from_le_bytes(w.try_into().unwrap_or_default()).into()))),
            Step::Blocks => Some(x.chunks_exact(8).fold(s, |s, w| s.rotate_left(9) ^ u64::from_le_bytes(w.try_into().unwrap_or_default()))),
            Step::Inner { first, last, of, slack } => {
                if m < (first + last) as i64 + slack {
                    return Some(s);
                }
                let len = x.len().checked_sub((first + last) as usize)?;
                times(11, value(all, *of, x.get(*first as usize..*first as usize + len)?)?)
            }
            Step::Named { first, at, of, short } => {
                if m <= (first + at) as i64 - i64::from(*short) {
                    return Some(s);
                }
                let v = x.get(*first as usize..)?;
                times(13, u64::from(*v.get(*at as usize)?).wrapping_add(value(all, *of, v)?))
            }
            Step::Halves { of } => {
                let (a, b) = x.split_at(x.len() / 2);
                times(17, value(all, *of, a)?.wrapping_add(value(all, *of, b)?.rotate_left(3)))
            }
            Step::Most { most, of, short } => {
                let k = if *short { (*most).max(x.len() as u64) } else { (*most).min(x.len() as u64) };
                times(23, value(all, *of, x.get(x.len().checked_sub(k as usize)?..)?)?)
            }
            Step::Last { of, short } => {
                let q = if x.is_empty() { 0 } else if *short { x.len() / 8 + 1 } else { (x.len() - 1) / 8 };
                times(29, (q as u64).wrapping_add(value(all, *of, x.get(8 * q..)?)?))
            }
            Step::Fixed { first, len, of } => {
                if m < (first + len) as i64 {
                    return Some(s);
                }
                times(19, value(all, *of, x.get(*first as usize..(first + len) as usize)?)?)
            }
        }
    }
}

fn value(all: &[Vec<Step>], of: usize, x: &[u8]) -> Option<u64> {
    all[of].iter().try_fold(1, |s, step| step.run(x, s, all))
}

struct Made {
    text: String,
    functions: Vec<Vec<Step>>,
    wrong: bool,
}

const MOST: usize = 40;

/// A program; `top` is given an array of up to [`MOST`] bytes.
fn made(seed: u64) -> Made {
    let mut rng = Rng::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x51ce);
    let wrong = rng.below(3) == 0;
    let mut functions: Vec<Vec<Step>> = vec![];
    let mut text = String::new();
    for nr in 0..2 + rng.below(3) as usize {
        let steps: Vec<Step> = (0..1 + rng.below(3)).map(|_| step(&mut rng, nr, wrong)).collect();
        let attribute = ["", "@inline\n", "@noinline\n"][rng.below(3) as usize];
        let _ = write!(text, "{attribute}fn g{nr}<m: len>(x: [u8; m]) -> u64 {{\n  var s: u64 = 1\n");
        steps.iter().enumerate().for_each(|(i, s)| s.text(i, &mut text));
        text.push_str("  s\n}\n");
        functions.push(steps);
    }
    let last = functions.len() - 1;
    functions.push(vec![Step::Inner { first: 2, last: 1, of: last, slack: 0 }, Step::Halves { of: last }]);
    let _ = write!(text, "@export(\"top\")\nfn top<m: len in 0..{MOST}>(x: [u8; m]) -> u64 {{\n  var s: u64 = 1\n");
    functions[last + 1].iter().enumerate().for_each(|(i, s)| s.text(i, &mut text));
    text.push_str("  s\n}\n");
    Made { text, functions, wrong }
}

fn bytes(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i * i * 37 + 11 * i + 5) as u8).collect()
}

/// What Rust computes for each length; `None` for those for which a slice is left.
fn expected(m: &Made) -> Vec<Option<u64>> {
    (0..=MOST).map(|n| value(&m.functions, m.functions.len() - 1, &bytes(n))).collect()
}

/// Whether some function leaves a slice that it may be given.
fn leaves(m: &Made) -> bool {
    (0..m.functions.len()).any(|f| (0..=MOST).any(|n| value(&m.functions, f, &bytes(n)).is_none()))
}

fn compiled(text: &str) -> Checked {
    let target = santoku_driver::built_in("portable").ok().flatten().expect("a built-in target");
    let mut load = |path: &str| Ok((path == "main.stk").then(|| text.to_string()));
    check(&Request::new("main.stk", target), &mut load).unwrap_or_else(|f| panic!("{f:?}\n{text}"))
}

fn proved(c: &Checked, text: &str) -> bool {
    let report = prove(c, &santoku_prove::cache::NoStore, 1);
    assert!(prover_fault(c, &report).is_none(), "{text}");
    open_obligations(c, &report).is_empty()
}

#[test]
fn what_is_proved_stays_inside_and_what_leaves_is_refused() {
    let (mut right, mut wrong, mut refused) = (0, 0, 0);
    for seed in seeds::first()..seeds::first() + seeds::count(200) {
        let m = made(seed);
        let c = compiled(&m.text);
        if leaves(&m) {
            assert!(m.wrong, "{}", m.text);
            assert!(!proved(&c, &m.text), "seed {seed}: accepted, though a slice is left:\n{}", m.text);
            wrong += 1;
            continue;
        }
        if !proved(&c, &m.text) {
            assert!(m.wrong, "seed {seed}: not proved:\n{}", m.text);
            refused += 1;
            continue;
        }
        let top = c.program.find("main.top").expect("top");
        let mut interp = Interp::with_options(&c.program, Options::checked());
        for (n, want) in expected(&m).into_iter().enumerate() {
            let x = Value::Array(bytes(n).into_iter().map(|b| Value::Word(b.into())).collect::<Vec<_>>().into());
            let got = interp.call(top, &[n as u64], vec![x]).unwrap_or_else(|f| panic!("seed {seed}, {n} bytes: {f:?}\n{}", m.text));
            assert_eq!(got, vec![Value::Word(want.expect("inside").into())], "seed {seed}, {n} bytes:\n{}", m.text);
        }
        right += 1;
    }
    println!("{right} programs proved and run for {} lengths each, {wrong} that leave a slice refused, {refused} others refused", MOST + 1);
    assert!(right > 0 && wrong > 0);
}

#[test]
fn c_computes_the_same_under_sanitizers() {
    let mut ran = 0;
    let all: Vec<(u64, Made)> = (seeds::first()..).map(|s| (s, made(s))).filter(|(_, m)| !leaves(m) && !m.wrong).take(6).collect();
    for compiler in installed(&["gcc", "clang-19"]) {
        for ((seed, m), level) in all.iter().zip(Level::ALL.into_iter().cycle()) {
            let c = compiled(&m.text);
            let options = BuildOptions { level, without: BTreeSet::new(), dump_after: None, unit: "main".into(), provenance: String::new(), keep_secrets: true };
            let built = build(&c, &options, &|| 0).unwrap_or_else(|f| panic!("{f:?}\n{}", m.text));
            let dir = tempfile::tempdir().expect("scratch folder");
            for (name, text) in &built.files {
                std::fs::write(dir.path().join(name), text).expect("write");
            }
            // Rooms of the exact size, so that a byte too far is seen.
            let mut main = String::from(
                "#include \"main.h\"\n#include <stdlib.h>\nstatic int wrong(unsigned n, uint64_t want) {\n  uint8_t *x = malloc(n);\n  unsigned i;\n  int bad;\n  \
                 for (i = 0; i < n; i++) x[i] = (uint8_t)(i * i * 37 + 11 * i + 5);\n  bad = top(n, x) != want;\n  free(x);\n  return bad;\n}\n\
                 int main(void) {\n  int all = 0;\n",
            );
            for (n, want) in expected(m).into_iter().enumerate() {
                let _ = writeln!(main, "  all += wrong({n}, UINT64_C({}));", want.expect("inside"));
            }
            main.push_str("  return all != 0;\n}\n");
            std::fs::write(dir.path().join("run.c"), main).expect("write");
            let program = dir.path().join("run");
            let mut cc = Command::new(compiler);
            cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
            cc.arg("-o").arg(&program).arg(dir.path().join("main.c")).arg(dir.path().join("run.c"));
            let made = cc.output().expect("the compiler runs");
            assert!(made.status.success(), "seed {seed} by {compiler}: {}\n{}", String::from_utf8_lossy(&made.stderr), m.text);
            let out = Command::new(&program).output().expect("it runs");
            assert!(out.status.success(), "seed {seed} by {compiler} at {level:?}: {}\n{}", String::from_utf8_lossy(&out.stderr), m.text);
            ran += MOST + 1;
        }
    }
    checked(ran, "calls of C");
}
