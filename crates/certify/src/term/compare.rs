//! Comparisons: terms that are 0 or 1.

use super::atom::{Atom, AtomInfo};
use super::{Terms, A, T};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

/// Rules nest up to this depth; a term met deeper is kept as it is.
const DEPTH_MAX: u32 = 48;
/// Comparisons and divisions that one of them leads to, before terms are kept as they are: cases of n bits can be 2^n.
const WORK_MAX: u32 = 1 << 12;
/// Terms of more summands are not taken apart by cases.
const CASES_MAX: usize = 64;
/// Comparisons of sums of at most this many bits are written out as polynomials.
const BITS_MAX: usize = 3;

impl Terms {
    /// `[a < b]`
    pub fn lt(&mut self, a: T, b: T) -> T {
        let d = self.sub(a, b);
        self.lt0(d)
    }

    /// `[a == b]`
    pub fn eq(&mut self, a: T, b: T) -> T {
        let d = self.sub(a, b);
        self.eq0(d)
    }

    /// `1 - a`
    pub fn not_bit(&mut self, a: T) -> T {
        self.sub(Terms::ONE, a)
    }

    /// `[t < 0]`
    pub fn lt0(&mut self, t: T) -> T {
        if let Some(r) = self.below.get(&t) {
            return *r;
        }
        let r = self.decide("lt0", t, Terms::below_zero, |v| v.is_negative());
        self.below.insert(t, r);
        r
    }

    /// Rules begin to work on a term; [`Terms::end`] ends that.
    pub(crate) fn begin(&mut self) {
        self.work = if self.depth == 0 { 1 } else { self.work + 1 };
        self.depth += 1;
    }

    pub(crate) fn end(&mut self) {
        self.depth -= 1;
    }

    /// Rules nest too deep, or one operation leads to too many: the term is kept as it is.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.depth > DEPTH_MAX || self.work > WORK_MAX
    }

    /// A property of a term, by its rules.
    fn decide(&mut self, name: &str, t: T, rules: fn(&mut Terms, T) -> T, holds: fn(&BigInt) -> bool) -> T {
        self.begin();
        let r = rules(self, t);
        self.end();
        self.note_range(r, &BigInt::zero(), &BigInt::one());
        self.check(name, r, |s, n| BigInt::from(u8::from(holds(s.sample(t, n)))))
    }

    fn below_zero(&mut self, t: T) -> T {
        let (lo, hi) = self.range(t);
        if !lo.is_negative() {
            return Terms::ZERO;
        }
        if hi.is_negative() {
            return Terms::ONE;
        }
        if lo == -BigInt::one() && hi.is_zero() {
            return self.neg(t);
        }
        if self.is_too_deep() {
            return self.bit_atom(Atom::Neg(t), t, |v| v.is_negative());
        }
        if let Some(r) = self.top_bit(t) {
            return r;
        }
        // The zero tests of bitwise values come first.
        if lo == -BigInt::one() {
            let x = self.add(t, Terms::ONE);
            if self.or_parts.contains_key(&x) || self.xor_parts.contains_key(&x) {
                return self.eq0(x);
            }
        }
        if hi.is_zero() {
            let x = self.neg(t);
            if self.or_parts.contains_key(&x) || self.xor_parts.contains_key(&x) {
                let z = self.eq0(x);
                return self.not_bit(z);
            }
        }
        let t = self.primitive(t);
        if let Some(r) = self.carry_of_name(t) {
            return r;
        }
        if let Some(r) = self.by_cases(t, |v| v.is_negative()) {
            return r;
        }
        if let Some(r) = self.by_values(t, |v| v.is_negative()) {
            return r;
        }
        if let Some(bit) = self.bit_beside(t) {
            return self.in_cases(t, bit, Terms::lt0);
        }
        if let Some((high, _)) = self.drop_low(t, u32::MAX) {
            return self.lt0(high);
        }
        // The sign is also the floor quotient by 2^k for a k that is large enough.
        let k = self.spread(t);
        if let Some((whole, rest)) = self.multiples(t, k) {
            let low = self.div2k(rest, k);
            let quotient = self.add(whole, low);
            return self.neg(quotient);
        }
        if let Some((joined, _)) = self.flatten(t) {
            return self.lt0(joined);
        }
        if lo == -BigInt::one() {
            let t = self.add(t, Terms::ONE);
            return self.eq0(t);
        }
        if hi.is_zero() {
            let z = self.eq0(t);
            return self.not_bit(z);
        }
        if self.poly(t).last().is_some_and(|(_, c)| c.is_negative()) {
            let other = self.flip(t);
            let r = self.lt0(other);
            return self.not_bit(r);
        }
        self.bit_atom(Atom::Neg(t), t, |v| v.is_negative())
    }

    /// The sign of a two's complement reading ([`Terms::signed`]) of w bits is bit w - 1.
    fn top_bit(&mut self, t: T) -> Option<T> {
        for (m, c) in self.poly(t).clone().iter().rev() {
            let [a] = self.monos[*m as usize][..] else { continue };
            let Atom::Div(r, w) = self.atoms[a as usize].atom else { continue };
            if *c != -(BigInt::one() << w) {
                continue;
            }
            let rest = self.without_summand(t, *m);
            let d = self.sub(r, rest);
            if self.as_const(d) == Some(BigInt::one() << (w - 1)) {
                let (low, high) = (self.div2k(rest, w - 1), self.div2k(rest, w));
                return Some(self.combine(low, &BigInt::from(-2), high));
            }
        }
        None
    }

    /// A named word below one of its summands, or above what it was taken from: the carry or borrow that the word is without.
    fn carry_of_name(&mut self, t: T) -> Option<T> {
        let k = self.spread(t);
        for (m, c) in self.poly(t).clone().iter() {
            let [a] = self.monos[*m as usize][..] else { continue };
            let Atom::Name(p) = self.atoms[a as usize].atom else { continue };
            if !c.magnitude().is_one() || self.atom_is_bit(a) {
                continue;
            }
            let rest = self.without_summand(t, *m);
            let opened = self.combine(rest, c, p);
            let Some((whole, low)) = self.multiples(opened, k) else { continue };
            let (least, most) = self.range(low);
            let floor = least >> k;
            if most >> k == floor {
                let floor = self.int(floor);
                let quotient = self.add(whole, floor);
                return Some(self.neg(quotient));
            }
            let minus = self.neg(rest);
            if self.is_bit(minus) {
                let known = self.atoms.len();
                let low = self.div2k(low, k);
                if self.poly(low).len() <= 1 && self.atoms.len() == known {
                    let quotient = self.add(whole, low);
                    return Some(self.neg(quotient));
                }
            }
        }
        None
    }

    fn bit_atom(&mut self, atom: Atom, t: T, holds: fn(&BigInt) -> bool) -> T {
        let spread = self.spread(t);
        self.atom(atom.clone(), |s| AtomInfo {
            atom,
            lo: BigInt::zero(),
            hi: BigInt::one(),
            public: s.public(t),
            values: (0..s.samples).map(|n| BigInt::from(u8::from(holds(s.sample(t, n))))).collect(),
            spread,
        })
    }

    /// Divides by the common factor of all coefficients but the constant's, which is rounded down: the sign stays.
    fn primitive(&mut self, t: T) -> T {
        let g = self.content(t);
        if g.is_one() || g.is_zero() {
            return t;
        }
        let p = self.poly(t).iter().map(|(m, c)| (*m, c.div_floor(&g))).filter(|(_, c)| !c.is_zero()).collect();
        let q = self.intern(p);
        let (lo, hi) = self.range(t);
        self.note_range(q, &lo.div_floor(&g), &hi.div_floor(&g));
        q
    }

    /// The common factor of all coefficients but the constant's; 0 for constants.
    pub(crate) fn content(&self, t: T) -> BigInt {
        self.poly(t).iter().filter(|(m, _)| *m != 0).fold(BigInt::zero(), |g, (_, c)| g.gcd(c))
    }

    /// A property of a polynomial in few bits alone, as a polynomial in these bits.
    fn by_cases(&mut self, t: T, holds: fn(&BigInt) -> bool) -> Option<T> {
        let mut bits: Vec<A> = vec![];
        for (m, _) in self.poly(t).iter() {
            for a in &self.monos[*m as usize] {
                if !self.atom_is_bit(*a) {
                    return None;
                }
                if !bits.contains(a) {
                    bits.push(*a);
                    if bits.len() > BITS_MAX {
                        return None;
                    }
                }
            }
        }
        Some(self.cases(t, &bits, holds))
    }

    fn cases(&mut self, t: T, bits: &[A], holds: fn(&BigInt) -> bool) -> T {
        let Some((a, rest)) = bits.split_first() else {
            let v = self.as_const(t).unwrap_or_default();
            return self.int(u8::from(holds(&v)));
        };
        let (t0, t1) = (self.with_bit(t, *a, false), self.with_bit(t, *a, true));
        let (r0, r1) = (self.cases(t0, rest, holds), self.cases(t1, rest, holds));
        let bit = self.atom_term(*a);
        self.ite_raw(bit, r1, r0)
    }

    /// The polynomial with the bit `a` set to a constant.
    pub(crate) fn with_bit(&mut self, t: T, a: A, one: bool) -> T {
        self.substitute(t, a, one, false)
    }

    /// [`Terms::with_bit`]; if asked for, bits that `a` excludes go with it.
    fn substitute(&mut self, t: T, a: A, one: bool, others: bool) -> T {
        let mut sum = std::collections::BTreeMap::new();
        for (m, c) in self.poly(t).clone().iter() {
            let mut atoms = self.monos[*m as usize].clone();
            let before = atoms.len();
            atoms.retain(|x| *x != a);
            if atoms.len() < before && !one || others && one && atoms.iter().any(|x| self.exclude(*x, a)) {
                continue;
            }
            *sum.entry(self.mono(atoms)).or_insert_with(BigInt::zero) += c;
        }
        self.intern(sum.into_iter().filter(|(_, c)| !c.is_zero()).collect())
    }

    /// A bit that multiplies something else: what follows is settled in its two cases.
    pub(crate) fn bit_beside(&self, t: T) -> Option<A> {
        let p = self.poly(t);
        if p.len() > CASES_MAX {
            return None;
        }
        p.iter().rev().find_map(|(m, _)| {
            let atoms = &self.monos[*m as usize];
            let bit = atoms.iter().rev().copied().find(|a| self.atom_is_bit(*a))?;
            atoms.iter().any(|a| !self.atom_is_bit(*a)).then_some(bit)
        })
    }

    /// A function of a term, from its values in the two cases of a bit.
    pub(crate) fn in_cases(&mut self, t: T, bit: A, f: impl Fn(&mut Terms, T) -> T) -> T {
        let (t0, t1) = (self.with_bit(t, bit, false), self.substitute(t, bit, true, true));
        let (r0, r1) = (f(self, t0), f(self, t1));
        let c = self.atom_term(bit);
        self.ite_raw(c, r1, r0)
    }

    /// `[t == 0]`
    pub fn eq0(&mut self, t: T) -> T {
        if let Some(r) = self.zero.get(&t) {
            return *r;
        }
        let r = self.decide("eq0", t, Terms::is_zero, |v| v.is_zero());
        self.zero.insert(t, r);
        r
    }

    fn is_zero(&mut self, t: T) -> T {
        let (lo, hi) = self.range(t);
        if lo.is_positive() || hi.is_negative() {
            return Terms::ZERO;
        }
        if t == Terms::ZERO {
            return Terms::ONE;
        }
        if !self.is_too_deep() {
            let minus = self.neg(t);
            for x in [t, minus] {
                let Some((a, b)) = self.xor_parts.get(&x).copied() else { continue };
                let d = self.sub(a, b);
                if d != t && d != minus {
                    return self.eq0(d);
                }
            }
        }
        let g = self.content(t);
        let c = self.poly(t).first().filter(|(m, _)| *m == 0).map_or(BigInt::zero(), |(_, c)| c.clone());
        if !(&c % &g).is_zero() {
            return Terms::ZERO;
        }
        if !g.is_one() {
            let q = self.exactly(t, &g);
            self.note_range(q, &lo.div_floor(&g), &-((-&hi).div_floor(&g)));
            return self.eq0(q);
        }
        if self.poly(t).last().is_some_and(|(_, c)| c.is_negative()) {
            let minus = self.neg(t);
            return self.eq0(minus);
        }
        if let Some(r) = self.by_cases(t, |v| v.is_zero()) {
            return r;
        }
        if let Some(r) = self.by_values(t, |v| v.is_zero()) {
            return r;
        }
        if lo.is_zero() && hi.is_one() {
            return self.not_bit(t);
        }
        if lo == -BigInt::one() && hi.is_zero() {
            return self.add(t, Terms::ONE);
        }
        if let Some(parts) = self.all_zero(t).filter(|_| !self.is_too_deep()) {
            return parts.into_iter().fold(Terms::ONE, |r, p| {
                let z = self.eq0(p);
                self.mul(r, z)
            });
        }
        if !self.is_too_deep() {
            // What only touches zero from one side is a comparison, and those look through carries.
            if lo.is_zero() {
                let below = self.sub(t, Terms::ONE);
                if self.flatten(below).is_some() {
                    return self.lt0(below);
                }
            }
            if hi.is_zero() && self.flatten(t).is_some() {
                let r = self.lt0(t);
                return self.not_bit(r);
            }
            if let Some(r) = self.zero_by_sign(t) {
                return r;
            }
        }
        self.bit_atom(Atom::Zero(t), t, |v| v.is_zero())
    }

    /// Terms that are all zero exactly if `t` is.
    fn all_zero(&mut self, t: T) -> Option<Vec<T>> {
        if let Some(parts) = self.or_parts.get(&t) {
            return Some(parts.clone());
        }
        let Atom::Bits(products) = &self.atoms[self.as_atom(t)? as usize].atom else { return None };
        let [x, y] = &products[..] else { return None };
        let ([x], [y]) = (&x[..], &y[..]) else { return None };
        let (x, y) = (*x, *y);
        Some(vec![self.sub(x, y)])
    }

    /// `t = ±q + c + d [q < 0]`, such as a difference reduced to a word: zero where `q` is one of two constants, of which the
    /// sign decides.
    fn zero_by_sign(&mut self, t: T) -> Option<T> {
        for (m, d) in self.poly(t).clone().iter().rev() {
            let [a] = self.monos[*m as usize][..] else { continue };
            let Atom::Neg(q) = self.atoms[a as usize].atom else { continue };
            let rest = self.without_summand(t, *m);
            for sign in [1, -1] {
                let c = self.combine(rest, &BigInt::from(-sign), q);
                let Some(c) = self.as_const(c) else { continue };
                // With sign s: not negative and q = -s c; negative and q = -s (c + d).
                let (at0, at1): (BigInt, BigInt) = (-&c * sign, -(&c + d) * sign);
                let mut r = Terms::ZERO;
                for (at, wanted) in [(at0, false), (at1, true)] {
                    if at.is_negative() == wanted {
                        let at = self.int(at);
                        let hit = self.eq(q, at);
                        r = self.add(r, hit);
                    }
                }
                return Some(r);
            }
        }
        None
    }
}
