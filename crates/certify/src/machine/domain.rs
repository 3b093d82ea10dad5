//! The instruction model over terms: words are integers in `0 ..= 2^w - 1`.

use crate::term::{Terms, T};
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive};
use santoku_isa::Domain;

/// A word and its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    pub t: T,
    pub w: u32,
}

/// An interpretation of one instruction.
pub struct Values<'a> {
    pub terms: &'a mut Terms,
    /// The operation that has no interpretation here, if one was met. The value given for it means nothing.
    pub missing: Option<&'static str>,
}

impl Values<'_> {
    fn wrap(&mut self, t: T, w: u32) -> Word {
        Word { t: self.terms.mod2k(t, w), w }
    }

    fn signed(&mut self, a: &Word) -> T {
        self.terms.signed(a.t, a.w)
    }

    /// A shift, for every count there is.
    fn shift(&mut self, a: &Word, count: &Word, by: fn(&mut Self, &Word, u32) -> T) -> Word {
        if let Some(k) = self.terms.as_const(count.t).and_then(|k| k.to_u32()) {
            return Word { t: by(self, a, k), w: a.w };
        }
        let all: Vec<T> = (0..a.w).map(|k| by(self, a, k)).collect();
        match self.terms.pick(&all, count.t) {
            Some(t) => Word { t, w: a.w },
            None => self.none("a shift by a computed count", a.w),
        }
    }

    fn none(&mut self, what: &'static str, w: u32) -> Word {
        self.missing.get_or_insert(what);
        Word { t: Terms::ZERO, w }
    }
}

impl Domain for Values<'_> {
    type V = Word;

    fn constant(&mut self, value: u128, width: u32) -> Word {
        Word { t: self.terms.int(value), w: width }
    }
    fn add(&mut self, a: &Word, b: &Word) -> Word {
        let t = self.terms.add(a.t, b.t);
        self.wrap(t, a.w)
    }
    fn sub(&mut self, a: &Word, b: &Word) -> Word {
        let t = self.terms.sub(a.t, b.t);
        self.wrap(t, a.w)
    }
    fn mul(&mut self, a: &Word, b: &Word) -> Word {
        let t = self.terms.mul(a.t, b.t);
        self.wrap(t, a.w)
    }
    fn and(&mut self, a: &Word, b: &Word) -> Word {
        Word { t: self.terms.and(a.t, b.t, a.w), w: a.w }
    }
    fn or(&mut self, a: &Word, b: &Word) -> Word {
        Word { t: self.terms.or(a.t, b.t, a.w), w: a.w }
    }
    fn xor(&mut self, a: &Word, b: &Word) -> Word {
        Word { t: self.terms.xor(a.t, b.t, a.w), w: a.w }
    }
    fn not(&mut self, a: &Word) -> Word {
        Word { t: self.terms.not(a.t, a.w), w: a.w }
    }
    fn shl(&mut self, a: &Word, count: &Word) -> Word {
        self.shift(a, count, |s, a, k| {
            let t = s.terms.scale(a.t, &(BigInt::one() << k));
            s.terms.mod2k(t, a.w)
        })
    }
    fn lshr(&mut self, a: &Word, count: &Word) -> Word {
        self.shift(a, count, |s, a, k| s.terms.div2k(a.t, k))
    }
    fn ashr(&mut self, a: &Word, count: &Word) -> Word {
        self.shift(a, count, |s, a, k| {
            let t = s.signed(a);
            let t = s.terms.div2k(t, k);
            s.terms.mod2k(t, a.w)
        })
    }
    fn ult(&mut self, a: &Word, b: &Word) -> Word {
        Word { t: self.terms.lt(a.t, b.t), w: 1 }
    }
    fn slt(&mut self, a: &Word, b: &Word) -> Word {
        let (x, y) = (self.signed(a), self.signed(b));
        Word { t: self.terms.lt(x, y), w: 1 }
    }
    fn eq(&mut self, a: &Word, b: &Word) -> Word {
        Word { t: self.terms.eq(a.t, b.t), w: 1 }
    }
    fn ite(&mut self, c: &Word, a: &Word, b: &Word) -> Word {
        Word { t: self.terms.ite(c.t, a.t, b.t), w: a.w }
    }
    fn zext(&mut self, a: &Word, width: u32) -> Word {
        Word { t: a.t, w: width }
    }
    fn sext(&mut self, a: &Word, width: u32) -> Word {
        let t = self.signed(a);
        self.wrap(t, width)
    }
    fn extract(&mut self, a: &Word, lo: u32, width: u32) -> Word {
        let t = self.terms.div2k(a.t, lo);
        self.wrap(t, width)
    }
    fn concat(&mut self, hi: &Word, lo: &Word) -> Word {
        let up = self.terms.scale(hi.t, &(BigInt::one() << lo.w));
        Word { t: self.terms.add(up, lo.t), w: hi.w + lo.w }
    }
    fn udiv(&mut self, a: &Word, b: &Word) -> Word {
        match self.terms.as_const(b.t).filter(|d| *d > BigInt::ZERO) {
            Some(d) => Word { t: self.terms.div(a.t, &d), w: a.w },
            None => self.none("a division", a.w),
        }
    }
    fn urem(&mut self, a: &Word, b: &Word) -> Word {
        match self.terms.as_const(b.t).filter(|d| *d > BigInt::ZERO) {
            Some(d) => Word { t: self.terms.rem(a.t, &d), w: a.w },
            None => self.none("a division", a.w),
        }
    }
    fn sdiv(&mut self, a: &Word, _: &Word) -> Word {
        self.none("a signed division", a.w)
    }
    fn srem(&mut self, a: &Word, _: &Word) -> Word {
        self.none("a signed remainder", a.w)
    }
    fn clz(&mut self, a: &Word) -> Word {
        self.none("a count of leading zeros", a.w)
    }
    fn ctz(&mut self, a: &Word) -> Word {
        self.none("a count of trailing zeros", a.w)
    }
    fn cpop(&mut self, a: &Word) -> Word {
        self.none("a count of ones", a.w)
    }
}
