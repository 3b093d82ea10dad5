//! An execution: what it has computed and knows, and what it takes of others.
//! Trusted: field, bytes, leaks.

use crate::atoms::{Atoms, Num};
use crate::extent::Extent;
use crate::found::Clauses;
use crate::poly::Poly;
use crate::proof::Search;
use crate::value::Val;
use santoku_num::Int;
use santoku_ir::{ConstId, Func, FuncId, Program, SpecId, Ty};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Products of terms that a product of values is made of.
pub const PRODUCT: usize = 40_000;

pub const DEPTH: u32 = 16;

pub struct Run<'a> {
    pub p: &'a Program,
    pub f: &'a Func,
    pub atoms: Atoms,
    pub locals: Vec<Option<Val>>,
    /// Polynomials that are zero, exactly or modulo a number, and polynomials that are not negative where a 0/1 polynomial is 1.
    pub zeros: Vec<(Poly, Option<Int>)>,
    pub least: Vec<(Poly, Poly)>,
    /// 1 where execution gets here.
    pub guard: Poly,
    pub search: &'a dyn Search,
    pub steps: u64,
    /// Steps that may be reached, and terms of a polynomial.
    pub limits: (u64, usize),
    /// Callees that take too much to be run in place.
    pub(crate) too_much: BTreeSet<FuncId>,
    /// Specification functions without parameters.
    pub constants: BTreeMap<SpecId, Num>,
    /// Specification functions of aggregates.
    pub values: BTreeMap<(SpecId, Vec<Part>), Num>,
    /// Clauses are about bits: callees are run in place, and long words have names where their bits are taken.
    pub words: bool,
    /// Functions of bits by which callees say what they give, where clauses are not about bits: their text is not looked at.
    pub spoken_of: BTreeMap<SpecId, Extent>,
    /// 0/1 values that are no atoms have names, and what is known where a clause stands may decide its conditions.
    pub bits: bool,
    /// What an assertion speaks of is any number of its size behind it, of which it is known.
    pub cuts: bool,
    /// Long values that a variable is given have names.
    pub names: bool,
    /// Arrays of run-time length that nobody writes: what they hold, and their lengths; elements that were asked for.
    pub opens: Vec<(Ty, Num)>,
    pub elements: BTreeMap<(usize, Poly), Val>,
    /// Constants of the program that were read.
    pub(crate) literals: BTreeMap<ConstId, Val>,
    /// Inside a round that stands for others.
    pub supposed: u32,
    /// Comparisons of calls of specification functions that found other arguments.
    pub(crate) compared: u32,
    /// Callees that are run in place: what they require of others is asked in them.
    pub depth: u32,
    pub found: Clauses,
    /// Where calls are results of what is passed, instead of what contracts say.
    pub outside: Option<Outside>,
}

/// Of an argument of a specification function.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Agg(usize),
    Num(Poly),
    Open(usize),
}

/// A call: the function, and the scalars that are passed in storage order.
pub type Call = (FuncId, Vec<Poly>);

/// What is known of calls.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    /// Functions that are not looked into.
    pub cut: BTreeSet<FuncId>,
    /// What the calls of them give.
    pub made: BTreeMap<Call, Vec<Val>>,
    /// Terms that may be looked at.
    pub terms: u64,
    /// Words of more terms than this get names.
    pub names: Option<usize>,
    /// Bits of the pieces that have names, and in which bitwise operations are done.
    pub word: u32,
    /// Where the execution is beside that of another program.
    pub beside: Option<Beside>,
}

/// An execution beside another: what is no polynomial is a function of what it is computed from.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// It has to do what the first did.
    pub follows: bool,
    /// Loops whose rounds are not counted: of the first execution so far, or those that are left for the second.
    pub loops: VecDeque<Loop>,
}

/// A loop of the first program.
#[derive(Clone, Debug)]
pub struct Loop {
    pub(crate) lo: Poly,
    pub(crate) hi: Poly,
    pub(crate) rev: bool,
    pub(crate) counter: Num,
    pub(crate) carried: Vec<Carried>,
    /// The loops of a round.
    pub(crate) inner: Vec<Loop>,
}

/// A scalar that a loop changes: before it, at the head of a round, at its end, behind the loop.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    pub(crate) name: String,
    pub(crate) before: Poly,
    pub(crate) head: Num,
    pub(crate) next: Poly,
    pub(crate) behind: Num,
}
