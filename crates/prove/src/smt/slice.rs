//! The terms of a query, and what can be said of it.

use crate::itv::Itv;
use santoku_num::Int;
use santoku_ir::{CmpOp, LocalId};
use std::collections::BTreeMap;

/// Number of a term; 0 is none.
pub type Term = u32;

/// One value of a straight-line slice of a function. Booleans are 0 or 1.
#[derive(Clone, Debug)]
pub enum Node {
    /// A scalar of a parameter at entry.
    Input(LocalId, Vec<usize>),
    /// Anything in its interval.
    Free,
    Const(Int),
    Add(Term, Term),
    Sub(Term, Term),
    Mul(Term, Term),
    /// Floor quotient and floor remainder by a positive constant.
    Div(Term, Int),
    Mod(Term, Int),
    Cmp(CmpOp, Term, Term),
    /// The second where the first is 1, else the third.
    Select(Term, Term, Term),
}

/// Values the solver gave to parameter scalars.
pub type Model = BTreeMap<(LocalId, Vec<usize>), Int>;

/// What the solver said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No value of the slice breaks the claim.
    Holds,
    /// These inputs may break it; exact unless something in the slice is only known by its interval.
    Maybe(Model),
    /// No answer within the limit, or no solver.
    Unknown,
}

/// What a query showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Holds,
    /// Not shown.
    Open,
    /// What the query takes for granted cannot be: it would prove anything, so it proves nothing. No input gets there, or
    /// the terms are wrong.
    Contradiction,
}

/// The terms of one run and the limits of its queries.
#[derive(Debug)]
pub struct Slice {
    pub(crate) nodes: Vec<(Node, Itv)>,
    /// Solver steps per query.
    pub(crate) limit: u64,
    pub(crate) queries: u32,
    /// Candidate inputs from queries that did not hold.
    pub models: Vec<Model>,
}
