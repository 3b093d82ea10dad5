//! Values: what an interpretation must offer, and the concrete one.

/// Bit-vector values of widths 1 to 128. Comparisons give values of width 1, 1 for true. Both operands of a binary operation have
/// one width, and the result has it too.
pub trait Domain {
    /// A value; it knows its width.
    type V: Clone;

    /// `value` of `width` bits; `value < 2^width`.
    fn constant(&mut self, value: u128, width: u32) -> Self::V;
    /// Sum modulo 2^width.
    fn add(&mut self, a: &Self::V, b: &Self::V) -> Self::V;
    /// Difference modulo 2^width.
    fn sub(&mut self, a: &Self::V, b: &Self::V) -> Self::V;
    /// Product modulo 2^width.
    fn mul(&mut self, a: &Self::V, b: &Self::V) -> Self::V;
    /// Bitwise and.
    fn and(&mut self, a: &Self::V, b: &Self::V) -> Self::V;
    /// Bitwise or.
    fn or(&mut self, a: &Self::V, b: &Self::V) -> Self::V;
    /// Bitwise exclusive or.
    fn xor(&mut self, a: &Self::V, b: &Self::V) -> Self::V;
    /// Complement.
    fn not(&mut self, a: &Self::V) -> Self::V;
    /// Left by `count`, which is below the width and has `a`'s width.
    fn shl(&mut self, a: &Self::V, count: &Self::V) -> Self::V;
    /// Right by `count` (as in [`Domain::shl`]), zeros enter.
    fn lshr(&mut self, a: &Self::V, count: &Self::V) -> Self::V;
    /// Right by `count` (as in [`Domain::shl`]), copies of the sign enter.
    fn ashr(&mut self, a: &Self::V, count: &Self::V) -> Self::V;
    /// Unsigned less.
    fn ult(&mut self, a: &Self::V, b: &Self::V) -> Self::V;
    /// Signed less.
    fn slt(&mut self, a: &Self::V, b: &Self::V) -> Self::V;
    /// Equal.
    fn eq(&mut self, a: &Self::V, b: &Self::V) -> Self::V;
    /// `a` if `c` (width 1) is set, else `b`.
    fn ite(&mut self, c: &Self::V, a: &Self::V, b: &Self::V) -> Self::V;
    /// Widened to `width` with zeros; `width` is not less than `a`'s.
    fn zext(&mut self, a: &Self::V, width: u32) -> Self::V;
    /// Widened to `width` with the sign; `width` is not less than `a`'s.
    fn sext(&mut self, a: &Self::V, width: u32) -> Self::V;
    /// Bits `lo .. lo + width`, all within `a`.
    fn extract(&mut self, a: &Self::V, lo: u32, width: u32) -> Self::V;
    /// `hi` above `lo`.
    fn concat(&mut self, hi: &Self::V, lo: &Self::V) -> Self::V;
    /// Unsigned quotient. Evaluated for all operands, used (by an `ite` around it) only where `b` is not 0.
    fn udiv(&mut self, a: &Self::V, b: &Self::V) -> Self::V;
    /// Unsigned remainder; as [`Domain::udiv`].
    fn urem(&mut self, a: &Self::V, b: &Self::V) -> Self::V;
    /// Signed quotient rounded towards zero. Used only where `b` is not 0 and the quotient fits.
    fn sdiv(&mut self, a: &Self::V, b: &Self::V) -> Self::V;
    /// Signed remainder with `a`'s sign; as [`Domain::sdiv`].
    fn srem(&mut self, a: &Self::V, b: &Self::V) -> Self::V;
    /// Zeros above the highest one, in `a`'s width; the width for 0.
    fn clz(&mut self, a: &Self::V) -> Self::V;
    /// Zeros below the lowest one, in `a`'s width; the width for 0.
    fn ctz(&mut self, a: &Self::V) -> Self::V;
    /// Ones, in `a`'s width.
    fn cpop(&mut self, a: &Self::V) -> Self::V;
}

/// A concrete value: `bits < 2^width`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The value.
    pub bits: u128,
    /// 1 to 128.
    pub width: u32,
}

impl Word {
    /// The low `width` bits of `bits`.
    pub fn new(bits: u128, width: u32) -> Word {
        debug_assert!((1..=128).contains(&width));
        Word { bits: bits & (u128::MAX >> (128 - width)), width }
    }

    /// As a two's complement number.
    pub fn signed(self) -> i128 {
        let up = 128 - self.width;
        ((self.bits << up) as i128) >> up
    }

    fn with(self, bits: u128) -> Word {
        Word::new(bits, self.width)
    }
}

/// The concrete domain.
#[derive(Clone, Copy, Debug, Default)]
pub struct Words;

/// Quotient and remainder where they are not defined. No row may use it, so it is a value that none gives by rule.
const UNDEFINED: u128 = 0x5555_5555_5555_5555_5555_5555_5555_5555;

/// `op` of two's complement numbers; undefined for a zero divisor and where the quotient does not fit.
fn signed_division(a: &Word, b: &Word, op: fn(i128, i128) -> Option<i128>) -> Word {
    let overflow = a.bits == 1 << (a.width - 1) && b.signed() == -1;
    let value = op(a.signed(), b.signed()).filter(|_| !overflow);
    a.with(value.map_or(UNDEFINED, |v| v as u128))
}

impl Domain for Words {
    type V = Word;

    fn constant(&mut self, value: u128, width: u32) -> Word {
        Word::new(value, width)
    }
    fn add(&mut self, a: &Word, b: &Word) -> Word {
        a.with(a.bits.wrapping_add(b.bits))
    }
    fn sub(&mut self, a: &Word, b: &Word) -> Word {
        a.with(a.bits.wrapping_sub(b.bits))
    }
    fn mul(&mut self, a: &Word, b: &Word) -> Word {
        a.with(a.bits.wrapping_mul(b.bits))
    }
    fn and(&mut self, a: &Word, b: &Word) -> Word {
        a.with(a.bits & b.bits)
    }
    fn or(&mut self, a: &Word, b: &Word) -> Word {
        a.with(a.bits | b.bits)
    }
    fn xor(&mut self, a: &Word, b: &Word) -> Word {
        a.with(a.bits ^ b.bits)
    }
    fn not(&mut self, a: &Word) -> Word {
        a.with(!a.bits)
    }
    fn shl(&mut self, a: &Word, count: &Word) -> Word {
        debug_assert!(count.bits < u128::from(a.width));
        a.with(a.bits << count.bits)
    }
    fn lshr(&mut self, a: &Word, count: &Word) -> Word {
        debug_assert!(count.bits < u128::from(a.width));
        a.with(a.bits >> count.bits)
    }
    fn ashr(&mut self, a: &Word, count: &Word) -> Word {
        debug_assert!(count.bits < u128::from(a.width));
        a.with((a.signed() >> count.bits) as u128)
    }
    fn ult(&mut self, a: &Word, b: &Word) -> Word {
        Word::new(u128::from(a.bits < b.bits), 1)
    }
    fn slt(&mut self, a: &Word, b: &Word) -> Word {
        Word::new(u128::from(a.signed() < b.signed()), 1)
    }
    fn eq(&mut self, a: &Word, b: &Word) -> Word {
        Word::new(u128::from(a.bits == b.bits), 1)
    }
    fn ite(&mut self, c: &Word, a: &Word, b: &Word) -> Word {
        match c.bits {
            0 => *b,
            _ => *a,
        }
    }
    fn zext(&mut self, a: &Word, width: u32) -> Word {
        debug_assert!(width >= a.width);
        Word::new(a.bits, width)
    }
    fn sext(&mut self, a: &Word, width: u32) -> Word {
        debug_assert!(width >= a.width);
        Word::new(a.signed() as u128, width)
    }
    fn extract(&mut self, a: &Word, lo: u32, width: u32) -> Word {
        debug_assert!(lo + width <= a.width);
        Word::new(a.bits >> lo, width)
    }
    fn concat(&mut self, hi: &Word, lo: &Word) -> Word {
        Word::new(hi.bits << lo.width | lo.bits, hi.width + lo.width)
    }
    fn udiv(&mut self, a: &Word, b: &Word) -> Word {
        a.with(a.bits.checked_div(b.bits).unwrap_or(UNDEFINED))
    }
    fn urem(&mut self, a: &Word, b: &Word) -> Word {
        a.with(a.bits.checked_rem(b.bits).unwrap_or(UNDEFINED))
    }
    fn sdiv(&mut self, a: &Word, b: &Word) -> Word {
        signed_division(a, b, i128::checked_div)
    }
    fn srem(&mut self, a: &Word, b: &Word) -> Word {
        signed_division(a, b, i128::checked_rem)
    }
    fn clz(&mut self, a: &Word) -> Word {
        a.with(u128::from(a.bits.leading_zeros() - (128 - a.width)))
    }
    fn ctz(&mut self, a: &Word) -> Word {
        a.with(u128::from(a.bits.trailing_zeros().min(a.width)))
    }
    fn cpop(&mut self, a: &Word) -> Word {
        a.with(u128::from(a.bits.count_ones()))
    }
}
