//! An execution in progress: registers and memory, what it knows, what it may still spend.

use crate::loops::Cut;
use crate::source::CallMade;
use crate::term::{Given, T, Terms};
use super::code::{Code, Flow};
use super::memory::Object;
use santoku_elf::Island;
use santoku_ir::FuncId;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Instructions one execution may follow.
const STEPS_MAX: u64 = 1_000_000;

/// Registers and memory at one point of the code.
#[derive(Clone, Debug)]
pub struct State {
    pub regs: Vec<T>,
    pub objects: Vec<Object>,
    /// 0 or 1: whether execution comes here.
    pub path: T,
    /// Bits that are 1 wherever execution comes here: the conditions of the path.
    pub conditions: Vec<T>,
    /// Return addresses of functions that are being executed in place.
    pub frames: Vec<u64>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Stop,
    /// The loop that is executed for one lap was left for certain.
    Left,
    Return,
    /// Back at the head of a loop, in a [`Region`].
    Back(u64),
    /// At a branch whose ways the region's weaver follows.
    Split(T, u64, u64),
}

/// A call that was replaced by the source's function.
#[derive(Clone, Debug)]
pub struct Made {
    pub pc: u64,
    pub func: FuncId,
    pub args: Vec<T>,
    pub path: T,
    /// Bits that are 1 wherever it is made.
    pub conditions: Vec<T>,
    /// Result and parameter that are the same object.
    pub shared: Vec<(usize, usize)>,
}

/// An execution in progress.
pub struct Exec<'a> {
    pub code: &'a Code<'a>,
    pub terms: &'a mut Terms,
    /// Address of each object of the states; the stack's is 0.
    pub bases: Vec<T>,
    /// The arrays of run-time length among the inputs.
    pub arrays: &'a dyn Given,
    pub made: Vec<Made>,
    /// What the source calls.
    pub(crate) calls: Vec<CallMade>,
    /// Where the function returns to.
    pub return_to: T,
    /// Bytes of arguments on the stack.
    pub stack_args: i64,
    /// What gp and tp hold at entry.
    pub(crate) platform: [T; 2],
    /// The function whose call could not be replaced, where that ended the execution.
    pub refused: Option<u64>,
    /// The call being replaced: where, and the function called. Also in laps, whose calls say nothing of the convention.
    pub(crate) calling: Option<(u64, u64)>,
    /// Lowest offset the stack pointer had.
    pub deepest: i64,
    pub steps: u64,
    /// Limit of [`Terms::size`].
    pub terms_max: usize,
    /// Limit of `steps`.
    pub(crate) steps_max: u64,
    pub(crate) forked: u32,
    /// Loops of the source that are to be found in the code.
    pub cuts: Vec<Rc<Cut>>,
    /// The source has loops of run-time length, those of at most one round among them: what is known says where the code leaves its own.
    pub has_loops: bool,
    /// The function has arrays of run-time length: conditions are kept as facts, too.
    pub with_facts: bool,
    /// Terms that are not negative in any execution that comes here.
    pub facts: Vec<T>,
    /// Conditions of the branches taken to come here.
    pub(crate) assumed: Vec<T>,
    pub(crate) fresh: u32,
    pub(crate) forks: u32,
    /// The lap being executed.
    pub(crate) lap: Option<Lap>,
    /// Where several ways are followed side by side at the moment.
    pub(super) region: Option<Region>,
    pub(crate) laps: u32,
    /// Heads of loops of constant count.
    pub(crate) plain: BTreeSet<u64>,
    /// Constants of the file by name.
    pub(super) constants: Constants,
}

impl<'a> Exec<'a> {
    pub fn new(code: &'a Code<'a>, terms: &'a mut Terms, bases: Vec<T>, arrays: &'a dyn Given, return_to: T) -> Exec<'a> {
        Exec { code, terms, bases, arrays, made: vec![], calls: vec![], return_to, stack_args: 0, platform: [Terms::ZERO; 2], deepest: 0, steps: 0, terms_max: 40_000_000, steps_max: STEPS_MAX, cuts: vec![], has_loops: false, refused: None, calling: None, with_facts: false, facts: vec![], assumed: vec![], fresh: 0, forks: 0, forked: 0, lap: None, region: None, laps: 0, plain: BTreeSet::new(), constants: Constants::default() }
    }
}

/// What an upper part is of: [`santoku_elf::Part`].
pub(crate) type UpperOf = (Island, (bool, u64));

/// Terms for what the code names.
#[derive(Default)]
pub(crate) struct Constants {
    pub(crate) bases: BTreeMap<Island, T>,
    /// Addresses of instructions.
    pub(crate) codes: BTreeMap<T, u64>,
    /// What upper parts of addresses are of, by what a register holds.
    pub(crate) uppers: BTreeMap<T, UpperOf>,
    /// Through which the address is made that is read at the moment.
    pub(super) through: Option<Island>,
}

impl Constants {
    pub(super) fn bases(&self) -> impl Iterator<Item = (Island, T)> + '_ {
        self.bases.iter().map(|(island, base)| (*island, *base))
    }
}

/// The loop through which ways are followed side by side.
#[derive(Clone)]
pub(crate) struct Region {
    pub(crate) flow: Rc<Flow>,
    /// Functions executed in place around it.
    pub(crate) frames: usize,
    /// Where all ways end; `None`: where the function does.
    pub(crate) end: Option<u64>,
    /// Registers that the loop changes by constants only: those of two ways that are joined are equal, whatever the steps.
    pub(crate) counters: Rc<Vec<u8>>,
}

impl Region {
    pub fn end(&self) -> Option<u64> {
        self.end
    }
}

/// A lap being executed.
#[derive(Clone, Debug)]
pub(crate) struct Lap {
    pub(crate) body: Rc<BTreeSet<u64>>,
    /// Forks open and functions executed in place at the head.
    pub(crate) forks: u32,
    pub(crate) frames: usize,
    pub(crate) started: bool,
    /// Where it may be left, on which condition, and how.
    pub(crate) exits: Vec<(T, u64, State)>,
}

impl Lap {
    /// Whether this is the first step, which is at the head and yet not the end.
    pub(crate) fn start(&mut self) -> bool {
        !std::mem::replace(&mut self.started, true)
    }
}
