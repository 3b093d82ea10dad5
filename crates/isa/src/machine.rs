//! A concrete machine on top of the tables: one hart, memory behind a trait.

use crate::decode::decode;
use crate::domain::{Word, Words};
use crate::effect::{effect, Effect};
use crate::row::{Inst, Isa};
use santoku_num::little;

/// Byte-addressed memory. Accesses need not be aligned.
pub trait Memory {
    /// `bytes` (1, 2, 4, 8) little-endian; `None` if they may not be read.
    fn load(&mut self, address: u64, bytes: u8) -> Option<u64>;
    /// Writes the low `bytes` (1, 2, 4, 8) of `value`; `None` if they may not be written.
    fn store(&mut self, address: u64, bytes: u8, value: u64) -> Option<()>;
}

/// Memory of one piece, all readable and writable.
#[derive(Clone, Debug)]
pub struct FlatMemory {
    /// Address of the first byte.
    pub base: u64,
    /// Contents.
    pub bytes: Vec<u8>,
}

impl FlatMemory {
    fn range(&mut self, address: u64, bytes: u8) -> Option<&mut [u8]> {
        let from = usize::try_from(address.checked_sub(self.base)?).ok()?;
        self.bytes.get_mut(from..from.checked_add(usize::from(bytes))?)
    }
}

impl Memory for FlatMemory {
    fn load(&mut self, address: u64, bytes: u8) -> Option<u64> {
        let range = self.range(address, bytes)?;
        Some(little(range) as u64)
    }

    fn store(&mut self, address: u64, bytes: u8, value: u64) -> Option<()> {
        let range = self.range(address, bytes)?;
        range.copy_from_slice(&value.to_le_bytes()[..usize::from(bytes)]);
        Some(())
    }
}

/// Why the machine did not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No instruction of the set here.
    Illegal {
        /// Address.
        pc: u64,
        /// Bits found; the upper half may be missing at the end of memory.
        bits: u32,
    },
    /// Instruction memory may not be read, or the address is not aligned for instructions.
    Fetch {
        /// Address.
        pc: u64,
    },
    /// Memory may not be read.
    Load {
        /// Address of the instruction.
        pc: u64,
        /// Address of the data.
        address: u64,
    },
    /// Memory may not be written.
    Store {
        /// Address of the instruction.
        pc: u64,
        /// Address of the data.
        address: u64,
    },
}

/// What a step ended with. For all but `Ran`, `pc` is still that of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The instruction was executed.
    Ran,
    /// `ecall`.
    EnvCall,
    /// `ebreak`.
    Break,
    /// An instruction on a control and status register.
    Csr,
}

/// One hart.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Instruction set.
    pub isa: Isa,
    /// Address of the next instruction, below 2^XLEN.
    pub pc: u64,
    /// Registers, below 2^XLEN; the first is always 0.
    pub regs: [u64; 32],
}

impl Machine {
    /// All registers zero.
    pub fn new(isa: Isa, pc: u64) -> Machine {
        Machine { isa, pc, regs: [0; 32] }
    }

    /// The instruction at `pc`.
    pub fn fetch(&self, memory: &mut impl Memory) -> Result<Inst, Fault> {
        let pc = self.pc;
        let align = if self.isa.c { 2 } else { 4 };
        let low = memory.load(pc, 2).filter(|_| pc % align == 0).ok_or(Fault::Fetch { pc })? as u32;
        let high = match low & 3 {
            3 => memory.load(pc.wrapping_add(2) & self.isa.xlen.mask(), 2).ok_or(Fault::Fetch { pc })? as u32,
            _ => 0,
        };
        let bits = high << 16 | low;
        decode(&self.isa, bits).ok_or(Fault::Illegal { pc, bits })
    }

    /// Executes the instruction at `pc`; nothing changes if that fails.
    pub fn step(&mut self, memory: &mut impl Memory) -> Result<Stop, Fault> {
        let inst = self.fetch(memory)?;
        self.execute(&inst, memory)
    }

    /// Executes `inst` as if it lay at `pc`; nothing changes if that fails.
    pub fn execute(&mut self, inst: &Inst, memory: &mut impl Memory) -> Result<Stop, Fault> {
        let (pc, mask, xlen) = (self.pc, self.isa.xlen.mask(), self.isa.xlen.bits());
        let source = |n: u8| Word::new(u128::from(self.regs[usize::from(n & 31)]), xlen);
        let mut next = pc.wrapping_add(u64::from(inst.len)) & mask;
        match effect(&mut Words, &self.isa, inst, pc, &source(inst.rs1), &source(inst.rs2)) {
            Effect::Write { value } => self.write(inst.rd, value.bits as u64),
            Effect::Load { address, bytes, signed } => {
                let address = address.bits as u64;
                let raw = memory.load(address, bytes).ok_or(Fault::Load { pc, address })?;
                let up = 64 - 8 * u32::from(bytes);
                let value = if signed { ((raw << up) as i64 >> up) as u64 } else { raw };
                self.write(inst.rd, value & mask);
            }
            Effect::Store { address, bytes, value } => {
                let address = address.bits as u64;
                memory.store(address, bytes, value.bits as u64).ok_or(Fault::Store { pc, address })?;
            }
            Effect::Branch { taken, target } => next = if taken.bits == 1 { target } else { next },
            Effect::Jump { target, link } => {
                self.write(inst.rd, link);
                next = target.bits as u64;
            }
            Effect::Fence => {}
            Effect::EnvCall => return Ok(Stop::EnvCall),
            Effect::Break => return Ok(Stop::Break),
            Effect::Csr => return Ok(Stop::Csr),
        }
        self.pc = next;
        Ok(Stop::Ran)
    }

    fn write(&mut self, rd: u8, value: u64) {
        if rd != 0 {
            self.regs[usize::from(rd & 31)] = value;
        }
    }
}
