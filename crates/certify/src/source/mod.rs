//! The source side: core IR executed into terms.
//!
//! [`layout`] says where the bytes of values lie in memory and [`abi`] how arguments travel; [`Source`] executes a function;
//! [`inputs`] makes its arguments, with sample values that meet its preconditions.
//!
//! Needs: the IR, terms.  Keeps: the meaning that the interpreter gives, on every input that meets the proved obligations (an
//! index lies inside its array, a value in the range written on it, nothing is read before it is assigned).  Absent: proofs
//! of those obligations (`prove` has them), machine code.

pub mod abi;
pub mod convention;
mod exec;
mod harvest;
mod inputs;
mod ops;
mod place;
mod required;
mod value;

pub use exec::{CallMade, Environment, Limits, Site, Source, State};
pub use inputs::{inputs, meeting, InputArray, Inputs, Lengths, Rng};
pub use harvest::Sample;
pub use required::required;
pub use value::{concrete, known_length, scalars_of, with_lengths, Origin, RunArray, Value, Write};

pub use santoku_bytes::layout;
use layout::NoLayout;

/// Why an execution has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A limit was reached.
    TooBig,
    /// A loop whose bounds are not constant: function, name of the counter, line.
    Loop(String, String, u32),
    /// Something is read that was never assigned.
    Undefined,
    /// An index or count that is outside on every execution.
    OutOfRange(String),
    /// A sample value outside the range written on an expression: the samples do not meet the preconditions, or the range is
    /// wrong.
    Sample(String),
    NoLayout(NoLayout),
    /// A construct the executor does not follow.
    Unsupported(String),
    /// The program is not well formed.
    Malformed(String),
}

impl From<NoLayout> for Stop {
    fn from(why: NoLayout) -> Stop {
        Stop::NoLayout(why)
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stop::TooBig => f.write_str("the function is too large"),
            Stop::Loop(func, counter, line) => write!(f, "the loop over `{counter}` of `{func}` (line {line}) has no constant bounds"),
            Stop::Undefined => f.write_str("something is read before it is assigned"),
            Stop::OutOfRange(what) => write!(f, "{what} is out of range"),
            Stop::Sample(what) => write!(f, "a sample value is outside {what}"),
            Stop::NoLayout(why) => write!(f, "no layout: {why}"),
            Stop::Unsupported(what) => write!(f, "not followed: {what}"),
            Stop::Malformed(what) => write!(f, "malformed: {what}"),
        }
    }
}

#[cfg(test)]
mod tests;
