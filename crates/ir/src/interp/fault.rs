//! What can go wrong in a run.

use super::value::Value;
use crate::data::Loc;
use crate::spec::ContractKind;
use crate::ty::Range;
use santoku_num::Int;
use std::fmt;

/// Why a run stopped, where, and the values that show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    /// Name of the function that was running.
    pub func: String,
    pub loc: Loc,
    /// Where it went wrong at the entry of a function, for what that requires of its arguments: who called it, and where.
    pub call: Option<(String, Loc)>,
    /// Named values that explain the fault: the locals of a failed condition.
    pub values: Vec<(String, Value)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An exact integer left the declared range of the place it flowed into (or the range that a pass
    /// wrote on an expression).
    RangeLeft { place: String, value: Int, range: Range },
    IndexOutOfBounds { index: Int, len: u64 },
    SliceOutOfBounds { off: Int, count: u64, len: u64 },
    /// Not `0 <= count < bits` for words, not `0 <= count` for integers.
    ShiftCount { count: Int, bits: u32 },
    /// A length is negative or no 64-bit number.
    Length { value: Int },
    Assertion { text: String },
    /// The loop invariant with this position in the list failed at entry or after a step.
    Invariant { position: usize },
    Contract { kind: ContractKind, text: String },
    /// The step budget is exhausted.
    OutOfSteps,
    /// A variable or result element was read, or returned, before it was assigned.
    Undefined { place: String },
    /// An exact integer outgrew [`crate::limits::INT_BITS`].
    IntTooLarge,
    /// An argument given to [`super::Interp::call`] does not fit the parameter.
    BadArgument { reason: String },
    /// The program is not well formed (the verifier refuses it), or nests too deeply.
    Internal { reason: String },
}

impl Fault {
    pub(crate) fn new(kind: FaultKind) -> Box<Fault> {
        Box::new(Fault { kind, func: String::new(), loc: Loc::default(), call: None, values: Vec::new() })
    }
    pub(crate) fn internal(reason: impl Into<String>) -> Box<Fault> {
        Fault::new(FaultKind::Internal { reason: reason.into() })
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::RangeLeft { place, value, range } => {
                write!(f, "{place} would be {value}, outside {}..{}", range.lo, range.hi)
            }
            FaultKind::IndexOutOfBounds { index, len } => write!(f, "index {index} outside an array of {len}"),
            FaultKind::SliceOutOfBounds { off, count, len } => {
                write!(f, "slice of {count} from {off} outside an array of {len}")
            }
            FaultKind::ShiftCount { count, bits: 0 } => write!(f, "shift of an integer by {count}"),
            FaultKind::ShiftCount { count, bits } => write!(f, "shift of a {bits}-bit word by {count}"),
            FaultKind::Length { value } => write!(f, "length {value} is not possible"),
            FaultKind::Assertion { text } => write!(f, "assertion failed: {text}"),
            FaultKind::Invariant { position } => write!(f, "loop invariant {} failed", position + 1),
            FaultKind::Contract { kind: ContractKind::Requires, text } => write!(f, "requires not met: {text}"),
            FaultKind::Contract { kind: ContractKind::Ensures, text } => write!(f, "ensures not met: {text}"),
            FaultKind::OutOfSteps => f.write_str("the step budget is exhausted"),
            FaultKind::Undefined { place } => write!(f, "{place} is read before it is assigned"),
            FaultKind::IntTooLarge => f.write_str("an exact integer grew beyond the supported size"),
            FaultKind::BadArgument { reason } => write!(f, "bad argument: {reason}"),
            FaultKind::Internal { reason } => write!(f, "malformed program: {reason}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.kind, self.func)?;
        if self.loc != Loc::default() {
            write!(f, " (file {}, line {}, column {})", self.loc.file, self.loc.line, self.loc.col)?;
        }
        for (name, value) in &self.values {
            write!(f, "\n  {name} = {value}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}
