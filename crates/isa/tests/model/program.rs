//! Programs that run instructions under test with many operands and keep what they saw.
//!
//! Each block sets up pointers, then loops: loads the operands into the instruction's own registers, executes it, stores
//! `rd` and, for jumps and branches, whether the way went past the next instruction.

use crate::cases::{random_inst, random_registers, scratch, Case, Form, SCRATCH, SCRATCH_BYTES};
use crate::elf::{executable, Segment};
use crate::random::Random;
use santoku_isa::{decode, rows, Fields, Inst, Isa, Sem};

pub const CODE: u64 = 0x10_0000;
const OPERANDS: u64 = 0x1000_0000;
const RESULTS: u64 = 0x3000_0000;

/// A case, and where its outcome lies in the results.
pub struct Planned {
    pub form: usize,
    pub case: Case,
    /// Where a jump or a branch that is taken leads.
    pub target: u64,
    /// Index of the word that holds `rd`; after it, for jumps and branches, 1 if the way went to the target.
    pub at: usize,
}

pub struct Program {
    isa: Isa,
    code: Vec<u8>,
    operands: Vec<u8>,
    words: usize,
    pub planned: Vec<Planned>,
}

/// Registers of a block that the instruction under test does not touch.
struct Harness {
    operand: u8,
    result: u8,
    end: u8,
    way: u8,
}

impl Program {
    pub fn new(isa: Isa) -> Program {
        Program { isa, code: vec![], operands: vec![], words: 0, planned: vec![] }
    }

    fn word(&self) -> i64 {
        i64::from(self.isa.xlen.bits() / 8)
    }

    fn pc(&self) -> u64 {
        CODE + self.code.len() as u64
    }

    fn emit(&mut self, name: &str, rd: u8, rs1: u8, rs2: u8, imm: i64) {
        let row = rows().find(|r| r.name == name && r.is_in(&self.isa)).expect("an instruction of the harness");
        let bits = row.encode(&Fields { rd, rs1, rs2, imm }).unwrap_or_else(|| panic!("{name} {imm} does not fit"));
        self.code.extend(bits.to_le_bytes());
    }

    /// `value` below 2^31 in two instructions.
    fn constant(&mut self, rd: u8, value: u64) {
        let low = (value as i64) << 52 >> 52;
        self.emit("lui", rd, 0, 0, value as i64 - low);
        self.emit("addi", rd, rd, 0, low);
    }

    fn load(&mut self, rd: u8, base: u8, offset: i64) {
        let name = if self.word() == 8 { "ld" } else { "lw" };
        self.emit(name, rd, base, 0, offset);
    }

    fn store(&mut self, rs2: u8, base: u8, offset: i64) {
        let name = if self.word() == 8 { "sd" } else { "sw" };
        self.emit(name, 0, base, rs2, offset);
    }

    fn operand(&mut self, value: u64) {
        let word = self.word() as usize;
        self.operands.extend(&value.to_le_bytes()[..word]);
    }

    /// Adds a block that runs one instruction of this form with `rounds` sets of operands.
    pub fn block(&mut self, number: usize, form: &Form, rounds: usize, r: &mut Random) {
        let (inst, target) = loop {
            let inst = random_inst(&self.isa, form, r);
            match inst.row.sem {
                Sem::Jump(_) if inst.row.name == "jalr" && inst.rs1 == 0 => continue,
                Sem::Jump(_) if inst.row.name == "jalr" => break (inst, Some(12 + 2 * r.below(40) as i64)),
                Sem::Jump(_) | Sem::Branch(_) => match near(&self.isa, form, &inst, r) {
                    Some(inst) => break (inst, Some(inst.imm)),
                    None => continue,
                },
                _ => break (inst, None),
            }
        };
        let h = harness(&inst, r);
        let operands = OPERANDS + self.operands.len() as u64;
        self.constant(h.operand, operands);
        self.constant(h.result, RESULTS + (self.words as i64 * self.word()) as u64);
        self.constant(h.end, operands + rounds as u64 * 2 * self.word() as u64);
        let back = target.filter(|t| *t < 0).map(|t| self.landing_before(t));
        let top = self.pc();
        self.load(inst.rs1, h.operand, 0);
        self.load(inst.rs2, h.operand, self.word());
        if target.is_some() {
            self.emit("addi", h.way, 0, 0, 1);
        }
        let pc = self.pc();
        self.code.extend(&inst.bits.to_le_bytes()[..usize::from(inst.len)]);
        if let Some(target) = target {
            self.landing_after(&h, pc, target, back);
        }
        self.store(inst.rd, h.result, 0);
        let mut results = 1;
        if target.is_some() {
            self.store(h.way, h.result, self.word());
            results = 2;
        }
        self.emit("addi", h.operand, h.operand, 0, 2 * self.word());
        self.emit("addi", h.result, h.result, 0, results * self.word());
        self.emit("beq", 0, h.operand, h.end, 8);
        self.emit("jal", 0, 0, 0, top as i64 - self.pc() as i64);
        for _ in 0..rounds {
            self.plan(number, inst, pc, target, results as usize, r);
        }
    }

    /// Code before the block's loop where a backward jump lands: a jump over the loop's body, to be completed later.
    fn landing_before(&mut self, target: i64) -> usize {
        // Over the landing and the filler; the instruction comes 12 bytes after the loop's top.
        let filler = (-target - 12 - 4) as usize;
        self.emit("jal", 0, 0, 0, 8 + filler as i64);
        let at = self.code.len();
        self.code.extend([0; 4]);
        self.code.resize(self.code.len() + filler, 0);
        at
    }

    /// What follows a jump or branch at `pc`: the way that was not taken, filler, and the place where both meet.
    fn landing_after(&mut self, h: &Harness, pc: u64, target: i64, back: Option<usize>) {
        self.emit("addi", h.way, 0, 0, 0);
        match back {
            None => {
                let join = pc as i64 + target;
                self.emit("jal", 0, 0, 0, join - self.pc() as i64);
                self.code.resize((join as u64 - CODE) as usize, 0);
            }
            Some(at) => {
                let rest = self.code.split_off(at + 4);
                self.code.truncate(at);
                self.emit("jal", 0, 0, 0, 4 + rest.len() as i64);
                self.code.extend(rest);
            }
        }
    }

    fn plan(&mut self, form: usize, inst: Inst, pc: u64, target: Option<i64>, results: usize, r: &mut Random) {
        let mask = self.isa.xlen.mask();
        let mut regs = random_registers(&self.isa, &inst, r);
        if let (Some(target), "jalr") = (target, inst.row.name) {
            let odd = r.below(2) as i64;
            regs[usize::from(inst.rs1)] = (pc as i64 + target + odd - inst.imm) as u64 & mask;
        }
        self.operand(regs[usize::from(inst.rs1)]);
        self.operand(regs[usize::from(inst.rs2)]);
        self.planned.push(Planned { form, case: Case { inst, pc, regs }, target: pc.wrapping_add(target.unwrap_or(0) as u64), at: self.words });
        self.words += results;
    }

    /// Bytes of results, before the scratch piece.
    pub fn result_bytes(&self) -> usize {
        self.words * self.word() as usize
    }

    /// The results' words in what the program wrote.
    pub fn results(&self, output: &[u8]) -> Vec<u64> {
        let word = |c: &[u8]| c.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b));
        output[..self.result_bytes()].chunks(self.word() as usize).map(word).collect()
    }

    /// The executable: writes results and scratch to its output and ends with 0.
    pub fn link(mut self) -> (Vec<u8>, Program) {
        for (address, bytes) in [(RESULTS, self.result_bytes() as u64), (SCRATCH, SCRATCH_BYTES)] {
            self.constant(10, 1);
            self.constant(11, address);
            self.constant(12, bytes);
            self.constant(17, 64);
            self.emit("ecall", 0, 0, 0, 0);
        }
        self.constant(10, 0);
        self.constant(17, 93);
        self.emit("ecall", 0, 0, 0, 0);
        let scratch = scratch().bytes;
        let piece = |address, bytes, size, executable| Segment { address, bytes, size, executable };
        let segments = [
            piece(SCRATCH, &scratch[..], SCRATCH_BYTES, false),
            piece(CODE, &self.code[..], 0, true),
            piece(OPERANDS, &self.operands[..], 0, false),
            piece(RESULTS, &[], self.result_bytes() as u64, false),
        ];
        (executable(self.isa.xlen, CODE, &segments), self)
    }
}

/// The same jump or branch over a distance that leaves room for the landing.
fn near(isa: &Isa, form: &Form, inst: &Inst, r: &mut Random) -> Option<Inst> {
    let far = if r.one_in(16) { 4000 } else { 200 };
    let distance = 2 * r.below(far / 2) as i64;
    let imm = if r.one_in(2) { 12 + distance } else { -16 - distance };
    let fields = Fields { imm, ..form.pattern.read(inst.bits)? };
    decode(isa, form.pattern.write(&fields)?)
}

/// Four registers that the instruction does not name.
fn harness(inst: &Inst, r: &mut Random) -> Harness {
    let mut free: Vec<u8> = (1..32).filter(|n| ![inst.rd, inst.rs1, inst.rs2].contains(n)).collect();
    let mut take = || free.swap_remove(r.below(free.len() as u64) as usize);
    Harness { operand: take(), result: take(), end: take(), way: take() }
}
