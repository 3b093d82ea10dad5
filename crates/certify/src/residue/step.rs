//! One instruction on registers, and where jumps lead.
//!
//! Needs: decoded code.  Keeps: a jump is followed only to where its relocation or its distance says, whatever a linker does.  Absent: memory.
//! Trusted: certifier.

use super::value::{Values, V};
use crate::machine::Code;
use santoku_isa::{effect, Effect, Inst, Word};

/// Registers.
pub(crate) type Regs = [V; 32];

/// What a function finds: nothing is known of the stack but where it is.
pub(crate) fn at_entry() -> Regs {
    let mut regs = std::array::from_fn(|r| V::Entry(r as u8));
    regs[2] = V::Stack(0);
    regs
}

/// A function that is called.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Callee {
    /// By its address.
    Here(u64),
    /// Of another file, by its name.
    Elsewhere(String),
}

/// What an instruction does.
pub(crate) enum Step {
    /// A register was written; on to the next.
    Next,
    /// `rd` gets so many bytes from an address.
    Load { rd: u8, address: V, bytes: u8, signed: bool },
    Store { address: V, bytes: u8, value: V },
    /// Taken or not, if that is known.
    Branch { taken: Option<bool>, target: u64, secret: bool },
    Goto(u64),
    Call(Callee),
    /// A jump into another function, which returns to our caller.
    Last(Callee),
    /// Back to where this leads.
    Return(V),
}

/// The instruction at `pc` and the address behind it.
pub(crate) fn decoded(code: &Code, pc: u64) -> Result<(Inst, u64), String> {
    let inst = code.decode(pc).ok_or_else(|| code.nothing_at(pc).to_string())?;
    let next = code.mask(pc.wrapping_add(u64::from(inst.len)));
    Ok((inst, next))
}

/// Nothing is executed behind this instruction: `ebreak`, or one of the two that the manual defines as illegal (`unimp`: a write of `cycle`,
/// and sixteen zero bits). Compilers end code with them that is never to be reached.
pub(crate) fn ends(code: &Code, pc: u64) -> bool {
    const EBREAK: u32 = 0x0010_0073;
    const C_EBREAK: u32 = 0x9002;
    const UNIMP: u32 = 0xc000_1073;
    let Some(word) = code.image.fetch(pc).filter(|_| code.isa.takes_at(pc)) else { return false };
    match word & 3 {
        3 => matches!(word, EBREAK | UNIMP),
        _ => code.isa.c && matches!(word & 0xffff, 0 | C_EBREAK),
    }
}

/// Executes the instruction at `pc` on the registers. `before`: the one executed last.
pub(crate) fn step(code: &Code, values: &mut Values, regs: &mut Regs, before: Option<u64>, pc: u64) -> Result<Step, String> {
    let (inst, _) = decoded(code, pc)?;
    let read = |r: u8| if r == 0 { V::Known(Word::new(0, values.xlen)) } else { regs[r as usize] };
    let (rs1, rs2) = (read(inst.rs1), read(inst.rs2));
    Ok(match effect(values, &code.isa, &inst, pc, &rs1, &rs2) {
        Effect::Write { value } => {
            write(regs, inst.rd, value);
            Step::Next
        }
        Effect::Load { address, bytes, signed } => Step::Load { rd: inst.rd, address, bytes, signed },
        // Words of the registers' width are stored as they are.
        Effect::Store { address, bytes, value } => Step::Store { address, bytes, value: if u32::from(bytes) * 8 == values.xlen { rs2 } else { value } },
        Effect::Branch { taken, target } => {
            code.firm_branch(pc, target).map_err(|w| w.to_string())?;
            let secret = values.is_secret(taken);
            let taken = match taken {
                V::Known(w) => Some(w.bits == 1),
                _ => None,
            };
            Step::Branch { taken, target, secret }
        }
        Effect::Jump { target: V::Known(to), link } => jump(code, regs, &inst, (before, pc), (to.bits as u64, link), values.xlen)?,
        // Return addresses are even: the lowest bit, which is cleared, is none of theirs.
        Effect::Jump { .. } if (inst.rd, inst.rs1, inst.imm) == (0, 1, 0) => Step::Return(rs1),
        Effect::Jump { .. } => return Err("a jump to a computed address".into()),
        Effect::Fence => Step::Next,
        Effect::EnvCall | Effect::Break | Effect::Csr => return Err(format!("`{}`", inst.row.name)),
    })
}

pub(crate) fn write(regs: &mut Regs, rd: u8, value: V) {
    if rd != 0 {
        regs[rd as usize] = value;
    }
}

fn jump(code: &Code, regs: &mut Regs, inst: &Inst, (before, pc): (Option<u64>, u64), (to, link): (u64, u64), xlen: u32) -> Result<Step, String> {
    // Asks whether a linker may lead the jump elsewhere.
    code.callee(before, pc, to, inst.rd != 0, false).map_err(|w| w.to_string())?;
    if inst.row.name == "jalr" && !code.image.is_relocated(pc) {
        return Err(format!("a jump to {to:#x}, a number that no relocation names"));
    }
    if inst.rd == 0 && code.image.external(to).is_none() && code.stays(pc, to, false) && code.image.function_at(to).is_some_and(|f| f.address != to) {
        return Ok(Step::Goto(to));
    }
    let callee = match (code.image.external(to), code.image.function_at(to)) {
        (Some(name), _) => Callee::Elsewhere(name.to_string()),
        (None, Some(f)) if f.address == to => Callee::Here(to),
        _ => return Err(format!("a jump into the middle of a function, to {to:#x}")),
    };
    match inst.rd {
        0 => Ok(Step::Last(callee)),
        1 => {
            write(regs, 1, V::Known(Word::new(u128::from(link), xlen)));
            Ok(Step::Call(callee))
        }
        _ => Err("a call that leaves its return address in another register than `ra`".into()),
    }
}
