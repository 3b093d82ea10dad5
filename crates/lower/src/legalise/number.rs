//! Numbers as words: how many, how wide, and what they are without the values.
//! Trusted: nothing: nothing that ships is made of it.

use crate::data::Value;
use crate::layout::signed_range;
use num_bigint::{BigInt, Sign};
use num_traits::ToPrimitive;
use santoku_ir::Range;

/// Words of the machine, by width, rising.
#[derive(Clone, Debug)]
pub(crate) struct Words(pub Vec<u32>);

/// How a number is held: in so many words of so many bits, the lowest first, with a sign in the top one or without. More than one word are of
/// the widest kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rep {
    pub bits: u32,
    pub words: usize,
    pub signed: bool,
}

/// A number at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Num {
    pub words: Vec<Value>,
    pub bits: u32,
    pub signed: bool,
}

impl Rep {
    /// Bits of all words.
    pub fn total(self) -> u32 {
        self.bits * self.words as u32
    }
}

impl Num {
    pub fn rep(&self) -> Rep {
        Rep { bits: self.bits, words: self.words.len(), signed: self.signed }
    }
}

impl Words {
    pub fn widest(&self) -> u32 {
        self.0.last().copied().unwrap_or(32)
    }

    /// For all values in a range. Words below 32 bits are for memory alone.
    pub fn fit(&self, range: &Range) -> Rep {
        let signed = range.lo.is_negative();
        let holds = |bits: u32| if signed { signed_range(bits).contains(range) } else { range.fits(bits) };
        if let Some(bits) = self.0.iter().copied().filter(|b| *b >= 32).find(|b| holds(*b)) {
            return Rep { bits, words: 1, signed };
        }
        let bits = self.widest();
        let words = (2..).find(|n| holds(bits * n)).unwrap_or(2);
        Rep { bits, words: words as usize, signed }
    }

    /// For a value of exactly so many bits without a sign.
    pub fn of_bits(&self, bits: u32) -> Rep {
        self.fit(&Range::word(bits.max(1)))
    }
}

/// The low 128 bits, in two's complement.
pub(crate) fn bits_of(v: &BigInt) -> u128 {
    word_of(v, 0, 128)
}

/// The bits `lo .. lo + width`, in two's complement.
pub(crate) fn word_of(v: &BigInt, lo: u32, width: u32) -> u128 {
    let modulus = BigInt::from(1) << width;
    let low: BigInt = ((v >> lo) % &modulus + &modulus) % modulus;
    debug_assert!(low.sign() != Sign::Minus);
    low.to_u128().unwrap_or(0)
}
