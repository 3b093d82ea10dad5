//! Loops: round by round where the plan says so, otherwise one round that stands for all.

use santoku_num::{Int, Itv};
use crate::lin::{Atom, Lin};
use crate::place::Covers;
use crate::run::{Res, Run, State};
use crate::value::{small, Sc, Val};
use santoku_ir::{visit, Expr, LocalId, Stmt};
use std::collections::BTreeSet;
use std::rc::Rc;

/// A loop of which one round stands for all.
struct Any<'a> {
    var: LocalId,
    rev: bool,
    lo: Sc,
    hi: Sc,
    /// All values of the counter, and its atom.
    counter: Itv,
    atom: Atom,
    invariants: &'a [Expr],
    body: &'a [Stmt],
    /// Scalars that grow by the same in every round, with their forms before the first.
    steps: Vec<(LocalId, Lin, Int)>,
}

impl<'a> Run<'a> {
    pub fn for_loop(&mut self, st: &mut State, s: &'a Stmt) -> Res<()> {
        let Stmt::For { var, lo, hi, rev, invariants, body, .. } = s else { return Ok(()) };
        let (lo, hi) = (self.scalar(st, lo)?, self.scalar(st, hi)?);
        let (i, j) = (self.itv(&lo)?, self.itv(&hi)?);
        let nr = self.statement;
        match (small(&i), small(&j)) {
            (Some(a), Some(b)) if b <= a || nr.is_none_or(|nr| !self.plan.summarised.contains(&(self.f.name.clone(), nr))) => self.unrolled(st, s, a, b)?,
            _ => {
                let first = self.first(*rev, &lo, &hi)?;
                let Some(counter) = Itv::between(i.lo.clone(), j.hi.sub(&Int::Small(1))) else { return self.invariants_at(st, *var, &first, invariants) };
                let atom = self.atoms.fresh(counter.clone());
                let steps = nr.and_then(|nr| self.plan.steady.get(&(self.f.name.clone(), nr))).cloned().unwrap_or_default();
                let steps = steps.iter().filter_map(|(l, k)| Some((*l, self.start_of(st, *l)?, k.clone()))).collect();
                self.any_round(st, Any { var: *var, rev: *rev, lo, hi, counter, atom, invariants, body, steps })?;
            }
        }
        st.locals[var.0 as usize] = Val::Sc(Sc::unwritten());
        Ok(())
    }

    /// The counter's value before any round.
    fn first(&self, rev: bool, lo: &Sc, hi: &Sc) -> Res<Sc> {
        Ok(if rev { Sc::with_form(self.itv(hi)?.sub(&Itv::point(1u8)), self.form(hi).map(|f| f.shift(-1i32))) } else { lo.clone() })
    }

    /// The form that an integer has here.
    fn start_of(&mut self, st: &mut State, l: LocalId) -> Option<Lin> {
        let s = st.locals.get(l.0 as usize)?.scalar().filter(|s| s.def)?.clone();
        if let Some(form) = self.form(&s) {
            return Some(form);
        }
        let form = Lin::atom(self.atoms.fresh(s.itv.clone()?));
        st.locals[l.0 as usize] = Val::Sc(Sc { form: Some(Rc::new(form.clone())), ..s });
        self.plan.forms.then_some(form)
    }

    fn unrolled(&mut self, st: &mut State, s: &'a Stmt, a: i128, b: i128) -> Res<()> {
        let Stmt::For { var, rev, invariants, body, .. } = s else { return Ok(()) };
        if b <= a {
            let first = self.first(*rev, &Sc::new(Itv::point(a)), &Sc::new(Itv::point(b)))?;
            return self.invariants_at(st, *var, &first, invariants);
        }
        let trips = self.known(b.checked_sub(a), "more rounds than can be counted")?;
        for k in 0..trips {
            if st.dead {
                break;
            }
            self.step()?;
            // What dies in its first round has no others.
            if k == 1 {
                self.affords(trips)?;
            }
            let at = Itv::point(if *rev { b - 1 - k } else { a + k });
            self.counter(st, *var, Sc::new(at.clone()))?;
            for i in invariants {
                self.holds(st, i)?;
                self.hold(st, i)?;
            }
            self.block(st, body)?;
            if !st.dead && !invariants.is_empty() {
                self.invariants_at(st, *var, &Sc::new(at.add(&Itv::point(if *rev { -1i32 } else { 1 }))), invariants)?;
            }
        }
        Ok(())
    }

    fn invariants_at(&mut self, st: &mut State, var: LocalId, at: &Sc, invariants: &[Expr]) -> Res<()> {
        if invariants.is_empty() {
            return Ok(());
        }
        self.counter(st, var, at.clone())?;
        for i in invariants {
            self.holds(st, i)?;
        }
        st.locals[var.0 as usize] = Val::Sc(Sc::unwritten());
        Ok(())
    }

    fn counter(&mut self, st: &mut State, var: LocalId, v: Sc) -> Res<()> {
        self.touch(st, var);
        st.locals[var.0 as usize] = self.fit(Val::Sc(v), &self.f.local(var).ty)?;
        Ok(())
    }

    /// Every local that the body writes holds anything its declaration allows, but for scalars that grow steadily. What holds
    /// after one round from there holds after every round.
    fn any_round(&mut self, st: &mut State, set: Any<'a>) -> Res<()> {
        let nonempty = self.at_most(&Sc::with_form(self.itv(&set.lo)?.add(&Itv::point(1u8)), self.form(&set.lo).map(|f| f.shift(1u8))), &set.hi);
        let facts = self.facts.len();
        let first = self.first(set.rev, &set.lo, &set.hi)?;
        self.invariants_at(&mut st.clone(), set.var, &first, set.invariants)?;
        self.facts.truncate(facts);

        let entry = st.clone();
        let mark = self.atoms.len();
        let mut head = self.head(&entry, &set)?;
        let i = Lin::atom(set.atom);
        let bounds = [self.form(&set.lo).map(|lo| i.sub(&lo)), self.form(&set.hi).map(|hi| hi.sub(&i).shift(-1i32))];
        self.facts.extend(bounds.into_iter().flatten());
        let counter = Sc::with_form(set.counter.clone(), self.plan.forms.then(|| i.clone()));
        self.counter(&mut head, set.var, counter)?;
        for inv in set.invariants {
            self.hold(&mut head, inv)?;
        }
        let covers = head.covers.clone();
        self.block(&mut head, set.body)?;
        if !head.dead {
            let k = if set.rev { -1i32 } else { 1 };
            let next = Sc::with_form(set.counter.add(&Itv::point(k)), self.plan.forms.then(|| i.shift(k)));
            self.steady(&head, &set)?;
            self.invariants_at(&mut head, set.var, &next, set.invariants)?;
        }
        self.facts.truncate(facts);
        let lifted = self.lifted(&head, &covers, &set, mark);
        self.leave(st, entry, head, covers, &set, nonempty)?;
        lifted.into_iter().for_each(|(l, c)| st.covers.entry(l).or_default().push(c));
        Ok(())
    }

    fn written(&self, set: &Any) -> BTreeSet<LocalId> {
        visit::written_locals(set.body)
    }

    /// The state before any round.
    fn head(&mut self, entry: &State, set: &Any) -> Res<State> {
        let mut head = entry.clone();
        for l in self.written(set) {
            let any = self.any(&self.f.local(l).ty)?;
            // Written at the entry stays written; what was not may be.
            let open = head.locals[l.0 as usize].zip(&any, &mut |old, any| Sc { def: old.def, ..any.clone() });
            head.locals[l.0 as usize] = self.known(open, "a local of another shape")?;
            self.touch(&mut head, l);
        }
        for (l, start, k) in &set.steps {
            let Some(done) = self.rounds_before(set) else { continue };
            if let Val::Sc(s) = &mut head.locals[l.0 as usize] {
                s.form = Some(Rc::new(start.plus(k, &done)));
            }
        }
        Ok(head)
    }

    /// Rounds done before the one at hand.
    fn rounds_before(&self, set: &Any) -> Option<Lin> {
        let i = Lin::atom(set.atom);
        if set.rev { self.form(&set.hi).map(|hi| hi.sub(&i).shift(-1i32)) } else { self.form(&set.lo).map(|lo| i.sub(&lo)) }
    }

    /// What was taken to grow steadily did so in this round.
    fn steady(&self, end: &State, set: &Any) -> Res<()> {
        for (l, start, k) in &set.steps {
            let Some(done) = self.rounds_before(set) else { continue };
            let now = end.locals[l.0 as usize].scalar().and_then(|s| self.form(s));
            if now != Some(start.plus(k, &done.shift(1u8))) {
                return self.refuse(format!("`{}` does not grow by {k} in every round", self.f.local(*l).name));
            }
        }
        Ok(())
    }

    fn leave(&mut self, st: &mut State, entry: State, end: State, covers: Covers, set: &Any, nonempty: bool) -> Res<()> {
        let (entry_dead, end_dead) = (entry.dead, end.dead);
        let written = self.written(set);
        let bare = |mut s: State| {
            written.iter().for_each(|l| s.locals[l.0 as usize] = s.locals[l.0 as usize].bare());
            s
        };
        let end = State { covers, ..bare(end) };
        *st = if nonempty && !end_dead { end } else { self.join(end, bare(entry)) };
        st.dead = entry_dead || nonempty && end_dead;
        for l in &written {
            self.touch(st, *l);
        }
        let trips = self.form(&set.hi).zip(self.form(&set.lo)).map(|(hi, lo)| hi.sub(&lo));
        let Some(trips) = trips.filter(|t| nonempty || self.shown(t)) else { return Ok(()) };
        for (l, start, k) in &set.steps {
            if let Val::Sc(s) = &mut st.locals[l.0 as usize] {
                s.form = Some(Rc::new(start.plus(k, &trips)));
            }
        }
        if !set.invariants.is_empty() && !st.dead {
            let past = if set.rev { Sc::with_form(self.itv(&set.lo)?.sub(&Itv::point(1u8)), self.form(&set.lo).map(|f| f.shift(-1i32))) } else { set.hi.clone() };
            self.touch(st, set.var);
            st.locals[set.var.0 as usize] = Val::Sc(past);
            for i in set.invariants {
                self.hold(st, i)?;
            }
        }
        Ok(())
    }

    /// Elements written in every round that lie next to each other make one part over the loop. Atoms from `mark` on are of the
    /// body and may be others in every round.
    fn lifted(&self, end: &State, before: &Covers, set: &Any, mark: Atom) -> Vec<(LocalId, (Lin, Lin))> {
        let mut out = Vec::new();
        let (Some(lo), Some(hi)) = (self.form(&set.lo), self.form(&set.hi)) else { return out };
        if end.dead {
            return out;
        }
        for (l, parts) in &end.covers {
            for (a, b) in parts.iter().skip(before.get(l).map_or(0, Vec::len)) {
                let (grows, width) = (a.terms.get(&set.atom), b.sub(a));
                let fixed = a.terms.keys().all(|t| *t < mark);
                let Some((k, width)) = grows.zip(width.as_const()) else { continue };
                if fixed && k == width && *width > Int::ZERO {
                    let at = |bound: &Lin| a.plus(k, bound).plus(&k.neg(), &Lin::atom(set.atom));
                    out.push((*l, (at(&lo), at(&hi))));
                }
            }
        }
        out
    }
}
