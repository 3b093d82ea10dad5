//! Instructions of the machine on registers without number.
//! Trusted: nothing: the certifier looks at the bytes.

use crate::forms::Kind;
use santoku_lower::Note;
use std::collections::BTreeMap;

/// A register: one of the function's own, any number of them, or the one that is always 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reg {
    Own(u32),
    Zero,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(pub u32);

/// Where memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    Reg(Reg),
    /// A slot of the function's.
    Slot(u32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inst {
    /// `name rd, rs1, rs2`
    Three(&'static str, Reg, Reg, Reg),
    /// `name rd, rs1, imm`
    Imm(&'static str, Reg, Reg, i64),
    /// A constant, extended from so many bits.
    Li(Reg, i64),
    /// The address of a table.
    Table(Reg, u32),
    /// The address of a place in a slot.
    Slot(Reg, u32, i64),
    Load(&'static str, Reg, Base, i64),
    /// The same of memory that nothing writes while the function runs.
    Again(&'static str, Reg, Base, i64),
    /// Operands, then results.
    Group(Kind, Vec<Reg>, [Reg; 2]),
    Store(&'static str, Reg, Base, i64),
    /// `rd = rs` for all at once.
    Move(Vec<(Reg, Reg)>),
    Label(Label),
    Jump(Label),
    /// `name rs1, rs2, label`
    Branch(&'static str, Reg, Reg, Label),
    /// Arguments, in registers and then on the stack, and what comes back in registers.
    Call { symbol: String, args: Vec<Reg>, results: Vec<Reg> },
    /// The parameters arrive.
    Enter(Vec<Reg>),
    Return(Vec<Reg>),
    /// A caller broke what it had to keep: nothing is executed behind it.
    Stop,
}

/// The code of a function, in order, and the loops in it: from the label at the head to the last jump back.
#[derive(Clone, Debug, Default)]
pub struct Code {
    pub insts: Vec<Inst>,
    pub registers: u32,
    /// First and last instruction of each loop, by number; inner ones before those around them.
    pub loops: Vec<(usize, usize)>,
    /// Bytes and alignment.
    pub slots: Vec<(u64, u32)>,
    /// What registers are in the source.
    pub notes: BTreeMap<u32, Note>,
}

impl Inst {
    pub fn reads(&self) -> Vec<Reg> {
        match self {
            Inst::Three(_, _, a, b) | Inst::Branch(_, a, b, _) => vec![*a, *b],
            Inst::Imm(_, _, a, _) => vec![*a],
            Inst::Li(..) | Inst::Table(..) | Inst::Slot(..) | Inst::Label(_) | Inst::Jump(_) | Inst::Enter(_) | Inst::Stop => vec![],
            Inst::Load(_, _, base, _) | Inst::Again(_, _, base, _) => base.reads(),
            Inst::Group(_, ins, _) => ins.clone(),
            Inst::Store(_, v, base, _) => std::iter::once(*v).chain(base.reads()).collect(),
            Inst::Move(all) => all.iter().map(|m| m.1).collect(),
            Inst::Call { args, .. } => args.clone(),
            Inst::Return(all) => all.clone(),
        }
    }

    pub fn writes(&self) -> Vec<Reg> {
        match self {
            Inst::Three(_, d, ..) | Inst::Imm(_, d, ..) | Inst::Li(d, _) | Inst::Table(d, _) | Inst::Slot(d, ..) | Inst::Load(_, d, ..) | Inst::Again(_, d, ..) => vec![*d],
            Inst::Group(_, _, outs) => outs.to_vec(),
            Inst::Move(all) => all.iter().map(|m| m.0).collect(),
            Inst::Call { results, .. } => results.clone(),
            Inst::Enter(all) => all.clone(),
            Inst::Store(..) | Inst::Label(_) | Inst::Jump(_) | Inst::Branch(..) | Inst::Return(_) | Inst::Stop => vec![],
        }
    }
}

impl Base {
    fn reads(self) -> Vec<Reg> {
        match self {
            Base::Reg(r) => vec![r],
            Base::Slot(_) => vec![],
        }
    }
}

/// It fits the immediate of an instruction.
pub fn small(n: i64) -> bool {
    (-2048..2048).contains(&n)
}

/// Instructions of an assembler for `li`; where registers have 32 bits, there are two at most.
pub fn length(n: i64) -> usize {
    let low = (n << 52) >> 52;
    if let Ok(n) = i32::try_from(n) {
        return if small(n.into()) || low == 0 { 1 } else { 2 };
    }
    let high = n.wrapping_sub(low) >> 12;
    length(high >> high.trailing_zeros()) + 1 + usize::from(low != 0)
}
