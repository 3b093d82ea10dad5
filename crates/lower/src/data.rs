//! Modules, functions, instructions of the lowered IR.
//!
//! Needs: nothing.  Keeps: words of fixed width, each value named once, control as blocks inside instructions.  Absent: exact integers, structs,
//! arrays: memory is bytes, and how the core's values lie in it is decided before.
//! Trusted: nothing: nothing that ships is made of it.

use crate::notes::Notes;
use std::collections::BTreeMap;

/// A value of a function, by number. Instructions name each value once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub u32);

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// So many bits: 8, 16, 32, 64 or 128, and of these what the module's machine has.
    Word(u32),
    /// An address in an object.
    Ptr,
}

/// A type: what the value is, and whether it is secret. The secret of a pointer is what lies there: addresses are public.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Type {
    pub kind: Kind,
    pub secret: bool,
}

impl Type {
    pub fn word(bits: u32, secret: bool) -> Type {
        Type { kind: Kind::Word(bits), secret }
    }

    pub fn ptr(secret: bool) -> Type {
        Type { kind: Kind::Ptr, secret }
    }

    /// Of a word.
    pub fn bits(self) -> Option<u32> {
        match self.kind {
            Kind::Word(bits) => Some(bits),
            Kind::Ptr => None,
        }
    }
}

/// `base + index * scale + offset`, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    pub base: Value,
    /// A public word that is not negative, and what one of it is worth.
    pub index: Option<(Value, u64)>,
    pub offset: i64,
}

impl Address {
    pub fn of(base: Value) -> Address {
        Address { base, index: None, offset: 0 }
    }

    pub fn plus(self, offset: i64) -> Address {
        Address { offset: self.offset + offset, ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinOp {
    Add,
    Sub,
    /// The low half of the product.
    Mul,
    /// The high half of the product of two words without a sign.
    MulHu,
    /// With signs.
    MulHs,
    /// Of a word with a sign and one without.
    MulHsu,
    And,
    Or,
    Xor,
    /// Quotient and remainder without a sign; both operands are public, and the second is not 0.
    DivU,
    RemU,
}

/// Shifts and rotations by a public count below the width; the count is a word of any width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ShiftOp {
    Shl,
    ShrU,
    ShrS,
    RotL,
    RotR,
}

/// Comparisons give 1 or 0, as wide as the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CmpOp {
    Eq,
    Ne,
    LtU,
    LtS,
}

/// To a word of another width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConvertOp {
    Zext,
    Sext,
    Trunc,
}

/// What values are computed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Const(u128),
    /// The address of one of the function's slots.
    Slot(u32),
    /// The address of one of the module's tables.
    Table(u32),
    /// An address as a value.
    At(Address),
    Bin(BinOp, Value, Value),
    Shift(ShiftOp, Value, Value),
    Cmp(CmpOp, Value, Value),
    /// Sum of two words and a carry that is 0 or 1, and the carry out.
    AddCarry(Value, Value, Value),
    /// Difference less a borrow that is 0 or 1, and the borrow out.
    SubBorrow(Value, Value, Value),
    /// The second operand if the first is 1, the third if it is 0; takes one time for both.
    Select(Value, Value, Value),
    Convert(ConvertOp, Value),
    /// So many bytes from memory, extended to the value's width. Words lie in the machine's byte order, at multiples of their size.
    Load { bytes: u32, signed: bool, at: Address },
}

/// How many bytes: a constant, or a public word that is not negative, times a factor, and a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    pub times: Option<(Value, u64)>,
    pub plus: i64,
}

impl Count {
    pub fn bytes(n: u64) -> Count {
        Count { times: None, plus: n as i64 }
    }
}

/// A value that an instruction names.
pub type Named = (Value, Type);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inst {
    Let { dst: Vec<Named>, op: Op },
    /// The low bytes of a word to memory.
    Store { bytes: u32, at: Address, value: Value },
    /// Bytes from one place to another, as if all were read first.
    Copy { to: Address, from: Address, count: Count },
    Call { dst: Vec<Named>, func: u32, args: Vec<Value> },
    /// Branches on a public word that is 0 or 1. The blocks yield what `dst` names.
    If { cond: Value, dst: Vec<Named>, then: Block, els: Block },
    /// `counter` from `lo` up to below `hi`, or from `hi - 1` down to `lo`; no round where `hi <= lo`, compared with signs if `signed`.
    For(Box<For>),
}

/// A loop. What its rounds hand on is named anew in each: `carried` are the names in a round, with what the first one gets; a round yields
/// what the next one gets; `dst` names what the last one yields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct For {
    pub counter: Named,
    pub lo: Value,
    pub hi: Value,
    pub rev: bool,
    pub signed: bool,
    pub carried: Vec<(Named, Value)>,
    pub dst: Vec<Named>,
    pub body: Block,
}

/// Instructions, and the values that the block gives to what it stands in: results of the function, or of an `If` or a round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    pub insts: Vec<Inst>,
    pub yields: Vec<Value>,
}

/// Memory of a call's own; it holds nothing at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    pub name: String,
    pub bytes: u64,
    pub align: u32,
    pub secret: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    pub value: Value,
    pub ty: Type,
    pub name: String,
    /// The function writes to what lies there; what is not written may be read alone.
    pub written: bool,
    /// It is a length of at most so much: a caller of an exported function that gives more is stopped.
    pub most: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Func {
    pub name: String,
    /// Its name for others.
    pub export: Option<String>,
    /// `@noinline`: it stays a function of its own.
    pub apart: bool,
    /// Its results are public, whatever they are made of.
    pub declassifies: bool,
    pub params: Vec<Param>,
    pub results: Vec<Type>,
    pub slots: Vec<Slot>,
    pub body: Block,
    /// For readers.
    pub notes: Notes,
}

/// Constant bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    pub align: u32,
    pub bytes: Vec<u8>,
}

/// What a machine computes with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Widths of words, rising.
    pub words: Vec<u32>,
    pub big_endian: bool,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine { words: vec![32, 64], big_endian: false }
    }
}

/// Functions after those that they call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    pub machine: Machine,
    pub tables: Vec<Table>,
    pub funcs: Vec<Func>,
}

impl Op {
    /// Operands, in order.
    pub fn operands(&self) -> Vec<Value> {
        match *self {
            Op::Const(_) | Op::Slot(_) | Op::Table(_) => vec![],
            Op::At(at) | Op::Load { at, .. } => at.operands().collect(),
            Op::Bin(_, a, b) | Op::Shift(_, a, b) | Op::Cmp(_, a, b) => vec![a, b],
            Op::AddCarry(a, b, c) | Op::SubBorrow(a, b, c) | Op::Select(a, b, c) => vec![a, b, c],
            Op::Convert(_, a) => vec![a],
        }
    }

    /// The same operation on other operands.
    pub fn renamed(&self, n: &mut impl FnMut(Value) -> Value) -> Op {
        let at = |a: &Address, n: &mut dyn FnMut(Value) -> Value| Address { base: n(a.base), index: a.index.map(|(v, scale)| (n(v), scale)), ..*a };
        match self {
            Op::Const(_) | Op::Slot(_) | Op::Table(_) => *self,
            Op::At(a) => Op::At(at(a, n)),
            Op::Bin(o, a, b) => Op::Bin(*o, n(*a), n(*b)),
            Op::Shift(o, a, b) => Op::Shift(*o, n(*a), n(*b)),
            Op::Cmp(o, a, b) => Op::Cmp(*o, n(*a), n(*b)),
            Op::AddCarry(a, b, c) => Op::AddCarry(n(*a), n(*b), n(*c)),
            Op::SubBorrow(a, b, c) => Op::SubBorrow(n(*a), n(*b), n(*c)),
            Op::Select(a, b, c) => Op::Select(n(*a), n(*b), n(*c)),
            Op::Convert(o, a) => Op::Convert(*o, n(*a)),
            Op::Load { bytes, signed, at: a } => Op::Load { bytes: *bytes, signed: *signed, at: at(a, n) },
        }
    }

    /// How many values it gives.
    pub fn results(&self) -> usize {
        if matches!(self, Op::AddCarry(..) | Op::SubBorrow(..)) { 2 } else { 1 }
    }
}

impl Address {
    pub fn operands(self) -> impl Iterator<Item = Value> {
        std::iter::once(self.base).chain(self.index.map(|(v, _)| v))
    }
}

impl Inst {
    /// Values that it reads, but for what blocks inside of it do.
    pub fn reads(&self) -> Vec<Value> {
        match self {
            Inst::Let { op, .. } => op.operands(),
            Inst::Store { at, value, .. } => at.operands().chain([*value]).collect(),
            Inst::Copy { to, from, count } => to.operands().chain(from.operands()).chain(count.times.map(|t| t.0)).collect(),
            Inst::Call { args, .. } => args.clone(),
            Inst::If { cond, .. } => vec![*cond],
            Inst::For(f) => [f.lo, f.hi].into_iter().chain(f.carried.iter().map(|c| c.1)).collect(),
        }
    }

    /// The blocks inside of it.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Inst::If { then, els, .. } => vec![then, els],
            Inst::For(f) => vec![&f.body],
            _ => vec![],
        }
    }

    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Inst::If { then, els, .. } => vec![then, els],
            Inst::For(f) => vec![&mut f.body],
            _ => vec![],
        }
    }
}

impl Block {
    /// Every instruction, those of blocks within blocks included.
    pub fn each(&self, see: &mut impl FnMut(&Inst)) {
        for i in &self.insts {
            see(i);
            i.blocks().into_iter().for_each(|b| b.each(see));
        }
    }

    pub fn each_mut(&mut self, see: &mut impl FnMut(&mut Inst)) {
        for i in &mut self.insts {
            see(i);
            i.blocks_mut().into_iter().for_each(|b| b.each_mut(see));
        }
    }

    /// How often each value is read, what blocks yield included.
    pub fn reads(&self) -> BTreeMap<Value, u32> {
        let mut all = BTreeMap::new();
        let mut see = |v: Value| *all.entry(v).or_default() += 1;
        self.yields.iter().for_each(|v| see(*v));
        self.each(&mut |i| {
            i.reads().into_iter().for_each(&mut see);
            i.blocks().iter().flat_map(|b| &b.yields).for_each(|v| see(*v));
        });
        all
    }
}

impl Func {
    /// Instructions, those of blocks within blocks included.
    pub fn count(&self) -> usize {
        let mut n = 0;
        self.body.each(&mut |_| n += 1);
        n
    }
}
