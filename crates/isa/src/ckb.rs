//! CKB-VM as a second machine: RV64IMC with B, version 2, where some neighbouring instructions execute as one.
//!
//! Fusion shows in the cycle count and, but for the deviations listed in [`RULES`], in nothing else: a fused group leaves every
//! register as its instructions would one by one. A deviation is written as what the VM executes instead, in ordinary
//! instructions, so that the one evaluator gives its meaning in any domain. Source: the decoder and interpreter of the crate
//! `ckb-vm` 0.24; the tests compare rules, meanings and deviations with it.
//!
//! Where its decoder differs from the manual: see [`DECODING`].

use crate::decode::rows;
use crate::machine::{Fault, Machine, Memory, Stop};
use crate::row::{Inst, Isa, Sem};

/// The instruction set of on-chain programs, as far as modelled: the VM has Zbc too.
pub const ISA: Isa = Isa::rv64imc_zb();

/// An instruction of a group; names stand for registers and immediates, the same name for the same value. Empty: no such field.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// Mnemonic.
    pub name: &'static str,
    /// `rd`, `rs1`, `rs2`, immediate.
    pub fields: [&'static str; 4],
}

const fn r(name: &'static str, rd: &'static str, rs1: &'static str, rs2: &'static str) -> Template {
    Template { name, fields: [rd, rs1, rs2, ""] }
}

const fn i(name: &'static str, rd: &'static str, rs1: &'static str, imm: &'static str) -> Template {
    Template { name, fields: [rd, rs1, "", imm] }
}

const fn u(name: &'static str, rd: &'static str, imm: &'static str) -> Template {
    Template { name, fields: [rd, "", "", imm] }
}

/// What a group's two immediates must satisfy to be fused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Nothing.
    None,
    /// Their sum fits 32 bits, signed.
    Sum,
    /// Their sum fits, and so do the group's address and the sum with it.
    SumAtPc,
}

/// Condition of a deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Two names stand for different registers.
    Differ(&'static str, &'static str),
    /// The sum of the immediates does not fit 32 bits, signed.
    SumTooLarge,
}

/// Where a fused group is not what its instructions are.
#[derive(Clone, Copy, Debug)]
pub struct Deviation {
    /// When.
    pub when: When,
    /// Why, in words.
    pub why: &'static str,
    /// What is executed then.
    pub instead: &'static [Template],
}

/// A group that executes as one instruction.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The VM's name of the fused operation.
    pub opcode: &'static str,
    /// Instructions, lowest address first; any may be compressed.
    pub group: &'static [Template],
    /// Pairs of names that must stand for different registers; `0` is x0.
    pub distinct: &'static [(&'static str, &'static str)],
    /// Condition on immediates.
    pub limit: Limit,
    /// Deviation from the manual.
    pub deviation: Option<Deviation>,
}

const fn rule(opcode: &'static str, group: &'static [Template], distinct: &'static [(&'static str, &'static str)]) -> Rule {
    Rule { opcode, group, distinct, limit: Limit::None, deviation: None }
}

const SBB: [Template; 5] = [
    r("sub", "y", "x", "y"),
    r("sltu", "t", "x", "any"),
    r("sub", "x", "y", "c"),
    r("sltu", "c", "y", "x"),
    r("or", "y", "c", "t"),
];

/// Rules in the VM's order: the first that applies is taken.
#[rustfmt::skip]
pub static RULES: &[Rule] = &[
    rule("ADC",
        &[r("add", "a", "a", "b"), r("sltu", "b", "a", "b"), r("add", "a", "a", "c"), r("sltu", "c", "a", "c"), r("or", "b", "b", "c")],
        &[("a", "b"), ("c", "a"), ("c", "b"), ("a", "0"), ("b", "0"), ("c", "0")]),
    rule("ADD3A",
        &[r("add", "r", "x", "r"), r("sltu", "c", "r", "x"), r("add", "z", "c", "w")],
        &[("r", "x"), ("r", "w"), ("c", "w"), ("r", "0"), ("c", "0")]),
    rule("ADD3B",
        &[r("add", "r", "x", "y"), r("sltu", "x", "r", "x"), r("add", "z", "x", "w")],
        &[("r", "x"), ("r", "w"), ("x", "w"), ("r", "0"), ("x", "0")]),
    rule("ADD3C",
        &[r("add", "r", "x", "y"), r("sltu", "c", "r", "x"), r("add", "c", "c", "w")],
        &[("r", "x"), ("r", "w"), ("c", "w"), ("r", "0"), ("c", "0")]),
    rule("ADCS", &[r("add", "r", "r", "x"), r("sltu", "c", "r", "x")], &[("r", "x"), ("r", "0")]),
    rule("ADCS", &[r("add", "r", "x", "y"), r("sltu", "c", "r", "x")], &[("r", "x"), ("r", "0")]),
    Rule {
        opcode: "SBB",
        group: &SBB,
        distinct: &[("x", "y"), ("t", "x"), ("t", "y"), ("c", "x"), ("c", "y"), ("c", "t"), ("x", "0"), ("y", "0"), ("c", "0"), ("t", "0")],
        limit: Limit::None,
        deviation: Some(Deviation {
            when: When::Differ("any", "y"),
            why: "the VM does not look at what the first sltu compares x with, and compares with y",
            instead: &[SBB[0], r("sltu", "t", "x", "y"), SBB[2], SBB[3], SBB[4]],
        }),
    },
    rule("SBBS", &[r("sub", "d", "x", "y"), r("sltu", "b", "x", "y")], &[("d", "x"), ("d", "y")]),
    rule("WIDE_MUL", &[r("mulh", "h", "a", "b"), r("mul", "l", "a", "b")], &[("h", "a"), ("h", "b"), ("h", "l")]),
    rule("WIDE_MULU", &[r("mulhu", "h", "a", "b"), r("mul", "l", "a", "b")], &[("h", "a"), ("h", "b"), ("h", "l")]),
    rule("WIDE_MULSU", &[r("mulhsu", "h", "a", "b"), r("mul", "l", "a", "b")], &[("h", "a"), ("h", "b"), ("h", "l")]),
    rule("WIDE_DIV", &[r("div", "q", "a", "b"), r("rem", "m", "a", "b")], &[("q", "a"), ("q", "b"), ("q", "m")]),
    rule("WIDE_DIVU", &[r("divu", "q", "a", "b"), r("remu", "m", "a", "b")], &[("q", "a"), ("q", "b"), ("q", "m")]),
    rule("CUSTOM_LOAD_IMM", &[u("lui", "r", "i"), i("addiw", "r", "r", "j")], &[]),
    Rule {
        opcode: "FAR_JUMP_ABS",
        group: &[u("lui", "ra", "i"), i("jalr", "ra", "ra", "j")],
        distinct: &[],
        limit: Limit::None,
        deviation: Some(Deviation {
            when: When::SumTooLarge,
            why: "the VM adds modulo 2^32 and sign-extends: -2^31 and a negative offset jump up, not down",
            instead: &[u("lui", "ra", "i"), i("addiw", "ra", "ra", "j"), i("jalr", "ra", "ra", "0")],
        }),
    },
    Rule { limit: Limit::Sum, ..rule("FAR_JUMP_REL", &[u("auipc", "ra", "i"), i("jalr", "ra", "ra", "j")], &[]) },
    Rule { limit: Limit::SumAtPc, ..rule("CUSTOM_LOAD_IMM", &[u("auipc", "r", "i"), i("addi", "r", "r", "j")], &[]) },
];

/// Encodings that only one of the VM's decoder and the tables knows.
#[derive(Debug)]
pub struct Difference {
    /// Mnemonics.
    pub name: &'static str,
    /// The encodings: `bits & mask == value`.
    pub mask: u32,
    /// See `mask`.
    pub value: u32,
    /// Whether the VM is the one that knows them.
    pub vm: bool,
    /// Why.
    pub why: &'static str,
}

/// All differences in decoding.
#[rustfmt::skip]
pub static DECODING: &[Difference] = &[
    Difference { name: "clmul", mask: 0xfe00_707f, value: 0x0a00_1033, vm: true, why: "Zbc is not modelled" },
    Difference { name: "clmulr", mask: 0xfe00_707f, value: 0x0a00_2033, vm: true, why: "Zbc is not modelled" },
    Difference { name: "clmulh", mask: 0xfe00_707f, value: 0x0a00_3033, vm: true, why: "Zbc is not modelled" },
    Difference { name: "fence.i", mask: 0xffff_ffff, value: 0x0000_100f, vm: true, why: "Zifencei is not modelled; the VM does nothing" },
    Difference { name: "fence", mask: 0x0000_707f, value: 0x0000_000f, vm: false, why: "the VM wants rd and rs1 zero, the manual has them ignored" },
    Difference { name: "csrrw etc.", mask: 0x0000_407f, value: 0x0000_0073, vm: false, why: "no such registers in the VM" },
    Difference { name: "csrrwi etc.", mask: 0x0000_407f, value: 0x0000_4073, vm: false, why: "no such registers in the VM" },
];

/// A group found in a program.
#[derive(Debug)]
pub struct Fused {
    /// The rule.
    pub rule: &'static Rule,
    /// What executing the group does, as instructions executed one by one from the group's address; the group itself unless
    /// this is a deviation.
    pub meaning: Vec<Inst>,
    /// Whether the meaning differs from the group.
    pub deviates: bool,
}

impl Fused {
    /// Instructions in the group.
    pub fn count(&self) -> usize {
        self.rule.group.len()
    }
}

/// Values of names; `0` is x0, `ra` is x1.
type Names = Vec<(&'static str, i64)>;

/// The group that the VM fuses at `pc`, where `insts` lie one after another. `None`: the first executes alone.
pub fn fuse(insts: &[Inst], pc: u64) -> Option<Fused> {
    fuse_by(RULES, insts, pc)
}

/// [`fuse`] with other rules.
pub fn fuse_by(rules: &'static [Rule], insts: &[Inst], pc: u64) -> Option<Fused> {
    rules.iter().find_map(|rule| {
        let group = insts.get(..rule.group.len())?;
        let names = bind(rule, group, pc)?;
        let deviation = rule.deviation.as_ref().filter(|d| match d.when {
            When::Differ(a, b) => value(&names, a) != value(&names, b),
            When::SumTooLarge => !fits(value(&names, "i") + value(&names, "j")),
        });
        let meaning = deviation.map_or_else(|| Some(group.to_vec()), |d| instead(d, group, &names))?;
        Some(Fused { rule, meaning, deviates: deviation.is_some() })
    })
}

/// Whether a linker may leave an instruction out: what aligns code, and an upper part of an address that is made in a shorter way. No rule
/// that deviates holds such an instruction behind its first: if code makes its group once some of them are gone, it does so
/// once all of them are.
pub fn may_go(inst: &Inst) -> bool {
    inst.row.name == "addi" && inst.rd == 0 || matches!(inst.row.name, "lui" | "auipc")
}

/// Compressed instructions without effect: the VM decodes all of them as `addi x0, x0, 0`.
fn is_hint(inst: &Inst) -> bool {
    let same = inst.rd == inst.rs1 && inst.imm == 0 && matches!(inst.row.name, "addi" | "slli" | "srli" | "srai");
    inst.len == 2 && matches!(inst.row.sem, Sem::Write(_)) && (inst.rd == 0 || same)
}

/// 0 for names that are not bound.
fn value(names: &Names, name: &str) -> i64 {
    names.iter().find(|(n, _)| *n == name).map_or(0, |(_, v)| *v)
}

fn fits(v: i64) -> bool {
    i32::try_from(v).is_ok()
}

fn bind(rule: &Rule, group: &[Inst], pc: u64) -> Option<Names> {
    let mut names: Names = vec![("0", 0), ("ra", 1)];
    for (t, inst) in rule.group.iter().zip(group) {
        let (name, values) = match is_hint(inst) {
            true => ("addi", [0; 4]),
            false => (inst.row.name, [i64::from(inst.rd), i64::from(inst.rs1), i64::from(inst.rs2), inst.imm]),
        };
        if name != t.name {
            return None;
        }
        for (name, value) in t.fields.into_iter().zip(values).filter(|(n, _)| !n.is_empty()) {
            match names.iter().find(|(n, _)| *n == name) {
                Some((_, bound)) if *bound != value => return None,
                Some(_) => {}
                None => names.push((name, value)),
            }
        }
    }
    let distinct = rule.distinct.iter().all(|(a, b)| value(&names, a) != value(&names, b));
    let sum = value(&names, "i") + value(&names, "j");
    let within = match rule.limit {
        Limit::None => true,
        Limit::Sum => fits(sum),
        Limit::SumAtPc => fits(sum) && i32::try_from(pc).is_ok_and(|pc| fits(sum + i64::from(pc))),
    };
    (distinct && within).then_some(names)
}

/// The instructions of a deviation. Together they have the group's length: those beyond the group's number have none.
fn instead(deviation: &Deviation, group: &[Inst], names: &Names) -> Option<Vec<Inst>> {
    let (last, more) = (group.len() - 1, deviation.instead.len() - group.len());
    let made = deviation.instead.iter().enumerate().map(|(n, t)| {
        let row = rows().find(|r| r.name == t.name && r.is_in(&ISA))?;
        let len = match n {
            n if n < last => group[n].len,
            n if n < last + more => 0,
            _ => group[last].len,
        };
        let [rd, rs1, rs2] = [0, 1, 2].map(|k| value(names, t.fields[k]) as u8);
        Some(Inst { row, rd, rs1, rs2, imm: value(names, t.fields[3]), len, bits: 0 })
    });
    made.collect()
}

/// Executes what the VM executes at once at `pc`. A group accesses no memory, so a fault leaves nothing half done.
pub fn step(machine: &mut Machine, memory: &mut impl Memory) -> Result<Stop, Fault> {
    let first = machine.fetch(memory)?;
    let longest = RULES.iter().map(|r| r.group.len()).max().unwrap_or(1);
    let mut insts = vec![first];
    let mut ahead = machine.clone();
    while insts.len() < longest {
        ahead.pc = ahead.pc.wrapping_add(u64::from(insts[insts.len() - 1].len));
        match ahead.fetch(memory) {
            Ok(inst) => insts.push(inst),
            Err(_) => break,
        }
    }
    match fuse(&insts, machine.pc) {
        None => machine.execute(&first, memory),
        Some(fused) => fused.meaning.iter().try_fold(Stop::Ran, |_, inst| machine.execute(inst, memory)),
    }
}
