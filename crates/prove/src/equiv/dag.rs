//! The term graph: hash-consed nodes, so that equal terms are the same number.
//!
//! Needs: nothing.  Keeps: every node is built once, operands before the node itself, with its sort, a bound
//! on its significant bits and the loop binders it may mention.  Absent: rewriting; [`super::arith`],
//! [`super::bits`] and [`super::data`] normalise before they intern.

use num_bigint::BigInt;
use santoku_ir::{BinOp, Len, LocalId, Program, Ty};
use std::collections::{BTreeMap, HashMap};

/// Loops nested deeper than this are not given a term of their own.
pub const LOOP_DEPTH_MAX: u32 = 31;

/// See [`Dag::sum_terms_max`].
const SUM_TERMS_MAX: usize = 48;
const WORD_SUM_TERMS_MAX: usize = 4096;

/// Number of a node in [`Dag`].
pub type Id = u32;
/// Length parameters whose value is known.
pub type Lens = BTreeMap<LocalId, u64>;
/// Number of an aggregate sort in [`Dag`].
pub type AggId = u32;

/// What a term denotes. Ranges of exact integers play no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sort {
    Word(u32),
    Int,
    Bool,
    Agg(AggId),
}

/// Shape of an aggregate; `Arr(_, None)` has a length known at run time only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Agg {
    Arr(Sort, Option<u64>),
    Rec(Vec<Sort>),
}

/// One carried component of a loop: the leaf that stands for it in the body, its value before the loop,
/// and the body's term for its value after one iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Carried {
    pub leaf: Id,
    pub init: Id,
    pub next: Id,
}

/// A term. Word terms are modulo `2^bits`, integer terms exact.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    Const(BigInt),
    /// Input number `n` of the function (lengths first, then parameters).
    Input(u32),
    /// The value a local has before it is written; never read in a verified program.
    Undef,
    /// `sum(coefficient * term) + constant`, terms ascending, at least one; words and ints.
    Sum(Vec<(Id, BigInt)>, BigInt),
    /// Product of at least two factors, ascending.
    Prod(Vec<Id>),
    /// Floor division and remainder of an int by a constant above one.
    Div(Id, BigInt),
    Mod(Id, BigInt),
    /// Bitwise operations on words and bools: operands ascending, then a constant.
    And(Vec<Id>, BigInt),
    Or(Vec<Id>, BigInt),
    Xor(Vec<Id>, BigInt),
    /// Word shifted right, rotated left, by a constant in `1..bits`.
    Shr(Id, u32),
    Rotl(Id, u32),
    /// An operation no rule is known for (shift by a variable count, for one).
    Other(BinOp, Id, Id),
    /// Word to word: truncated or zero-extended to the node's own sort.
    Resize(Id),
    /// Word or bool to int.
    ToInt(Id),
    /// Int to word, mod `2^bits`.
    FromInt(Id),
    FromBool(Id),
    /// Scalars or aggregates without elementwise form; operands ascending.
    Eq(Id, Id),
    Lt(Id, Id),
    Select(Id, Id, Id),
    Array(Vec<Id>),
    Rec(Vec<Id>),
    /// An array of run-time length (second operand) whose elements are all the first.
    Repeat(Id, Id),
    Load(Id, Id),
    Store(Id, Id, Id),
    Field(Id, u32),
    /// An uninterpreted call: callee (see [`Dag::callee`]), lengths and arguments. Its sort is without meaning.
    Call(u32, Vec<Id>),
    /// Result `n` of a call.
    Result(Id, u32),
    /// A carried component (or the counter, key 0) of the enclosing loop at this depth.
    LoopVar { depth: u32, key: u32, tie: u32, init: Id },
    /// A loop that was not unrolled; sort without meaning. `carried` is ascending by leaf.
    Loop { depth: u32, counter: Id, lo: Id, hi: Id, rev: bool, carried: Vec<Carried> },
    /// The value of the body term `next` in the last iteration of a loop, or `init` if there was none.
    LoopOut { of: Id, next: Id, init: Id },
}

/// Why symbolic execution stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The node budget is used up.
    TooBig,
    /// The program uses a form the checker has no term for.
    Unknown(String),
}

/// Facts kept beside a node.
#[derive(Clone, Copy, Debug)]
struct Info {
    sort: Sort,
    /// The value, as a non-negative integer, is below `2^bits_max`; `u32::MAX` when nothing is known.
    bits_max: u32,
    /// Bit d: the term mentions a variable of the enclosing loop at depth d. Zero for a closed term.
    free: u32,
}

/// A part of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Element(Id),
    Field(u32),
}

/// The graph. Sizes are counted in operands, so that wide nodes cost what they weigh.
#[derive(Debug, Default)]
pub struct Dag {
    nodes: Vec<Node>,
    infos: Vec<Info>,
    index: HashMap<(Node, Sort), Id>,
    aggs: Vec<Agg>,
    agg_index: HashMap<Agg, AggId>,
    callees: Vec<String>,
    callee_index: HashMap<String, u32>,
    /// What was read from a choice: its arms share what was written before it, and are read once.
    pub(super) reads: HashMap<(Id, Part), Id>,
    cells: usize,
    cells_max: usize,
    /// Sums longer than this are not merged any further: flattening must not make a graph quadratic.
    pub(super) sum_terms_max: usize,
    /// Words without a bit in common are added where code puts them together by `or`.
    pub(super) joins_bits: bool,
}

impl Dag {
    /// An empty graph that may grow to `cells_max` operands.
    pub fn new(cells_max: usize) -> Dag {
        Dag { cells_max, sum_terms_max: SUM_TERMS_MAX, ..Dag::default() }
    }
    /// An empty graph in which a sum is one node however it was put together, for specifications of words.
    pub fn of_words(cells_max: usize) -> Dag {
        Dag { cells_max, sum_terms_max: WORD_SUM_TERMS_MAX, joins_bits: true, ..Dag::default() }
    }
    /// Nodes so far.
    pub fn size(&self) -> usize {
        self.nodes.len()
    }
    /// Has the graph outgrown its budget? Executors ask after every statement.
    pub fn full(&self) -> bool {
        self.cells > self.cells_max
    }
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }
    pub fn sort(&self, id: Id) -> Sort {
        self.infos[id as usize].sort
    }
    pub fn bits_max(&self, id: Id) -> u32 {
        self.infos[id as usize].bits_max
    }
    /// Does the term mention a variable of the enclosing loop at this depth?
    pub fn mentions(&self, id: Id, depth: u32) -> bool {
        self.infos[id as usize].free >> depth & 1 == 1
    }
    pub fn agg(&self, id: AggId) -> &Agg {
        &self.aggs[id as usize]
    }
    pub fn callee(&self, id: u32) -> &str {
        &self.callees[id as usize]
    }
    pub fn as_const(&self, id: Id) -> Option<&BigInt> {
        match self.node(id) {
            Node::Const(v) => Some(v),
            _ => None,
        }
    }

    /// Number of a name (a callee, or a label that keeps loop components apart).
    pub fn name(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.callee_index.get(name) {
            return id;
        }
        let id = self.callees.len() as u32;
        self.callees.push(name.to_string());
        self.callee_index.insert(name.to_string(), id);
        id
    }

    pub fn agg_sort(&mut self, agg: Agg) -> Sort {
        if let Some(&id) = self.agg_index.get(&agg) {
            return Sort::Agg(id);
        }
        let id = self.aggs.len() as AggId;
        self.aggs.push(agg.clone());
        self.agg_index.insert(agg, id);
        Sort::Agg(id)
    }

    /// Sort of a type; `lens` gives the lengths that are known, others are left open.
    pub fn sort_of(&mut self, program: &Program, ty: &Ty, lens: &Lens) -> Sort {
        match ty {
            Ty::Word(bits) => Sort::Word(*bits),
            Ty::Int(_) => Sort::Int,
            Ty::Bool => Sort::Bool,
            Ty::Array { elem, len, .. } => {
                let elem = self.sort_of(program, elem, lens);
                let len = match len {
                    Len::Const(n) => Some(*n),
                    Len::Param { param, add } => lens.get(param).and_then(|n| n.checked_add_signed(*add)),
                };
                self.agg_sort(Agg::Arr(elem, len))
            }
            Ty::Struct(id) => {
                let fields = &program.structs[id.0 as usize].fields;
                let sorts = fields.iter().map(|(_, t)| self.sort_of(program, t, lens)).collect();
                self.agg_sort(Agg::Rec(sorts))
            }
        }
    }

    /// Sorts of the parts of an aggregate of fixed size; `None` for scalars and run-time lengths.
    pub fn parts(&self, sort: Sort) -> Option<Vec<Sort>> {
        match sort {
            Sort::Agg(id) => match self.agg(id) {
                Agg::Arr(elem, Some(n)) => Some(vec![*elem; *n as usize]),
                Agg::Arr(_, None) => None,
                Agg::Rec(sorts) => Some(sorts.clone()),
            },
            Sort::Word(_) | Sort::Int | Sort::Bool => None,
        }
    }

    /// Scalars in a value of this sort; `None` for run-time lengths.
    pub fn leaves(&self, sort: Sort) -> Option<u64> {
        match sort {
            Sort::Word(_) | Sort::Int | Sort::Bool => Some(1),
            Sort::Agg(id) => match self.agg(id) {
                Agg::Arr(elem, Some(n)) => Some(self.leaves(*elem)?.saturating_mul(*n)),
                Agg::Arr(_, None) => None,
                Agg::Rec(sorts) => sorts.iter().try_fold(0u64, |n, s| Some(n + self.leaves(*s)?)),
            },
        }
    }

    /// Operands of a node, in order.
    pub fn operands(&self, id: Id) -> Vec<Id> {
        operands(self.node(id))
    }

    /// The one way in: the same node with the same sort gives the same number.
    pub fn intern(&mut self, node: Node, sort: Sort) -> Id {
        let key = (node, sort);
        if let Some(&id) = self.index.get(&key) {
            return id;
        }
        let node = key.0.clone();
        let ops = operands(&node);
        let free = self.free(&node, &ops);
        let bits_max = self.bound(&node, sort);
        let id = self.nodes.len() as Id;
        self.cells += 1 + ops.len();
        self.nodes.push(node);
        self.infos.push(Info { sort, bits_max, free });
        self.index.insert(key, id);
        id
    }

    /// See [`Info::free`]: a loop binds the variables of its own depth.
    fn free(&self, node: &Node, ops: &[Id]) -> u32 {
        let all = |ids: &[Id]| ids.iter().fold(0, |m, &i| m | self.infos[i as usize].free);
        match node {
            Node::LoopVar { depth, .. } => 1 << depth,
            Node::Loop { depth, .. } => all(ops) & !(1 << depth),
            Node::LoopOut { of, next, init } => match self.node(*of) {
                Node::Loop { depth, .. } => all(&[*of, *init]) | (all(&[*next]) & !(1 << depth)),
                _ => all(ops),
            },
            _ => all(ops),
        }
    }

    /// See [`Info::bits_max`].
    fn bound(&self, node: &Node, sort: Sort) -> u32 {
        let full = match sort {
            Sort::Word(n) => n,
            Sort::Bool => 1,
            Sort::Int | Sort::Agg(_) => u32::MAX,
        };
        let most = |xs: &[Id]| xs.iter().map(|&x| self.bits_max(x)).max().unwrap_or(0);
        let known = match node {
            Node::Const(v) if v.sign() != num_bigint::Sign::Minus => v.bits() as u32,
            Node::And(xs, mask) => {
                xs.iter().map(|&x| self.bits_max(x)).min().unwrap_or(full).min(mask.bits() as u32)
            }
            Node::Or(xs, c) | Node::Xor(xs, c) => most(xs).max(c.bits() as u32),
            Node::Shr(x, k) => self.bits_max(*x).saturating_sub(*k),
            Node::Resize(x) | Node::ToInt(x) => self.bits_max(*x),
            Node::FromBool(_) => 1,
            Node::Mod(_, m) => (m - 1u32).bits() as u32,
            Node::Select(_, a, b) => self.bits_max(*a).max(self.bits_max(*b)),
            _ => u32::MAX,
        };
        known.min(full)
    }
}

/// Operands of a node, in order. The leaf of a carried component counts as one.
pub fn operands(node: &Node) -> Vec<Id> {
    match node {
        Node::Const(_) | Node::Input(_) | Node::Undef => Vec::new(),
        Node::Sum(terms, _) => terms.iter().map(|t| t.0).collect(),
        Node::Prod(xs) | Node::And(xs, _) | Node::Or(xs, _) | Node::Xor(xs, _) => xs.clone(),
        Node::Array(xs) | Node::Rec(xs) | Node::Call(_, xs) => xs.clone(),
        Node::Div(x, _) | Node::Mod(x, _) | Node::Shr(x, _) | Node::Rotl(x, _) => vec![*x],
        Node::Resize(x) | Node::ToInt(x) | Node::FromInt(x) | Node::FromBool(x) => vec![*x],
        Node::Field(x, _) | Node::Result(x, _) => vec![*x],
        Node::Other(_, a, b) | Node::Eq(a, b) | Node::Lt(a, b) | Node::Repeat(a, b) | Node::Load(a, b) => vec![*a, *b],
        Node::Select(a, b, c) | Node::Store(a, b, c) => vec![*a, *b, *c],
        Node::LoopVar { init, .. } => vec![*init],
        Node::Loop { counter, lo, hi, carried, .. } => {
            let mut ops = vec![*counter, *lo, *hi];
            ops.extend(carried.iter().flat_map(|c| [c.leaf, c.init, c.next]));
            ops
        }
        Node::LoopOut { of, next, init } => vec![*of, *next, *init],
    }
}
