//! The syntax tree: what the text says, nothing resolved, nothing checked.

use num_bigint::BigInt;
use santoku_diag::Span;

/// A name with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    pub name: String,
    pub span: Span,
}

/// `a`, or `M::a`; `use` paths are written with dots and kept apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    pub module: Option<Ident>,
    pub name: Ident,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct File {
    pub items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub doc: Vec<String>,
    pub attrs: Vec<Attr>,
    pub kind: ItemKind,
    pub span: Span,
}

/// `@name` or `@name("text")`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attr {
    pub name: Ident,
    pub arg: Option<String>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// `use field.fe25519 as F`, `use field.montgomery<P = 2^255 - 19, W = 64> as F`
    Use { module: ModuleRef, alias: Option<Ident> },
    /// `implements field.fe25519 as radix51`; without a variant: a module that takes parameters.
    Implements { path: Vec<Ident>, variant: Option<Ident> },
    /// `module<P: const, F: field.prime>`: the parameters of the file.
    Module { params: Vec<ModuleParam> },
    /// `instance field.montgomery<P = 2^255 - 19, W = 64>`: what the file stands for, beside its own items.
    Instance { module: ModuleRef },
    /// `example<P = 2^127 - 1, W = 64>`: arguments at which a module with parameters is checked by itself.
    Example { args: Vec<ModuleArg> },
    Const { name: Ident, ty: Option<Type>, value: Expr },
    /// `const fn inverse(a: int, m: int) -> int = ...`, or with a block: evaluated by the compiler.
    ConstFn(ConstFunction),
    /// `type Fe = [Limb; 4] means value(self) mod P`
    Type { name: Ident, ty: Type, means: Option<Means> },
    Struct { name: Ident, fields: Vec<(Ident, Type)> },
    /// `table sbox: u4 -> u4 = [..]`
    Table { name: Ident, input: Type, output: Type, entries: Expr },
    /// `perm p: u64 -> u64 = [..]`
    Perm { name: Ident, input: Type, output: Type, entries: Expr },
    Interface(Interface),
    Fn(Function),
    Spec(SpecFunction),
    /// `test "name" { .. }`, `test "name" from "cases.json" <n: len>(m: [u8; n], d: [u8; 32] = "digest") { .. }`
    Test { name: String, cases: Option<TestCases>, body: Block },
    /// What could not be parsed; an error has been reported for it.
    Error,
}

/// What values of a type stand for in specifications: an integer, as an expression in `self`, modulo another if given.
#[derive(Clone, Debug, PartialEq)]
pub struct Means {
    pub value: Expr,
    pub modulus: Option<Expr>,
}

/// A module, with arguments if it takes parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct ModuleRef {
    pub path: Vec<Ident>,
    pub args: Vec<ModuleArg>,
    pub span: Span,
}

/// `2^255 - 19`, or `P = 2^255 - 19`.
#[derive(Clone, Debug, PartialEq)]
pub struct ModuleArg {
    pub name: Option<Ident>,
    pub value: GenericArg,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ModuleParam {
    pub name: Ident,
    pub kind: ModuleParamKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ModuleParamKind {
    /// Any constant.
    Const,
    Type,
    /// A module that satisfies the interface of this path.
    Module(Vec<Ident>),
}

/// A function of constants. Its block holds `let`s alone.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstFunction {
    pub doc: Vec<String>,
    pub name: Ident,
    pub params: Vec<Param>,
    pub ret: Type,
    /// None inside an interface.
    pub body: Option<Block>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    pub name: Ident,
    pub default: Option<Ident>,
    /// The interface whose members this one has too.
    pub extends: Option<Vec<Ident>>,
    /// Constants the implementation must define.
    pub consts: Vec<Ident>,
    /// Constant functions without body.
    pub const_fns: Vec<ConstFunction>,
    /// Abstract types the implementation must define.
    pub types: Vec<Ident>,
    /// Functions without body.
    pub fns: Vec<Function>,
    /// Specification functions; without body: the implementation defines them, with body: shared.
    pub specs: Vec<SpecFunction>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Declared with `lemma`: for ghost text alone.
    pub lemma: bool,
    pub doc: Vec<String>,
    pub attrs: Vec<Attr>,
    pub name: Ident,
    pub generics: Vec<Generic>,
    pub params: Vec<Param>,
    /// None: returns nothing (allowed for no function but kept for recovery).
    pub ret: Option<Type>,
    pub contracts: Vec<Clause>,
    /// None inside an interface.
    pub body: Option<Block>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SpecFunction {
    pub doc: Vec<String>,
    pub name: Ident,
    pub params: Vec<Param>,
    pub ret: Type,
    pub body: Option<Block>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GenericKind {
    Len,
    Const,
    Type,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Generic {
    pub name: Ident,
    pub kind: GenericKind,
    /// `n: len in lo..hi`, both included.
    pub bounds: Option<(Box<Expr>, Box<Expr>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    pub name: Ident,
    pub ty: Type,
}

/// The cases of a test in a file: each gives the parameters values.
#[derive(Clone, Debug, PartialEq)]
pub struct TestCases {
    /// From the folder of the program.
    pub file: String,
    pub file_span: Span,
    pub generics: Vec<Generic>,
    pub params: Vec<Param>,
    /// For each parameter, the name that the file has for it, if it is another.
    pub fields: Vec<Option<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClauseKind {
    Requires,
    Ensures,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    pub kind: ClauseKind,
    pub cond: Expr,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    pub kind: TypeKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    Word(u32),
    Bool,
    Int(Option<(Box<Expr>, Box<Expr>)>),
    /// `[T; n]`; `index` is the `i` of `[int in lo(i)..hi(i); i < n]`.
    Array { elem: Box<Type>, index: Option<Ident>, len: Box<Expr> },
    Tuple(Vec<Type>),
    Named(Path),
    Public(Box<Type>),
    Error,
}

/// Statements, then the optional result expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub stmts: Vec<Stmt>,
    pub result: Option<Box<Expr>>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `let a: T = e`, `let (a, b) = e`, `var a = e`, `var a: T`
    Let { mutable: bool, names: Vec<Ident>, tuple: bool, ty: Option<Type>, value: Option<Expr> },
    /// `op` None: plain `=`.
    Assign { place: Expr, op: Option<BinOp>, value: Expr },
    For { attrs: Vec<Attr>, var: Ident, rev: bool, lo: Expr, hi: Expr, inclusive: bool, step: Option<Expr>, invariants: Vec<Expr>, body: Block },
    If { cond: Expr, then: Block, els: Option<Block> },
    Assert(Expr),
    Ghost(GhostKind),
    Error,
}

/// What follows `ghost`.
#[derive(Clone, Debug, PartialEq)]
pub enum GhostKind {
    /// `let x = e`, `var x = e`
    Let { mutable: bool, name: Ident, value: Expr },
    /// `x = e`
    Assign { name: Ident, value: Expr },
    /// `name(e, ..)`
    Lemma(Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Int(BigInt),
    Bool(bool),
    /// `b".."` and `hex".."`; `hex` remembers the spelling for the formatter.
    Bytes { bytes: Vec<u8>, hex: bool },
    Name(Path),
    /// `2^k`: base literal without spaces.
    Power { base: BigInt, exp: Box<Expr> },
    /// `f(x)`, `f::<16>(x)`, conversions `u32(x)`, `int(x)` (callee kind Convert).
    Call { callee: Path, generics: Vec<GenericArg>, args: Vec<Expr> },
    /// `u32(x)`, `int(x)`
    Convert { to: Box<Type>, arg: Box<Expr> },
    Index { base: Box<Expr>, index: Box<Expr> },
    /// `x[off; k]`
    Slice { base: Box<Expr>, off: Box<Expr>, len: Box<Expr> },
    Field { base: Box<Expr>, field: Ident },
    /// `x.0`
    TupleField { base: Box<Expr>, index: u32 },
    Un { op: UnOp, arg: Box<Expr> },
    Bin { op: BinOp, lhs: Box<Expr>, rhs: Box<Expr> },
    /// `a ≡ b mod m`; without `mod`: the modulus of what the types of both sides stand for.
    Congruent { lhs: Box<Expr>, rhs: Box<Expr>, modulus: Option<Box<Expr>> },
    If { cond: Box<Expr>, then: Block, els: Block },
    Tuple(Vec<Expr>),
    Array(Vec<Expr>),
    /// `[e; n]`
    Repeat { elem: Box<Expr>, len: Box<Expr> },
    /// `[for i in a..<b: e]`
    Comprehension { var: Ident, lo: Box<Expr>, hi: Box<Expr>, inclusive: bool, elem: Box<Expr> },
    Struct { path: Path, fields: Vec<(Ident, Expr)> },
    /// `sum(i in a..<b) e`, `forall(i in a..<b) e`
    Sum { var: Ident, lo: Box<Expr>, hi: Box<Expr>, inclusive: bool, body: Box<Expr> },
    Forall { var: Ident, lo: Box<Expr>, hi: Box<Expr>, inclusive: bool, body: Box<Expr> },
    /// Parenthesised, kept for the formatter.
    Paren(Box<Expr>),
    Error,
}

#[derive(Clone, Debug, PartialEq)]
pub enum GenericArg {
    Expr(Expr),
    Type(Type),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnOp {
    Neg,
    BitNot,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    Rotl,
    Rotr,
    BitAnd,
    BitXor,
    BitOr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    Implies,
}
