//! Functions resolved for running: constants converted, operand kinds looked up, declarations at hand.
//!
//! Needs: a program.  Keeps: the tree of the function, node for node.  Absent: optimisation.

use super::fault::Fault;
use super::ops::{mask, to_usize, Kind, Run};
use super::value::Value;
use crate::data::*;
use crate::limits::{EXPR_DEPTH, STMT_DEPTH};
use crate::spec::Ghost;
use crate::ty::{Len, LocalId, Range, Ty};
use crate::visit::expr_locals;
use num_traits::ToPrimitive;
use santoku_num::Int;

/// One function, resolved.
#[derive(Debug)]
pub(super) struct Code<'p> {
    pub func: &'p Func,
    pub body: Vec<Op<'p>>,
    /// Per local: its declared type holds ranges that a flow into it must respect.
    pub ranged: Vec<bool>,
    /// Variables and results that may turn out to hold no scalar, for some lengths.
    pub maybe_vacuous: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct Op<'p> {
    pub kind: OpKind<'p>,
    pub loc: Loc,
}

#[derive(Debug)]
pub(super) enum OpKind<'p> {
    Assign { dst: Path, src: Node },
    Call { dsts: Vec<Path>, func: FuncId, lens: Vec<Node>, args: Vec<Node> },
    For { var: usize, lo: Node, hi: Node, rev: bool, invariants: Vec<Condition>, claims: Vec<Claim<'p>>, body: Vec<Op<'p>> },
    If { cond: Node, then: Vec<Op<'p>>, els: Vec<Op<'p>> },
    Assert { cond: Condition, text: &'p str },
    Ghost(Claim<'p>),
}

/// Ghost text, which is not resolved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim<'p> {
    pub what: &'p Ghost,
    pub text: &'p str,
    pub loc: Loc,
}

impl<'p> Claim<'p> {
    /// An invariant at the head of a loop.
    fn of_loop(s: &'p Stmt) -> Option<Claim<'p>> {
        match s {
            Stmt::Ghost { what: what @ Ghost::Invariant(_), text, loc } => Some(Claim { what, text, loc: *loc }),
            _ => None,
        }
    }
}

/// A condition and the locals it reads, which explain its failure.
#[derive(Debug)]
pub(super) struct Condition {
    pub node: Node,
    pub locals: Vec<LocalId>,
}

#[derive(Debug)]
pub(super) enum Node {
    Const(Value),
    /// A whole local.
    Local(usize),
    Path(Box<Path>),
    Un(UnOp, Kind, Box<Node>),
    Bin(BinOp, Kind, Box<(Node, Node)>),
    Cmp(CmpOp, Box<(Node, Node)>),
    Select(Box<(Node, Node, Node)>),
    ToInt(Box<Node>),
    ToWord(u128, Box<Node>),
    Array(Vec<Node>),
    Repeat(Box<Node>, Len),
    Struct(Vec<Node>),
    /// An integer with the range that a pass proved for this occurrence.
    Ranged(Box<Node>, Box<Range>),
}

#[derive(Debug)]
pub(super) struct Path {
    pub base: Base,
    pub steps: Vec<Step>,
}

#[derive(Debug)]
pub(super) enum Step {
    Field(usize),
    Index(Node),
    Slice(Node, usize),
}

/// Turns IR into [`Code`]. `check_ranges` keeps the ranges written on expressions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lower<'p> {
    pub program: &'p Program,
    pub check_ranges: bool,
}

impl<'p> Lower<'p> {
    /// The functions reachable from `root`, `root` included. Faults on a call of a later or the same function.
    pub fn reachable(program: &'p Program, root: FuncId) -> Run<Vec<FuncId>> {
        let mut wanted = vec![false; program.funcs.len()];
        *wanted.get_mut(root.0 as usize).ok_or_else(|| Fault::internal("no such function"))? = true;
        // Callees come first, so one sweep from the end finds everything.
        for caller in (0..=root.0 as usize).rev() {
            if !wanted[caller] {
                continue;
            }
            let mut bad = false;
            crate::visit::walk_stmts(&program.funcs[caller].body, &mut |s| {
                if let Stmt::Call { func, .. } = s {
                    match wanted.get_mut(func.0 as usize) {
                        Some(w) if (func.0 as usize) < caller => *w = true,
                        _ => bad = true,
                    }
                }
            });
            if bad {
                return Err(Fault::internal("call of a function that is not earlier in the program"));
            }
        }
        Ok((0..wanted.len()).filter(|i| wanted[*i]).map(|i| FuncId(i as u32)).collect())
    }

    pub fn func(&self, func: &'p Func, struct_ranged: &[bool]) -> Run<Code<'p>> {
        let ids = func.lens.iter().chain(&func.params).chain(&func.rets);
        if ids.clone().any(|id| id.0 as usize >= func.locals.len()) {
            return Err(Fault::internal("a parameter or result is not a local"));
        }
        let ranged = func.locals.iter().map(|l| has_ranges(&l.ty, struct_ranged)).collect();
        let open = |l: &Local| matches!(l.kind, LocalKind::Var | LocalKind::Ret) && maybe_vacuous(&l.ty);
        let maybe_vacuous = (0..func.locals.len()).filter(|i| open(&func.locals[*i])).collect();
        Ok(Code { func, body: self.block(func, &func.body, STMT_DEPTH)?, ranged, maybe_vacuous })
    }

    fn block(&self, func: &'p Func, body: &'p [Stmt], depth: usize) -> Run<Vec<Op<'p>>> {
        if depth == 0 {
            return Err(Fault::internal("statements nest too deeply"));
        }
        body.iter().map(|s| self.stmt(func, s, depth - 1)).collect()
    }

    fn stmt(&self, func: &'p Func, stmt: &'p Stmt, depth: usize) -> Run<Op<'p>> {
        let exprs = |es: &[Expr]| es.iter().map(|e| self.root(func, e)).collect::<Run<Vec<Node>>>();
        let kind = match stmt {
            Stmt::Assign { dst, src, .. } => {
                OpKind::Assign { dst: self.path(func, dst, EXPR_DEPTH)?, src: self.root(func, src)? }
            }
            Stmt::Call { dsts, func: callee, lens, args, .. } => OpKind::Call {
                dsts: dsts.iter().map(|d| self.path(func, d, EXPR_DEPTH)).collect::<Run<_>>()?,
                func: *callee,
                lens: exprs(lens)?,
                args: exprs(args)?,
            },
            Stmt::For { var, lo, hi, rev, invariants, body, .. } => OpKind::For {
                var: local_slot(func, *var)?,
                lo: self.root(func, lo)?,
                hi: self.root(func, hi)?,
                rev: *rev,
                invariants: invariants.iter().map(|e| self.condition(func, e)).collect::<Run<_>>()?,
                claims: body.iter().map_while(Claim::of_loop).collect(),
                body: self.block(func, &body[body.iter().map_while(Claim::of_loop).count()..], depth)?,
            },
            Stmt::If { cond, then, els, .. } => OpKind::If {
                cond: self.root(func, cond)?,
                then: self.block(func, then, depth)?,
                els: self.block(func, els, depth)?,
            },
            Stmt::Assert { cond, text, .. } => OpKind::Assert { cond: self.condition(func, cond)?, text },
            Stmt::Ghost { what, text, loc } => OpKind::Ghost(Claim { what, text, loc: *loc }),
        };
        Ok(Op { kind, loc: stmt.loc() })
    }

    fn condition(&self, func: &Func, e: &Expr) -> Run<Condition> {
        Ok(Condition { node: self.root(func, e)?, locals: expr_locals(e).into_iter().collect() })
    }

    /// An outermost expression.
    pub fn root(&self, func: &Func, e: &Expr) -> Run<Node> {
        self.expr(func, e, EXPR_DEPTH)
    }

    fn expr(&self, func: &Func, e: &Expr, depth: usize) -> Run<Node> {
        let depth = depth.checked_sub(1).ok_or_else(|| Fault::internal("an expression nests too deeply"))?;
        let boxed = |e: &Expr| self.expr(func, e, depth).map(Box::new);
        let many = |es: &[Expr]| es.iter().map(|e| self.expr(func, e, depth)).collect::<Run<Vec<Node>>>();
        let node = match &e.kind {
            ExprKind::Const(v) => return constant(&e.ty, v).map(Node::Const),
            ExprKind::Read(place) => match (place.base, place.projs.is_empty()) {
                (Base::Local(id), true) => Node::Local(local_slot(func, id)?),
                _ => Node::Path(Box::new(self.path(func, place, depth)?)),
            },
            ExprKind::Un(op, a) => Node::Un(*op, kind_of(&a.ty)?, boxed(a)?),
            ExprKind::Bin(op, a, b) => {
                let pair = (self.expr(func, a, depth)?, self.expr(func, b, depth)?);
                Node::Bin(*op, kind_of(&a.ty)?, Box::new(pair))
            }
            ExprKind::Cmp(op, a, b) => {
                Node::Cmp(*op, Box::new((self.expr(func, a, depth)?, self.expr(func, b, depth)?)))
            }
            ExprKind::Select(c, a, b) => {
                let (c, a, b) = (self.expr(func, c, depth)?, self.expr(func, a, depth)?, self.expr(func, b, depth)?);
                Node::Select(Box::new((c, a, b)))
            }
            ExprKind::Cast(a) => match e.ty {
                Ty::Int(_) => Node::ToInt(boxed(a)?),
                Ty::Word(bits) => Node::ToWord(mask(bits), boxed(a)?),
                Ty::Bool | Ty::Array { .. } | Ty::Struct(_) => return Err(Fault::internal("no such conversion")),
            },
            ExprKind::Array(es) => Node::Array(many(es)?),
            ExprKind::Repeat(a) => match &e.ty {
                Ty::Array { len, .. } => Node::Repeat(boxed(a)?, len.clone()),
                Ty::Word(_) | Ty::Int(_) | Ty::Bool | Ty::Struct(_) => {
                    return Err(Fault::internal("a repetition is not an array"))
                }
            },
            ExprKind::Struct(_, es) => Node::Struct(many(es)?),
        };
        Ok(match &e.ty {
            Ty::Int(Some(range)) if self.check_ranges => Node::Ranged(Box::new(node), Box::new(range.clone())),
            _ => node,
        })
    }

    pub fn path(&self, func: &Func, place: &Place, depth: usize) -> Run<Path> {
        match place.base {
            Base::Local(id) => drop(local_slot(func, id)?),
            Base::Const(id) if (id.0 as usize) < self.program.consts.len() => {}
            Base::Const(_) => return Err(Fault::internal("no such constant")),
        }
        let step = |proj: &Proj| {
            Ok(match proj {
                Proj::Field(i) => Step::Field(*i as usize),
                Proj::Index(e) => Step::Index(self.expr(func, e, depth)?),
                Proj::Slice { off, len } => Step::Slice(self.expr(func, off, depth)?, to_usize(*len)?),
            })
        };
        Ok(Path { base: place.base, steps: place.projs.iter().map(step).collect::<Run<_>>()? })
    }
}

fn local_slot(func: &Func, id: LocalId) -> Run<usize> {
    let slot = id.0 as usize;
    if slot < func.locals.len() {
        Ok(slot)
    } else {
        Err(Fault::internal("no such local"))
    }
}

fn kind_of(ty: &Ty) -> Run<Kind> {
    match ty {
        Ty::Word(bits) if (1..=128).contains(bits) => Ok(Kind::Word { bits: *bits, mask: mask(*bits) }),
        Ty::Int(_) => Ok(Kind::Int),
        Ty::Bool => Ok(Kind::Bool),
        Ty::Word(_) | Ty::Array { .. } | Ty::Struct(_) => Err(Fault::internal("operation on a type without it")),
    }
}

/// The value of a scalar constant.
fn constant(ty: &Ty, v: &num_bigint::BigInt) -> Run<Value> {
    let bad = || Fault::internal(format!("constant {v} does not fit its type"));
    match ty {
        Ty::Int(_) => Ok(Value::Int(Int::from(v))),
        Ty::Word(bits) => {
            v.to_u128().filter(|w| *w <= mask(*bits)).map(Value::Word).ok_or_else(bad)
        }
        Ty::Bool => v.to_u8().filter(|b| *b <= 1).map(|b| Value::Bool(b == 1)).ok_or_else(bad),
        Ty::Array { .. } | Ty::Struct(_) => Err(bad()),
    }
}

/// The value of a declared constant.
pub(super) fn const_value(program: &Program, ty: &Ty, v: &ConstValue, depth: usize) -> Run<Value> {
    let bad = || Fault::internal("a constant does not fit its type");
    let depth = depth.checked_sub(1).ok_or_else(bad)?;
    match (ty, v) {
        (_, ConstValue::Scalar(v)) => constant(ty, v),
        (Ty::Array { elem, len: Len::Const(n), .. }, ConstValue::Array(vs)) if *n == vs.len() as u64 => {
            let elems = vs.iter().map(|v| const_value(program, elem, v, depth));
            Ok(Value::array(elems.collect::<Run<_>>()?))
        }
        (Ty::Struct(id), ConstValue::Struct(vs)) => {
            let def = program.structs.get(id.0 as usize).filter(|d| d.fields.len() == vs.len()).ok_or_else(bad)?;
            let fields = def.fields.iter().zip(vs).map(|((_, t), v)| const_value(program, t, v, depth));
            Ok(Value::structure(fields.collect::<Run<_>>()?))
        }
        _ => Err(bad()),
    }
}

/// Per struct: some field holds a range. A struct that mentions a later one (which the verifier refuses)
/// counts as ranged.
pub(super) fn ranged_structs(program: &Program) -> Vec<bool> {
    let mut known: Vec<bool> = Vec::new();
    for def in &program.structs {
        let ranged = def.fields.iter().any(|(_, t)| has_ranges(t, &known));
        known.push(ranged);
    }
    known
}

/// Whether a type might hold no scalar: it has a run-time or zero length, or is a struct (not looked into).
fn maybe_vacuous(ty: &Ty) -> bool {
    match ty {
        Ty::Word(_) | Ty::Int(_) | Ty::Bool => false,
        Ty::Struct(_) => true,
        Ty::Array { elem, len, .. } => !matches!(len, Len::Const(1..)) || maybe_vacuous(elem),
    }
}

/// Whether values of this type are bounded by some declared range.
pub(super) fn has_ranges(ty: &Ty, structs: &[bool]) -> bool {
    match ty {
        Ty::Int(range) => range.is_some(),
        Ty::Array { elem, ranges, .. } => ranges.is_some() || has_ranges(elem, structs),
        Ty::Struct(id) => structs.get(id.0 as usize).copied().unwrap_or(true),
        Ty::Word(_) | Ty::Bool => false,
    }
}
