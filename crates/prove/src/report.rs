//! What is said of a program and of each of its functions.
//!
//! Needs: obligations and what the judges say.  Keeps: a program holds if everything is proved, and something was there to prove.  Absent: how
//! it is found (`whole`).
//! Trusted: safe, field.

use crate::obligation::Obligation;
use crate::replay::Replayed;
use santoku_ir::{FuncId, Loc, Program};
use serde::{Deserialize, Serialize};

/// Result for one function.
#[derive(Clone, Debug)]
pub struct FunctionReport {
    pub func: FuncId,
    pub name: String,
    /// Taken from the cache.
    pub cached: bool,
    pub obligations: Vec<Obligation>,
    /// Contracts and assertions that say nothing, because no input gets to them.
    pub vacuous: Vec<Vacuous>,
    /// What the judge says to what the range engines found of it.
    pub judgement: Judgement,
    /// What the judge of meaning says to the clauses that the engines closed.
    pub clauses: Replayed,
    /// Runs to the end on inputs, its own or those of a caller's run, in which everything claimed of the function held.
    pub inputs: u64,
}

/// Whether the safety of a function rests on the judge alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Judgement {
    Accepted,
    /// And why; safety rests on the engines.
    Refused(String),
}

/// A condition that holds for want of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vacuous {
    pub loc: Loc,
    pub text: String,
    pub why: Why,
}

/// Why nothing is asked of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// No input meets all `requires` of the function.
    Requires,
    /// The assertion is never reached.
    Unreached,
}

/// Result for a program.
#[derive(Clone, Debug)]
pub struct Report {
    pub functions: Vec<FunctionReport>,
    /// Functions whose results are public by their author's word, `@declassify`, and where.
    pub declassified: Vec<(String, Loc)>,
    pub files: Vec<String>,
    /// Wall time of the run, in microseconds.
    pub micros: u64,
}

impl Report {
    pub fn total(&self) -> usize {
        self.functions.iter().map(|f| f.obligations.len()).sum()
    }
    /// Where the prover contradicts itself.
    pub fn faults(&self) -> impl Iterator<Item = &Obligation> {
        self.functions.iter().flat_map(|f| &f.obligations).filter(|o| o.fault())
    }
    /// Functions that were closed without a run of what was claimed on any input, though some input may meet what they require.
    pub fn unrun(&self) -> impl Iterator<Item = &FunctionReport> {
        self.functions.iter().filter(|f| f.inputs == 0 && f.obligations.iter().all(Obligation::proved) && f.vacuous.iter().all(|v| v.why != Why::Requires))
    }
    /// Functions that the judge does not accept although nothing is open: that they are safe rests on the engines.
    pub fn refused(&self) -> impl Iterator<Item = (&FunctionReport, &str)> {
        let closed = self.failed().next().is_none();
        self.functions.iter().filter(move |_| closed).filter_map(|f| if let Judgement::Refused(why) = &f.judgement { Some((f, why.as_str())) } else { None })
    }
    /// Functions that the judge accepts.
    pub fn accepted(&self) -> usize {
        self.functions.iter().filter(|f| f.judgement == Judgement::Accepted).count()
    }
    /// Clauses of contracts that the judge of meaning accepts, of how many.
    pub fn clauses(&self) -> (usize, usize) {
        self.functions.iter().fold((0, 0), |(accepted, all), f| (accepted + f.clauses.accepted, all + f.clauses.asked()))
    }
    /// Functions with clauses that rest on the engines although nothing is open, and these clauses.
    pub fn resting(&self) -> impl Iterator<Item = (&FunctionReport, &[String])> {
        let closed = self.failed().next().is_none();
        self.functions.iter().filter(move |f| closed && !f.clauses.open.is_empty()).map(|f| (f, f.clauses.open.as_slice()))
    }
    pub fn vacuous(&self) -> impl Iterator<Item = (FuncId, &Vacuous)> {
        self.functions.iter().flat_map(|f| f.vacuous.iter().map(|v| (f.func, v)))
    }
    pub fn failed(&self) -> impl Iterator<Item = &Obligation> {
        self.functions.iter().flat_map(|f| &f.obligations).filter(|o| !o.proved())
    }
    /// Everything proved, and at least one thing was there to prove.
    pub fn holds(&self) -> bool {
        self.total() > 0 && self.failed().next().is_none()
    }
}

/// Functions proved anew, and the program with what was found of it written into it.
pub(crate) struct Settled {
    pub functions: Vec<FunctionReport>,
    pub claims_written: Program,
}
