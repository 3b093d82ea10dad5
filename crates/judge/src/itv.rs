//! Closed intervals of exact integers: one sound step for every operation.

use santoku_ir::interp::Int;
use santoku_ir::Range;
use std::fmt;

/// `lo <= hi` always: an empty set of values is an `Option` somewhere above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Itv {
    pub lo: Int,
    pub hi: Int,
}

/// As ranges are written in the source.
impl fmt::Display for Itv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.lo, self.hi)
    }
}

/// Of what may never have been written.
pub fn shown(itv: &Option<Itv>) -> String {
    itv.as_ref().map_or_else(|| "nothing".into(), Itv::to_string)
}

/// `2^k`
pub fn pow2(k: u32) -> Int {
    Int::Small(1).shl(k)
}

fn ends(all: [Int; 4]) -> Itv {
    let lo = all.iter().min().cloned().unwrap_or(Int::ZERO);
    let hi = all.iter().max().cloned().unwrap_or(Int::ZERO);
    Itv { lo, hi }
}

impl Itv {
    pub fn point(v: impl Into<Int>) -> Itv {
        let v = v.into();
        Itv { lo: v.clone(), hi: v }
    }
    pub fn new(lo: impl Into<Int>, hi: impl Into<Int>) -> Option<Itv> {
        let (lo, hi) = (lo.into(), hi.into());
        (lo <= hi).then_some(Itv { lo, hi })
    }
    pub fn of(r: &Range) -> Option<Itv> {
        Itv::new(&r.lo, &r.hi)
    }
    /// Values of a word of `bits` bits, or of a sum of that many powers of two.
    pub fn word(bits: u32) -> Itv {
        Itv { lo: Int::ZERO, hi: pow2(bits).sub(&Int::Small(1)) }
    }
    pub fn bool() -> Itv {
        Itv::word(1)
    }
    pub fn single(&self) -> Option<&Int> {
        (self.lo == self.hi).then_some(&self.lo)
    }
    pub fn contains(&self, o: &Itv) -> bool {
        self.lo <= o.lo && o.hi <= self.hi
    }
    pub fn join(&self, o: &Itv) -> Itv {
        Itv { lo: self.lo.clone().min(o.lo.clone()), hi: self.hi.clone().max(o.hi.clone()) }
    }
    pub fn meet(&self, o: &Itv) -> Option<Itv> {
        Itv::new(self.lo.clone().max(o.lo.clone()), self.hi.clone().min(o.hi.clone()))
    }
    pub fn add(&self, o: &Itv) -> Itv {
        Itv { lo: self.lo.add(&o.lo), hi: self.hi.add(&o.hi) }
    }
    pub fn sub(&self, o: &Itv) -> Itv {
        Itv { lo: self.lo.sub(&o.hi), hi: self.hi.sub(&o.lo) }
    }
    pub fn mul(&self, o: &Itv) -> Itv {
        ends([self.lo.mul(&o.lo), self.lo.mul(&o.hi), self.hi.mul(&o.lo), self.hi.mul(&o.hi)])
    }
    pub fn scale(&self, k: &Int) -> Itv {
        let (a, b) = (self.lo.mul(k), self.hi.mul(k));
        if k.is_negative() { Itv { lo: b, hi: a } } else { Itv { lo: a, hi: b } }
    }
    /// A value times itself.
    pub fn square(&self) -> Itv {
        let all = self.mul(self);
        let through_zero = self.lo.is_negative() && !self.hi.is_negative();
        let (a, b) = (self.lo.mul(&self.lo), self.hi.mul(&self.hi));
        Itv { lo: if through_zero { Int::ZERO } else { a.clone().min(b.clone()) }, hi: a.max(b).min(all.hi) }
    }
    /// Floor quotient by a positive number.
    pub fn div_floor(&self, d: &Int) -> Option<Itv> {
        (*d > Int::ZERO).then_some(())?;
        Some(Itv { lo: self.lo.div_floor(d)?, hi: self.hi.div_floor(d)? })
    }
    /// Floor remainder by a positive number.
    pub fn mod_floor(&self, d: &Int) -> Option<Itv> {
        let q = self.div_floor(d)?;
        match q.single() {
            Some(q) => Some(self.sub(&Itv::point(q.mul(d)))),
            None => Itv::new(Int::ZERO, d.sub(&Int::Small(1))),
        }
    }
    pub fn wrap(&self, bits: u32) -> Itv {
        self.mod_floor(&pow2(bits)).unwrap_or_else(|| Itv::word(bits))
    }
    /// Bitwise operations of values that are not negative.
    pub fn and(&self, o: &Itv, bits: u32) -> Itv {
        let mask = |m: &Itv| m.single().map(|v| v.add(&Int::Small(1))).filter(|d| *d == pow2(d.bits() as u32 - u32::from(*d > Int::ZERO)));
        let exact = mask(o).and_then(|d| self.mod_floor(&d)).or_else(|| mask(self).and_then(|d| o.mod_floor(&d)));
        let hi = self.hi.clone().min(o.hi.clone());
        self.both(o, |a, b| a & b).or(exact).or_else(|| Itv::new(Int::ZERO, hi)).unwrap_or_else(|| Itv::word(bits))
    }
    pub fn or(&self, o: &Itv, bits: u32) -> Itv {
        let widest = self.hi.bits().max(o.hi.bits()) as u32;
        let lo = self.lo.clone().max(o.lo.clone());
        self.both(o, |a, b| a | b).or_else(|| Itv::new(lo, Itv::word(widest).hi)).unwrap_or_else(|| Itv::word(bits))
    }
    pub fn xor(&self, o: &Itv) -> Itv {
        let widest = self.hi.bits().max(o.hi.bits()) as u32;
        self.both(o, |a, b| a ^ b).unwrap_or_else(|| Itv::word(widest))
    }
    fn both(&self, o: &Itv, f: impl Fn(u128, u128) -> u128) -> Option<Itv> {
        let word = |i: &Itv| i.single().filter(|v| !v.is_negative() && v.bits() <= 128).map(|v| v.low_bits(u128::MAX));
        Some(Itv::point(f(word(self)?, word(o)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation on all small intervals holds every result of their members.
    #[test]
    fn every_operation_holds_its_results() {
        let itv = |a: i64, b: i64| Itv::new(a, b).unwrap();
        let holds = |i: &Itv, v: i128| i.lo <= Int::from(v) && Int::from(v) <= i.hi;
        let mut tried = 0;
        for (al, ah, bl, bh) in (-4..5i64).flat_map(|a| (a..5).flat_map(move |b| (-4..5).flat_map(move |c| (c..5).map(move |d| (a, b, c, d))))) {
            let (x, y) = (itv(al, ah), itv(bl, bh));
            for (a, b) in (al..=ah).flat_map(|a| (bl..=bh).map(move |b| (i128::from(a), i128::from(b)))) {
                assert!(holds(&x.add(&y), a + b) && holds(&x.sub(&y), a - b) && holds(&x.mul(&y), a * b) && holds(&x.scale(&Int::from(b)), a * b) && holds(&x.square(), a * a) && holds(&x.join(&y), a));
                assert!(a != b || holds(&x.meet(&y).unwrap(), a));
                assert!(holds(&x.wrap(2), a.rem_euclid(4)));
                if b > 0 {
                    let d = Int::from(b);
                    assert!(holds(&x.div_floor(&d).unwrap(), a.div_euclid(b)) && holds(&x.mod_floor(&d).unwrap(), a.rem_euclid(b)));
                }
                if al >= 0 && bl >= 0 {
                    assert!(holds(&x.and(&y, 8), a & b) && holds(&x.or(&y, 8), a | b) && holds(&x.xor(&y), a ^ b), "{x:?} {y:?} {a} {b}");
                }
                tried += 1;
            }
        }
        assert!(tried > 10_000);
        assert!(itv(0, 3).div_floor(&Int::ZERO).is_none() && itv(0, 3).mod_floor(&Int::from(-2i64)).is_none());
    }
}
