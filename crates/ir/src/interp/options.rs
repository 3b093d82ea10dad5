//! What a run is asked for, and what it did.

/// What a run checks and how long it may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Check `requires`, `ensures`, loop invariants, the declared ranges of integers at every flow into a
    /// declared place, and ranges that passes wrote on expressions.
    pub check_contracts: bool,
    /// Statements, loop iterations, copied elements and limbs of big integers per call from outside.
    pub steps: u64,
    /// Operations per contract clause. A clause that needs more is counted in
    /// [`Stats::contracts_unevaluated`], not judged.
    pub spec_steps: u64,
    /// Operations of all clauses of called functions together, per call from outside. Where a call in the program is made for the first
    /// time, the clauses are judged even if nothing is left.
    pub inner_spec_steps: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { check_contracts: false, steps: 1 << 32, spec_steps: 1 << 20, inner_spec_steps: u64::MAX }
    }
}

impl Options {
    /// The default with contracts checked.
    pub fn checked() -> Options {
        Options { check_contracts: true, ..Options::default() }
    }
}

/// What the runs of one [`super::Interp`] did, summed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub steps: u64,
    pub asserts: u64,
    pub invariants: u64,
    /// Contract clauses evaluated and found true.
    pub contracts: u64,
    /// Contract clauses that exceeded [`Options::spec_steps`].
    pub contracts_unevaluated: u64,
    /// Clauses of called functions that [`Options::inner_spec_steps`] had nothing left for.
    pub inner_unevaluated: u64,
    /// Operations of all clauses.
    pub spec_steps: u64,
    /// Integers compared with a range.
    pub ranges: u64,
}
