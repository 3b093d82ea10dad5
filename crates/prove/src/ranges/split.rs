//! Case splits on carries.
//!
//! When an obligation fails, the nearest earlier quotient with two to four possible values is split: the
//! statements from there to the failure run once per value and their ends are joined. Any such split is sound;
//! the search only decides which ones are worth it. A first, silent run finds them; the run that is recorded
//! replays them. Places in a run are told apart by a tick that counts statements and quotients.

use super::itv::Itv;
use super::num::Num;
use super::record::addr;
use super::run::{Run, State};
use super::value::Sc;
use santoku_ir::{Expr, Stmt};
use std::collections::{BTreeMap, VecDeque};

/// Statements kept to go back to, per block.
const WINDOW: usize = 96;
/// Quotients tried per failure, nearest first.
const CANDIDATES: usize = 64;
/// Failures of one statement that are worth a search.
const TRIES: u32 = 4;

/// What a sequence consists of.
#[derive(Clone, Copy)]
pub enum Item<'s> {
    Stmt(&'s Stmt),
    /// One step of an unrolled loop.
    Iteration(&'s Stmt, i128),
}

/// A quotient of a stored value that had few possible values.
#[derive(Clone, Debug)]
struct Event {
    tick: u64,
    first: i128,
    last: i128,
}

/// From the statement at `start` on, `items` statements run once per value of the quotient at `event`.
#[derive(Clone, Debug)]
pub struct Plan {
    start: u64,
    items: usize,
    end: u64,
    event: Event,
    active: bool,
}

#[derive(Debug, Default)]
pub struct Splits {
    tick: u64,
    events: VecDeque<Event>,
    pub plans: Vec<Plan>,
    /// Quotients fixed right now: tick and possible values.
    forced: Vec<(u64, Itv)>,
    /// Whether to look for splits at failures.
    pub search: bool,
    trial: bool,
    tried: BTreeMap<usize, u32>,
    /// Steps that trials may still use.
    pub steps: u64,
}

struct Snapshot {
    index: usize,
    tick: u64,
    state: State,
    facts: usize,
}

impl Run<'_> {
    /// Executes statements in order.
    pub fn sequence(&mut self, st: &mut State, items: &[Item]) {
        let mut snaps: VecDeque<Snapshot> = VecDeque::new();
        let mut i = 0;
        while i < items.len() && !st.dead {
            let tick = self.splits.tick;
            let plan = self.splits.plans.iter().rposition(|p| p.start == tick && !p.active);
            if self.splits.search && !self.splits.trial {
                snaps.push_back(Snapshot { index: i, tick, state: st.clone(), facts: self.facts.len() });
                if snaps.len() > WINDOW {
                    snaps.pop_front();
                }
            }
            let fails = self.fails;
            let last = match plan {
                Some(nr) => {
                    let n = self.splits.plans[nr].items.min(items.len() - i);
                    self.group(st, nr, &items[i..i + n]);
                    i + n - 1
                }
                None => {
                    self.splits.tick += 1;
                    self.item(st, &items[i]);
                    i
                }
            };
            if self.fails > fails && self.splits.search && !self.splits.trial {
                if let Some(end) = self.find_split(items, &mut snaps, last) {
                    *st = end;
                    self.fails = fails;
                }
            }
            i = last + 1;
        }
    }

    fn item(&mut self, st: &mut State, item: &Item) {
        match item {
            Item::Stmt(s) => self.stmt(st, s),
            Item::Iteration(s, at) => self.iteration(st, s, *at),
        }
    }

    /// Runs `body` without looking for splits, and back at the same tick.
    pub fn aside<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        let (tick, trial) = (self.splits.tick, std::mem::replace(&mut self.splits.trial, true));
        let out = body(self);
        (self.splits.tick, self.splits.trial) = (tick, trial);
        out
    }

    /// Runs a planned group once per case; the end of all cases.
    fn group(&mut self, st: &mut State, nr: usize, items: &[Item]) {
        self.splits.plans[nr].active = true;
        let plan = self.splits.plans[nr].clone();
        if let Some(end) = self.cases(st, &plan, items, false) {
            *st = end;
        }
        self.splits.tick = plan.end;
        self.splits.plans[nr].active = false;
    }

    /// `items` from `st` once per value of the plan's quotient. With `strict`, `None` at the first failure.
    fn cases(&mut self, st: &State, plan: &Plan, items: &[Item], strict: bool) -> Option<State> {
        let facts = self.facts.len();
        let mut end: Option<State> = None;
        for q in plan.event.first..=plan.event.last {
            // The outer cases are open-ended, so that the cases cover whatever the value turns out to be.
            let lo = if q == plan.event.first { Num::NegInf } else { Num::from(q) };
            let hi = if q == plan.event.last { Num::PosInf } else { Num::from(q) };
            self.splits.forced.push((plan.event.tick, Itv { lo, hi }));
            self.splits.tick = plan.start;
            let (mut one, fails) = (st.clone(), self.fails);
            self.sequence(&mut one, items);
            self.facts.truncate(facts);
            self.splits.forced.pop();
            if strict && self.fails > fails {
                return None;
            }
            end = Some(match end {
                Some(e) => self.join(e, one),
                None => one,
            });
        }
        end
    }

    /// Looks for a split that makes everything up to item `last` succeed.
    fn find_split(&mut self, items: &[Item], snaps: &mut VecDeque<Snapshot>, last: usize) -> Option<State> {
        let at = match items[last] {
            Item::Stmt(s) | Item::Iteration(s, _) => addr(s),
        };
        let tried = self.splits.tried.entry(at).or_default();
        *tried += 1;
        if *tried > TRIES {
            return None;
        }
        let oldest = snaps.front()?.tick;
        let (end, facts, all_facts) = (self.splits.tick, self.facts.len(), self.facts.clone());
        let events: Vec<Event> =
            self.splits.events.iter().rev().take_while(|e| e.tick >= oldest).take(CANDIDATES).cloned().collect();
        let (fails, budget) = (self.fails, self.budget);
        let mut found = None;
        for event in events {
            let before = self.steps;
            let from = snaps.iter().rposition(|s| s.tick <= event.tick)?;
            let snap = &snaps[from];
            let plan = Plan { start: snap.tick, items: last + 1 - snap.index, end, event, active: false };
            self.facts.truncate(snap.facts);
            self.splits.trial = true;
            self.mute += 1;
            self.budget = self.budget.saturating_add(self.splits.steps);
            let state = self.cases(&snap.state, &plan, &items[snap.index..=last], true);
            self.budget = budget;
            self.mute -= 1;
            self.splits.trial = false;
            self.facts.clone_from(&all_facts);
            self.fails = fails;
            let cost = self.steps - before;
            self.steps = before;
            self.splits.steps = self.splits.steps.saturating_sub(cost);
            if let Some(state) = state {
                self.splits.plans.push(plan);
                found = Some((state, from));
                break;
            }
            if self.splits.steps == 0 {
                break;
            }
        }
        self.splits.tick = end;
        self.facts.truncate(facts);
        let (state, from) = found?;
        // The group is one unit from now on.
        snaps.truncate(from + 1);
        Some(state)
    }

    /// At `x >> k` or `x & (2^k - 1)`: notes the quotient as a candidate, or fixes it in the case being run.
    pub fn split_here(&mut self, st: &mut State, e: &Expr, x: Sc, k: u32) -> Sc {
        if !self.relational() {
            return x;
        }
        let tick = self.splits.tick;
        self.splits.tick += 1;
        let forced = self.splits.forced.iter().find(|f| f.0 == tick).map(|f| f.1.clone());
        if let Some(q) = forced {
            return self.fix(st, e, x, k, &q);
        }
        if self.splits.search && !self.splits.trial {
            let q = x.itv().shr(k);
            if let (Some(first), Some(last)) = (q.lo.small(), q.hi.small()) {
                if (1..=3).contains(&last.saturating_sub(first)) && self.target(st, e).is_some() {
                    self.splits.events.push_back(Event { tick, first, last });
                    if self.splits.events.len() > 4 * CANDIDATES {
                        self.splits.events.pop_front();
                    }
                }
            }
        }
        x
    }

    /// Restricts the stored value under `e` so that its quotient lies in `q`.
    fn fix(&mut self, st: &mut State, e: &Expr, x: Sc, k: u32, q: &Itv) -> Sc {
        let tick = self.splits.tick;
        let target = self.target(st, e);
        self.splits.tick = tick;
        let Some(t) = target else { return x };
        let add = Itv::point(t.add.clone());
        let values = Itv { lo: q.lo.shl(k), hi: q.hi.shl(k).add(&Num::mask(k)) };
        let Some(leaf) = st.locals[t.local.0 as usize].at_mut(&t.path) else { return x };
        let met = leaf.itv().meet(&values.sub(&add));
        if met.is_empty() {
            st.dead = true;
            return x;
        }
        *leaf = leaf.narrowed(&met);
        x.narrowed(&met.add(&add))
    }
}
