//! Ghost text: what is said of values in the middle of a function, of the rounds of a loop, and by lemmas.
//!
//! An invariant is shown where the loop is reached, with the counter at its first value; then of one round from arbitrary values of
//! whatever the loop writes, for a counter between the bounds, where it is taken to hold at the head and shown for the next value behind
//! the round; behind the loop it is known for the end of the range. Whatever was found beside a claim that does not hold counts for nothing.
//! Trusted: field.

use crate::atoms::Num;
use crate::extent::Extent;
use crate::found::{known, stop, Moment, Res};
use crate::poly::{Atom, Poly};
use crate::prop::Prop;
use crate::spec::places;
use crate::state::{Part, Run};
use crate::value::Val;
use santoku_ir::{visit, Base, ContractKind, FuncId, Ghost, Len, Loc, LocalId, Place, Proj, SpecExpr, SpecId, Stmt, Ty};
use santoku_num::{Int, Itv};
use santoku_judge::value::of_type;
use std::collections::BTreeSet;

/// Elements of a part of an array of run-time length.
const PART: u64 = 1 << 12;

/// The invariants at the head of a loop, and the statements behind them.
fn head(body: &[Stmt]) -> (Vec<(&SpecExpr, Loc)>, &[Stmt]) {
    let of = |s: &'_ Stmt| matches!(s, Stmt::Ghost { what: Ghost::Invariant(_), .. });
    let n = body.iter().take_while(|s| of(s)).count();
    let claims = body[..n].iter().filter_map(|s| if let Stmt::Ghost { what, loc, .. } = s { Some((what.exprs().first()?, *loc)) } else { None });
    (claims.collect(), &body[n..])
}

/// Whether a function has ghost text of its own.
pub fn in_body(body: &[Stmt]) -> bool {
    let mut found = false;
    visit::walk_stmts(body, &mut |s| found |= matches!(s, Stmt::Ghost { .. }));
    found
}

/// Whether a loop says what holds at its head.
pub fn has_invariant(body: &[Stmt]) -> bool {
    !head(body).0.is_empty()
}

impl<'a> Run<'a> {
    pub(crate) fn ghost(&mut self, what: &Ghost, loc: Loc) -> Res<()> {
        let frame = self.locals.clone();
        match what {
            Ghost::Assert(e) if self.cuts && self.depth == 0 => {
                let held = self.clause(&frame, e, false);
                self.claimed(held, loc, Moment::Here)?;
                self.cut(e);
                Ok(())
            }
            Ghost::Assert(e) => self.claim(&frame, e, loc, Moment::Here),
            Ghost::Let(id, e) => {
                let v = crate::spec::Eval::new(self, &frame).whole(e)?;
                self.locals[id.0 as usize] = Some(v);
                Ok(())
            }
            Ghost::Lemma(id, args) => self.lemma(&frame, *id, args, loc),
            Ghost::Invariant(_) => stop("an invariant that is not at the head of a loop"),
        }
    }

    /// The values that an assertion speaks of may be any of their size from here on, as long as it holds: what is shown of these is shown of them.
    fn cut(&mut self, e: &SpecExpr) {
        let mut spoken = BTreeSet::new();
        visit::walk_spec(e, &mut |e| {
            if let SpecExpr::Place(Place { base: Base::Local(id), .. }) = e {
                spoken.insert(*id);
            }
        });
        for id in spoken {
            let v = self.locals[id.0 as usize].take();
            self.locals[id.0 as usize] = v.map(|v| self.any_of_its_size(v));
        }
        let frame = self.locals.clone();
        self.assume_clause(&frame, e);
    }

    fn any_of_its_size(&mut self, v: Val) -> Val {
        match v {
            Val::Num(n) if n.p.len() > 1 => Val::Num(self.atoms.fresh(n.itv.clone())),
            Val::Agg(es) => Val::agg(es.iter().map(|v| self.any_of_its_size(v.clone())).collect()),
            v => v,
        }
    }

    fn lemma(&mut self, frame: &[Option<Val>], id: FuncId, args: &[SpecExpr], loc: Loc) -> Res<()> {
        let g = self.p.func(id);
        let mut passed = vec![None; g.locals.len()];
        let mut fits = args.len() == g.params.len() && g.lens.is_empty();
        for (e, l) in args.iter().zip(&g.params) {
            let v = crate::spec::Eval::new(self, frame).whole(e)?;
            fits = fits && self.fits(&v, &g.local(*l).ty);
            passed[l.0 as usize] = Some(v);
        }
        self.claimed(fits, loc, Moment::Here)?;
        let of = |kind: ContractKind| g.contracts.iter().filter(move |c| c.kind == kind);
        of(ContractKind::Requires).try_for_each(|c| self.claim(&passed, &c.cond, loc, Moment::Here))?;
        of(ContractKind::Ensures).for_each(|c| self.assume_clause(&passed, &c.cond));
        Ok(())
    }

    fn claim(&mut self, frame: &[Option<Val>], e: &SpecExpr, loc: Loc, when: Moment) -> Res<()> {
        let held = self.clause(frame, e, when == Moment::Here);
        self.claimed(held, loc, when)
    }

    fn claimed(&mut self, held: bool, loc: Loc, when: Moment) -> Res<()> {
        if self.depth > 0 {
            return if held { Ok(()) } else { stop("a claim in a callee that is not seen to hold here") };
        }
        *self.found.claims.entry((loc, when)).or_insert(true) &= held;
        Ok(())
    }

    /// A loop by its invariants.
    pub(crate) fn by_invariants(&mut self, var: LocalId, bounds: (&Num, &Num), rev: bool, body: &'a [Stmt]) -> Res<()> {
        let ((lo, hi), (claims, body)) = (bounds, head(body));
        if rev || !self.is_shown_least(&hi.p.sub(&lo.p)) {
            return stop("invariants of a loop that counts down, or whose bounds may lie the other way round");
        }
        // Without values where no round is run.
        let sizes = known(lo.itv.as_ref().zip(hi.itv.as_ref()), "a loop whose bounds have no bounds")?;
        let counter = Itv::between(sizes.0.lo.clone(), sizes.1.hi.sub(&Int::Small(1)));
        let asked = |run: &mut Self, at: Num, when: Moment| {
            run.locals[var.0 as usize] = Some(Val::Num(at));
            let frame = run.locals.clone();
            claims.iter().try_for_each(|(e, loc)| run.claim(&frame, e, *loc, when))
        };
        asked(self, lo.clone(), Moment::Entry)?;
        let (zeros, least, written) = (self.zeros.len(), self.least.len(), visit::written_locals(body));
        let mut done = Ok(());
        if let Some(range) = counter {
            self.forget(&written);
            self.supposed += 1;
            let at = self.atoms.fresh(Some(range));
            let always = Poly::constant(1u8);
            self.least.extend([(at.p.sub(&lo.p), always.clone()), (hi.p.sub(&at.p).shift(-1i32), always)]);
            done = self.suppose(var, at.clone(), &claims).and_then(|()| self.block(body)).and_then(|()| {
                let next = self.atoms.num(at.p.shift(1u8), at.itv.as_ref().map(|i| i.add(&Itv::point(1u8))));
                asked(self, next, Moment::Step)
            });
            self.supposed -= 1;
        }
        // What was learned there is of a round that may not have been, whatever stopped it.
        self.zeros.truncate(zeros);
        self.least.truncate(least);
        done?;
        self.forget(&written);
        self.suppose(var, hi.clone(), &claims)?;
        self.locals[var.0 as usize] = None;
        Ok(())
    }

    fn suppose(&mut self, var: LocalId, at: Num, claims: &[(&SpecExpr, Loc)]) -> Res<()> {
        self.locals[var.0 as usize] = Some(Val::Num(at));
        let frame = self.locals.clone();
        claims.iter().for_each(|(e, _)| self.assume_clause(&frame, e));
        Ok(())
    }

    /// An element of an array of run-time length, whatever the index.
    pub(crate) fn open_element(&mut self, nr: usize, at: &Poly) -> Val {
        if let Some(v) = self.elements.get(&(nr, at.clone())) {
            return v.clone();
        }
        let v = Val::any(self.p, &mut self.atoms, &self.opens[nr].0.clone());
        self.elements.insert((nr, at.clone()), v.clone());
        v
    }

    /// What is read of such an array.
    pub(crate) fn read_open(&mut self, nr: usize, projs: &[Proj]) -> Res<Option<Val>> {
        let Some((first, rest)) = projs.split_first() else { return Ok(Some(Val::Open(nr))) };
        let v = match first {
            Proj::Index(e) => {
                let i = self.scalar(e)?;
                self.open_element(nr, &i.p)
            }
            Proj::Slice { off, len } if *len <= PART => {
                let i = self.scalar(off)?;
                Val::agg((0..*len).map(|k| self.open_element(nr, &i.p.shift(k))).collect())
            }
            _ => return Ok(None),
        };
        Ok(self.path(rest)?.and_then(|path| crate::value::part(&v, &path)))
    }

    /// The parameters of run-time length, which nobody writes.
    pub(crate) fn open_params(&mut self) {
        for id in self.f.params.clone() {
            let Ty::Array { elem, len: Len::Param { param, add }, .. } = &self.f.local(id).ty else { continue };
            let Some(Val::Num(n)) = &self.locals[param.0 as usize] else { continue };
            let len = Num { p: n.p.shift(*add), itv: n.itv.as_ref().map(|i| i.add(&Itv::point(*add))) };
            self.opens.push(((**elem).clone(), len));
            self.locals[id.0 as usize] = Some(Val::Open(self.opens.len() - 1));
        }
    }
}

/// Calls with which others are compared in vain, in one look at a function: where arguments differ everywhere, to see that they do takes long.
const COMPARED_MAX: u32 = 24;

impl Run<'_> {
    /// A 0/1 polynomial, where clauses are asked under conditions as one atom: its powers are the atom itself.
    pub(crate) fn as_bit(&mut self, p: Poly) -> Poly {
        if self.bits { self.atoms.bit(p) } else { p }
    }

    /// 1 where a number is negative, else 0: the same atom however the comparison is written. `None`: nothing is known of its size.
    pub(crate) fn is_negative(&mut self, x: &Num) -> Option<Poly> {
        if !self.bits {
            return self.atoms.negative(x);
        }
        let opposite = x.p.terms().next_back().is_some_and(|(_, c)| c.is_negative());
        let p = if opposite { x.p.scale(&Int::Small(-1)).shift(-1i32) } else { x.p.clone() };
        let own = x.itv.as_ref().map(|i| if opposite { Itv::point(0u8).sub(i).sub(&Itv::point(1u8)) } else { i.clone() });
        let itv = self.atoms.close(&p).or(own);
        let x = self.atoms.num(p, itv);
        let less = self.atoms.negative(&x)?;
        let less = self.as_bit(less);
        Some(if opposite { Poly::constant(1u8).sub(&less) } else { less })
    }

    /// 1 where a number is 0, else 0.
    pub(crate) fn is_nothing(&mut self, x: &Num) -> Poly {
        let zero = self.atoms.zero(x);
        self.as_bit(zero)
    }

    fn is_shown_least(&mut self, p: &Poly) -> bool {
        let guard = self.guard.clone();
        self.holds(&Prop::Least(p.clone()), &guard)
    }

    /// Whether a value is one of the type: a lemma speaks of these alone.
    fn fits(&mut self, v: &Val, ty: &Ty) -> bool {
        match (v, ty) {
            (Val::Num(_), Ty::Int(None)) => true,
            (Val::Num(n), Ty::Int(Some(_)) | Ty::Word(_) | Ty::Bool) => of_type(ty).is_some_and(|r| {
                n.itv.as_ref().is_some_and(|i| r.contains(i)) || self.is_shown_least(&n.p.shift(r.lo.neg())) && self.is_shown_least(&Poly::constant(r.hi).sub(&n.p))
            }),
            (Val::Agg(es), Ty::Array { elem, len: Len::Const(n), ranges }) => {
                let own = |i: usize| ranges.as_ref().and_then(|r| r.get(i)).map(|r| Ty::Int(Some(r.clone())));
                es.len() as u64 == *n && es.iter().enumerate().all(|(i, v)| self.fits(v, own(i).as_ref().unwrap_or(elem)))
            }
            (Val::Agg(es), Ty::Struct(id)) => {
                let fields = &self.p.structs[id.0 as usize].fields;
                es.len() == fields.len() && es.iter().zip(fields).all(|(v, (_, t))| self.fits(v, t))
            }
            _ => false,
        }
    }

    /// Whether a condition of a clause holds, as far as sizes or facts of order say so.
    pub(crate) fn is_seen(&mut self, p: &Prop, guard: &Poly) -> bool {
        match p {
            Prop::Least(d) if self.atoms.bound(d).is_some_and(|i| !i.lo.is_negative()) => true,
            // Sizes say all that definitions do.
            Prop::Least(d) => {
                let about = d.atoms();
                let usable = |(fact, at): &(Poly, Poly)| about.iter().any(|a| fact.has(*a)) && guard.mul(at) == *guard;
                self.least.iter().any(usable) && self.holds(p, guard)
            }
            Prop::Zero(d, None) | Prop::Truth(d) if d.as_const().is_none() => {
                let (sought, bound) = (u8::from(matches!(p, Prop::Truth(_))), self.atoms.bound(d));
                let may_be = bound.as_ref().is_none_or(|i| i.contains(&Itv::point(sought)));
                // The branch that this stands in may say so.
                bound == Some(Itv::point(sought)) || may_be && guard.as_const().is_none() && self.holds(p, guard)
            }
            Prop::All(ps) => ps.iter().all(|q| self.is_seen(q, guard)),
            Prop::Any(ps) => ps.iter().any(|q| self.is_seen(q, guard)),
            Prop::Not(q) => match &**q {
                Prop::Zero(d, None) => self.atoms.bound(d).is_some_and(|i| !i.contains(&Itv::point(0u8))),
                _ => self.holds(p, guard),
            },
            _ => self.holds(p, guard),
        }
    }

    /// Equal arguments give equal values: what a function gives for these is what it gives for others of which this is seen.
    pub(crate) fn alike(&mut self, key: &(SpecId, Vec<Part>), counter: Option<&Poly>, extent: Extent) {
        let own = places(key, extent);
        let Some(first) = own.first().filter(|k| !self.values.contains_key(k)) else { return };
        let same_place = |(id, parts): &&(SpecId, Vec<Part>)| *id == key.0 && parts.len() == first.1.len() && (extent == Extent::Number || parts.last() == first.1.last());
        let mut others: Vec<(Option<usize>, Vec<Part>)> = self.values.iter().filter(|(k, _)| same_place(k)).map(|((_, parts), value)| (value.p.as_atom().map(Atom::nr), parts[..key.1.len()].to_vec())).collect();
        // Mostly it is the newest; to see that it is not another takes long.
        others.sort_by(|a, b| b.cmp(a));
        let guard = self.guard.clone();
        for (_, parts) in others {
            if self.compared >= COMPARED_MAX {
                return;
            }
            let mut pairs = parts.iter().zip(&key.1).rev().filter(|(a, b)| a != b);
            let equal = |run: &mut Self, a: &Part, b: &Part| match (a, b) {
                (Part::Num(a), Part::Num(b)) => ![a, b].iter().any(|p| counter == Some(*p)) && run.holds(&Prop::Zero(a.sub(b), None), &guard),
                _ => false,
            };
            if pairs.all(|(a, b)| equal(self, a, b)) {
                for (own, other) in own.into_iter().zip(places(&(key.0, parts), extent)) {
                    let apart = self.application(own).sub(&self.application(other));
                    self.zeros.push((guard.mul(&apart), None));
                }
                return;
            }
            self.compared += 1;
        }
    }

    /// A number that a function gives, whatever it is.
    pub(crate) fn application(&mut self, key: (SpecId, Vec<Part>)) -> Poly {
        if let Some(p) = self.values.get(&key) {
            return p.p.clone();
        }
        let value = self.atoms.fresh(None);
        self.values.insert(key, value.clone());
        value.p
    }
}
