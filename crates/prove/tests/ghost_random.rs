//! Random programs with ghost text, most of them wrong in some place: where the judge of meaning accepts every claim of a program, no input
//! breaks one.

use santoku_ir::interp::{Interp, Options, Value};
use santoku_ir::{FuncId, Program};
use santoku_prove::clauses::Finder;
use santoku_prove::equiv::Rng;
use santoku_skips::seeds;
use std::fmt::Write;

const SPECS: &str = "spec fn lin(x: int, i: int) -> int = x * i + 1
spec fn rec(a: int, i: int) -> int = if i == 0 { a } else { 2 * rec(a, i - 1) + 1 }
spec fn total(m: [u8; 1], i: int) -> int = if i == 0 { 0 } else { total(m, i - 1) + m[i - 1] }
";

fn one_of<'a>(rng: &mut Rng, all: &[&'a str]) -> &'a str {
    all[rng.below(all.len() as u64) as usize]
}

/// The right text, or one in its place one time in `odds`.
fn mostly<'a>(rng: &mut Rng, right: &'a str, wrong: &[&'a str], odds: u64) -> &'a str {
    if rng.below(odds) == 0 { one_of(rng, wrong) } else { right }
}

/// What a loop keeps, how it begins and what a round does; `AT` is the number of rounds that were run.
const KEPT: [(&str, &str, &str); 4] = [
    ("s ≡ y + (AT) * x mod 2^8", "y", "s = s + u8(x)"),
    ("s ≡ rec(x, AT) mod 2^8", "u8(x)", "s = s + s + 1"),
    ("s ≡ lin(x, AT) mod 2^8", "1", "s = s + u8(x)"),
    ("s ≡ total(m, AT) mod 2^8", "0", "s = s + m[i]"),
];

fn a_loop(rng: &mut Rng, out: &mut String) -> String {
    let nr = rng.below(4) as usize;
    let (kept, first, round) = KEPT[nr];
    let lo = if nr == 3 { mostly(rng, "0", &["1"], 9) } else { one_of(rng, &["0", "0", "1", "x"]) };
    let hi = if nr == 3 { mostly(rng, "n", &["n - 1"], 9) } else { one_of(rng, &["k", "k + 1", "3", "x + k", "x + 2"]) };
    let rounds = |at: &str| if lo == "0" { at.to_string() } else { format!("{at} - {lo}") };
    let at = mostly(rng, "i", &["i + 1", "i - 1", "0", "k", "2 * i"], 7);
    let invariant = kept.replace("AT", &rounds(at));
    let invariant = if rng.below(9) == 0 { invariant.replace("2^8", "2^9") } else { invariant };
    let first = mostly(rng, first, &["1", "y + 1", "0"], 7);
    let round = mostly(rng, round, &["s = s + 1", "s = s ^ s", "s = s"], 7);
    let odd = mostly(rng, "", &["if i == 2 { s = s + 1 }", "if k == 5 { s = s + 1 }", "s = s + u8(x) - u8(x)"], 5);
    let twice = if rng.below(4) == 0 { format!("\n    assert {}", kept.replace("AT", &rounds(mostly(rng, "i + 1", &["i"], 4)))) } else { String::new() };
    let _ = write!(out, "  s = {first}\n  for i in {lo}..<{hi}\n    invariant {invariant}\n  {{\n    {round}\n    {odd}{twice}\n  }}\n");
    kept.replace("AT", &rounds(mostly(rng, hi, &["k", "3", "x"], 5)))
}

fn program(seed: u64) -> String {
    let rng = &mut Rng::new(seed);
    let bound = one_of(rng, &["3", "5", "9"]);
    let said = mostly(rng, "2 * BOUND + 1", &["2 * BOUND", "BOUND + 1"], 4).replace("BOUND", bound);
    let mut out = format!("{SPECS}lemma small(x: int in 0..{bound})\n  ensures lin(x, 2) <= {said}\n{{\n}}\n");
    let mut body = String::from("  var s: u8 = 0\n");
    if rng.below(3) == 0 {
        let of = one_of(rng, &["x", "k", "x + k", "2 * k", "5 - x", "y"]);
        let _ = write!(body, "  ghost small({of})\n  assert lin({of}, 2) <= {said}\n");
    }
    let ghost = rng.below(3) == 0;
    if ghost {
        body.push_str("  ghost var g = lin(x, 2)\n");
    }
    let kept = a_loop(rng, &mut body);
    if ghost {
        let next = one_of(rng, &["g + 1", "lin(x, 3)", "g"]);
        let claim = one_of(rng, &["g >= 1", "g == lin(x, 2)", "g == 2 * x + 1 || g == 2 * x + 2", "g <= 10"]);
        let _ = write!(body, "  if k == 2 {{\n    ghost g = {next}\n  }}\n  assert {claim}\n");
    }
    if rng.below(2) == 0 {
        let _ = writeln!(body, "  assert {kept}");
    }
    let ensured = kept.replacen('s', "result", 1);
    let _ = write!(out, "fn f<n: len>(x: public int in 0..3, y: u8, k: public int in 0..5, m: [u8; n]) -> u8\n  ensures {ensured}\n{{\n{body}  s\n}}\n");
    out
}

/// States of words, by functions of bits whose text is not looked at, over elements of an array and with a choice at the end.
fn states(seed: u64) -> String {
    let rng = &mut Rng::new(seed);
    let mut pick = |right: &'static str, wrong: &[&'static str], odds| mostly(rng, right, wrong, odds);
    let first = pick("[y, 1]", &["[1, y]", "[y, 0]"], 12);
    let element = pick("m[i - 1]", &["m[i]", "m[0]", "m[len(m) - i]"], 9);
    let (at, hi) = (pick("i", &["i + 1", "i - 1", "n - i"], 9), pick("0..<n", &["0..<n", "1..<n", "0..<k"], 5));
    let round = pick("mix(h, m[i], x)", &["mix(h, m[n - 1 - i], x)", "mix(h, y, x)", "mix(h, m[i], 3 - x)", "[h[1], h[0]]", "mix(mix(h, m[i], x), m[i], x)"], 6);
    let (few, most) = (pick("n % 4 < 2", &["n % 4 <= 2", "n % 4 > 1", "n < 2"], 8), pick("l % 4 < 2", &["l % 4 < 3", "l < 2"], 12));
    let (one, two) = (pick("mix(h, y, 1)", &["mix(h, y, 2)", "mix([y, 1], y, 1)", "mix(h, m[0], 1)"], 9), pick("mix(mix(h, y, 0), y, 1)", &["mix(mix(h, y, 1), y, 0)", "mix(h, y, 1)"], 9));
    let (part, spoken) = (pick("h[1] / 2^3", &["h[1] / 2^2", "h[0] / 2^3", "h[1] % 2^3"], 12), pick("s[1] >> 3", &["s[1] >> 2", "s[0] >> 3", "s[1] & 7"], 12));
    let said = pick("  assert forall(j in 0..<2) s[j] == ended(h, y, n)[j]\n", &[""], 6);
    let behind = pick("n", &["n - 1", "k", "n + 1"], 12);
    format!("spec fn mixed(h: [int; 2], b: int, c: int) -> [int; 2] = [h[1], ((h[0] ^ b) + c + 3 * h[1]) % 2^8]
spec fn state(m: [u8; 1], y: int, c: int, i: int) -> [int; 2] = if i == 0 {{ {first} }} else {{ mixed(state(m, y, c, i - 1), {element}, c) }}
spec fn end(h: [int; 2], y: int, l: int, j: int) -> int = if {most} {{ mixed(h, y, 1)[j] }} else {{ mixed(mixed(h, y, 0), y, 1)[j] }}
spec fn ended(h: [int; 2], y: int, l: int) -> [int; 2] = [end(h, y, l, 0), end(h, y, l, 1)]
spec fn part(h: [int; 2]) -> int = {part}
fn mix(h: [u8; 2], b: u8, c: public int in 0..3) -> [u8; 2]
  ensures result == mixed(h, b, c)
{{ [h[1], (h[0] ^ b) + u8(c) + 3 * h[1]] }}
fn f<n: len>(x: public int in 0..3, y: u8, k: public int in 0..5, m: [u8; n]) -> u8
  ensures result == part(ended(state(m, y, x, {behind}), y, n))
{{
  var h: [u8; 2] = [y, 1]
  for i in {hi}
    invariant h == state(m, y, x, {at})
  {{
    h = {round}
  }}
  var s: [u8; 2] = h
  if {few} {{
    s = {one}
  {said}  }} else {{
    s = {two}
  {said}  }}
  {spoken}
}}
")
}

fn compiled(source: &str) -> Option<Program> {
    let mut read = |path: &str| (path == "main.stk").then(|| source.to_string());
    santoku_sema::compile("main.stk", &[], &mut read, &santoku_sema::Options::default()).ok().map(|c| c.program)
}

/// Whether every claim and clause of every function is accepted.
fn accepted(p: &Program) -> bool {
    (0..p.funcs.len() as u32).all(|id| {
        let (found, stopped) = santoku_meaning::claims(p, FuncId(id), &Finder);
        stopped.is_none() && found.ensures.values().chain(found.requires.values()).chain(found.claims.values()).all(|held| *held)
    })
}

/// What an input breaks, if one of many does.
fn broken(p: &Program) -> Option<String> {
    let id = p.find("main.f").expect("the function is there");
    let mut interp = Interp::with_options(p, Options::checked());
    for (x, k) in (0..4u64).flat_map(|x| (0..6u64).map(move |k| (x, k))) {
        for (y, n) in [(0u64, 0u64), (1, 1), (7, 3), (255, 6)] {
            let m = Value::array((0..n).map(|i| Value::word(255 - 50 * i)).collect());
            let args = vec![Value::int(x), Value::word(y), Value::int(k), m];
            if let Err(fault) = interp.call(id, &[n], args) {
                return Some(format!("{fault} for x = {x}, y = {y}, k = {k}, n = {n}"));
            }
        }
    }
    None
}

/// Specification functions recurse.
fn on_large_stack(programs: fn(u64) -> String, seeds: std::ops::Range<u64>) {
    std::thread::Builder::new().stack_size(256 << 20).spawn(move || run(programs, seeds)).expect("a thread").join().expect("no lie is accepted");
}

fn run(programs: fn(u64) -> String, seeds: std::ops::Range<u64>) {
    let (mut right, mut lies, mut unknown) = (0, 0, 0);
    for seed in seeds {
        let text = programs(seed);
        let Some(p) = compiled(&text) else { continue };
        match (accepted(&p), broken(&p)) {
            (true, Some(why)) => panic!("accepted, and {why}:\n{text}"),
            (true, None) => right += 1,
            (false, Some(_)) => lies += 1,
            (false, None) => unknown += 1,
        }
    }
    println!("{right} programs accepted, {lies} that an input breaks refused, {unknown} others refused");
    let tried = right + lies + unknown;
    assert!(40 * right >= tried && 8 * lies >= tried, "{right} right ones, {lies} lies: the generator is not worth its name");
}

#[test]
fn no_claim_that_an_input_breaks_is_accepted() {
    on_large_stack(program, 0..1500);
}

#[test]
fn no_state_that_an_input_breaks_is_accepted() {
    on_large_stack(states, seeds::part(0..200, 3));
}

#[test]
#[ignore = "long"]
fn soak_ghost_text() {
    on_large_stack(program, 0..60_000);
    on_large_stack(states, 0..10_000);
}
