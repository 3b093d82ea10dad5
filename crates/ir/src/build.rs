//! Constructors: short ways to write expressions, places and functions.
//!
//! Needs: nothing but the data types.  Keeps: the convention that a fresh expression carries no range.
//! Absent: checking. A constructor given operands that do not fit builds an expression that does not fit;
//! [`crate::verify`] says so.
//! Trusted: nothing: it makes programs, which are verified.

use crate::data::*;
use crate::spec::{Contract, ContractKind, SpecExpr};
use crate::ty::{Len, LocalId, StructId, Ty};
use crate::typing::{without_ranges, Scope};
use num_bigint::BigInt;
use std::ops;

impl Expr {
    /// An expression with exactly this type.
    pub fn new(kind: ExprKind, ty: Ty) -> Expr {
        Expr { kind, ty }
    }
    /// Exact integer constant.
    pub fn int(v: impl Into<BigInt>) -> Expr {
        Expr::new(ExprKind::Const(v.into()), Ty::Int(None))
    }
    /// Word constant; `v` is reduced mod `2^bits`.
    pub fn word(bits: u32, v: impl Into<BigInt>) -> Expr {
        let modulus = BigInt::from(1) << bits;
        let v = num_integer::Integer::mod_floor(&v.into(), &modulus);
        Expr::new(ExprKind::Const(v), Ty::Word(bits))
    }
    /// Boolean constant.
    pub fn bool(b: bool) -> Expr {
        Expr::new(ExprKind::Const(BigInt::from(u8::from(b))), Ty::Bool)
    }
    /// The value at `place`, whose type is `ty` (ranges are dropped).
    pub fn read(place: Place, ty: &Ty) -> Expr {
        Expr::new(ExprKind::Read(place), without_ranges(ty))
    }
    /// A local of `Int` type: counters and lengths in bounds and indices.
    pub fn int_local(id: LocalId) -> Expr {
        Expr::read(Place::local(id), &Ty::Int(None))
    }
    pub fn un(op: UnOp, a: Expr) -> Expr {
        let ty = without_ranges(&a.ty);
        Expr::new(ExprKind::Un(op, Box::new(a)), ty)
    }
    /// Result has the shape of the left operand.
    pub fn bin(op: BinOp, a: Expr, b: Expr) -> Expr {
        let ty = without_ranges(&a.ty);
        Expr::new(ExprKind::Bin(op, Box::new(a), Box::new(b)), ty)
    }
    pub fn cmp(op: CmpOp, a: Expr, b: Expr) -> Expr {
        Expr::new(ExprKind::Cmp(op, Box::new(a), Box::new(b)), Ty::Bool)
    }
    /// Both sides are evaluated; result has the shape of the first.
    pub fn select(cond: Expr, yes: Expr, no: Expr) -> Expr {
        let ty = without_ranges(&yes.ty);
        Expr::new(ExprKind::Select(Box::new(cond), Box::new(yes), Box::new(no)), ty)
    }
    pub fn cast(self, to: Ty) -> Expr {
        Expr::new(ExprKind::Cast(Box::new(self)), to)
    }
    /// Array literal with elements of type `elem`.
    pub fn array(elem: &Ty, elems: Vec<Expr>) -> Expr {
        let ty = Ty::array(without_ranges(elem), elems.len() as u64);
        Expr::new(ExprKind::Array(elems), ty)
    }
    /// `len` copies of one value.
    pub fn repeat(elem: Expr, len: Len) -> Expr {
        let ty = Ty::Array { elem: Box::new(without_ranges(&elem.ty)), len, ranges: None };
        Expr::new(ExprKind::Repeat(Box::new(elem)), ty)
    }
    pub fn structure(id: StructId, fields: Vec<Expr>) -> Expr {
        Expr::new(ExprKind::Struct(id, fields), Ty::Struct(id))
    }
    /// Shift left by a constant.
    #[allow(clippy::should_implement_trait)] // the count is a constant, unlike the operands of the operator traits
    pub fn shl(self, count: u32) -> Expr {
        Expr::bin(BinOp::Shl, self, Expr::int(count))
    }
    /// Shift right (words: zero fill; ints: floor division by a power of two) by a constant.
    #[allow(clippy::should_implement_trait)] // as `shl`
    pub fn shr(self, count: u32) -> Expr {
        Expr::bin(BinOp::Shr, self, Expr::int(count))
    }
    pub fn rotl(self, count: u32) -> Expr {
        Expr::bin(BinOp::Rotl, self, Expr::int(count))
    }
    pub fn rotr(self, count: u32) -> Expr {
        Expr::bin(BinOp::Rotr, self, Expr::int(count))
    }
    /// The value of a constant expression.
    pub fn as_const(&self) -> Option<&BigInt> {
        match &self.kind {
            ExprKind::Const(v) => Some(v),
            _ => None,
        }
    }
    /// The place of a plain read.
    pub fn as_read(&self) -> Option<&Place> {
        match &self.kind {
            ExprKind::Read(p) => Some(p),
            _ => None,
        }
    }
}

macro_rules! binary_operator {
    ($($trait:ident $method:ident $op:ident),*) => {$(
        impl ops::$trait for Expr {
            type Output = Expr;
            fn $method(self, rhs: Expr) -> Expr {
                Expr::bin(BinOp::$op, self, rhs)
            }
        }
    )*};
}
binary_operator!(Add add Add, Sub sub Sub, Mul mul Mul, BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor);

impl ops::Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        Expr::un(UnOp::Neg, self)
    }
}

impl ops::Not for Expr {
    type Output = Expr;
    fn not(self) -> Expr {
        Expr::un(UnOp::Not, self)
    }
}

impl Place {
    pub fn local(id: LocalId) -> Place {
        Place { base: Base::Local(id), projs: Vec::new() }
    }
    pub fn constant(id: ConstId) -> Place {
        Place { base: Base::Const(id), projs: Vec::new() }
    }
    #[must_use]
    pub fn field(mut self, field: u32) -> Place {
        self.projs.push(Proj::Field(field));
        self
    }
    #[must_use]
    pub fn index(mut self, index: Expr) -> Place {
        self.projs.push(Proj::Index(index));
        self
    }
    /// Element at a constant index.
    #[must_use]
    pub fn at(self, index: u64) -> Place {
        self.index(Expr::int(index))
    }
    #[must_use]
    pub fn slice(mut self, off: Expr, len: u64) -> Place {
        self.projs.push(Proj::Slice { off, len });
        self
    }
}

impl Stmt {
    /// Assignment without a source location.
    pub fn assign(dst: Place, src: Expr) -> Stmt {
        Stmt::Assign { dst, src, loc: Loc::default() }
    }
    /// Ascending loop `for var in lo ..< hi` that leaves unrolling to the pass.
    pub fn for_range(var: LocalId, lo: Expr, hi: Expr, body: Vec<Stmt>) -> Stmt {
        Stmt::For { var, lo, hi, rev: false, unroll: Unroll::Auto, invariants: Vec::new(), body, loc: Loc::default() }
    }
    pub fn if_else(cond: Expr, then: Vec<Stmt>, els: Vec<Stmt>) -> Stmt {
        Stmt::If { cond, then, els, loc: Loc::default() }
    }
    pub fn assert(cond: Expr, text: impl Into<String>) -> Stmt {
        Stmt::Assert { cond, text: text.into(), loc: Loc::default() }
    }
    pub fn loc(&self) -> Loc {
        match self {
            Stmt::Assign { loc, .. }
            | Stmt::Call { loc, .. }
            | Stmt::For { loc, .. }
            | Stmt::If { loc, .. }
            | Stmt::Assert { loc, .. }
            | Stmt::Ghost { loc, .. } => *loc,
        }
    }
    pub fn loc_mut(&mut self) -> &mut Loc {
        match self {
            Stmt::Assign { loc, .. }
            | Stmt::Call { loc, .. }
            | Stmt::For { loc, .. }
            | Stmt::If { loc, .. }
            | Stmt::Assert { loc, .. }
            | Stmt::Ghost { loc, .. } => loc,
        }
    }
}

impl ConstValue {
    pub fn int(v: impl Into<BigInt>) -> ConstValue {
        ConstValue::Scalar(v.into())
    }
    pub fn ints<V: Into<BigInt>>(vs: impl IntoIterator<Item = V>) -> ConstValue {
        ConstValue::Array(vs.into_iter().map(ConstValue::int).collect())
    }
}

impl Program {
    /// Adds a function and gives its id. Callees must already be there.
    pub fn add_func(&mut self, func: Func) -> FuncId {
        self.funcs.push(func);
        FuncId(self.funcs.len() as u32 - 1)
    }
    pub fn add_const(&mut self, name: impl Into<String>, ty: Ty, value: ConstValue) -> ConstId {
        self.consts.push(Const { name: name.into(), ty, value, loc: Loc::default() });
        ConstId(self.consts.len() as u32 - 1)
    }
    pub fn add_struct(&mut self, name: impl Into<String>, fields: Vec<(String, Ty)>) -> StructId {
        self.structs.push(crate::ty::StructDef { name: name.into(), fields });
        StructId(self.structs.len() as u32 - 1)
    }
    pub fn add_test(&mut self, name: impl Into<String>, func: FuncId) {
        self.tests.push(Test { name: name.into(), func, cases: None });
    }
}

/// Builds one function: declares locals, appends statements to the innermost open block.
#[derive(Clone, Debug)]
pub struct FuncBuilder<'a> {
    program: &'a Program,
    func: Func,
}

impl<'a> FuncBuilder<'a> {
    /// A function without parameters, results or statements. `program` supplies the structs and
    /// constants that [`FuncBuilder::read`] needs.
    pub fn new(program: &'a Program, name: impl Into<String>) -> FuncBuilder<'a> {
        let func = Func {
            name: name.into(),
            export: None,
            inline: Inline::Auto,
            declassifies: false,
            applies: None,
            lens: Vec::new(),
            params: Vec::new(),
            rets: Vec::new(),
            locals: Vec::new(),
            body: Vec::new(),
            contracts: Vec::new(),
            doc: String::new(),
            loc: Loc::default(),
        };
        FuncBuilder { program, func }
    }
    /// Declares a local of any kind and lists it where its kind says.
    pub fn local(&mut self, kind: LocalKind, name: impl Into<String>, ty: Ty, public: bool) -> LocalId {
        let id = LocalId(self.func.locals.len() as u32);
        self.func.locals.push(Local { name: name.into(), ty, kind, public, loc: Loc::default() });
        match kind {
            LocalKind::Len => self.func.lens.push(id),
            LocalKind::Param => self.func.params.push(id),
            LocalKind::Ret => self.func.rets.push(id),
            LocalKind::Var | LocalKind::Counter => {}
        }
        id
    }
    /// A public length parameter.
    pub fn len(&mut self, name: impl Into<String>) -> LocalId {
        self.local(LocalKind::Len, name, Ty::Int(Some(crate::ty::Range::new(0, i32::MAX))), true)
    }
    /// A secret parameter.
    pub fn param(&mut self, name: impl Into<String>, ty: Ty) -> LocalId {
        self.local(LocalKind::Param, name, ty, false)
    }
    /// A secret result.
    pub fn ret(&mut self, name: impl Into<String>, ty: Ty) -> LocalId {
        self.local(LocalKind::Ret, name, ty, false)
    }
    /// A secret variable.
    pub fn var(&mut self, name: impl Into<String>, ty: Ty) -> LocalId {
        self.local(LocalKind::Var, name, ty, false)
    }
    pub fn counter(&mut self, name: impl Into<String>) -> LocalId {
        self.local(LocalKind::Counter, name, Ty::Int(None), true)
    }
    /// Reads a place at its declared type; a place that does not fit reads as `Int` (and fails the verifier).
    pub fn read(&self, place: Place) -> Expr {
        let ty = Scope::of(self.program, &self.func).place_ty(&place).unwrap_or(Ty::Int(None));
        Expr::read(place, &ty)
    }
    /// Reads a whole local.
    pub fn get(&self, id: LocalId) -> Expr {
        self.read(Place::local(id))
    }
    pub fn push(&mut self, stmt: Stmt) -> &mut Self {
        self.func.body.push(stmt);
        self
    }
    pub fn assign(&mut self, dst: Place, src: Expr) -> &mut Self {
        self.push(Stmt::assign(dst, src))
    }
    pub fn call(&mut self, dsts: Vec<Place>, func: FuncId, lens: Vec<Expr>, args: Vec<Expr>) -> &mut Self {
        self.push(Stmt::Call { dsts, func, lens, args, loc: Loc::default() })
    }
    pub fn contract(&mut self, kind: ContractKind, cond: SpecExpr, text: impl Into<String>) -> &mut Self {
        self.func.contracts.push(Contract { kind, cond, text: text.into(), loc: Loc::default() });
        self
    }
    /// Runs `build` with an empty body and gives the statements it appended, for loop bodies and branches.
    pub fn block(&mut self, build: impl FnOnce(&mut Self)) -> Vec<Stmt> {
        let outer = std::mem::take(&mut self.func.body);
        build(self);
        std::mem::replace(&mut self.func.body, outer)
    }
    /// The function so far, to set attributes.
    pub fn func_mut(&mut self) -> &mut Func {
        &mut self.func
    }
    pub fn finish(self) -> Func {
        self.func
    }
}
