//! What is at hand while a function is compared: its objects, and what the statement at hand stored and read so far.

use crate::term::{Root, Step, Terms, T};
use crate::tree::{Num, Type};
use crate::unit::{refused, Unit};
use crate::pieces::Refused;
use santoku_ir::{Func, FuncId, Ty};
use std::collections::{BTreeMap, HashMap};

pub type Res<T> = Result<T, Refused>;

/// A variable, parameter or result of the C function.
#[derive(Clone, Debug)]
pub struct Object {
    pub root: Root,
    pub ty: Type,
    /// The name is a pointer to it.
    pub behind: bool,
    /// Its type in the program; none for what is the printer's own.
    pub core: Option<Ty>,
    pub public: bool,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Num(Num),
    /// In each lane a word of so many bits.
    Lanes(u32),
}

#[derive(Clone, Copy, Debug)]
pub struct Val {
    pub t: T,
    pub kind: Kind,
    pub public: bool,
}

/// An object or a part of one.
#[derive(Clone, Debug)]
pub struct Spot {
    pub root: Root,
    pub path: Vec<Step>,
    /// Elements from this one on: the last index is still to come.
    pub from: Option<T>,
    pub ty: Type,
    pub core: Option<Ty>,
    pub public: bool,
}

#[derive(Clone, Debug)]
pub enum Stored {
    Value(T),
    /// What was at a place when so many stores were done.
    Copy(Root, Vec<Step>, usize),
}

#[derive(Clone, Debug)]
pub struct Store {
    pub root: Root,
    pub path: Vec<Step>,
    pub what: Stored,
    pub ty: Type,
    pub public: bool,
    /// A statement of the program assigns it.
    pub claimed: bool,
}

/// An access of C to an object of the program.
#[derive(Clone, Debug)]
pub struct Access {
    pub root: Root,
    pub path: Vec<Step>,
    pub time: usize,
    /// Loops of the printer around it, with their indices.
    pub loops: Vec<(u32, T)>,
    /// Branches of the printer that it is in.
    pub sides: Vec<(u32, bool)>,
    pub writes: bool,
}

/// A statement of the program reads a parameter or writes a result.
#[derive(Clone, Debug)]
pub struct Use {
    pub root: Root,
    pub path: Vec<Step>,
    pub time: usize,
    pub writes: bool,
    /// Loops around it, with their counters.
    pub loops: Vec<(usize, T)>,
    /// Branches that it is in.
    pub sides: Vec<(usize, bool)>,
}

/// Differences that C gathers in a number.
#[derive(Clone, Debug)]
pub struct Gathered {
    pub parts: Vec<T>,
    /// All of them are.
    pub public: bool,
    /// How many loops are around the place from which on it is gathered: inside of another, it holds no more than those of the rounds before.
    pub loops: usize,
    /// The same of the sides of conditions: on a side of another, differences are gathered or not.
    pub sides: usize,
}

/// Where a statement is.
#[derive(Clone, Debug, Default)]
pub struct Around {
    pub loops: Vec<(usize, T)>,
    pub sides: Vec<(usize, bool)>,
}

/// The call of the statement at hand.
pub struct Calling<'s> {
    pub func: FuncId,
    pub dsts: &'s [santoku_ir::Place],
    pub lens: &'s [santoku_ir::Expr],
    pub args: &'s [santoku_ir::Expr],
    pub done: bool,
    /// Its results are told from those of other calls.
    pub serial: u32,
}

/// More than a function has results.
pub const RESULTS: u32 = 1 << 10;

impl State<'_> {
    /// Result `r` of the call at hand.
    pub fn result_root(&self, r: u32) -> Root {
        Root::Result(self.call.as_ref().map_or(0, |c| c.serial * RESULTS) + r)
    }
}

pub struct State<'a> {
    pub unit: &'a Unit<'a>,
    pub f: &'a Func,
    pub id: FuncId,
    pub terms: Terms,
    /// C names of locals.
    pub names: &'a [String],
    /// Variables by their C names.
    pub named: HashMap<&'a str, usize>,
    /// By C name; the innermost declaration.
    pub objects: HashMap<String, Object>,
    pub locals: Vec<Option<Root>>,
    /// What C never reads: whatever it holds.
    pub unread: Vec<Root>,
    pub stores: Vec<Store>,
    /// Aggregates that the statement of the program at hand reads, with what is proved of them there.
    pub known: Vec<(Root, Vec<Step>, Ty)>,
    /// Differences, by the number in which C gathers them.
    pub gathers: HashMap<Root, Gathered>,
    pub accesses: Vec<Access>,
    /// Scalars of the program that C read for the statement at hand.
    pub c_reads: Vec<(Root, Vec<Step>)>,
    /// Read by the statement of the program at hand.
    pub core_reads: Vec<(Root, Vec<Step>)>,
    pub core_writes: Vec<(Root, Vec<Step>)>,
    pub loops: Vec<(u32, T)>,
    pub sides: Vec<(u32, bool)>,
    /// How many stores C has done.
    pub clock: usize,
    pub next: u32,
    pub call: Option<Calling<'a>>,
    /// The counter of a loop while its test is read.
    pub counter: Option<(Root, T)>,
    /// Of variables that C declares in an inner block: what is assigned since.
    pub held: BTreeMap<Root, Vec<Vec<Step>>>,
    pub depth: usize,
    pub time: usize,
    pub around: Around,
    pub uses: Vec<Use>,
    pub line: usize,
    pub statements: usize,
}

impl State<'_> {
    pub fn fail<R>(&self, why: impl Into<String>) -> Res<R> {
        Err(refused(&self.f.name, self.line, why))
    }

    /// Objects of the printer alone; what a function of the program does not know.
    pub fn own(root: Root) -> bool {
        matches!(root, Root::Object(k) if k >= OWN)
    }

    /// Does it matter what the object holds?
    pub fn matters(&self, root: Root) -> bool {
        !State::own(root) && !self.unread.contains(&root)
    }

    pub fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next
    }
}

/// Numbers of the printer's own objects begin here.
pub const OWN: u32 = 1 << 24;
