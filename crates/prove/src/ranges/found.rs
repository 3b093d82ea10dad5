//! What the safety prover is told, and what it finds.

use super::limits::Limits;
use super::value::Abs;
use santoku_ir::{FuncId, LocalId};
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
    pub(crate) rets: Vec<Abs>,
    /// Narrower arguments may give narrower results.
    pub(crate) narrowable: bool,
    /// Some exact integer of the results has no declared range: it is what the arguments make it.
    pub(crate) undeclared: bool,
    /// Cost of one run.
    pub(crate) steps: u64,
    pub(crate) special: RefCell<Vec<(Vec<Abs>, Vec<Abs>)>>,
}

/// Facts about one function.
pub struct FuncRanges {
    pub(crate) sites: Vec<Option<Abs>>,
    pub(crate) locals: Vec<Abs>,
    pub(crate) rets: Vec<Abs>,
    pub(crate) dead: Dead,
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
    pub(crate) funcs: Vec<FuncRanges>,
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
