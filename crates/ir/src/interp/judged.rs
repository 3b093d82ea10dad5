//! Of which functions a run judged every clause.

use crate::data::FuncId;
use crate::spec::ContractKind;
use std::collections::{BTreeMap, BTreeSet};

/// Of one call from outside.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// Who called whom before, with the clauses that this concerned.
    called: BTreeSet<(FuncId, FuncId, ContractKind)>,
    /// A clause of the function, or one that it has to meet where it calls, was too long.
    too_long: BTreeSet<FuncId>,
    /// Activations that returned and whose own clauses were all judged.
    whole: BTreeMap<FuncId, u64>,
}

impl Judged {
    /// Whether `caller` calls `id` for the first time; from outside, always.
    pub fn first(&mut self, id: FuncId, kind: ContractKind, caller: Option<FuncId>) -> bool {
        caller.is_none_or(|c| self.called.insert((c, id, kind)))
    }

    pub fn too_long(&mut self, id: FuncId, kind: ContractKind, caller: Option<FuncId>) {
        self.too_long.insert(id);
        self.too_long.extend(caller.filter(|_| kind == ContractKind::Requires));
    }

    pub fn note(&mut self, id: FuncId) {
        *self.whole.entry(id).or_default() += 1;
    }

    /// The activations of a function that returned with all clauses judged; none if one was too long.
    pub fn activations(&self, id: FuncId) -> u64 {
        self.whole.get(&id).copied().filter(|_| !self.too_long.contains(&id)).unwrap_or(0)
    }
}
