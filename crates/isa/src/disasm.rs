//! Instructions as text that assemblers read.

use crate::row::{Inst, Sem};
use std::fmt;

const NAMES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s2", "s3", "s4",
    "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
];

/// The name a register has in the calling convention; `n` is 0 to 31, higher bits are ignored.
pub fn register_name(n: u8) -> &'static str {
    NAMES[usize::from(n & 31)]
}

impl fmt::Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [rd, rs1, rs2] = [self.rd, self.rs1, self.rs2].map(register_name);
        let (name, imm) = (self.row.name, self.imm);
        match (&self.row.sem, name) {
            (Sem::Load { .. }, _) | (_, "jalr") => write!(f, "{name} {rd}, {imm}({rs1})"),
            (Sem::Store { .. }, _) => write!(f, "{name} {rs2}, {imm}({rs1})"),
            (Sem::Branch(_), _) => write!(f, "{name} {rs1}, {rs2}, .{imm:+}"),
            (Sem::Jump(_), _) => write!(f, "{name} {rd}, .{imm:+}"),
            (Sem::Csr, _) => write!(f, "{name} {rd}, {imm:#x}{}", if self.reads_rs1() { format!(", {rs1}") } else { String::new() }),
            (Sem::Write(_), "lui" | "auipc") => write!(f, "{name} {rd}, {:#x}", imm >> 12 & 0xfffff),
            (Sem::Write(_), _) => {
                write!(f, "{name} {rd}, {rs1}")?;
                match self.reads_rs2() {
                    true => write!(f, ", {rs2}"),
                    false if self.row.pattern.contains("imm[") => write!(f, ", {imm}"),
                    false => Ok(()),
                }
            }
            _ => f.write_str(name),
        }
    }
}
