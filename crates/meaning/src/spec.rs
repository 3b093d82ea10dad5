//! Clauses of contracts over values: integers become polynomials, truth values conditions.

use crate::atoms::Num;
use crate::extent::Extent;
use crate::found::{known, stop, Res};
use crate::poly::Poly;
use crate::proof::TERMS;
use crate::prop::Prop;
use crate::state::{Part, Run, PRODUCT};
use crate::value::{part, Val};
use santoku_ir::{Base, BinOp, CmpOp, Place, Proj, SpecExpr, SpecFn, SpecId, SpecOp, Ty};
use santoku_num::{Int, Itv};
use std::rc::Rc;

/// Expressions inside one another and in all, terms of what they are counted; values of a bound variable, bits of a constant.
const DEPTH: u32 = 25_000;
const WORK: u64 = 1 << 20;
const VALUES: u64 = 1 << 16;
const BITS: u64 = 1 << 16;

#[derive(Clone, Debug)]
enum Spec {
    Num(Num),
    Prop(Prop),
    Agg(Rc<Vec<Spec>>),
    /// An array of run-time length.
    Open(usize),
}

pub struct Eval<'r, 'a> {
    run: &'r mut Run<'a>,
    locals: &'r [Option<Val>],
    slots: Vec<Option<Spec>>,
    depth: u32,
    work: u64,
    /// Inside recursive functions whose values are not computed.
    unfolding: bool,
    /// Conditions that were decided by what is known where this is asked.
    searched: u32,
}

fn of_value(v: &Val) -> Res<Spec> {
    match v {
        Val::Num(n) => Ok(Spec::Num(n.clone())),
        Val::Agg(vs) => Ok(Spec::Agg(Rc::new(vs.iter().map(of_value).collect::<Res<_>>()?))),
        Val::Open(nr) => Ok(Spec::Open(*nr)),
        Val::Unknown => stop("an array whose length is not known in a clause"),
    }
}

fn truth(v: Spec) -> Res<Prop> {
    match v {
        Spec::Prop(p) => Ok(p),
        Spec::Num(n) if n.itv.as_ref().is_some_and(|i| Itv::bool().contains(i)) => Ok(Prop::Truth(n.p)),
        _ => stop("a truth value was expected"),
    }
}

impl Run<'_> {
    /// The polynomial of a specification's number, as values are here.
    pub fn number(&mut self, e: &SpecExpr) -> Option<Poly> {
        let locals = self.locals.clone();
        Eval::new(self, &locals).num(e).ok().map(|n| n.p)
    }
}

impl<'r, 'a> Eval<'r, 'a> {
    pub fn new(run: &'r mut Run<'a>, locals: &'r [Option<Val>]) -> Eval<'r, 'a> {
        Eval { run, locals, slots: vec![], depth: 0, work: 0, unfolding: false, searched: 0 }
    }

    pub fn condition(&mut self, e: &SpecExpr) -> Res<Prop> {
        truth(self.eval(e)?)
    }

    /// A value that ghost text gives a name to, or to a lemma.
    pub fn whole(&mut self, e: &SpecExpr) -> Res<Val> {
        let v = self.eval(e)?;
        self.kept(v)
    }

    fn kept(&mut self, v: Spec) -> Res<Val> {
        Ok(match v {
            Spec::Num(n) => Val::Num(n),
            Spec::Prop(p) => Val::Num(Num::truth(known(self.run.truth(&p), "a truth value that is no number")?)),
            Spec::Agg(vs) => Val::agg(vs.iter().map(|v| self.kept(v.clone())).collect::<Res<_>>()?),
            Spec::Open(nr) => Val::Open(nr),
        })
    }

    fn num(&mut self, e: &SpecExpr) -> Res<Num> {
        match self.eval(e)? {
            Spec::Num(n) => Ok(n),
            Spec::Prop(p) => Ok(Num::truth(known(self.run.truth(&p), "a truth value that is no number")?)),
            Spec::Agg(_) | Spec::Open(_) => stop("a number was expected"),
        }
    }

    fn constant(&mut self, e: &SpecExpr) -> Res<Int> {
        let n = self.num(e)?;
        known(n.p.as_const(), "a number that is not constant")
    }

    fn made(&mut self, p: Poly, itv: Option<Itv>) -> Res<Spec> {
        self.work += p.len() as u64;
        if p.len() > TERMS || p.terms().any(|(_, c)| c.bits() > BITS) { stop("a polynomial that is too long") } else { Ok(Spec::Num(self.run.atoms.num(p, itv))) }
    }

    fn eval(&mut self, e: &SpecExpr) -> Res<Spec> {
        (self.depth, self.work) = (self.depth + 1, self.work + 1);
        if self.depth > DEPTH || self.work > WORK {
            return stop("a clause that takes too much");
        }
        let v = self.value(e);
        self.depth -= 1;
        v
    }

    fn value(&mut self, e: &SpecExpr) -> Res<Spec> {
        match e {
            SpecExpr::Int(v) => Ok(Spec::Num(Num::constant(Int::from(v)))),
            SpecExpr::Bool(b) => Ok(Spec::Prop(Prop::is(*b))),
            SpecExpr::Var(slot) => known(self.slots.get(*slot as usize).cloned().flatten(), "a name that is not bound"),
            SpecExpr::Place(_) => of_value(&self.part(e)?),
            SpecExpr::Index(..) | SpecExpr::Field(..) if in_place(e) => of_value(&self.part(e)?),
            SpecExpr::Index(a, i) => {
                let (a, i) = (self.eval(a)?, self.num(i)?);
                if let Spec::Open(nr) = a {
                    return of_value(&self.run.open_element(nr, &i.p));
                }
                element(&a, i.p.as_const().and_then(|i| i.to_u64()))
            }
            SpecExpr::Field(a, i) => element(&self.eval(a)?, Some(u64::from(*i))),
            SpecExpr::Len(a) => match self.eval(a)? {
                Spec::Agg(es) => Ok(Spec::Num(Num::constant(es.len() as u64))),
                Spec::Open(nr) => Ok(Spec::Num(self.run.opens[nr].1.clone())),
                _ => stop("an array was expected"),
            },
            SpecExpr::Neg(a) => {
                let a = self.num(a)?;
                self.made(a.p.scale(&Int::Small(-1)), a.itv.map(|i| Itv::point(0u8).sub(&i)))
            }
            SpecExpr::Bin(op, a, b) => self.arithmetic(*op, a, b),
            SpecExpr::Cmp(op, a, b) => {
                let (x, y) = (self.eval(a)?, self.eval(b)?);
                Ok(Spec::Prop(self.compare(*op, x, y)?))
            }
            SpecExpr::Congruent(a, b, m) => {
                let (x, y, m) = (self.num(a)?, self.num(b)?, self.constant(m)?);
                let m = known(Some(m).filter(|m| *m > Int::ZERO), "a modulus that is not positive")?;
                Ok(Spec::Prop(Prop::Zero(x.p.sub(&y.p), Some(m))))
            }
            SpecExpr::Not(a) => Ok(Spec::Prop(self.condition(a)?.negated())),
            SpecExpr::And(a, b) => Ok(Spec::Prop(Prop::All(vec![self.condition(a)?, self.condition(b)?]))),
            SpecExpr::Or(a, b) => Ok(Spec::Prop(Prop::Any(vec![self.condition(a)?, self.condition(b)?]))),
            SpecExpr::Implies(a, b) => {
                let a = self.condition(a)?;
                // What follows from nothing need not make sense.
                if a.constant() == Some(false) {
                    return Ok(Spec::Prop(Prop::is(true)));
                }
                Ok(Spec::Prop(Prop::Any(vec![a.negated(), self.condition(b)?])))
            }
            SpecExpr::If(c, a, b) => self.choice(c, a, b),
            SpecExpr::Let(slot, a, b) => {
                let v = self.eval(a)?;
                self.with(*slot, v, |s| s.eval(b))
            }
            SpecExpr::Sum { slot, lo, hi, body } => {
                let (mut terms, mut itv) = (vec![], Some(Itv::point(0u8)));
                for i in self.values(lo, hi)? {
                    let n = self.with(*slot, Spec::Num(Num::constant(i)), |s| s.num(body))?;
                    terms.extend(n.p.terms().map(|(m, c)| (m.clone(), c.clone())));
                    itv = itv.zip(n.itv).map(|(a, b)| a.add(&b));
                }
                self.made(Poly::of(terms), itv)
            }
            SpecExpr::Forall { slot, lo, hi, body } => {
                let mut all = vec![];
                for i in self.values(lo, hi)? {
                    all.push(self.with(*slot, Spec::Num(Num::constant(i)), |s| s.condition(body))?);
                }
                Ok(Spec::Prop(Prop::All(all)))
            }
            SpecExpr::Array(es) => Ok(Spec::Agg(Rc::new(es.iter().map(|e| self.eval(e)).collect::<Res<_>>()?))),
            SpecExpr::Call(id, args) => self.call(*id, args),
        }
    }

    fn values(&mut self, lo: &SpecExpr, hi: &SpecExpr) -> Res<Vec<Int>> {
        let (lo, hi) = (self.constant(lo)?, self.constant(hi)?);
        if hi <= lo {
            return Ok(vec![]);
        }
        let n = known(hi.sub(&lo).to_u64().filter(|n| *n <= VALUES), "a sum or `forall` over too many values")?;
        Ok((0..n).map(|i| lo.add(&Int::from(i))).collect())
    }

    fn with<T>(&mut self, slot: u32, v: Spec, f: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        let i = slot as usize;
        if self.slots.len() <= i {
            self.slots.resize_with(i.min(1 << 16) + 1, || None);
        }
        let outer = known(self.slots.get_mut(i), "too many names")?.replace(v);
        let out = f(self);
        self.slots[i] = outer;
        out
    }

    fn place(&mut self, p: &Place) -> Res<Val> {
        let mut path = vec![];
        for proj in &p.projs {
            path.push(match proj {
                Proj::Field(i) => (*i as usize, None),
                Proj::Index(e) => (known(e.as_const().and_then(|i| usize::try_from(i).ok()), "an index in a clause that is no constant")?, None),
                Proj::Slice { .. } => return stop("a slice in a clause"),
            });
        }
        let whole = match p.base {
            Base::Local(id) => known(self.locals.get(id.0 as usize).cloned().flatten(), "a clause about what was not written")?,
            Base::Const(id) => self.run.literal(id),
        };
        known(part(&whole, &path), "a place in a clause that is not followed")
    }

    /// Of a large place only what is asked for is looked at.
    fn part(&mut self, e: &SpecExpr) -> Res<Val> {
        let (a, i) = match e {
            SpecExpr::Place(p) => return self.place(p),
            SpecExpr::Field(a, i) => (a, Some(u64::from(*i))),
            SpecExpr::Index(a, i) => {
                let i = self.num(i)?.p;
                if let Val::Open(nr) = self.part(a)? {
                    return Ok(self.run.open_element(nr, &i));
                }
                (a, i.as_const().and_then(|i| i.to_u64()))
            }
            _ => return stop("an aggregate was expected"),
        };
        let Val::Agg(es) = self.part(a)? else { return stop("an aggregate was expected") };
        known(i.and_then(|i| es.get(usize::try_from(i).ok()?)).cloned(), "an element that is not there")
    }

    fn arithmetic(&mut self, op: SpecOp, a: &SpecExpr, b: &SpecExpr) -> Res<Spec> {
        let (x, y) = (self.num(a)?, self.num(b)?);
        let itvs = x.itv.as_ref().zip(y.itv.as_ref());
        match op {
            SpecOp::Add => self.made(x.p.add(&y.p), itvs.map(|(a, b)| a.add(b))),
            SpecOp::Sub => self.made(x.p.sub(&y.p), itvs.map(|(a, b)| a.sub(b))),
            SpecOp::Mul if x.p.len().saturating_mul(y.p.len()) > PRODUCT => stop("a product that is too long"),
            SpecOp::Mul => self.made(x.p.mul(&y.p), itvs.map(|(a, b)| a.mul(b))),
            SpecOp::Pow => {
                let e = known(y.p.as_const().filter(|e| !e.is_negative()), "an exponent that is no constant")?;
                self.power(&x, &e)
            }
            SpecOp::Div | SpecOp::Mod => {
                let d = known(y.p.as_const().filter(|d| *d > Int::ZERO), "a divisor that is no positive constant")?;
                let x = self.run.short(&x);
                let (q, r) = known(self.run.atoms.divide(&x, &d), "too many atoms")?;
                Ok(Spec::Num(if op == SpecOp::Div { q } else { r }))
            }
            SpecOp::And => self.bits(BinOp::And, &x, &y),
            SpecOp::Or => self.bits(BinOp::Or, &x, &y),
            SpecOp::Xor => self.bits(BinOp::Xor, &x, &y),
        }
    }

    fn bits(&mut self, op: BinOp, x: &Num, y: &Num) -> Res<Spec> {
        let most = |n: &Num| n.itv.as_ref().filter(|i| !i.lo.is_negative()).and_then(|i| u32::try_from(i.hi.bits()).ok());
        let bits = known(most(x).zip(most(y)).filter(|_| self.run.words), "bits of what is no word")?;
        self.run.exactly(op, x, y, &Ty::Word(bits.0.max(bits.1))).map(Spec::Num)
    }

    fn power(&mut self, x: &Num, e: &Int) -> Res<Spec> {
        if let Some(c) = x.p.as_const() {
            if c.bits() <= 1 && !c.is_negative() && *e > Int::ZERO {
                return Ok(Spec::Num(Num::constant(c)));
            }
            let e = known(e.to_u64().filter(|e| c.bits().saturating_mul(*e) <= BITS), "a power that is too large")?;
            let (mut out, bits) = (Int::Small(1), 64 - e.leading_zeros());
            for bit in (0..bits).rev() {
                out = out.mul(&out);
                if e >> bit & 1 == 1 {
                    out = out.mul(&c);
                }
            }
            return Ok(Spec::Num(Num::constant(out)));
        }
        let base = if *e > Int::Small(4) { self.run.atoms.named(x) } else { x.clone() };
        let p = known(base.p.pow(e, TERMS), "a power that is too long")?;
        self.made(p, None)
    }

    fn compare(&mut self, op: CmpOp, a: Spec, b: Spec) -> Res<Prop> {
        let unless = |p: Prop| if op == CmpOp::Ne { p.negated() } else { p };
        match (a, b) {
            (Spec::Agg(xs), Spec::Agg(ys)) if xs.len() == ys.len() && matches!(op, CmpOp::Eq | CmpOp::Ne) => {
                let all = xs.iter().zip(ys.iter()).map(|(x, y)| self.compare(CmpOp::Eq, x.clone(), y.clone())).collect::<Res<_>>()?;
                Ok(unless(Prop::All(all)))
            }
            (Spec::Num(x), Spec::Num(y)) => Ok(self.run.related(op, &x, &y)),
            (x, y) if matches!(op, CmpOp::Eq | CmpOp::Ne) => {
                Ok(unless(Prop::Same(Box::new((truth(x)?, truth(y)?)))))
            }
            _ => stop("values that are not compared"),
        }
    }

    /// A condition, which what is known here may decide where arrays of run-time length are spoken of, and the polynomial that code has for it.
    fn decided(&mut self, c: &SpecExpr) -> Res<(Prop, Option<Poly>)> {
        if self.run.opens.is_empty() && !self.run.bits && !self.unfolding {
            return Ok((self.condition(c)?, None));
        }
        let (p, exact) = match c {
            SpecExpr::Cmp(op, a, b) => match (self.eval(a)?, self.eval(b)?) {
                (Spec::Num(x), Spec::Num(y)) => (self.run.related(*op, &x, &y), Some((*op, x, y))),
                (x, y) => (self.compare(*op, x, y)?, None),
            },
            c => (self.condition(c)?, None),
        };
        if p.constant().is_some() {
            return Ok((p, None));
        }
        let guard = self.run.guard.clone();
        if let Some(truth) = [true, false].into_iter().find(|t| self.run.is_seen(&if *t { p.clone() } else { p.clone().negated() }, &guard)) {
            self.searched += 1;
            return Ok((Prop::is(truth), None));
        }
        let exact = match exact {
            Some((op, x, y)) => Some(self.run.compare(op, &Val::Num(x), &Val::Num(y))?.p),
            None => None,
        };
        Ok((p, exact))
    }

    fn choice(&mut self, c: &SpecExpr, a: &SpecExpr, b: &SpecExpr) -> Res<Spec> {
        let (c, exact) = self.decided(c)?;
        match c.constant() {
            Some(true) => return self.eval(a),
            Some(false) => return self.eval(b),
            None => {}
        }
        match (self.eval(a)?, self.eval(b)?) {
            (Spec::Num(x), Spec::Num(y)) => {
                let t = match exact {
                    Some(t) => t,
                    None => known(self.run.truth(&c), "a condition that is no number")?,
                };
                let itv = x.itv.as_ref().zip(y.itv.as_ref()).map(|(a, b)| a.join(b));
                self.made(y.p.add(&t.mul(&x.p.sub(&y.p))), itv)
            }
            (Spec::Prop(x), Spec::Prop(y)) => Ok(Spec::Prop(Prop::All(vec![Prop::Any(vec![c.clone().negated(), x]), Prop::Any(vec![c, y])]))),
            _ => stop("a choice between aggregates"),
        }
    }

    fn body(&mut self, id: SpecId, args: Vec<Spec>) -> Res<Spec> {
        let outer = std::mem::replace(&mut self.slots, args.into_iter().map(Some).collect());
        let out = self.eval(&self.run.p.specs[id.0 as usize].body);
        self.slots = outer;
        out
    }

    /// A value of a recursive function: numbers, the same for the same arguments. Where it is decided whether it ends there, they are
    /// what its text says, in which its own values are not followed in turn.
    fn applied(&mut self, id: SpecId, args: Vec<Spec>, at: usize) -> Res<Spec> {
        let extent = crate::extent::of(self.run.p, id).unwrap_or(Extent::Number);
        let key = (id, known(shape(&args), "conditions among the arguments of a recursive function")?);
        if let Spec::Num(n) = &args[at] {
            self.run.alike(&key, Some(&n.p), extent);
        }
        if !self.unfolding {
            self.unfolding = true;
            let text = self.unfolded(id, args);
            self.unfolding = false;
            if let Some(text) = text? {
                let own = self.numbers(&key, extent);
                self.are_equal(&own, &text)?;
                return Ok(own);
            }
        }
        Ok(self.numbers(&key, extent))
    }

    /// A value of a function whose text is not looked at: numbers that equal arguments determine.
    fn uninterpreted(&mut self, id: SpecId, args: &[Spec], extent: Extent) -> Res<Spec> {
        let key = (id, known(shape(args), "conditions among the arguments of a function of bits")?);
        self.run.alike(&key, None, extent);
        Ok(self.numbers(&key, extent))
    }

    fn numbers(&mut self, key: &(SpecId, Vec<Part>), extent: Extent) -> Spec {
        let all: Vec<Spec> = places(key, extent).into_iter().map(|k| Spec::Num(Num { p: self.run.application(k), itv: None })).collect();
        match (extent, &all[..]) {
            (Extent::Number, [one]) => one.clone(),
            _ => Spec::Agg(Rc::new(all)),
        }
    }

    /// A fact from here on, where this is asked.
    fn are_equal(&mut self, a: &Spec, b: &Spec) -> Res<()> {
        match (a, b) {
            (Spec::Num(a), Spec::Num(b)) => {
                let fact = (self.run.guard.mul(&a.p.sub(&b.p)), None);
                if !self.run.zeros.contains(&fact) {
                    self.run.zeros.push(fact);
                }
                Ok(())
            }
            (Spec::Agg(xs), Spec::Agg(ys)) if xs.len() == ys.len() => xs.iter().zip(ys.iter()).try_for_each(|(x, y)| self.are_equal(x, y)),
            _ => stop("values of different shapes"),
        }
    }

    /// The text of a function for these arguments, if it is a choice that is decided.
    fn unfolded(&mut self, id: SpecId, args: Vec<Spec>) -> Res<Option<Spec>> {
        let SpecExpr::If(c, a, b) = &self.run.p.specs[id.0 as usize].body else { return Ok(None) };
        let outer = std::mem::replace(&mut self.slots, args.into_iter().map(Some).collect());
        let out = self.decided(c).and_then(|(c, _)| match c.constant() {
            Some(truth) => self.eval(if truth { a } else { b }).map(Some),
            None => Ok(None),
        });
        self.slots = outer;
        out
    }

    fn call(&mut self, id: SpecId, args: &[SpecExpr]) -> Res<Spec> {
        let f = &self.run.p.specs[id.0 as usize];
        if let (true, Some(n)) = (args.is_empty(), self.run.constants.get(&id)) {
            return Ok(Spec::Num(n.clone()));
        }
        let args: Vec<Spec> = args.iter().map(|a| self.eval(a)).collect::<Res<_>>()?;
        let constant = args.is_empty();
        if let (true, [Spec::Num(b), Spec::Num(e)]) = (is_power(f, id), &args[..]) {
            if let Some(e) = e.p.as_const() {
                let b = b.clone();
                return self.power(&b, &known((!e.is_negative()).then_some(e), "a negative exponent")?);
            }
        }
        if let Some(at) = crate::extent::decreasing(self.run.p, id) {
            if !matches!(&args[at], Spec::Num(n) if n.p.as_const().is_some()) {
                return self.applied(id, args, at);
            }
        }
        if let Some(extent) = self.run.spoken_of.get(&id) {
            return self.uninterpreted(id, &args, *extent);
        }
        let aggregate = args.iter().any(|a| matches!(a, Spec::Agg(_) | Spec::Open(_)));
        let searched = self.searched;
        let key = shape(&args).filter(|_| aggregate).map(|parts| (id, parts));
        if let Some(n) = key.as_ref().and_then(|k| self.run.values.get(k)) {
            return Ok(Spec::Num(n.clone()));
        }
        match self.body(id, args)? {
            // What stands for a whole value is one atom, so that facts about values stay short.
            Spec::Num(n) if aggregate => {
                let n = if self.run.words { n } else { self.run.atoms.named(&n) };
                // What is decided here may be open elsewhere.
                key.filter(|_| self.searched == searched).into_iter().for_each(|k| drop(self.run.values.insert(k, n.clone())));
                Ok(Spec::Num(n))
            }
            Spec::Num(n) if constant && n.p.as_const().is_some() => {
                self.run.constants.insert(id, n.clone());
                Ok(Spec::Num(n))
            }
            v => Ok(v),
        }
    }
}

/// Under what the numbers that a function gives are remembered.
pub fn places(key: &(SpecId, Vec<Part>), extent: Extent) -> Vec<(SpecId, Vec<Part>)> {
    match extent {
        Extent::Number => vec![key.clone()],
        Extent::Array(n) => (0..n).map(|k| (key.0, key.1.iter().cloned().chain([Part::Agg(k)]).collect())).collect(),
    }
}

fn element(a: &Spec, i: Option<u64>) -> Res<Spec> {
    let Spec::Agg(es) = a else { return stop("an aggregate was expected") };
    known(i.and_then(|i| es.get(usize::try_from(i).ok()?)).cloned(), "an element that is not there")
}

/// A place, or a part of one.
fn in_place(e: &SpecExpr) -> bool {
    match e {
        SpecExpr::Field(a, _) | SpecExpr::Index(a, _) => in_place(a),
        e => matches!(e, SpecExpr::Place(_)),
    }
}

/// Values as a list: of each aggregate its length, then its elements. `None`: there are conditions among them.
fn shape(of: &[Spec]) -> Option<Vec<Part>> {
    let mut out = vec![];
    for v in of {
        match v {
            Spec::Num(n) => out.push(Part::Num(n.p.clone())),
            Spec::Agg(vs) => {
                out.push(Part::Agg(vs.len()));
                out.extend(shape(vs)?);
            }
            Spec::Open(nr) => out.push(Part::Open(*nr)),
            Spec::Prop(_) => return None,
        }
    }
    Some(out)
}

/// `f(b, e) = if e == 0 { 1 } else { b * f(b, e - 1) }`, or with the product the other way round.
fn is_power(f: &SpecFn, id: SpecId) -> bool {
    let SpecExpr::If(c, one, step) = &f.body else { return false };
    let is = |e: &SpecExpr, v: i32| *e == SpecExpr::Int(v.into());
    let var = |e: &SpecExpr, i: u32| *e == SpecExpr::Var(i);
    let cond = matches!(&**c, SpecExpr::Cmp(CmpOp::Eq, a, b) if var(a, 1) && is(b, 0));
    let less = |e: &SpecExpr| matches!(e, SpecExpr::Bin(SpecOp::Sub, a, b) if var(a, 1) && is(b, 1));
    let again = |e: &SpecExpr| matches!(e, SpecExpr::Call(g, args) if *g == id && args.len() == 2 && var(&args[0], 0) && less(&args[1]));
    let product = matches!(&**step, SpecExpr::Bin(SpecOp::Mul, a, b) if var(a, 0) && again(b) || again(a) && var(b, 0));
    f.params.len() == 2 && cond && is(one, 1) && product
}
