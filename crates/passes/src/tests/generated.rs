//! Random programs: every level and ablation must be validated and must not change what they do.

use crate::{optimise, Level, PassOptions, TABLE};
use santoku_ir::gen::{args, program_with, Config};
use santoku_ir::interp::Interp;
use santoku_ir::{FuncId, Program};
use std::collections::BTreeSet;

/// Compares every function that is still there on generated arguments; gives the number of runs.
fn compare(p: &Program, q: &Program, seed: u64, what: &str) -> usize {
    let mut runs = 0;
    for (at, f) in p.funcs.iter().enumerate() {
        let (id, Some(new)) = (FuncId(at as u32), q.find(&f.name)) else { continue };
        for shot in 0..3 {
            let (lens, values) = args(p, id, seed * 31 + shot);
            let a = Interp::new(p).call(id, &lens, values.clone()).map_err(|e| e.kind);
            let b = Interp::new(q).call(new, &lens, values).map_err(|e| e.kind);
            assert_eq!(a, b, "seed {seed}, {}, {what}", f.name);
            runs += 1;
        }
    }
    runs
}

/// Programs to try; a longer run sets the variable.
fn seeds() -> u64 {
    std::env::var("SANTOKU_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(60)
}

#[test]
fn random_programs_survive_every_level_and_ablation() {
    let (mut runs, mut changed, mut reverted) = (0, 0, Vec::new());
    let mut touched: BTreeSet<&str> = BTreeSet::new();
    for seed in 0..seeds() {
        let config = match seed % 3 {
            0 => Config::default(),
            1 => Config::all(),
            _ => Config::plain(),
        };
        let p = program_with(seed, &config);
        let level = Level::ALL[seed as usize % 5];
        let mut cuts: Vec<BTreeSet<String>> = vec![BTreeSet::new()];
        // One ablation per program at its level, every pass in turn.
        cuts.push(BTreeSet::from([TABLE[(seed as usize / 5) % TABLE.len()].name.to_string()]));
        for without in cuts {
            let what = format!("{level} without {without:?}");
            let done = optimise(&p, level, &without, &PassOptions::new(level, 32))
                .unwrap_or_else(|e| panic!("seed {seed}, {what}: {e}"));
            for step in &done.steps {
                changed += step.changed.len();
                if !step.changed.is_empty() {
                    touched.insert(step.pass);
                }
                reverted.extend(step.reverted.iter().map(|(f, why)| format!("seed {seed} {} {f}: {why}", step.pass)));
            }
            runs += compare(&p, &done.program, seed, &what);
        }
    }
    assert!(runs > 300 && changed > 300, "{runs} runs, {changed} functions changed");
    assert!(touched.len() >= 8, "only {touched:?} found work");
    // Undecided is allowed, but it is the exception.
    assert!(reverted.len() * 20 <= changed, "{} of {changed}: {reverted:#?}", reverted.len());
}
