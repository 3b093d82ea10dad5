//! The second look: what the passes do is accepted, what changes a result is not.

use super::wrong::{options, passes, random, samples, text};
use crate::again::look;
use crate::run::step;
use crate::{optimise, Level, PassOptions};
use santoku_ir::gen::{program_with, Config};
use santoku_ir::interp::Interp;
use santoku_ir::{FuncId, Program};
use santoku_meaning::twins;
use santoku_prove::equiv::{random_inputs, Rng};
use santoku_skips::seeds;
use std::collections::BTreeSet;

/// Functions of both programs that give different results on some input on which both run.
fn different(p: &Program, q: &Program, runs: u64) -> Vec<FuncId> {
    let (mut a, mut b) = (Interp::new(p), Interp::new(q));
    let mut differs = |at: usize| {
        let f = &q.funcs[at];
        let Some(old) = p.find(&f.name) else { return false };
        let mut rng = Rng::new(at as u64 + 11);
        (0..runs).any(|_| {
            let i = random_inputs(p, p.func(old), &mut rng);
            let (x, y) = (a.call(old, &i.lens, i.args.clone()), b.call(FuncId(at as u32), &i.lens, i.args));
            matches!((x, y), (Ok(x), Ok(y)) if x != y)
        })
    };
    (0..q.funcs.len()).filter(|at| differs(*at)).map(|at| FuncId(at as u32)).collect()
}

/// A function differs by itself or by what it calls: of those that differ, one whose callees do not has to be refused.
fn refused(p: &Program, q: &Program, different: &[FuncId], what: &str) -> usize {
    let calls_one = |f: &FuncId| {
        let mut one = false;
        santoku_ir::visit::walk_stmts(&q.func(*f).body, &mut |s| one |= matches!(s, santoku_ir::Stmt::Call { func, .. } if different.contains(func)));
        one
    };
    let own: Vec<&FuncId> = different.iter().filter(|f| !calls_one(f)).collect();
    for f in &own {
        assert!(twins::check(p, q, **f).is_err(), "{what}: `{}` gives something else and is accepted", q.func(**f).name);
    }
    own.len()
}

#[test]
fn what_passes_make_of_random_programs_is_accepted() {
    let (mut asked, mut believed, mut scalars) = (0, vec![], 0);
    for seed in 0..60 {
        let config = if seed % 2 == 0 { Config::default() } else { Config::plain() };
        let p = program_with(seed, &config);
        let level = Level::ALL[seed as usize % 5];
        let done = optimise(&p, level, &BTreeSet::new(), &PassOptions::new(level, 32)).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        (asked, scalars) = (asked + done.again.asked, scalars + done.again.scalars);
        assert_eq!(done.again.accepted + done.again.believed.len(), done.again.asked);
        believed.extend(done.again.believed.into_iter().map(|(f, why)| format!("seed {seed} {level} {f}: {why}")));
    }
    println!("asked: {asked} functions of random programs, {scalars} scalars; not accepted: {}", believed.len());
    assert!(asked > 100 && believed.len() * 10 <= asked, "{believed:#?}");
}

#[test]
fn mistakes_in_passes_are_refused() {
    let samples = samples();
    let (mut found, mut without) = (0, 0);
    for (name, level, what, mistake) in text::MISTAKES {
        let mut own = 0;
        for p in &samples {
            let mut program = p.clone();
            for pass in passes(*level) {
                let (right, _) = step(pass, &program, &options(*level)).unwrap_or_else(|e| panic!("{e}"));
                if pass.name == *name {
                    let mut wrong = right.clone();
                    mistake(&mut wrong);
                    own += refused(&program, &wrong, &different(&program, &wrong, 40), what);
                }
                program = right;
            }
        }
        (found, without) = (found + own, without + usize::from(own == 0));
    }
    println!("tried: {} mistakes; {found} functions that gave something else, all refused; {without} mistakes in ranges alone", text::MISTAKES.len());
    assert!(found > 40 && without < text::MISTAKES.len());
}

fn changed(range: std::ops::Range<u64>) -> (usize, usize, usize) {
    let (mut tried, mut gone, mut alike) = (0, 0, 0);
    for seed in range {
        let config = if seed % 2 == 0 { Config::default() } else { Config::plain() };
        let p = program_with(seed / 4, &config);
        let mut q = p.clone();
        random::with_seed(seed + 1, &mut q);
        if !santoku_ir::verify::verify(&q).is_empty() || p == q {
            continue;
        }
        tried += 1;
        gone += refused(&p, &q, &different(&p, &q, 30), &format!("seed {seed}"));
        alike += look(&p, &q).accepted;
    }
    (tried, gone, alike)
}

#[test]
fn changed_random_programs_are_refused() {
    let (tried, gone, alike) = changed(0..400);
    println!("tried: {tried} changes of random programs: {gone} functions gave something else, all refused; {alike} functions accepted");
    assert!(tried > 150 && gone > 60 && alike > 60);
}

#[test]
#[ignore = "long: make soak"]
fn soak_changed_random_programs_are_refused() {
    let (first, n) = (seeds::first(), seeds::count(50_000));
    let (tried, gone, alike) = changed(first..first + n);
    println!("tried: {tried} changes of random programs: {gone} functions gave something else, all refused; {alike} functions accepted");
    assert!(gone * 20 > tried);
}

/// Pairs of programs, the second of which gives something else, that were once accepted; and one that was not survived.
const PAIRS: [(&str, &str, bool); 5] = [
    ("bounds of a wrong guess", include_str!("again_pairs/bounds_of_a_wrong_guess.ir"), true),
    ("results of a passed length", include_str!("again_pairs/results_of_a_passed_length.ir"), true),
    ("a scalar first written in a loop", include_str!("again_pairs/scalar_first_written_in_a_loop.ir"), true),
    ("arrays in arrays of a passed length", include_str!("again_pairs/arrays_in_arrays_of_a_passed_length.ir"), true),
    ("a local of a passed length", include_str!("again_pairs/local_of_a_passed_length.ir"), false),
];

#[test]
fn pairs_that_are_different_are_refused() {
    for (what, text, wrong) in PAIRS {
        let (p, q) = text.split_once("=====\n").unwrap_or_else(|| panic!("{what}"));
        let [p, q] = [p, q].map(|t| santoku_ir::text::parse(t).unwrap_or_else(|e| panic!("{what}: {e:?}")));
        assert!(santoku_ir::verify::verify(&p).is_empty() && santoku_ir::verify::verify(&q).is_empty(), "{what}");
        let f = q.find("f").unwrap_or_else(|| panic!("{what}"));
        assert_eq!(twins::check(&p, &q, f).is_err(), wrong, "{what}");
        let alike = twins::check(&p, &p, p.find("f").unwrap_or_else(|| panic!("{what}")));
        println!("{what}: the first beside itself: {alike:?}");
    }
}

/// Functions that take too long to be followed, beside themselves: an end comes soon, if need be by giving up.
#[test]
fn what_takes_too_long_is_given_up() {
    for (what, body, follows) in [
        ("empty rounds", "for i#3 in 0 ..< 1000000000000 { }\n    r#1 = x#0", false),
        ("empty rounds in others", "for i#3 in 0 ..< 300000 { for j#4 in 0 ..< 16000000 { } }\n    r#1 = x#0", false),
        ("squares of squares", "y#2 = cast<int>(x#0)\n    for i#3 in 0 ..< 40 { y#2 = (y#2 * y#2) }\n    r#1 = cast<u8>(y#2)", true),
    ] {
        let text = format!("santoku-ir 1\nfn f {{\n  param x: u8\n  ret r: u8\n  var y: int\n  counter i: public int\n  counter j: public int\n  body {{\n    {body}\n  }}\n}}\n");
        let p = santoku_ir::text::parse(&text).unwrap_or_else(|e| panic!("{what}: {e:?}"));
        assert!(santoku_ir::verify::verify(&p).is_empty(), "{what}");
        let start = std::time::Instant::now();
        let alike = twins::check(&p, &p, p.find("f").unwrap_or_else(|| panic!("{what}")));
        println!("{what}: {alike:?} after {:?}", start.elapsed());
        assert!(alike.is_ok() == follows && start.elapsed().as_secs() < 60, "{what}");
    }
}
