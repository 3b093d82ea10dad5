//! Safety: every exact integer in its range, every index in its array, every value defined.
//!
//! Needs: a verified core program.  Keeps: nothing between programs; a run is a function of the program and the
//! options.  Absent: secrecy, meaning (the algebra's), rendering.
//!
//! Engines in order: intervals; then, for functions with something left open, linear facts and case splits on
//! carries; then the solver, for what is still open. An obligation closed by one may rely on all others: at the
//! first violation of an execution every earlier obligation held, so the run that closed it was right about the
//! state before it.

mod annotate;
mod callee;
mod cond;
mod contracts;
mod eval;
mod exec;
mod itv;
mod limits;
mod lin;
mod loops;
mod num;
mod place;
mod record;
mod relate;
mod run;
mod settle;
pub(crate) mod show;
mod split;
mod value;
pub(crate) mod witness;

pub use annotate::{annotate, annotate_with, check_annotations, narrowed_with};
pub use contracts::is_simple;
pub use itv::Itv;
pub use limits::Limits;
pub use num::Num;
pub use show::Show;
pub use value::{Abs, Sc};

use crate::obligation::Obligation;
use santoku_ir::{FuncId, LocalId, Program};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// How much work the safety prover may do. All limits are counts, so results do not depend on the machine.
#[derive(Clone, Debug)]
pub struct Options {
    /// Abstract steps per function and engine.
    pub steps: u64,
    /// Abstract steps per function for trying case splits.
    pub split_steps: u64,
    /// Accept intermediates wider than 128 bits where only their low bits are used.
    pub modular_width: bool,
    /// Run the relational engine also where intervals leave nothing open: narrower ranges, more time.
    pub eager: bool,
    /// Solver steps per query of the last engine; `None` leaves the solver out. Without `z3` on the machine it is
    /// left out too.
    pub smt: Option<u64>,
    /// Inputs tried per function with open obligations.
    pub witness_tries: u32,
    /// What ends single parts of the work.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Options {
        Options { steps: 5_000_000, split_steps: 3_000_000, modular_width: false, eager: false, smt: Some(1_000_000), witness_tries: 400, limits: Limits::default() }
    }
}

/// What callers know of a function: its results for any arguments.
pub struct Summary {
    rets: Vec<Abs>,
    /// Narrower arguments may give narrower results.
    narrowable: bool,
    /// Some exact integer of the results has no declared range: it is what the arguments make it.
    undeclared: bool,
    /// Cost of one run.
    steps: u64,
    special: RefCell<Vec<(Vec<Abs>, Vec<Abs>)>>,
}

/// Facts about one function.
pub struct FuncRanges {
    sites: Vec<Option<Abs>>,
    locals: Vec<Abs>,
    rets: Vec<Abs>,
    dead: Dead,
}

/// Where no input gets, as the engines that closed something saw it. Statements by number, in the order of
/// [`santoku_ir::visit::walk_stmts`].
#[derive(Clone, Debug, Default)]
pub struct Dead {
    /// No input meets the ranges of the parameters and the `requires`.
    pub entry: bool,
    /// Not reached by one of the runs.
    pub statements: BTreeSet<usize>,
    /// Reached in these rounds of the loops around them, and only with hypotheses that contradict each other.
    pub contradicted: BTreeMap<usize, BTreeSet<Vec<Round>>>,
}

/// A counter and its value.
pub type Round = (LocalId, i128);

impl Dead {
    /// Whether no input gets to a statement.
    pub fn unreached(&self, nr: usize) -> bool {
        self.statements.contains(&nr) || self.contradicted.get(&nr).is_some_and(|c| c.iter().any(Vec::is_empty))
    }
}

/// Proven values of every expression and local of a program, true whenever all obligations are.
pub struct Ranges {
    funcs: Vec<FuncRanges>,
}

impl Ranges {
    /// Values of expression number `site` of a function (order of [`santoku_ir::visit::walk_exprs`]); `None`
    /// when it has no exact integers or is never reached.
    pub fn site(&self, func: FuncId, site: usize) -> Option<&Abs> {
        self.funcs[func.0 as usize].sites.get(site)?.as_ref()
    }
    /// All values ever stored in a local (of types with exact integers).
    pub fn local(&self, func: FuncId, local: LocalId) -> &Abs {
        &self.funcs[func.0 as usize].locals[local.0 as usize]
    }
    /// Where no input gets.
    pub fn dead(&self, func: FuncId) -> &Dead {
        &self.funcs[func.0 as usize].dead
    }
    /// Values of the results of a function.
    pub fn rets(&self, func: FuncId) -> &[Abs] {
        &self.funcs[func.0 as usize].rets
    }
}

/// Settles every safety obligation of every function but the bodies of tests (those are executed).
pub fn analyse(p: &Program, opts: &Options) -> (Ranges, Vec<Obligation>) {
    let consts: Vec<Abs> = p.consts.iter().map(|c| Abs::of_const(&c.value)).collect();
    let tests: BTreeSet<FuncId> = p.tests.iter().map(|t| t.func).collect();
    let (mut funcs, mut sums, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for nr in 0..p.funcs.len() {
        let id = FuncId(nr as u32);
        let settled = settle::settle(p, id, opts, &sums, &consts, !tests.contains(&id));
        sums.push(settled.summary);
        funcs.push(settled.ranges);
        all.extend(settled.obligations);
    }
    (Ranges { funcs }, all)
}
