//! Near misses: instructions that CKB-VM executes as one where they stand in its order, and that stand otherwise.
//!
//! Needs: how often each half of a pair was executed by itself.  Keeps: a pair is named only where both of its halves have the same operands, so that moving
//! one to the other changes nothing.  Absent: groups of more than two; a pair that is found is their beginning.
//! Source of the groups: CKB RFCs 0033 and 0049, and the VM's decoder.

use super::image::Image;
use super::machine::{Machine, Vm};
use ckb_vm::ckb_vm_definitions::instructions as ops;
use ckb_vm::decoder::build_decoder;
use ckb_vm::instructions::{extract_opcode, instruction_length, is_basic_block_end_instruction, Rtype};
use ckb_vm::{CoreMachine, Instruction, ISA_B, ISA_IMC};
use serde::Serialize;
use std::collections::BTreeMap;

/// Instructions between two halves that are looked at.
const APART_MAX: usize = 8;
/// Cycles of a product of words, and of a sum or comparison.
const PRODUCT: u64 = 5;
const SUM: u64 = 1;

/// Two instructions that could be one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NearMiss {
    /// Of the half that is executed by itself.
    pub pc: u64,
    pub function: String,
    /// Both halves, by the names of their operations, in the order in which the VM takes them for one.
    pub pair: &'static str,
    /// What keeps them apart.
    pub why: String,
    /// Times executed.
    pub count: u64,
    /// Cycles that one operation would save.
    pub cycles: u64,
}

/// Whether the instruction is half of a pair, executed by itself.
pub(super) fn is_half(i: Instruction) -> bool {
    matches!(extract_opcode(i), ops::OP_MULH | ops::OP_MULHU | ops::OP_MULHSU | ops::OP_SLTU)
}

/// An instruction with three registers; of others (`op` 0) only what it writes.
#[derive(Clone, Copy)]
struct Three {
    op: ops::InstructionOpcode,
    rd: usize,
    rs1: usize,
    rs2: usize,
}

/// The near misses of a run, most cycles first. `halves`: how often which address was executed.
pub(super) fn misses(halves: &BTreeMap<u64, u64>, machine: Machine, vm: &mut Vm, image: &Image) -> Vec<NearMiss> {
    // Without groups, each instruction is itself.
    let mut decoder = build_decoder::<u64>(ISA_IMC | ISA_B, machine.version());
    let mut found = vec![];
    for (pc, count) in halves {
        let entry = image.function_at(*pc);
        let around = around(*pc, entry, |pc| decoder.decode(vm.memory_mut(), pc).ok());
        let Some((pair, why, each)) = miss(&around, machine) else { continue };
        found.push(NearMiss { pc: *pc, function: image.function_name(entry), pair, why, count: *count, cycles: each * count });
    }
    found.sort_by(|a, b| b.cycles.cmp(&a.cycles).then(a.pc.cmp(&b.pc)));
    found
}

/// The instruction, and those before it (nearest first) and behind it that are executed with it.
struct Around {
    here: Three,
    before: Vec<Three>,
    behind: Vec<Three>,
}

fn around(pc: u64, entry: u64, mut decode: impl FnMut(u64) -> Option<Instruction>) -> Around {
    let length = |i: Option<Instruction>| i.map_or(4, |i| u64::from(instruction_length(i)));
    // Lengths differ, so the way to an instruction starts where its function does.
    let (mut before, mut at) = (vec![], entry);
    while at < pc {
        let Some(i) = decode(at) else { break };
        if is_basic_block_end_instruction(i) {
            before.clear();
        } else {
            before.push(three(i));
        }
        at += length(Some(i));
    }
    before.reverse();
    before.truncate(APART_MAX + 1);
    let here = decode(pc);
    let (mut behind, mut at) = (vec![], pc + length(here));
    while behind.len() <= APART_MAX {
        let Some(i) = decode(at).filter(|i| !is_basic_block_end_instruction(*i)) else { break };
        behind.push(three(i));
        at += length(Some(i));
    }
    Around { here: here.map_or(Three { op: 0, rd: 0, rs1: 0, rs2: 0 }, three), before, behind }
}

/// All formats have the register they write in one place of the VM's form; stores write none, and what is read there for them only ends a search early.
fn three(i: Instruction) -> Three {
    let r = Rtype(i);
    match extract_opcode(i) {
        op @ (ops::OP_MUL | ops::OP_MULH | ops::OP_MULHU | ops::OP_MULHSU | ops::OP_ADD | ops::OP_SUB | ops::OP_SLTU) => Three { op, rd: r.rd(), rs1: r.rs1(), rs2: r.rs2() },
        _ => Three { op: 0, rd: r.rd(), rs1: 0, rs2: 0 },
    }
}

/// The first that `wanted` accepts, with how many stand between, unless one of these registers is written before.
fn reach(list: &[Three], keep: &[usize], wanted: impl Fn(&Three) -> bool) -> Option<(usize, Three)> {
    for (apart, t) in list.iter().enumerate() {
        if wanted(t) {
            return Some((apart, *t));
        }
        if keep.contains(&t.rd) {
            return None;
        }
    }
    None
}

fn miss(a: &Around, machine: Machine) -> Option<(&'static str, String, u64)> {
    match a.here.op {
        ops::OP_MULH => product(a, "mulh, mul"),
        ops::OP_MULHU => product(a, "mulhu, mul"),
        ops::OP_MULHSU => product(a, "mulhsu, mul"),
        ops::OP_SLTU if matches!(machine, Machine::Ckb(super::machine::Version::V2)) => carry(a).or_else(|| borrow(a)),
        _ => None,
    }
}

fn apart(n: usize) -> String {
    format!("{n} instruction{} between", if n == 1 { " stands" } else { "s stand" })
}

fn product(a: &Around, pair: &'static str) -> Option<(&'static str, String, u64)> {
    let h = a.here;
    let same = |t: &Three| t.op == ops::OP_MUL && (t.rs1, t.rs2) == (h.rs1, h.rs2);
    let swapped = |t: &Three| t.op == ops::OP_MUL && (t.rs1, t.rs2) == (h.rs2, h.rs1);
    let wanted = |t: &Three| same(t) || swapped(t);
    if h.rd != h.rs1 && h.rd != h.rs2 {
        if let Some((n, t)) = reach(&a.behind, &[h.rs1, h.rs2], wanted) {
            let mut why = vec![];
            if n > 0 {
                why.push(apart(n));
            }
            if !same(&t) {
                why.push("the operands stand in another order".into());
            }
            if t.rd == h.rd {
                return None;
            }
            return (!why.is_empty()).then(|| (pair, why.join("; "), PRODUCT));
        }
    }
    let (n, t) = reach(&a.before, &[h.rs1, h.rs2], wanted)?;
    // A low word in the place of an operand: the high word is of something else.
    if [h.rs1, h.rs2].contains(&t.rd) {
        return None;
    }
    let between = if n > 0 { format!("; {}", apart(n)) } else { String::new() };
    Some((pair, format!("the low word comes first{between}"), PRODUCT))
}

/// `add r, x, y` and `sltu c, r, z`: the sum is compared with the first operand, or with the one that is not overwritten.
fn carry(a: &Around) -> Option<(&'static str, String, u64)> {
    let c = a.here;
    let (n, t) = reach(&a.before, &[c.rs1, c.rs2], |t| t.op == ops::OP_ADD && t.rd == c.rs1 && (t.rs1 == c.rs2 || t.rs2 == c.rs2))?;
    if t.rd == c.rs2 {
        return None;
    }
    let mut why = vec![];
    if n > 0 {
        why.push(apart(n));
    }
    if t.rd != t.rs1 && t.rd != t.rs2 && c.rs2 != t.rs1 {
        why.push("the sum is compared with the second operand".into());
    }
    (!why.is_empty()).then(|| ("add, sltu", why.join("; "), SUM))
}

/// `sub d, x, y` and `sltu b, x, y`
fn borrow(a: &Around) -> Option<(&'static str, String, u64)> {
    let b = a.here;
    let wanted = |t: &Three| t.op == ops::OP_SUB && (t.rs1, t.rs2) == (b.rs1, b.rs2);
    if let Some((n, t)) = reach(&a.before, &[b.rs1, b.rs2], wanted) {
        if t.rd == b.rs1 || t.rd == b.rs2 || n == 0 {
            return None;
        }
        return Some(("sub, sltu", apart(n), SUM));
    }
    if b.rd == b.rs1 || b.rd == b.rs2 {
        return None;
    }
    let (n, _) = reach(&a.behind, &[b.rs1, b.rs2], wanted)?;
    let between = if n > 0 { format!("; {}", apart(n)) } else { String::new() };
    Some(("sub, sltu", format!("the borrow comes first{between}"), SUM))
}
