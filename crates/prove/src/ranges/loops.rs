//! Loops: constant trip counts step by step while the budget lasts, others by a fixed point.

use crate::obligation::Kind;
use super::cases::{self, Item};
use crate::itv::Itv;
use super::lin::{Atom, Lin};
use santoku_num::{Bound, Int};
use super::place::Step;
use super::record::Failure;
use super::run::{Covers, Run, State};
use super::value::{Abs, Sc};
use santoku_ir::{visit, Expr, Len, LocalId, Place, Stmt, Ty};
use std::collections::BTreeSet;

/// Bounds of one loop.
struct Bounds {
    lo: Sc,
    hi: Sc,
    from: Option<Lin>,
    to: Option<Lin>,
}

impl Run<'_> {
    pub fn for_loop(&mut self, st: &mut State, s: &Stmt) {
        let Stmt::For { lo, hi, invariants, body, .. } = s else { return };
        let (lo, hi) = self.within(cases::Step::Bounds, |run| (run.scalar(st, lo), run.scalar(st, hi)));
        if let (Some(a), Some(b)) = (constant(&lo), constant(&hi)) {
            if b <= a {
                return self.empty_loop(st, s, a, b);
            }
            if self.unrolled(st, s, a, b) {
                return;
            }
        }
        let bounds = Bounds { from: self.form(&lo), to: self.form(&hi), lo, hi };
        self.fixed_point(st, s, bounds, invariants, body);
    }

    /// Invariants hold at entry also where there is no step.
    fn empty_loop(&mut self, st: &mut State, s: &Stmt, a: i128, b: i128) {
        let Stmt::For { var, rev, invariants, .. } = s else { return };
        if invariants.is_empty() {
            return;
        }
        self.set_counter(st, *var, Sc::new(if *rev { Itv::point(b).sub(&Itv::point(1)) } else { Itv::point(a) }));
        invariants.iter().for_each(|i| self.claim(st, i, Kind::Assert, ""));
        st.locals[var.0 as usize] = Abs::Sc(Sc::undefined());
    }

    /// Steps through `a ..< b`, unless the budget would not last.
    fn unrolled(&mut self, st: &mut State, s: &Stmt, a: i128, b: i128) -> bool {
        let Stmt::For { var, rev, .. } = s else { return true };
        let trip = b.saturating_sub(a);
        let at = |i: i128| if *rev { b - 1 - i } else { a + i };
        let left = self.budget.saturating_sub(self.steps);
        if left == 0 || trip > self.opts.limits.free_trips && self.aside(|run| run.probe(st, s, at(0), at(1))).saturating_mul(trip) > i128::from(left) {
            return false;
        }
        let all: Vec<Item> = (0..trip).map(|i| Item::Iteration(s, at(i))).collect();
        self.sequence(st, &all);
        st.locals[var.0 as usize] = Abs::Sc(Sc::undefined());
        true
    }

    /// Cost of one iteration, from a silent try of two (the first may run callees that are remembered).
    fn probe(&mut self, st: &State, s: &Stmt, first: i128, second: i128) -> i128 {
        let mut state = st.clone();
        let (fails, facts) = (self.fails, self.facts.len());
        self.mute += 1;
        self.iteration(&mut state, s, first);
        let before = self.steps;
        self.iteration(&mut state, s, second);
        let cost = i128::from(self.steps - before).max(1);
        self.mute -= 1;
        self.fails = fails;
        self.facts.truncate(facts);
        cost
    }

    /// One step of an unrolled loop.
    pub fn iteration(&mut self, st: &mut State, s: &Stmt, at: i128) {
        let Stmt::For { var, rev, invariants, body, .. } = s else { return };
        self.set_counter(st, *var, Sc::new(Itv::point(at)));
        self.loc = s.loc();
        for i in invariants {
            self.claim(st, i, Kind::Assert, "");
            self.hold(st, i);
        }
        self.block(st, body);
        if !invariants.is_empty() && !st.dead {
            self.set_counter(st, *var, Sc::new(Itv::point(at).add(&Itv::point(if *rev { -1 } else { 1 }))));
            invariants.iter().for_each(|i| self.claim(st, i, Kind::Assert, ""));
        }
    }

    /// A counter beside a bound of its loop: in an interval and, where the bound has one, of its form.
    fn counter_at(&self, itv: Itv, form: Option<Lin>) -> Sc {
        form.filter(|_| self.relational()).map_or_else(|| Sc::new(itv.clone()), |f| self.of_form(f).narrowed(&itv))
    }

    /// Gives the counter a value, which must fit the range declared for it, if one is.
    fn set_counter(&mut self, st: &mut State, var: LocalId, v: Sc) {
        self.touch(st, var);
        let local = self.f.local(var);
        if let Ty::Int(Some(_)) = &local.ty {
            let declared = super::value::scalar_itv(&local.ty);
            let form = self.form(&v);
            let above = |k: &Bound, sign: i128| form.as_ref().and_then(|f| f.scale(sign)).zip(k.small()).and_then(|(f, k)| f.plus(k.checked_mul(-sign)?));
            let low = v.itv().lo >= declared.lo || self.implied(above(&declared.lo, 1));
            let high = v.itv().hi <= declared.hi || self.implied(above(&declared.hi, -1));
            let found = v.itv().clone();
            self.check(
                super::record::addr(local),
                Kind::Range,
                2,
                low && high,
                |_| format!("the counter `{}` fits its range", local.name),
                |_| Failure { reason: format!("`{}` may leave its range: {found} is not inside {declared}", local.name), origin: None },
            );
        }
        if self.mute == 0 {
            let seen = &mut self.rec.locals[var.0 as usize];
            *seen = seen.join(&Abs::Sc(v.clone())).strip();
        }
        st.locals[var.0 as usize] = Abs::Sc(v);
    }

    fn fixed_point(&mut self, st: &mut State, s: &Stmt, bounds: Bounds, invariants: &[Expr], body: &[Stmt]) {
        let Stmt::For { var, rev, .. } = s else { return };
        let (var, rev) = (*var, *rev);
        let counter = Itv { lo: bounds.lo.itv().lo.clone(), hi: bounds.hi.itv().hi.sub(&Bound::ONE) };
        let atom = self.atoms.fresh(counter.clone());
        let facts = self.facts.len();
        let nonempty = bounds.lo.itv().hi < bounds.hi.itv().lo || self.implied(gap(&bounds).and_then(|g| g.plus(-1)));
        let entry = st.clone();
        let written: BTreeSet<LocalId> = visit::written_locals(body);

        // Invariants at entry, with the counter at its first value.
        if !invariants.is_empty() {
            let mut probe = entry.clone();
            let start = if rev { bounds.hi.itv().sub(&Itv::point(1)) } else { bounds.lo.itv().clone() };
            let form = if rev { bounds.to.as_ref().and_then(|t| t.plus(-1)) } else { bounds.from.clone() };
            let v = self.counter_at(start, form);
            self.set_counter(&mut probe, var, v);
            invariants.iter().for_each(|i| self.claim(&mut probe, i, Kind::Assert, ""));
            self.facts.truncate(facts);
        }

        let set = Loop { var, rev, atom, counter, bounds, invariants, body };
        // Trials of the body make atoms too, and a later round finds them again.
        let mark = self.atoms.len();
        let steps = self.induction(&entry, &set, &written);
        let (mut head, closed) = self.head(&entry, &set, &written, &steps);
        let mut round = 0;
        loop {
            let mut end = head.clone();
            self.mute += 1;
            let fails = self.fails;
            self.body_once(&mut end, &set, true);
            self.fails = fails;
            self.mute -= 1;
            self.facts.truncate(facts);
            if end.dead {
                break;
            }
            let mut stable = true;
            for l in written.iter().filter(|l| !closed.contains(l)) {
                let i = l.0 as usize;
                let (old, new) = (head.locals[i].clone(), end.locals[i].strip());
                if old.covers(&new) {
                    continue;
                }
                stable = false;
                let wide = old.join(&new);
                let limits = &self.opts.limits;
                head.locals[i] = match round {
                    _ if round < limits.exact_rounds => wide,
                    _ if round < limits.last_round => wide.widen(&old, self.p, &self.f.local(*l).ty, round >= limits.hard_rounds),
                    _ => wide.zip(&Abs::any(self.p, &self.f.local(*l).ty), &mut |w, any| w.anything_in(any.itv().clone())),
                };
            }
            if stable {
                break;
            }
            round += 1;
        }

        let mut end = head;
        let covers = end.covers.clone();
        self.body_once(&mut end, &set, false);
        self.facts.truncate(facts);
        let lifted = self.lift_covers(&end, &covers, &set, mark, &steps);
        end.covers = covers;
        self.leave(st, end, entry, &set, &written, &steps, nonempty);
        if !st.dead {
            lifted.into_iter().for_each(|(l, c)| st.covers.entry(l).or_default().push(c));
        }
    }

    /// The body from the loop head; `quiet` skips what only the last visit must do.
    fn body_once(&mut self, st: &mut State, set: &Loop, quiet: bool) {
        if set.counter.is_empty() {
            st.dead = true;
            return;
        }
        let i = Lin::atom(set.atom);
        self.facts.extend(set.bounds.from.as_ref().and_then(|f| i.sub(f)));
        self.facts.extend(set.bounds.to.as_ref().and_then(|t| t.sub(&i)).and_then(|d| d.plus(-1)));
        let counter = self.of_atom(set.atom);
        self.set_counter(st, set.var, counter);
        for inv in set.invariants {
            self.hold(st, inv);
        }
        self.within(cases::Step::AnyRound, |run| run.block(st, set.body));
        if !quiet && !st.dead && !set.invariants.is_empty() {
            let k = if set.rev { -1 } else { 1 };
            let next = self.counter_at(set.counter.add(&Itv::point(k)), i.plus(k));
            self.set_counter(st, set.var, next);
            set.invariants.iter().for_each(|inv| self.claim(st, inv, Kind::Assert, ""));
        }
    }

    /// Scalars that grow by a constant in every iteration: one trial of the body with everything it writes
    /// unknown, and an atom for each candidate, shows it for all iterations.
    fn induction(&mut self, entry: &State, set: &Loop, written: &BTreeSet<LocalId>) -> Vec<(LocalId, Lin, i128)> {
        if !self.relational() {
            return Vec::new();
        }
        let facts = self.facts.len();
        let public = |l: &LocalId| matches!(self.f.local(*l).ty, Ty::Int(_)) && *l != set.var;
        let candidates: Vec<LocalId> = written.iter().filter(|l| public(l)).copied().collect();
        let mut trial = entry.clone();
        let mut atoms = Vec::new();
        for l in written {
            self.forget(&mut trial, *l);
        }
        for l in &candidates {
            let atom = self.atoms.fresh(super::value::scalar_itv(&self.f.local(*l).ty));
            atoms.push(atom);
            trial.locals[l.0 as usize] = Abs::Sc(self.of_atom(atom));
        }
        self.mute += 1;
        let fails = self.fails;
        self.body_once(&mut trial, set, true);
        self.fails = fails;
        self.mute -= 1;
        self.facts.truncate(facts);
        let mut out = Vec::new();
        for (l, atom) in candidates.iter().zip(atoms) {
            let end = trial.locals[l.0 as usize].as_sc().and_then(|s| self.form(s));
            let step = end.and_then(|e| e.sub(&Lin::atom(atom))).and_then(|d| d.as_const());
            let start = entry.locals[l.0 as usize].as_sc().filter(|s| s.def()).cloned();
            let init = start.as_ref().and_then(|s| match self.form(s) {
                None if !trial.dead => Some(Lin::atom(self.atoms.fresh(s.itv().clone()))),
                form => form,
            });
            if let (Some(step), Some(init)) = (step, init) {
                out.push((*l, init, step));
            }
        }
        out
    }

    /// The state at the loop head before the first round, and the induction variables it has in closed form.
    fn head(&mut self, entry: &State, set: &Loop, written: &BTreeSet<LocalId>, steps: &[(LocalId, Lin, i128)]) -> (State, BTreeSet<LocalId>) {
        let mut closed = BTreeSet::new();
        let mut head = entry.clone();
        for l in written {
            self.touch(&mut head, *l);
            let v = &mut head.locals[l.0 as usize];
            *v = v.strip();
        }
        let done = set.done();
        for (l, init, step) in steps {
            let form = done.as_ref().and_then(|d| d.scale(*step)).and_then(|d| init.add(&d));
            let Some(form) = form else { continue };
            let declared = super::value::scalar_itv(&self.f.local(*l).ty);
            head.locals[l.0 as usize] = Abs::Sc(self.of_form(form).narrowed(&declared));
            closed.insert(*l);
        }
        (head, closed)
    }

    fn forget(&mut self, st: &mut State, l: LocalId) {
        self.touch(st, l);
        st.locals[l.0 as usize] = {
            let any = Abs::any(self.p, &self.f.local(l).ty);
            let old = &st.locals[l.0 as usize];
            old.zip(&any, &mut |o, a| o.anything_in(a.itv().clone()))
        };
    }

    #[allow(clippy::too_many_arguments)]
    fn leave(&mut self, st: &mut State, end: State, mut entry: State, set: &Loop, written: &BTreeSet<LocalId>, steps: &[(LocalId, Lin, i128)], nonempty: bool) {
        let mut after = end;
        for l in written {
            let v = &mut after.locals[l.0 as usize];
            *v = v.strip();
            let old = &mut entry.locals[l.0 as usize];
            *old = old.strip();
        }
        *st = if nonempty { after } else { self.join(after, entry) };
        if st.dead {
            return;
        }
        let trips = gap(&set.bounds);
        if nonempty || self.implied(trips.clone()) {
            self.after_invariants(st, set);
        }
        for (l, init, step) in steps {
            let exact = trips.as_ref().filter(|t| nonempty || self.implied(Some((*t).clone())));
            let form = exact.and_then(|t| t.scale(*step)).and_then(|d| init.add(&d));
            if let (Some(form), Abs::Sc(s)) = (form, &st.locals[l.0 as usize]) {
                st.locals[l.0 as usize] = Abs::Sc(self.equals_form(s, form));
            }
        }
        st.locals[set.var.0 as usize] = Abs::Sc(Sc::undefined());
    }

    /// The invariants with the counter one past its last value, as facts.
    fn after_invariants(&mut self, st: &mut State, set: &Loop) {
        if set.invariants.is_empty() {
            return;
        }
        let past = if set.rev {
            let form = set.bounds.from.as_ref().and_then(|f| f.plus(-1));
            self.counter_at(set.bounds.lo.itv().sub(&Itv::point(1)), form)
        } else {
            self.counter_at(set.bounds.hi.itv().clone(), set.bounds.to.clone())
        };
        self.set_counter(st, set.var, past);
        set.invariants.iter().for_each(|i| self.hold(st, i));
    }

    /// A range written in every iteration, and moving by its own width, becomes one range over the loop.
    /// Atoms from `mark` on arose in the body: they may differ between iterations, but for the first values in `steps`.
    fn lift_covers(&self, end: &State, before: &Covers, set: &Loop, mark: Atom, steps: &[(LocalId, Lin, i128)]) -> Vec<(LocalId, (Lin, Lin))> {
        let mut out = Vec::new();
        if end.dead {
            return out;
        }
        let (Some(from), Some(to)) = (&set.bounds.from, &set.bounds.to) else { return out };
        for (l, ranges) in &end.covers {
            let old = before.get(l).map_or(0, Vec::len);
            for (a, b) in ranges.iter().skip(old) {
                let width = b.sub(a).and_then(|w| w.as_const());
                let fixed = a.terms.iter().all(|t| t.0 < mark || steps.iter().any(|(_, init, _)| init.coef(t.0) != 0));
                if !fixed || width.is_none_or(|w| w <= 0 || a.coef(set.atom) != w) {
                    continue;
                }
                let (lo, hi) = (a.replace(set.atom, from), a.replace(set.atom, to));
                if let (Some(lo), Some(hi)) = (lo, hi) {
                    out.push((*l, (lo, hi)));
                }
            }
        }
        out
    }

    /// Notes that `steps` of a summarised array were written.
    pub fn cover(&mut self, st: &mut State, l: LocalId, steps: &[Step]) {
        if !matches!(st.locals[l.0 as usize], Abs::Sum(_)) {
            return;
        }
        let (lin, n) = match steps {
            [] => {
                let Ty::Array { len, .. } = &self.f.local(l).ty else { return };
                let (_, form) = self.length(st, len);
                st.covers.insert(l, form.map(|f| (Lin::constant(0), f)).into_iter().collect());
                return;
            }
            [Step::Index { lin, .. }] => (lin, 1),
            [Step::Slice { lin, len, .. }] => (lin, *len as i128),
            _ => return,
        };
        let Some((start, end)) = lin.as_ref().and_then(|s| Some((s.clone(), s.plus(n)?))) else { return };
        let list = st.covers.entry(l).or_default();
        match list.iter_mut().find(|c| c.1 == start) {
            Some(c) => c.1 = end,
            None => list.push((start, end)),
        }
    }

    /// Whether what a place reads of a summarised array certainly was written.
    pub fn covered(&self, st: &State, p: &Place, steps: &[Step]) -> bool {
        let santoku_ir::Base::Local(l) = p.base else { return true };
        let (Some(list), Ty::Array { len, .. }) = (st.covers.get(&l), &self.f.local(l).ty) else { return false };
        let all = match len {
            Len::Const(n) => Some(Lin::constant(i128::from(*n))),
            Len::Param { param, add } => {
                let s = st.locals[param.0 as usize].as_sc();
                s.and_then(|s| self.form(s)).and_then(|f| f.plus(i128::from(*add)))
            }
        };
        let (start, end) = match steps {
            [] => (Some(Lin::constant(0)), all),
            [Step::Index { lin, .. }, ..] => (lin.clone(), lin.as_ref().and_then(|l| l.plus(1))),
            [Step::Slice { lin, len, .. }, ..] => (lin.clone(), lin.as_ref().and_then(|l| l.plus(*len as i128))),
            _ => return false,
        };
        let (Some(mut at), Some(end)) = (start, end) else { return false };
        let mut left: Vec<&(Lin, Lin)> = list.iter().collect();
        loop {
            if self.implied(at.sub(&end)) {
                return true;
            }
            let Some(i) = left.iter().position(|(a, b)| self.implied(at.sub(a)) && !self.implied(at.sub(b))) else {
                return false;
            };
            at = left.swap_remove(i).1.clone();
        }
    }
}

/// One loop being iterated to a fixed point.
struct Loop<'s> {
    var: LocalId,
    rev: bool,
    atom: Atom,
    counter: Itv,
    bounds: Bounds,
    invariants: &'s [Expr],
    body: &'s [Stmt],
}

impl Loop<'_> {
    /// Iterations done before the current one.
    fn done(&self) -> Option<Lin> {
        let i = Lin::atom(self.atom);
        if self.rev {
            self.bounds.to.as_ref()?.sub(&i)?.plus(-1)
        } else {
            i.sub(self.bounds.from.as_ref()?)
        }
    }
}

/// Distance between the bounds.
fn gap(b: &Bounds) -> Option<Lin> {
    b.to.as_ref()?.sub(b.from.as_ref()?)
}

fn constant(s: &Sc) -> Option<i128> {
    s.itv().single().and_then(Int::small)
}
