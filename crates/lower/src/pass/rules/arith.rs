//! Sums and differences of one word.
//! Trusted: nothing: nothing that ships is made of it.

use super::super::facts::Known;
use super::super::fold::Fold;
use crate::data::{BinOp, Op, Value};

impl Fold<'_> {
    /// x, where the value is `-x`.
    pub(super) fn negated(&self, v: Value) -> Option<Value> {
        match self.op_of(v)? {
            Op::Bin(BinOp::Sub, zero, x) if self.constant_of(zero) == Some(0) => Some(x),
            _ => None,
        }
    }

    pub(super) fn negative(&mut self, x: Value, bits: u32) -> Value {
        let zero = self.constant(0, bits);
        self.word(Op::Bin(BinOp::Sub, zero, x), bits)
    }

    pub(super) fn add(&mut self, a: Value, b: Value, bits: u32) -> Option<Value> {
        match (self.constant_of(a), self.constant_of(b)) {
            (Some(x), Some(y)) => return Some(self.constant(x.wrapping_add(y), bits)),
            (Some(_), None) => return Some(self.word(Op::Bin(BinOp::Add, b, a), bits)),
            (None, Some(0)) => return Some(a),
            (None, Some(y)) => {
                let Some(Op::Bin(BinOp::Add, x, k)) = self.op_of(a) else { return None };
                let sum = self.constant(self.constant_of(k)?.wrapping_add(y), bits);
                return Some(self.word(Op::Bin(BinOp::Add, x, sum), bits));
            }
            (None, None) => {}
        }
        if let Some(y) = self.negated(b) {
            return Some(self.word(Op::Bin(BinOp::Sub, a, y), bits));
        }
        if let Some(x) = self.negated(a) {
            return Some(self.word(Op::Bin(BinOp::Sub, b, x), bits));
        }
        self.rest_of(a, b, bits)
    }

    /// `q + (p - q)` and `(h + q) + (p - q)`: of two carries, the second is what their sum has beyond the first.
    fn rest_of(&mut self, a: Value, b: Value, bits: u32) -> Option<Value> {
        for (x, y) in [(a, b), (b, a)] {
            let Some(Op::Bin(BinOp::Sub, p, q)) = self.op_of(y) else { continue };
            if q == x {
                return Some(p);
            }
            if let Some(Op::Bin(BinOp::Add, h, c)) = self.op_of(x) {
                for (h, c) in [(h, c), (c, h)] {
                    if c == q {
                        return Some(self.word(Op::Bin(BinOp::Add, h, p), bits));
                    }
                }
            }
        }
        None
    }

    pub(super) fn sub(&mut self, a: Value, b: Value, bits: u32) -> Option<Value> {
        match (self.constant_of(a), self.constant_of(b)) {
            (Some(x), Some(y)) => return Some(self.constant(x.wrapping_sub(y), bits)),
            (_, Some(0)) => return Some(a),
            _ if a == b => return Some(self.constant(0, bits)),
            _ => {}
        }
        if let Some(y) = self.negated(b) {
            return Some(self.word(Op::Bin(BinOp::Add, a, y), bits));
        }
        if let Some(x) = self.negated(a) {
            // `-x - y` is `-(x + y)`.
            let sum = self.word(Op::Bin(BinOp::Add, x, b), bits);
            return Some(self.negative(sum, bits));
        }
        if let (Some(0), Some(Op::Bin(BinOp::Sub, x, y))) = (self.constant_of(a), self.op_of(b)) {
            return Some(self.word(Op::Bin(BinOp::Sub, y, x), bits));
        }
        None
    }
}
