//! Programs, functions, statements, expressions.

use crate::spec::{Contract, Ghost, SpecFn};
use crate::ty::{LocalId, StructDef, StructId, Ty};
use num_bigint::BigInt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FuncId(pub u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstId(pub u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpecId(pub u32);

/// Where in the source something came from: index into [`Program::files`], 1-based line and column, and
/// byte offsets `start..end` (0..0 when unknown). Carried for messages only; never part of the meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Loc {
    pub file: u32,
    pub line: u32,
    pub col: u32,
    pub start: u32,
    pub end: u32,
}

/// A whole program after monomorphisation. Functions appear after the functions they call
/// (callees first); there is no recursion. The verifier checks both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    pub files: Vec<String>,
    pub structs: Vec<StructDef>,
    pub consts: Vec<Const>,
    pub specs: Vec<SpecFn>,
    pub funcs: Vec<Func>,
    pub tests: Vec<Test>,
}

/// A named constant table (or scalar); fully evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Const {
    pub name: String,
    pub ty: Ty,
    pub value: ConstValue,
    pub loc: Loc,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConstValue {
    /// Word (0 <= v < 2^bits), Int, or Bool (0/1).
    Scalar(BigInt),
    Array(Vec<ConstValue>),
    Struct(Vec<ConstValue>),
}

/// A `test "name" { .. }` block: a function without parameters and results whose `Assert`s must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    pub name: String,
    pub func: FuncId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Inline {
    /// The inliner's heuristic decides.
    Auto,
    Always,
    Never,
}

/// An operation with a constant of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Applies {
    /// A constant array of words, to a word of as many bits as the table has inputs, or to an array of as many words, whose columns of
    /// bits are inputs. See [`crate::table`].
    Table(ConstId),
    /// A constant array of bit numbers, to a word: which of its bits each bit of the result is. See [`crate::perm`].
    Perm(ConstId),
}

/// One function. Parameters are read-only by convention of `sema` (a parameter that is assigned is
/// first copied into a variable); results are locals of kind `Ret` that the body assigns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Func {
    /// Unique, dotted: `curve.ed25519.add`, monomorphic instances carry a suffix `$16`.
    pub name: String,
    /// C-level name when exported (`@export("crypto_hash")`).
    pub export: Option<String>,
    pub inline: Inline,
    /// What it is said to apply to its parameter. The body says the same in some way; passes may write it in another.
    pub applies: Option<Applies>,
    /// Public length parameters, in order; each is a local of kind `Len`. Callers pass them first.
    pub lens: Vec<LocalId>,
    pub params: Vec<LocalId>,
    pub rets: Vec<LocalId>,
    pub locals: Vec<Local>,
    pub body: Vec<Stmt>,
    pub contracts: Vec<Contract>,
    pub doc: String,
    pub loc: Loc,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LocalKind {
    Len,
    Param,
    Ret,
    Var,
    /// Loop counter: assigned by its `For` alone.
    Counter,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    pub name: String,
    pub ty: Ty,
    pub kind: LocalKind,
    /// May steer branches, bounds and addresses. The verifier recomputes that only public values flow in.
    pub public: bool,
    pub loc: Loc,
}

/// Root of a [`Place`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Base {
    Local(LocalId),
    Const(ConstId),
}

/// A storage location: a local or constant, narrowed by projections from left to right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub base: Base,
    pub projs: Vec<Proj>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Proj {
    Field(u32),
    /// Public index expression of `Int` type; obligation: `0 <= i < len`.
    Index(Expr),
    /// `len` consecutive elements from public offset `off`; obligation: `0 <= off && off + len <= array length`.
    Slice { off: Expr, len: u64 },
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expr {
    pub kind: ExprKind,
    /// For `Int`: `None` until the width pass writes the proven range of this occurrence.
    pub ty: Ty,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExprKind {
    /// Scalar constant: Word (0 <= v < 2^bits), Int, Bool (0/1).
    Const(BigInt),
    /// Copy of the value at a place (scalar or aggregate).
    Read(Place),
    Un(UnOp, Box<Expr>),
    /// Operands have the shape of the result, but for shifts: see [`BinOp`].
    Bin(BinOp, Box<Expr>, Box<Expr>),
    /// Operands of equal shape (`Eq`/`Ne` also on aggregates); result Bool. Words compare unsigned.
    Cmp(CmpOp, Box<Expr>, Box<Expr>),
    /// `if c {a} else {b}` with both sides evaluated; any shape. Constant time.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Conversion to `ty`: Word/Bool -> Int (value), Int -> Word (mod 2^bits), Word -> Word (truncate or
    /// zero-extend), Bool -> Word (0/1). Nothing else.
    Cast(Box<Expr>),
    /// All elements of a constant-length array.
    Array(Vec<Expr>),
    /// `n` copies of one scalar or aggregate; `ty` gives the length (which may be parametric).
    Repeat(Box<Expr>),
    Struct(StructId, Vec<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnOp {
    /// Int: exact negation. Word: two's complement.
    Neg,
    /// Word: all bits flipped. Bool: not. Not on Int.
    Not,
}

/// Word operations wrap. Int operations are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    /// Floor division of a public Int by a positive constant (right operand `Const`), or Int by a power of two.
    Div,
    /// Floor remainder, same conditions; `0 <= r < divisor`.
    Mod,
    /// Word and Bool: bitwise. Int: only `And` with a constant `2^k - 1`, the floor remainder mod `2^k`.
    And,
    Or,
    Xor,
    /// Shift count is a public Int, 0 <= count < bits for words (obligation), constant for Int.
    /// Int `Shl`: exact multiplication by 2^k. Int `Shr`: floor division by 2^k.
    Shl,
    Shr,
    /// Words only.
    Rotl,
    Rotr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CmpOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// What the source asked of a loop; the unroll pass decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unroll {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    Assign { dst: Place, src: Expr, loc: Loc },
    /// `dsts[i] = rets[i]` after the call; `lens` and `args` are evaluated before any destination is written.
    Call { dsts: Vec<Place>, func: FuncId, lens: Vec<Expr>, args: Vec<Expr>, loc: Loc },
    /// `for var in lo ..< hi` (or from hi-1 down to lo when `rev`); bounds are public Int, evaluated once.
    /// `hi <= lo`: no iteration. `invariants` are proof hints checked like asserts at entry and after each step.
    For { var: LocalId, lo: Expr, hi: Expr, rev: bool, unroll: Unroll, invariants: Vec<Expr>, body: Vec<Stmt>, loc: Loc },
    /// Public condition: really branches.
    If { cond: Expr, then: Vec<Stmt>, els: Vec<Stmt>, loc: Loc },
    /// Proved statically in code (and then usable as a fact), executed in tests.
    Assert { cond: Expr, text: String, loc: Loc },
    /// Text about the program, not of it: proved in code, executed in tests as far as a budget goes, never compiled.
    Ghost { what: Ghost, text: String, loc: Loc },
}

impl Func {
    pub fn local(&self, id: LocalId) -> &Local {
        &self.locals[id.0 as usize]
    }
}

impl Program {
    pub fn func(&self, id: FuncId) -> &Func {
        &self.funcs[id.0 as usize]
    }
    pub fn find(&self, name: &str) -> Option<FuncId> {
        self.funcs.iter().position(|f| f.name == name).map(|i| FuncId(i as u32))
    }
}
