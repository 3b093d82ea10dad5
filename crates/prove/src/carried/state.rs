//! What is known of the values in a function's variables: claims at every part of a value.

use santoku_ir::{ConstValue, LocalId};
use std::collections::{BTreeMap, BTreeSet};

/// A claim, by its number in the run's list.
pub type ClaimId = u32;
/// A constant value that a place may hold, by its number in the run's list.
pub type KnownId = u32;

/// A claim that holds of the value at a path of a variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Said {
    pub local: LocalId,
    pub path: Vec<usize>,
    pub claim: ClaimId,
}

/// A value, as a set of possibilities: one of the constants `known`, or a value of which the `claims` hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// `None` is "no such value": nothing was written, or the constants are all there is.
    pub claims: Option<BTreeSet<ClaimId>>,
    pub known: BTreeSet<KnownId>,
    /// Fields, or elements where they are aggregates themselves.
    pub kids: Vec<Node>,
}

impl Node {
    /// Never written.
    pub fn unwritten() -> Node {
        Node { claims: None, known: BTreeSet::new(), kids: Vec::new() }
    }
    /// Any value at all.
    pub fn anything() -> Node {
        Node { claims: Some(BTreeSet::new()), known: BTreeSet::new(), kids: Vec::new() }
    }
    /// Made of these parts; nothing is known of them together.
    pub fn of_parts(kids: Vec<Node>) -> Node {
        Node { claims: Some(BTreeSet::new()), known: BTreeSet::new(), kids }
    }

    /// The part at `path`.
    pub fn at(&self, path: &[usize]) -> Node {
        match path.split_first() {
            None => self.clone(),
            Some((i, rest)) => self.kids.get(*i).map_or_else(|| self.unknown_part(), |k| k.at(rest)),
        }
    }
    fn unknown_part(&self) -> Node {
        if self.claims.is_none() && self.known.is_empty() {
            Node::unwritten()
        } else {
            Node::anything()
        }
    }

    /// Some element.
    pub fn any_part(&self, join: &mut dyn FnMut(&Node, &Node) -> Node) -> Node {
        let mut parts = self.kids.iter();
        let Some(first) = parts.next() else { return self.unknown_part() };
        parts.fold(first.clone(), |a, b| join(&a, b))
    }

    /// Gives the value its parts, `width` of them.
    pub fn open(&mut self, width: usize) {
        if self.kids.is_empty() {
            self.kids = vec![self.unknown_part(); width];
        }
    }
    /// A part is about to change: what was known of the whole is lost.
    pub fn forget_whole(&mut self) {
        self.claims = Some(BTreeSet::new());
        self.known.clear();
    }
}

/// What is known at one point of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub vals: Vec<Node>,
    /// What a true boolean says.
    pub if_true: BTreeMap<LocalId, BTreeSet<Said>>,
}

impl State {
    /// Forgets what booleans said of a variable, and what it said itself.
    pub fn changed(&mut self, local: LocalId) {
        self.if_true.remove(&local);
        for said in self.if_true.values_mut() {
            said.retain(|s| s.local != local);
        }
    }
}

/// The part of a constant at a path.
pub fn const_part<'v>(value: &'v ConstValue, path: &[usize]) -> Option<&'v ConstValue> {
    path.iter().try_fold(value, |v, i| match v {
        ConstValue::Array(es) | ConstValue::Struct(es) => es.get(*i),
        ConstValue::Scalar(_) => None,
    })
}
