//! Every operation on integers around all ends of the fast path, and on all small intervals, closed and open.

mod intervals;

use crate::num::{Bound, Int};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

pub use intervals::intervals;

/// How much was right, or what was wrong.
pub type Tried = Result<u64, String>;

pub fn right(is: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if is { Ok(()) } else { Err(what()) }
}

/// Both sides of every power of two that anything here depends on.
fn sample() -> Vec<BigInt> {
    let powers = [0u32, 1, 2, 15, 62, 63, 64, 126, 127, 128, 200];
    let near = |k: &u32| (-2..=2).map(move |d| (BigInt::one() << *k) + d).collect::<Vec<_>>();
    powers.iter().flat_map(near).flat_map(|v: BigInt| [-v.clone(), v]).collect()
}

/// Operations on integers against those of `num-bigint`.
pub fn integers() -> Tried {
    let (all, mut tried) = (sample(), 0);
    for a in &all {
        one(a)?;
        for b in &all {
            two(a, b)?;
            tried += 1;
        }
    }
    Ok(tried)
}

fn one(a: &BigInt) -> Result<(), String> {
    let x = Int::from(a);
    let is = |v: bool, what: &str| right(v, || format!("{what} of {a}"));
    is(x.small() == a.to_i128() && x.to_big() == *a && BigInt::from(&x) == *a, "the value")?;
    is(x.neg().to_big() == -a && x.abs().to_big() == a.abs(), "the opposite")?;
    is(x.is_negative() == a.is_negative() && x.is_zero() == a.is_zero() && x.bits() == a.bits(), "sign and size")?;
    is(x.to_u64() == a.to_u64() && x.at() == Some(&x), "the value as a word")?;
    let power = (0..202).find(|k| *a == BigInt::one() << *k);
    is(x.log2() == power, "the logarithm")?;
    is(x.to_string() == a.to_string(), "the text")?;
    for k in [0u32, 1, 16, 64, 125, 126, 127, 128, 200] {
        let power = BigInt::one() << k;
        is(Int::pow2(k).to_big() == power && Int::mask(k).to_big() == &power - 1, "a power or a mask")?;
        is(x.shl(k).to_big() == a * &power && x.shr(k).to_big() == a.div_floor(&power), "a shift")?;
        is(Bound::from(a).shl(k).to_big() == Some(a * &power) && Bound::from(a).shr(k).to_big() == Some(a.div_floor(&power)), "a shift of an end")?;
        if k <= 127 {
            let mask = (1u128 << k) - 1;
            is(BigInt::from(x.low_bits(mask)) == a.mod_floor(&power), "low bits")?;
        }
    }
    is(BigInt::from(x.low_bits(u128::MAX)) == a.mod_floor(&(BigInt::one() << 128)), "low bits")?;
    ends(&Bound::from(a))
}

/// An end beside the infinities.
fn ends(x: &Bound) -> Result<(), String> {
    let is = |v: bool, what: &str| right(v, || format!("{what} of {x}"));
    let (least, most) = (Bound::NegInf, Bound::PosInf);
    is(least < *x && *x < most && least < most && x.at().is_some() && most.at().is_none() && least.at().is_none(), "the order")?;
    is(least.neg() == most && most.neg() == least && most.bits().is_none() && least.small().is_none() && most.to_big().is_none(), "infinities")?;
    is(x.add(&most) == most && most.add(x) == most && x.add(&least) == least && least.add(x) == least, "a sum with an infinity")?;
    is(x.sub(&most) == least && x.sub(&least) == most && most.sub(x) == most && least.sub(x) == least, "a difference to an infinity")?;
    let sign = if *x == Bound::ZERO { Bound::ZERO } else if x.is_negative() { least.clone() } else { most.clone() };
    is(x.mul(&most) == sign && most.mul(x) == sign && x.mul(&least) == sign.neg() && least.mul(x) == sign.neg(), "a product with an infinity")?;
    is(least.shl(3) == least && most.shr(3) == most && least.is_negative() && !most.is_negative(), "a shift of an infinity")?;
    let three = Int::from(3);
    is(least.div_floor(&three) == Some(least.clone()) && most.div_ceil(&three) == Some(most.clone()) && most.div_floor(&Int::ZERO).is_none(), "a quotient of an infinity")
}

fn two(a: &BigInt, b: &BigInt) -> Result<(), String> {
    let (x, y) = (Int::from(a), Int::from(b));
    let is = |got: Int, v: BigInt, what: &str| right(got.to_big() == v && got.small() == v.to_i128(), || format!("{a} {what} {b} is not {got}"));
    is(x.add(&y), a + b, "+")?;
    is(x.sub(&y), a - b, "-")?;
    is(x.mul(&y), a * b, "*")?;
    is(x.and(&y), a & b, "&")?;
    is(x.or(&y), a | b, "|")?;
    is(x.xor(&y), a ^ b, "^")?;
    let (p, q) = (Bound::from(a), Bound::from(b));
    right(x.cmp(&y) == a.cmp(b) && p.cmp(&q) == a.cmp(b) && (x == y) == (a == b), || format!("the order of {a} and {b}"))?;
    let finite = |got: Bound, v: BigInt| right(got.to_big() == Some(v), || format!("ends {a} and {b} give {got}"));
    finite(p.add(&q), a + b)?;
    finite(p.sub(&q), a - b)?;
    finite(p.mul(&q), a * b)?;
    if b.is_zero() {
        let none = x.div_floor(&y).is_none() && x.mod_floor(&y).is_none() && p.div_floor(&y).is_none() && p.div_ceil(&y).is_none();
        return right(none, || format!("{a} is divided by zero"));
    }
    let got = |v: Option<Int>| v.ok_or_else(|| format!("{a} is not divided by {b}"));
    is(got(x.div_floor(&y))?, a.div_floor(b), "/")?;
    is(got(x.mod_floor(&y))?, a.mod_floor(b), "%")?;
    if b.is_positive() {
        finite(p.div_floor(&y).ok_or("no floor")?, a.div_floor(b))?;
        finite(p.div_ceil(&y).ok_or("no ceiling")?, -((-a).div_floor(b)))?;
    }
    Ok(())
}
