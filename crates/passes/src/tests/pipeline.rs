//! Every level, and every level without each pass.

use super::samples::{options, program, same_behaviour, with_hint};
use crate::{optimise, Level, PassOptions, Reason, TABLE};
use santoku_ir::Unroll;
use std::collections::BTreeSet;

fn run(p: &santoku_ir::Program, level: Level, without: &[&str]) -> crate::Optimised {
    let without: BTreeSet<String> = without.iter().map(|s| (*s).to_string()).collect();
    match optimise(p, level, &without, &options(level)) {
        Ok(done) => done,
        Err(e) => panic!("{level} without {without:?}: {e}"),
    }
}

#[test]
fn the_sample_is_well_formed() {
    let errors = santoku_ir::verify::verify(&program());
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn every_level_without_every_pass_is_validated_and_means_the_same() {
    let p = program();
    let (mut checked, mut runs) = (0, 0);
    for level in Level::ALL {
        let names = TABLE.iter().filter(|t| t.runs_at(level)).map(|t| vec![t.name]);
        for without in std::iter::once(Vec::new()).chain(names) {
            let done = run(&p, level, &without);
            for step in &done.steps {
                assert_eq!(step.changed.len(), step.equal, "{level} {}: {:?}", step.pass, step.reverted);
                assert!(step.reverted.is_empty(), "{level} {}: {:?}", step.pass, step.reverted);
                assert!(!without.contains(&step.pass));
                checked += step.equal;
            }
            runs += same_behaviour(&p, &done.program, 3);
        }
    }
    assert!(checked > 500 && runs > 500, "checked {checked}, ran {runs}");
}

#[test]
fn hints_are_obeyed_and_validated() {
    let loops = |p: &santoku_ir::Program, name: &str| {
        let mut n = 0;
        let id = p.find(name).expect("there");
        santoku_ir::visit::walk_stmts(&p.func(id).body, &mut |s| n += usize::from(matches!(s, santoku_ir::Stmt::For { .. })));
        n
    };
    let without = ["inline", "dead-functions"];
    let rolled = run(&with_hint(program(), Unroll::Never), Level::O3, &without);
    let unrolled = run(&with_hint(program(), Unroll::Always), Level::O1, &without);
    let small = run(&program(), Level::Os, &without);
    assert!(loops(&rolled.program, "field.mul") > 0);
    assert_eq!(loops(&unrolled.program, "field.mul"), 0);
    assert!(loops(&small.program, "field.mul") > 0);
}

#[test]
fn each_pass_changes_something_somewhere() {
    let mut idle: BTreeSet<&str> = TABLE.iter().map(|t| t.name).collect();
    let mut p = program();
    // Something to drop for `drop-asserts`.
    let holds = santoku_ir::Expr::bool(true);
    let id = p.find("field.carry").expect("there");
    let body = &mut p.funcs[id.0 as usize].body;
    let santoku_ir::Stmt::For { invariants, .. } = &mut body[1] else { panic!("a loop") };
    invariants.push(holds);
    for level in Level::ALL {
        for step in run(&p, level, &[]).steps {
            if !step.changed.is_empty() || !step.removed.is_empty() {
                idle.remove(step.pass);
            }
        }
    }
    assert!(idle.is_empty(), "idle: {idle:?}");
}

#[test]
fn an_unknown_pass_is_refused() {
    let without = BTreeSet::from(["inlin".to_string()]);
    let e = optimise(&program(), Level::O2, &without, &PassOptions::new(Level::O2, 32)).map(drop);
    assert_eq!(e.map_err(|e| e.reason), Err(Reason::UnknownPass("inlin".to_string())));
}

#[test]
fn the_pipeline_names_every_pass_and_no_other() {
    let named: BTreeSet<&str> = crate::PIPELINE.iter().copied().collect();
    let listed: BTreeSet<&str> = TABLE.iter().map(|t| t.name).collect();
    assert_eq!(named, listed);
    assert_eq!(listed.len(), TABLE.len(), "a name twice");
    assert!(Level::ALL.into_iter().all(|l| format!("-{l}").parse() == Ok(l)));
    assert!("O4".parse::<Level>().is_err());
}
