//! Exact integers with a fast path: `i128` while it fits, big integers beyond.
//! Trusted: safe, field, c, bytes, leaks, certifier, text.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// An exact integer. Canonical: `Big` holds only what does not fit `i128`, so equality is structural.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Int {
    Small(i128),
    Big(Arc<BigInt>),
}

impl Int {
    pub const ZERO: Int = Int::Small(0);
    pub const ONE: Int = Int::Small(1);

    /// `2^k`
    pub fn pow2(k: u32) -> Int {
        Int::ONE.shl(k)
    }
    /// `2^k - 1`
    pub fn mask(k: u32) -> Int {
        Int::pow2(k).sub(&Int::ONE)
    }

    pub fn to_big(&self) -> BigInt {
        match self {
            Int::Small(v) => BigInt::from(*v),
            Int::Big(b) => (**b).clone(),
        }
    }
    /// The value as a big integer, borrowed where it is one.
    fn big(&self) -> Cow<'_, BigInt> {
        match self {
            Int::Small(v) => Cow::Owned(BigInt::from(*v)),
            Int::Big(b) => Cow::Borrowed(b),
        }
    }
    /// Itself: an end of an interval that is not open.
    pub fn at(&self) -> Option<&Int> {
        Some(self)
    }
    /// The value on the fast path, if it is there.
    pub fn small(&self) -> Option<i128> {
        match self {
            Int::Small(v) => Some(*v),
            Int::Big(_) => None,
        }
    }
    /// The value as `u64`, if it is one.
    pub fn to_u64(&self) -> Option<u64> {
        match self {
            Int::Small(v) => u64::try_from(*v).ok(),
            Int::Big(_) => None,
        }
    }
    pub fn is_negative(&self) -> bool {
        match self {
            Int::Small(v) => *v < 0,
            Int::Big(b) => b.is_negative(),
        }
    }
    pub fn is_zero(&self) -> bool {
        matches!(self, Int::Small(0))
    }
    /// The magnitude.
    pub fn abs(&self) -> Int {
        if self.is_negative() { self.neg() } else { self.clone() }
    }
    /// The exponent, for a value `2^k`.
    pub fn log2(&self) -> Option<u32> {
        let exact = match self {
            Int::Small(v) => *v > 0 && v.count_ones() == 1,
            Int::Big(b) => !self.is_negative() && b.trailing_zeros() == Some(b.bits() - 1),
        };
        u32::try_from(self.bits()).ok().filter(|_| exact).map(|b| b - 1)
    }
    /// Number of bits of the magnitude.
    pub fn bits(&self) -> u64 {
        match self {
            Int::Small(v) => u64::from(128 - v.unsigned_abs().leading_zeros()),
            Int::Big(b) => b.bits(),
        }
    }
    /// What a product or quotient of this size costs in steps: nothing while it fits a machine word pair.
    pub fn cost(&self) -> u64 {
        match self {
            Int::Small(_) => 0,
            Int::Big(b) => {
                let limbs = b.bits() / 64;
                limbs + limbs * limbs / 64
            }
        }
    }
    pub fn add(&self, rhs: &Int) -> Int {
        if let (Int::Small(a), Int::Small(b)) = (self, rhs) {
            if let Some(v) = a.checked_add(*b) {
                return Int::Small(v);
            }
        }
        Int::from(&*self.big() + &*rhs.big())
    }
    pub fn sub(&self, rhs: &Int) -> Int {
        if let (Int::Small(a), Int::Small(b)) = (self, rhs) {
            if let Some(v) = a.checked_sub(*b) {
                return Int::Small(v);
            }
        }
        Int::from(&*self.big() - &*rhs.big())
    }
    pub fn mul(&self, rhs: &Int) -> Int {
        if let (Int::Small(a), Int::Small(b)) = (self, rhs) {
            // Two 64-bit factors cannot overflow, and that multiplication is much cheaper than a checked one.
            if let (Ok(x), Ok(y)) = (i64::try_from(*a), i64::try_from(*b)) {
                return Int::Small(i128::from(x) * i128::from(y));
            }
            if let Some(v) = a.checked_mul(*b) {
                return Int::Small(v);
            }
        }
        Int::from(&*self.big() * &*rhs.big())
    }
    pub fn neg(&self) -> Int {
        Int::ZERO.sub(self)
    }
    /// Floor division; `None` for a zero divisor.
    pub fn div_floor(&self, rhs: &Int) -> Option<Int> {
        if *rhs == Int::ZERO {
            return None;
        }
        Some(match (self, rhs) {
            (Int::Small(a), Int::Small(b)) if *b > 0 => Int::Small(Integer::div_floor(a, b)),
            _ => Int::from(self.big().div_floor(&rhs.big())),
        })
    }
    /// Floor remainder (sign of the divisor); `None` for a zero divisor.
    pub fn mod_floor(&self, rhs: &Int) -> Option<Int> {
        if *rhs == Int::ZERO {
            return None;
        }
        Some(match (self, rhs) {
            (Int::Small(a), Int::Small(b)) if *b > 0 => Int::Small(Integer::mod_floor(a, b)),
            _ => Int::from(self.big().mod_floor(&rhs.big())),
        })
    }
    /// Multiplication by `2^k`. The caller bounds `k`.
    pub fn shl(&self, k: u32) -> Int {
        if let Int::Small(v) = self {
            let spare = v.unsigned_abs().leading_zeros();
            if k < spare {
                return Int::Small(v << k);
            }
        }
        Int::from(&*self.big() << k)
    }
    /// Floor division by `2^k`.
    pub fn shr(&self, k: u32) -> Int {
        match self {
            Int::Small(v) => Int::Small(v >> k.min(127)),
            Int::Big(b) => Int::from(&**b >> k),
        }
    }
    /// Bitwise operations, of two's complement without an end.
    pub fn and(&self, rhs: &Int) -> Int {
        match (self, rhs) {
            (Int::Small(a), Int::Small(b)) => Int::Small(a & b),
            _ => Int::from(&*self.big() & &*rhs.big()),
        }
    }
    pub fn or(&self, rhs: &Int) -> Int {
        match (self, rhs) {
            (Int::Small(a), Int::Small(b)) => Int::Small(a | b),
            _ => Int::from(&*self.big() | &*rhs.big()),
        }
    }
    pub fn xor(&self, rhs: &Int) -> Int {
        match (self, rhs) {
            (Int::Small(a), Int::Small(b)) => Int::Small(a ^ b),
            _ => Int::from(&*self.big() ^ &*rhs.big()),
        }
    }
    /// The residue mod `2^bits`, `bits <= 128`, of which `mask` is the greatest.
    pub fn low_bits(&self, mask: u128) -> u128 {
        match self {
            Int::Small(v) => (*v as u128) & mask,
            Int::Big(b) => (&**b & BigInt::from(mask)).to_u128().unwrap_or(0),
        }
    }
}

impl From<BigInt> for Int {
    fn from(v: BigInt) -> Int {
        match v.to_i128() {
            Some(small) => Int::Small(small),
            None => Int::Big(Arc::new(v)),
        }
    }
}

impl From<&BigInt> for Int {
    fn from(v: &BigInt) -> Int {
        match v.to_i128() {
            Some(small) => Int::Small(small),
            None => Int::Big(Arc::new(v.clone())),
        }
    }
}

impl From<Int> for BigInt {
    fn from(v: Int) -> BigInt {
        match v {
            Int::Small(v) => BigInt::from(v),
            Int::Big(b) => Arc::unwrap_or_clone(b),
        }
    }
}

impl From<&Int> for BigInt {
    fn from(v: &Int) -> BigInt {
        v.to_big()
    }
}

impl From<&Int> for Int {
    fn from(v: &Int) -> Int {
        v.clone()
    }
}

impl From<u128> for Int {
    fn from(v: u128) -> Int {
        match i128::try_from(v) {
            Ok(small) => Int::Small(small),
            Err(_) => Int::Big(Arc::new(BigInt::from(v))),
        }
    }
}

macro_rules! int_from_small {
    ($($t:ty),*) => {$(
        impl From<$t> for Int {
            fn from(v: $t) -> Int {
                Int::Small(i128::from(v))
            }
        }
    )*};
}
int_from_small!(u8, u16, u32, u64, i32, i64, i128);

impl PartialOrd for Int {
    fn partial_cmp(&self, other: &Int) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Int {
    fn cmp(&self, other: &Int) -> Ordering {
        match (self, other) {
            (Int::Small(a), Int::Small(b)) => a.cmp(b),
            _ => self.big().cmp(&other.big()),
        }
    }
}

impl fmt::Debug for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Int::Small(v) => v.fmt(f),
            Int::Big(b) => b.fmt(f),
        }
    }
}
