//! Atoms and what they are: values of inputs, quotients, names of polynomials, truth values.
//! Trusted: field, bytes, leaks.

use crate::forms::Forms;
use crate::poly::{Atom, Mono, Poly};
use santoku_ir::BinOp;
use santoku_num::{Int, Itv};
use std::collections::BTreeMap;

/// Largest exponent of which bounds are computed.
const POWER: u64 = 64;
/// Terms of a dividend that is put together from a quotient and what is beside it.
pub const MERGED: usize = 40;
/// Cuts of a value into low and high bits that are tried.
const CUTS: usize = 64;
/// Terms of a name that is written out where a sign is asked for.
const WRITTEN: usize = 16;
/// Of a bound that is kept, and of a coefficient.
pub const BITS: u64 = 1 << 14;
/// Quotients in each other that bounds are looked for in.
const NESTED: u32 = 2;

/// A value as a polynomial, with bounds that may be closer than those of its terms. `None`: without bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Num {
    pub p: Poly,
    pub itv: Option<Itv>,
}

impl Num {
    pub fn constant(c: impl Into<Int>) -> Num {
        let c = c.into();
        Num { itv: Some(Itv::point(c.clone())), p: Poly::constant(c) }
    }
    pub fn truth(p: Poly) -> Num {
        Num { p, itv: Some(Itv::bool()) }
    }
    /// Surely below `2^bits` and not negative.
    pub fn fits(&self, bits: u32) -> bool {
        self.itv.as_ref().is_some_and(|i| Itv::word(bits).contains(i))
    }
}

/// A function, the bits of the word that it gives, and what it is applied to.
pub type Applied = (Of, Option<u32>, Vec<Poly>);

#[derive(Clone, Debug)]
pub enum Def {
    /// Any value inside its bounds.
    Free,
    /// `floor(p / d)`, `d > 0`
    Quotient(Poly, Int),
    /// `p` itself.
    Name(Poly),
}

#[derive(Clone, Debug)]
struct Info {
    itv: Option<Itv>,
    def: Def,
}

#[derive(Clone, Debug, Default)]
pub struct Atoms {
    infos: Vec<Info>,
    quotients: BTreeMap<(Poly, Int), Poly>,
    names: BTreeMap<Poly, Atom>,
    /// What words were put together of.
    pub forms: Forms,
    /// What is known of polynomials, on all executions.
    ranges: BTreeMap<Poly, Itv>,
    /// Minus 1 where the polynomial is negative.
    signs: BTreeMap<Poly, Poly>,
    /// 1 where the polynomial is zero.
    zeros: BTreeMap<Poly, Atom>,
    /// Of which at most one is 1: a polynomial is one number only.
    alternatives: BTreeMap<Poly, Vec<Atom>>,
    group: BTreeMap<Atom, Poly>,
    /// 1 where the polynomial is zero modulo a number.
    congruent: BTreeMap<(Poly, Int), Atom>,
    ands: BTreeMap<(Poly, Poly), Atom>,
    /// Values of functions that are not looked into.
    pub(crate) applied: BTreeMap<Applied, Atom>,
    /// Terms of a dividend that is put together from a quotient and what is beside it.
    pub merged: usize,
    /// Words that are put together by operations on bits have one form, whatever the order of the operations.
    pub of_words: bool,
    /// Terms looked at so far: what executions that are compared are limited by.
    pub looked: std::cell::Cell<u64>,
}

impl Atoms {
    /// None yet. `merged`: terms of a dividend that is put together of a quotient and what is beside it.
    pub fn with(merged: usize) -> Atoms {
        Atoms { merged, ..Atoms::default() }
    }
    /// More of what is equal has one form, at more cost.
    pub fn is_thorough(&self) -> bool {
        self.merged > MERGED
    }
    pub(crate) fn make(&mut self, itv: Option<Itv>, def: Def) -> Atom {
        let boolean = itv.as_ref().is_some_and(|i| Itv::bool().contains(i));
        self.infos.push(Info { itv, def });
        Atom::new(self.infos.len() - 1, boolean).expect("fewer atoms than half of 32 bits")
    }
    /// Any value in these bounds.
    pub fn fresh(&mut self, itv: Option<Itv>) -> Num {
        match itv.as_ref().and_then(Itv::single) {
            Some(v) => Num::constant(v.clone()),
            None => Num { p: Poly::atom(self.make(itv.clone(), Def::Free)), itv },
        }
    }
    pub fn def(&self, a: Atom) -> &Def {
        &self.infos[a.nr()].def
    }
    pub fn len(&self) -> usize {
        self.infos.len()
    }
    pub fn is_empty(&self) -> bool {
        self.infos.is_empty()
    }

    fn power(&self, a: Atom, e: &Int) -> Option<Itv> {
        let one = self.infos[a.nr()].itv.clone()?;
        if *e == Int::Small(1) {
            return Some(one);
        }
        let e = e.to_u64().filter(|e| *e <= POWER)?;
        let even = (0..e / 2).fold(Itv::point(1u8), |acc, _| acc.mul(&one.square()));
        Some(if e % 2 == 1 { even.mul(&one) } else { even })
    }
    /// Bounds of a polynomial, term by term, but for what is divided beside its quotient.
    pub fn bound(&self, p: &Poly) -> Option<Itv> {
        if self.is_thorough() { self.close_bound(p, NESTED) } else { self.by_terms(p) }
    }
    fn close_bound(&self, p: &Poly, depth: u32) -> Option<Itv> {
        // As many quotients may cancel one after the other as there are terms: no recursion.
        let (mut p, mut cancelled) = (p.clone(), vec![]);
        loop {
            let own = self.by_terms(&p)?;
            let quotients = self.quotients_in(&p);
            match self.without_one(&p, &quotients)? {
                Some((rest, left)) => {
                    cancelled.push((own, left));
                    p = rest;
                }
                None => {
                    let found = self.joined(&p, &quotients, own, depth)?;
                    return cancelled.into_iter().rev().try_fold(found, |rest, (own, left)| own.common(&rest.add(&left)));
                }
            }
        }
    }
    /// Quotients that are terms, the last first: the atom, its coefficient, what is divided and by what.
    fn quotients_in(&self, p: &Poly) -> Vec<(Atom, Int, &Poly, &Int)> {
        let mut quotients = vec![];
        for (m, c) in p.terms().rev() {
            let [(a, e)] = m.factors() else { continue };
            if let (Def::Quotient(y, d), true) = (self.def(*a), *e == Int::Small(1)) {
                quotients.push((*a, c.clone(), y, d));
            }
        }
        quotients
    }
    /// Shorter without a quotient that is beside what it divides, and what the rest is more or less by.
    fn without_one(&self, p: &Poly, quotients: &[(Atom, Int, &Poly, &Int)]) -> Option<Option<(Poly, Itv)>> {
        for (a, c, y, d) in quotients {
            // c q = (c / d) y - (c / d) r for what is left, 0 <= r < d
            if y.len() > p.len() || c.mod_floor(d)? != Int::ZERO {
                continue;
            }
            let k = c.div_floor(d)?;
            let rest = p.plus(&c.neg(), &Poly::atom(*a)).plus(&k, y);
            if rest.len() < p.len() {
                let left = Itv::between(0u8, d.sub(&Int::Small(1)))?.mul(&Itv::point(k.neg()));
                return Some(Some((rest, left)));
            }
        }
        Some(None)
    }
    fn joined(&self, p: &Poly, quotients: &[(Atom, Int, &Poly, &Int)], mut found: Itv, depth: u32) -> Option<Itv> {
        if depth > 0 && quotients.len() > 1 {
            for (a, c, y, d) in quotients.iter().filter(|(_, c, ..)| *c == Int::Small(1)) {
                // h + floor(y / d) = floor((d h + y) / d)
                let joined = p.plus(&c.neg(), &Poly::atom(*a)).scale(d).add(y);
                let within = self.close_bound(&joined, depth - 1)?.div_floor(d)?;
                found = found.common(&within)?;
            }
        }
        Some(found)
    }
    fn by_terms(&self, p: &Poly) -> Option<Itv> {
        self.looked.set(self.looked.get() + p.len() as u64);
        let product = |m: &Mono| {
            let mut powers = m.factors().iter().map(|(a, e)| self.power(*a, e));
            let first = powers.next().unwrap_or_else(|| Some(Itv::point(1u8)))?;
            powers.try_fold(first, |acc, one| Some(acc.mul(&one?)))
        };
        p.terms().try_fold(Itv::point(0u8), |acc, (m, c)| Some(acc.add(&product(m)?.scale(c))))
    }
    /// A polynomial of which `itv` is known.
    pub fn num(&mut self, p: Poly, itv: Option<Itv>) -> Num {
        let itv = itv.filter(|i| i.lo.bits().max(i.hi.bits()) <= BITS);
        if self.is_thorough() && p.len() > 1 {
            let c = Itv::point(p.constant_term());
            let varying = p.shift(p.constant_term().neg());
            let own = itv.map(|i| i.sub(&c));
            let known = match self.ranges.get(&varying) {
                Some(known) => Some(known.clone()),
                None => self.bound(&varying),
            };
            let all = match (own, known) {
                (Some(a), Some(b)) => Some(a.common(&b).unwrap_or(a)),
                (a, b) => a.or(b),
            };
            if let Some(itv) = &all {
                self.ranges.insert(varying, itv.clone());
            }
            return Num { p, itv: all.map(|i| i.add(&c)) };
        }
        let itv = match (itv, self.bound(&p)) {
            (Some(a), Some(b)) => Some(a.common(&b).unwrap_or(a)),
            (a, b) => a.or(b),
        };
        Num { p, itv }
    }
    pub fn sub(&mut self, a: &Num, b: &Num) -> Num {
        self.num(a.p.sub(&b.p), a.itv.as_ref().zip(b.itv.as_ref()).map(|(a, b)| a.sub(b)))
    }

    /// `floor(x / d)` and what is left, `d > 0`.
    pub fn divide(&mut self, x: &Num, d: &Int) -> Option<(Num, Num)> {
        let x = self.num(x.p.clone(), x.itv.clone());
        let q = self.floor(&x, d)?;
        let itv = x.itv.as_ref().and_then(|i| i.div_floor(d));
        let rest = x.itv.as_ref().and_then(|i| i.mod_floor(d)).or_else(|| Itv::between(0u8, d.sub(&Int::Small(1))));
        let r = x.p.plus(&d.neg(), &q);
        Some((Num { p: q, itv }, self.num(r, rest)))
    }

    /// Bounds of `x` hold for all values that atoms can have together, so an atom made here has those that follow.
    fn floor(&mut self, x: &Num, d: &Int) -> Option<Poly> {
        if *d == Int::Small(1) {
            return Some(x.p.clone());
        }
        let itv = x.itv.as_ref().and_then(|i| i.div_floor(d));
        if let Some(q) = itv.as_ref().and_then(Itv::single) {
            return Some(Poly::constant(q.clone()));
        }
        // floor((d h + l) / d) = h + floor(l / d)
        let (high, low) = x.p.divided(d)?;
        if !high.is_zero() {
            return self.beside(x, d, &high, low);
        }
        // Of what is smaller than a divisor the quotient is minus the sign, whatever the divisor is.
        let is_sign = self.is_thorough() && x.itv.as_ref().is_some_and(|i| i.hi < *d && i.lo >= d.neg());
        if let Some(q) = self.signs.get(&x.p).filter(|_| is_sign) {
            return Some(q.clone());
        }
        let q = self.floor_below(x, d, itv)?;
        if is_sign {
            self.signs.insert(x.p.clone(), q.clone());
        }
        Some(q)
    }

    /// `high + floor(low / d)`
    fn beside(&mut self, x: &Num, d: &Int, high: &Poly, low: Poly) -> Option<Poly> {
        let rest = x.itv.as_ref().zip(self.bound(&high.scale(d))).map(|(x, h)| x.sub(&h));
        let low = self.num(low, rest);
        Some(high.add(&self.floor(&low, d)?))
    }

    /// The floor quotient of what has no multiples of the divisor in it.
    fn floor_below(&mut self, x: &Num, d: &Int, itv: Option<Itv>) -> Option<Poly> {
        if self.is_thorough() {
            let (high, low) = x.p.nearest(d)?;
            if !high.is_zero() {
                return self.beside(x, d, &high, low);
            }
        }
        if let Some((high, by)) = self.above(&x.p, d) {
            let high = self.num(high, None);
            return self.floor(&high, &by);
        }
        // floor((h + floor(y / e)) / d) = floor((e h + y) / (e d))
        let quotient = x.p.atoms().into_iter().rev().find_map(|a| {
            let Def::Quotient(y, e) = self.def(a) else { return None };
            let (c, h) = x.p.linear_in(a)?;
            (c == Int::Small(1) && h.len() + y.len() <= self.merged).then(|| (y.plus(e, &h), e.clone()))
        });
        if let Some((y, e)) = quotient {
            let whole = x.itv.as_ref().map(|i| Itv { lo: i.lo.mul(&e), hi: i.hi.mul(&e).add(&e).sub(&Int::Small(1)) });
            let y = self.num(y, whole);
            return self.floor(&y, &e.mul(d));
        }
        if let Some(q) = self.quotients.get(&(x.p.clone(), d.clone())) {
            return Some(q.clone());
        }
        if self.is_thorough() {
            // floor(t / d) = floor((t + d) / 2 d) + floor(t / 2 d), where the first of these, the rounded quotient, is there.
            let (up, twice) = (x.p.shift(d.clone()), d.add(d));
            let low = up.nearest(&twice)?.1;
            if self.quotients.contains_key(&(low, twice.clone())) {
                let up = self.num(up, x.itv.as_ref().map(|i| i.add(&Itv::point(d.clone()))));
                let rounded = self.floor(&up, &twice)?;
                return Some(rounded.add(&self.floor(x, &twice)?));
            }
        }
        let base = itv.as_ref().filter(|i| i.hi.sub(&i.lo) == Int::Small(1)).map_or(Int::ZERO, |i| i.lo.clone());
        let moved = itv.map(|i| i.sub(&Itv::point(base.clone())));
        let a = self.make(moved, Def::Quotient(x.p.shift(base.mul(d).neg()), d.clone()));
        let q = Poly::atom(a).shift(base);
        self.quotients.insert((x.p.clone(), d.clone()), q.clone());
        Some(q)
    }

    /// `x = low + 2^t high` with `0 <= low < 2^t`, where `2^t` divides `d`: `high`, and what is left of `d`.
    fn above(&mut self, x: &Poly, d: &Int) -> Option<(Poly, Int)> {
        let most = twos(d);
        let mut cuts: Vec<u32> = x.terms().map(|(_, c)| twos(c)).filter(|t| *t > 0 && *t <= most).collect();
        cuts.sort_unstable();
        cuts.dedup();
        for t in cuts.into_iter().rev().take(CUTS) {
            let (high, low) = x.divided(&Int::pow2(t))?;
            if (self.is_thorough() || !low.is_zero()) && self.num(low, None).fits(t) {
                return Some((high, d.div_floor(&Int::pow2(t))?));
            }
        }
        None
    }

    /// 1 where `x < 0`, else 0. `None`: nothing is known of its size.
    pub fn negative(&mut self, x: &Num) -> Option<Poly> {
        let mut x = self.num(x.p.clone(), x.itv.clone());
        if self.is_thorough() && !self.names.is_empty() {
            x = self.num(self.without_names(&x.p), x.itv);
        }
        let itv = x.itv.clone()?;
        if !itv.lo.is_negative() {
            return Some(Poly::default());
        }
        if itv.hi.is_negative() {
            return Some(Poly::constant(1u8));
        }
        let bits = itv.hi.bits().max(itv.lo.neg().sub(&Int::Small(1)).bits());
        self.floor(&x, &Int::pow2(u32::try_from(bits).ok()?)).map(|q| q.scale(&Int::Small(-1)))
    }

    /// 1 where `x == 0`, else 0.
    pub fn zero(&mut self, x: &Num) -> Poly {
        let x = self.num(x.p.clone(), x.itv.clone());
        match &x.itv {
            _ if x.p.is_zero() => return Poly::constant(1u8),
            Some(i) if i.lo > Int::ZERO || i.hi.is_negative() => return Poly::default(),
            Some(i) if Itv::bool().contains(i) => return Poly::constant(1u8).sub(&x.p),
            Some(i) if Itv::bool().contains(&Itv::point(0u8).sub(i)) => return x.p.shift(1u8),
            _ => {}
        }
        let key = signed(&x.p);
        if let Some(a) = self.zeros.get(&key) {
            return Poly::atom(*a);
        }
        let a = self.make(Some(Itv::bool()), Def::Free);
        let varying = signed(&key.shift(key.constant_term().neg()));
        self.alternatives.entry(varying.clone()).or_default().push(a);
        self.group.insert(a, varying);
        self.zeros.insert(key, a);
        Poly::atom(a)
    }

    /// Of which polynomial, or the opposite of it, an atom says that it is zero; one that is never negative if there is one.
    pub fn zero_of(&self, a: Atom) -> Option<Poly> {
        let p = self.zeros.iter().find(|(_, b)| **b == a)?.0;
        Some(if self.bound(p).is_some_and(|i| i.lo.is_negative()) { p.scale(&Int::Small(-1)) } else { p.clone() })
    }

    /// Atoms that are 0 where this one is 1.
    pub fn others(&self, a: Atom) -> impl Iterator<Item = Atom> + '_ {
        let all = self.group.get(&a).and_then(|g| self.alternatives.get(g));
        all.into_iter().flatten().copied().filter(move |b| *b != a)
    }

    /// Without products of alternatives, which are 0.
    pub fn simplified(&self, p: &Poly) -> Poly {
        let twice = |m: &Mono| {
            let groups: Vec<&Poly> = m.factors().iter().filter_map(|(a, _)| self.group.get(a)).collect();
            groups.iter().enumerate().any(|(i, g)| groups[..i].contains(g))
        };
        if self.group.is_empty() || !p.terms().any(|(m, _)| twice(m)) {
            return p.clone();
        }
        Poly::of(p.terms().filter(|(m, _)| !twice(m)).map(|(m, c)| (m.clone(), c.clone())))
    }

    /// 1 where `p` is zero modulo `m`.
    pub fn congruent(&mut self, p: &Poly, m: &Int) -> Option<Poly> {
        let (p, q) = (p.modulo(m)?, p.scale(&Int::Small(-1)).modulo(m)?);
        let key = (p.min(q), m.clone());
        if key.0.is_zero() {
            return Some(Poly::constant(1u8));
        }
        if let Some(a) = self.congruent.get(&key) {
            return Some(Poly::atom(*a));
        }
        let a = self.make(Some(Itv::bool()), Def::Free);
        self.congruent.insert(key, a);
        Some(Poly::atom(a))
    }

    /// An atom that is `x`.
    pub fn named(&mut self, x: &Num) -> Num {
        if x.p.as_const().is_some() || x.p.as_atom().is_some() {
            return x.clone();
        }
        if let Some(a) = self.names.get(&x.p) {
            return Num { p: Poly::atom(*a), itv: x.itv.clone() };
        }
        self.name(x, self.bound(&x.p))
    }
    /// The same of what is 0 or 1, whatever is seen of its parts; of that and its opposite one has a name.
    pub fn bit(&mut self, p: Poly) -> Poly {
        if self.bound(&p).is_some_and(|i| Itv::bool().contains(&i)) {
            return p;
        }
        let not = |p: &Poly| Poly::constant(1u8).sub(p);
        if p.constant_term() != Int::ZERO && not(&p).constant_term() == Int::ZERO {
            return not(&self.bit(not(&p)));
        }
        self.names.get(&p).map(|a| Poly::atom(*a)).unwrap_or_else(|| self.name(&Num::truth(p), Some(Itv::bool())).p)
    }
    /// Bounds of a polynomial, where what is divided may stand beside its quotient.
    pub fn close(&self, p: &Poly) -> Option<Itv> {
        self.close_bound(p, NESTED)
    }
    pub(crate) fn name(&mut self, x: &Num, itv: Option<Itv>) -> Num {
        let a = self.make(itv, Def::Name(x.p.clone()));
        self.names.insert(x.p.clone(), a);
        Num { p: Poly::atom(a), itv: x.itv.clone() }
    }

    /// Uses that `p >= 0` on every execution, where it bounds a single atom.
    pub fn narrow(&mut self, p: &Poly) {
        let Some((a, c)) = p.atoms().first().and_then(|a| Some((*a, p.linear_in(*a)?))).filter(|(_, (_, rest))| rest.as_const().is_some()) else { return };
        let (c, k) = (c.0, c.1.as_const().unwrap_or(Int::ZERO));
        let Some(old) = self.infos[a.nr()].itv.clone().filter(|_| !a.is_bool()) else { return };
        let one = Int::Small(1);
        let new = match c {
            _ if c == one => Itv::between(k.neg(), old.hi.clone()),
            _ if c == one.neg() => Itv::between(old.lo.clone(), k),
            _ => None,
        };
        // What contradicts itself stays what it was.
        if let Some(met) = new.and_then(|n| n.common(&old)) {
            self.infos[a.nr()].itv = Some(met);
        }
    }

    /// The name of a polynomial, if it has one.
    pub fn name_of(&self, p: &Poly) -> Option<Atom> {
        self.names.get(p).copied()
    }
    /// All names.
    pub fn names(&self) -> impl Iterator<Item = Atom> + '_ {
        self.names.values().copied()
    }
    /// Whether the definition of one atom speaks of another.
    pub fn mentions(&self, a: Atom, b: Atom) -> bool {
        match self.def(a) {
            Def::Free => false,
            Def::Name(p) | Def::Quotient(p, _) => p.has(b),
        }
    }

    /// Remembers the bounds of a value: they hold on all executions.
    pub fn keep(&mut self, x: &Num) {
        if let (true, Some(itv)) = (self.of_words, &x.itv) {
            self.forms.within(&x.p, itv.clone());
        }
    }
    /// A value with the bounds that are remembered.
    pub fn kept(&mut self, p: &Poly) -> Num {
        self.num(p.clone(), self.forms.bounds(p))
    }
    /// What a name stands for; of anything else itself.
    pub fn spelled(&self, p: &Poly) -> Poly {
        match p.as_atom().map(|a| self.def(a)) {
            Some(Def::Name(q)) => q.clone(),
            _ => p.clone(),
        }
    }
    /// A polynomial with what names in it stand for.
    fn without_names(&self, p: &Poly) -> Poly {
        let mut out = p.clone();
        for a in p.atoms() {
            match (self.def(a), p.linear_in(a)) {
                (Def::Name(y), Some((c, _))) if y.len() <= WRITTEN => out = out.plus(&c.neg(), &Poly::atom(a)).plus(&c, y),
                _ => {}
            }
        }
        out
    }

    /// Of which two words an atom is the bits that both have.
    #[cfg(test)]
    pub(crate) fn common_of(&self, a: Atom) -> Option<(Poly, Poly)> {
        self.ands.iter().find(|(_, b)| **b == a).map(|(k, _)| k.clone())
    }
    /// The bits that both of two words have, of which nothing else is known.
    pub fn common(&mut self, a: &Num, b: &Num) -> Num {
        let (x, y) = if a.p <= b.p { (a, b) } else { (b, a) };
        let bound = |n: &Num| self.bound(&n.p).filter(|i| !i.lo.is_negative()).map(|i| i.hi);
        let most = bound(x).zip(bound(y)).map(|(a, b)| a.min(b));
        let itv = most.and_then(|hi| Itv::between(0u8, hi));
        let key = (x.p.clone(), y.p.clone());
        let a = match self.ands.get(&key) {
            Some(a) => *a,
            None => {
                let a = self.make(itv.clone(), Def::Free);
                self.ands.insert(key, a);
                a
            }
        };
        Num { p: Poly::atom(a), itv }
    }
}

/// How often 2 divides a number that is not 0.
pub fn twos(c: &Int) -> u32 {
    c.to_big().trailing_zeros().and_then(|t| u32::try_from(t).ok()).unwrap_or(0)
}

/// The polynomial or its opposite.
fn signed(p: &Poly) -> Poly {
    p.clone().min(p.scale(&Int::Small(-1)))
}

/// A function that is not looked into.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Of {
    /// What stands at an index: of the index and what stands at each.
    Element,
    /// Scalar so many of an element: of the index and the array's code.
    Coded(u32),
    /// The code of an array with one element written: of its code before, the index and the element.
    Written,
    /// What is at one place after a write: of the distance to what is written, the new value and the old.
    Kept,
    /// The code of an array of equal elements: of the element and the length.
    Repeated,
    /// What was never written, by place: nothing that is defined depends on it.
    Unwritten,
    /// A shift by what is no number.
    Shifted(BinOp),
    /// Whether a value of which no bounds are known is negative.
    Negative,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of all `x - 2 floor(x / 2)`, in a thread with little stack.
    #[test]
    fn quotients_that_cancel_one_after_the_other_take_no_stack() {
        const MANY: u32 = 2_000;
        let ran = std::thread::Builder::new().stack_size(256 << 10).spawn(|| {
            let mut atoms = Atoms::with(MERGED + 1);
            let sum = (0..MANY).fold(Poly::default(), |sum, _| {
                let x = atoms.fresh(Some(Itv::word(8)));
                let (_, odd) = atoms.divide(&x, &Int::Small(2)).expect("a quotient");
                sum.add(&odd.p)
            });
            assert_eq!(sum.len(), 2 * MANY as usize);
            assert_eq!(atoms.bound(&sum), Itv::between(0u8, MANY));
        });
        ran.expect("a thread").join().expect("no fault");
    }
}
