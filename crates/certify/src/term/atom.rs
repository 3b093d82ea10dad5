//! Atoms: what polynomials are over.

use super::ids::T;
use num_bigint::BigInt;

/// What an atom stands for. Arguments are terms, so atoms form a directed graph without cycles.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Atom {
    Var(String),
    /// `floor(p / 2^k)`
    Div(T, u32),
    /// `floor(p / d)`, d odd or with an odd factor
    DivBy(T, BigInt),
    /// 1 if `p < 0`
    Neg(T),
    /// 1 if `p == 0`
    Zero(T),
    /// Exclusive or of conjunctions of non-negative integers, bit by bit. Products and the factors in them ascending, none empty.
    Bits(Vec<Vec<T>>),
    /// Or of three or more non-negative integers, ascending.
    Or(Vec<T>),
    /// Element of a list; the index lies inside.
    Pick(Vec<T>, T),
    /// Element of an array of run-time length.
    Read(u32, T),
    /// A term too large to multiply out.
    Name(T),
    /// Result of a call.
    Out(u32, u32),
}

/// Facts about an atom.
#[derive(Clone, Debug)]
pub(crate) struct AtomInfo {
    pub atom: Atom,
    pub lo: BigInt,
    pub hi: BigInt,
    pub public: bool,
    pub values: Vec<BigInt>,
    /// For `[p < 0]`: it is minus the floor quotient by this power of two, and by any above.
    pub spread: u32,
}

/// An input.
#[derive(Clone, Debug)]
pub struct Var {
    pub name: String,
    pub lo: BigInt,
    pub hi: BigInt,
    pub public: bool,
    /// One value for each sample run.
    pub values: Vec<BigInt>,
}

/// One scalar result of an uninterpreted call.
#[derive(Clone, Debug)]
pub struct OutSpec {
    pub lo: BigInt,
    pub hi: BigInt,
    pub public: bool,
}
