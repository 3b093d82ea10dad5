//! What is known of a value before the program runs.
//! Trusted: nothing: nothing that ships is made of it.

use crate::data::{BinOp, Block, ConvertOp, For, Func, Inst, Kind, Named, Op, ShiftOp, Type, Value};
use std::collections::HashMap;

#[derive(Clone, Debug)]
pub(super) struct Fact {
    pub ty: Type,
    /// What computes it, and which of the results it is.
    pub op: Option<(Op, usize)>,
    /// It is no more than this, without a sign.
    pub most: u128,
}

/// The greatest word of so many bits.
pub(super) fn ones(bits: u32) -> u128 {
    u128::MAX >> (128 - bits.clamp(1, 128))
}

/// The least `2^k - 1` that is not below.
pub(super) fn filled(n: u128) -> u128 {
    u128::MAX.checked_shr(n.leading_zeros()).unwrap_or(0)
}

/// What operands are known to be.
pub(super) trait Known {
    fn constant_of(&self, v: Value) -> Option<u128>;
    fn most(&self, v: Value) -> u128;
    fn bits(&self, v: Value) -> u32;
}

/// No result of the operation is above.
pub(super) fn most_of(known: &impl Known, op: &Op, which: usize, ty: Type) -> u128 {
    let all = ty.bits().map_or(u128::MAX, ones);
    let within = |n: Option<u128>| n.filter(|n| *n <= all).unwrap_or(all);
    match *op {
        Op::Const(n) => n,
        Op::Slot(_) | Op::Table(_) | Op::At(_) => u128::MAX,
        Op::Cmp(..) => 1,
        Op::AddCarry(..) | Op::SubBorrow(..) if which == 1 => 1,
        Op::AddCarry(a, b, c) => within([a, b, c].iter().try_fold(0u128, |n, v| n.checked_add(known.most(*v)))),
        Op::SubBorrow(..) => all,
        Op::Select(_, a, b) => known.most(a).max(known.most(b)),
        Op::Load { bytes, signed: false, .. } => all.min(ones(8 * bytes)),
        Op::Load { .. } => all,
        Op::Convert(ConvertOp::Zext, a) => known.most(a),
        Op::Convert(ConvertOp::Trunc, a) => within(Some(known.most(a))),
        Op::Convert(ConvertOp::Sext, a) => if known.most(a) <= ones(known.bits(a)) >> 1 { known.most(a) } else { all },
        Op::Bin(o, a, b) => {
            let (x, y) = (known.most(a), known.most(b));
            match o {
                BinOp::Add => within(x.checked_add(y)),
                BinOp::Mul => within(x.checked_mul(y)),
                BinOp::And => x.min(y),
                BinOp::Or | BinOp::Xor => filled(x | y),
                BinOp::DivU => x,
                BinOp::RemU => x.min(y.saturating_sub(1)),
                BinOp::MulHu => match (known.bits(a), x.checked_mul(y)) {
                    (bits, Some(p)) if bits < 128 => p >> bits,
                    _ => all,
                },
                BinOp::Sub | BinOp::MulHs | BinOp::MulHsu => all,
            }
        }
        Op::Shift(o, a, n) => match (o, known.constant_of(n).and_then(|n| u32::try_from(n).ok())) {
            (ShiftOp::Shl, Some(n)) => within(known.most(a).checked_mul(1u128.checked_shl(n).unwrap_or(u128::MAX))),
            (ShiftOp::ShrU, Some(n)) => known.most(a).checked_shr(n).unwrap_or(0),
            (ShiftOp::ShrU, None) => known.most(a),
            _ => all,
        },
    }
}
/// No word of a function is above what is said here of it, without a sign.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    most: HashMap<Value, u128>,
    bits: HashMap<Value, u32>,
    constants: HashMap<Value, u128>,
}

impl Known for Bounds {
    fn constant_of(&self, v: Value) -> Option<u128> {
        self.constants.get(&v).copied()
    }

    fn most(&self, v: Value) -> u128 {
        self.most.get(&v).copied().unwrap_or(u128::MAX)
    }

    fn bits(&self, v: Value) -> u32 {
        self.bits.get(&v).copied().unwrap_or(0)
    }
}

impl Bounds {
    pub fn of(f: &Func) -> Bounds {
        let mut all = Bounds::default();
        f.params.iter().for_each(|p| all.name(&(p.value, p.ty), u128::MAX));
        all.block(&f.body);
        all
    }

    /// The bound of a word.
    pub fn most(&self, v: Value) -> u128 {
        Known::most(self, v)
    }

    fn name(&mut self, d: &Named, most: u128) {
        if let Kind::Word(bits) = d.1.kind {
            self.bits.insert(d.0, bits);
            self.most.insert(d.0, most.min(ones(bits)));
        }
    }

    fn block(&mut self, b: &Block) {
        for i in &b.insts {
            match i {
                Inst::Let { dst, op } => {
                    if let Op::Const(n) = op {
                        self.constants.insert(dst[0].0, *n);
                    }
                    for (k, d) in dst.iter().enumerate() {
                        let most = most_of(self, op, k, d.1);
                        self.name(d, most);
                    }
                }
                Inst::Call { dst, .. } => dst.iter().for_each(|d| self.name(d, u128::MAX)),
                Inst::If { dst, then, els, .. } => {
                    self.block(then);
                    self.block(els);
                    for (k, d) in dst.iter().enumerate() {
                        let most = Known::most(self, then.yields[k]).max(Known::most(self, els.yields[k]));
                        self.name(d, most);
                    }
                }
                Inst::For(f) => self.rounds(f),
                Inst::Store { .. } | Inst::Copy { .. } => {}
            }
        }
    }

    /// What a round hands on is bounded by what the first one gets, if every round keeps to that.
    fn rounds(&mut self, f: &For) {
        let most = if f.signed { u128::MAX } else { Known::most(self, f.hi) };
        self.name(&f.counter, most);
        let mut bounds: Vec<u128> = f.carried.iter().map(|c| filled(Known::most(self, c.1))).collect();
        loop {
            f.carried.iter().zip(&bounds).for_each(|(c, most)| self.name(&c.0, *most));
            self.block(&f.body);
            let mut same = true;
            for (v, most) in f.body.yields.iter().zip(&mut bounds) {
                if Known::most(self, *v) > *most {
                    *most = u128::MAX;
                    same = false;
                }
            }
            if same {
                break;
            }
        }
        f.dst.iter().zip(bounds).for_each(|(d, most)| self.name(d, most));
    }
}
