//! Types of values of the language.

use santoku_ir::{Range, Ty};

/// Type of a value of the language: one core value, or a tuple of them (tuples are flattened in the core).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum STy {
    One { ty: Ty, public: bool },
    Tuple(Vec<STy>),
}

impl STy {
    pub fn one(ty: Ty) -> STy {
        STy::One { ty, public: false }
    }
    /// The core values in order, with their publicness.
    pub fn flat(&self) -> Vec<(Ty, bool)> {
        match self {
            STy::One { ty, public } => vec![(ty.clone(), *public)],
            STy::Tuple(parts) => parts.iter().flat_map(STy::flat).collect(),
        }
    }
    pub fn make_public(self) -> STy {
        match self {
            STy::One { ty, .. } => STy::One { ty, public: true },
            STy::Tuple(parts) => STy::Tuple(parts.into_iter().map(STy::make_public).collect()),
        }
    }
}

/// Types of one function instance. Lengths in it name the instance's own length parameters
/// (`LocalId(i)` is the i-th).
#[derive(Clone, Debug)]
pub struct Signature {
    pub params: Vec<(Ty, bool)>,
    pub ret: STy,
    /// Per flattened result: public whatever the arguments.
    pub ret_public: Vec<bool>,
}

/// Whether an exact integer without a range occurs. Struct fields never are.
pub fn open_int(ty: &Ty) -> bool {
    match ty {
        Ty::Int(range) => range.is_none(),
        Ty::Array { elem, ranges, .. } => ranges.is_none() && open_int(elem),
        Ty::Word(_) | Ty::Bool | Ty::Struct(_) => false,
    }
}

/// The range of a word read as an integer.
pub fn word_range(bits: u32) -> Range {
    Range::word(bits)
}
