//! Derived width: the proven range of every exact integer is written into the core.
//!
//! Needs: all structural passes before it; a range is that of one occurrence.  Keeps: the text of every statement, and
//! declared ranges.  Leaves out: the choice of machine types, which is the back end's; asserts and invariants are still
//! there, as facts.
//! Class: checked. The judge accepts the annotated text alone, or the engines prove its ranges again and are named as believed.
//! Page: docs/passes/derive-width.md.  Tests: src/tests/alone.rs, src/tests/broken.rs.
//! Trusted: c.

use crate::options::PassOptions;
use santoku_ir::visit::{map_exprs, rewrite_stmts, walk_stmts};
use santoku_ir::{Expr, ExprKind, Func, FuncId, Loc, Program, Range, Stmt, Ty};
use santoku_prove::judged;
use santoku_prove::obligation::{Kind, Obligation, Outcome};

use santoku_prove::ranges::{analyse, annotate, annotate_by_summaries, check_annotations, narrowed_with, Options};
use std::collections::BTreeSet;

pub fn run(program: &Program, _: &PassOptions) -> Program {
    let facts = with_result_ranges(&with_proved_facts(program));
    let narrow = with_constants(annotate(&facts));
    let refused = refused(&narrow);
    if refused.is_empty() {
        return narrow;
    }
    // Ranges that rest on what a callee makes of narrow arguments may be too narrow for the judge: those of any arguments then.
    let wide = with_constants(annotate_by_summaries(&facts));
    let mut out = narrow.clone();
    for (at, func) in out.funcs.iter_mut().enumerate().filter(|(_, f)| refused.contains(&f.name)) {
        let rets = |f: &Func| f.rets.iter().map(|r| f.local(*r).ty.clone()).collect::<Vec<_>>();
        if rets(func) == rets(&wide.funcs[at]) {
            func.clone_from(&wide.funcs[at]);
        }
    }
    let better = crate::derive_width::refused(&out).len() < refused.len() && left_open(&out, &check_annotations(&out)).len() <= left_open(&narrow, &check_annotations(&narrow)).len();
    if better { out } else { narrow }
}

fn with_constants(mut program: Program) -> Program {
    for func in &mut program.funcs {
        map_exprs(&mut func.body, &mut constants_are_themselves);
    }
    program
}

/// What the judge says of each function as it is written, or with narrower ranges of its variables.
fn verdicts(program: &Program) -> Vec<Option<judged::Verdict>> {
    let narrowed = || narrowed_with(program.clone(), &analyse(program, &Options { witness_tries: 0, ..Options::default() }).0);
    judged::program_or(program, program, &[&narrowed])
}

/// Functions that the judge does not accept.
fn refused(program: &Program) -> BTreeSet<String> {
    program.funcs.iter().zip(verdicts(program)).filter(|(_, v)| matches!(v, Some(Err(_)))).map(|(f, _)| f.name.clone()).collect()
}

/// A constant in code that is never reached has no values to take a range from; it is in the range of itself.
fn constants_are_themselves(e: &mut Expr) {
    if let (ExprKind::Const(v), Ty::Int(range)) = (&e.kind, &mut e.ty) {
        *range = Some(Range::new(v.clone(), v.clone()));
    }
}

/// Asserts and invariants are facts to the range prover, whoever proved them: those that it does not prove itself go, so
/// that what is written can be proved again.
fn with_proved_facts(program: &Program) -> Program {
    let mut out = program.clone();
    loop {
        if !any_facts(&out) {
            return out;
        }
        let all = analyse(&out, &Options { witness_tries: 0, ..Options::default() }).1;
        let open: BTreeSet<(FuncId, Loc)> =
            all.iter().filter(|o| o.kind == Kind::Assert && !o.proved()).map(|o| (o.func, o.loc)).collect();
        if open.is_empty() {
            return out;
        }
        for (at, func) in out.funcs.iter_mut().enumerate() {
            let drop = |loc: &Loc| open.contains(&(FuncId(at as u32), *loc));
            rewrite_stmts(&mut func.body, &mut |mut stmt| match &mut stmt {
                Stmt::Assert { loc, .. } if drop(loc) => Vec::new(),
                Stmt::For { invariants, loc, .. } if drop(loc) => {
                    invariants.clear();
                    vec![stmt]
                }
                Stmt::Assert { .. } | Stmt::Ghost { .. } | Stmt::For { .. } | Stmt::Assign { .. } | Stmt::Call { .. } | Stmt::If { .. } => vec![stmt],
            });
        }
    }
}

/// Asserts and invariants that the range prover does not prove.
pub fn open_facts(program: &Program) -> Vec<Open> {
    let all = if any_facts(program) { open(program) } else { Vec::new() };
    all.into_iter().filter(|o| o.key.0 == Kind::Assert).collect()
}

fn any_facts(program: &Program) -> bool {
    let is_test = |at: usize| program.tests.iter().any(|t| t.func.0 as usize == at);
    program.funcs.iter().enumerate().any(|(at, f)| !is_test(at) && has_facts(f))
}

fn has_facts(func: &Func) -> bool {
    let mut found = false;
    walk_stmts(&func.body, &mut |s| match s {
        Stmt::Assert { .. } => found = true,
        Stmt::For { invariants, .. } => found |= !invariants.is_empty(),
        Stmt::Assign { .. } | Stmt::Call { .. } | Stmt::If { .. } | Stmt::Ghost { .. } => {}
    });
    found
}

/// Results without a declared range get theirs first: callers must see the same range in the text as when it was derived.
fn with_result_ranges(program: &Program) -> Program {
    let open = |f: &Func| f.rets.iter().any(|r| !closed(program, &f.local(*r).ty));
    let mut called = false;
    for func in &program.funcs {
        walk_stmts(&func.body, &mut |s| {
            called |= matches!(s, Stmt::Call { func, .. } if open(program.func(*func)));
        });
    }
    if !called {
        return program.clone();
    }
    let ranged = annotate(program);
    let mut out = program.clone();
    for (func, from) in out.funcs.iter_mut().zip(&ranged.funcs) {
        for ret in &func.rets {
            func.locals[ret.0 as usize].ty = from.local(*ret).ty.clone();
        }
    }
    out
}

/// Does every exact integer inside have a declared range?
fn closed(program: &Program, ty: &Ty) -> bool {
    match ty {
        Ty::Word(_) | Ty::Bool => true,
        Ty::Int(range) => range.is_some(),
        Ty::Array { elem, .. } => closed(program, elem),
        Ty::Struct(id) => program.structs[id.0 as usize].fields.iter().all(|(_, t)| closed(program, t)),
    }
}

/// Something that ranges rest on and that is not proved.
#[derive(Clone, Debug)]
pub struct Open {
    pub func: String,
    pub text: String,
    key: (Kind, Loc),
    /// The prover contradicted itself: never excused.
    fault: bool,
}

/// What was open in a program before any pass: closed on all inputs one by one, or not at all. Passes move statements, so
/// it is known by its kind and its place in the source.
pub struct Base(BTreeSet<(Kind, Loc)>);

impl Base {
    /// With its asserts and invariants as facts, and without those that are not proved: what rested on them is open, too.
    pub fn of(program: &Program) -> Base {
        let of = |p: &Program| left_open(p, &analyse(p, &Options::default()).1).into_iter().map(|o| o.key);
        Base(of(program).chain(of(&with_proved_facts(program))).collect())
    }

    /// What of `open` is not from the start.
    pub fn new_in(&self, open: Vec<Open>) -> Vec<Open> {
        open.into_iter().filter(|o| o.fault || !self.0.contains(&o.key)).collect()
    }
}

/// What is known of the ranges of a program.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Obligations that hold: as the judge asked them, as often as it met them, or as the engines count them where it refused a function.
    pub held: usize,
    /// Functions that the judge does not accept and in which the engines leave nothing open, with what does not follow.
    pub believed: Vec<(String, String)>,
    pub open: Vec<Open>,
}

/// Proves everything anew that an annotated program rests on: that each value is in the range written next to it, that
/// what is assigned or passed fits the range of where it goes, that facts hold, that indices are in bounds. The judge
/// decides; the engines are asked where it does not accept a function, and then it is said whom they speak for.
pub fn check(program: &Program) -> Checked {
    let (mut held, mut refused) = (0, Vec::new());
    for (func, verdict) in program.funcs.iter().zip(verdicts(program)) {
        match verdict {
            Some(Ok(asked)) => held += usize::try_from(asked).unwrap_or(usize::MAX),
            Some(Err(why)) => refused.push((func.name.clone(), why.what)),
            None => {}
        }
    }
    if refused.is_empty() {
        return Checked { held, ..Checked::default() };
    }
    let all = check_annotations(program);
    let open = left_open(program, &all);
    refused.retain(|(name, _)| open.iter().all(|o| o.func != *name));
    Checked { held: all.iter().filter(|o| matters(o.kind) && o.proved()).count(), believed: refused, open }
}

/// The same of a program without ranges on its expressions.
pub fn open(program: &Program) -> Vec<Open> {
    left_open(program, &analyse(program, &Options { witness_tries: 0, ..Options::default() }).1)
}

fn left_open(program: &Program, all: &[Obligation]) -> Vec<Open> {
    let one = |o: &Obligation| {
        let (reason, fault) = match &o.outcome {
            Outcome::Failed { reason, .. } if matters(o.kind) => (reason, false),
            Outcome::Fault { reason, .. } => (reason, true),
            Outcome::Failed { .. } | Outcome::Proved { .. } => return None,
        };
        let func = program.func(o.func).name.clone();
        Some(Open { func, text: format!("{}: {reason}", o.text), key: (o.kind, o.loc), fault })
    };
    all.iter().filter_map(one).collect()
}

/// May a range be wrong where such an obligation does not hold? What a function ensures follows from its results, which
/// are shown to be the same; the others are no work of the range prover.
fn matters(kind: Kind) -> bool {
    match kind {
        Kind::Range | Kind::Index | Kind::Shift | Kind::Defined | Kind::Assert | Kind::Requires | Kind::Width => true,
        Kind::Ensures | Kind::Total | Kind::Secrecy | Kind::Pass => false,
    }
}
