//! Intervals of exact integers, either end possibly open.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, Zero};

/// Inclusive bounds; `None` means unbounded on that side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iv {
    pub lo: Option<BigInt>,
    pub hi: Option<BigInt>,
}

impl Iv {
    pub fn new(lo: impl Into<BigInt>, hi: impl Into<BigInt>) -> Iv {
        Iv { lo: Some(lo.into()), hi: Some(hi.into()) }
    }
    pub fn all() -> Iv {
        Iv { lo: None, hi: None }
    }
    pub fn point(v: &BigInt) -> Iv {
        Iv { lo: Some(v.clone()), hi: Some(v.clone()) }
    }
    /// `0 ..= 2^bits - 1`
    pub fn word(bits: u32) -> Iv {
        Iv::new(0, (BigInt::from(1) << bits) - 1)
    }
    /// The single value, if there is only one.
    pub fn single(&self) -> Option<&BigInt> {
        match (&self.lo, &self.hi) {
            (Some(a), Some(b)) if a == b => Some(a),
            _ => None,
        }
    }
    pub fn is_nonneg(&self) -> bool {
        self.lo.as_ref().is_some_and(|v| !v.is_negative())
    }
    /// Every value is `< bound`.
    pub fn below(&self, bound: &BigInt) -> bool {
        self.hi.as_ref().is_some_and(|v| v < bound)
    }
    /// Every value is `>= bound`.
    pub fn at_least(&self, bound: &BigInt) -> bool {
        self.lo.as_ref().is_some_and(|v| v >= bound)
    }
    /// Within `0 .. 2^bits`.
    pub fn fits(&self, bits: u32) -> bool {
        self.is_nonneg() && self.below(&(BigInt::from(1) << bits))
    }
    pub fn holds(&self, v: &BigInt) -> bool {
        self.lo.as_ref().is_none_or(|l| l <= v) && self.hi.as_ref().is_none_or(|h| v <= h)
    }
    pub fn add(&self, o: &Iv) -> Iv {
        Iv { lo: both(&self.lo, &o.lo, |a, b| a + b), hi: both(&self.hi, &o.hi, |a, b| a + b) }
    }
    pub fn neg(&self) -> Iv {
        Iv { lo: self.hi.as_ref().map(|v| -v), hi: self.lo.as_ref().map(|v| -v) }
    }
    pub fn scale(&self, c: &BigInt) -> Iv {
        if c.is_zero() {
            return Iv::new(0, 0);
        }
        let s = Iv { lo: self.lo.as_ref().map(|v| v * c), hi: self.hi.as_ref().map(|v| v * c) };
        if c.is_negative() {
            Iv { lo: s.hi, hi: s.lo }
        } else {
            s
        }
    }
    /// `self += c * o`
    pub fn add_scaled(&mut self, o: &Iv, c: &BigInt) {
        let (lo, hi) = if c.is_negative() { (&o.hi, &o.lo) } else { (&o.lo, &o.hi) };
        for (own, other) in [(&mut self.lo, lo), (&mut self.hi, hi)] {
            match (own.as_mut(), other) {
                (Some(v), Some(w)) => *v += w * c,
                _ => *own = None,
            }
        }
    }
    pub fn mul(&self, o: &Iv) -> Iv {
        match (&self.lo, &self.hi, &o.lo, &o.hi) {
            (Some(a), Some(b), Some(c), Some(d)) if !a.is_negative() && a <= b && !c.is_negative() && c <= d => Iv::new(a * c, b * d),
            (Some(a), Some(b), Some(c), Some(d)) => {
                let t = [a * c, a * d, b * c, b * d];
                Iv { lo: t.iter().min().cloned(), hi: t.iter().max().cloned() }
            }
            _ if self.is_nonneg() && o.is_nonneg() => Iv { lo: both(&self.lo, &o.lo, |a, b| a * b), hi: None },
            _ => Iv::all(),
        }
    }
    /// Even powers are not known to be tighter than repeated products; exponents here are small.
    pub fn pow(&self, e: u64) -> Iv {
        if e == 0 {
            return Iv::new(1, 1);
        }
        let mut r = self.clone();
        for _ in 1..e {
            r = r.mul(self);
        }
        if e % 2 == 0 && !r.is_nonneg() {
            r.lo = Some(BigInt::zero());
        }
        r
    }
    /// Floor division by `2^k`.
    pub fn shr(&self, k: u32) -> Iv {
        let d = BigInt::from(1) << k;
        Iv { lo: self.lo.as_ref().map(|v| v.div_floor(&d)), hi: self.hi.as_ref().map(|v| v.div_floor(&d)) }
    }
    /// The values in both; may be empty only if the facts are contradictory.
    pub fn meet(&self, o: &Iv) -> Iv {
        let lo = match (&self.lo, &o.lo) {
            (Some(a), Some(b)) => Some(a.max(b).clone()),
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        let hi = match (&self.hi, &o.hi) {
            (Some(a), Some(b)) => Some(a.min(b).clone()),
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        Iv { lo, hi }
    }
    pub fn join(&self, o: &Iv) -> Iv {
        Iv {
            lo: both(&self.lo, &o.lo, |a, b| a.min(b).clone()),
            hi: both(&self.hi, &o.hi, |a, b| a.max(b).clone()),
        }
    }
}

fn both(a: &Option<BigInt>, b: &Option<BigInt>, f: impl Fn(&BigInt, &BigInt) -> BigInt) -> Option<BigInt> {
    Some(f(a.as_ref()?, b.as_ref()?))
}
