//! What the engines closed, on inputs: corners and random ones, run in the interpreter against everything the engines claim.
//!
//! Needs: a program, and the ranges found for it.  Keeps: only inputs that the function allows are run; a disagreement is a fault of
//! the prover, never of the program.  Absent on purpose: any proof. That nothing disagrees shows nothing but that no engine erred
//! on these inputs.
//!
//! The program is run with what was claimed of it written into it: every exact integer with the range found for it, an assertion
//! that fails wherever an engine found that no input gets, and the contracts and declared ranges it has anyway.

use crate::contracts::Contradicted;
use crate::excuse::{Excuses, NOBODY, NOBODY_BY_ALGEBRA, NOBODY_BY_SOLVER};
use crate::obligation::{Engine, Kind, Witness};
use crate::ranges::witness::{Inputs, Rng};
use crate::ranges::{annotate_with, Dead, Ranges, Round};
use crate::threads;
use crate::trial::{Broken, Once, Runner};
use santoku_ir::interp::Options;
use santoku_ir::{BinOp, CmpOp, Expr, ExprKind, FuncId, Loc, LocalKind, Place, Program, Stmt, Ty};
use std::collections::{BTreeMap, BTreeSet};

/// Inputs tried per function, and interpreter steps for one and for all of them.
const INPUTS: u32 = 20;
const STEPS: u64 = 10_000;
const STEPS_ALL: u64 = 10_000;
/// Operations per contract clause, and of all clauses of callees; each call in a function is judged when it is first made, in any case.
const SPEC_STEPS: u64 = 4_000;
const INNER_SPEC_STEPS: u64 = 1 << 14;
/// Where none of these inputs ran to its end: inputs tried for one that does, steps for each and for all, operations of a clause of the
/// function's own and in all these runs, and of all clauses of callees, likewise.
const FAR_INPUTS: u32 = 64;
const FAR_STEPS: u64 = 1 << 24;
const FAR_SPEC_STEPS: u64 = 1 << 20;
const FAR_SPEC_STEPS_ALL: u64 = 1 << 23;
const FAR_INNER_SPEC_STEPS: u64 = 1 << 16;
/// Scalars of one argument set, likewise.
const SCALARS: u64 = 1 << 16;
const FAR_SCALARS: u64 = 1 << 20;

/// The engine that put an assertion where it found that no input gets, if this message is of one.
pub fn who_said_nobody(message: &str) -> Option<Engine> {
    let text = message.strip_prefix("assertion failed: ")?;
    let all = [(NOBODY_BY_SOLVER, Engine::Smt), (NOBODY_BY_ALGEBRA, Engine::Algebra), (NOBODY, Engine::Relational)];
    all.into_iter().find(|(said, _)| text.starts_with(said)).map(|(_, engine)| engine)
}

/// The program with the claims written into it.
pub fn claims_written(p: &Program, ranges: &Ranges) -> Program {
    let mut out = annotate_with(p, ranges);
    for (nr, f) in out.funcs.iter_mut().enumerate() {
        let dead = ranges.dead(FuncId(nr as u32));
        let loc = f.loc;
        mark(&mut f.body, dead, &mut 0);
        if dead.entry {
            f.body.insert(0, never(loc, NOBODY));
        }
    }
    out
}

/// Writes into a function where the algebra met contradictions.
pub fn contradictions_written(p: &mut Program, id: FuncId, found: &Contradicted) {
    let f = &mut p.funcs[id.0 as usize];
    let (calls, loc) = (found.calls(), f.loc);
    mark_calls(&mut f.body, &calls);
    if found.end {
        f.body.push(never(loc, NOBODY_BY_ALGEBRA));
    }
}

fn never(loc: Loc, text: &str) -> Stmt {
    Stmt::Assert { cond: Expr::bool(false), text: text.into(), loc }
}

/// Not in these rounds of the loops around.
fn not_in(rounds: &[Round], loc: Loc) -> Stmt {
    let other = |(var, i): &Round| {
        let counter = Expr { kind: ExprKind::Read(Place::local(*var)), ty: Ty::Int(None) };
        Expr::cmp(CmpOp::Ne, counter, Expr::int(*i))
    };
    let cond = rounds.iter().map(other).reduce(|a, b| Expr { ty: Ty::Bool, kind: ExprKind::Bin(BinOp::Or, Box::new(a), Box::new(b)) });
    Stmt::Assert { cond: cond.unwrap_or_else(|| Expr::bool(false)), text: NOBODY_BY_SOLVER.into(), loc }
}

/// Puts an assertion before each statement that is dead, in the order of [`santoku_ir::visit::walk_stmts`].
fn mark(body: &mut Vec<Stmt>, dead: &Dead, next: &mut usize) {
    if dead.statements.is_empty() && dead.contradicted.is_empty() {
        return;
    }
    for mut s in std::mem::take(body) {
        if dead.statements.contains(next) {
            body.push(never(s.loc(), NOBODY));
        }
        body.extend(dead.contradicted.get(next).into_iter().flatten().map(|rounds| not_in(rounds, s.loc())));
        *next += 1;
        santoku_ir::visit::blocks_mut(&mut s).into_iter().for_each(|b| mark(b, dead, next));
        body.push(s);
    }
}

fn mark_calls(body: &mut Vec<Stmt>, calls: &BTreeSet<(Loc, FuncId)>) {
    if calls.is_empty() {
        return;
    }
    for mut s in std::mem::take(body) {
        if matches!(&s, Stmt::Call { func, loc, .. } if calls.contains(&(*loc, *func))) {
            body.push(never(s.loc(), NOBODY_BY_ALGEBRA));
        }
        santoku_ir::visit::blocks_mut(&mut s).into_iter().for_each(|b| mark_calls(b, calls));
        body.push(s);
    }
}

/// What the inputs of one function showed.
#[derive(Default)]
pub struct Found {
    /// Runs to the end on inputs that the function allows, with everything claimed of the function judged.
    pub inputs: u64,
    pub against: Option<Against>,
}

/// An input on which something proved is false.
pub struct Against {
    pub witness: Witness,
    pub kind: Kind,
    /// Where, and the name of the function: of the call and its caller, if it is what a function requires of its arguments.
    pub loc: Loc,
    pub func: String,
    /// The clause, if it is one of a contract.
    pub clause: Option<String>,
}

impl Against {
    fn of(b: Broken) -> Against {
        let (func, loc) = b.call.unwrap_or((b.func, b.loc));
        Against { witness: b.witness, kind: b.kind, loc, func, clause: b.clause }
    }
}

/// Runs functions of a program with its claims written into it.
pub struct Crosscheck<'p> {
    bare: &'p Program,
    p: &'p Program,
}

/// Short runs.
pub struct Near<'p> {
    p: &'p Program,
    runner: Runner<'p>,
}

impl Near<'_> {
    /// Runs `id` on inputs, until one disagrees with what is claimed or the budget is spent.
    pub fn function(&mut self, id: FuncId, excuses: &Excuses) -> Found {
        let f = self.p.func(id);
        let mut rng = Rng::of(f);
        let mut found = Found::default();
        let limit = self.runner.steps() + STEPS_ALL;
        for round in 0..INPUTS {
            if self.runner.steps() > limit {
                break;
            }
            let Some(inputs) = Inputs::make(self.p, f, round, SCALARS, &mut rng) else { continue };
            match self.runner.once(id, &inputs.lens, inputs.args, Some(excuses)) {
                Once::Held { judged } => found.inputs += u64::from(judged),
                Once::NotAllowed | Once::Excused => {}
                // Others take as long.
                Once::Exhausted => break,
                Once::Broken(b) => return Found { against: Some(Against::of(*b)), ..found },
            }
        }
        found
    }
}

impl<'p> Crosscheck<'p> {
    /// `p` is `bare` with what was claimed of it.
    pub fn new(bare: &'p Program, p: &'p Program) -> Crosscheck<'p> {
        Crosscheck { bare, p }
    }

    pub fn near(&self) -> Near<'p> {
        let options = Options { steps: STEPS, spec_steps: SPEC_STEPS, inner_spec_steps: INNER_SPEC_STEPS, ..Options::checked() };
        Near { p: self.p, runner: Runner::new(self.p, options) }
    }

    /// Runs functions to their end, callers first, with everything that is claimed of all of them: a function of which a caller's run judged
    /// it all need not be run again. Those that none of the others calls are run at once.
    pub fn together(&self, ids: &[FuncId], excuses: &Excuses, threads: usize) -> Together {
        let mut out = Together::default();
        let p = with_claims_of(self.bare, self.p, ids);
        let reached = reached(&p);
        let mut left: Vec<FuncId> = ids.iter().rev().copied().collect();
        while !left.is_empty() {
            let called = |id: &FuncId| left.iter().any(|caller| reached[caller.0 as usize].contains(id));
            let (callees, roots): (Vec<FuncId>, Vec<FuncId>) = left.iter().partition(|id| called(id));
            let ran = threads::each(threads, &roots, || far_runner(&p), |runner, root| {
                let ended = to_the_end(&p, runner, *root, excuses);
                (*root, ended, ids.iter().map(|id| (*id, runner.judged(*id))).filter(|(_, n)| *n > 0).collect::<Vec<_>>())
            });
            for (root, ended, counts) in ran {
                match ended {
                    Some(Once::Held { .. }) => counts.into_iter().for_each(|(id, n)| *out.judged.entry(id).or_default() += n),
                    Some(Once::Broken(b)) => out.against.push((root, Against::of(*b))),
                    _ => {}
                }
            }
            left = callees.into_iter().filter(|id| !out.judged.contains_key(id)).collect();
        }
        out
    }

    /// Runs one function until one input has run to its end, with what is claimed of it.
    pub fn far(&self, id: FuncId, excuses: &Excuses) -> Found {
        let p = with_claims_of(self.bare, self.p, &[id]);
        match to_the_end(&p, &mut far_runner(&p), id, excuses) {
            Some(Once::Held { judged }) => Found { inputs: u64::from(judged), against: None },
            Some(Once::Broken(b)) => Found { inputs: 0, against: Some(Against::of(*b)) },
            _ => Found::default(),
        }
    }
}

/// What runs of several functions showed.
#[derive(Default)]
pub struct Together {
    /// Activations in which everything claimed of a function was judged, in runs to the end.
    pub judged: BTreeMap<FuncId, u64>,
    /// Which functions were run, and what that contradicts.
    pub against: Vec<(FuncId, Against)>,
}

/// Of each function those that a call of it may get to.
fn reached(p: &Program) -> Vec<BTreeSet<FuncId>> {
    let mut all: Vec<BTreeSet<FuncId>> = Vec::with_capacity(p.funcs.len());
    for f in &p.funcs {
        let mut own = BTreeSet::new();
        santoku_ir::visit::walk_stmts(&f.body, &mut |s| {
            if let Stmt::Call { func, .. } = s {
                // Callees come first in a program.
                own.extend(all[func.0 as usize].iter().copied().chain([*func]));
            }
        });
        all.push(own);
    }
    all
}

fn far_runner(p: &Program) -> Runner<'_> {
    Runner::new(p, Options { steps: FAR_STEPS, spec_steps: FAR_SPEC_STEPS, inner_spec_steps: FAR_INNER_SPEC_STEPS, ..Options::checked() })
}

/// Tries inputs until one runs to its end or breaks a claim.
fn to_the_end(p: &Program, runner: &mut Runner<'_>, id: FuncId, excuses: &Excuses) -> Option<Once> {
    let f = p.func(id);
    let mut rng = Rng::of(f);
    let (limit, spec_limit) = (runner.steps() + FAR_STEPS, runner.spec_steps() + FAR_SPEC_STEPS_ALL);
    for round in 0..FAR_INPUTS {
        if runner.steps() > limit || runner.spec_steps() > spec_limit {
            break;
        }
        let Some(inputs) = Inputs::make(p, f, round, FAR_SCALARS, &mut rng) else { continue };
        match runner.once(id, &inputs.lens, inputs.args, Some(excuses)) {
            Once::NotAllowed | Once::Excused => {}
            // Others take as long.
            Once::Exhausted => break,
            ended @ (Once::Held { .. } | Once::Broken(_)) => return Some(ended),
        }
    }
    None
}

/// The program with what is claimed of some functions, and the contracts of all others: the ranges within these are judged in runs of theirs.
fn with_claims_of(bare: &Program, p: &Program, ids: &[FuncId]) -> Program {
    let mut out = bare.clone();
    for f in &mut out.funcs {
        f.locals.iter_mut().filter(|l| l.kind == LocalKind::Var).for_each(|l| free(&mut l.ty));
    }
    for id in ids {
        out.funcs[id.0 as usize] = p.func(*id).clone();
    }
    out
}

/// Takes the ranges out of a type.
fn free(ty: &mut Ty) {
    match ty {
        Ty::Int(r) => *r = None,
        Ty::Array { elem, ranges, .. } => {
            *ranges = None;
            free(elem);
        }
        Ty::Word(_) | Ty::Bool | Ty::Struct(_) => {}
    }
}
