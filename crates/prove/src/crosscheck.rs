//! What the engines closed, on inputs: corners and random ones, run in the interpreter against everything the engines claim.
//!
//! Needs: a program, and the ranges found for it.  Keeps: only inputs that the function allows are run; a disagreement is a fault of
//! the prover, never of the program.  Absent on purpose: any proof. That nothing disagrees shows nothing but that no engine erred
//! on these inputs.
//!
//! The program is run with what was claimed of it written into it: every exact integer with the range found for it, an assertion
//! that fails wherever a run of an engine found that no input gets, and the contracts and declared ranges it has anyway.

use crate::obligation::{Kind, Witness};
use crate::ranges::witness::{Inputs, Rng};
use crate::ranges::{annotate_with, Ranges};
use crate::trial::{Once, Runner};
use santoku_ir::{Expr, FuncId, Loc, Program, Stmt};
use std::collections::BTreeSet;

/// Inputs tried per function, and interpreter steps for one and for all of them.
const INPUTS: u32 = 20;
const STEPS: u64 = 30_000;
const STEPS_ALL: u64 = 30_000;
/// Operations per contract clause.
const SPEC_STEPS: u64 = 4_000;
/// What the assertions say that were put where no input gets.
pub const NOBODY: &str = "no input gets here";

/// The program with the claims written into it.
pub fn claims_written(p: &Program, ranges: &Ranges) -> Program {
    let mut out = annotate_with(p, ranges);
    for (nr, f) in out.funcs.iter_mut().enumerate() {
        let dead = ranges.dead(FuncId(nr as u32));
        let loc = f.loc;
        mark(&mut f.body, &dead.statements, &mut 0);
        if dead.entry {
            f.body.insert(0, never(loc));
        }
    }
    out
}

fn never(loc: Loc) -> Stmt {
    Stmt::Assert { cond: Expr::bool(false), text: NOBODY.into(), loc }
}

/// Puts an assertion before each statement with one of these numbers, in the order of [`santoku_ir::visit::walk_stmts`].
fn mark(body: &mut Vec<Stmt>, dead: &BTreeSet<usize>, next: &mut usize) {
    if dead.is_empty() {
        return;
    }
    for mut s in std::mem::take(body) {
        if dead.contains(next) {
            body.push(never(s.loc()));
        }
        *next += 1;
        santoku_ir::visit::blocks_mut(&mut s).into_iter().for_each(|b| mark(b, dead, next));
        body.push(s);
    }
}

/// What the inputs of one function showed.
#[derive(Default)]
pub struct Found {
    /// Inputs that the function allows and that ran to their end.
    pub inputs: u64,
    pub against: Option<Against>,
}

/// An input on which something proved is false.
pub struct Against {
    pub witness: Witness,
    pub kind: Option<Kind>,
    pub loc: Loc,
}

/// Runs functions of a program with its claims written into it.
pub struct Crosscheck<'p> {
    p: &'p Program,
    runner: Runner<'p>,
}

impl<'p> Crosscheck<'p> {
    pub fn new(p: &'p Program) -> Crosscheck<'p> {
        Crosscheck { p, runner: Runner::new(p, STEPS, SPEC_STEPS) }
    }

    /// Runs `id` on inputs, until one disagrees with what is claimed or the budget is spent.
    pub fn function(&mut self, id: FuncId) -> Found {
        let f = self.p.func(id);
        let mut rng = Rng::of(f);
        let mut found = Found::default();
        let limit = self.runner.steps() + STEPS_ALL;
        for round in 0..INPUTS {
            if self.runner.steps() > limit {
                break;
            }
            let Some(inputs) = Inputs::make(self.p, f, round, &mut rng) else { continue };
            match self.runner.once(id, &inputs.lens, inputs.args) {
                Once::Held => found.inputs += 1,
                Once::NotAllowed | Once::Exhausted => {}
                Once::Broken(b) => {
                    found.against = Some(Against { witness: b.witness, kind: b.kind, loc: b.loc });
                    break;
                }
            }
        }
        found
    }
}
