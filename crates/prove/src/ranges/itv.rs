//! Intervals of exact integers and of wrapping words.

use super::num::Num;
use num_bigint::BigInt;
use santoku_ir::Range;
use std::fmt;

/// All integers `v` with `lo <= v <= hi`; empty when `lo > hi`.
#[derive(Clone, PartialEq, Eq)]
pub struct Itv {
    pub lo: Num,
    pub hi: Num,
}

impl Itv {
    pub const TOP: Itv = Itv { lo: Num::NegInf, hi: Num::PosInf };
    pub const EMPTY: Itv = Itv { lo: Num::ONE, hi: Num::ZERO };
    pub const BOOL: Itv = Itv { lo: Num::ZERO, hi: Num::ONE };

    pub fn new(lo: impl Into<Num>, hi: impl Into<Num>) -> Itv {
        Itv { lo: lo.into(), hi: hi.into() }
    }
    pub fn point(v: impl Into<Num>) -> Itv {
        let v = v.into();
        Itv { lo: v.clone(), hi: v }
    }
    pub fn constant(v: &BigInt) -> Itv {
        Itv::point(Num::of(v))
    }
    pub fn of(r: &Range) -> Itv {
        Itv { lo: Num::of(&r.lo), hi: Num::of(&r.hi) }
    }
    /// `0 ..= 2^bits - 1`
    pub fn word(bits: u32) -> Itv {
        Itv { lo: Num::ZERO, hi: Num::mask(bits) }
    }
    /// The bounds as a declared range; `None` when empty or unbounded.
    pub fn to_range(&self) -> Option<Range> {
        if self.is_empty() {
            return None;
        }
        Some(Range { lo: self.lo.to_big()?, hi: self.hi.to_big()? })
    }
    pub fn is_empty(&self) -> bool {
        self.lo > self.hi
    }
    pub fn single(&self) -> Option<&Num> {
        (self.lo == self.hi).then_some(&self.lo)
    }
    pub fn holds(&self, v: &Num) -> bool {
        self.lo <= *v && *v <= self.hi
    }
    pub fn contains(&self, o: &Itv) -> bool {
        o.is_empty() || (self.lo <= o.lo && o.hi <= self.hi)
    }
    pub fn join(&self, o: &Itv) -> Itv {
        if self.is_empty() {
            return o.clone();
        }
        if o.is_empty() {
            return self.clone();
        }
        Itv { lo: self.lo.clone().min(o.lo.clone()), hi: self.hi.clone().max(o.hi.clone()) }
    }
    pub fn meet(&self, o: &Itv) -> Itv {
        Itv { lo: self.lo.clone().max(o.lo.clone()), hi: self.hi.clone().min(o.hi.clone()) }
    }
    pub fn add(&self, o: &Itv) -> Itv {
        Itv { lo: self.lo.add(&o.lo), hi: self.hi.add(&o.hi) }
    }
    pub fn sub(&self, o: &Itv) -> Itv {
        Itv { lo: self.lo.sub(&o.hi), hi: self.hi.sub(&o.lo) }
    }
    pub fn neg(&self) -> Itv {
        Itv { lo: self.hi.neg(), hi: self.lo.neg() }
    }
    pub fn mul(&self, o: &Itv) -> Itv {
        if self.lo.sign() >= 0 && o.lo.sign() >= 0 {
            return Itv { lo: self.lo.mul(&o.lo), hi: self.hi.mul(&o.hi) };
        }
        let [a, b, c, d] =
            [self.lo.mul(&o.lo), self.lo.mul(&o.hi), self.hi.mul(&o.lo), self.hi.mul(&o.hi)];
        let (ab, cd) = (minmax(a, b), minmax(c, d));
        Itv { lo: ab.0.min(cd.0), hi: ab.1.max(cd.1) }
    }
    /// `v * v` of one value: never negative.
    pub fn square(&self) -> Itv {
        let p = self.mul(self);
        if self.holds(&Num::ZERO) {
            return Itv { lo: Num::ZERO, hi: p.hi };
        }
        let (a, b) = minmax(self.lo.mul(&self.lo), self.hi.mul(&self.hi));
        Itv { lo: a, hi: b }
    }
    pub fn shl(&self, k: u32) -> Itv {
        Itv { lo: self.lo.shl(k), hi: self.hi.shl(k) }
    }
    /// Floor division by `2^k`.
    pub fn shr(&self, k: u32) -> Itv {
        Itv { lo: self.lo.shr(k), hi: self.hi.shr(k) }
    }
    /// Floor division by a positive constant.
    pub fn div_floor(&self, d: &Num) -> Itv {
        Itv { lo: self.lo.div_floor(d), hi: self.hi.div_floor(d) }
    }
    /// Floor remainder by a positive constant.
    pub fn mod_floor(&self, d: &Num) -> Itv {
        let q = self.div_floor(d);
        match q.single() {
            Some(_) if self.lo.is_finite() && self.hi.is_finite() && !self.is_empty() => {
                Itv { lo: self.lo.mod_floor(d), hi: self.hi.mod_floor(d) }
            }
            _ if self.is_empty() => Itv::EMPTY,
            _ => Itv { lo: Num::ZERO, hi: d.sub(&Num::ONE) },
        }
    }
    /// The values mod `2^bits`, as a word.
    pub fn wrap(&self, bits: u32) -> Itv {
        if self.lo.sign() >= 0 && self.hi <= Num::mask(bits) {
            return self.clone();
        }
        self.mod_floor(&Num::pow2(bits))
    }
    /// Bitwise and of two non-negative values.
    pub fn and(&self, o: &Itv) -> Itv {
        if let (Some(a), Some(b)) = (self.single(), o.single()) {
            return bitwise(a, b, |a, b| a & b);
        }
        for (x, m) in [(self, o), (o, self)] {
            if let Some(k) = m.single().and_then(|m| m.add(&Num::ONE).log2()) {
                return x.wrap(k);
            }
        }
        Itv { lo: Num::ZERO, hi: self.hi.clone().min(o.hi.clone()) }
    }
    /// Bitwise or of two non-negative values.
    pub fn or(&self, o: &Itv) -> Itv {
        if let (Some(a), Some(b)) = (self.single(), o.single()) {
            return bitwise(a, b, |a, b| a | b);
        }
        Itv { lo: self.lo.clone().max(o.lo.clone()), hi: self.most(o) }
    }
    /// Bitwise xor of two non-negative values.
    pub fn xor(&self, o: &Itv) -> Itv {
        if let (Some(a), Some(b)) = (self.single(), o.single()) {
            return bitwise(a, b, |a, b| a ^ b);
        }
        Itv { lo: Num::ZERO, hi: self.most(o) }
    }
    /// Above every or and xor of two non-negative values.
    fn most(&self, o: &Itv) -> Num {
        match (self.hi.bits(), o.hi.bits()) {
            (Some(a), Some(b)) => Num::mask(a.max(b)).min(self.hi.add(&o.hi)),
            _ => Num::PosInf,
        }
    }
}

fn minmax(a: Num, b: Num) -> (Num, Num) {
    if a <= b { (a, b) } else { (b, a) }
}

fn bitwise(a: &Num, b: &Num, op: impl Fn(BigInt, BigInt) -> BigInt) -> Itv {
    match (a.to_big(), b.to_big()) {
        (Some(a), Some(b)) => Itv::constant(&op(a, b)),
        _ => Itv::TOP,
    }
}

impl fmt::Display for Itv {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("nothing");
        }
        match self.single() {
            Some(v) => write!(f, "{v}"),
            None => write!(f, "{}..{}", self.lo, self.hi),
        }
    }
}

impl fmt::Debug for Itv {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation on every pair of small intervals against all its members; the result must hold
    /// each value and, for the exact ones, be the hull.
    #[test]
    fn transfer_functions_hold_every_value() {
        let mut checks = 0;
        let all: Vec<Itv> =
            (-5i128..5).flat_map(|a| (a..5).map(move |b| Itv::new(a, b))).collect();
        let members = |i: &Itv| i.lo.small().unwrap_or(0)..=i.hi.small().unwrap_or(0);
        for a in &all {
            for b in &all {
                let (add, sub, mul) = (a.add(b), a.sub(b), a.mul(b));
                let nonneg = a.lo.sign() >= 0 && b.lo.sign() >= 0;
                for x in members(a) {
                    for y in members(b) {
                        assert!(add.holds(&(x + y).into()) && sub.holds(&(x - y).into()) && mul.holds(&(x * y).into()));
                        assert!(a.square().holds(&(x * x).into()));
                        if nonneg {
                            assert!(a.and(b).holds(&(x & y).into()), "{a} & {b}");
                            assert!(a.or(b).holds(&(x | y).into()));
                            assert!(a.xor(b).holds(&(x ^ y).into()));
                        }
                        checks += 1;
                    }
                }
            }
            for d in 1..7i128 {
                for x in members(a) {
                    assert!(a.div_floor(&d.into()).holds(&x.div_euclid(d).into()));
                    assert!(a.mod_floor(&d.into()).holds(&x.rem_euclid(d).into()));
                    assert!(a.wrap(2).holds(&x.rem_euclid(4).into()));
                }
            }
        }
        assert!(checks > 10_000);
    }

    #[test]
    fn bits_of_unbounded_values_are_not_counted() {
        let from_three = Itv { lo: Num::from(3), hi: Num::PosInf };
        let few = Itv::new(5, 9);
        assert_eq!(Num::PosInf.bits(), None);
        for (a, b) in [(&from_three, &few), (&few, &from_three), (&from_three, &from_three), (&Itv::TOP, &Itv::TOP)] {
            assert_eq!((a.or(b).hi, a.xor(b).hi), (Num::PosInf, Num::PosInf));
        }
        assert_eq!(from_three.or(&few).lo, Num::from(5));
        assert_eq!(from_three.and(&few), Itv::new(0, 9));
    }

    #[test]
    fn masks_of_negatives_are_exact_inside_one_block() {
        assert_eq!(Itv::new(-4, -2).mod_floor(&Num::pow2(3)), Itv::new(4, 6));
        assert_eq!(Itv::new(-4, 2).mod_floor(&Num::pow2(3)), Itv::new(0, 7));
        assert_eq!(Itv::new(-38, 65573).shr(16), Itv::new(-1, 1));
        assert_eq!(Itv::TOP.mod_floor(&Num::pow2(16)), Itv::new(0, 65535));
    }
}
