//! Random programs: their C, compiled with every warning an error and sanitizers on, computes what the interpreter does.

mod support;

use santoku_backend_c::EmitError;
use santoku_ir::gen::{program_with, Config};
use std::collections::BTreeMap;
use santoku_skips::installed;
use support::{annotated, build, call, differing, edges, random, Call, Mode, Subject, COMPILERS};

/// Programs to try; a longer run sets the variable.
fn seeds() -> u64 {
    std::env::var("SANTOKU_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(80)
}

fn config(seed: u64) -> Config {
    match seed % 4 {
        0 => Config::plain(),
        1 => Config { words: vec![1, 7, 8, 24, 33, 64, 65, 127, 128], int_bits: 120, ..Config::default() },
        _ => Config::default(),
    }
}

/// The programs of these seeds that the back end prints, and why it does not print the others.
fn subjects(seeds: std::ops::Range<u64>) -> (Vec<Subject>, BTreeMap<String, usize>) {
    let (mut made, mut refused) = (vec![], BTreeMap::new());
    for seed in seeds {
        let program = program_with(seed, &config(seed));
        let ranged = annotated(&program);
        match Subject::new(&format!("p{seed}"), program, ranged) {
            Ok(s) => made.push(s),
            Err(e) => *refused.entry(reason(&e)).or_default() += 1,
        }
    }
    (made, refused)
}

/// The kind of refusal, without names and numbers.
fn reason(e: &EmitError) -> String {
    match e {
        EmitError::TooWide { .. } => "too wide".into(),
        EmitError::Name { .. } => "name".into(),
        EmitError::Unannotated { what, .. } => format!("no range for {}", what.split('`').next().unwrap_or(what)),
        EmitError::Storage { .. } => "no storage".into(),
        EmitError::Unsupported { what, .. } => what.split(" (`").next().unwrap_or(what).to_string(),
        EmitError::Misprinted(_) => panic!("{e}"),
    }
}

fn calls(subjects: &[Subject], each: u64) -> Vec<Call> {
    let mut out = vec![];
    for (k, s) in subjects.iter().enumerate() {
        for (e, id) in s.entries.iter().enumerate() {
            let inputs = random(&s.program, *id, each, k as u64).into_iter().chain(edges(&s.program, *id));
            out.extend(inputs.map(|(lens, args)| call(subjects, k, e, &lens, args)));
        }
    }
    out
}

#[test]
fn random_programs_compute_what_the_interpreter_does() {
    let (subjects, refused) = subjects(0..seeds());
    println!("{} programs printed, refused: {refused:?}", subjects.len());
    let calls = calls(&subjects, 6);
    let results: usize = calls.iter().map(Call::results).sum();
    assert!(subjects.len() as u64 * 2 > seeds() && calls.len() > 800 && results > calls.len(), "{} programs, {} calls", subjects.len(), calls.len());
    let mut ran = 0;
    for compiler in installed(&santoku_skips::seeds::one(COMPILERS, 1)) {
        let program = build(compiler, &subjects, Mode::Strict).unwrap_or_else(|e| panic!("{e}"));
        let wrong = differing(&program, &calls).unwrap_or_else(|e| panic!("{compiler}: {e}"));
        println!("tried: {compiler}: {} programs, {} calls, {results} numbers compared", subjects.len(), calls.len());
        let shown: Vec<&str> = wrong.iter().take(5).map(|c| c.what()).collect();
        assert!(wrong.is_empty(), "{compiler}: {} of {} calls differ: {shown:#?}", wrong.len(), calls.len());
        ran += 1;
    }
    assert!(ran > 0, "no compiler");
}

/// The same harness sees an operator exchanged in the emitted C of a random program, wherever it matters to a result.
#[test]
fn a_wrong_operator_in_the_c_is_seen() {
    let swaps = [(" + ", " - "), (" ^ ", " | "), (" << ", " >> "), (" & ", " | ")];
    let (mut spoiled, _) = subjects(0..48);
    let mut mutants = std::collections::BTreeSet::new();
    for (k, s) in spoiled.iter_mut().enumerate() {
        let (from, to) = swaps[k % swaps.len()];
        if s.mutate(from, to, k / 2) || s.mutate(from, to, 0) {
            mutants.insert(k);
        }
    }
    let calls = calls(&spoiled, 6);
    let program = build("gcc", &spoiled, Mode::Lenient).unwrap_or_else(|e| panic!("{e}"));
    let wrong = differing(&program, &calls).unwrap_or_else(|e| panic!("{e}"));
    let caught: std::collections::BTreeSet<usize> = wrong.iter().map(|c| c.subject()).collect();
    println!("{} of {} spoiled programs seen", caught.len(), mutants.len());
    assert!(caught.is_subset(&mutants), "sound programs differ: {caught:?}");
    assert!(mutants.len() > 15 && caught.len() * 2 > mutants.len(), "{} of {}", caught.len(), mutants.len());
}
