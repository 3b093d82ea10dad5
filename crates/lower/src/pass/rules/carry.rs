//! Sums and differences with carries.
//!
//! A word and a carry, added one after the other, make two carries of which at most one is 1. One operation gives their sum, and the second is what the
//! sum has beyond the first.
//! Trusted: nothing: nothing that ships is made of it.

use super::super::facts::{ones, Known};
use super::super::fold::Fold;
use crate::data::{BinOp, Op, Value};

impl Fold<'_> {
    pub(super) fn add_carry(&mut self, (a, b, c): (Value, Value, Value), bits: u32, read: (bool, bool)) -> Option<(Value, Value)> {
        let added_to = self.added_to.take();
        let zero = self.constant(0, bits);
        let (x, y, z) = (self.constant_of(a), self.constant_of(b), self.constant_of(c));
        if let (Some(x), Some(y), Some(z)) = (x, y, z) {
            let sum = x + y + z;
            return Some((self.constant(sum, bits), self.constant(sum >> bits, bits)));
        }
        if x.is_some() && y.is_none() {
            return Some(self.two(Op::AddCarry(b, a, c), bits));
        }
        let unread = !read.1 || [a, b, c].iter().try_fold(0u128, |n, v| n.checked_add(self.most(*v))).is_some_and(|n| n <= ones(bits));
        if unread && [x, y, z].contains(&Some(0)) {
            let sum = self.word(Op::Bin(BinOp::Add, a, b), bits);
            return Some((self.word(Op::Bin(BinOp::Add, sum, c), bits), zero));
        }
        if z == Some(0) {
            // What is 0 or 1 can be the carry.
            for (word, bit) in [(a, b), (b, a)] {
                if self.most(bit) <= 1 && self.most(word) > 1 {
                    return Some(self.two(Op::AddCarry(word, zero, bit), bits));
                }
            }
        }
        match (y, self.result_of(a)) {
            (Some(0), Some((Op::AddCarry(p, q, r), 0))) if self.constant_of(r) == Some(0) && self.used.get(&a).copied().unwrap_or(0) <= 1 => {
                let first = self.two(Op::AddCarry(p, q, r), bits).1;
                if !self.costs.carry_groups && added_to != Some(first) {
                    return None;
                }
                let (sum, both) = self.two(Op::AddCarry(p, q, c), bits);
                Some((sum, self.word(Op::Bin(BinOp::Sub, both, first), bits)))
            }
            _ => None,
        }
    }

    pub(super) fn sub_borrow(&mut self, (a, b, c): (Value, Value, Value), bits: u32, read: (bool, bool)) -> Option<(Value, Value)> {
        let added_to = self.added_to.take();
        let zero = self.constant(0, bits);
        let (x, y, z) = (self.constant_of(a), self.constant_of(b), self.constant_of(c));
        if let (Some(x), Some(y), Some(z)) = (x, y, z) {
            let borrow = x < y + z;
            return Some((self.constant(x.wrapping_sub(y).wrapping_sub(z), bits), self.constant(borrow.into(), bits)));
        }
        if y == Some(0) && z == Some(0) {
            return Some((a, zero));
        }
        if x == Some(0) && y == Some(0) {
            return Some((self.negative(c, bits), c));
        }
        if !read.1 && [x, y, z].contains(&Some(0)) {
            let difference = self.word(Op::Bin(BinOp::Sub, a, b), bits);
            return Some((self.word(Op::Bin(BinOp::Sub, difference, c), bits), zero));
        }
        if z == Some(0) && self.most(b) <= 1 {
            return Some(self.two(Op::SubBorrow(a, zero, b), bits));
        }
        match (y, self.result_of(a)) {
            (Some(0), Some((Op::SubBorrow(p, q, r), 0))) if self.constant_of(r) == Some(0) && self.used.get(&a).copied().unwrap_or(0) <= 1 => {
                let first = self.two(Op::SubBorrow(p, q, r), bits).1;
                if !self.costs.carry_groups && added_to != Some(first) {
                    return None;
                }
                let (difference, both) = self.two(Op::SubBorrow(p, q, c), bits);
                Some((difference, self.word(Op::Bin(BinOp::Sub, both, first), bits)))
            }
            _ => None,
        }
    }
}
