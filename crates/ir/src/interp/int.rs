//! Exact integers with a fast path: `i128` while it fits, big integers beyond.
//! Trusted: safe, field, c, bytes, leaks, certifier, text.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// An exact integer. Canonical: `Big` holds only what does not fit `i128`, so equality is structural.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Int {
    Small(i128),
    Big(Box<BigInt>),
}

impl Int {
    pub const ZERO: Int = Int::Small(0);

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
            if k < spare.saturating_sub(1) {
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
            None => Int::Big(Box::new(v)),
        }
    }
}

impl From<&BigInt> for Int {
    fn from(v: &BigInt) -> Int {
        match v.to_i128() {
            Some(small) => Int::Small(small),
            None => Int::Big(Box::new(v.clone())),
        }
    }
}

impl From<u128> for Int {
    fn from(v: u128) -> Int {
        match i128::try_from(v) {
            Ok(small) => Int::Small(small),
            Err(_) => Int::Big(Box::new(BigInt::from(v))),
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

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Int::Small(v) => v.fmt(f),
            Int::Big(b) => b.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values on both sides of every boundary of the fast path.
    fn any_int() -> impl Strategy<Value = BigInt> {
        let edge = prop_oneof![Just(0u32), Just(62), Just(63), Just(64), Just(126), Just(127), Just(128), 0u32..200];
        (edge, -3i64..4, any::<bool>(), any::<i64>()).prop_map(|(e, d, neg, noise)| {
            let v = (BigInt::from(1) << e) + d + if noise % 3 == 0 { noise } else { 0 };
            if neg { -v } else { v }
        })
    }

    proptest! {
        #[test]
        fn agrees_with_big_integers(a in any_int(), b in any_int(), k in 0u32..200) {
            let (x, y) = (Int::from(&a), Int::from(&b));
            prop_assert_eq!(x.add(&y), Int::from(&a + &b));
            prop_assert_eq!(x.sub(&y), Int::from(&a - &b));
            prop_assert_eq!(x.mul(&y), Int::from(&a * &b));
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            prop_assert_eq!(x.shl(k), Int::from(&a << k));
            prop_assert_eq!(x.shr(k), Int::from(a.div_floor(&(BigInt::from(1) << k))));
            prop_assert_eq!(x.bits(), a.bits());
            let mask = u128::MAX >> (k % 128);
            let expect = a.mod_floor(&(BigInt::from(mask) + 1));
            prop_assert_eq!(BigInt::from(x.low_bits(mask)), expect);
            if b != BigInt::from(0) {
                prop_assert_eq!(x.div_floor(&y), Some(Int::from(a.div_floor(&b))));
                prop_assert_eq!(x.mod_floor(&y), Some(Int::from(a.mod_floor(&b))));
            }
        }
    }

    #[test]
    fn division_by_zero_has_no_value() {
        assert_eq!((Int::from(5).div_floor(&Int::ZERO), Int::from(5).mod_floor(&Int::ZERO)), (None, None));
    }
}
