//! Expressions and places, and the numbers by which parts of a program are named.

use crate::ty::{LocalId, StructId, Ty};
use num_bigint::BigInt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FuncId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpecId(pub u32);

/// Where in the source something came from: index into [`crate::Program::files`], 1-based line and column, and
/// byte offsets `start..end` (0..0 when unknown). Carried for messages only; never part of the meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Loc {
    pub file: u32,
    pub line: u32,
    pub col: u32,
    pub start: u32,
    pub end: u32,
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
