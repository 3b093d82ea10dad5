//! Where the work of a run ends, apart from steps. None decides what is true: with any of them at any value a run
//! only leaves more open.

/// Counts, so results do not depend on the machine.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Steps a callee may cost to be run again for the arguments of one call.
    pub small_callee: u64,
    /// Steps a callee may cost to be run in place by a relational run.
    pub tiny_callee: u64,
    /// Steps of callees run in place, per run.
    pub in_place_steps: u64,
    /// Depth of callees run in place.
    pub inlined: u32,
    /// Argument tuples remembered per callee.
    pub special_cases: usize,
    /// Statements kept to go back to, per block.
    pub window: usize,
    /// Quotients tried per failure, nearest first.
    pub candidates: usize,
    /// Failures of one statement that are worth a search.
    pub split_tries: u32,
    /// Loops of so few steps are unrolled without asking what they cost.
    pub free_trips: i128,
    /// Rounds of exact joins before bounds jump, then before they jump to the end.
    pub exact_rounds: u32,
    pub hard_rounds: u32,
    /// From here on whatever still moves may be anything of its type.
    pub last_round: u32,
    /// Nested selections whose sides are evaluated under their condition.
    pub selects: u32,
    /// Most combinations of public argument values that are run one by one.
    pub public_cases: usize,
    /// Expressions of clauses evaluated, per run.
    pub clause_steps: u64,
    /// Solver queries per function.
    pub queries: u32,
    /// The prover that once proved anything: a wrapped word has the solver's term of what was wrapped.
    #[cfg(test)]
    pub wrapped_keeps_term: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            small_callee: 20_000,
            tiny_callee: 2_000,
            in_place_steps: 200_000,
            inlined: 4,
            special_cases: 32,
            window: 96,
            candidates: 64,
            split_tries: 4,
            free_trips: 32,
            exact_rounds: 3,
            hard_rounds: 12,
            last_round: 24,
            selects: 3,
            public_cases: 512,
            clause_steps: 1 << 18,
            queries: 8,
            #[cfg(test)]
            wrapped_keeps_term: false,
        }
    }
}
