//! Contracts and specification functions: mathematics over unbounded integers, never compiled.

use crate::expr::{CmpOp, FuncId, Loc, Place, SpecId};
use crate::ty::LocalId;
use num_bigint::BigInt;

/// A specification function: total, recursive only on an argument that decreases to a non-negative bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecFn {
    pub name: String,
    pub params: Vec<String>,
    pub body: SpecExpr,
    pub loc: Loc,
}

/// Arguments and let/sum variables are de-Bruijn-free: a stack slot index counted from the outermost binder
/// of the specification function (parameters first).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecExpr {
    Int(BigInt),
    Bool(bool),
    /// Slot of an enclosing binder: parameter of the spec function, `let`, `sum` or `forall` variable.
    Var(u32),
    /// A program value: params, rets, locals, constants (aggregates included). In a contract a
    /// parameter means its value at entry. Words read as integers 0..2^bits-1. Index expressions
    /// inside the place are program expressions.
    Place(Place),
    /// Element of an aggregate specification value.
    Index(Box<SpecExpr>, Box<SpecExpr>),
    Field(Box<SpecExpr>, u32),
    /// Number of elements of an array value.
    Len(Box<SpecExpr>),
    Neg(Box<SpecExpr>),
    Bin(SpecOp, Box<SpecExpr>, Box<SpecExpr>),
    Cmp(CmpOp, Box<SpecExpr>, Box<SpecExpr>),
    /// `a ≡ b mod m`
    Congruent(Box<SpecExpr>, Box<SpecExpr>, Box<SpecExpr>),
    Not(Box<SpecExpr>),
    And(Box<SpecExpr>, Box<SpecExpr>),
    Or(Box<SpecExpr>, Box<SpecExpr>),
    Implies(Box<SpecExpr>, Box<SpecExpr>),
    If(Box<SpecExpr>, Box<SpecExpr>, Box<SpecExpr>),
    /// `let x = a in b`: `slot` receives a.
    Let(u32, Box<SpecExpr>, Box<SpecExpr>),
    /// `sum(i in lo..<hi) body`
    Sum { slot: u32, lo: Box<SpecExpr>, hi: Box<SpecExpr>, body: Box<SpecExpr> },
    /// `forall(i in lo..<hi) body`, finite.
    Forall { slot: u32, lo: Box<SpecExpr>, hi: Box<SpecExpr>, body: Box<SpecExpr> },
    /// Array literal of specification values.
    Array(Vec<SpecExpr>),
    Call(SpecId, Vec<SpecExpr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpecOp {
    Add,
    Sub,
    Mul,
    /// Floor division and floor remainder.
    Div,
    Mod,
    /// Exponent is a non-negative integer.
    Pow,
    /// Of the bits of integers that are not negative; others have no value.
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContractKind {
    Requires,
    Ensures,
}

/// What a statement says that is not compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ghost {
    Assert(SpecExpr),
    /// Only at the beginning of the body of a loop that counts up: holds at its head for every value of the counter, the
    /// one behind the last included.
    Invariant(SpecExpr),
    /// The local, an `Int` without range or a `Bool`, is of ghost text alone.
    Let(LocalId, SpecExpr),
    /// What a function without results ensures, one that only such statements call.
    Lemma(FuncId, Vec<SpecExpr>),
}

impl Ghost {
    pub fn exprs(&self) -> &[SpecExpr] {
        match self {
            Ghost::Assert(e) | Ghost::Invariant(e) | Ghost::Let(_, e) => std::slice::from_ref(e),
            Ghost::Lemma(_, es) => es,
        }
    }
    pub fn exprs_mut(&mut self) -> &mut [SpecExpr] {
        match self {
            Ghost::Assert(e) | Ghost::Invariant(e) | Ghost::Let(_, e) => std::slice::from_mut(e),
            Ghost::Lemma(_, es) => es,
        }
    }
}

/// One clause of a function's contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    pub kind: ContractKind,
    pub cond: SpecExpr,
    /// Source text of the clause, for reports.
    pub text: String,
    pub loc: Loc,
}
