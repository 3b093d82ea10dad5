//! Products by constants.
//! Trusted: nothing: nothing that ships is made of it.

use super::super::facts::{ones, Known};
use super::super::fold::Fold;
use crate::data::{BinOp, Op, ShiftOp, Value};

/// Signed powers of two that make a constant without two neighbours: exponent and sign, from the lowest.
fn digits(n: u128) -> Vec<(u32, bool)> {
    let (mut out, mut n, mut k) = (vec![], n, 0);
    while n != 0 {
        if n & 1 == 1 {
            let minus = n & 3 == 3;
            out.push((k, minus));
            n = if minus { n + 1 } else { n - 1 };
        }
        n >>= 1;
        k += 1;
    }
    out
}

/// Powers of two for which a wide product by a constant is built from shifts.
const DIGITS_MAX: usize = 3;

impl Fold<'_> {
    /// Operands with a constant second, or their product.
    fn ordered(&mut self, op: BinOp, a: Value, b: Value, bits: u32) -> Result<(Value, u128), Option<Value>> {
        match (self.constant_of(a), self.constant_of(b)) {
            (Some(x), Some(y)) => {
                let product = if op == BinOp::Mul { x.wrapping_mul(y) } else { (x * y) >> bits };
                Err(Some(self.constant(product, bits)))
            }
            (Some(_), None) => Err(Some(self.word(Op::Bin(op, b, a), bits))),
            (None, Some(n)) => Ok((a, n)),
            (None, None) => Err(None),
        }
    }

    pub(super) fn mul(&mut self, a: Value, b: Value, bits: u32) -> Option<Value> {
        let (x, n) = match self.ordered(BinOp::Mul, a, b, bits) {
            Ok(found) => found,
            Err(done) => return done,
        };
        match n {
            0 => Some(self.constant(0, bits)),
            1 => Some(x),
            n if n.is_power_of_two() => Some(self.shifted(ShiftOp::Shl, x, n.trailing_zeros(), bits)),
            n => self.by_shifts(x, n, bits).map(|words| words.0),
        }
    }

    pub(super) fn mul_high(&mut self, a: Value, b: Value, bits: u32) -> Option<Value> {
        let (x, n) = match self.ordered(BinOp::MulHu, a, b, bits) {
            Ok(found) => found,
            Err(Some(done)) => return Some(done),
            Err(None) => {
                let small = self.most(a).checked_mul(self.most(b)).is_some_and(|n| n <= ones(bits));
                return small.then(|| self.constant(0, bits));
            }
        };
        match n {
            0 | 1 => Some(self.constant(0, bits)),
            n if n.is_power_of_two() => Some(self.shifted(ShiftOp::ShrU, x, bits - n.trailing_zeros(), bits)),
            n if self.most(x).checked_mul(n).is_some_and(|p| p <= ones(bits)) => Some(self.constant(0, bits)),
            n => self.by_shifts(x, n, bits).map(|words| words.1),
        }
    }

    /// Both words of a product by few powers of two, where that takes less time than to multiply.
    fn by_shifts(&mut self, x: Value, n: u128, bits: u32) -> Option<(Value, Value)> {
        let mut all = digits(n);
        if all.len() > DIGITS_MAX || self.costs.wide_product <= all.len() {
            return None;
        }
        // What is added first: then no difference is below 0.
        all.sort_by_key(|(k, minus)| (*minus, std::cmp::Reverse(*k)));
        let zero = self.constant(0, bits);
        let mut sum = (zero, zero);
        for (k, minus) in all {
            let term = match k {
                0 => (x, zero),
                k if k >= bits => (zero, self.shifted(ShiftOp::Shl, x, k - bits, bits)),
                k => (self.shifted(ShiftOp::Shl, x, k, bits), self.shifted(ShiftOp::ShrU, x, bits - k, bits)),
            };
            let step: fn(Value, Value, Value) -> Op = if minus { Op::SubBorrow } else { Op::AddCarry };
            let (low, carry) = self.two(step(sum.0, term.0, zero), bits);
            let (high, _) = self.two(step(sum.1, term.1, carry), bits);
            sum = (low, high);
        }
        Some(sum)
    }
}
