//! A function's instructions, as the hash sees them: which belong together and what they refer to.

use crate::insn::{self, Format};
use crate::reloc::Role;
use crate::{Function, Image};

#[derive(Clone, Copy)]
pub(crate) struct Insn {
    pub pc: u64,
    pub size: u64,
    pub word: u32,
}

/// A high part that a low part adds to.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    /// Index of the instruction with the high part.
    pub high: usize,
    pub target: u64,
}

/// A call or tail call of a fixed place: `auipc` and `jalr`, or the `jal`, `c.jal`, `c.j` that linkers make of them.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub target: u64,
    /// Register for the return address; 0 for a tail call.
    pub link: usize,
    /// Instructions it takes, 1 or 2.
    pub length: usize,
}

/// The scratch register of the `tail` macro (psABI, 8.5.1); no argument is ever passed in it.
const TAIL_SCRATCH: usize = 6;

impl Image {
    /// Instructions in order of address. A function that ends inside an instruction lacks that one.
    pub(crate) fn instructions(&self, function: &Function) -> Vec<Insn> {
        let mut code = vec![];
        let mut pc = function.address;
        while pc - function.address < function.size {
            let Some(word) = self.word(pc) else { break };
            let size = insn::length(word as u16);
            code.push(Insn { pc, size, word });
            match pc.checked_add(size) {
                Some(next) => pc = next,
                None => break,
            }
        }
        code
    }

    /// For each instruction that adds a low part: its high part and the sum.
    pub(crate) fn pairs(&self, code: &[Insn]) -> Vec<Option<Pair>> {
        let mut highs: [Option<usize>; 32] = [None; 32];
        let mut pairs = vec![];
        for (n, insn) in code.iter().enumerate() {
            let high = low_format(insn).and(highs[insn::rs1(insn.word)]);
            pairs.push(high.and_then(|h| self.pair(&code[h], h, insn)));
            if insn::is_call(insn.word, insn.size, self.xlen) {
                insn::CALLER_SAVED.iter().for_each(|r| highs[*r] = None);
            }
            if let Some(rd) = insn::written(insn.word, insn.size, self.xlen) {
                highs[rd] = self.is_high(insn).then_some(n);
            }
            highs[0] = None;
        }
        pairs
    }

    /// `auipc`, or a `lui` that may make an address.
    pub(crate) fn is_high(&self, insn: &Insn) -> bool {
        if insn.size != 4 {
            return false;
        }
        let relocated = self.references.get(&insn.pc).is_some_and(|r| r.role == Role::High);
        match insn::opcode(insn.word) {
            insn::AUIPC => true,
            insn::LUI => relocated || self.linked,
            _ => false,
        }
    }

    fn pair(&self, high: &Insn, index: usize, low: &Insn) -> Option<Pair> {
        let base = if insn::opcode(high.word) == insn::AUIPC { high.pc } else { 0 };
        let sum = base.wrapping_add(Format::U.get(high.word) as u64).wrapping_add(low_format(low)?.get(low.word) as u64);
        let target = self.truncate(sum);
        let pair = Some(Pair { high: index, target });
        match (self.references.get(&high.pc), self.references.get(&low.pc)) {
            (Some(_), Some(r)) => pair.filter(|_| r.role == Role::Low && r.target == target),
            (Some(_), None) | (None, Some(_)) => None,
            // In an image a `lui` may as well make a number; it counts as an address if something is there or ends there.
            (None, None) if insn::opcode(high.word) == insn::LUI => {
                pair.filter(|_| self.section(target).or_else(|| self.section(target.wrapping_sub(1))).is_some())
            }
            (None, None) => pair,
        }
    }

    /// The call that starts at instruction `n`. Jumps inside the function are none.
    pub(crate) fn call(&self, function: &Function, code: &[Insn], pairs: &[Option<Pair>], n: usize) -> Option<Call> {
        let insn = &code[n];
        if insn.size == 4 && insn::opcode(insn.word) == insn::AUIPC {
            let (jump, pair) = (code.get(n + 1)?, (*pairs.get(n + 1)?)?);
            let (scratch, link) = (insn::rd(insn.word), insn::rd(jump.word));
            let usual = link == scratch || (link == 0 && scratch == TAIL_SCRATCH);
            let is = jump.size == 4 && insn::opcode(jump.word) == insn::JALR && pair.high == n && usual;
            return is.then_some(Call { target: pair.target, link, length: 2 });
        }
        let link = match (insn.size, insn::direct_jump(insn.word, insn.size, self.xlen)?) {
            (_, Format::J) => insn::rd(insn.word),
            (_, Format::Cj) => usize::from(insn.word >> 13 == 1),
            _ => return None,
        };
        let target = self.jump_target(insn)?;
        let inside = target.wrapping_sub(function.address) < function.size;
        (!inside || link != 0).then_some(Call { target, link, length: 1 })
    }

    pub(crate) fn jump_target(&self, insn: &Insn) -> Option<u64> {
        let format = insn::direct_jump(insn.word, insn.size, self.xlen)?;
        Some(self.truncate(insn.pc.wrapping_add(format.get(insn.word) as u64)))
    }

    fn truncate(&self, address: u64) -> u64 {
        if self.xlen == 32 {
            address & 0xffff_ffff
        } else {
            address
        }
    }
}

/// Format of the immediate of an instruction that may add the low part of an address.
pub(crate) fn low_format(insn: &Insn) -> Option<Format> {
    if insn.size != 4 {
        return None;
    }
    match insn::opcode(insn.word) {
        insn::OP_IMM if insn::funct3(insn.word) == 0 => Some(Format::I),
        insn::LOAD | insn::LOAD_FP | insn::JALR => Some(Format::I),
        insn::STORE | insn::STORE_FP => Some(Format::S),
        _ => None,
    }
}

/// Bytes that a load of whole registers reads.
pub(crate) fn load_width(insn: &Insn) -> Option<u64> {
    let width = 1 << (insn::funct3(insn.word) & 3);
    (insn.size == 4 && insn::opcode(insn.word) == insn::LOAD).then_some(width)
}
