//! Random instructions with random registers, and what the model makes of them.

use crate::random::Random;
use santoku_isa::{decode, rows, shorts, Fault, Fields, FlatMemory, Inst, Isa, Latency, Machine, Pattern, Sem, Stop};
use std::collections::BTreeMap;

pub const SETS: [Isa; 2] = [Isa::rv32imc_zb(), Isa::rv64imc_zb()];

/// Where data lies, in every executor; below what Linux gives programs, there is nothing.
pub const SCRATCH: u64 = 0x2_0000;
pub const SCRATCH_BYTES: u64 = 0x1000;

/// One encoding to test: a row or a compressed form, with the base's name for reports.
pub struct Form {
    pub name: &'static str,
    pub short: bool,
    pub pattern: Pattern,
}

/// All forms of `isa` that have a meaning to test, in the tables' order.
pub fn forms(isa: &Isa) -> Vec<Form> {
    let long = rows().filter(|r| r.is_in(isa)).filter(|r| !matches!(r.sem, Sem::Csr | Sem::EnvCall | Sem::Break));
    let long = long.map(|r| Form { name: r.name, short: false, pattern: Pattern::parse(r.pattern, 32).expect("row") });
    let short = shorts().filter(|s| s.bases.has(isa.xlen) && s.long != "ebreak");
    let short = short.map(|s| Form { name: s.name, short: true, pattern: Pattern::parse(s.pattern, 16).expect("short") });
    long.chain(short).collect()
}

impl Form {
    /// An encoding with random fields; registers are often the same, immediates often at an edge.
    pub fn random_bits(&self, r: &mut Random) -> u32 {
        let p = &self.pattern;
        loop {
            let any = if self.short { r.next() as u32 & 0xffff } else { r.next() as u32 };
            let Some(mut f) = p.read(any & !p.mask | p.value) else { continue };
            alias(&mut f, r);
            if p.has_imm() && r.one_in(3) {
                f.imm = edge_immediate(p, r);
            }
            if let Some(bits) = p.write(&f) {
                return bits;
            }
        }
    }
}

fn alias(f: &mut Fields, r: &mut Random) {
    match r.below(16) {
        0 => f.rs2 = f.rs1,
        1 => f.rd = f.rs1,
        2 => f.rd = f.rs2,
        3 => (f.rd, f.rs2) = (f.rs1, f.rs1),
        4 => f.rs1 = 0,
        5 => f.rs2 = 0,
        6 => f.rd = 0,
        _ => {}
    }
}

fn edge_immediate(p: &Pattern, r: &mut Random) -> i64 {
    let (low, top) = (1i64 << p.imm_low(), 1i64 << (p.imm_bits() - 1));
    let choice = r.below(6) as usize;
    match p.imm_signed() {
        true => [0, low, -low, -top, top - low, top / 2][choice],
        false => [0, low, top, 2 * top - low, top - low, 2 * low][choice],
    }
}

/// An instruction, where it is, and all registers before it.
#[derive(Clone)]
pub struct Case {
    pub inst: Inst,
    pub pc: u64,
    pub regs: [u64; 32],
}

/// A case of one form.
pub fn random_case(isa: &Isa, f: &Form, r: &mut Random) -> Case {
    let inst = random_inst(isa, f, r);
    Case { inst, pc: r.operand() & isa.xlen.mask() & !1, regs: random_registers(isa, &inst, r) }
}

/// An instruction of one form. One that accesses memory does so through a register: x0 leads nowhere.
pub fn random_inst(isa: &Isa, f: &Form, r: &mut Random) -> Inst {
    loop {
        let bits = f.random_bits(r);
        let inst = decode(isa, bits).unwrap_or_else(|| panic!("{} {bits:#x} does not decode", f.name));
        if inst.rs1 != 0 || !matches!(inst.row.sem, Sem::Load { .. } | Sem::Store { .. }) {
            return inst;
        }
    }
}

/// Registers for `inst`; data addresses lie in the scratch piece.
pub fn random_registers(isa: &Isa, inst: &Inst, r: &mut Random) -> [u64; 32] {
    let mask = isa.xlen.mask();
    let mut regs = [0; 32];
    regs[1..].fill_with(|| r.operand() & mask);
    relate(&mut regs, inst, r, mask);
    if let Sem::Load { bytes, .. } | Sem::Store { bytes, .. } = inst.row.sem {
        let address = SCRATCH + r.below(SCRATCH_BYTES - u64::from(bytes) + 1);
        regs[usize::from(inst.rs1)] = address.wrapping_sub(inst.imm as u64) & mask;
    }
    regs
}

/// Comparisons need operands that are equal or neighbours, divisions those that the manual lists apart.
fn relate(regs: &mut [u64; 32], inst: &Inst, r: &mut Random, mask: u64) {
    let (a, b) = (usize::from(inst.rs1), usize::from(inst.rs2));
    if inst.row.latency == Latency::Divide && a != 0 && b != 0 && r.one_in(8) {
        // The quotient that does not fit, on all bits or on 32 whatever is above them.
        let above = if r.one_in(2) { r.next() << 32 } else { 0 };
        regs[a] = (0xffff_ffff_8000_0000 ^ above) & mask;
        regs[b] = [u64::MAX, u64::MAX ^ above, above][r.below(3) as usize] & mask;
        if r.one_in(2) {
            (regs[a], regs[b]) = (mask / 2 + 1, mask);
        }
    } else if a != 0 && b != 0 && r.one_in(4) {
        regs[a] = regs[b].wrapping_add(r.below(3)).wrapping_sub(1) & mask;
    } else if a != 0 && r.one_in(8) {
        regs[a] = (inst.imm as u64).wrapping_add(r.below(3)).wrapping_sub(1) & mask;
    }
}

/// Registers and address after an instruction.
pub type After = ([u64; 32], u64);

/// The scratch piece as every executor starts with.
pub fn scratch() -> FlatMemory {
    let mut r = Random::new(7);
    FlatMemory { base: SCRATCH, bytes: (0..SCRATCH_BYTES).map(|_| r.next() as u8).collect() }
}

/// What the model says; `inst` is the case's own or a twin of it.
pub fn model(isa: &Isa, case: &Case, inst: &Inst, memory: &mut FlatMemory) -> Result<After, Fault> {
    let mut machine = Machine { isa: *isa, pc: case.pc, regs: case.regs };
    assert_eq!(machine.execute(inst, memory)?, Stop::Ran, "{inst}");
    Ok((machine.regs, machine.pc))
}

/// Cases per form, and the check that none went without.
pub struct Tally {
    counts: BTreeMap<String, u64>,
}

impl Tally {
    pub fn new(forms: &[Form], skip: &[&str]) -> Tally {
        let names = forms.iter().map(|f| f.name).filter(|n| !skip.contains(n));
        Tally { counts: names.map(|n| (n.to_string(), 0)).collect() }
    }

    pub fn add(&mut self, name: &str) {
        *self.counts.get_mut(name).expect("a form") += 1;
    }

    /// Prints all counts; their sum.
    pub fn finish(&self, what: &str) -> u64 {
        let line: Vec<_> = self.counts.iter().map(|(n, c)| format!("{n} {c}")).collect();
        let sum = self.counts.values().sum();
        println!("{what}: {sum} cases of {} forms agree: {}", self.counts.len(), line.join(", "));
        for (name, count) in &self.counts {
            assert!(*count > 0, "{what}: no case of {name}");
        }
        sum
    }
}
