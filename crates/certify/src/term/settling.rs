//! What the engine of open equalities ([`super::settle`]) remembers.

use super::ids::{A, T};
use num_bigint::BigInt;
use santoku_prove::smt::Session;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// The state of this engine in one proof.
#[derive(Debug, Default)]
pub(super) struct Settling {
    pub(super) session: Option<Session>,
    /// Number of terms when the source was done.
    pub(super) source: usize,
    pub(super) on: bool,
    pub(super) asked: u64,
    pub(super) settled: u64,
    pub(super) given_up: u32,
    /// Words in a row that were like one of the source and not found equal.
    pub(super) missed: u32,
    pub(super) answers: HashMap<(T, T), bool>,
    /// Words of the source by their values on the samples.
    pub(super) known: HashMap<Rc<[BigInt]>, Vec<T>>,
    pub(super) members: HashSet<T>,
    /// Conditions of the source, with what they are made of.
    pub(super) conditions: BTreeMap<T, BTreeSet<A>>,
    /// Conditions of the machine in the source's form, or in their own where none was found.
    pub(super) found: HashMap<T, T>,
}
