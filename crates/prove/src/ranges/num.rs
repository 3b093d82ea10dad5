//! Integers with two infinities: the bounds of intervals.
//!
//! Small values stay in an `i128`; only larger ones become big integers (`Big` never holds a value that fits).

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;
use std::fmt;
use std::rc::Rc;

/// A bound. The order of the variants is not the order of the values; see [`Ord`].
#[derive(Clone, PartialEq, Eq)]
pub enum Num {
    NegInf,
    Small(i128),
    Big(Rc<BigInt>),
    PosInf,
}

use Num::{Big, NegInf, PosInf, Small};

impl Num {
    pub const ZERO: Num = Small(0);
    pub const ONE: Num = Small(1);

    pub fn of(v: &BigInt) -> Num {
        v.to_i128().map_or_else(|| Big(Rc::new(v.clone())), Small)
    }
    fn from_big(v: BigInt) -> Num {
        v.to_i128().map_or_else(|| Big(Rc::new(v)), Small)
    }
    /// `None` for the infinities.
    pub fn to_big(&self) -> Option<BigInt> {
        match self {
            Small(v) => Some(BigInt::from(*v)),
            Big(v) => Some((**v).clone()),
            NegInf | PosInf => None,
        }
    }
    pub fn small(&self) -> Option<i128> {
        match self {
            Small(v) => Some(*v),
            _ => None,
        }
    }
    pub fn is_finite(&self) -> bool {
        matches!(self, Small(_) | Big(_))
    }
    /// Finite value; callers have checked.
    fn big(&self) -> BigInt {
        self.to_big().unwrap_or_default()
    }
    /// -1, 0 or 1.
    pub fn sign(&self) -> i32 {
        match self {
            NegInf => -1,
            PosInf => 1,
            Small(v) => v.signum() as i32,
            Big(v) => if v.is_negative() { -1 } else { 1 },
        }
    }
    /// `2^k`
    pub fn pow2(k: u32) -> Num {
        if k < 127 { Small(1 << k) } else { Num::from_big(BigInt::one() << k) }
    }
    /// `2^k - 1`
    pub fn mask(k: u32) -> Num {
        if k <= 127 { Small((((1u128) << k) - 1) as i128) } else { Num::from_big((BigInt::one() << k) - 1) }
    }
    /// Lower bounds add to lower bounds and upper to upper, so opposite infinities never meet;
    /// if they did, the left one wins.
    pub fn add(&self, o: &Num) -> Num {
        match (self, o) {
            (Small(a), Small(b)) => match a.checked_add(*b) {
                Some(v) => Small(v),
                None => Num::from_big(BigInt::from(*a) + b),
            },
            (NegInf | PosInf, _) => self.clone(),
            (_, NegInf | PosInf) => o.clone(),
            _ => Num::from_big(self.big() + o.big()),
        }
    }
    pub fn neg(&self) -> Num {
        match self {
            NegInf => PosInf,
            PosInf => NegInf,
            Small(a) => a.checked_neg().map_or_else(|| Num::from_big(-BigInt::from(*a)), Small),
            Big(a) => Num::from_big(-&**a),
        }
    }
    pub fn sub(&self, o: &Num) -> Num {
        match (self, o) {
            (Small(a), Small(b)) if a.checked_sub(*b).is_some() => Small(a - b),
            _ => self.add(&o.neg()),
        }
    }
    /// `0 * inf` is 0: values are finite, only their bounds are not.
    pub fn mul(&self, o: &Num) -> Num {
        match (self, o) {
            (Small(a), Small(b)) => match a.checked_mul(*b) {
                Some(v) => Small(v),
                None => Num::from_big(BigInt::from(*a) * b),
            },
            (NegInf | PosInf, _) | (_, NegInf | PosInf) => match self.sign() * o.sign() {
                0 => Num::ZERO,
                s if s > 0 => PosInf,
                _ => NegInf,
            },
            _ => Num::from_big(self.big() * o.big()),
        }
    }
    /// Floor of `self / 2^k`.
    pub fn shr(&self, k: u32) -> Num {
        match self {
            Small(a) => Small(a >> k.min(127)),
            Big(a) => Num::from_big(a.as_ref() >> k),
            inf => inf.clone(),
        }
    }
    pub fn shl(&self, k: u32) -> Num {
        match self {
            Small(a) if *a == 0 => Num::ZERO,
            Small(a) if k < 126 && a.unsigned_abs().leading_zeros() > k + 1 => Small(a << k),
            Small(a) => Num::from_big(BigInt::from(*a) << k),
            Big(a) => Num::from_big(a.as_ref() << k),
            inf => inf.clone(),
        }
    }
    /// Floor division by a positive finite divisor.
    pub fn div_floor(&self, d: &Num) -> Num {
        match (self, d) {
            (Small(a), Small(b)) => Small(a.div_euclid(*b)),
            (NegInf | PosInf, _) => self.clone(),
            _ => Num::from_big(self.big().div_floor(&d.big())),
        }
    }
    /// Ceiling division by a positive finite divisor.
    pub fn div_ceil(&self, d: &Num) -> Num {
        self.neg().div_floor(d).neg()
    }
    /// Floor remainder of finite values, divisor positive.
    pub fn mod_floor(&self, d: &Num) -> Num {
        match (self, d) {
            (Small(a), Small(b)) => Small(a.rem_euclid(*b)),
            _ => Num::from_big(self.big().mod_floor(&d.big())),
        }
    }
    /// Number of bits of a finite value's magnitude; 0 for 0. The infinities have none.
    pub fn bits(&self) -> Option<u32> {
        match self {
            Small(a) => Some(128 - a.unsigned_abs().leading_zeros()),
            Big(a) => u32::try_from(a.bits()).ok(),
            NegInf | PosInf => None,
        }
    }
    /// The exponent, for a value `2^k`.
    pub fn log2(&self) -> Option<u32> {
        let exact = match self {
            Small(a) => *a > 0 && a.count_ones() == 1,
            Big(a) => !a.is_negative() && a.trailing_zeros() == Some(a.bits() - 1),
            NegInf | PosInf => false,
        };
        self.bits().filter(|_| exact).map(|b| b - 1)
    }
    pub fn is_zero(&self) -> bool {
        matches!(self, Small(0))
    }
}

impl Ord for Num {
    fn cmp(&self, o: &Num) -> Ordering {
        match (self, o) {
            (Small(a), Small(b)) => a.cmp(b),
            (NegInf, NegInf) | (PosInf, PosInf) => Ordering::Equal,
            (NegInf, _) | (_, PosInf) => Ordering::Less,
            (PosInf, _) | (_, NegInf) => Ordering::Greater,
            (Big(a), Big(b)) => a.cmp(b),
            (Big(a), Small(_)) => if a.is_negative() { Ordering::Less } else { Ordering::Greater },
            (Small(_), Big(_)) => o.cmp(self).reverse(),
        }
    }
}

impl PartialOrd for Num {
    fn partial_cmp(&self, o: &Num) -> Option<Ordering> {
        Some(self.cmp(o))
    }
}

impl From<i128> for Num {
    fn from(v: i128) -> Num {
        Small(v)
    }
}

impl fmt::Debug for Num {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Short: values beyond 2^16 near a power of two print as `2^k`, `2^k-1`, `2^k+19`.
impl fmt::Display for Num {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let v = match self {
            NegInf => return f.write_str("-inf"),
            PosInf => return f.write_str("inf"),
            finite => finite.big(),
        };
        let (sign, mag) = (if v.is_negative() { "-" } else { "" }, v.abs());
        if mag < BigInt::from(1u32 << 17) {
            return write!(f, "{v}");
        }
        let below = BigInt::one() << (mag.bits() - 1);
        let above = &below << 1;
        let (d_lo, d_hi) = (&mag - &below, &above - &mag);
        let near = BigInt::from(1000);
        if d_lo.is_zero() {
            write!(f, "{sign}2^{}", mag.bits() - 1)
        } else if d_hi < near {
            if sign.is_empty() { write!(f, "2^{}-{d_hi}", mag.bits()) } else { write!(f, "-(2^{}-{d_hi})", mag.bits()) }
        } else if d_lo < near {
            if sign.is_empty() { write!(f, "2^{}+{d_lo}", mag.bits() - 1) } else { write!(f, "-(2^{}+{d_lo})", mag.bits() - 1) }
        } else {
            write!(f, "{v}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<BigInt> {
        let mut out = Vec::new();
        for k in [0u32, 1, 2, 15, 63, 64, 126, 127, 128, 200] {
            for d in -2..=2 {
                out.push((BigInt::one() << k) + d);
                out.push(-(BigInt::one() << k) + d);
            }
        }
        out
    }

    #[test]
    fn agrees_with_big_integers() {
        let mut checks = 0;
        for a in sample() {
            for b in sample() {
                let (x, y) = (Num::of(&a), Num::of(&b));
                assert_eq!(x.add(&y).big(), &a + &b);
                assert_eq!(x.sub(&y).big(), &a - &b);
                assert_eq!(x.mul(&y).big(), &a * &b);
                assert_eq!(x.cmp(&y), a.cmp(&b));
                if b.is_positive() {
                    assert_eq!(x.div_floor(&y).big(), a.div_floor(&b));
                    assert_eq!(x.mod_floor(&y).big(), a.mod_floor(&b));
                    assert_eq!(x.div_ceil(&y).big(), -((-&a).div_floor(&b)));
                }
                checks += 1;
            }
            for k in [0, 1, 16, 64, 125, 126, 127, 128, 200] {
                assert_eq!(Num::of(&a).shr(k).big(), &a >> k);
                assert_eq!(Num::of(&a).shl(k).big(), &a << k, "{a} << {k}");
            }
            assert!(!matches!(Num::of(&a), Big(v) if v.to_i128().is_some()));
        }
        assert!(checks > 1000);
    }

    #[test]
    fn infinities_absorb() {
        assert_eq!(NegInf.mul(&Num::ZERO), Num::ZERO);
        assert_eq!(NegInf.mul(&Small(-3)), PosInf);
        assert_eq!(PosInf.add(&Small(-5)), PosInf);
        assert!(NegInf < Num::of(&-(BigInt::one() << 300u32)));
    }

    #[test]
    fn short_names() {
        let text = |v: BigInt| Num::of(&v).to_string();
        assert_eq!(text(BigInt::from(65573)), "65573");
        assert_eq!(text((BigInt::one() << 62u32) - BigInt::one()), "2^62-1");
        assert_eq!(text(-(BigInt::one() << 62u32)), "-2^62");
        assert_eq!(text(BigInt::one() << 255u32), "2^255");
    }
}
