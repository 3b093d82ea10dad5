//! `x >> k` and `x mod 2^k` of a polynomial, in a canonical form: parts that are multiples of `2^k`, and parts that
//! only fill low bits, are separated first; shifts of shifts and remainders of remainders are merged. What is left
//! becomes a pair of atoms `x = 2^k q + r`, the same pair for the same `(x, k)`.

use super::num::Num;
use super::atoms::{Atoms, Def, Quot};
use crate::itv::Itv;
use super::mono::{Atom, Mono};
use super::poly::{self, Poly};
use super::reduce;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use santoku_num::Int;
use std::collections::BTreeSet;

fn pow2(k: u32) -> BigInt {
    BigInt::one() << k
}

impl Atoms {
    pub fn num(&self, p: Poly) -> Num {
        let iv = self.poly_iv(&p);
        Num { p, iv }
    }

    /// `(x >> k, x mod 2^k)`: floor, so `0 <= remainder < 2^k` always.
    pub fn split(&mut self, x: &Num, k: u32) -> (Num, Num) {
        let iv = x.iv.meet(&self.poly_iv(&x.p));
        let (q, r) = self.split_poly(&x.p, &iv, k);
        let q_iv = iv.shr(k).meet(&self.poly_iv(&q));
        let r_iv = Itv::new(0, pow2(k) - 1).meet(&self.poly_iv(&r));
        (Num { p: q, iv: q_iv }, Num { p: r, iv: r_iv })
    }

    fn split_poly(&mut self, x: &Poly, iv: &Itv, k: u32) -> (Poly, Poly) {
        if k == 0 {
            return (x.clone(), Poly::zero());
        }
        if let Some(v) = iv.shr(k).single() {
            return (Poly::constant(v.clone()), x.sub(&Poly::constant(v.shl(k))));
        }
        if let Some(res) = self.split_multiples(x, iv, k) {
            return res;
        }
        if let Some(res) = self.split_low_part(x, k) {
            return res;
        }
        if let Some(res) = self.split_nested(x, k) {
            return res;
        }
        if let Some(res) = split_booleans(x, k) {
            return res;
        }
        self.split_fresh(x, iv, k)
    }

    /// Terms whose coefficient `2^k` divides go to the quotient at once.
    fn split_multiples(&mut self, x: &Poly, iv: &Itv, k: u32) -> Option<(Poly, Poly)> {
        let (mut high, mut low) = (Poly::zero(), Poly::zero());
        for (m, c) in x.terms() {
            let whole = c.trailing_zeros().is_some_and(|t| t >= u64::from(k));
            if whole { &mut high } else { &mut low }.add_term(m.clone(), c.clone());
        }
        if high.is_zero() {
            return None;
        }
        let low_iv = self.poly_iv(&low).meet(&iv.add(&self.poly_iv(&high).neg()));
        let (q, r) = self.split_poly(&low, &low_iv, k);
        Some((q.add(&high.shr_exact(k)), r))
    }

    /// `x = low + 2^t high` with `0 <= low < 2^t`, `t <= k`: only `high` is really shifted.
    fn split_low_part(&mut self, x: &Poly, k: u32) -> Option<(Poly, Poly)> {
        let mut cuts: Vec<u32> =
            x.terms().filter_map(|(_, c)| c.trailing_zeros()).filter_map(|t| t.to_u32()).filter(|t| *t > 0 && *t < k).collect();
        cuts.sort_unstable();
        cuts.dedup();
        for t in cuts.into_iter().rev() {
            let (mut high, mut low) = (Poly::zero(), Poly::zero());
            for (m, c) in x.terms() {
                let up = c.trailing_zeros().is_some_and(|z| z >= u64::from(t));
                if up { &mut high } else { &mut low }.add_term(m.clone(), c.clone());
            }
            if self.poly_iv(&low).fits(t) {
                let high = high.shr_exact(t);
                let iv = self.poly_iv(&high);
                let (q, r) = self.split_poly(&high, &iv, k - t);
                return Some((q, low.add(&r.scale(&pow2(t)))));
            }
        }
        None
    }

    /// Shift of a shift, remainder of a remainder.
    fn split_nested(&mut self, x: &Poly, k: u32) -> Option<(Poly, Poly)> {
        let a = x.as_atom()?;
        let info = self.info(a);
        if let Some((y, j)) = info.rem_of.clone() {
            if k < j {
                let iv = self.poly_iv(&y);
                let (q, r) = self.split_poly(&y, &iv, k);
                let q_iv = self.poly_iv(&q);
                return Some((self.split_poly(&q, &q_iv, j - k).1, r));
            }
        }
        let quot = self.info(a).quot.as_ref().filter(|q| q.base.is_zero() && q.sign == 1)?;
        let (divided, by) = (quot.x.clone(), quot.k + k);
        if let Some(hit) = self.splits.get(&(x.clone(), k)) {
            return Some(hit.clone());
        }
        let iv = self.poly_iv(&divided);
        let (q, _) = self.split_poly(&divided, &iv, by);
        let r = self.remainder_atom(x, &q, k);
        self.splits.insert((x.clone(), k), (q.clone(), r.clone()));
        Some((q, r))
    }

    fn remainder_atom(&mut self, x: &Poly, q: &Poly, k: u32) -> Poly {
        let mut def = x.clone();
        def.add_scaled(q, &-pow2(k));
        let sim = self.sim(&def);
        let n = self.len();
        let a = self.make(format!("r{n}"), Itv::new(0, pow2(k) - 1), k == 1, sim);
        let i = self.info_mut(a);
        i.def = Some(Def::Exact(def));
        i.rem_of = Some((x.clone(), k));
        Poly::atom(a)
    }

    fn split_fresh(&mut self, x: &Poly, iv: &Itv, k: u32) -> (Poly, Poly) {
        // A quotient of -1 or 0 is the sign of x, whatever k: use the smallest.
        let sign_bits = sign_width(iv).filter(|n| *n < k);
        let (q, known) = match sign_bits {
            Some(n) => (self.split_poly(x, iv, n).0, None),
            None => match self.splits.get(&(x.clone(), k)) {
                Some(hit) => return hit.clone(),
                None => match self.constant_low(x, k) {
                    Some(c) => (self.quotient_atom(x, iv, k, Some(&c)), Some(c)),
                    None => (self.quotient_atom(x, iv, k, None), None),
                },
            },
        };
        if let (Some(_), Some(hit)) = (sign_bits, self.splits.get(&(x.clone(), k))) {
            return hit.clone();
        }
        let r = match known {
            Some(c) => Poly::constant(c),
            None => self.remainder_atom(x, &q, k),
        };
        if let Some(a) = q.atoms().into_iter().next() {
            if let Some(quot) = self.info_mut(a).quot.as_mut().filter(|t| t.k == k && t.x == *x) {
                quot.rem = r.clone();
            }
        }
        self.splits.insert((x.clone(), k), (q.clone(), r.clone()));
        (q, r)
    }

    /// `x >> k` as a new atom, or as `v + c`, `-c` with a boolean `c` when it has only two values.
    fn quotient_atom(&mut self, x: &Poly, iv: &Itv, k: u32, low: Option<&BigInt>) -> Poly {
        let q_iv = Itv::shr(iv, k);
        let (base, sign, boolean) = match (q_iv.lo.at(), q_iv.hi.at()) {
            (Some(lo), Some(hi)) if hi.sub(lo) == Int::ONE => {
                if lo.is_negative() && hi.is_zero() {
                    (BigInt::zero(), -1, true)
                } else {
                    (lo.to_big(), 1, true)
                }
            }
            _ => (BigInt::zero(), 1, false),
        };
        let sim = self.sim(x).map(|s| s.iter().map(|v| ((v >> k) - &base) * sign).collect());
        let n = self.len();
        let a_iv = if boolean { Itv::new(0, 1) } else { q_iv };
        let a = self.make(format!("{}{n}", if boolean { "c" } else { "q" }), a_iv, boolean, sim);
        let rem = low.map_or_else(Poly::zero, |c| Poly::constant(c.clone()));
        if let Some(c) = low {
            // 2^k (base + sign a) = x - c
            let mut d = x.clone();
            d.add_term(Mono::one(), -(c + (&base << k)));
            self.info_mut(a).def = Some(Def::Frac(d.scale(&BigInt::from(sign)), k));
        }
        self.info_mut(a).quot = Some(Quot { x: x.clone(), k, rem, base: base.clone(), sign });
        let mut q = Poly::constant(base);
        q.add_term(Mono::atom(a), BigInt::from(sign));
        q
    }

    /// The constant that `x mod 2^k` is, when the samples suggest one and substitution modulo `2^k` proves it.
    fn constant_low(&self, x: &Poly, k: u32) -> Option<BigInt> {
        if self.samples() < 4 || x.len() > 400 {
            return None;
        }
        let m = pow2(k);
        let sim = self.sim(x)?;
        let c = sim[0].mod_floor(&m);
        if sim.iter().any(|v| v.mod_floor(&m) != c) {
            return None;
        }
        let goal = x.sub(&Poly::constant(c.clone()));
        let rest = reduce::eliminate(self, &goal, Some(&m), &reduce::Limits { steps: 64, terms: 2000, names: false })?;
        rest.is_zero().then_some(c)
    }

    /// 1 where `d < 0`, else 0.
    pub fn is_negative(&mut self, d: &Num) -> Poly {
        let iv = d.iv.meet(&self.poly_iv(&d.p));
        if iv.is_nonneg() {
            return Poly::zero();
        }
        if iv.below(&BigInt::zero()) {
            return Poly::constant(1);
        }
        if let Some(p) = self.sign_by_cases(&d.p) {
            return p;
        }
        match sign_width(&iv) {
            Some(n) => self.split_poly(&d.p, &iv, n).0.neg(),
            None => self.opaque("lt", Itv::new(0, 1)),
        }
    }

    /// The sign as a function of the boolean atoms alone, after expanding remainders one step where that helps:
    /// `(a + b) mod 2^w < a` is the carry of `a + b`.
    fn sign_by_cases(&self, d: &Poly) -> Option<Poly> {
        let mut forms = vec![d.clone()];
        for a in d.atoms() {
            if let (Some(Def::Exact(def)), Some(_)) = (&self.info(a).def, &self.info(a).rem_of) {
                forms.extend(poly::substitute(d, a, def, None));
            }
        }
        forms.iter().find_map(|f| self.decide_by_cases(f, |iv| if iv.is_nonneg() { Some(false) } else { iv.below(&BigInt::zero()).then_some(true) }))
    }

    fn decide_by_cases(&self, f: &Poly, decide: impl Fn(&Itv) -> Option<bool>) -> Option<Poly> {
        let bools: Vec<Atom> = f.atoms().into_iter().filter(|a| a.is_bool()).collect();
        if bools.len() > 3 {
            return None;
        }
        interpolate(&bools, |vals| {
            let mut g = f.clone();
            for (a, v) in bools.iter().zip(vals) {
                g = g.with_bool(*a, *v);
            }
            decide(&self.poly_iv(&g)).map(|b| Poly::constant(i32::from(b)))
        })
    }

    /// 1 where `d == 0`, else 0.
    pub fn is_zero(&mut self, d: &Num) -> Poly {
        let iv = d.iv.meet(&self.poly_iv(&d.p));
        if !iv.holds(&BigInt::zero()) {
            return Poly::zero();
        }
        if d.p.is_zero() {
            return Poly::constant(1);
        }
        let zero = |iv: &Itv| if iv.holds(&BigInt::zero()) { iv.single().map(|_| true) } else { Some(false) };
        if let Some(p) = self.decide_by_cases(&d.p, zero) {
            return p;
        }
        let first_negative = d.p.terms().next_back().is_some_and(|(_, c)| c.is_negative());
        let key = if first_negative { d.p.neg() } else { d.p.clone() };
        if let Some(a) = self.eqs.get(&key) {
            return Poly::atom(*a);
        }
        let sim = self.sim(&key).map(|s| s.iter().map(|v| BigInt::from(i32::from(v.is_zero()))).collect());
        let n = self.len();
        let a = self.make(format!("eq{n}"), Itv::new(0, 1), true, sim);
        self.eqs.insert(key, a);
        Poly::atom(a)
    }

    /// The atoms among these that say of a polynomial that it is 0, each with the polynomial, oldest first.
    pub fn tested_zero(&self, atoms: &BTreeSet<Atom>) -> Vec<(Atom, Poly)> {
        if !atoms.iter().any(|a| a.is_bool()) {
            return Vec::new();
        }
        let mut out: Vec<(Atom, Poly)> = self.eqs.iter().filter(|(_, a)| atoms.contains(a)).map(|(p, a)| (*a, p.clone())).collect();
        out.sort_by_key(|(a, _)| *a);
        out
    }
}

/// Smallest `n` with `-2^n <= x < 2^n`, if x may have either sign.
fn sign_width(iv: &Itv) -> Option<u32> {
    let (lo, hi) = (iv.lo.at()?, iv.hi.at()?);
    if !lo.is_negative() || hi.is_negative() {
        return None;
    }
    let n = lo.neg().sub(&Int::ONE).bits().max(hi.bits());
    n.to_u32()
}

/// The multilinear polynomial in `bools` with the given value at every corner.
pub fn interpolate(bools: &[Atom], mut f: impl FnMut(&[bool]) -> Option<Poly>) -> Option<Poly> {
    let mut out = Poly::zero();
    for corner in 0..1u32 << bools.len() {
        let vals: Vec<bool> = (0..bools.len()).map(|i| corner >> i & 1 == 1).collect();
        let mut w = f(&vals)?;
        for (a, v) in bools.iter().zip(&vals) {
            let b = Poly::atom(*a);
            w = w.mul(&if *v { b } else { Poly::constant(1).sub(&b) });
        }
        out = out.add(&w);
    }
    Some(out)
}

/// A polynomial in at most three booleans is a table: shift and mask entry by entry.
fn split_booleans(x: &Poly, k: u32) -> Option<(Poly, Poly)> {
    let bools: Vec<Atom> = x.atoms().into_iter().collect();
    if bools.len() > 3 || !bools.iter().all(|a| a.is_bool()) {
        return None;
    }
    let entry = |vals: &[bool]| {
        x.eval(&mut |a| bools.iter().position(|b| *b == a).map(|j| BigInt::from(i32::from(vals[j]))))
    };
    let q = interpolate(&bools, |v| entry(v).map(|c| Poly::constant(c >> k)))?;
    let r = interpolate(&bools, |v| entry(v).map(|c| Poly::constant(c.mod_floor(&pow2(k)))))?;
    Some((q, r))
}
