//! Damaged programs through everything there is: what the front end still accepts is run, proved, built and laid out.
//!
//! Whatever comes out is a result or a message with a place; it comes out in time, and it is never a fault of ours.

mod support;

use santoku_driver::{build, check, lay_out, prove, prover_fault, run_case, BuildOptions, Checked, Failure, Layout, LayoutOptions, Request};
use santoku_passes::Level;
use santoku_prove::obligation::{Engine, Outcome};
use santoku_skips::seeds;
use santoku_num::SplitMix64;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;
use support::pieces;

/// Small programs that between them have most of the language.
const PROGRAMS: &[&str] = &[
    "const RC: [u32; 6] = [1, 2, 3, 4, 5, 6]\nconst R: [u5; 4] = [7, 12, 17, 22]\nfn round(s: [u32; 4], c: u32) -> [u32; 4] {\n  [s[1] ^ c, s[2] & s[0], s[3] <<< 5, (s[0] + s[1]) ^ s[3]]\n}\n@export(\"f\")\nfn f(x: [u32; 4], k: [u32; 6]) -> [u32; 4] {\n  var s = x\n  for i in 0..<6 {\n    s = round(s, RC[i] ^ k[i])\n    s[i % 4] = s[(i + 1) % 4] <<< int(R[i / 2])\n  }\n  s\n}\n",
    "struct S { a: [u16; 4], b: u16 }\nfn step(p: S, c: u16) -> S {\n  S { a: [for i in 0..<4: p.a[(i + 1) % 4] ^ c], b: p.b + p.a[0] }\n}\n@export(\"f\")\nfn f(x: [u16; 4]) -> [u16; 4] {\n  var p = S { a: x, b: 7 }\n  for i in rev 0..<9 {\n    p = step(p, u16(3 * i))\n    if i % 3 == 0 { p.b ^= 1 } else { p.a[2] = ~p.b }\n  }\n  p.a\n}\n",
    "@export(\"g\")\nfn g(a: int in -1000..1000, b: int in 0..7) -> int in -8000..8000\n  ensures result == a * b + 3\n{\n  let p = a * b\n  assert p >= -7000\n  p + 3\n}\nfn h(x: u8, y: u8) -> u8\n  ensures result <= x\n{\n  if y < x { y } else { x }\n}\n@export(\"f\")\nfn f(x: [u8; 8]) -> [u8; 8] {\n  var r = x\n  for i in 0..<7 { r[i + 1] = h(r[i], r[i + 1]) }\n  r[0] = u8(g(int(r[0]), int(r[1] & 7)))\n  r\n}\n",
    "fn total<n: len>(x: [u8; n]) -> u8 {\n  var s: u8 = 0\n  for i in 0..<n { s += x[i] }\n  s\n}\n@export(\"f\")\nfn f(x: [u8; 8]) -> [u8; 8] {\n  var y = x\n  y[2; 4] = x[0; 4]\n  y[7] = total(y)\n  y\n}\ntest \"t\" {\n  assert f([1, 2, 3, 4, 5, 6, 7, 8])[0] == 1\n}\n",
    "table sbox: u4 -> u4 = [6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2]\n@export(\"f\")\nfn f(b: [u16; 4], k: [[u16; 4]; 5]) -> [u16; 4] {\n  var s = b\n  for i in 0..<5 {\n    let t: [u16; 4] = [for j in 0..<4: s[j] ^ k[i][j]]\n    s = sbox(t)\n    s = [s[0], s[1] <<< 1, s[2] <<< 12, s[3] <<< 13]\n  }\n  s\n}\n",
    "fn total<n: len>(x: [u8; n]) -> u8\n  ensures n == 0 ==> result == 0\n{\n  var s: u8 = 0\n  for i in 0..<n { s += x[i] }\n  s\n}\nspec fn ends(x: [u8; 1], n: int) -> bool = len(x[1; n - 1]) == n - 1\n@export(\"f\")\nfn f(x: [u8; 8]) -> [u8; 8] {\n  var y = x\n  for k in 0..<4 {\n    let v = x[k; 8 - k]\n    y[k; 4] = v[0; 4]\n    y[0; k] = x[4; k]\n    y[7] += total(v) + total(v[1; 3]) + total(x[1; k]) + v[0]\n    assert ends(x[0; k + 1], k + 1)\n  }\n  y\n}\n",
];

/// The last so many rest on assertions, which layouts do not have.
const NOT_LAID_OUT: usize = 1;

/// What is put in for a piece, besides other pieces of the program.
const PIECES: &[&str] = &[
    "0", "1", "2", "-1", "3", "255", "2^31", "2^64", "i", "x", "s", "k", "u8", "u16", "u32", "u64", "u128", "u1", "u7", "int", "int in 0..7", "bool", "true", "+", "-", "*",
    "/", "%", "&", "^", "|", "<<", ">>", "<<<", ">>>", "==", "<", "==>", "!", "~", "rev ", "public ", "@unroll ", "@rolled ", "@inline ", "[", "]", "(", ")", "{", "}",
];

struct Rng(SplitMix64);

impl Rng {
    fn new(seed: u64) -> Rng {
        Rng(SplitMix64::new(seed))
    }
    fn below(&mut self, n: usize) -> usize {
        self.0.below(n as u64) as usize
    }
}

/// One or two pieces exchanged, left out or doubled.
fn damaged(seed: u64) -> String {
    let mut r = Rng::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..8 {
        r.below(2);
    }
    let mut parts = pieces(PROGRAMS[seed as usize % PROGRAMS.len()]);
    for _ in 0..1 + r.below(2) {
        let (i, j) = (r.below(parts.len()), r.below(parts.len()));
        match r.below(6) {
            0 => drop(parts.remove(i)),
            1 => parts.insert(i, parts[j].clone()),
            2 => parts[i] = parts[j].clone(),
            // Numbers for numbers, words for words: most of these are still programs.
            _ => {
                let kind = |s: &str| s.chars().next().map(|c| (c.is_ascii_digit(), c.is_alphabetic(), c.is_whitespace()));
                let fits: Vec<&str> = PIECES.iter().copied().filter(|p| kind(p) == kind(&parts[i])).collect();
                if !fits.is_empty() {
                    parts[i] = fits[r.below(fits.len())].to_string();
                }
            }
        }
    }
    parts.concat()
}

/// What became of all.
#[derive(Default, Debug)]
struct Count {
    tried: usize,
    accepted: usize,
    built: usize,
    laid_out: usize,
    /// Refusals by code.
    refused: BTreeMap<String, usize>,
}

/// The stages in order; each that ends goes into `out`.
fn everything(text: &str, out: &mut Vec<Result<&'static str, Failure>>) {
    let Ok(Some(target)) = santoku_driver::built_in("portable") else { return };
    let request = Request::new("damaged.stk", target);
    let mut load = |path: &str| Ok((path == "damaged.stk").then(|| text.to_string()));
    let checked = match check(&request, &mut load) {
        Ok(c) => c,
        Err(e) => return out.push(Err(e)),
    };
    out.push(Ok("check"));
    let report = prove(&checked, &santoku_prove::cache::NoStore, 1);
    let _ = santoku_driver::open_obligations(&checked, &report);
    out.push(prover_fault(&checked, &report).map_or(Ok("prove"), Err));
    let mut tests = checked.program.tests.iter().filter(|t| t.cases.is_none());
    out.push(tests.try_for_each(|t| run_case(&checked, t, vec![], 1 << 24).map(drop)).map(|()| "test"));
    for (level, without) in [(Level::O2, None), (Level::O0, None), (Level::O3, Some("inline"))] {
        let options = BuildOptions {
            level,
            without: without.iter().map(|w: &&str| (*w).to_string()).collect::<BTreeSet<_>>(),
            dump_after: None,
            unit: "unit".into(),
            provenance: String::new(),
            keep_secrets: true,
        };
        out.push(build(&checked, &options, &|| 0).map(|_| "build"));
    }
    for (layout, isa) in [(Layout::Scalar, "portable64"), (Layout::Vertical, "avx2"), (Layout::Bitslice, "avx512")] {
        out.push(laid_out(&checked, layout, isa));
    }
}

fn laid_out(checked: &Checked, layout: Layout, isa: &str) -> Result<&'static str, Failure> {
    let isa = santoku_target::vector(isa).expect("right").expect("compiled in");
    let options = LayoutOptions { layout, isa, interleave: 2, granularity: 10, block: None, unit: "unit".into(), provenance: String::new(), without: BTreeSet::new(), dump_after: None };
    lay_out(checked, &options).map(|_| "layout")
}

/// Generous: a debug build on a busy machine.
const SECONDS: u64 = 180;

fn run(seeds: std::ops::Range<u64>, count: &mut Count) {
    for seed in seeds {
        let text = damaged(seed);
        let (send, receive) = mpsc::channel();
        let moved = text.clone();
        let worker = std::thread::Builder::new().stack_size(64 << 20).spawn(move || {
            let mut out = Vec::new();
            everything(&moved, &mut out);
            let _ = send.send(out);
        });
        assert!(worker.is_ok());
        let out = match receive.recv_timeout(Duration::from_secs(SECONDS)) {
            Ok(out) => out,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("seed {seed}: no answer in {SECONDS} s\n{text}"),
            Err(mpsc::RecvTimeoutError::Disconnected) => panic!("seed {seed}: a panic\n{text}"),
        };
        count.tried += 1;
        for r in out {
            match r {
                Ok("check") => count.accepted += 1,
                Ok("build") => count.built += 1,
                Ok("layout") => count.laid_out += 1,
                Ok(_) => {}
                Err(Failure::Internal { stage, message }) => panic!("seed {seed}: internal error in {stage}: {message}\n{text}"),
                Err(Failure::Refused { diagnostics, .. }) => {
                    assert!(!diagnostics.is_empty(), "seed {seed}: refused without a message\n{text}");
                    for d in diagnostics {
                        *count.refused.entry(d.code.to_string()).or_default() += 1;
                    }
                }
            }
        }
    }
}

#[test]
fn undamaged_programs_go_through_everything() {
    for (i, text) in PROGRAMS.iter().enumerate() {
        let mut out = Vec::new();
        everything(text, &mut out);
        let done = out.iter().filter(|r| r.is_ok()).count();
        let layouts = if i + NOT_LAID_OUT < PROGRAMS.len() { 1 } else { 0 };
        assert!(done >= 6 + layouts, "{text}{:?}", out.iter().filter_map(|r| r.as_ref().err()).collect::<Vec<_>>());
    }
}

/// Asserts count as facts until they turn out not to be proved.
#[test]
fn what_rests_on_an_open_assert_is_open_from_the_start() {
    let text = "@export(\"g\")\nfn g(a: int in -10008..1000, b: int in 0..7) -> int in -8000..8000 {\n  let p = a * b\n  assert p >= -7000\n  p + 3\n}\n";
    let mut out = Vec::new();
    everything(text, &mut out);
    let faults: Vec<&Failure> = out.iter().filter_map(|r| r.as_ref().err()).filter(|e| matches!(e, Failure::Internal { .. })).collect();
    assert!(faults.is_empty(), "{faults:?}");
    assert_eq!(out.iter().filter(|r| matches!(r, Ok("build"))).count(), 3, "{out:?}");
}

/// What is open beside it changes nothing: the prover is not to be believed.
#[test]
fn a_fault_of_the_prover_is_an_internal_error() {
    let text = "fn f(x: u8) -> int in 0..9 { int(x) }\nfn g(x: u8) -> u8 { x }\n";
    let target = santoku_driver::built_in("portable").expect("a target").expect("built in");
    let mut load = |path: &str| Ok((path == "t.stk").then(|| text.to_string()));
    let checked = check(&Request::new("t.stk", target), &mut load).expect("a right program");
    let mut report = prove(&checked, &santoku_prove::cache::NoStore, 1);
    assert!(report.failed().count() > 0 && prover_fault(&checked, &report).is_none());
    let last = report.functions.last_mut().and_then(|f| f.obligations.last_mut()).expect("obligations");
    last.outcome = Outcome::Fault { engine: Engine::Smt, reason: "it contradicts itself".into(), witness: None };
    assert!(matches!(prover_fault(&checked, &report), Some(Failure::Internal { .. })));
}

#[test]
fn damaged_programs_are_answered_by_every_stage() {
    let mut count = Count::default();
    run(0..seeds::count(100), &mut count);
    println!("tried: damaged programs: {count:?}");
    assert!(count.accepted * 8 > count.tried && count.built > 0 && count.laid_out > 0, "{count:?}");
    assert!(count.refused.len() > 5, "{count:?}");
    for code in count.refused.keys() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/diagnostics/{code}.md"));
        assert!(page.exists(), "no page for {code}");
    }
}

#[test]
#[ignore = "long"]
fn soak_damaged_programs_are_answered_by_every_stage() {
    let mut count = Count::default();
    run(seeds::first()..seeds::first() + seeds::count(4_000), &mut count);
    println!("tried: damaged programs: {count:?}");
    assert!(count.built > 0 && count.laid_out > 0);
}
