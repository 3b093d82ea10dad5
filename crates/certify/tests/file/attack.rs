//! Random programs by both compilers, and their C with one thing changed: nothing that runs tell apart is called equal, and nothing
//! right is called wrong.
//!
//! Structs of mixed sizes, arrays of run-time length, many arguments, loops of run-time and of constant length, branches on public
//! values, calls of functions that are not inlined ([`crate::calling`]). What is judged wrong or right is judged by the concrete machine
//! and the interpreter.

use crate::calling::{Caller, Helper};
use crate::support::{accepted, compiled, image, isa, judged, made, object, of, Compiler, Made};
use santoku_certify::concrete::inputs::{inputs, pairs};
use santoku_certify::concrete::{Bench, End};
use santoku_certify::report::Status;
use santoku_elf::Image;
use santoku_ir::gen::Rng;
use santoku_ir::interp::{Interp, Options};
use santoku_skips::seeds;
use std::collections::BTreeMap;

/// Inputs on which a changed function is run, and instructions of one run.
const INPUTS: usize = 60;
/// Inputs each of which stands beside others that differ in secrets, and pairs of them that are run.
const PAIRED: usize = 2;
const PAIRS: usize = 8;
const STEPS: u64 = 200_000;
/// Changes of each program.
const CHANGES: usize = 4;

pub(crate) const WORDS: [&str; 4] = ["u8", "u16", "u32", "u64"];

/// The text of a program under construction.
pub(crate) struct Text<'r> {
    pub(crate) rng: &'r mut Rng,
    /// Types of the fields of `S`.
    pub(crate) fields: Vec<String>,
    /// Expressions of type `u32` that may be read.
    pub(crate) leaves: Vec<String>,
    /// Names of secret booleans.
    pub(crate) bits: Vec<String>,
    /// Conditions on public values.
    pub(crate) tests: Vec<String>,
    /// Operations in each other in a statement.
    depth: u32,
}

/// What a program has besides the rest.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Plain,
    /// A loop of 192 rounds or more and branches on public values in it.
    Long,
    /// Calls of functions that are not inlined.
    Calling,
}

impl Text<'_> {
    pub(crate) fn number(&mut self, n: u64) -> u64 {
        self.rng.below(n)
    }

    /// An expression of type `u32`.
    pub(crate) fn expr(&mut self, depth: u32) -> String {
        if depth == 0 || self.rng.one_in(5) {
            return match self.rng.one_in(5) {
                true => self.rng.below(1 << 20).to_string() + " + 0 * " + &self.leaves[0],
                false => self.rng.pick(&self.leaves).clone(),
            };
        }
        let (a, k) = (self.expr(depth - 1), 1 + self.number(31));
        let b = self.expr(depth - 1);
        match self.number(10) {
            0 | 1 => format!("(({a}) + ({b}))"),
            2 => format!("(({a}) - ({b}))"),
            3 => format!("(({a}) * {})", 3 + 2 * k),
            4 => format!("(({a}) ^ ({b}))"),
            5 => format!("(({a}) & ({b}))"),
            6 => format!("(({a}) | ({b}))"),
            7 => format!("(({a}) <<< {k})"),
            8 => format!("(({a}) >> {k})"),
            _ if self.bits.is_empty() => format!("(({a}) << {})", k % 8),
            _ => format!("(if {} {{ {a} }} else {{ {b} }})", self.rng.pick(&self.bits).clone()),
        }
    }

    /// Reads of all fields of a struct value.
    pub(crate) fn of_struct(&self, value: &str) -> Vec<String> {
        let read = |(k, ty): (usize, &String)| match ty.as_str() {
            "[u16; 3]" => format!("u32({value}.f{k}[{}])", k % 3),
            "u32" => format!("{value}.f{k}"),
            _ => format!("u32({value}.f{k})"),
        };
        self.fields.iter().enumerate().map(read).collect()
    }

    fn structure(&mut self) -> String {
        let count = 2 + self.number(4);
        for _ in 0..count {
            let ty = match self.number(7) {
                5 => "int in -300..200".to_string(),
                6 => "[u16; 3]".to_string(),
                k => WORDS[k as usize % 4].to_string(),
            };
            self.fields.push(ty);
        }
        let fields: Vec<String> = self.fields.iter().enumerate().map(|(k, ty)| format!("f{k}: {ty}")).collect();
        format!("struct S {{ {} }}\n", fields.join(", "))
    }

    /// Statements on the accumulators `t` and `w`.
    pub(crate) fn body(&mut self, pad: &str) -> String {
        let mut out = String::new();
        for _ in 0..1 + self.number(2) {
            let to = if self.rng.one_in(3) { "w" } else { "t" };
            let e = self.expr(self.depth);
            if self.tests.is_empty() || self.rng.one_in(2) {
                out += &format!("{pad}{to} = {e}\n");
            } else {
                let (c, other) = (self.rng.pick(&self.tests).clone(), self.expr(self.depth));
                out += &format!("{pad}if {c} {{\n{pad}  {to} = {e}\n{pad}}} else {{\n{pad}  {to} = {other}\n{pad}}}\n");
            }
        }
        out
    }
}

/// A program with a function `f` for others.
fn program(seed: u64, shape: Shape) -> String {
    let mut rng = Rng::new(seed.wrapping_mul(0x9e37_79b9) ^ 0x5eed);
    let mut t = Text { rng: &mut rng, fields: vec![], leaves: vec!["t".into(), "w".into()], bits: vec![], tests: vec![], depth: if shape == Shape::Calling { 1 } else { 2 } };
    let mut out = t.structure();
    let mut params: Vec<String> = vec![];
    let kind = if shape == Shape::Long { 0 } else { 1 + t.number(3) };
    let of_structs = t.rng.one_in(2);
    for k in 0..t.number(if kind == 3 { 12 } else { 3 }) {
        let ty = *t.rng.pick(&WORDS);
        params.push(format!("x{k}: {ty}"));
        t.leaves.push(if ty == "u32" { format!("x{k}") } else { format!("u32(x{k})") });
    }
    let mut caller = Caller { has_struct: t.rng.one_in(2), row: None };
    if caller.has_struct {
        params.push("s: S".into());
        let reads = t.of_struct("s");
        t.leaves.extend(reads);
    }
    if t.rng.one_in(2) {
        params.push("b: bool".into());
        t.bits.push("b".into());
    }
    params.push("p: public int in 0..9".into());
    t.tests.extend(["p > 4".to_string(), "p == 7".to_string()]);
    let (mut lens, mut lo, mut hi, mut rolled) = ("", "0".to_string(), t.number(6).to_string(), "");
    match kind {
        0 => {
            params.push("k: public [u8; 64]".into());
            params.push("a: [u32; 4]".into());
            hi = (192 + t.number(109)).to_string();
            rolled = "@rolled ";
            t.leaves.extend(["a[i % 4]".into(), "u32(k[i / 8])".into()]);
            let more = ["k[i / 8] > 100", "k[i % 64] == 7", "(k[i / 8] >> 3) & 1 == 1", "i % 3 == 0", "i < 100", "i == 17"];
            for _ in 0..3 {
                t.tests.push((*t.rng.pick(&more)).to_string());
            }
        }
        1 => {
            lens = "<n: len>";
            lo = t.number(2).to_string();
            hi = "n".into();
            if of_structs {
                caller.row = Some("[S; n]".into());
                params.push("m: [S; n]".into());
                let reads = t.of_struct("m[i]");
                t.leaves.extend(reads);
            } else {
                let ty = *t.rng.pick(&WORDS);
                caller.row = Some(format!("[{ty}; n]"));
                params.push(format!("m: [{ty}; n]"));
                t.leaves.push(if ty == "u32" { "m[i]".into() } else { "u32(m[i])".into() });
            }
        }
        2 => {
            params.push("a: [S; 6]".into());
            let reads = t.of_struct("a[i]");
            t.leaves.extend(reads);
        }
        _ => {}
    }
    let down = if t.rng.one_in(3) { "rev " } else { "" };
    let helpers = if shape == Shape::Calling { 1 + t.number(2) } else { 0 };
    let helpers: Vec<Helper> = (0..helpers).map(|n| Helper::new(&mut t, n, &caller)).collect();
    for helper in &helpers {
        let text = helper.text(&mut t);
        out += &text;
    }
    if !helpers.is_empty() {
        t.leaves.extend(["q[0]".to_string(), "q[1]".to_string()]);
    }
    let (in_loop, inner) = (called(&mut t, &helpers, &caller, "    "), t.body("    "));
    t.leaves.retain(|l| !l.contains('y'));
    t.leaves.retain(|l| !l.contains('i') || l.starts_with("u32(x") || l.starts_with('x') || l.starts_with("s.") || l.starts_with("u32(s."));
    let guard = if lo == "1" { "  requires n >= 1\n" } else { "" };
    let first = t.expr(1);
    let behind = called(&mut t, &helpers, &caller, "  ");
    let last = t.expr(t.depth);
    let (result, ret) = match t.rng.below(3) {
        0 => ("u32", format!("{last} ^ w")),
        1 => ("u64", format!("(u64(t) << 32) | u64({last})")),
        _ => ("[u32; 3]", format!("[t, w, {last}]")),
    };
    let zeros = first.replace('t', "5").contains("w");
    let first = if zeros || first.contains('t') { "1".to_string() } else { first };
    let pair = if helpers.is_empty() { "" } else { "  var q: [u32; 2] = [13, 17]\n" };
    out += &format!("\n@export(\"f\")\nfn f{lens}({}) -> {result}\n{guard}{{\n{pair}  var t: u32 = 7\n  var w: u32 = {first}\n", params.join(", "));
    out += &format!("  {rolled}for i in {down}{lo}..<{hi} {{\n{in_loop}{inner}  }}\n{behind}  {ret}\n}}\n");
    out
}

/// Calls of some of the functions, each result under a name of its own.
fn called(t: &mut Text, helpers: &[Helper], caller: &Caller, pad: &str) -> String {
    let mut out = String::new();
    for (n, helper) in helpers.iter().enumerate() {
        if t.rng.one_in(3) {
            continue;
        }
        let (statement, reads) = helper.call(t, &format!("y{n}"), caller);
        out += &format!("{pad}{statement}\n");
        t.leaves.extend(reads);
    }
    out
}

/// Changes of one thing in the body of `f`: what, and the text.
fn changes(c: &str, rng: &mut Rng) -> Vec<(String, String)> {
    let start = c.rfind(" f(").expect("its definition");
    let (head, body) = c.split_at(start);
    let pairs = [
        (" + ", " - "), (" - ", " + "), (" ^ ", " | "), (" & ", " | "), (" | ", " & "), (" << ", " >> "), (" >> ", " << "), ("[i]", "[0]"),
        (" > ", " >= "), (" < ", " <= "), (" == ", " != "), (".f0", ".f1"), (".f1", ".f0"), (".f2", ".f0"), ("(1)", "(2)"), ("(4)", "(5)"), ("t = ", "w = "),
        ("(7)", "(6)"), ("(3)", "(2)"), ("x0", "x1"), ("x1", "x2"), ("a[", "a[1 + "), (", w", ", t"), ("; i++", "; i += 2"), ("i-- > 0", "i-- > 1"),
    ];
    let mut out = vec![];
    for _ in 0..CHANGES * 6 {
        let (from, to) = rng.pick(&pairs);
        let places: Vec<usize> = body.match_indices(from).map(|(k, _)| k).collect();
        if places.is_empty() || out.len() >= CHANGES {
            continue;
        }
        let at = *rng.pick(&places);
        let line = body[..at].rfind('\n').map_or(0, |k| k + 1);
        let text = format!("{head}{}{to}{}", &body[..at], &body[at + from.len()..]);
        let what = format!("`{from}` as `{to}` in {}", body[line..].lines().next().unwrap_or_default().trim());
        if out.iter().all(|(w, _)| *w != what) {
            out.push((what, text));
        }
    }
    out
}

/// Runs the code of `f`.
fn bench<'b>(made: &'b Made, image: &'b Image) -> Bench<'b> {
    let entry = image.function("f").expect("it is there").address;
    Bench::new((image, isa(image)), &made.program, made.symbols["f"], entry, &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// Runs the code and the source: whether an input tells them apart.
fn differs(made: &Made, object: &[u8], seed: u64) -> Option<String> {
    differs_in(made, &image(object), seed)
}

pub(crate) fn differs_in(made: &Made, image: &Image, seed: u64) -> Option<String> {
    let func = made.symbols["f"];
    let bench = bench(made, image);
    let mut source = Interp::with_options(&made.program, Options::default());
    let all = inputs(&made.program, func, image.xlen, INPUTS, seed);
    assert!(!all.is_empty(), "no input meets the preconditions");
    for (n, input) in all.iter().enumerate() {
        let want = source.call(func, &input.lens, input.args.clone()).unwrap_or_else(|e| panic!("{e:?}"));
        let ran = bench.run(input, n as u64 + 1, STEPS);
        if ran.end != End::Returned || ran.results != bench.expected(&want) {
            return Some(format!("{input:?}: {:?} {:?} for {:?}", ran.end, ran.results, bench.expected(&want)));
        }
    }
    None
}

/// Runs the code on inputs that differ in secrets alone: whether what an observer sees tells them apart. A compiler may branch where the
/// source selects.
fn shows_secrets(made: &Made, object: &[u8], seed: u64) -> bool {
    shows_secrets_in(made, &image(object), seed)
}

pub(crate) fn shows_secrets_in(made: &Made, image: &Image, seed: u64) -> bool {
    let bench = bench(made, image);
    pairs(&made.program, made.symbols["f"], image.xlen, PAIRED, seed).iter().take(PAIRS).any(|(a, b)| bench.run(a, 5, STEPS).seen != bench.run(b, 5, STEPS).seen)
}

/// What an attack found.
#[derive(Debug, Default)]
struct Found {
    right: usize,
    proved: usize,
    /// Called leaks, and runs show them.
    leaks: usize,
    /// Why right code was not proved.
    open: BTreeMap<String, usize>,
    changed: usize,
    refused: usize,
    alike: usize,
    /// Right objects that the judge of bytes accepts, and changed ones.
    accepted: [usize; 2],
    /// Faults of ours.
    faults: Vec<String>,
}

const COMPILERS: [Compiler; 2] = [Compiler::Gcc, Compiler::Clang];

fn attack(seeds: std::ops::Range<u64>, shape: Shape, mutate: bool) -> Found {
    let mut found = Found::default();
    for seed in seeds {
        let text = program(seed, shape);
        let made = made(&text);
        let mut rng = Rng::new(seed ^ 0xc4a9);
        let (march, level) = (["rv32imc", "rv64imc"][rng.below(2) as usize], ["O1", "O2", "O3", "Os"][rng.below(4) as usize]);
        for compiler in COMPILERS {
            let of_what = format!("seed {seed} {compiler:?} {march} {level}");
            let Some(object) = compiled(compiler, march, level, "unit.c", &made.c) else { continue };
            let object = object.unwrap_or_else(|e| panic!("{of_what}: {e}"));
            if let Some(how) = differs(&made, &object, seed) {
                found.faults.push(format!("{of_what}: the compiled program gives other values: {how}"));
                continue;
            }
            found.right += 1;
            found.accepted[0] += usize::from(accepted(&made, &image(&object), "f"));
            let status = of(&judged(&made, &object), "f").status.clone();
            let reason = status.reason().unwrap_or_default();
            match &status {
                Status::Equal if shows_secrets(&made, &object, seed) => found.faults.push(format!("{of_what}: runs show secrets of what is called equal\n{text}")),
                Status::Equal => found.proved += 1,
                Status::Leak { .. } if shows_secrets(&made, &object, seed) => found.leaks += 1,
                Status::Refuted(_) | Status::Leak { .. } | Status::Broken { .. } => found.faults.push(format!("{of_what}: right code is called {}: {reason}\n{text}", status.word())),
                _ if reason.contains("rule of the prover") => found.faults.push(format!("{of_what}: {reason}\n{text}")),
                _ => {
                    println!("{of_what}: {}: {}", status.word(), reason.chars().take(300).collect::<String>());
                    if std::env::var("SANTOKU_SHOW").is_ok() {
                        println!("{text}");
                    }
                    *found.open.entry(status.word().to_string()).or_default() += 1;
                }
            }
        }
        if !mutate {
            continue;
        }
        for (n, (what, c)) in changes(&made.c, &mut rng).into_iter().enumerate() {
            let compiler = COMPILERS[n % 2];
            let Some(Ok(object)) = compiled(compiler, march, level, "unit.c", &c) else { continue };
            let status = of(&judged(&made, &object), "f").status.clone();
            found.changed += 1;
            if accepted(&made, &image(&object), "f") {
                found.accepted[1] += 1;
                if let Some(how) = differs(&made, &object, seed ^ 0xbeef) {
                    found.faults.push(format!("seed {seed} {compiler:?} {march} {level}: the judge of bytes accepts {what}: {how}\n{text}"));
                }
            }
            if status != Status::Equal {
                found.refused += 1;
                if matches!(status, Status::Refuted(_)) && !shows(&status) && differs(&made, &object, seed).is_none() {
                    found.faults.push(format!("seed {seed} {compiler:?} {march} {level}: {what}: refuted without an input: {:?}", status.reason()));
                }
            } else if let Some(how) = differs(&made, &object, seed ^ 0xdead) {
                found.faults.push(format!("seed {seed} {compiler:?} {march} {level}: {what} is called equal: {how}\n{text}"));
            } else {
                found.alike += 1;
            }
        }
    }
    println!(
        "tried: {} right objects, {} proved, {} leaks that runs show, others {:?}; {} changed, {} refused, {} alike; the judge of bytes accepts {} and {}",
        found.right, found.proved, found.leaks, found.open, found.changed, found.refused, found.alike, found.accepted[0], found.accepted[1]
    );
    assert!(found.faults.is_empty(), "{} faults: {}", found.faults.len(), found.faults.join("\n"));
    found
}

/// Whether a refutation has inputs.
fn shows(status: &Status) -> bool {
    matches!(status, Status::Refuted(d) if d.witness.is_some())
}

/// clang 19 at -O3 makes of a product with a secret bit a branch: right values, and no right code.
#[test]
fn a_branch_in_place_of_a_product_is_a_leak_that_runs_show() {
    let made = made("@export(\"f\")\nfn f(x: u32, p: public u32) -> u32 { ((x & 1) * 27) ^ p }\n");
    for (body, leaks) in [("li t0,27\n mul a0,a0,t0\n1:", false), ("beqz a0,1f\n li a0,27\n1:", true)] {
        let text = format!(".text\n.globl f\n.type f,@function\nf: andi a0,a0,1\n {body} xor a0,a0,a1\n ret\n.size f,.-f\n");
        let Some(object) = object(Compiler::Gcc, "rv32imc", "O1", "unit.S", &text) else { return };
        assert_eq!(differs(&made, &object, 1), None);
        assert_eq!(shows_secrets(&made, &object, 1), leaks);
        let status = of(&judged(&made, &object), "f").status.clone();
        assert!(if leaks { matches!(status, Status::Leak { .. }) } else { status == Status::Equal }, "{status:?}");
    }
}

#[test]
fn changed_random_programs_are_not_equal_and_right_ones_not_wrong() {
    let found = attack(0..10, Shape::Plain, true);
    assert!(found.right >= 10 && found.changed >= 20, "{found:?}");
    assert!(found.proved * 4 >= found.right * 3, "{found:?}");
    assert!(found.refused * 2 > found.changed, "{found:?}");
}

#[test]
fn changed_random_programs_with_calls_are_not_equal_and_right_ones_not_wrong() {
    // All of them: of two programs, which would be a day's part, both that stay open may be there.
    let found = attack(0..8, Shape::Calling, true);
    assert!(found.right >= 8 && found.changed >= 16, "{found:?}");
    // Compilers leave out stores of parts of an argument that the function called does not read: open, where they do.
    assert!(found.proved * 3 >= found.right * 2, "{found:?}");
    assert!(found.refused * 3 > found.changed, "{found:?}");
}

#[test]
fn long_loops_with_public_branches_are_proved_or_left_open() {
    let programs = seeds::part(0..6, 3);
    let found = attack(programs.clone(), Shape::Long, false);
    assert!(found.right as u64 >= programs.end - programs.start, "{found:?}");
    assert!(found.proved * 10 >= found.right * 7, "{found:?}");
}

#[test]
#[ignore = "long"]
fn soak_changed_random_programs() {
    attack(seeds::first()..seeds::first() + seeds::count(60), Shape::Plain, true);
}

#[test]
#[ignore = "long"]
fn soak_changed_random_programs_with_calls() {
    attack(seeds::first()..seeds::first() + seeds::count(60), Shape::Calling, true);
}

#[test]
#[ignore = "long"]
fn soak_long_loops() {
    attack(seeds::first()..seeds::first() + seeds::count(12), Shape::Long, true);
}
