//! Polynomials with integer coefficients over atoms. Equality of values of this type is equality as polynomials in which every
//! 0/1 atom is its own square.
//! Trusted: field, bytes, leaks.

use santoku_num::Int;
use std::collections::BTreeMap;
use std::rc::Rc;

/// An integer that one execution has. Odd numbers are those that are 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Atom(u32);

impl Atom {
    pub fn new(nr: usize, boolean: bool) -> Option<Atom> {
        let nr = u32::try_from(nr).ok()?.checked_mul(2)?;
        Some(Atom(nr + u32::from(boolean)))
    }
    pub fn nr(self) -> usize {
        (self.0 / 2) as usize
    }
    pub fn is_bool(self) -> bool {
        self.0 % 2 == 1
    }
}

/// A product of powers of atoms: atoms ascending, exponents positive, those of 0/1 atoms 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mono(Rc<[(Atom, Int)]>);

impl Mono {
    pub fn atom(a: Atom) -> Mono {
        Mono([(a, Int::Small(1))].into())
    }
    pub fn factors(&self) -> &[(Atom, Int)] {
        &self.0
    }
    pub fn is_one(&self) -> bool {
        self.0.is_empty()
    }
    pub fn exponent(&self, a: Atom) -> Option<&Int> {
        self.0.iter().find(|f| f.0 == a).map(|f| &f.1)
    }
    pub fn without(&self, a: Atom) -> Mono {
        Mono(self.0.iter().filter(|f| f.0 != a).cloned().collect())
    }
    /// What is left of it without the factors of `o`, if it has them.
    pub fn over(&self, o: &Mono) -> Option<Mono> {
        let mut left = self.0.to_vec();
        for (a, e) in o.factors() {
            let at = left.iter().position(|f| f.0 == *a)?;
            left[at].1 = left[at].1.sub(e);
            match left[at].1.is_negative() {
                true => return None,
                false if left[at].1 == Int::ZERO => drop(left.remove(at)),
                false => {}
            }
        }
        Some(Mono(left.into()))
    }
    pub fn mul(&self, o: &Mono) -> Mono {
        if self.is_one() || o.is_one() {
            return if o.is_one() { self } else { o }.clone();
        }
        let (mut out, mut i, mut j) = (Vec::with_capacity(self.0.len() + o.0.len()), 0, 0);
        while let (Some(x), Some(y)) = (self.0.get(i), o.0.get(j)) {
            match x.0.cmp(&y.0) {
                std::cmp::Ordering::Less => out.push(self.0[i].clone()),
                std::cmp::Ordering::Greater => out.push(o.0[j].clone()),
                std::cmp::Ordering::Equal => out.push((x.0, if x.0.is_bool() { Int::Small(1) } else { x.1.add(&y.1) })),
            }
            (i, j) = (i + usize::from(x.0 <= y.0), j + usize::from(y.0 <= x.0));
        }
        out.extend_from_slice(&self.0[i..]);
        out.extend_from_slice(&o.0[j..]);
        Mono(out.into())
    }
    /// `self^e`, `e > 0`.
    fn pow(&self, e: &Int) -> Mono {
        Mono(self.0.iter().map(|(a, k)| (*a, if a.is_bool() { k.clone() } else { k.mul(e) })).collect())
    }
}

/// Terms in ascending order of what they are of, without zero coefficients.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Poly(Rc<Vec<(Mono, Int)>>);

impl Poly {
    pub fn constant(c: impl Into<Int>) -> Poly {
        Poly::of([(Mono::default(), c.into())])
    }
    pub fn atom(a: Atom) -> Poly {
        Poly::of([(Mono::atom(a), Int::Small(1))])
    }
    pub fn of(terms: impl IntoIterator<Item = (Mono, Int)>) -> Poly {
        let mut all: Vec<(Mono, Int)> = terms.into_iter().collect();
        all.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        all.dedup_by(|next, kept| next.0 == kept.0 && { kept.1 = kept.1.add(&next.1); true });
        Poly::ascending(all)
    }
    /// Of terms that are in order, no two of the same.
    fn ascending(mut terms: Vec<(Mono, Int)>) -> Poly {
        terms.retain(|(_, c)| *c != Int::ZERO);
        Poly(Rc::new(terms))
    }
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = (&Mono, &Int)> {
        self.0.iter().map(|(m, c)| (m, c))
    }
    pub fn len(&self) -> usize {
        self.0.len()
    }
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }
    /// The term without atoms.
    pub fn constant_term(&self) -> Int {
        self.0.first().filter(|t| t.0.is_one()).map_or(Int::ZERO, |t| t.1.clone())
    }
    pub fn as_const(&self) -> Option<Int> {
        match self.0.len() {
            0 => Some(Int::ZERO),
            1 if self.0[0].0.is_one() => Some(self.0[0].1.clone()),
            _ => None,
        }
    }
    pub fn as_atom(&self) -> Option<Atom> {
        let (m, c) = self.0.first().filter(|_| self.0.len() == 1)?;
        match m.factors() {
            [(a, e)] if *c == Int::Small(1) && *e == Int::Small(1) => Some(*a),
            _ => None,
        }
    }
    pub fn atoms(&self) -> std::collections::BTreeSet<Atom> {
        self.0.iter().flat_map(|(m, _)| m.factors().iter().map(|f| f.0)).collect()
    }
    pub fn has(&self, a: Atom) -> bool {
        self.0.iter().any(|(m, _)| m.exponent(a).is_some())
    }
    /// `self + k * o`
    pub fn plus(&self, k: &Int, o: &Poly) -> Poly {
        if o.is_zero() {
            return self.clone();
        }
        let (mut out, mut own) = (Vec::with_capacity(self.len() + o.len()), self.0.iter().peekable());
        for (m, c) in o.terms() {
            while let Some(t) = own.next_if(|t| t.0 < *m) {
                out.push(t.clone());
            }
            let c = c.mul(k);
            out.push((m.clone(), own.next_if(|t| t.0 == *m).map_or_else(|| c.clone(), |t| t.1.add(&c))));
        }
        out.extend(own.cloned());
        Poly::ascending(out)
    }
    pub fn add(&self, o: &Poly) -> Poly {
        if self.len() < o.len() { o.plus(&Int::Small(1), self) } else { self.plus(&Int::Small(1), o) }
    }
    pub fn sub(&self, o: &Poly) -> Poly {
        self.plus(&Int::Small(-1), o)
    }
    pub fn scale(&self, k: &Int) -> Poly {
        Poly::default().plus(k, self)
    }
    pub fn shift(&self, k: impl Into<Int>) -> Poly {
        self.add(&Poly::constant(k))
    }
    pub fn mul(&self, o: &Poly) -> Poly {
        // Some at a time: most may be of the same.
        let rows = (1 << 16) / (o.len() + 1) + 1;
        let product = |some: &[(Mono, Int)]| Poly::of(some.iter().flat_map(|(m, c)| o.terms().map(move |(n, d)| (m.mul(n), c.mul(d)))));
        self.0.chunks(rows).fold(Poly::default(), |sum, some| sum.add(&product(some)))
    }
    /// `self^e`: of one term with coefficient 1 whatever `e` is, otherwise while it stays short.
    pub fn pow(&self, e: &Int, terms: usize) -> Option<Poly> {
        if *e == Int::ZERO {
            return Some(Poly::constant(1u8));
        }
        if let Some((m, _)) = self.0.first().filter(|(_, c)| self.0.len() == 1 && *c == Int::Small(1)) {
            return Some(Poly::of([(m.pow(e), Int::Small(1))]));
        }
        let mut out = self.clone();
        for _ in 1..e.to_u64().filter(|e| *e <= 4096)? {
            out = out.mul(self);
            let bits = out.terms().map(|(_, c)| c.bits()).max().unwrap_or(0);
            if out.len() > terms || bits > 1 << 16 {
                return None;
            }
        }
        Some(out)
    }
    /// Every coefficient into `0 .. m`.
    pub fn modulo(&self, m: &Int) -> Option<Poly> {
        Some(Poly::ascending(self.terms().map(|(t, c)| Some((t.clone(), c.mod_floor(m)?))).collect::<Option<_>>()?))
    }
    /// The coefficient of `a`, and the rest, where `a` occurs alone and to the first power only.
    pub fn linear_in(&self, a: Atom) -> Option<(Int, Poly)> {
        let at = self.0.binary_search_by(|t| t.0.cmp(&Mono::atom(a))).ok()?;
        let mut rest = self.0.to_vec();
        let (_, c) = rest.remove(at);
        rest.iter().all(|(m, _)| m.exponent(a).is_none()).then(|| (c, Poly(Rc::new(rest))))
    }
    /// With `a` replaced. `None`: a power of `by` is too long.
    pub fn replace(&self, a: Atom, by: &Poly, terms: usize) -> Option<Poly> {
        let (mut out, mut with): (Vec<(Mono, Int)>, BTreeMap<Int, Vec<(Mono, Int)>>) = (vec![], BTreeMap::new());
        for (m, c) in self.terms() {
            match m.exponent(a) {
                None => out.push((m.clone(), c.clone())),
                Some(e) => with.entry(e.clone()).or_default().push((m.without(a), c.clone())),
            }
        }
        let mut out = Poly::of(out);
        for (e, cofactor) in with {
            out = out.add(&Poly::of(cofactor).mul(&by.pow(&e, terms)?));
            if out.len() > terms {
                return None;
            }
        }
        Some(out)
    }
    /// With 0/1 atoms fixed; of several values of one the first counts.
    pub fn fixed(&self, at: &[(Atom, bool)]) -> Poly {
        let value = |f: &(Atom, Int)| at.iter().find(|(a, _)| *a == f.0).map(|(_, to)| *to);
        if self.0.iter().all(|(m, _)| m.factors().iter().all(|f| value(f).is_none())) {
            return self.clone();
        }
        let left = |m: &Mono| Mono(m.factors().iter().filter(|f| value(f).is_none()).cloned().collect());
        Poly::of(self.terms().filter(|(m, _)| m.factors().iter().all(|f| value(f) != Some(false))).map(|(m, c)| (left(m), c.clone())))
    }
    /// The terms whose coefficients `d` divides, divided, and the others.
    pub fn divided(&self, d: &Int) -> Option<(Poly, Poly)> {
        let (mut high, mut low) = (vec![], vec![]);
        for (m, c) in self.terms() {
            if c.mod_floor(d)? == Int::ZERO { high.push((m.clone(), c.div_floor(d)?)) } else { low.push((m.clone(), c.clone())) }
        }
        Some((Poly::ascending(high), Poly::ascending(low)))
    }
    /// `self = d high + low`, every coefficient of `low` more than `-d / 2` and at most `d / 2`.
    pub fn nearest(&self, d: &Int) -> Option<(Poly, Poly)> {
        let (mut high, mut low) = (vec![], vec![]);
        for (m, c) in self.terms() {
            let (q, r) = (c.div_floor(d)?, c.mod_floor(d)?);
            let (q, r) = if r.add(&r) > *d { (q.add(&Int::Small(1)), r.sub(d)) } else { (q, r) };
            high.push((m.clone(), q));
            low.push((m.clone(), r));
        }
        Some((Poly::ascending(high), Poly::ascending(low)))
    }
}

/// `x` with `a * x = 1` modulo `m`.
pub fn inverse(a: &Int, m: &Int) -> Option<Int> {
    let (mut r, mut s) = ((m.clone(), a.mod_floor(m)?), (Int::ZERO, Int::Small(1)));
    while r.1 != Int::ZERO {
        let q = r.0.div_floor(&r.1)?;
        r = (r.1.clone(), r.0.sub(&q.mul(&r.1)));
        s = (s.1.clone(), s.0.sub(&q.mul(&s.1)));
    }
    if r.0 == Int::Small(1) { s.0.mod_floor(m) } else { None }
}
