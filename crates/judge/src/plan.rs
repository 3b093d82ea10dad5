//! What the judge is asked, and what it answers.

use santoku_num::{Int, Itv};
use crate::lin::{Atoms, Lin, Proof};
use crate::value::{Sc, Val};
use santoku_ir::{Loc, LocalId, Stmt};
use std::collections::{BTreeMap, BTreeSet};

/// Why a function is not accepted, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub func: String,
    pub loc: Loc,
    /// Number of the statement in the order of the text, where it is one.
    pub statement: Option<usize>,
    pub what: String,
}

/// What is said of a call of a function of which nothing is known.
pub const CALLEE_NOT_ACCEPTED: &str = "a callee that was not accepted";

/// How a function is judged. Decides how much is found to follow, never what does.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Follow linear forms.
    pub forms: bool,
    /// Steps before giving up.
    pub steps: u64,
    /// Bodies of callees of so many steps are run for the arguments at hand, that deep.
    pub callee: u64,
    pub depth: u32,
    /// Parameters whose values are judged one by one.
    pub cases: BTreeSet<LocalId>,
    /// Loops, by function and number of the statement in the order of the text, of which one round stands for all.
    pub summarised: BTreeSet<(String, usize)>,
    /// Scalars that such a loop changes by a constant in every round.
    pub steady: BTreeMap<(String, usize), Vec<(LocalId, Int)>>,
    /// Statements, by function and number, before which cases are told apart.
    pub splits: BTreeMap<(String, usize), Split>,
}

/// A stored integer, told apart by which of these numbers it reaches (in ascending order), for so many statements.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    pub local: LocalId,
    pub path: Vec<usize>,
    pub cuts: Vec<Int>,
    pub statements: usize,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan { forms: false, steps: 20_000_000, callee: 0, depth: 0, cases: BTreeSet::new(), summarised: BTreeSet::new(), steady: BTreeMap::new(), splits: BTreeMap::new() }
    }
}

/// Finds proofs. Whatever it answers is checked.
pub trait Search {
    /// A proof of `goal >= 0` where all `facts` are `>= 0`.
    fn proof(&self, atoms: &Atoms, goal: &Lin, facts: &[Lin]) -> Option<Proof>;
}

/// Never finds one.
pub struct NoSearch;

impl Search for NoSearch {
    fn proof(&self, _: &Atoms, _: &Lin, _: &[Lin]) -> Option<Proof> {
        None
    }
}

/// What callers may use of a judged function: its results for any arguments, and what a run costs.
#[derive(Clone, Debug)]
pub struct Claims {
    pub(crate) rets: Vec<Val>,
    pub(crate) steps: u64,
    pub(crate) asked: u64,
}

impl Claims {
    /// Whether both say the same of the results.
    pub fn says_what(&self, o: &Claims) -> bool {
        self.rets == o.rets
    }
    /// Obligations that were asked and hold, each as often as it was met.
    pub fn asked(&self) -> u64 {
        self.asked
    }
    /// What two judgements of one function say together.
    pub fn and(&self, o: &Claims) -> Claims {
        let both = |a: &Sc, b: &Sc| Sc::new(a.itv.as_ref().zip(b.itv.as_ref()).and_then(|(a, b)| a.common(b)).or(a.itv.clone()).unwrap_or_else(Itv::bool));
        let rets = self.rets.iter().zip(&o.rets).map(|(a, b)| a.zip(b, &mut |a, b| both(a, b)).unwrap_or_else(|| a.clone()));
        Claims { rets: rets.collect(), ..self.clone() }
    }
}

pub(crate) fn address(s: &Stmt) -> usize {
    std::ptr::from_ref(s) as usize
}
