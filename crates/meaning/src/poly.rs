//! Polynomials with integer coefficients over atoms. Equality of values of this type is equality as polynomials in which every
//! 0/1 atom is its own square.
//! Trusted: field, bytes, leaks.

use santoku_ir::interp::Int;
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
pub struct Mono(Vec<(Atom, Int)>);

impl Mono {
    pub fn atom(a: Atom) -> Mono {
        Mono(vec![(a, Int::Small(1))])
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
        let mut left = self.0.clone();
        for (a, e) in &o.0 {
            let at = left.iter().position(|f| f.0 == *a)?;
            left[at].1 = left[at].1.sub(e);
            match left[at].1.is_negative() {
                true => return None,
                false if left[at].1 == Int::ZERO => drop(left.remove(at)),
                false => {}
            }
        }
        Some(Mono(left))
    }
    pub fn mul(&self, o: &Mono) -> Mono {
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
        Mono(out)
    }
    /// `self^e`, `e > 0`.
    fn pow(&self, e: &Int) -> Mono {
        Mono(self.0.iter().map(|(a, k)| (*a, if a.is_bool() { k.clone() } else { k.mul(e) })).collect())
    }
}

/// Without zero coefficients.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Poly(Rc<BTreeMap<Mono, Int>>);

impl Poly {
    pub fn constant(c: impl Into<Int>) -> Poly {
        Poly::of([(Mono::default(), c.into())])
    }
    pub fn atom(a: Atom) -> Poly {
        Poly::of([(Mono::atom(a), Int::Small(1))])
    }
    pub fn of(terms: impl IntoIterator<Item = (Mono, Int)>) -> Poly {
        let mut all = BTreeMap::new();
        terms.into_iter().for_each(|(m, c)| add_to(&mut all, m, &c));
        Poly(Rc::new(all))
    }
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = (&Mono, &Int)> {
        self.0.iter()
    }
    pub fn len(&self) -> usize {
        self.0.len()
    }
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }
    /// The term without atoms.
    pub fn constant_term(&self) -> Int {
        self.0.get(&Mono::default()).cloned().unwrap_or(Int::ZERO)
    }
    pub fn as_const(&self) -> Option<Int> {
        match self.0.len() {
            0 => Some(Int::ZERO),
            1 => self.0.get(&Mono::default()).cloned(),
            _ => None,
        }
    }
    pub fn as_atom(&self) -> Option<Atom> {
        let (m, c) = self.0.iter().next().filter(|_| self.0.len() == 1)?;
        match m.factors() {
            [(a, e)] if *c == Int::Small(1) && *e == Int::Small(1) => Some(*a),
            _ => None,
        }
    }
    pub fn atoms(&self) -> std::collections::BTreeSet<Atom> {
        self.0.keys().flat_map(|m| m.factors().iter().map(|f| f.0)).collect()
    }
    /// `self + k * o`
    pub fn plus(&self, k: &Int, o: &Poly) -> Poly {
        if o.is_zero() {
            return self.clone();
        }
        let mut out = self.clone();
        let own = Rc::make_mut(&mut out.0);
        o.terms().for_each(|(m, c)| add_to(own, m.clone(), &c.mul(k)));
        out
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
        let mut out = BTreeMap::new();
        for (m, c) in self.terms() {
            o.terms().for_each(|(n, d)| add_to(&mut out, m.mul(n), &c.mul(d)));
        }
        Poly(Rc::new(out))
    }
    /// `self^e`: of one term with coefficient 1 whatever `e` is, otherwise while it stays short.
    pub fn pow(&self, e: &Int, terms: usize) -> Option<Poly> {
        if *e == Int::ZERO {
            return Some(Poly::constant(1u8));
        }
        if let Some((m, _)) = self.0.iter().next().filter(|(_, c)| self.0.len() == 1 && **c == Int::Small(1)) {
            return Some(Poly::of([(m.pow(e), Int::Small(1))]));
        }
        let mut out = Poly::constant(1u8);
        for _ in 0..e.to_u64().filter(|e| *e <= 4096)? {
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
        Some(Poly::of(self.terms().map(|(t, c)| Some((t.clone(), c.mod_floor(m)?))).collect::<Option<Vec<_>>>()?))
    }
    /// The coefficient of `a`, and the rest, where `a` occurs alone and to the first power only.
    pub fn linear_in(&self, a: Atom) -> Option<(Int, Poly)> {
        let own = Mono::atom(a);
        let c = self.0.get(&own)?;
        let mut rest = BTreeMap::clone(&self.0);
        rest.remove(&own);
        rest.keys().all(|m| m.exponent(a).is_none()).then(|| (c.clone(), Poly(Rc::new(rest))))
    }
    /// With `a` replaced. `None`: a power of `by` is too long.
    pub fn replace(&self, a: Atom, by: &Poly, terms: usize) -> Option<Poly> {
        let (mut out, mut with): (Vec<(Mono, Int)>, BTreeMap<Int, Poly>) = (vec![], BTreeMap::new());
        for (m, c) in self.terms() {
            match m.exponent(a) {
                None => out.push((m.clone(), c.clone())),
                Some(e) => {
                    let at = with.entry(e.clone()).or_default();
                    *at = at.add(&Poly::of([(m.without(a), c.clone())]));
                }
            }
        }
        let mut out = Poly::of(out);
        for (e, cofactor) in with {
            out = out.add(&cofactor.mul(&by.pow(&e, terms)?));
            if out.len() > terms {
                return None;
            }
        }
        Some(out)
    }
    /// With a 0/1 atom fixed.
    pub fn fixed(&self, a: Atom, to: bool) -> Poly {
        if self.0.keys().all(|m| m.exponent(a).is_none()) {
            return self.clone();
        }
        Poly::of(self.terms().filter(|(m, _)| to || m.exponent(a).is_none()).map(|(m, c)| (m.without(a), c.clone())))
    }
    /// The terms whose coefficients `d` divides, divided, and the others.
    pub fn divided(&self, d: &Int) -> Option<(Poly, Poly)> {
        let (mut high, mut low) = (vec![], vec![]);
        for (m, c) in self.terms() {
            if c.mod_floor(d)? == Int::ZERO { high.push((m.clone(), c.div_floor(d)?)) } else { low.push((m.clone(), c.clone())) }
        }
        Some((Poly::of(high), Poly::of(low)))
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
        Some((Poly::of(high), Poly::of(low)))
    }
}

fn add_to(terms: &mut BTreeMap<Mono, Int>, m: Mono, c: &Int) {
    if *c == Int::ZERO {
        return;
    }
    match terms.entry(m) {
        std::collections::btree_map::Entry::Vacant(e) => {
            e.insert(c.clone());
        }
        std::collections::btree_map::Entry::Occupied(mut e) => {
            let sum = e.get().add(c);
            if sum == Int::ZERO {
                e.remove();
            } else {
                *e.get_mut() = sum;
            }
        }
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
