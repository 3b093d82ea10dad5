//! Random expressions of a wanted type, with the range of every integer known.

use super::func::{Counter, FuncGen, Ranged};
use crate::data::*;
use crate::ty::{Len, LocalId, Range, Ty};
use num_bigint::BigInt;
use num_traits::One;
use santoku_num::Int;

impl FuncGen<'_, '_> {
    pub fn cmp_op(&mut self) -> CmpOp {
        *self.rng.pick(&[CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le, CmpOp::Gt, CmpOp::Ge])
    }

    /// A value that may flow into a place of this type.
    pub fn of(&mut self, ty: &Ty, depth: u32) -> Expr {
        match ty {
            Ty::Word(bits) => self.word(*bits, depth),
            Ty::Bool => self.boolean(depth),
            Ty::Int(None) => self.int(depth, false).0,
            Ty::Int(Some(range)) => self.within(range, depth, false),
            Ty::Array { elem, len, ranges } => self.array(ty, elem, len, ranges.as_deref(), depth),
            Ty::Struct(id) => {
                let id = *id;
                if self.rng.one_in(2) {
                    if let Some((e, _)) = self.read(false, |t| *t == Ty::Struct(id)) {
                        return e;
                    }
                }
                let fields = &self.program.structs[id.0 as usize].fields;
                Expr::structure(id, fields.iter().map(|(_, t)| self.of(t, depth.saturating_sub(1))).collect())
            }
        }
    }

    fn array(&mut self, ty: &Ty, elem: &Ty, len: &Len, ranges: Option<&[Range]>, depth: u32) -> Expr {
        if depth > 0 && self.rng.one_in(5) {
            let c = self.boolean(depth - 1);
            return Expr::select(c, self.of(ty, depth - 1), self.of(ty, depth - 1));
        }
        if self.rng.one_in(2) {
            if let Some((e, _)) = self.read(false, |t| t == ty) {
                return e;
            }
        }
        if let (Len::Const(n), None, true) = (len, ranges, self.rng.one_in(3)) {
            if let Some(e) = self.slice(elem, *n) {
                return e;
            }
        }
        match (len, ranges) {
            (Len::Const(n), None) if self.rng.one_in(2) || *n == 0 => {
                Expr::repeat(self.of(elem, depth.saturating_sub(1)), len.clone())
            }
            (Len::Const(n), _) => {
                let each = |i: u64| ranges.map_or_else(|| elem.clone(), |r| Ty::Int(Some(r[i as usize].clone())));
                Expr::array(elem, (0..*n).map(|i| self.of(&each(i), depth.saturating_sub(1))).collect())
            }
            (Len::Param { .. }, _) => Expr::repeat(self.of(elem, depth.saturating_sub(1)), len.clone()),
        }
    }

    /// `count` consecutive elements of some longer array with the same elements.
    fn slice(&mut self, elem: &Ty, count: u64) -> Option<Expr> {
        let fits = |t: &Ty| match t {
            Ty::Array { elem: e, len: Len::Const(n), ranges: None } => **e == *elem && *n >= count,
            _ => false,
        };
        let (e, ty) = self.read(false, fits)?;
        let (ExprKind::Read(place), Ty::Array { len: Len::Const(n), .. }) = (e.kind, ty) else { return None };
        let off = self.index(&Len::Const(n - count + 1))?;
        Some(Expr::read(place.slice(off, count), &Ty::array(elem.clone(), count)))
    }

    pub fn boolean(&mut self, depth: u32) -> Expr {
        if depth == 0 || self.rng.one_in(4) {
            let read = self.read(false, |t| *t == Ty::Bool).map(|(e, _)| e);
            return read.unwrap_or_else(|| Expr::bool(self.rng.one_in(2)));
        }
        match self.rng.below(6) {
            0 => !self.boolean(depth - 1),
            1 => {
                let op = *self.rng.pick(&[BinOp::And, BinOp::Or, BinOp::Xor]);
                Expr::bin(op, self.boolean(depth - 1), self.boolean(depth - 1))
            }
            2 | 3 => {
                let bits = *self.rng.pick(&self.config.words);
                Expr::cmp(self.cmp_op(), self.word(bits, depth - 1), self.word(bits, depth - 1))
            }
            4 => {
                let (a, _) = self.int(depth - 1, false);
                let (b, _) = self.int(depth - 1, false);
                Expr::cmp(self.cmp_op(), a, b)
            }
            _ => {
                let ty = self.ty(false);
                let op = *self.rng.pick(&[CmpOp::Eq, CmpOp::Ne]);
                Expr::cmp(op, self.of(&ty, depth - 1), self.of(&ty, depth - 1))
            }
        }
    }

    pub fn word(&mut self, bits: u32, depth: u32) -> Expr {
        if depth == 0 || self.rng.one_in(4) {
            let read = self.read(false, |t| *t == Ty::Word(bits)).map(|(e, _)| e);
            return read.unwrap_or_else(|| Expr::word(bits, self.rng.word(bits)));
        }
        let d = depth - 1;
        match self.rng.below(9) {
            0 => -self.word(bits, d),
            1 => !self.word(bits, d),
            2 => {
                let c = self.boolean(d);
                Expr::select(c, self.word(bits, d), self.word(bits, d))
            }
            3 => match self.rng.below(3) {
                0 => self.boolean(d).cast(Ty::Word(bits)),
                1 => self.int(d, false).0.cast(Ty::Word(bits)),
                _ => {
                    let from = *self.rng.pick(&self.config.words);
                    self.word(from, d).cast(Ty::Word(bits))
                }
            },
            4 | 5 => {
                let op = *self.rng.pick(&[BinOp::Shl, BinOp::Shr, BinOp::Rotl, BinOp::Rotr]);
                let count = self.index(&Len::Const(u64::from(bits))).unwrap_or_else(|| Expr::int(0));
                Expr::bin(op, self.word(bits, d), count)
            }
            _ => {
                let ops = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::And, BinOp::Or, BinOp::Xor];
                let op = *self.rng.pick(&ops);
                Expr::bin(op, self.word(bits, d), self.word(bits, d))
            }
        }
    }

    /// An integer inside `want`: as it comes, or masked and shifted into place.
    pub fn within(&mut self, want: &Range, depth: u32, public: bool) -> Expr {
        let (e, range) = self.int(depth, public);
        if want.contains(&range) {
            return e;
        }
        let width = want.hi.sub(&want.lo);
        let bits = width.add(&Int::ONE).bits() - 1;
        (e & Expr::int((BigInt::one() << bits) - 1)) + Expr::int(want.lo.clone())
    }

    fn int_leaf(&mut self, public: bool) -> Ranged {
        if self.rng.one_in(3) {
            let consts: Vec<(LocalId, i64, i64)> = self.counters.iter().filter_map(Counter::consts).collect();
            if !consts.is_empty() {
                let (id, lo, hi) = *self.rng.pick(&consts);
                return (Expr::int_local(id), Range::new(lo, hi));
            }
        }
        match self.read(public, |t| matches!(t, Ty::Int(Some(_)))) {
            Some((e, Ty::Int(Some(range)))) => (e, range),
            _ => {
                let v = self.rng.int_in(&Range::new(-70000, 70000));
                (Expr::int(v.clone()), Range::new(v.clone(), v))
            }
        }
    }

    /// An integer whose magnitude, and that of all its parts, stays below the configured one.
    pub fn int(&mut self, depth: u32, public: bool) -> Ranged {
        if depth == 0 || self.rng.one_in(4) {
            return self.int_leaf(public);
        }
        let d = depth - 1;
        let (a, ra) = self.int(d, public);
        let made = match self.rng.below(11) {
            0 => (-a.clone(), ra.neg()),
            1 if !public => {
                let bits = *self.rng.pick(&self.config.words);
                (self.word(bits, d).cast(Ty::int()), Range::word(bits))
            }
            2 if !public => {
                let c = self.boolean(d);
                let (b, rb) = self.int(d, public);
                (Expr::select(c, a.clone(), b), ra.join(&rb))
            }
            3 => {
                let k = self.rng.below(20) as u32;
                (a.clone().shl(k), ra.shl(k))
            }
            4 => {
                let k = self.rng.below(40) as u32;
                (a.clone().shr(k), ra.shr(k))
            }
            5 => {
                let mask = (BigInt::one() << self.rng.below(30)) - BigInt::one();
                (a.clone() & Expr::int(mask.clone()), Range::new(0, mask))
            }
            6 => self.divide(a.clone(), &ra, public),
            7 if !public => (self.boolean(d).cast(Ty::int()), Range::new(0, 1)),
            op => {
                let (b, rb) = self.int(d, public);
                match op {
                    8 => (a.clone() * b, ra.mul(&rb)),
                    9 => (a.clone() - b, ra.sub(&rb)),
                    _ => (a.clone() + b, ra.add(&rb)),
                }
            }
        };
        let limit = Int::pow2(self.config.int_bits);
        let small = made.1.lo > limit.neg() && made.1.hi < limit;
        if small {
            made
        } else {
            (a, ra)
        }
    }

    fn divide(&mut self, a: Expr, range: &Range, public: bool) -> Ranged {
        let by = if public { 1 + self.rng.below(100) } else { 1 << self.rng.below(20) };
        match range.div_floor(&Int::from(by)) {
            Some(out) if self.rng.one_in(2) => (Expr::bin(BinOp::Div, a, Expr::int(by)), out),
            _ => (Expr::bin(BinOp::Mod, a, Expr::int(by)), Range::new(0, by - 1)),
        }
    }
}
