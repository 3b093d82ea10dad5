//! Why the source was not executed to its end.

use santoku_bytes::layout::NoLayout;

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
