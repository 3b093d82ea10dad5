//! What arrays of run-time length are made of ([`super::arrays`]).

use super::atom::OutSpec;
use super::ids::T;
use num_bigint::BigInt;
use std::collections::{BTreeMap, HashMap};

/// The number of the first array that is no input.
pub(super) const FIRST: u32 = 1 << 20;

/// What an array is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Array {
    /// Any, told apart from all others by its name.
    Any(String),
    /// A result, by position, of a call that is not looked into.
    Result(String, Vec<T>, usize),
    /// Scalars of an element, and all elements are the same.
    Filled(Vec<T>),
    Written(Written),
    /// The array of the second number where the bit is 1, of the third where it is 0.
    Either(T, T, T),
}

/// An array, and the scalars written since.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Written {
    /// Number of the array written to; `None`: nothing was ever assigned.
    pub(super) origin: Option<T>,
    /// Oldest first.
    pub(super) writes: Vec<Group>,
}

/// Scalars written at known distances from each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Group {
    /// Without a constant summand.
    pub(super) base: T,
    pub(super) by_distance: BTreeMap<BigInt, T>,
}

#[derive(Debug, Default)]
pub(super) struct Arrays {
    pub(super) all: Vec<(Array, Vec<OutSpec>)>,
    pub(super) numbers: HashMap<Array, u32>,
}
