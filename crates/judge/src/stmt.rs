//! Statements: what is stored fits its declaration, and calls meet what the callee asks.

use crate::value::shown;
use santoku_num::{Int, Itv};
use crate::lin::Lin;
use crate::place::{self, Step};
use crate::plan::CALLEE_NOT_ACCEPTED;
use crate::run::{Res, Run, State};
use crate::value::{common, has_ranges, Sc, Val};
use santoku_ir::{Base, ContractKind, Expr, Func, FuncId, Len, LocalId, Place, Stmt, Ty};
use std::rc::Rc;

/// Callees inside callees that are run.
const MAX_DEPTH: u32 = 8;

impl<'a> Run<'a> {
    pub fn stmt(&mut self, st: &mut State, s: &'a Stmt) -> Res<()> {
        self.step()?;
        match s {
            Stmt::Assign { dst, src, .. } => {
                let steps = self.steps_of(st, dst)?;
                let v = self.eval(st, src)?;
                self.store(st, dst, &steps, v)
            }
            Stmt::Call { dsts, func, lens, args, .. } => self.call(st, dsts, *func, lens, args),
            Stmt::For { .. } => self.for_loop(st, s),
            Stmt::If { cond, then, els, .. } => self.branch(st, cond, then, els),
            // The judge of meaning sees to it.
            Stmt::Ghost { .. } => Ok(()),
            Stmt::Assert { cond, .. } => {
                self.holds(st, cond)?;
                self.hold(st, cond)
            }
        }
    }

    pub fn store(&mut self, st: &mut State, dst: &Place, steps: &[Step], v: Val) -> Res<()> {
        let Base::Local(id) = dst.base else { return self.refuse("a constant is written") };
        let ty = self.known(place::target(self.p, &self.f.local(id).ty, steps), "a place that accepts nothing")?;
        let v = self.known(v.shaped(self.p, &ty), "a value of another shape")?;
        let v = self.fit(v, &ty)?;
        self.touch(st, id);
        let done = place::write(&mut st.locals[id.0 as usize], steps, &v);
        self.known(done, "a place that is not there")?;
        self.cover(st, id, steps)
    }

    /// The value, every integer of which lies in its declared range.
    pub fn fit(&self, v: Val, ty: &Ty) -> Res<Val> {
        if !has_ranges(self.p, ty) {
            return Ok(v);
        }
        match (&v, ty) {
            (Val::Sc(s), Ty::Int(Some(r))) => {
                let wanted = self.known(r.clone().non_empty(), "an empty range")?;
                let itv = self.itv(s)?;
                if wanted.contains(&itv) {
                    return Ok(v);
                }
                let ok = self.within(s, Some(&wanted.lo), Some(&wanted.hi));
                self.must(ok, || format!("{itv} is stored where {wanted} is declared"))?;
                Ok(Val::Sc(Sc { itv: Some(self.known(itv.common(&wanted), "a value outside of its range")?), ..s.clone() }))
            }
            (Val::Arr(es), Ty::Array { elem, ranges, .. }) => {
                let own = |i: usize| ranges.as_ref().and_then(|r| r.get(i)).map(|r| Ty::Int(Some(r.clone())));
                let all = es.iter().enumerate().map(|(i, e)| self.fit(e.clone(), own(i).as_ref().unwrap_or(elem)));
                Ok(Val::Arr(Rc::new(all.collect::<Res<_>>()?)))
            }
            (Val::All(e), Ty::Array { elem, ranges, .. }) => {
                let own = match ranges {
                    Some(rs) => {
                        let r = self.known(common(rs), "elements that have no value in common")?;
                        Some(Ty::Int(Some(r)))
                    }
                    None => None,
                };
                Ok(Val::All(Rc::new(self.fit((**e).clone(), own.as_ref().unwrap_or(elem))?)))
            }
            (Val::Rec(fs), Ty::Struct(id)) => {
                let fields = &self.p.structs[id.0 as usize].fields;
                Ok(Val::Rec(Rc::new(fs.iter().zip(fields).map(|(f, (_, t))| self.fit(f.clone(), t)).collect::<Res<_>>()?)))
            }
            _ => self.refuse("a value of another shape"),
        }
    }

    fn branch(&mut self, st: &mut State, cond: &Expr, then: &'a [Stmt], els: &'a [Stmt]) -> Res<()> {
        let c = self.scalar(st, cond)?;
        match self.decided(&c) {
            Some(true) => return self.block(st, then),
            Some(false) => return self.block(st, els),
            None => {}
        }
        let side = |run: &mut Self, truth: bool, body: &'a [Stmt]| -> Res<(State, Vec<Lin>)> {
            let (facts, mut under) = (run.facts.len(), st.clone());
            if let Some(c) = &c.cond {
                let new = run.assume(&mut under, c, truth);
                run.facts.extend(new);
            }
            run.block(&mut under, body)?;
            Ok((under, run.facts.split_off(facts)))
        };
        let (a, b) = (side(self, true, then)?, side(self, false, els)?);
        let mut joined = self.join(a.0.clone(), b.0.clone());
        self.relate([(&a.0, a.1), (&b.0, b.1)], &mut joined);
        *st = joined;
        Ok(())
    }

    /// An assertion or invariant.
    pub fn holds(&mut self, st: &mut State, cond: &Expr) -> Res<()> {
        let c = self.scalar(st, cond)?;
        self.must(self.decided(&c) == Some(true), || "an assertion or invariant that is not known to hold".into())
    }
    /// What was shown is a fact from here on.
    pub fn hold(&mut self, st: &mut State, cond: &Expr) -> Res<()> {
        if let Some(c) = self.trusting(|run| run.scalar(st, cond))?.cond {
            let new = self.assume(st, &c, true);
            self.facts.extend(new);
        }
        Ok(())
    }

    fn call(&mut self, st: &mut State, dsts: &[Place], func: FuncId, lens: &[Expr], args: &[Expr]) -> Res<()> {
        let callee = self.p.func(func);
        let places: Vec<Vec<Step>> = dsts.iter().map(|d| self.steps_of(st, d)).collect::<Res<_>>()?;
        let mut frame: Vec<Val> = callee.locals.iter().map(|l| Val::unwritten(self.p, &l.ty)).collect();
        for (e, id) in lens.iter().zip(&callee.lens).chain(args.iter().zip(&callee.params)) {
            let ty = &callee.local(*id).ty;
            let v = self.eval(st, e)?;
            self.must(v.defined(), || "an argument that may not be written".into())?;
            let v = self.known(v.shaped(self.p, ty), "an argument of another shape")?;
            frame[id.0 as usize] = self.fit(v, ty)?;
        }
        for (id, arg) in callee.params.iter().zip(args) {
            self.same_length(st, &callee.local(*id).ty, &arg.ty, callee, &frame)?;
        }
        let clauses = |kind: ContractKind| callee.contracts.iter().filter(move |c| c.kind == kind && crate::spec::is_simple(&c.cond));
        let (held, after) = self.inside(callee, frame, |run, st| {
            clauses(ContractKind::Requires).map(|c| Ok(run.clause(st, &c.cond)? == Some(true))).collect::<Res<Vec<bool>>>()
        })?;
        for (c, held) in clauses(ContractKind::Requires).zip(held) {
            self.must(held, || format!("{} requires {}", callee.name, c.text))?;
        }
        let frame = self.results(func, after.locals)?;
        let (facts, frame) = self.inside(callee, frame, |run, st| {
            let before = run.facts.len();
            for c in clauses(ContractKind::Ensures) {
                run.trusting(|run| run.assume_clause(st, &c.cond))?;
            }
            Ok(run.facts.split_off(before))
        })?;
        // What the callee promises cannot be here: it does not come back.
        st.dead |= frame.dead;
        self.facts.extend(facts);
        for ((dst, steps), ret) in dsts.iter().zip(&places).zip(&callee.rets) {
            let Base::Local(id) = dst.base else { return self.refuse("a constant is written") };
            let ty = self.known(place::target(self.p, &self.f.local(id).ty, steps), "a place that accepts nothing")?;
            self.same_length(st, &callee.local(*ret).ty, &ty, callee, &frame.locals)?;
            let v = frame.locals[ret.0 as usize].map(&mut |s| Sc { cond: None, ..s.clone() });
            self.store(st, dst, steps, v)?;
        }
        Ok(())
    }

    /// The callee's locals with its results: what was found when it was judged, or what its body gives for these arguments.
    fn results(&mut self, func: FuncId, frame: Vec<Val>) -> Res<Vec<Val>> {
        let callee = self.p.func(func);
        let claims = self.known(self.claims.get(func.0 as usize).and_then(Option::as_ref), CALLEE_NOT_ACCEPTED)?;
        let mut out = frame.clone();
        for (id, v) in callee.rets.iter().zip(&claims.rets) {
            out[id.0 as usize] = v.clone();
        }
        if claims.steps > self.plan.callee || self.depth >= self.plan.depth.min(MAX_DEPTH) {
            return Ok(out);
        }
        let facts = self.facts.len();
        self.depth += 1;
        let ran = self.inside(callee, frame, |run, st| run.trusting(|run| run.block(st, &callee.body)));
        self.depth -= 1;
        self.facts.truncate(facts);
        let ((), end) = ran?;
        if end.dead {
            return Ok(out);
        }
        for id in &callee.rets {
            let (own, usual) = (&end.locals[id.0 as usize], &mut out[id.0 as usize]);
            if !own.defined() {
                continue;
            }
            let both = own.zip(usual, &mut |a, b| match a.itv.as_ref().zip(b.itv.as_ref()).and_then(|(a, b)| a.common(b)) {
                Some(itv) => Sc { itv: Some(itv), ..a.clone() },
                None => b.clone(),
            });
            *usual = self.known(both, "results of another shape")?;
        }
        Ok(out)
    }

    /// A callee's array of run-time length is as long as the caller's.
    fn same_length(&self, st: &State, formal: &Ty, actual: &Ty, callee: &Func, frame: &[Val]) -> Res<()> {
        let (Ty::Array { len: Len::Param { param, add }, .. }, Ty::Array { len: have, .. }) = (formal, actual) else { return Ok(()) };
        if !callee.lens.contains(param) {
            return self.refuse("a length of nothing");
        }
        let want = self.known(frame[param.0 as usize].scalar(), "a length that is no scalar")?;
        let want = Sc::with_form(self.itv(want)?.add(&Itv::point(*add)), self.form(want).map(|f| f.shift(*add)));
        let have = self.length(st, have)?;
        self.must(self.at_most(&want, &have) && self.at_most(&have, &want), || format!("array lengths {} and {}", shown(&want.itv), shown(&have.itv)))
    }

    /// Notes which elements of an array with one value for all are written from here on.
    fn cover(&mut self, st: &mut State, l: LocalId, steps: &[Step]) -> Res<()> {
        if !self.plan.forms || !matches!(st.locals[l.0 as usize], Val::All(_)) {
            return Ok(());
        }
        let (start, n) = match steps {
            [] => {
                let Ty::Array { len, .. } = &self.f.local(l).ty else { return Ok(()) };
                let len = self.length(st, len)?;
                let whole = self.form(&len).map(|f| (Lin::constant(0u8), f));
                st.covers.insert(l, whole.into_iter().collect());
                return Ok(());
            }
            [Step::Part { form: Some(start), len, .. }] => (start.clone(), Int::from(len.unwrap_or(1) as u64)),
            _ => return Ok(()),
        };
        let end = start.shift(n);
        let list = st.covers.entry(l).or_default();
        match list.iter_mut().find(|c| c.1 == start) {
            Some(c) => c.1 = end,
            None => list.push((start, end)),
        }
        Ok(())
    }

    /// Whether every execution has written what is read of such an array.
    pub fn covered(&self, st: &State, l: LocalId, steps: &[Step]) -> bool {
        let (Some(list), Ty::Array { len, .. }) = (st.covers.get(&l), &self.f.local(l).ty) else { return false };
        let whole = || self.length(st, len).ok().and_then(|s| self.form(&s));
        let (start, end) = match steps {
            [] => (Some(Lin::constant(0u8)), whole()),
            [Step::Part { form: Some(start), len, .. }, ..] => (Some(start.clone()), Some(start.shift(Int::from(len.unwrap_or(1) as u64)))),
            _ => return false,
        };
        let (Some(mut at), Some(end)) = (start, end) else { return false };
        let mut left: Vec<&(Lin, Lin)> = list.iter().collect();
        loop {
            if self.shown(&at.sub(&end)) {
                return true;
            }
            let Some(i) = left.iter().position(|(a, b)| self.shown(&at.sub(a)) && !self.shown(&at.sub(b))) else { return false };
            at = left.swap_remove(i).1.clone();
        }
    }
}
