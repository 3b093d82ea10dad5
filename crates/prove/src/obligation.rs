//! What has to be shown, and how it was settled: the currency of every engine and of the report.
//! Trusted: safe, field.

use num_bigint::BigInt;
use santoku_ir::{Contract, ContractKind, Func, FuncId, Loc};

/// What an obligation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// An exact integer stays inside the range declared where it flows.
    Range,
    /// An index or slice lies inside its array; array lengths at calls agree.
    Index,
    /// A shift or rotate count is smaller than the word.
    Shift,
    /// A value is written before it is read.
    Defined,
    /// An `assert` or a loop `invariant`.
    Assert,
    /// A callee's `requires` at a call.
    Requires,
    /// A function's own `ensures`.
    Ensures,
    /// An exact intermediate that must be computed fits 128 bits, signed or unsigned.
    Width,
    /// A function terminates on every input that meets its ranges and `requires`.
    Total,
    /// No secret steers a branch, a bound, an address or a variable-time operation.
    Secrecy,
    /// A pass kept the meaning of a function.
    Pass,
}

impl Kind {
    /// Every kind, in report order.
    pub const ALL: [Kind; 11] = [
        Kind::Range,
        Kind::Index,
        Kind::Shift,
        Kind::Defined,
        Kind::Assert,
        Kind::Requires,
        Kind::Ensures,
        Kind::Width,
        Kind::Total,
        Kind::Secrecy,
        Kind::Pass,
    ];

    /// Stable lower-case name, used in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Range => "range",
            Kind::Index => "index",
            Kind::Shift => "shift",
            Kind::Defined => "defined",
            Kind::Assert => "assert",
            Kind::Requires => "requires",
            Kind::Ensures => "ensures",
            Kind::Width => "width",
            Kind::Total => "total",
            Kind::Secrecy => "secrecy",
            Kind::Pass => "pass",
        }
    }
}

/// Which engine closed an obligation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// By the shape of the text alone.
    Syntactic,
    /// Interval abstract interpretation.
    Intervals,
    /// Intervals with linear facts and case splits on carries.
    Relational,
    /// A claim established before, carried along with its value.
    Carried,
    /// Integer polynomial normalisation.
    Algebra,
    /// All inputs tried.
    Exhaustive,
    /// Both sides became the same graph.
    Equivalence,
    /// An external SMT solver.
    Smt,
    /// The judge of meaning itself, with proofs that were found for it.
    Meaning,
}

impl Engine {
    /// Every engine, cheapest first.
    pub const ALL: [Engine; 9] = [
        Engine::Syntactic,
        Engine::Intervals,
        Engine::Relational,
        Engine::Carried,
        Engine::Algebra,
        Engine::Exhaustive,
        Engine::Equivalence,
        Engine::Smt,
        Engine::Meaning,
    ];

    /// Stable lower-case name, used in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Syntactic => "syntactic",
            Engine::Intervals => "intervals",
            Engine::Relational => "relational",
            Engine::Carried => "carried",
            Engine::Algebra => "algebra",
            Engine::Exhaustive => "exhaustive",
            Engine::Equivalence => "equivalence",
            Engine::Smt => "smt",
            Engine::Meaning => "meaning",
        }
    }
}

/// Inputs on which the interpreter confirmed the failure: one `(parameter, value as text)` per
/// length and parameter, in order, and what the interpreter said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    pub inputs: Vec<(String, String)>,
    pub message: String,
}

/// The range that was too wide, where it arose, and the range it had to fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Source-like text of the value.
    pub site: String,
    /// Inferred bounds; `None` is unbounded on that side.
    pub found: (Option<BigInt>, Option<BigInt>),
    /// Bounds it had to fit, where there are any.
    pub wanted: Option<(BigInt, BigInt)>,
    /// Where the wanted range is declared.
    pub declared_at: Option<Loc>,
    /// The operands of the value with their inferred bounds, widest first.
    pub operands: Vec<(String, String)>,
}

/// How an obligation ended.
// Failures are few and never moved in bulk.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Proved { engine: Engine },
    Failed { reason: String, witness: Option<Witness>, origin: Option<Origin> },
    /// The engine closed it, and something else shows that it must not have: a fault of the prover. Nothing is known of the
    /// claim.
    Fault { engine: Engine, reason: String, witness: Option<Witness> },
}

/// One thing that had to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obligation {
    pub func: FuncId,
    pub kind: Kind,
    pub loc: Loc,
    /// Which clause of the contracts (the callee's at a call, else the function's own), by its place among them; 0 for other kinds.
    pub nr: u32,
    /// What is claimed, in source-like text.
    pub text: String,
    pub outcome: Outcome,
    /// Time spent on this obligation alone, in microseconds; 0 where an engine settles many at once.
    pub micros: u64,
}

impl Obligation {
    /// Whether some engine closed it.
    pub fn proved(&self) -> bool {
        matches!(self.outcome, Outcome::Proved { .. })
    }
    /// Whether the prover contradicts itself here.
    pub fn fault(&self) -> bool {
        matches!(self.outcome, Outcome::Fault { .. })
    }
    /// The engine that closed it, if any.
    pub fn engine(&self) -> Option<Engine> {
        match self.outcome {
            Outcome::Proved { engine } => Some(engine),
            Outcome::Failed { .. } | Outcome::Fault { .. } => None,
        }
    }
}

/// A function's contracts of one kind, each with its place among all: its number in an [`Obligation`].
pub fn clauses(f: &Func, kind: ContractKind) -> impl Iterator<Item = (usize, &Contract)> {
    f.contracts.iter().enumerate().filter(move |(_, c)| c.kind == kind)
}

/// The claim of a callee's clause at a call, in the words every engine uses.
pub fn requires_text(callee: &Func, clause: &Contract) -> String {
    format!("{} requires {}", callee.name, clause.text)
}

/// The claim of a function's own clause, likewise.
pub fn ensures_text(clause: &Contract) -> String {
    clause.text.clone()
}
