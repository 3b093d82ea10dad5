//! The promises of the generator, and that it reaches the whole language.

use santoku_ir::gen::*;
use santoku_ir::*;
use santoku_ir::interp::{Interp, Options};
use santoku_ir::visit;
use std::collections::BTreeMap;

fn configs() -> [Config; 3] {
    [Config::default(), Config::all(), Config::plain()]
}

#[test]
fn programs_are_well_formed_and_run_without_fault() {
    for (which, config) in configs().iter().enumerate() {
        for seed in 0..300 {
            let program = program_with(seed, config);
            let report = santoku_ir::verify::report(&program);
            assert_eq!(report.errors, vec![], "seed {seed}, config {which}");
            assert_eq!(report.undecided, vec![], "seed {seed}, config {which}");
            let main = entry(&program);
            let mut interp = Interp::with_options(&program, Options::checked());
            for input in 0..3 {
                let (lens, args) = args(&program, main, input);
                let result = interp.call(main, &lens, args);
                assert!(result.is_ok(), "seed {seed}, config {which}, input {input}: {}", result.unwrap_err());
            }
        }
    }
}

#[test]
fn equal_seeds_give_equal_programs_and_arguments() {
    assert_eq!(program(7), program(7));
    assert_ne!(program(7), program(8));
    let p = program(7);
    assert_eq!(args(&p, entry(&p), 1), args(&p, entry(&p), 1));
}

#[test]
fn the_generator_reaches_the_whole_language() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut note = |what: &str| *seen.entry(what.to_string()).or_default() += 1;
    for seed in 0..300 {
        for f in &program(seed).funcs {
            visit::walk_stmts(&f.body, &mut |s| {
                note(match s {
                    Stmt::Assign { .. } => "assign",
                    Stmt::Call { .. } => "call",
                    Stmt::For { rev: true, .. } => "for rev",
                    Stmt::For { .. } => "for",
                    Stmt::If { .. } => "if",
                    Stmt::Assert { .. } => "assert",
                    Stmt::Ghost { .. } => "ghost",
                });
            });
            visit::walk_exprs(&f.body, &mut |e| {
                note(&match &e.kind {
                    ExprKind::Const(_) => "const".to_string(),
                    ExprKind::Read(p) => {
                        format!("read {:?}", p.projs.last().map(|p| format!("{p:?}").split(['(', ' ']).next().map(String::from)))
                    }
                    ExprKind::Un(op, a) => format!("{op:?} {:?}", kind(&a.ty)),
                    ExprKind::Bin(op, a, _) => format!("{op:?} {:?}", kind(&a.ty)),
                    ExprKind::Cmp(op, a, _) => format!("{op:?} {:?}", kind(&a.ty)),
                    ExprKind::Select(..) => format!("select {:?}", kind(&e.ty)),
                    ExprKind::Cast(a) => format!("cast {:?} {:?}", kind(&a.ty), kind(&e.ty)),
                    ExprKind::Array(_) => "array".to_string(),
                    ExprKind::Repeat(_) => "repeat".to_string(),
                    ExprKind::Struct(..) => "struct".to_string(),
                });
            });
        }
    }
    assert!(seen.values().all(|n| *n > 2), "{seen:#?}");
    // 6 statements, 10 + 7 + 4 binary, 4 unary, 2 * 6 + 3 * 2 comparisons, 5 + casts, reads, selects, literals.
    assert!(seen.len() >= 60, "only {}: {seen:#?}", seen.len());
}

fn kind(ty: &Ty) -> &'static str {
    match ty {
        Ty::Word(_) => "word",
        Ty::Int(_) => "int",
        Ty::Bool => "bool",
        Ty::Array { .. } => "array",
        Ty::Struct(_) => "struct",
    }
}

/// Results depend on what programs compute: a wrong operator is noticed in a good part of the programs.
#[test]
fn a_wrong_operator_changes_results() {
    let (mut mutants, mut caught) = (0, 0);
    for seed in 0..200 {
        let right = program(seed);
        let mut wrong = right.clone();
        let mut changed = false;
        if let Some(f) = wrong.funcs.last_mut() {
            visit::map_exprs(&mut f.body, &mut |e| {
                if let (ExprKind::Bin(op @ (BinOp::Add | BinOp::Mul | BinOp::Xor), ..), false) = (&mut e.kind, changed) {
                    *op = if *op == BinOp::Xor { BinOp::Or } else { BinOp::Sub };
                    changed = true;
                }
            });
        }
        let run = |p: &Program, input| {
            let (lens, args) = args(p, entry(p), input);
            Interp::with_options(p, Options::checked()).call(entry(p), &lens, args)
        };
        mutants += u32::from(changed);
        caught += u32::from(changed && (0..8).any(|input| run(&right, input) != run(&wrong, input)));
    }
    assert!(mutants > 100 && caught * 3 > mutants, "{caught} of {mutants} caught");
}

/// The verifier is worth its name: whatever it accepts with nothing undecided never meets a malformed operation
/// or an undefined value. Tried on programs with one token of their text changed.
#[test]
fn accepted_programs_never_meet_what_the_verifier_rules_out() {
    use santoku_ir::interp::FaultKind;
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let original = program(seed % 100);
        let Ok(mutant) = santoku_ir::text::parse(&one_token_changed(&santoku_ir::text::print(&original), &mut rng)) else {
            continue;
        };
        let report = santoku_ir::verify::report(&mutant);
        if !(report.errors.is_empty() && report.undecided.is_empty()) {
            refused += 1;
            continue;
        }
        accepted += 1;
        let main = entry(&mutant);
        let (lens, args) = args(&mutant, main, seed);
        let options = Options { steps: 1 << 16, ..Options::default() };
        if let Err(fault) = Interp::with_options(&mutant, options).call(main, &lens, args) {
            let ruled_out = matches!(fault.kind, FaultKind::Internal { .. } | FaultKind::Undefined { .. });
            assert!(!ruled_out, "seed {seed}: {fault}\n{}", santoku_ir::text::print(&mutant));
        }
    }
    assert!(accepted > 80 && refused > 80, "{accepted} accepted, {refused} refused");
}

/// One number, reference, operator or type in the bodies replaced by another of the text.
fn one_token_changed(text: &str, rng: &mut Rng) -> String {
    let words: Vec<(usize, &str)> = text
        .split(|c: char| " ()[],;{}<>:\n".contains(c))
        .filter(|w| !w.is_empty() && w.contains(|c: char| c.is_ascii_digit() || "+-*&|^=".contains(c)))
        .map(|w| (w.as_ptr() as usize - text.as_ptr() as usize, w))
        .collect();
    // References of one letter class and numbers mostly replace their like, so that many mutants parse.
    let (at, old) = *rng.pick(&words);
    let alike: Vec<&str> = words.iter().map(|(_, w)| *w).filter(|w| class(w) == class(old)).collect();
    let new = *rng.pick(&alike);
    let mut id = new.rsplit('#').next().unwrap_or(new).to_string();
    if new.contains('#') {
        id.insert(0, '#');
    }
    format!("{}{id}{}", &text[..at], &text[at + old.len()..])
}

fn class(word: &str) -> (bool, bool, bool) {
    let digit = |c: char| c.is_ascii_digit();
    (word.contains('#'), word.starts_with(digit), word.contains("f"))
}
