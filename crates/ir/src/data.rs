//! Programs, functions, statements; with expressions, all of the core.

pub use crate::expr::{Base, BinOp, CmpOp, ConstId, Expr, ExprKind, FuncId, Loc, Place, Proj, SpecId, UnOp};
use crate::spec::{Contract, Ghost, SpecFn};
use crate::ty::{LocalId, StructDef, Ty};
use num_bigint::BigInt;

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

/// A `test "name" { .. }` block: a function without results whose `Assert`s must hold. It has parameters if its cases come from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    pub name: String,
    pub func: FuncId,
    pub cases: Option<Cases>,
}

/// Where the cases of a test are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cases {
    /// From the folder of the program.
    pub file: String,
    /// The name of each parameter in the file.
    pub fields: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Inline {
    /// The inliner's heuristic decides.
    Auto,
    Always,
    Never,
}

/// An operation that machines may have in another form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Applies {
    /// A constant array of words, to a word of as many bits as the table has inputs, or to an array of as many words, whose columns of
    /// bits are inputs. See [`crate::table`].
    Table(ConstId),
    /// A constant array of bit numbers, to a word: which of its bits each bit of the result is. See [`crate::perm`].
    Perm(ConstId),
    /// One function, to every element of an array: on machines with registers of vectors, to several at once. See [`crate::each`].
    Each,
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
    /// Its results are public for callers, whatever they are computed from: what the author says may be seen, such as the verdict of an authenticator.
    /// In its own body nothing is more public for it. It is never inlined, so that no caller sees what the results are made of.
    pub declassifies: bool,
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
    /// Whether callers may take this result for public even where they give secrets.
    pub fn gives_public(&self, ret: LocalId) -> bool {
        self.declassifies || self.local(ret).public
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
