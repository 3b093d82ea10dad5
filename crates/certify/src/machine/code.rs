//! A file and what is known of its functions, without values.

use crate::source::convention::Convention;
use super::shape::Edges;
use super::stop::Why;
use santoku_elf::{Image, Ledger};
use santoku_ir::{FuncId, Program};
use santoku_isa::{Inst, Isa, Latency};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub const RA: usize = 1;

pub const SP: usize = 2;

pub const GP: usize = 3;

pub const TP: usize = 4;

/// A file with what is known of it.
pub struct Code<'a> {
    /// Writes down what is read.
    pub image: Ledger<'a>,
    pub isa: Isa,
    pub program: &'a Program,
    /// Functions of the program by their symbol in the file.
    pub symbols: BTreeMap<String, FuncId>,
    /// Functions that are not called as the source says, by address.
    pub conventions: BTreeMap<u64, Convention>,
    /// Multiplications of secrets count as a leak.
    pub secret_mul_leaks: bool,
    /// The processor is CKB-VM, which executes some groups of instructions as one.
    pub ckb_vm: bool,
    /// Without the attempts that ask a solver.
    pub normal_form_only: bool,
    pub(crate) flows: RefCell<BTreeMap<u64, Rc<Flow>>>,
}

impl<'a> Code<'a> {
    pub fn new(image: &'a Image, isa: Isa, program: &'a Program, symbols: BTreeMap<String, FuncId>) -> Code<'a> {
        Code { image: Ledger::new(image), isa, program, symbols, conventions: BTreeMap::new(), secret_mul_leaks: false, ckb_vm: false, normal_form_only: false, flows: RefCell::default() }
    }

    pub fn xlen(&self) -> u32 {
        self.isa.xlen.bits()
    }

    pub(crate) fn mask(&self, pc: u64) -> u64 {
        pc & self.isa.xlen.mask()
    }

    pub(crate) fn decode(&self, pc: u64) -> Option<Inst> {
        let word = self.image.fetch(pc).filter(|_| self.isa.takes_at(pc))?;
        santoku_isa::decode(&self.isa, word).filter(|inst| self.knows(inst))
    }

    /// Why there is nothing to execute at `pc`.
    pub(crate) fn nothing_at(&self, pc: u64) -> Why {
        let known = if self.isa.takes_at(pc) { "no instruction is known here" } else { "an instruction at an address that 4 does not divide, and the processor has none of 16 bits" };
        Why::Unsupported(self.image.doubt(pc).unwrap_or_else(|| known.into()))
    }

    /// A branch without a relocation leads to the same place wherever a linker puts things.
    pub(crate) fn firm_branch(&self, pc: u64, to: u64) -> Result<(), Why> {
        match self.image.is_firm(pc, to) {
            true => Ok(()),
            false => Err(Why::Unsupported(format!("a branch to {to:#x}, at a distance that a linker may change and no relocation names"))),
        }
    }

    /// The time of the instruction depends on its operands.
    pub(crate) fn takes_time(&self, inst: &Inst) -> bool {
        match inst.row.latency {
            Latency::Fixed => false,
            Latency::Multiply => self.secret_mul_leaks,
            Latency::Divide => true,
        }
    }

    /// CKB-VM takes no fence with registers in it for an instruction.
    pub(crate) fn knows(&self, inst: &Inst) -> bool {
        !self.ckb_vm || inst.row.name != "fence" || (inst.rd, inst.rs1) == (0, 0)
    }

    /// The same for guesses at the flow, on which nothing rests.
    pub(super) fn guess(&self, pc: u64) -> Option<Inst> {
        santoku_isa::decode(&self.isa, self.image.guess(pc)?)
    }

    /// Whether both lie in one function, its first instruction included: that may be the head of a loop.
    pub(crate) fn same_function(&self, a: u64, b: u64) -> bool {
        match (self.image.function_at(a), self.image.function_at(b)) {
            (Some(f), Some(g)) => f.address == g.address,
            _ => false,
        }
    }

    /// Whether a jump that leaves no return address behind stays in its function, or one that does leads into the middle of it.
    pub(crate) fn stays(&self, pc: u64, to: u64, links: bool) -> bool {
        self.same_function(pc, to) && !(links && self.image.function_at(to).is_some_and(|f| f.address == to))
    }

    /// How the function at an address is called.
    pub fn convention_at(&self, address: u64) -> Convention {
        self.conventions.get(&address).cloned().unwrap_or_default()
    }

    /// The function of the program that starts at `pc`.
    pub fn cut_at(&self, pc: u64) -> Option<FuncId> {
        let f = self.image.function_at(pc).filter(|f| f.address == pc)?;
        std::iter::once(&f.name).chain(&f.aliases).find_map(|n| self.symbols.get(n).copied())
    }
}

/// How execution may go through one function.
pub(crate) struct Flow {
    pub(crate) edges: Edges,
    /// For every instruction, the next one that all ways from it lead to; `None`: the end only.
    pub(crate) meets: BTreeMap<u64, Option<u64>>,
    /// For every head of a loop, the instructions of the loop.
    pub loops: BTreeMap<u64, Rc<BTreeSet<u64>>>,
    /// Position in an order in which what follows comes later, but for ways back in a loop.
    pub(crate) order: BTreeMap<u64, usize>,
    /// Registers that may be read before they are written, one bit each.
    pub(crate) live: BTreeMap<u64, u32>,
}
