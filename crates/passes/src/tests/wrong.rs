//! Passes made wrong after the fact: the real pass runs, then something is changed that a mistake in it might have
//! changed. Whatever it is, the pass is refused or its rewrite is put back; and each change is shown to matter, by
//! inputs on which the interpreter (which checks ranges) tells the two programs apart, or by what is declared.

mod declared;
pub mod random;
pub mod text;

use crate::run::{run_passes, step};
use crate::{find, Level, Optimised, Pass, PassFailure, PassOptions, PIPELINE, TABLE};
use santoku_ir::interp::{Interp, Options};
use santoku_ir::{FuncId, Program};
use santoku_prove::equiv::{random_inputs, Rng};
use std::cell::Cell;

/// Changes what a pass made of a program; does nothing where there is nothing to change.
type Mistake = fn(&mut Program);

thread_local! {
    /// The real pass and the mistake; a rewrite is a plain function.
    static WRONG: Cell<(&'static str, Mistake)> = const { Cell::new(("", |_| {})) };
}

fn wrong(p: &Program, o: &PassOptions) -> Program {
    let (name, mistake) = WRONG.get();
    let mut q = (find(name).expect("a pass").run)(p, o);
    mistake(&mut q);
    q
}

fn sample() -> Program {
    let mut load = |path: &str| (path == "wrong.stk").then(|| include_str!("wrong.stk").to_string());
    let done = santoku_sema::compile("wrong.stk", &[], &mut load, &santoku_sema::Options::default());
    done.unwrap_or_else(|f| panic!("{:#?}", f.diagnostics)).program
}

/// The sample of the other tests, where the mistakes are in what is computed.
pub fn samples() -> [Program; 2] {
    [sample(), super::samples::program()]
}

pub fn options(level: Level) -> PassOptions {
    PassOptions { keep_tests: true, ..PassOptions::new(level, 32) }
}

pub fn passes(level: Level) -> Vec<&'static Pass> {
    PIPELINE.iter().filter_map(|n| find(n)).filter(|p| p.runs_at(level)).collect()
}

/// All passes of the level, with this one going wrong.
fn with_mistake(p: &Program, level: Level, name: &'static str, mistake: Mistake) -> Result<Optimised, PassFailure> {
    WRONG.set((name, mistake));
    let broken = Pass { run: wrong, ..*find(name).expect("a pass") };
    let all: Vec<&Pass> = passes(level).into_iter().map(|p| if p.name == name { &broken } else { p }).collect();
    run_passes(p, &all, &options(level), &mut |_, _| {}, &|| 0)
}

/// Everything declared, bodies left out.
fn facts(p: &Program) -> String {
    let mut p = p.clone();
    p.funcs.iter_mut().for_each(|f| f.body.clear());
    format!("{p:#?}")
}

/// Does the interpreter tell the programs apart, in functions that both have, ranges checked?
fn behave_differently(right: &Program, wrong: &Program, runs: u64) -> bool {
    let (mut a, mut b) = (Interp::with_options(right, Options::checked()), Interp::with_options(wrong, Options::checked()));
    right.funcs.iter().enumerate().any(|(at, f)| {
        let Some(new) = wrong.find(&f.name) else { return false };
        let mut rng = Rng::new(at as u64 + 7);
        (0..runs).any(|_| {
            let i = random_inputs(right, f, &mut rng);
            let (x, y) = (a.call(FuncId(at as u32), &i.lens, i.args.clone()), b.call(new, &i.lens, i.args));
            x.as_ref().ok() != y.as_ref().ok() || x.is_err() != y.is_err()
        })
    })
}

/// Does the mistake make a difference at some run of the pass? The programs are those that the real passes make.
fn matters(p: &Program, level: Level, name: &'static str, mistake: Mistake) -> bool {
    let mut program = p.clone();
    passes(level).into_iter().any(|pass| {
        let (right, _) = step(pass, &program, &options(level)).unwrap_or_else(|e| panic!("{e}"));
        let mut wrong = right.clone();
        mistake(&mut wrong);
        program = right;
        pass.name == name && wrong != program && (facts(&wrong) != facts(&program) || behave_differently(&program, &wrong, 40))
    })
}

/// What the mistake led to: `true` refused, `false` put back.
fn caught(p: &Program, level: Level, name: &'static str, mistake: Mistake) -> Result<bool, String> {
    let done = match with_mistake(p, level, name, mistake) {
        Err(e) if e.pass == name => return Ok(true),
        Err(e) => return Err(format!("the wrong pass is named: {e}")),
        Ok(done) => done,
    };
    if !done.steps.iter().any(|s| s.pass == name && !s.reverted.is_empty()) {
        return Err("neither refused nor put back".into());
    }
    if behave_differently(p, &done.program, 20) {
        return Err("put back, but something is left of it".into());
    }
    let open = crate::derive_width::check(&done.program).open;
    open.first().map_or(Ok(false), |o| Err(format!("put back, but {}", o.text)))
}

#[test]
fn the_real_passes_are_neither_refused_nor_put_back() {
    for p in samples() {
        for level in Level::ALL {
            let done = run_passes(&p, &passes(level), &options(level), &mut |_, _| {}, &|| 0).unwrap_or_else(|e| panic!("{e}"));
            assert!(done.steps.iter().all(|s| s.reverted.is_empty()), "{level}: {:#?}", done.steps);
            assert_eq!(done.believed().collect::<Vec<_>>(), [], "{level}");
            assert!(done.again.accepted == done.again.asked && done.again.scalars > 0, "{level}: {:?}", done.again);
            assert!(!behave_differently(&p, &done.program, 20), "{level}");
        }
    }
}

#[test]
fn every_mistake_in_a_text_or_a_range_is_caught() {
    let samples = samples();
    let (mut refused, mut put_back, mut idle) = (0, 0, Vec::new());
    let mut missed = Vec::new();
    let mistakes = santoku_skips::seeds::some(text::MISTAKES, 3);
    for (name, level, what, mistake) in &mistakes {
        let Some(p) = samples.iter().find(|p| matters(p, *level, name, *mistake)) else {
            idle.push(format!("`{name}`: {what}"));
            continue;
        };
        match caught(p, *level, name, *mistake) {
            Ok(true) => refused += 1,
            Ok(false) => put_back += 1,
            Err(why) => missed.push(format!("`{name}` at {level}: {what}: {why}")),
        }
    }
    println!("tried: {} mistakes in texts and ranges: {refused} refused, {put_back} put back", mistakes.len());
    assert!(missed.is_empty() && idle.is_empty(), "not caught: {missed:#?}\nthese change nothing: {idle:#?}");
    assert!(refused + put_back >= santoku_skips::seeds::least(60, 3) && put_back >= santoku_skips::seeds::least(5, 3) && refused >= santoku_skips::seeds::least(5, 3));
}

#[test]
fn every_change_of_what_is_declared_is_refused_in_every_pass() {
    let p = sample();
    let mut tried = 0;
    for pass in TABLE {
        let level = if pass.runs_at(Level::O2) { Level::O2 } else { Level::Os };
        let mut program = p.clone();
        for before in passes(level).into_iter().take_while(|b| b.name != pass.name) {
            program = step(before, &program, &options(level)).unwrap_or_else(|e| panic!("{e}")).0;
        }
        let (right, _) = step(pass, &program, &options(level)).unwrap_or_else(|e| panic!("{e}"));
        for (what, mistake) in declared::MISTAKES {
            let mut wrong_one = right.clone();
            mistake(&mut wrong_one);
            assert_ne!(facts(&wrong_one), facts(&right), "`{}`: {what}: changes nothing", pass.name);
            WRONG.set((pass.name, *mistake));
            let broken = Pass { run: wrong, ..*pass };
            match step(&broken, &program, &options(level)) {
                Err(e) => assert_eq!(e.pass, pass.name),
                Ok(_) => panic!("`{}`: {what}: accepted", pass.name),
            }
            tried += 1;
        }
    }
    println!("tried: {tried} changes of what is declared ({} in each of {} passes): all refused", declared::MISTAKES.len(), TABLE.len());
    assert!(tried >= 400);
}
