//! Intervals of exact integers: one sound step for every operation.
//!
//! The result of an operation holds what the operation makes of every member of its operands. Of an operand without members, any result does.
//! Trusted: safe, field, c, bytes, leaks, certifier, text.

use crate::{Bound, End, Int, Short};
use std::fmt;

/// All integers `v` with `lo <= v <= hi`; none when `lo > hi`. With ends of type [`Bound`] either side may be open.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Itv<E = Int> {
    pub lo: E,
    pub hi: E,
}

impl Itv<Bound> {
    pub const TOP: Itv<Bound> = Itv { lo: Bound::NegInf, hi: Bound::PosInf };
    pub const EMPTY: Itv<Bound> = Itv { lo: Bound::ONE, hi: Bound::ZERO };
    pub const BOOL: Itv<Bound> = Itv { lo: Bound::ZERO, hi: Bound::ONE };

    /// With two integers as ends; `None` when empty or open.
    pub fn closed(&self) -> Option<Itv> {
        Itv { lo: self.lo.at()?.clone(), hi: self.hi.at()?.clone() }.non_empty()
    }
}

impl Itv {
    /// How many members there are.
    pub fn count(&self) -> Int {
        self.hi.sub(&self.lo).add(&Int::ONE).max(Int::ZERO)
    }
}

/// As it is written: ends as they stand, whether they hold something between them or not.
impl From<&Itv> for Itv<Bound> {
    fn from(i: &Itv) -> Itv<Bound> {
        Itv::new(&i.lo, &i.hi)
    }
}

impl<E: End> Itv<E> {
    pub fn new(lo: impl Into<E>, hi: impl Into<E>) -> Itv<E> {
        Itv { lo: lo.into(), hi: hi.into() }
    }
    /// [`Itv::new`] of ends that have something between them.
    pub fn between(lo: impl Into<E>, hi: impl Into<E>) -> Option<Itv<E>> {
        Itv::new(lo, hi).non_empty()
    }
    pub fn point(v: impl Into<E>) -> Itv<E> {
        let v = v.into();
        Itv { lo: v.clone(), hi: v }
    }
    /// `0 ..= 2^bits - 1`
    pub fn word(bits: u32) -> Itv<E> {
        Itv::new(Int::ZERO, Int::mask(bits))
    }
    pub fn bool() -> Itv<E> {
        Itv::word(1)
    }
    pub fn is_empty(&self) -> bool {
        self.lo > self.hi
    }
    pub fn non_empty(self) -> Option<Itv<E>> {
        (!self.is_empty()).then_some(self)
    }
    /// The only member.
    pub fn single(&self) -> Option<&Int> {
        if self.lo == self.hi { self.lo.at() } else { None }
    }
    pub fn holds(&self, v: impl Into<E>) -> bool {
        let v = v.into();
        self.lo <= v && v <= self.hi
    }
    pub fn contains(&self, o: &Itv<E>) -> bool {
        o.is_empty() || (self.lo <= o.lo && o.hi <= self.hi)
    }
    pub fn is_nonneg(&self) -> bool {
        !self.lo.is_negative()
    }
    /// Every member is `< v`.
    pub fn below(&self, v: impl Into<E>) -> bool {
        self.hi < v.into()
    }
    /// Every member is `>= v`.
    pub fn at_least(&self, v: impl Into<E>) -> bool {
        self.lo >= v.into()
    }
    /// Every member is a word of `bits` bits.
    pub fn fits(&self, bits: u32) -> bool {
        self.is_nonneg() && self.below(Int::pow2(bits))
    }
    /// The least interval with the members of both.
    pub fn join(&self, o: &Itv<E>) -> Itv<E> {
        if self.is_empty() {
            return o.clone();
        }
        if o.is_empty() {
            return self.clone();
        }
        Itv { lo: self.lo.clone().min(o.lo.clone()), hi: self.hi.clone().max(o.hi.clone()) }
    }
    pub fn meet(&self, o: &Itv<E>) -> Itv<E> {
        Itv { lo: self.lo.clone().max(o.lo.clone()), hi: self.hi.clone().min(o.hi.clone()) }
    }
    /// [`Itv::meet`] of intervals that have a member in common.
    pub fn common(&self, o: &Itv<E>) -> Option<Itv<E>> {
        self.meet(o).non_empty()
    }
    pub fn add(&self, o: &Itv<E>) -> Itv<E> {
        Itv { lo: self.lo.add(&o.lo), hi: self.hi.add(&o.hi) }
    }
    pub fn neg(&self) -> Itv<E> {
        Itv { lo: self.hi.neg(), hi: self.lo.neg() }
    }
    pub fn sub(&self, o: &Itv<E>) -> Itv<E> {
        self.add(&o.neg())
    }
    pub fn mul(&self, o: &Itv<E>) -> Itv<E> {
        if self.is_nonneg() && o.is_nonneg() {
            return Itv { lo: self.lo.mul(&o.lo), hi: self.hi.mul(&o.hi) };
        }
        let (a, b) = in_order(self.lo.mul(&o.lo), self.lo.mul(&o.hi));
        let (c, d) = in_order(self.hi.mul(&o.lo), self.hi.mul(&o.hi));
        Itv { lo: a.min(c), hi: b.max(d) }
    }
    pub fn scale(&self, k: impl Into<Int>) -> Itv<E> {
        let k = k.into();
        let (from, negative) = (E::from(k.clone()), k.is_negative());
        let (lo, hi) = (self.lo.mul(&from), self.hi.mul(&from));
        if negative { Itv { lo: hi, hi: lo } } else { Itv { lo, hi } }
    }
    /// A member times itself: never negative.
    pub fn square(&self) -> Itv<E> {
        let (a, b) = in_order(self.lo.mul(&self.lo), self.hi.mul(&self.hi));
        Itv { lo: if self.holds(Int::ZERO) { Int::ZERO.into() } else { a }, hi: b }
    }
    /// A member times itself, `e` factors.
    pub fn pow(&self, e: u64) -> Itv<E> {
        if e == 0 {
            return Itv::point(Int::ONE);
        }
        let mut all = self.clone();
        for _ in 1..e {
            all = all.mul(self);
        }
        if e % 2 == 0 && !all.is_nonneg() {
            all.lo = Int::ZERO.into();
        }
        all
    }
    pub fn shl(&self, k: u32) -> Itv<E> {
        Itv { lo: self.lo.shl(k), hi: self.hi.shl(k) }
    }
    /// Floor quotient by `2^k`.
    pub fn shr(&self, k: u32) -> Itv<E> {
        Itv { lo: self.lo.shr(k), hi: self.hi.shr(k) }
    }
    /// Floor quotient; `None` unless the divisor is positive.
    pub fn div_floor(&self, d: &Int) -> Option<Itv<E>> {
        (*d > Int::ZERO).then_some(())?;
        Some(Itv { lo: self.lo.div_floor(d)?, hi: self.hi.div_floor(d)? })
    }
    /// Floor remainder; `None` unless the divisor is positive.
    pub fn mod_floor(&self, d: &Int) -> Option<Itv<E>> {
        let q = self.div_floor(d)?;
        Some(match q.single() {
            Some(q) => self.sub(&Itv::point(q.mul(d))),
            None => Itv::new(Int::ZERO, d.sub(&Int::ONE)),
        })
    }
    /// The members mod `2^bits`.
    pub fn wrap(&self, bits: u32) -> Itv<E> {
        if self.fits(bits) {
            return self.clone();
        }
        self.mod_floor(&Int::pow2(bits)).unwrap_or_else(|| Itv::word(bits))
    }
    /// Bitwise and, or, xor; `None` where a member may be negative.
    pub fn and(&self, o: &Itv<E>) -> Option<Itv<E>> {
        let exact = self.both(o, Int::and)?;
        let masked = |x: &Itv<E>, m: &Itv<E>| m.single().and_then(|m| m.add(&Int::ONE).log2()).map(|k| x.wrap(k));
        let below = || Itv { lo: Int::ZERO.into(), hi: o.hi.clone().min(self.hi.clone()) };
        Some(exact.or_else(|| masked(self, o)).or_else(|| masked(o, self)).unwrap_or_else(below))
    }
    pub fn or(&self, o: &Itv<E>) -> Option<Itv<E>> {
        let exact = self.both(o, Int::or)?;
        Some(exact.unwrap_or_else(|| Itv { lo: self.lo.clone().max(o.lo.clone()), hi: self.most(o) }))
    }
    pub fn xor(&self, o: &Itv<E>) -> Option<Itv<E>> {
        let exact = self.both(o, Int::xor)?;
        Some(exact.unwrap_or_else(|| Itv { lo: Int::ZERO.into(), hi: self.most(o) }))
    }
    /// What an operation on two words gives, where both are known; `None` where a member may be negative.
    fn both(&self, o: &Itv<E>, op: impl Fn(&Int, &Int) -> Int) -> Option<Option<Itv<E>>> {
        let words = [self, o].iter().all(|i| i.is_nonneg());
        words.then(|| Some(Itv::point(op(self.single()?, o.single()?))))
    }
    /// Not below any or, xor of two words: no more bits than the longer has, no more than the sum.
    fn most(&self, o: &Itv<E>) -> E {
        let sum = self.hi.add(&o.hi);
        let bits = |i: &Itv<E>| i.hi.at().and_then(|v| u32::try_from(v.bits()).ok());
        match (bits(self), bits(o)) {
            (Some(a), Some(b)) => sum.min(Int::mask(a.max(b)).into()),
            _ => sum,
        }
    }
}

fn in_order<E: Ord>(a: E, b: E) -> (E, E) {
    if a <= b { (a, b) } else { (b, a) }
}

/// As ranges are written in the source.
impl fmt::Display for Itv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.lo, self.hi)
    }
}

/// For people, see [`Short`].
impl fmt::Display for Itv<Bound> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("nothing");
        }
        match self.single() {
            Some(v) => Short(v).fmt(f),
            None => write!(f, "{}..{}", self.lo, self.hi),
        }
    }
}

impl<E> fmt::Debug for Itv<E>
where
    Itv<E>: fmt::Display,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
