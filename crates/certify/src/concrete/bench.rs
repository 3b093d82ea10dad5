//! Code and a function of the source, a run of it, and what a run shows.

use crate::source::abi::Signature;
use super::memory::Space;
use num_bigint::BigInt;
use santoku_elf::Image;
use santoku_ir::{FuncId, Program};
use santoku_isa::{Inst, Isa, Machine};
use santoku_num::SplitMix64;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

/// A function of a file, ready to be run.
pub struct Bench<'a> {
    pub(crate) image: &'a Image,
    pub(crate) isa: Isa,
    pub(crate) program: &'a Program,
    pub(crate) func: FuncId,
    pub(crate) entry: u64,
    pub(crate) shared: Vec<(usize, usize)>,
    pub(crate) signature: Signature,
    pub(crate) place: u64,
    pub(crate) decoded: RefCell<HashMap<u64, Inst>>,
    /// Functions whose calls are held to the source's convention, by address.
    pub(crate) callees: BTreeMap<u64, Callee>,
    /// Multiplications show their operands.
    pub multiplications_show: bool,
    /// The processor is CKB-VM.
    pub ckb_vm: bool,
}

/// What a run showed at one instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Whether a branch was taken.
    Branch(bool),
    /// The address of a load or a store, by the object it lies in.
    Address(String),
    /// Where a jump led.
    Jump(u64),
    /// Operands of an operation of variable time.
    Operands(u64, u64),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Returned,
    /// Too many instructions.
    Endless,
    /// A rule is broken, or memory is touched that the function may not touch.
    Fault { pc: u64, why: String },
    /// What the code does there is not known here, which says nothing of the code.
    Unknown { pc: u64, why: String },
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct Ran {
    pub end: End,
    /// All results, flattened in order of the source: registers, then objects. Empty unless it returned.
    pub results: Vec<BigInt>,
    /// In order of execution.
    pub seen: Vec<(u64, Shown)>,
    pub steps: u64,
}

/// A run in progress.
pub(crate) struct Run<'b> {
    pub(crate) bench: &'b Bench<'b>,
    pub(crate) machine: Machine,
    pub(crate) space: Space<'b>,
    /// Region of each result by pointer, and how many times its object lies there.
    pub(crate) outs: Vec<(usize, usize, u64)>,
    pub(crate) return_to: u64,
    pub(crate) noise: SplitMix64,
    /// gp and tp at entry.
    pub(crate) platform: [u64; 2],
    /// The lowest stack pointer so far.
    pub(crate) lowest: u64,
    /// Calls that have not returned.
    pub(crate) calls: Vec<Open>,
    pub(crate) seen: Vec<(u64, Shown)>,
    pub(crate) steps: u64,
    /// Instructions that belong to the group before them: no group begins with them.
    pub(crate) taken: std::ops::Range<u64>,
}

/// A function whose calls are watched.
pub(crate) struct Callee {
    pub(crate) signature: Signature,
    /// Registers of the result.
    pub(crate) words: usize,
}

/// A call that has not returned.
pub(crate) struct Open {
    pub(crate) back: u64,
    pub(crate) sp: u64,
    pub(crate) stack: u64,
    pub(crate) words: usize,
    /// Bytes between the scalars of results.
    pub(crate) between: Vec<u64>,
}
