//! The instruction model over polynomials: a word is its value in `0 ..= 2^w - 1`.
//!
//! Needs: the words of the judge of meaning.  Keeps: what has no meaning here is noted.  Absent: division, counts of bits, shifts by
//! what is no number.

use santoku_ir::BinOp;
use santoku_isa::Domain;
use santoku_num::{Int, Itv};
use santoku_meaning::atoms::{Atoms, Num};
use santoku_meaning::poly::Poly;
use santoku_meaning::state::PRODUCT;
use santoku_meaning::words;

/// A word and its width.
#[derive(Clone)]
pub struct Word {
    pub v: Num,
    pub w: u32,
}

/// An interpretation of one instruction.
pub struct Values<'a> {
    pub atoms: &'a mut Atoms,
    /// An operation was met that has no meaning here: the value given for it says nothing.
    pub missing: Option<&'static str>,
}

/// The two's complement reading of a word.
pub fn signed(atoms: &mut Atoms, v: &Num, w: u32) -> Option<Num> {
    let half = Int::pow2(w - 1);
    let up = atoms.num(v.p.shift(half.clone()), v.itv.as_ref().map(|i| i.add(&Itv::point(half.clone()))));
    let q = atoms.divide(&up, &Int::pow2(w))?.0;
    Some(atoms.num(v.p.plus(&Int::pow2(w).neg(), &q.p), Itv::between(half.neg(), half.sub(&1.into()))))
}

impl Values<'_> {
    fn none(&mut self, what: &'static str, w: u32) -> Word {
        self.missing.get_or_insert(what);
        Word { v: self.atoms.fresh(Some(Itv::word(w))), w }
    }
    fn some(&mut self, v: Option<Num>, w: u32) -> Word {
        match v {
            // What operations on words give is a word.
            Some(v) => {
                let itv = v.itv.as_ref().and_then(|i| i.common(&Itv::word(w))).unwrap_or_else(|| Itv::word(w));
                Word { v: self.atoms.num(v.p, Some(itv)), w }
            }
            None => self.none("a value that is not followed", w),
        }
    }
    fn wrap(&mut self, p: Poly, itv: Option<Itv>, w: u32) -> Word {
        let v = self.atoms.num(p, itv);
        let v = words::wrap(self.atoms, &v, w);
        self.some(v, w)
    }
    fn exact(&mut self, a: &Word, b: &Word, p: Poly, of: fn(&Itv, &Itv) -> Itv) -> Word {
        let itv = a.v.itv.as_ref().zip(b.v.itv.as_ref()).map(|(a, b)| of(a, b));
        self.wrap(p, itv, a.w)
    }
    fn by_number(&mut self, op: BinOp, a: &Word, count: &Word) -> Word {
        let k = count.v.p.as_const().and_then(|k| k.to_u64()).and_then(|k| u32::try_from(k).ok()).filter(|k| *k < a.w);
        let v = k.and_then(|k| words::shifted(self.atoms, op, &a.v, k, a.w));
        self.some(v, a.w)
    }
    fn truth(p: Option<Poly>) -> Option<Num> {
        p.map(Num::truth)
    }
}

impl Domain for Values<'_> {
    type V = Word;

    fn constant(&mut self, value: u128, w: u32) -> Word {
        Word { v: Num::constant(num_bigint::BigInt::from(value)), w }
    }
    fn add(&mut self, a: &Word, b: &Word) -> Word {
        self.exact(a, b, a.v.p.add(&b.v.p), Itv::add)
    }
    fn sub(&mut self, a: &Word, b: &Word) -> Word {
        self.exact(a, b, a.v.p.sub(&b.v.p), Itv::sub)
    }
    fn mul(&mut self, a: &Word, b: &Word) -> Word {
        if a.v.p.len() * b.v.p.len() > PRODUCT {
            return self.none("a product that is too long", a.w);
        }
        self.exact(a, b, a.v.p.mul(&b.v.p), Itv::mul)
    }
    fn and(&mut self, a: &Word, b: &Word) -> Word {
        let v = words::bitwise(self.atoms, BinOp::And, &a.v, &b.v, (a.w, a.w));
        self.some(v, a.w)
    }
    fn or(&mut self, a: &Word, b: &Word) -> Word {
        let v = words::bitwise(self.atoms, BinOp::Or, &a.v, &b.v, (a.w, a.w));
        self.some(v, a.w)
    }
    fn xor(&mut self, a: &Word, b: &Word) -> Word {
        let v = words::bitwise(self.atoms, BinOp::Xor, &a.v, &b.v, (a.w, a.w));
        self.some(v, a.w)
    }
    fn not(&mut self, a: &Word) -> Word {
        let all = Word { v: Num::constant(Int::mask(a.w)), w: a.w };
        self.sub(&all, a)
    }
    fn shl(&mut self, a: &Word, count: &Word) -> Word {
        self.by_number(BinOp::Shl, a, count)
    }
    fn lshr(&mut self, a: &Word, count: &Word) -> Word {
        self.by_number(BinOp::Shr, a, count)
    }
    fn ashr(&mut self, a: &Word, count: &Word) -> Word {
        let k = count.v.p.as_const().and_then(|k| k.to_u64()).and_then(|k| u32::try_from(k).ok()).filter(|k| *k < a.w);
        let s = signed(self.atoms, &a.v, a.w);
        let q = s.zip(k).and_then(|(s, k)| self.atoms.divide(&s, &Int::pow2(k)));
        match q {
            Some((q, _)) => self.wrap(q.p, q.itv, a.w),
            None => self.none("a shift by what is no number", a.w),
        }
    }
    fn ult(&mut self, a: &Word, b: &Word) -> Word {
        let d = self.atoms.sub(&a.v, &b.v);
        let v = Self::truth(self.atoms.negative(&d));
        self.some(v, 1)
    }
    fn slt(&mut self, a: &Word, b: &Word) -> Word {
        let v = signed(self.atoms, &a.v, a.w).zip(signed(self.atoms, &b.v, b.w)).and_then(|(a, b)| {
            let d = self.atoms.sub(&a, &b);
            self.atoms.negative(&d)
        });
        self.some(Self::truth(v), 1)
    }
    fn eq(&mut self, a: &Word, b: &Word) -> Word {
        let d = self.atoms.sub(&a.v, &b.v);
        let p = self.atoms.zero(&d);
        Word { v: Num::truth(p), w: 1 }
    }
    fn ite(&mut self, c: &Word, a: &Word, b: &Word) -> Word {
        if c.v.p.len() * (a.v.p.len() + b.v.p.len()) > PRODUCT {
            return self.none("a product that is too long", a.w);
        }
        let p = b.v.p.add(&c.v.p.mul(&a.v.p.sub(&b.v.p)));
        let itv = a.v.itv.as_ref().zip(b.v.itv.as_ref()).map(|(a, b)| a.join(b));
        Word { v: self.atoms.num(p, itv), w: a.w }
    }
    fn zext(&mut self, a: &Word, w: u32) -> Word {
        Word { v: a.v.clone(), w }
    }
    fn sext(&mut self, a: &Word, w: u32) -> Word {
        match signed(self.atoms, &a.v, a.w) {
            Some(s) => self.wrap(s.p, s.itv, w),
            None => self.none("a value that is not followed", w),
        }
    }
    fn extract(&mut self, a: &Word, lo: u32, w: u32) -> Word {
        match self.atoms.divide(&a.v, &Int::pow2(lo)) {
            Some((q, _)) => self.wrap(q.p, q.itv, w),
            None => self.none("a value that is not followed", w),
        }
    }
    fn concat(&mut self, hi: &Word, lo: &Word) -> Word {
        let up = Word { v: Num { p: hi.v.p.scale(&Int::pow2(lo.w)), itv: hi.v.itv.as_ref().map(|i| i.mul(&Itv::point(Int::pow2(lo.w)))) }, w: hi.w + lo.w };
        self.exact(&up, lo, up.v.p.add(&lo.v.p), Itv::add)
    }
    fn udiv(&mut self, a: &Word, _: &Word) -> Word {
        self.none("a division", a.w)
    }
    fn urem(&mut self, a: &Word, _: &Word) -> Word {
        self.none("a division", a.w)
    }
    fn sdiv(&mut self, a: &Word, _: &Word) -> Word {
        self.none("a division", a.w)
    }
    fn srem(&mut self, a: &Word, _: &Word) -> Word {
        self.none("a division", a.w)
    }
    fn clz(&mut self, a: &Word) -> Word {
        self.none("a count of bits", a.w)
    }
    fn ctz(&mut self, a: &Word) -> Word {
        self.none("a count of bits", a.w)
    }
    fn cpop(&mut self, a: &Word) -> Word {
        self.none("a count of bits", a.w)
    }
}
