//! Exact arithmetic on constants, with the limits that keep it finite.

use crate::limits;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use santoku_diag::{Diagnostic, Span};
use santoku_ir::perm::Perm;
use santoku_ir::Range;
use santoku_syntax::ast::BinOp;

/// Why a constant operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    TooLarge,
    /// Divisor zero or negative.
    Divisor,
    /// Shift count negative, or not below the word's size.
    Count,
    /// Exponent negative.
    Exponent,
    /// The operation does not exist on this type.
    Operator,
}

impl Fault {
    /// The message for a fault at `span`.
    pub fn diagnostic(self, span: Span) -> Diagnostic {
        match self {
            Fault::TooLarge => Diagnostic::error("const-too-large", "constant beyond 2^4096")
                .at(span, "this value has more than 4096 bits")
                .help("constants are limited to 2^4096 in magnitude; check the exponent or shift"),
            Fault::Divisor => Diagnostic::error("bad-divisor", "divisor is not positive")
                .at(span, "divides by zero or by a negative number")
                .help("`/` and `%` are floor division by positive constants"),
            Fault::Count => Diagnostic::error("bad-shift", "shift count out of range")
                .at(span, "this count is negative or not below the number of bits")
                .help("shift a word of n bits by 0 to n-1"),
            Fault::Exponent => Diagnostic::error("bad-exponent", "exponent is negative")
                .at(span, "powers of integers need an exponent of at least 0")
                .help("divide by the positive power instead"),
            Fault::Operator => Diagnostic::error("bad-operator", "this operation does not exist on these operands")
                .at(span, "not defined here")
                .help("bitwise operations and rotations need words; convert with `u32(..)`"),
        }
    }
}

/// Refuses what exceeds [`limits::CONST_BITS`].
pub fn limited(v: BigInt) -> Result<BigInt, Fault> {
    if v.bits() > limits::CONST_BITS {
        Err(Fault::TooLarge)
    } else {
        Ok(v)
    }
}

/// `2^bits - 1`.
pub fn mask(bits: u32) -> BigInt {
    (BigInt::one() << bits) - 1
}

/// `k` where `v = 2^k`.
pub fn log2_exact(v: &BigInt) -> Option<u32> {
    if !v.is_positive() {
        return None;
    }
    let k = v.bits() - 1;
    (v.trailing_zeros() == Some(k)).then(|| u32::try_from(k).ok()).flatten()
}

/// `base ^ exp`, exact.
pub fn power(base: &BigInt, exp: &BigInt) -> Result<BigInt, Fault> {
    if exp.is_negative() {
        return Err(Fault::Exponent);
    }
    if base.is_zero() || base.is_one() {
        return Ok(if exp.is_zero() { BigInt::one() } else { base.clone() });
    }
    match exp.to_u32() {
        Some(e) if u64::from(e) <= limits::CONST_BITS => {
            if base.bits().saturating_mul(u64::from(e)) > 2 * limits::CONST_BITS {
                return Err(Fault::TooLarge);
            }
            limited(base.pow(e))
        }
        _ => Err(Fault::TooLarge),
    }
}

/// An operation on exact integers that gives an integer.
pub fn int_op(op: BinOp, a: &BigInt, b: &BigInt) -> Result<BigInt, Fault> {
    match op {
        BinOp::Add => limited(a + b),
        BinOp::Sub => limited(a - b),
        BinOp::Mul => limited(a * b),
        BinOp::Div if b.is_positive() => Ok(a.div_floor(b)),
        BinOp::Rem if b.is_positive() => Ok(a.mod_floor(b)),
        BinOp::Div | BinOp::Rem => Err(Fault::Divisor),
        BinOp::Shl | BinOp::Shr if b.is_negative() => Err(Fault::Count),
        BinOp::Shl if a.is_zero() => Ok(BigInt::zero()),
        BinOp::Shl => match b.to_u64() {
            Some(k) if k <= limits::CONST_BITS => limited(a << k),
            _ => Err(Fault::TooLarge),
        },
        BinOp::Shr => Ok(match b.to_u64() {
            Some(k) if k <= 2 * limits::CONST_BITS => a >> k,
            _ if a.is_negative() => -BigInt::one(),
            _ => BigInt::zero(),
        }),
        BinOp::BitAnd => Ok(a & b),
        BinOp::BitOr => Ok(a | b),
        BinOp::BitXor => Ok(a ^ b),
        _ => Err(Fault::Operator),
    }
}

/// An operation on words of `bits` bits; for shifts and rotations `b` is the count.
pub fn word_op(op: BinOp, bits: u32, a: &BigInt, b: &BigInt) -> Result<BigInt, Fault> {
    if matches!(op, BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr) {
        let count = b.to_u32().filter(|k| *k < bits).ok_or(Fault::Count)?;
        let left = match op {
            BinOp::Shl => a << count,
            BinOp::Shr => a >> count,
            BinOp::Rotl => (a << count) | (a >> (bits - count)),
            _ => (a >> count) | (a << (bits - count)),
        };
        return Ok(left & mask(bits));
    }
    Ok(int_op(op, a, b)?.mod_floor(&(BigInt::one() << bits)))
}

/// A comparison; `None` for other operators.
pub fn compare<T: Ord>(op: BinOp, a: &T, b: &T) -> Option<bool> {
    Some(match op {
        BinOp::Eq => a == b,
        BinOp::Ne => a != b,
        BinOp::Lt => a < b,
        BinOp::Le => a <= b,
        BinOp::Gt => a > b,
        BinOp::Ge => a >= b,
        _ => return None,
    })
}

/// How a large number is shown: in full up to 20 digits, else as `2^k` or by its size.
pub fn show(v: &BigInt) -> String {
    let text = v.to_string();
    if text.len() <= 20 {
        return text;
    }
    for (offset, suffix) in [(0, ""), (1, "-1"), (-1, "+1")] {
        let sign = if v.is_negative() { "-" } else { "" };
        if let Some(k) = log2_exact(&(v.abs() + offset)) {
            return if sign.is_empty() { format!("2^{k}{suffix}") } else { format!("-(2^{k}{suffix})") };
        }
    }
    format!("0x{:x}", v)
}

/// A range, its ends likewise.
pub fn show_range(r: &Range) -> String {
    format!("{}..{}", show(&r.lo.to_big()), show(&r.hi.to_big()))
}

/// What a permutation makes of a constant.
pub fn applied(perm: &Perm, x: &BigInt) -> BigInt {
    perm.from.iter().enumerate().fold(BigInt::ZERO, |y, (j, from)| y | ((x >> *from & BigInt::from(1)) << j))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn big(v: i64) -> BigInt {
        BigInt::from(v)
    }

    #[test]
    fn division_and_shift_floor() {
        assert_eq!(int_op(BinOp::Div, &big(-7), &big(4)), Ok(big(-2)));
        assert_eq!(int_op(BinOp::Rem, &big(-7), &big(4)), Ok(big(1)));
        assert_eq!(int_op(BinOp::Shr, &big(-7), &big(2)), Ok(big(-2)));
        assert_eq!(int_op(BinOp::Div, &big(1), &big(0)), Err(Fault::Divisor));
    }

    #[test]
    fn powers_are_limited() {
        assert_eq!(power(&big(2), &big(4095)).map(|v| v.bits()), Ok(4096));
        assert_eq!(power(&big(2), &big(4096)), Err(Fault::TooLarge));
        assert_eq!(power(&big(3), &big(1 << 40)), Err(Fault::TooLarge));
        assert_eq!(power(&big(1), &big(1 << 40)), Ok(big(1)));
        assert_eq!(power(&big(2), &big(-1)), Err(Fault::Exponent));
    }

    #[test]
    fn words_wrap_and_rotate() {
        assert_eq!(word_op(BinOp::Sub, 8, &big(1), &big(2)), Ok(big(255)));
        assert_eq!(word_op(BinOp::Rotl, 8, &big(0x81), &big(1)), Ok(big(3)));
        assert_eq!(word_op(BinOp::Rotr, 8, &big(0x81), &big(1)), Ok(big(0xc0)));
        assert_eq!(word_op(BinOp::Shl, 8, &big(1), &big(8)), Err(Fault::Count));
    }

    #[test]
    fn large_numbers_read_as_powers() {
        assert_eq!(show(&mask(255)), "2^255-1");
        assert_eq!(show(&(BigInt::one() << 80)), "2^80");
        assert_eq!(show(&-(big(1) << 80u32)), "-(2^80)");
        assert_eq!(show(&big(12)), "12");
    }
}
