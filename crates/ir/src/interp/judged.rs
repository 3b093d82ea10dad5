//! Of which functions a run judged every clause.

use crate::data::{FuncId, Loc};
use crate::spec::ContractKind;
use std::collections::{BTreeMap, BTreeSet};

/// A call in the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub caller: FuncId,
    pub loc: Loc,
    /// No other statement has it.
    pub nr: usize,
}

/// Of one call from outside.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// Calls that were made before, with the clauses that this concerned.
    made: BTreeSet<(usize, ContractKind)>,
    /// A clause of the function, or one that it has to meet where it calls, was too long.
    too_long: BTreeSet<FuncId>,
    /// A clause that may exclude what was given from outside was too long.
    doubtful: bool,
    /// Activations that returned and whose own clauses were all judged.
    activations: BTreeMap<FuncId, u64>,
}

impl Judged {
    /// Whether all clauses are to be judged, whatever that takes: from outside, and where this call is made for the first time; no
    /// second time where one was too long.
    pub fn whole(&mut self, id: FuncId, kind: ContractKind, call: Option<Call>) -> bool {
        call.is_none_or(|c| self.made.insert((c.nr, kind)) && !self.too_long.contains(&id))
    }

    pub fn too_long(&mut self, id: FuncId, kind: ContractKind, call: Option<Call>) {
        self.too_long.insert(id);
        self.doubtful |= call.is_none() && kind == ContractKind::Requires;
        self.too_long.extend(call.filter(|_| kind == ContractKind::Requires).map(|c| c.caller));
    }

    pub fn note(&mut self, id: FuncId) {
        *self.activations.entry(id).or_default() += 1;
    }

    /// The activations of a function that returned with all its clauses judged; none if one was too long.
    pub fn activations(&self, id: FuncId) -> u64 {
        self.activations.get(&id).copied().filter(|_| !self.too_long.contains(&id)).unwrap_or(0)
    }

    pub fn doubtful(&self) -> bool {
        self.doubtful
    }
}
