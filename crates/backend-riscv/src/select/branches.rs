//! Branches.
//! Trusted: nothing: the certifier looks at the bytes.

use super::Select;
use crate::code::{Inst, Label, Reg};
use crate::conditions::Asked;
use santoku_lower::{CmpOp, Value};

impl Select<'_> {
    /// To the label, if the condition is `when`.
    pub(super) fn branch_to(&mut self, cond: Value, when: bool, to: Label) {
        let (asked, not) = self.conditions.asked(cond);
        let when = when != not;
        let (name, a, b) = match asked {
            Asked::Bit(v, k) => {
                let x = self.reg(v);
                (if when { "bne" } else { "beq" }, self.imm("andi", x, 1 << k), Reg::Zero)
            }
            Asked::Word(v) => (if when { "bne" } else { "beq" }, self.reg(v), Reg::Zero),
            Asked::Compared(op, a, b) => {
                let name = match (op, when) {
                    (CmpOp::Eq, true) | (CmpOp::Ne, false) => "beq",
                    (CmpOp::Ne, true) | (CmpOp::Eq, false) => "bne",
                    (CmpOp::LtU, true) => "bltu",
                    (CmpOp::LtU, false) => "bgeu",
                    (CmpOp::LtS, true) => "blt",
                    (CmpOp::LtS, false) => "bge",
                };
                (name, self.reg(a), self.reg(b))
            }
        };
        self.push(Inst::Branch(name, a, b, to));
    }
}
