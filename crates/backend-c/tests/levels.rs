//! From random programs to machine code: every level, every pass left out in turn, targets with and without integers of 128
//! bits, both compilers under sanitizers, against the interpreter.

mod support;

use santoku_backend_c::EmitError;
use santoku_ir::gen::{program_with, Config};
use santoku_ir::Program;
use santoku_lab::host::available;
use santoku_passes::{optimise, Level, PassOptions, TABLE};
use std::collections::{BTreeMap, BTreeSet};
use support::{build, call, differing, edges, random, Call, Mode, Subject, COMPILERS};

const LEVELS: [Level; 5] = [Level::O0, Level::O1, Level::O2, Level::O3, Level::Os];
/// Without it nothing has a machine type; what the compiler says then is its own affair.
const NEEDED: &str = "derive-width";

/// How one program is made.
struct Way {
    level: Level,
    without: Option<&'static str>,
    word_bits: u32,
}

/// All levels whole, then each with one pass left out, in turn.
fn way(n: u64) -> Way {
    let passes: Vec<&'static str> = TABLE.iter().map(|p| p.name).filter(|p| *p != NEEDED).collect();
    let turn = (n % (passes.len() as u64 + 1)) as usize;
    // A pass is left out where it runs: the levels that have most of them.
    let level = if turn == passes.len() { LEVELS[(n / (passes.len() as u64 + 1)) as usize % 5] } else { [Level::O2, Level::O3, Level::O1, Level::Os][(n / 3) as usize % 4] };
    Way { level, without: passes.get(turn).copied(), word_bits: if n % 2 == 0 { 32 } else { 64 } }
}

fn config(seed: u64) -> Config {
    match seed % 3 {
        0 => Config::plain(),
        1 => Config { words: vec![1, 7, 8, 24, 33, 64], ..Config::default() },
        _ => Config::default(),
    }
}

#[derive(Default)]
struct Count {
    programs: usize,
    calls: usize,
    numbers: usize,
    without: BTreeSet<&'static str>,
    levels: BTreeSet<String>,
    refused: BTreeMap<&'static str, usize>,
}

fn made(program: &Program, w: &Way, name: &str) -> Result<Program, String> {
    let without: BTreeSet<String> = w.without.iter().map(|p| (*p).to_string()).collect();
    optimise(program, w.level, &without, &PassOptions::new(w.level, w.word_bits)).map(|o| o.program).map_err(|e| format!("{name}: {e}"))
}

fn run(seeds: std::ops::Range<u64>, count: &mut Count) {
    let (mut subjects, mut whats) = (Vec::new(), Vec::new());
    for seed in seeds {
        let (program, w) = (program_with(seed, &config(seed)), way(seed));
        let name = format!("p{seed}");
        let what = format!("seed {seed}, {} without {:?}, {} bits", w.level, w.without, w.word_bits);
        let optimised = made(&program, &w, &what).unwrap_or_else(|e| panic!("{e}"));
        let widest = if w.word_bits == 32 { 64 } else { 128 };
        match Subject::on(&name, program, optimised, widest) {
            Ok(s) => {
                subjects.push(s);
                whats.push(what);
                count.without.extend(w.without);
                count.levels.insert(w.level.to_string());
            }
            Err(EmitError::TooWide { .. }) => *count.refused.entry("too wide").or_default() += 1,
            Err(EmitError::Unsupported { .. }) => *count.refused.entry("not in C").or_default() += 1,
            Err(e @ EmitError::Name { .. }) => panic!("{e}"),
            Err(EmitError::Unannotated { .. }) => *count.refused.entry("no range").or_default() += 1,
        }
    }
    let mut calls: Vec<Call> = Vec::new();
    for (k, s) in subjects.iter().enumerate() {
        for (e, id) in s.entries.iter().enumerate() {
            let inputs = random(&s.program, *id, 4, k as u64).into_iter().chain(edges(&s.program, *id));
            calls.extend(inputs.map(|(lens, args)| call(&subjects, k, e, &lens, args)));
        }
    }
    let mut ran = 0;
    for compiler in COMPILERS.into_iter().filter(|c| available(c)) {
        let program = build(compiler, &subjects, Mode::Strict).unwrap_or_else(|e| panic!("{e}"));
        let wrong = differing(&program, &calls).unwrap_or_else(|e| panic!("{compiler}: {e}"));
        let shown: Vec<String> = wrong.iter().take(5).map(|c| format!("{}: {}", whats[c.subject()], c.what())).collect();
        assert!(wrong.is_empty(), "{compiler}: {} of {} calls differ: {shown:#?}", wrong.len(), calls.len());
        ran += 1;
    }
    assert!(ran > 0, "no compiler");
    count.programs += subjects.len();
    count.calls += calls.len() * ran;
    count.numbers += calls.iter().map(Call::results).sum::<usize>() * ran;
}

fn print(c: &Count) {
    let Count { programs, calls, numbers, without, levels, refused } = c;
    println!("tried: {programs} programs, {calls} calls, {numbers} numbers; levels {levels:?}; {} passes left out in turn; not printed {refused:?}", without.len());
}

fn seeds(few: u64) -> u64 {
    std::env::var("SANTOKU_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(few)
}

#[test]
fn every_level_and_every_pass_left_out_computes_what_the_interpreter_does() {
    let passes = TABLE.len() as u64 - 1;
    let mut count = Count::default();
    run(0..seeds(2 * (passes + 1)).max(2 * (passes + 1)), &mut count);
    print(&count);
    assert!(count.programs as u64 > passes && count.numbers > 300, "{} programs", count.programs);
    assert_eq!((count.without.len() as u64, count.levels.len()), (passes, LEVELS.len()), "{:?}", count.without);
}

/// The harness itself: the program is another than what was compiled.
#[test]
fn a_program_compiled_in_place_of_another_is_seen() {
    let mut seen = 0;
    for seed in 0..6 {
        let program = program_with(3 * seed, &Config::plain());
        let good = made(&program, &way(seed), "p").unwrap_or_else(|e| panic!("{e}"));
        let Ok(mut s) = Subject::on("p", program, good, 128) else { continue };
        if !(s.mutate(" + ", " - ", 0) || s.mutate(" ^ ", " & ", 0) || s.mutate(" & ", " | ", 0)) {
            continue;
        }
        let s = [s];
        let inputs = |id| random(&s[0].program, id, 6, 1).into_iter().chain(edges(&s[0].program, id));
        let calls: Vec<Call> = s[0].entries.iter().enumerate().flat_map(|(e, id)| inputs(*id).map(move |i| (e, i))).map(|(e, (l, a))| call(&s, 0, e, &l, a)).collect();
        let binary = build("gcc", &s, Mode::Lenient).unwrap_or_else(|e| panic!("{e}"));
        seen += usize::from(!differing(&binary, &calls).unwrap_or_else(|e| panic!("{e}")).is_empty());
    }
    println!("{seen} spoiled programs seen");
    assert!(seen > 0);
}

#[test]
#[ignore = "long"]
fn soak_every_level_and_every_pass_left_out() {
    let mut count = Count::default();
    let n = seeds(2_000);
    for from in (0..n).step_by(50) {
        run(10_000 + from..10_000 + (from + 50).min(n), &mut count);
    }
    print(&count);
    assert!(count.programs > 0 && count.without.len() + 1 == TABLE.len(), "{:?}", count.without);
}
