//! Polynomials with integer coefficients.

use super::mono::{Atom, Exp, Mono};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Zero};
use std::collections::{btree_map, BTreeMap, BTreeSet};
use std::rc::Rc;

/// No coefficient is zero, so that equality of polynomials is equality of values of this type. Copies share their terms until
/// one of them changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Poly {
    terms: Rc<BTreeMap<Mono, BigInt>>,
}

impl Poly {
    pub fn zero() -> Poly {
        Poly::default()
    }
    pub fn constant(c: impl Into<BigInt>) -> Poly {
        let mut p = Poly::zero();
        p.add_term(Mono::one(), c.into());
        p
    }
    pub fn atom(a: Atom) -> Poly {
        let mut p = Poly::zero();
        p.add_term(Mono::atom(a), BigInt::one());
        p
    }
    pub fn term(m: Mono, c: BigInt) -> Poly {
        let mut p = Poly::zero();
        p.add_term(m, c);
        p
    }
    pub fn from_terms(it: impl IntoIterator<Item = (Mono, BigInt)>) -> Poly {
        let mut p = Poly::zero();
        for (m, c) in it {
            p.add_term(m, c);
        }
        p
    }
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }
    pub fn len(&self) -> usize {
        self.terms.len()
    }
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = (&Mono, &BigInt)> {
        self.terms.iter()
    }
    pub fn coeff(&self, m: &Mono) -> BigInt {
        self.terms.get(m).cloned().unwrap_or_default()
    }
    pub fn as_const(&self) -> Option<BigInt> {
        match self.terms.len() {
            0 => Some(BigInt::zero()),
            1 => self.terms.iter().next().and_then(|(m, c)| m.is_one().then(|| c.clone())),
            _ => None,
        }
    }
    /// The atom, if this is exactly one atom.
    pub fn as_atom(&self) -> Option<Atom> {
        match self.terms.len() {
            1 => self.terms.iter().next().and_then(|(m, c)| if c.is_one() { m.as_atom() } else { None }),
            _ => None,
        }
    }
    pub fn constant_part(&self) -> BigInt {
        self.coeff(&Mono::one())
    }
    pub fn add_term(&mut self, m: Mono, c: BigInt) {
        add_to(Rc::make_mut(&mut self.terms), m, c);
    }
    /// `self += c * o`
    pub fn add_scaled(&mut self, o: &Poly, c: &BigInt) {
        let own = Rc::make_mut(&mut self.terms);
        for (m, v) in o.terms() {
            add_to(own, m.clone(), v * c);
        }
    }
    /// `self += c * m * o`
    pub fn add_shifted(&mut self, o: &Poly, m: &Mono, c: &BigInt) {
        let own = Rc::make_mut(&mut self.terms);
        for (n, v) in o.terms() {
            add_to(own, n.mul(m), v * c);
        }
    }
    pub fn add(&self, o: &Poly) -> Poly {
        let (big, small) = if self.len() >= o.len() { (self, o) } else { (o, self) };
        if small.is_zero() {
            return big.clone();
        }
        let mut r = big.clone();
        let own = Rc::make_mut(&mut r.terms);
        for (m, v) in small.terms() {
            add_to(own, m.clone(), v.clone());
        }
        r
    }
    pub fn sub(&self, o: &Poly) -> Poly {
        if o.is_zero() {
            return self.clone();
        }
        let mut r = self.clone();
        r.add_scaled(o, &BigInt::from(-1));
        r
    }
    pub fn neg(&self) -> Poly {
        self.scale(&BigInt::from(-1))
    }
    pub fn scale(&self, c: &BigInt) -> Poly {
        if c.is_zero() {
            return Poly::zero();
        }
        if c.is_one() {
            return self.clone();
        }
        Poly { terms: Rc::new(self.terms().map(|(m, v)| (m.clone(), v * c)).collect()) }
    }
    pub fn mul(&self, o: &Poly) -> Poly {
        let mut r = Poly::zero();
        for (m, c) in self.terms() {
            r.add_shifted(o, m, c);
        }
        r
    }
    /// Repeated squaring; a single term takes any exponent, a sum only while the result stays under `terms_max`.
    pub fn pow(&self, e: &Exp, modulus: Option<&BigInt>, terms_max: usize) -> Option<Poly> {
        if self.len() == 1 {
            let (m, c) = self.terms.iter().next()?;
            let big = e.to_big();
            let c = match modulus {
                Some(p) => c.mod_floor(p).modpow(&BigInt::from(big), p),
                None if c.is_one() => c.clone(),
                None => num_traits::pow(c.clone(), usize::try_from(e.small().filter(|v| *v < 4096)?).ok()?),
            };
            return Some(Poly::term(m.pow(e), c));
        }
        let mut n = e.small().filter(|v| *v <= 64)?;
        let mut r = Poly::constant(1);
        let mut b = self.clone();
        while n > 0 {
            if n & 1 == 1 {
                r = r.mul(&b);
            }
            n >>= 1;
            if n > 0 {
                b = b.mul(&b);
            }
            if r.len().max(b.len()) > terms_max {
                return None;
            }
        }
        Some(match modulus {
            Some(p) => r.reduce_coeffs(p),
            None => r,
        })
    }
    /// Coefficients into `0 .. p`.
    pub fn reduce_coeffs(&self, p: &BigInt) -> Poly {
        Poly::from_terms(self.terms.iter().map(|(m, c)| (m.clone(), c.mod_floor(p))))
    }
    pub fn atoms(&self) -> BTreeSet<Atom> {
        self.terms.keys().flat_map(|m| m.factors().iter().map(|f| f.0)).collect()
    }
    pub fn has(&self, a: Atom) -> bool {
        self.terms.keys().any(|m| m.has(a))
    }
    /// Coefficient of `a` if `a` occurs in no other monomial than itself.
    pub fn linear_in(&self, a: Atom) -> Option<BigInt> {
        let own = Mono::atom(a);
        let c = self.terms.get(&own)?;
        self.terms.keys().all(|m| *m == own || !m.has(a)).then(|| c.clone())
    }
    /// Every monomial is one atom or the constant.
    pub fn is_linear(&self) -> bool {
        self.terms.keys().all(|m| m.is_one() || m.as_atom().is_some())
    }
    pub fn eval(&self, f: &mut impl FnMut(Atom) -> Option<BigInt>) -> Option<BigInt> {
        let mut s = BigInt::zero();
        for (m, c) in self.terms() {
            let mut t = c.clone();
            for (a, e) in m.factors() {
                let v = f(*a)?;
                t *= match e.small()? {
                    1 => v,
                    e => num_traits::pow(v, usize::try_from(e).ok()?),
                };
            }
            s += t;
        }
        Some(s)
    }
    /// Replaces the boolean `a` by 0 or 1.
    pub fn with_bool(&self, a: Atom, v: bool) -> Poly {
        if !self.has(a) {
            return self.clone();
        }
        Poly::from_terms(self.terms.iter().filter(|(m, _)| v || !m.has(a)).map(|(m, c)| (m.without(a), c.clone())))
    }
    /// Largest `t` such that `2^t` divides every coefficient; `None` for zero.
    pub fn trailing_zeros(&self) -> Option<u64> {
        self.terms.values().filter_map(|c| c.trailing_zeros()).min()
    }
    /// Exact division of all coefficients by `2^k`.
    pub fn shr_exact(&self, k: u32) -> Poly {
        Poly { terms: Rc::new(self.terms().map(|(m, c)| (m.clone(), c >> k)).collect()) }
    }
}

fn add_to(terms: &mut BTreeMap<Mono, BigInt>, m: Mono, c: BigInt) {
    if c.is_zero() {
        return;
    }
    match terms.entry(m) {
        btree_map::Entry::Vacant(e) => {
            e.insert(c);
        }
        btree_map::Entry::Occupied(mut e) => {
            *e.get_mut() += c;
            if e.get().is_zero() {
                e.remove();
            }
        }
    }
}

/// `p` with `a := def`. `None` when a power of `def` cannot be written out.
pub fn substitute(p: &Poly, a: Atom, def: &Poly, modulus: Option<&BigInt>) -> Option<Poly> {
    let mut out = Poly::zero();
    let mut by_exp: BTreeMap<Exp, Poly> = BTreeMap::new();
    for (m, c) in p.terms() {
        match m.exp_of(a) {
            None => out.add_term(m.clone(), c.clone()),
            Some(e) => by_exp.entry(e.clone()).or_default().add_term(m.without(a), c.clone()),
        }
    }
    for (e, cofactor) in by_exp {
        let d = if e == Exp::Small(1) { def.clone() } else { def.pow(&e, modulus, 20_000)? };
        for (m, c) in cofactor.terms() {
            out.add_shifted(&d, m, c);
        }
    }
    Some(match modulus {
        Some(p) => out.reduce_coeffs(p),
        None => out,
    })
}
