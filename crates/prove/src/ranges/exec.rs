//! Statements: assignments, calls, branches, assertions.

use crate::itv::Itv;
use super::lin::Lin;
use santoku_num::Bound;
use super::place::{self, target_ty, Step};
use super::record::{addr, Failure};
use super::run::{Run, State};
use super::value::{has_ints, has_ranges, Abs, Fact};
use crate::obligation::Kind;
use santoku_ir::{Base, Expr, FuncId, Len, Loc, LocalId, Place, Program, Stmt, Ty};
use std::rc::Rc;

/// The first leaf outside its declared range.
struct Misfit {
    found: Itv,
    wanted: Itv,
    path: String,
}

impl Run<'_> {
    pub fn stmt(&mut self, st: &mut State, s: &Stmt) {
        if st.dead {
            return;
        }
        self.loc = s.loc();
        if self.mute == 0 {
            self.visit(addr(s));
        }
        match s {
            Stmt::Assign { dst, src, .. } => self.assign(st, dst, src),
            Stmt::Call { dsts, func, lens, args, loc } => self.call(st, dsts, *func, lens, args, loc),
            Stmt::For { .. } => self.for_loop(st, s),
            Stmt::If { cond, then, els, .. } => self.branch(st, cond, then, els),
            // What it says is for the judge of meaning.
            Stmt::Ghost { .. } => {}
            Stmt::Assert { cond, text, .. } => {
                self.claim(st, cond, Kind::Assert, text);
                self.hold(st, cond);
            }
        }
    }

    fn assign(&mut self, st: &mut State, dst: &Place, src: &Expr) {
        let steps = self.steps_of(st, dst);
        let v = self.eval(st, src);
        self.store(st, dst, &steps, v, Some(src));
    }

    /// Settles that `v` fits the declared ranges of `dst`, then writes it.
    pub fn store(&mut self, st: &mut State, dst: &Place, steps: &[Step], v: Abs, src: Option<&Expr>) {
        let Base::Local(id) = dst.base else { return };
        let whole = &self.f.local(id).ty;
        let ty = target_ty(self.p, whole, steps);
        let mut v = v.conform(self.p, &ty);
        if has_ranges(self.p, &ty) {
            let claim = Flow { at: addr(dst), nr: 0, declared: self.f.local(id).loc };
            v = self.fit(st, v, &ty, &claim, src, &|s| s.place(dst));
        }
        self.touch(st, id);
        place::write(&mut st.locals[id.0 as usize], steps, &v, false);
        if self.mute == 0 && has_ints(self.p, whole) {
            place::write(&mut self.rec.locals[id.0 as usize], steps, &v, true);
        }
        if self.relational() {
            self.cover(st, id, steps);
        }
    }

    /// Settles `v` inside the ranges of `ty`; gives what is left of `v` inside them.
    fn fit(&mut self, st: &mut State, v: Abs, ty: &Ty, flow: &Flow, src: Option<&Expr>, name: &dyn Fn(&super::show::Show) -> String) -> Abs {
        let mut misfit = None;
        let v = if in_ranges(self.p, &v, ty) { v } else { self.clamp(&v, ty, "", &mut misfit) };
        let origin = match (&misfit, src) {
            (Some(m), Some(src)) if self.mute == 0 => {
                Some(self.origin(st, src, &m.found, Some(&m.wanted), Some(flow.declared)))
            }
            _ => None,
        };
        self.check(
            flow.at,
            Kind::Range,
            flow.nr,
            misfit.is_none(),
            |s| format!("`{}` fits `{}`", src.map_or_else(|| "result".into(), |e| s.expr(e)), name(s)),
            |s| {
                let m = misfit.as_ref().map_or((String::new(), Itv::EMPTY, Itv::EMPTY), |m| (m.path.clone(), m.found.clone(), m.wanted.clone()));
                Failure { reason: format!("`{}{}` may leave its range: {} is not inside {}", name(s), m.0, m.1, m.2), origin }
            },
        );
        v
    }

    fn clamp(&mut self, v: &Abs, ty: &Ty, path: &str, misfit: &mut Option<Misfit>) -> Abs {
        if in_ranges(self.p, v, ty) {
            return v.clone();
        }
        match (v, ty) {
            (Abs::Sc(s), Ty::Int(Some(r))) => {
                let wanted = Itv::from(r);
                if wanted.contains(s.itv()) {
                    return v.clone();
                }
                let form = self.form(s);
                let over = |k: &Bound, sign: i128| form.as_ref().and_then(|f| f.scale(sign)).zip(k.small()).and_then(|(f, k)| f.plus(k.checked_mul(-sign)?));
                let low = s.itv().lo >= wanted.lo || self.implied(over(&wanted.lo, 1));
                let high = s.itv().hi <= wanted.hi || self.implied(over(&wanted.hi, -1));
                if !(low && high) && misfit.is_none() && !self.solved(s, &wanted) {
                    *misfit = Some(Misfit { found: s.itv().clone(), wanted: wanted.clone(), path: path.to_string() });
                }
                Abs::Sc(s.narrowed(&wanted))
            }
            (Abs::Arr(es), Ty::Array { elem, ranges, .. }) => Abs::Arr(Rc::new(
                es.iter()
                    .enumerate()
                    .map(|(i, e)| {
                        let own = ranges.as_ref().and_then(|r| r.get(i)).map(|r| Ty::Int(Some(r.clone())));
                        self.clamp(e, own.as_ref().unwrap_or(elem), &format!("{path}[{i}]"), misfit)
                    })
                    .collect(),
            )),
            (Abs::Sum(e), Ty::Array { elem, ranges, .. }) => {
                // One value for all: it must fit the narrowest range.
                let all = ranges.as_ref().and_then(|rs| super::value::meet_ranges(rs.iter())).and_then(|m| m.closed());
                let own = all.map(|r| Ty::Int(Some(r)));
                Abs::Sum(Rc::new(self.clamp(e, own.as_ref().unwrap_or(elem), &format!("{path}[..]"), misfit)))
            }
            (Abs::Struct(fs), Ty::Struct(id)) => {
                let fields = &self.p.structs[id.0 as usize].fields;
                Abs::Struct(Rc::new(
                    fs.iter().zip(fields).map(|(f, (n, t))| self.clamp(f, t, &format!("{path}.{n}"), misfit)).collect(),
                ))
            }
            _ => v.clone(),
        }
    }

    fn branch(&mut self, st: &mut State, cond: &Expr, then: &[Stmt], els: &[Stmt]) {
        let c = self.scalar(st, cond);
        match self.decided(&c) {
            Some(true) => return self.block(st, then),
            Some(false) => return self.block(st, els),
            None => {}
        }
        let mut ends = Vec::new();
        for (truth, body) in [(true, then), (false, els)] {
            let facts = self.facts.len();
            let mut side = st.clone();
            if let Fact::Cond(c) = c.fact() {
                self.assume(&mut side, c, truth);
            }
            self.block(&mut side, body);
            let own = self.facts[facts..].to_vec();
            self.facts.truncate(facts);
            ends.push((side, own));
        }
        let (Some(b), Some(a)) = (ends.pop(), ends.pop()) else { return };
        let mut joined = self.join(a.0.clone(), b.0.clone());
        self.relate([(&a.0, a.1), (&b.0, b.1)], &mut joined);
        *st = joined;
    }

    /// Settles an assertion, or an invariant, which has no text.
    pub fn claim(&mut self, st: &mut State, cond: &Expr, kind: Kind, text: &str) {
        if text.is_empty() {
            // An invariant: another may have failed between the statement before and here.
            self.visits.leave();
        }
        let c = self.scalar(st, cond);
        let ok = self.decided(&c) == Some(true) || self.solved(&c, &Itv::point(1));
        let origin = if ok || self.mute > 0 { None } else { Some(self.origin_of_claim(st, cond)) };
        self.check(
            addr(cond),
            kind,
            0,
            ok,
            |s| if text.is_empty() { format!("`{}` holds", s.expr(cond)) } else { format!("`{text}` holds") },
            |s| Failure { reason: format!("`{}` is not known to hold", s.expr(cond)), origin },
        );
    }

    fn origin_of_claim(&mut self, st: &mut State, cond: &Expr) -> crate::obligation::Origin {
        let mut best = (cond, Itv::BOOL);
        if let santoku_ir::ExprKind::Cmp(_, a, _) = &cond.kind {
            self.mute += 1;
            let fails = self.fails;
            best = (&**a, self.eval(st, a).itv());
            self.fails = fails;
            self.mute -= 1;
        }
        self.origin(st, best.0, &best.1, None, None)
    }

    /// Uses a settled condition as a fact from here on.
    pub fn hold(&mut self, st: &mut State, cond: &Expr) {
        self.mute += 1;
        let fails = self.fails;
        let c = self.scalar(st, cond);
        self.fails = fails;
        self.mute -= 1;
        if let Fact::Cond(c) = c.fact() {
            self.assume(st, c, true);
            // The claim itself was settled (or reported); a contradiction is not a reason to stop looking.
            st.dead = false;
        }
    }

    fn call(&mut self, st: &mut State, dsts: &[Place], func: FuncId, lens: &[Expr], args: &[Expr], loc: &Loc) {
        let callee = self.p.func(func);
        let places: Vec<Vec<Step>> = dsts.iter().map(|d| self.steps_of(st, d)).collect();
        let mut frame: Vec<Abs> = callee.locals.iter().map(|l| Abs::undefined(self.p, &l.ty)).collect();
        for (e, id) in lens.iter().zip(&callee.lens).chain(args.iter().zip(&callee.params)) {
            let local = callee.local(*id);
            let v = self.eval(st, e).conform(self.p, &local.ty);
            let flow = Flow { at: addr(e), nr: 1, declared: local.loc };
            let v = if has_ranges(self.p, &local.ty) {
                self.fit(st, v, &local.ty, &flow, Some(e), &|_| format!("{}({})", callee.name, local.name))
            } else {
                v
            };
            frame[id.0 as usize] = v;
        }
        let forms: Vec<Option<Lin>> = callee.lens.iter().map(|l| frame[l.0 as usize].as_sc().and_then(|s| self.form(s))).collect();
        let formals = callee.params.iter().zip(args.iter().map(|a| (addr(a), a.ty.clone())));
        let formals: Vec<(LocalId, usize, Ty)> = formals.map(|(l, (a, t))| (*l, a, t)).collect();
        for (l, at, ty) in &formals {
            self.same_length(st, &callee.local(*l).ty, ty, &frame, callee, &forms, *at);
        }
        self.requires(&mut frame, func, addr(loc));
        let results = self.results(func, &mut frame);
        let Some(results) = results else {
            // What the callee promises cannot be here: it does not come back.
            st.dead = true;
            return;
        };
        for (((dst, steps), value), ret) in dsts.iter().zip(&places).zip(results).zip(&callee.rets) {
            if let Base::Local(id) = dst.base {
                let ty = target_ty(self.p, &self.f.local(id).ty, steps);
                self.same_length(st, &callee.local(*ret).ty, &ty, &frame, callee, &forms, addr(dst));
            }
            self.store(st, dst, steps, value, None);
        }
    }

    /// The length a callee's array type has for these arguments is the one the caller's array has.
    #[allow(clippy::too_many_arguments)]
    fn same_length(&mut self, st: &State, formal: &Ty, actual: &Ty, frame: &[Abs], callee: &santoku_ir::Func, forms: &[Option<Lin>], at: usize) {
        let (Ty::Array { len: Len::Param { param, add }, .. }, Ty::Array { len: have, .. }) = (formal, actual) else { return };
        let Some(nr) = callee.lens.iter().position(|l| l == param) else { return };
        let add = i128::from(*add);
        let want = frame[param.0 as usize].itv().add(&Itv::point(add));
        let (itv, form) = self.length(st, have);
        let diff = forms[nr].as_ref().and_then(|f| f.plus(add)).zip(form).and_then(|(w, h)| w.sub(&h));
        let ok = (want.single().is_some() && want == itv)
            || self.implied(diff.clone()) && self.implied(diff.and_then(|d| d.scale(-1)));
        let name = callee.name.clone();
        self.check(
            at,
            Kind::Index,
            7,
            ok,
            |_| format!("array lengths agree in the call of `{name}`"),
            |_| Failure { reason: format!("the array has length {itv}, the call says {want}"), origin: None },
        );
    }
}

/// Whether every scalar lies in its declared range by its interval alone.
fn in_ranges(p: &Program, v: &Abs, ty: &Ty) -> bool {
    if !has_ranges(p, ty) {
        return true;
    }
    match (v, ty) {
        (Abs::Sc(s), Ty::Int(Some(r))) => Itv::from(r).contains(s.itv()),
        (Abs::Arr(es), Ty::Array { ranges: Some(rs), .. }) if es.len() <= rs.len() => {
            es.iter().zip(rs).all(|(e, r)| e.as_sc().is_some_and(|s| Itv::from(r).contains(s.itv())))
        }
        (Abs::Arr(es), Ty::Array { elem, ranges: None, .. }) => es.iter().all(|e| in_ranges(p, e, elem)),
        (Abs::Struct(fs), Ty::Struct(id)) => {
            fs.iter().zip(&p.structs[id.0 as usize].fields).all(|(f, (_, t))| in_ranges(p, f, t))
        }
        _ => false,
    }
}

/// Where a value flows: the obligation's place in the text and the declaration it must respect.
struct Flow {
    at: usize,
    nr: u32,
    declared: Loc,
}
