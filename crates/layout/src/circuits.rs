//! Arithmetic on bits: what `bitslice` makes of sums, differences and products of words.
//!
//! The same gates as the comparison bit by bit makes (`gates`), constants folded.

use crate::graph::{uniform, Graph, Op};
use num_bigint::BigInt;
use santoku_ir::{BinOp, UnOp};

/// A graph of words of `width` bits, each a bit of many blocks.
pub struct Bits<'g> {
    pub graph: &'g mut Graph,
    pub width: u32,
}

impl Bits<'_> {
    pub fn constant(&mut self, v: bool) -> u32 {
        let all = (BigInt::from(1) << self.width) - 1u32;
        self.graph.node(Op::Const(if v { all } else { 0.into() }), vec![], self.width)
    }

    fn known(&self, n: u32) -> Option<bool> {
        match &self.graph.nodes[n as usize].op {
            Op::Const(v) => uniform(v, self.width),
            _ => None,
        }
    }

    pub fn not(&mut self, a: u32) -> u32 {
        match self.known(a) {
            Some(v) => self.constant(!v),
            None => self.graph.node(Op::Un(UnOp::Not), vec![a], self.width),
        }
    }

    /// And, or, exclusive or.
    pub fn gate(&mut self, op: BinOp, a: u32, b: u32) -> u32 {
        let (b, v) = match (self.known(a), self.known(b)) {
            (Some(v), _) => (b, v),
            (None, Some(v)) => (a, v),
            (None, None) => return self.graph.node(Op::Bin(op), vec![a, b], self.width),
        };
        match (op, v) {
            (BinOp::Xor, true) => self.not(b),
            (BinOp::And, false) | (BinOp::Or, true) => self.constant(v),
            _ => b,
        }
    }

    /// `a + b + carry`, full adders from the lowest bit up.
    pub fn add(&mut self, a: &[u32], b: &[u32], carry: bool) -> Vec<u32> {
        let mut carry = self.constant(carry);
        let mut out = Vec::new();
        for (k, (&x, &y)) in a.iter().zip(b).enumerate() {
            let p = self.gate(BinOp::Xor, x, y);
            out.push(self.gate(BinOp::Xor, p, carry));
            if k + 1 == a.len() {
                break;
            }
            let (both, one) = (self.gate(BinOp::And, x, y), self.gate(BinOp::And, p, carry));
            carry = self.gate(BinOp::Xor, both, one);
        }
        out
    }

    /// `a + ~b + 1`
    pub fn subtract(&mut self, a: &[u32], b: &[u32]) -> Vec<u32> {
        let inverse: Vec<u32> = b.iter().map(|y| self.not(*y)).collect();
        self.add(a, &inverse, true)
    }

    /// Shifted rows, added one after the other.
    pub fn multiply(&mut self, a: &[u32], b: &[u32]) -> Vec<u32> {
        let zero = self.constant(false);
        let mut sum = vec![zero; a.len()];
        for (k, &y) in b.iter().enumerate() {
            let mut row = vec![zero; k];
            row.extend(a[..a.len() - k].iter().map(|x| self.gate(BinOp::And, *x, y)));
            sum = self.add(&sum, &row, false);
        }
        sum
    }
}
