//! Random programs at every level: their C is read back and accepted.

use santoku_backend_c::{emit, EmitError, Options};
use santoku_ir::gen::{program_with, Config};
use santoku_passes::{optimise, Level, PassOptions};
use std::collections::{BTreeMap, BTreeSet};

const LEVELS: [Level; 5] = [Level::O0, Level::O1, Level::O2, Level::O3, Level::Os];

/// A loop in a branch: its own stores were taken for those of the program.
const FOUND: [u64; 4] = [4181, 6661, 6843, 7862];

fn config(seed: u64) -> Config {
    match seed % 4 {
        0 => Config::plain(),
        1 => Config { words: vec![1, 7, 8, 24, 33, 64, 65, 127, 128], int_bits: 120, ..Config::default() },
        2 => Config { words: vec![1, 7, 8, 24, 33, 64], ..Config::default() },
        _ => Config::default(),
    }
}

#[test]
fn random_programs_are_read_back() {
    let last = std::env::var("SANTOKU_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let (mut functions, mut statements, mut others) = (0, 0, BTreeMap::<String, usize>::new());
    let mut wrong = vec![];
    let first = std::env::var("SANTOKU_FIRST").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    for seed in FOUND.into_iter().filter(|_| first == 0).chain(first..last) {
        let mut p = program_with(seed, &config(seed));
        for f in &mut p.funcs {
            f.export = Some(format!("exported_{}", f.name));
        }
        let (level, bits) = (LEVELS[(seed / 4 % 5) as usize], if seed % 2 == 0 { 32 } else { 64 });
        let made = optimise(&p, level, &BTreeSet::new(), &PassOptions::new(level, bits)).unwrap_or_else(|e| panic!("{seed}: {e}")).program;
        match emit(&made, &Options { widest: 2 * bits, ..Options::new("unit", None) }) {
            Ok(out) => {
                functions += out.compared.functions;
                statements += out.compared.statements;
            }
            Err(EmitError::Misprinted(e)) => wrong.push(format!("{seed} {level}: {e}")),
            Err(e) => *others.entry(e.to_string().split('`').last().unwrap_or_default().to_string()).or_default() += 1,
        }
    }
    println!("{functions} functions, {statements} statements; no C of {others:?}");
    assert!(wrong.is_empty(), "{} of {last}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(functions > 200 && statements > 2000, "{functions} functions, {statements} statements");
}
