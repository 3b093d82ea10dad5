//! Why a program has no kernel in a layout.

use santoku_ir::Loc;
use std::fmt;

/// A refusal, or (for [`LayoutError::Internal`]) a fault of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// No function of this name.
    NoFunction(String),
    /// The function is not `block -> block` with shared inputs.
    Shape { func: String, reason: String, loc: Loc },
    /// An operation the layout does not have: what, and where.
    Operation { func: String, what: String, layout: &'static str, loc: Loc },
    /// A step that the layout needs could not be checked.
    Unchecked { func: String, step: &'static str, reason: String, loc: Loc },
    /// The machine has no such layout.
    Machine { reason: String },
    /// A step changed the program, or left one that is none.
    Internal { step: &'static str, reason: String },
}

impl LayoutError {
    /// Place in the source, where there is one.
    pub fn loc(&self) -> Option<Loc> {
        match self {
            LayoutError::Shape { loc, .. } | LayoutError::Operation { loc, .. } | LayoutError::Unchecked { loc, .. } => Some(*loc),
            LayoutError::NoFunction(_) | LayoutError::Machine { .. } | LayoutError::Internal { .. } => None,
        }
    }
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            LayoutError::NoFunction(_) => "name a function of the file, or its C name",
            LayoutError::Shape { .. } => "write the cipher for one block: `fn f(block: [uN; n], keys: ..) -> [uN; n]`, keys named as shared",
            LayoutError::Operation { layout: "scalar", .. } => "use lengths, slices and indices whose bounds follow from types and constants alone",
            LayoutError::Operation { .. } => "choose another layout: `scalar` has every operation",
            LayoutError::Unchecked { .. } => "lay out a smaller part of it (one round), ask for one copy, or choose another layout",
            LayoutError::Machine { .. } => "choose another instruction set or layout",
            LayoutError::Internal { .. } => "this is a fault of the compiler; please report it",
        }
    }
    /// The same of a function whose name in the source is without a prefix.
    pub(crate) fn without(mut self, prefix: &str) -> LayoutError {
        if let LayoutError::Shape { func, .. } | LayoutError::Operation { func, .. } | LayoutError::Unchecked { func, .. } = &mut self {
            *func = func.strip_prefix(prefix).unwrap_or(func).to_string();
        }
        self
    }
    pub(crate) fn internal(step: &'static str, reason: impl Into<String>) -> LayoutError {
        LayoutError::Internal { step, reason: reason.into() }
    }
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::NoFunction(name) => write!(f, "there is no function `{name}`"),
            LayoutError::Shape { func, reason, .. } => write!(f, "`{func}` cannot be laid out: {reason}"),
            LayoutError::Operation { func, what, layout, .. } => write!(f, "`{func}`: {layout} layout has no {what}"),
            LayoutError::Unchecked { func, step, reason, .. } => write!(f, "`{func}`: step `{step}` of the layout could not be checked: {reason}"),
            LayoutError::Machine { reason } => f.write_str(reason),
            LayoutError::Internal { step, reason } => write!(f, "internal error in layout step `{step}`: {reason}"),
        }
    }
}

impl std::error::Error for LayoutError {}

/// Why two functions were not found equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unequal {
    /// They give different results on an input: this bit of the result.
    Differ(usize),
    /// The graphs are not the same, and no input was found that tells them apart: this bit of the result.
    Undecided(usize),
    /// Something that has no form in gates, and its place.
    NoForm { what: String, loc: Loc },
    /// The graph outgrew its bound.
    TooBig,
}

impl fmt::Display for Unequal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unequal::Differ(bit) => write!(f, "bit {bit} of the result is not the same"),
            Unequal::Undecided(bit) => write!(f, "bit {bit} of the result was not shown to be the same"),
            Unequal::NoForm { what, .. } => write!(f, "{what} cannot be compared bit by bit"),
            Unequal::TooBig => f.write_str("the program is too large to be compared bit by bit"),
        }
    }
}
