//! Bitwise operations, shifts and conversions.
//!
//! Needs: [`super::dag`], [`super::arith`].  Keeps: the value of every term.  Absent: distribution of `and` over
//! `or` and the like; passes do not reorder bitwise expressions that far.

use super::arith::{log2, reduce};
use super::dag::{Dag, Id, Node, Sort};
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive, Zero};
use santoku_ir::{BinOp, CmpOp, UnOp};

/// Chains longer than this are not merged any further.
const CHAIN_MAX: usize = 48;
/// Exact shifts by more than this stay as they are.
const INT_SHIFT_MAX: u32 = 1 << 16;

impl Dag {
    fn ones(&self, sort: Sort) -> BigInt {
        match sort {
            Sort::Word(n) => (BigInt::one() << n) - 1,
            Sort::Bool | Sort::Int | Sort::Agg(_) => BigInt::one(),
        }
    }

    /// Operands and constant of a chain of one bitwise operation; `neutral` is its unit.
    fn chain(&self, op: BinOp, x: Id, neutral: &BigInt) -> (Vec<Id>, BigInt) {
        match (op, self.node(x)) {
            (_, Node::Const(v)) => (Vec::new(), v.clone()),
            (BinOp::And, Node::And(xs, c)) | (BinOp::Or, Node::Or(xs, c)) | (BinOp::Xor, Node::Xor(xs, c)) => {
                (xs.clone(), c.clone())
            }
            _ => (vec![x], neutral.clone()),
        }
    }

    /// Both chains joined and sorted, or the two operands as they are when the result would be too long.
    fn join(&self, op: BinOp, a: Id, b: Id, neutral: &BigInt) -> (Vec<Id>, BigInt, BigInt) {
        let (mut xs, c) = self.chain(op, a, neutral);
        let (ys, d) = self.chain(op, b, neutral);
        if xs.len() + ys.len() > CHAIN_MAX {
            return (vec![a.min(b), a.max(b)], neutral.clone(), neutral.clone());
        }
        xs.extend(ys);
        xs.sort_unstable();
        (xs, c, d)
    }

    /// Bitwise and of two words or bools.
    pub fn and(&mut self, a: Id, b: Id) -> Id {
        let sort = self.sort(a);
        let ones = self.ones(sort);
        let (mut xs, c, d) = self.join(BinOp::And, a, b, &ones);
        xs.dedup();
        let mask = c & d;
        if mask.is_zero() {
            return self.constant(0, sort);
        }
        let Some(&first) = xs.first() else { return self.constant(mask, sort) };
        // A mask of low ones that covers every significant bit does nothing.
        let low_ones = log2(&(&mask + 1u32));
        let narrow = xs.iter().map(|&x| self.bits_max(x)).min().unwrap_or(u32::MAX);
        let idle = mask == ones || low_ones.is_some_and(|k| narrow <= k);
        match (xs.len(), idle) {
            (1, true) => first,
            (_, true) => self.intern(Node::And(xs, ones), sort),
            (_, false) => self.intern(Node::And(xs, mask), sort),
        }
    }

    /// Bitwise or of two words or bools.
    pub fn or(&mut self, a: Id, b: Id) -> Id {
        let sort = self.sort(a);
        if self.joins_bits && self.apart_bits(a, b) {
            return self.add(a, b);
        }
        let ones = self.ones(sort);
        let (mut xs, c, d) = self.join(BinOp::Or, a, b, &BigInt::zero());
        xs.dedup();
        let c = c | d;
        if c == ones || xs.is_empty() {
            return self.constant(c, sort);
        }
        if c.is_zero() && xs.len() == 1 {
            return xs[0];
        }
        self.intern(Node::Or(xs, c), sort)
    }

    /// Bitwise exclusive or of two words or bools; equal operands cancel.
    pub fn xor(&mut self, a: Id, b: Id) -> Id {
        let sort = self.sort(a);
        let (xs, c, d) = self.join(BinOp::Xor, a, b, &BigInt::zero());
        let mut odd: Vec<Id> = Vec::with_capacity(xs.len());
        for x in xs {
            if odd.last() == Some(&x) {
                odd.pop();
            } else {
                odd.push(x);
            }
        }
        let c = c ^ d;
        match odd.as_slice() {
            [] => self.constant(c, sort),
            [x] if c.is_zero() => *x,
            _ => self.intern(Node::Xor(odd, c), sort),
        }
    }

    /// All bits of a word, or a bool, flipped.
    pub fn not(&mut self, a: Id) -> Id {
        let sort = self.sort(a);
        let ones = self.ones(sort);
        let ones = self.constant(ones, sort);
        self.xor(a, ones)
    }

    /// A word shifted right by a constant.
    fn shr(&mut self, x: Id, k: u32) -> Id {
        let sort = self.sort(x);
        if k == 0 {
            return x;
        }
        if k >= self.bits_max(x) {
            return self.constant(0, sort);
        }
        match self.node(x).clone() {
            Node::Const(v) => self.constant(v >> k, sort),
            Node::Shr(y, j) => self.shr(y, j + k),
            _ => self.intern(Node::Shr(x, k), sort),
        }
    }

    /// A word of `bits` bits rotated left by `k < bits`.
    fn rotl(&mut self, x: Id, k: u32, bits: u32) -> Id {
        let sort = self.sort(x);
        match self.node(x).clone() {
            _ if k == 0 => x,
            Node::Const(v) => {
                let high = (&v << k) | (&v >> (bits - k));
                self.constant(reduce(high, sort), sort)
            }
            Node::Rotl(y, j) => self.rotl(y, (j + k) % bits, bits),
            _ => self.intern(Node::Rotl(x, k), sort),
        }
    }

    fn shift_word(&mut self, op: BinOp, x: Id, count: Id, bits: u32) -> Id {
        let sort = self.sort(x);
        let Some(k) = self.as_const(count).and_then(ToPrimitive::to_u32).filter(|k| *k < bits) else {
            return self.intern(Node::Other(op, x, count), sort);
        };
        match op {
            BinOp::Shl => self.scale(x, &(BigInt::one() << k)),
            BinOp::Shr => self.shr(x, k),
            BinOp::Rotr => self.rotl(x, (bits - k) % bits, bits),
            _ => self.rotl(x, k, bits),
        }
    }

    /// Division, remainder, mask and shift of an int by a constant.
    fn int_by_const(&mut self, op: BinOp, x: Id, by: Id) -> Id {
        let Some(c) = self.as_const(by).cloned() else {
            return self.intern(Node::Other(op, x, by), Sort::Int);
        };
        let power = c.to_u32().filter(|k| *k <= INT_SHIFT_MAX).map(|k| BigInt::one() << k);
        let positive = c > BigInt::zero();
        match (op, power) {
            (BinOp::Div, _) if positive => self.div(x, &c),
            (BinOp::Mod, _) if positive => self.modulo(x, &c),
            (BinOp::And, _) if log2(&(&c + 1u32)).is_some() => self.modulo(x, &(c + 1u32)),
            (BinOp::Shl, Some(p)) => self.scale(x, &p),
            (BinOp::Shr, Some(p)) => self.div(x, &p),
            _ => self.intern(Node::Other(op, x, by), Sort::Int),
        }
    }

    /// The term of a binary operation.
    pub fn binary(&mut self, op: BinOp, a: Id, b: Id) -> Id {
        match (op, self.sort(a)) {
            (BinOp::Add, Sort::Word(_) | Sort::Int) => self.add(a, b),
            (BinOp::Sub, Sort::Word(_) | Sort::Int) => self.sub(a, b),
            (BinOp::Mul, Sort::Word(_) | Sort::Int) => self.mul(a, b),
            (BinOp::And, Sort::Word(_) | Sort::Bool) => self.and(a, b),
            (BinOp::Or, Sort::Word(_) | Sort::Bool) => self.or(a, b),
            (BinOp::Xor, Sort::Word(_) | Sort::Bool) => self.xor(a, b),
            (BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr, Sort::Word(n)) => self.shift_word(op, a, b, n),
            (BinOp::Div | BinOp::Mod | BinOp::And | BinOp::Shl | BinOp::Shr, Sort::Int) => self.int_by_const(op, a, b),
            (_, sort) => self.intern(Node::Other(op, a, b), sort),
        }
    }

    pub fn unary(&mut self, op: UnOp, a: Id) -> Id {
        match op {
            UnOp::Neg => self.neg(a),
            UnOp::Not => self.not(a),
        }
    }

    /// The term of a comparison of scalars.
    pub fn compare(&mut self, op: CmpOp, a: Id, b: Id) -> Id {
        match op {
            CmpOp::Eq => self.eq_scalar(a, b),
            CmpOp::Ne => {
                let eq = self.eq_scalar(a, b);
                self.not(eq)
            }
            CmpOp::Lt => self.lt(a, b),
            CmpOp::Gt => self.lt(b, a),
            CmpOp::Ge => {
                let lt = self.lt(a, b);
                self.not(lt)
            }
            CmpOp::Le => {
                let gt = self.lt(b, a);
                self.not(gt)
            }
        }
    }

    /// Conversion of a scalar to another scalar sort; conversions the language lacks give `None`.
    pub fn cast(&mut self, x: Id, to: Sort) -> Option<Id> {
        let from = self.sort(x);
        if from == to {
            return Some(x);
        }
        if let Some(v) = self.as_const(x).cloned() {
            let legal = !matches!((from, to), (_, Sort::Bool | Sort::Agg(_)) | (Sort::Agg(_), _));
            return legal.then(|| self.constant(v, to));
        }
        match (from, to) {
            (Sort::Word(_), Sort::Word(n)) => Some(self.resize(x, n)),
            (Sort::Bool, Sort::Word(_)) => Some(self.intern(Node::FromBool(x), to)),
            (Sort::Word(_) | Sort::Bool, Sort::Int) => Some(match *self.node(x) {
                // A word extended, or made of a bool, has the value of what it was made of.
                Node::FromBool(y) => self.intern(Node::ToInt(y), Sort::Int),
                Node::Resize(y) if self.bits_max(y) <= self.bits_max(x) => self.intern(Node::ToInt(y), Sort::Int),
                _ => self.intern(Node::ToInt(x), Sort::Int),
            }),
            (Sort::Int, Sort::Word(n)) => Some(self.from_int(x, n)),
            _ => None,
        }
    }

    fn from_int(&mut self, x: Id, n: u32) -> Id {
        let to = Sort::Word(n);
        match self.node(x).clone() {
            Node::ToInt(y) if self.sort(y) == Sort::Bool => self.intern(Node::FromBool(y), to),
            Node::ToInt(y) => self.resize(y, n),
            Node::Mod(y, m) if log2(&m).is_some_and(|k| k >= n) => self.from_int(y, n),
            _ => self.intern(Node::FromInt(x), to),
        }
    }

    /// A word truncated or zero-extended to `n` bits.
    fn resize(&mut self, x: Id, n: u32) -> Id {
        let to = Sort::Word(n);
        if self.sort(x) == to {
            return x;
        }
        match *self.node(x) {
            Node::FromBool(y) => self.intern(Node::FromBool(y), to),
            Node::FromInt(y) if self.bits_full(x) >= n => self.from_int(y, n),
            // An inner step that cut nothing off, or cut no more than this one cuts, may be skipped.
            Node::Resize(y) if self.bits_max(y) <= self.bits_full(x) || n <= self.bits_full(x) => self.resize(y, n),
            _ => self.intern(Node::Resize(x), to),
        }
    }

    fn bits_full(&self, x: Id) -> u32 {
        match self.sort(x) {
            Sort::Word(n) => n,
            Sort::Bool => 1,
            Sort::Int | Sort::Agg(_) => 0,
        }
    }
}
