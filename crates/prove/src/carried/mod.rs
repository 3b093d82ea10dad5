//! Facts that travel with values: a claim that a callee ensures of its result is still true where that value, copied,
//! stored in a struct or an array, chosen by a branch or carried around a loop, is what another callee requires it of.
//!
//! Needs: the core, and that other engines show every value written before it is read, and every callee's `ensures`.
//! Keeps: a claim is never invented, only moved, checked on constants, or taken from a contract.  Absent on purpose:
//! arithmetic (see `algebra`): the one thing that follows from a claim is the same claim with a wider constant bound.
//!
//! An abstract interpretation: each part of each variable carries the set of claims that hold of it; branches intersect,
//! loops go to the greatest fixed point. A boolean remembers what it says of other values when true.
//! Trusted: engines.

mod claim;
mod facts;
mod state;
#[cfg(test)]
mod tests;
mod walk;

use crate::obligation::clauses;
use santoku_ir::{ContractKind, FuncId, Loc, Program};
use std::collections::BTreeSet;
use walk::Walk;

/// What this engine could show of one function.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    /// `requires` clauses met: the call, its callee, the clause by its place among the callee's contracts.
    pub requires: BTreeSet<(Loc, FuncId, usize)>,
    /// `ensures` clauses of the function, by place among its contracts.
    pub ensures: BTreeSet<usize>,
}

/// Looks at one function. What it finds holds of values that were written before they are read, which is an obligation of
/// the range engine: alone it is no proof. A function too large for its budget gives nothing.
pub fn check(prog: &Program, id: FuncId) -> Carried {
    let func = prog.func(id);
    let mut w = Walk::new(prog, id);
    w.block(&func.body);
    if !w.finished() {
        return Carried::default();
    }
    let ensures = clauses(func, ContractKind::Ensures).filter(|(_, c)| w.ensured(c)).map(|(i, _)| i).collect();
    Carried { requires: w.met.iter().filter(|(_, met)| **met).map(|(need, _)| *need).collect(), ensures }
}
