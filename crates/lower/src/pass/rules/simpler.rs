//! Which rule is for which operation; bits, shifts, comparisons, widths.
//! Trusted: nothing: nothing that ships is made of it.

use super::super::facts::{filled, ones, Known};
use super::super::fold::Fold;
use crate::data::{BinOp, CmpOp, ConvertOp, Op, ShiftOp, Type, Value};

/// The result of an operation that has one; `None`: nothing is simpler.
pub(in super::super) fn one(f: &mut Fold<'_>, op: Op, ty: Type) -> Option<Value> {
    let bits = ty.bits()?;
    if bits > 64 {
        return None;
    }
    match op {
        Op::Bin(BinOp::Add, a, b) => f.add(a, b, bits),
        Op::Bin(BinOp::Sub, a, b) => f.sub(a, b, bits),
        Op::Bin(BinOp::Mul, a, b) => f.mul(a, b, bits),
        Op::Bin(BinOp::MulHu, a, b) => f.mul_high(a, b, bits),
        Op::Bin(o @ (BinOp::And | BinOp::Or | BinOp::Xor), a, b) => f.logic(o, a, b, bits),
        Op::Bin(..) => None,
        Op::Shift(o, a, n) => f.shift(o, a, n, bits),
        Op::Cmp(o, a, b) => f.compare(o, a, b, bits),
        Op::Select(c, a, b) => f.choose(c, a, b),
        Op::Convert(o, a) => f.convert(o, a, bits),
        Op::Load { bytes, signed, at } => f.tabled(bytes, signed, at, bits),
        _ => None,
    }
}

/// The results of one that has two; `read`: which of them something reads.
pub(in super::super) fn two(f: &mut Fold<'_>, op: Op, bits: u32, read: (bool, bool)) -> Option<(Value, Value)> {
    if bits > 64 {
        return None;
    }
    match op {
        Op::AddCarry(a, b, c) => f.add_carry((a, b, c), bits, read),
        Op::SubBorrow(a, b, c) => f.sub_borrow((a, b, c), bits, read),
        _ => None,
    }
}

impl Fold<'_> {
    fn logic(&mut self, op: BinOp, a: Value, b: Value, bits: u32) -> Option<Value> {
        if let (Some(x), Some(y)) = (self.constant_of(a), self.constant_of(b)) {
            let n = match op {
                BinOp::And => x & y,
                BinOp::Or => x | y,
                _ => x ^ y,
            };
            return Some(self.constant(n, bits));
        }
        if self.constant_of(a).is_some() {
            return Some(self.word(Op::Bin(op, b, a), bits));
        }
        if a == b {
            return Some(if op == BinOp::Xor { self.constant(0, bits) } else { a });
        }
        if op == BinOp::Or {
            if let Some(v) = self.bits_of_two(a, b, bits) {
                return Some(v);
            }
        }
        if op == BinOp::And {
            if let Some(v) = self.both_equal(a, b, bits) {
                return Some(v);
            }
        }
        let n = self.constant_of(b)?;
        if let (BinOp::And, Some(Op::Convert(ConvertOp::Trunc, x))) = (op, self.op_of(a)) {
            // Of the wide word: what is left of it is narrow.
            let wide = self.bits(x);
            let mask = self.constant(n, wide);
            let low = self.word(Op::Bin(BinOp::And, x, mask), wide);
            return Some(self.word(Op::Convert(ConvertOp::Trunc, low), bits));
        }
        match op {
            BinOp::And if n == 0 => Some(b),
            // A mask of low bits, of which the other has no more.
            BinOp::And if n & (n + 1) == 0 && self.most(a) <= n => Some(a),
            BinOp::Or | BinOp::Xor if n == 0 => Some(a),
            _ => None,
        }
    }

    /// `x & m | y & n` takes some bits from each word: where all of x's are in one of the masks, that is `x ^ (x ^ y) & n`, which needs one constant.
    fn bits_of_two(&mut self, a: Value, b: Value, bits: u32) -> Option<Value> {
        for (a, b) in [(a, b), (b, a)] {
            let (Op::Bin(BinOp::And, x, m), Op::Bin(BinOp::And, y, n)) = (self.op_of(a)?, self.op_of(b)?) else { return None };
            let (keep, take) = (self.constant_of(m)?, self.constant_of(n)?);
            if keep & take == 0 && filled(self.most(x)) & !(keep | take) == 0 && take < keep {
                let differ = self.word(Op::Bin(BinOp::Xor, x, y), bits);
                let taken = self.word(Op::Bin(BinOp::And, differ, n), bits);
                return Some(self.word(Op::Bin(BinOp::Xor, x, taken), bits));
            }
        }
        None
    }

    /// Two pairs of words are equal where no bit differs in either. Truths may have been made narrower.
    fn both_equal(&mut self, a: Value, b: Value, bits: u32) -> Option<Value> {
        match (self.op_of(a)?, self.op_of(b)?) {
            (Op::Cmp(CmpOp::Eq, x, y), Op::Cmp(CmpOp::Eq, z, w)) => {
                let (d, e) = (self.word(Op::Bin(BinOp::Xor, x, y), bits), self.word(Op::Bin(BinOp::Xor, z, w), bits));
                let any = self.word(Op::Bin(BinOp::Or, d, e), bits);
                let zero = self.constant(0, bits);
                Some(self.word(Op::Cmp(CmpOp::Eq, any, zero), bits))
            }
            (Op::Convert(ConvertOp::Trunc, x), Op::Convert(ConvertOp::Trunc, y)) if self.bits(x) == self.bits(y) && self.most(x) <= 1 && self.most(y) <= 1 => {
                let both = self.word(Op::Bin(BinOp::And, x, y), self.bits(x));
                Some(self.word(Op::Convert(ConvertOp::Trunc, both), bits))
            }
            _ => None,
        }
    }

    pub(super) fn shifted(&mut self, op: ShiftOp, a: Value, n: u32, bits: u32) -> Value {
        let n = self.constant(n.into(), bits);
        self.word(Op::Shift(op, a, n), bits)
    }

    fn shift(&mut self, op: ShiftOp, a: Value, n: Value, bits: u32) -> Option<Value> {
        let n = u32::try_from(self.constant_of(n)?).ok()?;
        if n == 0 {
            return Some(a);
        }
        let most = self.most(a);
        if let Some(x) = self.constant_of(a) {
            let negative = x >> (bits - 1) == 1;
            let down = x >> n | if negative && op == ShiftOp::ShrS { ones(bits) ^ (ones(bits) >> n) } else { 0 };
            match op {
                ShiftOp::Shl => return Some(self.constant(x << n, bits)),
                ShiftOp::ShrU | ShiftOp::ShrS => return Some(self.constant(down, bits)),
                _ => {}
            }
        }
        if let (ShiftOp::Shl, Some(Op::Bin(BinOp::And, x, m))) = (op, self.op_of(a)) {
            // A mask that takes only what is shifted out.
            let stays = ones(bits) >> n;
            if self.constant_of(m).is_some_and(|m| m & stays == stays) {
                return Some(self.shifted(ShiftOp::Shl, x, n, bits));
            }
        }
        match op {
            ShiftOp::ShrU if most >> n == 0 => Some(self.constant(0, bits)),
            ShiftOp::ShrS if most <= ones(bits) >> 1 => Some(self.shifted(ShiftOp::ShrU, a, n, bits)),
            // 0 or -1 is its own sign.
            ShiftOp::ShrS if self.negated(a).is_some_and(|t| self.most(t) <= 1) => Some(a),
            ShiftOp::ShrU | ShiftOp::Shl => match self.op_of(a) {
                Some(Op::Shift(inner, x, m)) if inner == op => {
                    let m = u32::try_from(self.constant_of(m)?).ok()?;
                    Some(if n + m >= bits { self.constant(0, bits) } else { self.shifted(op, x, n + m, bits) })
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn compare(&mut self, op: CmpOp, a: Value, b: Value, bits: u32) -> Option<Value> {
        let half = ones(bits) >> 1;
        let turned = |x: u128| x ^ (half + 1);
        if let (Some(x), Some(y)) = (self.constant_of(a), self.constant_of(b)) {
            let holds = match op {
                CmpOp::Eq => x == y,
                CmpOp::Ne => x != y,
                CmpOp::LtU => x < y,
                CmpOp::LtS => turned(x) < turned(y),
            };
            return Some(self.constant(holds.into(), bits));
        }
        if a == b {
            return Some(self.constant((op == CmpOp::Eq).into(), bits));
        }
        if matches!(op, CmpOp::Eq | CmpOp::Ne) && self.constant_of(a).is_some() {
            return Some(self.word(Op::Cmp(op, b, a), bits));
        }
        if op == CmpOp::LtS {
            return self.less_signed(a, b, bits);
        }
        let (x, y) = (self.constant_of(a), self.constant_of(b));
        match (op, x, y) {
            (CmpOp::LtU, _, Some(0)) => Some(b),
            (CmpOp::LtU, Some(0), _) => {
                let zero = a;
                Some(self.word(Op::Cmp(CmpOp::Ne, b, zero), bits))
            }
            (CmpOp::Ne, _, Some(0)) | (CmpOp::Eq, _, Some(1)) if self.most(a) <= 1 => Some(a),
            (CmpOp::Eq, _, Some(0)) | (CmpOp::Ne, _, Some(1)) if self.most(a) <= 1 => {
                let one = self.constant(1, bits);
                Some(self.word(Op::Bin(BinOp::Xor, a, one), bits))
            }
            (CmpOp::Eq | CmpOp::Ne, _, Some(0)) => {
                // `-x` is 0 where x is.
                let x = self.negated(a)?;
                Some(self.word(Op::Cmp(op, x, b), bits))
            }
            _ => None,
        }
    }

    fn less_signed(&mut self, a: Value, b: Value, bits: u32) -> Option<Value> {
        let half = ones(bits) >> 1;
        if self.most(a) <= half && self.most(b) <= half {
            return Some(self.word(Op::Cmp(CmpOp::LtU, a, b), bits));
        }
        if self.constant_of(b) != Some(0) {
            return None;
        }
        match self.op_of(a)? {
            // The sign of a difference of small numbers, and of what is as wide as the narrow number.
            Op::Bin(BinOp::Sub, x, y) if self.most(x) <= half && self.most(y) <= half => Some(self.word(Op::Cmp(CmpOp::LtU, x, y), bits)),
            Op::Convert(ConvertOp::Sext, x) => {
                let narrow = self.bits(x);
                let zero = self.constant(0, narrow);
                let less = self.word(Op::Cmp(CmpOp::LtS, x, zero), narrow);
                Some(self.word(Op::Convert(ConvertOp::Zext, less), bits))
            }
            _ => None,
        }
    }

    fn choose(&mut self, c: Value, a: Value, b: Value) -> Option<Value> {
        match self.constant_of(c) {
            _ if a == b => Some(a),
            Some(1) => Some(a),
            Some(0) => Some(b),
            _ => {
                // 1 or 0 by a truth is the truth.
                let truth = self.constant_of(a) == Some(1) && self.constant_of(b) == Some(0) && self.most(c) <= 1 && self.bits(a) == self.bits(c);
                truth.then_some(c)
            }
        }
    }

    fn convert(&mut self, op: ConvertOp, a: Value, bits: u32) -> Option<Value> {
        let from = self.bits(a);
        if let Some(n) = self.constant_of(a) {
            let negative = op == ConvertOp::Sext && n >> (from - 1) == 1;
            let n = if negative { n | ones(bits) ^ ones(from) } else { n };
            return Some(self.constant(n, bits));
        }
        let inner = self.op_of(a);
        match (op, inner) {
            (ConvertOp::Zext, Some(Op::Convert(ConvertOp::Trunc, x))) if self.bits(x) == bits && self.most(x) <= ones(from) => Some(x),
            (ConvertOp::Sext, _) if self.most(a) <= ones(from) >> 1 => Some(self.word(Op::Convert(ConvertOp::Zext, a), bits)),
            (ConvertOp::Trunc, Some(Op::Convert(ConvertOp::Zext | ConvertOp::Sext, x))) if self.bits(x) == bits => Some(x),
            (ConvertOp::Sext, _) => {
                let x = self.negated(a).filter(|x| self.most(*x) <= ones(from) >> 1)?;
                let wide = self.word(Op::Convert(ConvertOp::Zext, x), bits);
                Some(self.negative(wide, bits))
            }
            (ConvertOp::Trunc, _) => {
                let x = self.negated(a)?;
                let low = self.word(Op::Convert(ConvertOp::Trunc, x), bits);
                Some(self.negative(low, bits))
            }
            _ => None,
        }
    }
}
