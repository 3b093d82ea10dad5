//! Integers and what is beyond all of them.
//! Trusted: engines.

use crate::end::{end, End};
use crate::Int;
use num_bigint::BigInt;
use num_traits::{One, Zero};
use std::cmp::Ordering;
use std::fmt;

/// An integer or an infinity. The order of the variants is that of the values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bound {
    NegInf,
    At(Int),
    PosInf,
}

use Bound::{At, NegInf, PosInf};

impl Bound {
    pub const ZERO: Bound = At(Int::ZERO);
    pub const ONE: Bound = At(Int::ONE);

    /// `2^k`
    pub fn pow2(k: u32) -> Bound {
        At(Int::pow2(k))
    }
    /// `2^k - 1`
    pub fn mask(k: u32) -> Bound {
        At(Int::mask(k))
    }
    /// The integer, on the fast path.
    pub fn small(&self) -> Option<i128> {
        self.at().and_then(Int::small)
    }
    /// `None` for the infinities.
    pub fn to_big(&self) -> Option<BigInt> {
        self.at().map(Int::to_big)
    }
    fn sign(&self) -> Ordering {
        self.cmp(&Bound::ZERO)
    }
    pub fn sub(&self, o: &Bound) -> Bound {
        match (self, o) {
            (At(a), At(b)) => At(a.sub(b)),
            _ => self.add(&o.neg()),
        }
    }
    /// Ceiling quotient by a positive number; `None` for zero.
    pub fn div_ceil(&self, d: &Int) -> Option<Bound> {
        Some(self.neg().div_floor(d)?.neg())
    }
    /// Bits of the magnitude; the infinities have none.
    pub fn bits(&self) -> Option<u32> {
        self.at().and_then(|v| u32::try_from(v.bits()).ok())
    }
    pub fn add(&self, o: &Bound) -> Bound {
        match (self, o) {
            (At(a), At(b)) => At(a.add(b)),
            (NegInf | PosInf, _) => self.clone(),
            (_, NegInf | PosInf) => o.clone(),
        }
    }
    pub fn neg(&self) -> Bound {
        match self {
            NegInf => PosInf,
            At(v) => At(v.neg()),
            PosInf => NegInf,
        }
    }
    /// `0 * inf` is 0.
    pub fn mul(&self, o: &Bound) -> Bound {
        match (self, o) {
            (At(a), At(b)) => At(a.mul(b)),
            _ => match (self.sign(), o.sign()) {
                (Ordering::Equal, _) | (_, Ordering::Equal) => Bound::ZERO,
                (a, b) if a == b => PosInf,
                _ => NegInf,
            },
        }
    }
    pub fn shl(&self, k: u32) -> Bound {
        self.map(|v| v.shl(k))
    }
    pub fn shr(&self, k: u32) -> Bound {
        self.map(|v| v.shr(k))
    }
    /// Floor quotient by a positive number; `None` for zero.
    pub fn div_floor(&self, d: &Int) -> Option<Bound> {
        match self {
            At(v) => v.div_floor(d).map(At),
            inf => (!d.is_zero()).then(|| inf.clone()),
        }
    }
    /// The integer, where there is one.
    pub fn at(&self) -> Option<&Int> {
        match self {
            At(v) => Some(v),
            NegInf | PosInf => None,
        }
    }
    pub fn is_negative(&self) -> bool {
        self.sign() == Ordering::Less
    }
    fn map(&self, f: impl FnOnce(&Int) -> Int) -> Bound {
        match self {
            At(v) => At(f(v)),
            inf => inf.clone(),
        }
    }
}

end!(Bound);

impl<T: Into<Int>> From<T> for Bound {
    fn from(v: T) -> Bound {
        At(v.into())
    }
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// For people, see [`Short`].
impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NegInf => f.write_str("-inf"),
            At(v) => Short(v).fmt(f),
            PosInf => f.write_str("inf"),
        }
    }
}

/// For people: values beyond `2^16` near a power of two are `2^k`, `2^k-1`, `2^k+19`; others in full.
pub struct Short<'a>(pub &'a Int);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (v, mag) = (self.0, self.0.abs().to_big());
        if mag < BigInt::from(1u32 << 17) {
            return write!(f, "{v}");
        }
        let below = BigInt::one() << (mag.bits() - 1);
        let above = &below << 1;
        let (d_lo, d_hi) = (&mag - &below, &above - &mag);
        let near = BigInt::from(1000);
        let (open, close) = if v.is_negative() { ("-(", ")") } else { ("", "") };
        if d_lo.is_zero() {
            write!(f, "{}2^{}", if v.is_negative() { "-" } else { "" }, mag.bits() - 1)
        } else if d_hi < near {
            write!(f, "{open}2^{}-{d_hi}{close}", mag.bits())
        } else if d_lo < near {
            write!(f, "{open}2^{}+{d_lo}{close}", mag.bits() - 1)
        } else {
            write!(f, "{v}")
        }
    }
}
