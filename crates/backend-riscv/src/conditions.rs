//! Conditions that one branch alone reads are no words: the branch compares.
//! Trusted: nothing: the certifier looks at the bytes.

use crate::code::small;
use santoku_lower::{BinOp, Block, CmpOp, ConvertOp, Inst as Low, Op, ShiftOp, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What a branch asks.
#[derive(Clone, Copy, Debug)]
pub enum Asked {
    Compared(CmpOp, Value, Value),
    Word(Value),
    /// Has the word this bit?
    Bit(Value, u32),
}

#[derive(Clone, Default)]
pub struct Conditions {
    asked: BTreeMap<Value, (Asked, bool)>,
    /// Words that are not made.
    unmade: BTreeSet<Value>,
}

impl Conditions {
    pub fn is_unmade(&self, v: Value) -> bool {
        self.unmade.contains(&v)
    }

    /// What a branch on this word asks, and whether of the opposite.
    pub fn asked(&self, cond: Value) -> (Asked, bool) {
        self.asked.get(&cond).copied().unwrap_or((Asked::Word(cond), false))
    }

    /// Of the branches in a block, not of those within.
    pub fn of(b: &Block, reads: &BTreeMap<Value, u32>) -> Conditions {
        let mut all = Conditions::default();
        let mut ops: BTreeMap<Value, Op> = BTreeMap::new();
        for i in &b.insts {
            match i {
                Low::Let { dst, op } if dst.len() == 1 => drop(ops.insert(dst[0].0, *op)),
                Low::If { cond, .. } => all.add(*cond, &ops, reads),
                _ => {}
            }
        }
        all
    }

    fn add(&mut self, cond: Value, ops: &BTreeMap<Value, Op>, reads: &BTreeMap<Value, u32>) {
        let number = |v: Value| match ops.get(&v) {
            Some(Op::Const(n)) => Some(*n),
            _ => None,
        };
        let (mut v, mut not, mut passed) = (cond, false, vec![]);
        let asked = loop {
            let Some(op) = ops.get(&v).filter(|_| reads.get(&v) == Some(&1)) else { break Asked::Word(v) };
            match *op {
                // One bit of a word that an immediate reaches.
                Op::Bin(BinOp::And, x, one) if number(one) == Some(1) && reads.get(&x) == Some(&1) => {
                    let Some(Op::Shift(ShiftOp::ShrU, word, k)) = ops.get(&x) else { break Asked::Word(v) };
                    let Some(k) = number(*k).and_then(|k| u32::try_from(k).ok()).filter(|k| *k < 11) else { break Asked::Word(v) };
                    passed.extend([v, x]);
                    break Asked::Bit(*word, k);
                }
                // A truth as a narrower word.
                Op::Convert(ConvertOp::Trunc, x) if matches!(ops.get(&x), Some(Op::Cmp(..))) => {
                    passed.push(v);
                    v = x;
                }
                Op::Bin(BinOp::Xor, x, one) if number(one) == Some(1) && matches!(ops.get(&x), Some(Op::Cmp(..))) => {
                    passed.push(v);
                    (v, not) = (x, !not);
                }
                // Less than a small number is one instruction, and takes no register for the number.
                Op::Cmp(CmpOp::LtU | CmpOp::LtS, _, b) if number(b).is_some_and(|n| n > 0 && i64::try_from(n).is_ok_and(small)) => break Asked::Word(v),
                Op::Cmp(op, a, b) => {
                    passed.push(v);
                    break Asked::Compared(op, a, b);
                }
                _ => break Asked::Word(v),
            }
        };
        if !passed.is_empty() {
            self.asked.insert(cond, (asked, not));
            self.unmade.extend(passed);
        }
    }
}
