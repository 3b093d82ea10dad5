//! Words: sums, bits, shifts, comparisons, choices, widths.
//! Trusted: nothing: the certifier looks at the bytes.

use super::{Res, Select};
use crate::code::{small, Reg};
use santoku_lower::{BinOp, CmpOp, ConvertOp, ShiftOp, Value};

impl Select<'_> {
    pub(super) fn bin(&mut self, op: BinOp, a: Value, b: Value, bits: u32) -> Res<Reg> {
        // The immediate is the second operand.
        let (a, b) = match op {
            BinOp::Add | BinOp::And | BinOp::Or | BinOp::Xor if self.constant(a).is_some() => (b, a),
            _ => (a, b),
        };
        if let (BinOp::Sub, Some(-1)) = (op, self.constant(a)) {
            let x = self.reg(b);
            return Ok(self.imm("xori", x, -1));
        }
        if let Some(n) = self.constant(b) {
            let immediate = match op {
                BinOp::Add => Some((self.sized(bits, "addi", "addiw"), n)),
                BinOp::Sub => Some((self.sized(bits, "addi", "addiw"), n.wrapping_neg())),
                BinOp::And => Some(("andi", n)),
                BinOp::Or => Some(("ori", n)),
                BinOp::Xor => Some(("xori", n)),
                _ => None,
            };
            if let Some((name, n)) = immediate.filter(|i| small(i.1)) {
                let x = self.reg(a);
                return Ok(if n == 0 && name != "andi" && bits == self.xlen() { x } else { self.imm(name, x, n) });
            }
            // As many low bits as a mask has.
            if let (BinOp::And, Some(k)) = (op, mask_bits(n).filter(|k| *k < bits)) {
                let x = self.reg(a);
                let rest = i64::from(self.xlen() - k);
                let high = self.imm("slli", x, rest);
                return Ok(self.imm("srli", high, rest));
            }
        }
        let (x, y) = (self.reg(a), self.reg(b));
        let half = bits < self.xlen();
        let name = match op {
            BinOp::Add => self.sized(bits, "add", "addw"),
            BinOp::Sub => self.sized(bits, "sub", "subw"),
            BinOp::Mul => self.sized(bits, "mul", "mulw"),
            BinOp::And => "and",
            BinOp::Or => "or",
            BinOp::Xor => "xor",
            BinOp::DivU => self.sized(bits, "divu", "divuw"),
            BinOp::RemU => self.sized(bits, "remu", "remuw"),
            BinOp::MulHu | BinOp::MulHs | BinOp::MulHsu if half => return Err("the high half of a product of half registers".into()),
            BinOp::MulHu => "mulhu",
            BinOp::MulHs => "mulh",
            BinOp::MulHsu => "mulhsu",
        };
        Ok(self.three(name, x, y))
    }

    pub(super) fn shift(&mut self, op: ShiftOp, a: Value, n: Value, bits: u32) -> Reg {
        let x = self.reg(a);
        if let Some(n) = self.constant(n) {
            return self.shift_by(op, x, n, bits);
        }
        let n = self.reg(n);
        let turn = |s: &mut Self, there: &'static str, back: &'static str| {
            // Shifts look at the low bits of the count alone.
            let rest = s.three("sub", Reg::Zero, n);
            let (high, low) = (s.three(there, x, n), s.three(back, x, rest));
            s.three("or", high, low)
        };
        let (left, right) = (self.sized(bits, "sll", "sllw"), self.sized(bits, "srl", "srlw"));
        match op {
            ShiftOp::Shl => self.three(left, x, n),
            ShiftOp::ShrU => self.three(right, x, n),
            ShiftOp::ShrS => self.three(self.sized(bits, "sra", "sraw"), x, n),
            ShiftOp::RotL if self.options.zbb => self.three(self.sized(bits, "rol", "rolw"), x, n),
            ShiftOp::RotR if self.options.zbb => self.three(self.sized(bits, "ror", "rorw"), x, n),
            ShiftOp::RotL => turn(self, left, right),
            ShiftOp::RotR => turn(self, right, left),
        }
    }

    pub(super) fn shift_by(&mut self, op: ShiftOp, x: Reg, n: i64, bits: u32) -> Reg {
        if n == 0 {
            return x;
        }
        let (left, right) = (self.sized(bits, "slli", "slliw"), self.sized(bits, "srli", "srliw"));
        let rest = i64::from(bits) - n;
        let (there, back) = match op {
            ShiftOp::Shl => return self.imm(left, x, n),
            ShiftOp::ShrU => return self.imm(right, x, n),
            ShiftOp::ShrS => return self.imm(self.sized(bits, "srai", "sraiw"), x, n),
            ShiftOp::RotL => (n, rest),
            ShiftOp::RotR => (rest, n),
        };
        if self.options.zbb {
            return self.imm(self.sized(bits, "rori", "roriw"), x, back);
        }
        let (high, low) = (self.imm(left, x, there), self.imm(right, x, back));
        self.three("or", high, low)
    }

    pub(super) fn compare(&mut self, op: CmpOp, a: Value, b: Value) -> Reg {
        if let (CmpOp::LtU | CmpOp::LtS, Some(n)) = (op, self.constant(b).filter(|n| small(*n))) {
            let x = self.reg(a);
            return self.imm(if op == CmpOp::LtU { "sltiu" } else { "slti" }, x, n);
        }
        let (x, y) = (self.reg(a), self.reg(b));
        match op {
            CmpOp::LtU => self.three("sltu", x, y),
            CmpOp::LtS => self.three("slt", x, y),
            CmpOp::Eq | CmpOp::Ne => {
                let d = match y {
                    Reg::Zero => x,
                    _ => self.three("xor", x, y),
                };
                if op == CmpOp::Eq { self.imm("sltiu", d, 1) } else { self.three("sltu", Reg::Zero, d) }
            }
        }
    }

    /// By a mask: no branch.
    pub(super) fn choose(&mut self, c: Value, a: Value, b: Value) -> Reg {
        let mask = match self.masks.get(&c) {
            Some(known) => *known,
            None => {
                let condition = self.reg(c);
                let mask = self.three("sub", Reg::Zero, condition);
                self.masks.insert(c, mask);
                mask
            }
        };
        let (ones, zero) = (self.constant(a) == Some(-1), self.constant(b) == Some(0));
        if zero {
            let x = if ones { return mask } else { self.reg(a) };
            return self.three("and", mask, x);
        }
        let (x, y) = (self.reg(a), self.reg(b));
        let differ = self.three("xor", x, y);
        let taken = self.three("and", differ, mask);
        self.three("xor", taken, y)
    }

    pub(super) fn convert(&mut self, how: ConvertOp, a: Value, to: u32) -> Reg {
        let x = self.reg(a);
        let from = self.bits.get(&a).copied().unwrap_or(self.xlen());
        match how {
            ConvertOp::Zext if self.is_small(a, from) => x,
            ConvertOp::Zext if self.options.zba && from == 32 => self.three("add.uw", x, Reg::Zero),
            ConvertOp::Zext => {
                let up = i64::from(self.xlen() - from);
                let high = self.imm("slli", x, up);
                self.imm("srli", high, up)
            }
            // It is held so.
            ConvertOp::Sext => x,
            ConvertOp::Trunc if self.is_small(a, to) => x,
            ConvertOp::Trunc => self.imm("addiw", x, 0),
        }
    }
}

/// `k` of `2^k - 1`.
fn mask_bits(n: i64) -> Option<u32> {
    let n = u64::try_from(n).ok()?;
    (n & n.wrapping_add(1) == 0 && n > 0).then(|| n.count_ones())
}
