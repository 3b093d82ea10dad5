//! Case splits on carries.
//!
//! When an obligation fails, the nearest earlier quotient with two to four possible values is split: the
//! statements from there to the failure run once per value and their ends are joined. A first, silent run finds
//! the splits that are worth it; the run that is recorded replays them.
//!
//! Why a split is sound, whatever the runs do otherwise: what a case assumes is said of one [`Point`], and a point
//! names at most one evaluation in any execution of the group: the statements around it, the round of every loop
//! between, and the expression. A loop that is summarised stands for many rounds, so nothing below it is a point
//! of a group that began outside ([`Plan::new`]). The cases cover all integers ([`Cases`]). So every execution is in a
//! case whose assumption holds of it, or where nothing is assumed; a case that runs out of a budget, or never gets
//! to its point, assumes less. No count of what two runs did is compared.

use super::cases::{Event, Item, Plan, Point, Step};
use crate::itv::Itv;
use santoku_num::Bound;
use super::record::addr;
use super::run::{Run, State};
use super::value::Sc;
use santoku_ir::{Expr, Stmt};
use std::collections::VecDeque;

struct Snapshot {
    index: usize,
    noted: u64,
    state: State,
    facts: usize,
}

impl Run<'_> {
    /// Executes statements in order.
    pub fn sequence(&mut self, st: &mut State, items: &[Item]) {
        let mut snaps: VecDeque<Snapshot> = VecDeque::new();
        let mut i = 0;
        while i < items.len() && !st.dead {
            let step = items[i].step();
            let plan = self.splits.plans.iter().rposition(|p| p.starts(&self.splits.path, step));
            let searching = self.splits.search && !self.splits.trial;
            if searching {
                snaps.push_back(Snapshot { index: i, noted: self.splits.noted, state: st.clone(), facts: self.facts.len() });
                if snaps.len() > self.opts.limits.window {
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
                    self.within(step, |run| run.item(st, &items[i]));
                    i
                }
            };
            if self.fails > fails && searching {
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

    /// Runs `body` one level further down.
    pub fn within<T>(&mut self, step: Step, body: impl FnOnce(&mut Self) -> T) -> T {
        self.splits.path.push(step);
        let out = body(self);
        self.splits.path.pop();
        out
    }

    /// Runs `body` without looking for splits.
    pub fn aside<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        let trial = std::mem::replace(&mut self.splits.trial, true);
        let out = body(self);
        self.splits.trial = trial;
        out
    }

    /// Runs a planned group once per case; the end of all cases.
    fn group(&mut self, st: &mut State, nr: usize, items: &[Item]) {
        self.splits.plans[nr].active = true;
        let plan = self.splits.plans[nr].clone();
        if let Some(end) = self.cases(st, &plan, items, false) {
            *st = end;
        }
        self.splits.plans[nr].active = false;
    }

    /// `items` from `st` once per case of the plan's quotient. With `strict`, `None` at the first failure.
    fn cases(&mut self, st: &State, plan: &Plan, items: &[Item], strict: bool) -> Option<State> {
        let facts = self.facts.len();
        let mut end: Option<State> = None;
        for case in &plan.cases.0 {
            self.splits.forced.push((plan.point.clone(), case.clone()));
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
        let tried = self.splits.tried.entry(items[last].addr()).or_default();
        *tried += 1;
        if *tried > self.opts.limits.split_tries {
            return None;
        }
        let oldest = snaps.front()?.noted;
        let (facts, all_facts) = (self.facts.len(), self.facts.clone());
        let recent = self.splits.events.iter().rev().take_while(|e| e.nr >= oldest);
        let events: Vec<Event> = recent.take(self.opts.limits.candidates).cloned().collect();
        let (fails, budget) = (self.fails, self.budget);
        let mut found = None;
        for event in events {
            let before = self.steps;
            let from = snaps.iter().rposition(|s| s.noted <= event.nr)?;
            let snap = &snaps[from];
            let Some(plan) = Plan::new(&self.splits.path, &items[snap.index..=last], &event) else { continue };
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
        // Elsewhere an expression is read in several states.
        if !matches!(self.splits.path.last(), Some(Step::Stmt(_) | Step::Bounds)) {
            return x;
        }
        let (path, expr) = (&self.splits.path, addr(e));
        let here = |p: &Point| p.expr == expr && p.path == *path;
        if let Some(q) = self.splits.forced.iter().find(|f| here(&f.0)).map(|f| f.1.clone()) {
            return self.fix(st, e, x, k, &q);
        }
        if self.splits.search && !self.splits.trial {
            let q = x.itv().shr(k);
            if let (Some(first), Some(last)) = (q.lo.small(), q.hi.small()) {
                let few = (1..=3).contains(&last.saturating_sub(first));
                let known = self.splits.events.iter().rev().take_while(|e| e.point.path == *path).any(|e| e.point.expr == expr);
                if few && !known && self.target(st, e).is_some() {
                    self.note_event(expr, first, last);
                }
            }
        }
        x
    }

    fn note_event(&mut self, expr: usize, first: i128, last: i128) {
        let point = Point { path: self.splits.path.clone(), expr };
        self.splits.events.push_back(Event { nr: self.splits.noted, point, first, last });
        self.splits.noted += 1;
        if self.splits.events.len() > 4 * self.opts.limits.candidates {
            self.splits.events.pop_front();
        }
    }

    /// Restricts the stored value under `e` so that its quotient lies in `q`.
    fn fix(&mut self, st: &mut State, e: &Expr, x: Sc, k: u32, q: &Itv) -> Sc {
        let Some(t) = self.target(st, e) else { return x };
        let add = Itv::point(t.add.clone());
        let values = Itv { lo: q.lo.shl(k), hi: q.hi.shl(k).add(&Bound::mask(k)) };
        let Some(leaf) = st.locals[t.local.0 as usize].at_mut(&t.path) else { return x };
        let met = leaf.itv().meet(&values.sub(&add));
        if met.is_empty() {
            st.dead = true;
            return x;
        }
        *leaf = leaf.narrowed(&met);
        x.narrowed(&met.add(&add))
    }

    /// Executes a list of statements; see the head of this file for what happens at a failure.
    pub fn block(&mut self, st: &mut State, body: &[Stmt]) {
        let items: Vec<Item> = body.iter().map(Item::Stmt).collect();
        self.sequence(st, &items);
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::{cover, Cases};
    use super::*;

    #[test]
    fn cases_leave_no_integer_out() {
        for (first, last) in [(0, 1), (-3, 0), (5, 5), (i128::MAX - 1, i128::MAX)] {
            assert!(Cases::of(first, last).is_some_and(|c| c.0.len() == (last - first + 1) as usize));
        }
        assert!(Cases::of(1, 0).is_none());
        let whole = Cases::of(0, 3).expect("cases").0;
        for hole in 0..whole.len() {
            let mut less = whole.clone();
            less.remove(hole);
            assert!(!cover(&less), "without case {hole}");
        }
    }

    #[test]
    fn a_point_below_a_summarised_loop_is_no_point_of_a_group_around_it() {
        let loc = santoku_ir::Loc::default();
        let stmt = Stmt::If { cond: santoku_ir::Expr { kind: santoku_ir::ExprKind::Const(1.into()), ty: santoku_ir::Ty::Bool }, then: vec![], els: vec![], loc };
        let (items, first) = ([Item::Stmt(&stmt)], Item::Stmt(&stmt).step());
        let event = |path: Vec<Step>| Event { nr: 0, point: Point { path, expr: 1 }, first: 0, last: 1 };
        let (outer, inner) = ([Step::Loop(1), Step::AnyRound], Step::Stmt(7));
        let plan = |rest: &[Step]| Plan::new(&outer, &items, &event([&outer[..], rest].concat()));
        assert!(plan(&[first]).is_some());
        assert!(plan(&[first, Step::Loop(3), Step::Round(3, 1), inner]).is_some());
        assert!(plan(&[first, Step::Loop(3), Step::AnyRound, inner]).is_none());
        assert!(plan(&[inner]).is_none());
        assert!(Plan::new(&[Step::Loop(2)], &items, &event(vec![first])).is_none());
    }
}
