//! What is found of a function, and why no more.
//! Trusted: field, bytes, leaks.

use santoku_ir::{FuncId, Loc};
use std::collections::BTreeMap;

/// When a claim is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    Here,
    /// Of an invariant: where the loop is reached; behind a round.
    Entry,
    Step,
}

/// Which clauses hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clauses {
    /// The function's own, by place among its contracts.
    pub ensures: BTreeMap<usize, bool>,
    /// Of a callee at a call: every time that it is called there.
    pub requires: BTreeMap<(Loc, FuncId, usize), bool>,
    /// Of ghost text.
    pub claims: BTreeMap<(Loc, Moment), bool>,
}

impl Clauses {
    pub(crate) fn all(&self) -> impl Iterator<Item = bool> + '_ {
        self.ensures.values().chain(self.requires.values()).chain(self.claims.values()).copied()
    }
    pub(crate) fn holds(&self) -> bool {
        self.all().all(|held| held)
    }
    pub(crate) fn held(&self) -> usize {
        self.all().filter(|held| *held).count()
    }
    /// What one of two executions found, of a function without claims.
    pub(crate) fn or(mut self, other: Clauses) -> Clauses {
        for (k, held) in other.ensures {
            *self.ensures.entry(k).or_insert(false) |= held;
        }
        for (k, held) in other.requires {
            *self.requires.entry(k).or_insert(false) |= held;
        }
        self
    }
}

/// Why nothing more can be said of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop(pub String);

pub type Res<T> = Result<T, Stop>;

impl Stop {
    /// What was computed became too long to be followed.
    pub fn is_too_long(&self) -> bool {
        self.0.ends_with("too long")
    }
}

pub fn stop<T>(why: &str) -> Res<T> {
    Err(Stop(why.into()))
}

pub fn known<T>(v: Option<T>, why: &str) -> Res<T> {
    v.map_or_else(|| stop(why), Ok)
}
