//! From random programs to machine code: every level, every pass left out in turn, targets with and without integers of 128
//! bits, against the interpreter. Both compilers under sanitizers on the host; by both for RISC-V, in the model of the E31 and on
//! CKB-VM.

mod support;

use santoku_backend_c::EmitError;
use santoku_ir::gen::{program_with, Config};
use santoku_ir::Program;
use santoku_lab::harness;
use santoku_passes::{optimise, Level, PassOptions, TABLE};
use santoku_skips::{installed, seeds};
use std::collections::{BTreeMap, BTreeSet};
use support::riscv::{self, Machine};
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

impl Way {
    /// Bits of the widest integer of a target with words of that size.
    fn widest(&self) -> u32 {
        2 * self.word_bits
    }
}

/// A third whole, the levels in turn; else each pass left out in turn.
fn way(n: u64) -> Way {
    let word_bits = if n % 2 == 0 { 32 } else { 64 };
    if n % 6 > 3 {
        return Way { level: LEVELS[(n / 6 % 5) as usize], without: None, word_bits };
    }
    let passes: Vec<&'static str> = TABLE.iter().map(|p| p.name).filter(|p| *p != NEEDED).collect();
    // A pass is left out where it runs: the levels that have most of them. Each round is one further on, so that a pass meets all
    // kinds of programs.
    let level = [Level::O2, Level::O3, Level::O1, Level::Os][(n / 3) as usize % 4];
    let nth = (n / 6 * 4 + n % 6) as usize;
    Way { level, without: Some(passes[(nth + nth / passes.len()) % passes.len()]), word_bits }
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
    machines: BTreeMap<Machine, usize>,
    without: BTreeSet<&'static str>,
    /// Levels that ran whole.
    levels: BTreeSet<String>,
    refused: BTreeMap<&'static str, usize>,
}

fn made(program: &Program, w: &Way, name: &str) -> Result<Program, String> {
    let without: BTreeSet<String> = w.without.iter().map(|p| (*p).to_string()).collect();
    optimise(program, w.level, &without, &PassOptions::new(w.level, w.word_bits)).map(|o| o.program).map_err(|e| format!("{name}: {e}"))
}

/// The programs of these seeds, compiled for RISC-V at levels that go with `turn`.
fn run(seeds: std::ops::Range<u64>, turn: usize, count: &mut Count) {
    let (mut subjects, mut whats) = (Vec::new(), Vec::new());
    for seed in seeds {
        let (program, w) = (program_with(seed, &config(seed)), way(seed));
        let name = format!("p{seed}");
        let what = format!("seed {seed}, {} without {:?}, {} bits", w.level, w.without, w.word_bits);
        let optimised = made(&program, &w, &what).unwrap_or_else(|e| panic!("{e}"));
        match Subject::on(&name, program, optimised, w.widest()) {
            Ok(s) => {
                subjects.push(s);
                whats.push(what);
                count.without.extend(w.without);
                if w.without.is_none() {
                    count.levels.insert(w.level.to_string());
                }
            }
            Err(EmitError::TooWide { .. }) => *count.refused.entry("too wide").or_default() += 1,
            Err(EmitError::Unsupported { .. } | EmitError::Storage { .. }) => *count.refused.entry("not in C").or_default() += 1,
            Err(e @ (EmitError::Name { .. } | EmitError::Misprinted(_))) => panic!("{what}: {e}"),
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
    for compiler in installed(&COMPILERS) {
        let program = build(compiler, &subjects, Mode::Strict).unwrap_or_else(|e| panic!("{e}"));
        let wrong = differing(&program, &calls).unwrap_or_else(|e| panic!("{compiler}: {e}"));
        let shown: Vec<String> = wrong.iter().take(5).map(|c| format!("{}: {}", whats[c.subject()], c.what())).collect();
        assert!(wrong.is_empty(), "{compiler}: {} of {} calls differ: {shown:#?}", wrong.len(), calls.len());
        ran += 1;
    }
    assert!(ran > 0, "no compiler");
    for (nth, machine) in Machine::ALL.into_iter().enumerate() {
        let level = harness::Level::ALL[(turn + 2 * nth) % 5];
        let on = riscv::run(machine, &subjects, &calls, level).unwrap_or_else(|e| panic!("{machine:?}, {level:?}: {e}"));
        let shown: Vec<String> = on.wrong.iter().take(5).map(|c| format!("{}: {}", whats[c.subject()], c.what())).collect();
        assert!(on.wrong.is_empty(), "{machine:?}, {level:?}: {} of {} calls differ: {shown:#?}", on.wrong.len(), on.calls.len());
        *count.machines.entry(machine).or_default() += on.calls.len();
    }
    count.programs += subjects.len();
    count.calls += calls.len() * ran;
    count.numbers += calls.iter().map(Call::results).sum::<usize>() * ran;
}

fn print(c: &Count) {
    let Count { programs, calls, numbers, machines, without, levels, refused } = c;
    println!("tried: {programs} programs, {calls} calls, {numbers} numbers; calls on RISC-V {machines:?}; whole levels {levels:?}; {} passes left out in turn; not printed {refused:?}", without.len());
}

#[test]
fn every_level_and_every_pass_left_out_computes_what_the_interpreter_does() {
    let passes = TABLE.len() as u64 - 1;
    let mut count = Count::default();
    // Each level whole, and each pass left out at several.
    for turn in seeds::part(0..5, 3) {
        run(turn * passes..(turn + 1) * passes, turn as usize, &mut count);
    }
    print(&count);
    // Of all turns together, or of the shortest part.
    let [programs, without, levels] = if seeds::whole() { [2 * passes as usize, passes as usize, LEVELS.len()] } else { [passes as usize / 2, passes as usize / 4, 1] };
    assert!(count.programs > programs && count.numbers > seeds::least(300, 3), "{} programs", count.programs);
    assert!(count.machines.values().all(|calls| *calls > 100) && count.machines.len() == Machine::ALL.len(), "{:?}", count.machines);
    assert!(count.without.len() >= without && count.levels.len() >= levels, "{:?} {:?}", count.without, count.levels);
}

/// The harness itself: the program is another than what was compiled.
#[test]
fn a_program_compiled_in_place_of_another_is_seen() {
    let (mut seen, mut on_riscv) = (0, BTreeSet::new());
    for seed in 0..6 {
        let program = program_with(3 * seed, &Config::plain());
        let w = way(seed);
        let good = made(&program, &w, "p").unwrap_or_else(|e| panic!("{e}"));
        let Ok(mut s) = Subject::on("p", program, good, w.widest()) else { continue };
        if !(s.mutate(" + ", " - ", 0) || s.mutate(" ^ ", " & ", 0) || s.mutate(" & ", " | ", 0)) {
            continue;
        }
        let s = [s];
        let inputs = |id| random(&s[0].program, id, 6, 1).into_iter().chain(edges(&s[0].program, id));
        let calls: Vec<Call> = s[0].entries.iter().enumerate().flat_map(|(e, id)| inputs(*id).map(move |i| (e, i))).map(|(e, (l, a))| call(&s, 0, e, &l, a)).collect();
        let binary = build("gcc", &s, Mode::Lenient).unwrap_or_else(|e| panic!("{e}"));
        if differing(&binary, &calls).unwrap_or_else(|e| panic!("{e}")).is_empty() {
            continue;
        }
        seen += 1;
        for machine in Machine::ALL.into_iter().filter(|m| m.takes(&s[0])) {
            let on = riscv::run(machine, &s, &calls, harness::Level::O1).unwrap_or_else(|e| panic!("{machine:?}: {e}"));
            assert!(!on.wrong.is_empty(), "{machine:?} computes what the interpreter does");
            on_riscv.insert(machine);
        }
    }
    println!("{seen} spoiled programs seen, on RISC-V by {on_riscv:?}");
    assert!(seen > 0 && on_riscv.len() == Machine::ALL.len(), "{on_riscv:?}");
}

#[test]
#[ignore = "long"]
fn soak_every_level_and_every_pass_left_out() {
    let mut count = Count::default();
    let (first, n) = (seeds::first(), seeds::count(300));
    for from in (0..n).step_by(50) {
        run(first + from..first + (from + 50).min(n), from as usize / 50, &mut count);
    }
    print(&count);
    assert!(count.programs > 0 && count.without.len() + 1 == TABLE.len(), "{:?}", count.without);
}
