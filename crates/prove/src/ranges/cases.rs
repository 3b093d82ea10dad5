//! Where a run is, and the cases it tells apart there: see [`super::split`].

use crate::itv::Itv;
use santoku_num::Bound;
use super::record::addr;
use santoku_ir::Stmt;
use std::collections::{BTreeMap, VecDeque};

/// What a sequence consists of.
#[derive(Clone, Copy)]
pub enum Item<'s> {
    Stmt(&'s Stmt),
    /// One step of an unrolled loop.
    Iteration(&'s Stmt, i128),
}

impl Item<'_> {
    pub(crate) fn step(self) -> Step {
        match self {
            Item::Stmt(s @ Stmt::For { .. }) => Step::Loop(addr(s)),
            Item::Stmt(s) => Step::Stmt(addr(s)),
            Item::Iteration(s, at) => Step::Round(addr(s), at),
        }
    }
    pub(crate) fn addr(self) -> usize {
        match self {
            Item::Stmt(s) | Item::Iteration(s, _) => addr(s),
        }
    }
}

/// One level of where a run is. Statements by address: the program is borrowed for all runs over a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Stmt(usize),
    Loop(usize),
    /// The bounds of the loop around, which are evaluated once.
    Bounds,
    /// The round of an unrolled loop that has this counter.
    Round(usize, i128),
    /// Any round of a summarised loop.
    AnyRound,
    /// Inside a clause of a contract, which is read in several states.
    Clause,
}

/// One evaluation of one expression: where, and the expression's address. All that is read at a point is read in
/// one state, so an expression read twice there has one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) path: Vec<Step>,
    pub(crate) expr: usize,
}

/// A quotient of a stored value that had few possible values.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// How many were noted before: orders the search, decides nothing else.
    pub(crate) nr: u64,
    pub(crate) point: Point,
    pub(crate) first: i128,
    pub(crate) last: i128,
}

/// Intervals that no integer is outside of.
#[derive(Clone, Debug)]
pub(crate) struct Cases(pub(crate) Vec<Itv>);

impl Cases {
    /// One per value, the outer ones open-ended: the values were those of another run, which binds nobody. `None`: they would
    /// leave an integer out.
    pub(crate) fn of(first: i128, last: i128) -> Option<Cases> {
        let one = |q: i128| Itv {
            lo: if q == first { Bound::NegInf } else { Bound::from(q) },
            hi: if q == last { Bound::PosInf } else { Bound::from(q) },
        };
        let all: Vec<Itv> = (first..=last).map(one).collect();
        cover(&all).then_some(Cases(all))
    }
}

/// Whether every integer is in one of the intervals, which are in order.
pub(crate) fn cover(all: &[Itv]) -> bool {
    let ends = all.first().is_some_and(|i| i.lo == Bound::NegInf) && all.last().is_some_and(|i| i.hi == Bound::PosInf);
    ends && all.windows(2).all(|w| w[1].lo <= w[0].hi.add(&Bound::ONE))
}

/// From the item at `start` on, `items` items run once per case of the quotient at `point`.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) start: Vec<Step>,
    pub(crate) items: usize,
    pub(crate) point: Point,
    pub(crate) cases: Cases,
    pub(crate) active: bool,
}

impl Plan {
    /// A group of `items` in the sequence at `path`. `None` where the event is no point of the group: not in one of the items, or
    /// in a loop that is summarised inside the group.
    pub(crate) fn new(path: &[Step], items: &[Item], event: &Event) -> Option<Plan> {
        let inside = event.point.path.strip_prefix(path)?;
        let (first, rest) = inside.split_first()?;
        if !items.iter().any(|i| i.step() == *first) || rest.contains(&Step::AnyRound) {
            return None;
        }
        let start = [path, &[items.first()?.step()]].concat();
        let cases = Cases::of(event.first, event.last)?;
        Some(Plan { start, items: items.len(), point: event.point.clone(), cases, active: false })
    }

    pub(crate) fn starts(&self, path: &[Step], next: Step) -> bool {
        !self.active && self.start.split_last().is_some_and(|(last, before)| *last == next && before == path)
    }
}

#[derive(Debug, Default)]
pub struct Splits {
    /// Where the run is.
    pub(crate) path: Vec<Step>,
    pub(crate) noted: u64,
    pub(crate) events: VecDeque<Event>,
    pub plans: Vec<Plan>,
    /// Quotients fixed right now, and what they are taken to be.
    pub(crate) forced: Vec<(Point, Itv)>,
    /// Whether to look for splits at failures.
    pub search: bool,
    pub(crate) trial: bool,
    pub(crate) tried: BTreeMap<usize, u32>,
    /// Steps that trials may still use.
    pub steps: u64,
}

impl Splits {
    /// The rounds of unrolled loops that the run is in: loop by address, counter.
    pub fn rounds(&self) -> Vec<(usize, i128)> {
        let round = |s: &Step| if let Step::Round(at, i) = s { Some((*at, *i)) } else { None };
        self.path.iter().filter_map(round).collect()
    }
}
