//! Types: declarations are possible, every expression has the type it says.

use super::check::FuncCheck;
use crate::data::*;
use crate::limits::TYPE_DEPTH;
use crate::ty::{Len, LocalId, Range, StructDef, Ty};
use crate::typing::scalar_range;
use crate::visit;
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};

pub(super) type Judged = Result<(), (&'static str, String)>;

fn bad(code: &'static str, message: impl Into<String>) -> Judged {
    Err((code, message.into()))
}

/// A declared type: `structs` are those it may mention, `lens` the lengths it may mention.
pub(super) fn declared(ty: &Ty, structs: &[StructDef], lens: &[LocalId]) -> Judged {
    let mut ty = ty;
    for _ in 0..TYPE_DEPTH {
        match ty {
            Ty::Word(bits) if !(1..=128).contains(bits) => return bad("type", format!("words of {bits} bits")),
            Ty::Word(_) | Ty::Bool | Ty::Int(None) => return Ok(()),
            Ty::Int(Some(range)) => return not_empty(range),
            Ty::Struct(id) if (id.0 as usize) < structs.len() => return Ok(()),
            Ty::Struct(_) => return bad("order", "mentions a struct that is not declared before it"),
            Ty::Array { elem, len, ranges } => {
                if let Len::Param { param, .. } = len {
                    if !lens.contains(param) {
                        return bad("length", "an array length is not a length parameter");
                    }
                }
                if let Some(ranges) = ranges {
                    element_ranges(elem, len, ranges)?;
                }
                ty = elem;
            }
        }
    }
    bad("nesting", format!("a type nests more than {TYPE_DEPTH} deep"))
}

fn not_empty(range: &Range) -> Judged {
    if range.lo > range.hi {
        return bad("range", format!("range {}..{} is empty", range.lo, range.hi));
    }
    Ok(())
}

/// One range per element of a constant-length array of `Int`, whose own range is their join (or is absent, or any where there are
/// no elements).
fn element_ranges(elem: &Ty, len: &Len, ranges: &[Range]) -> Judged {
    ranges.iter().try_for_each(not_empty)?;
    let Ty::Int(own) = elem else { return bad("range", "element ranges on elements that are not Int") };
    if *len != Len::Const(ranges.len() as u64) {
        return bad("range", "not one range per element");
    }
    let join = ranges.iter().cloned().reduce(|a, b| a.join(&b));
    if own.is_some() && join.is_some() && *own != join {
        return bad("range", "the element's range is not the join of the element ranges");
    }
    Ok(())
}

/// A constant's value against its (already checked) type.
pub(super) fn const_fits(program: &Program, ty: &Ty, value: &ConstValue) -> Judged {
    match (ty, value) {
        (Ty::Array { elem, len, ranges }, ConstValue::Array(vs)) => {
            if *len != Len::Const(vs.len() as u64) {
                return bad("arity", format!("{} elements for a type of another length", vs.len()));
            }
            vs.iter().try_for_each(|v| const_fits(program, elem, v))?;
            let mut each = ranges.iter().flatten().zip(vs);
            each.try_for_each(|(r, v)| const_fits(program, &Ty::Int(Some(r.clone())), v))
        }
        (Ty::Struct(id), ConstValue::Struct(vs)) => {
            let def = &program.structs[id.0 as usize];
            if def.fields.len() != vs.len() {
                return bad("arity", format!("{} fields for {}", vs.len(), def.name));
            }
            def.fields.iter().zip(vs).try_for_each(|((_, t), v)| const_fits(program, t, v))
        }
        (Ty::Word(_) | Ty::Int(_) | Ty::Bool, ConstValue::Scalar(v)) => scalar_fits(ty, v),
        _ => bad("constant", "value and type have different shapes"),
    }
}

fn scalar_fits(ty: &Ty, v: &BigInt) -> Judged {
    match scalar_range(ty) {
        Some(range) if !range.holds(v) => bad("constant", format!("{v} is outside {}..{}", range.lo, range.hi)),
        _ => Ok(()),
    }
}

impl FuncCheck<'_> {
    pub(super) fn types(&mut self) {
        let func = self.func;
        visit::walk_stmts(&func.body, &mut |stmt| {
            self.loc = stmt.loc();
            if let Err((code, message)) = self.stmt(stmt) {
                self.error(code, message);
            }
        });
    }

    fn stmt(&self, stmt: &Stmt) -> Judged {
        let mut verdict = Ok(());
        visit::stmt_exprs(stmt, &mut |e| {
            if verdict.is_ok() {
                verdict = self.expr(e);
            }
        });
        verdict?;
        match stmt {
            Stmt::Assign { dst, src, .. } => {
                self.writable(dst)?;
                self.same(&self.place(dst)?, &src.ty, "the assigned value")
            }
            Stmt::Call { dsts, func, lens, args, .. } => self.call(dsts, *func, lens, args),
            Stmt::For { var, lo, hi, invariants, .. } => {
                self.local(*var)?;
                if self.kind(*var) != Some(LocalKind::Counter) {
                    return bad("counter", format!("{} is no loop counter", self.name(*var)));
                }
                self.same(&Ty::int(), &lo.ty, "the lower bound")?;
                self.same(&Ty::int(), &hi.ty, "the upper bound")?;
                invariants.iter().try_for_each(|e| self.same(&Ty::Bool, &e.ty, "an invariant"))
            }
            Stmt::If { cond, .. } | Stmt::Assert { cond, .. } => self.same(&Ty::Bool, &cond.ty, "a condition"),
            Stmt::Ghost { what, .. } => self.ghost(what),
        }
    }

    pub(super) fn local(&self, id: LocalId) -> Judged {
        match self.kind(id) {
            Some(_) => Ok(()),
            None => bad("id", format!("no local {}", id.0)),
        }
    }

    /// A place that statements may write.
    pub(super) fn writable(&self, place: &Place) -> Judged {
        match place.base {
            Base::Const(_) => bad("readonly", "a constant is assigned"),
            Base::Local(id) => {
                self.local(id)?;
                match self.kind(id) {
                    Some(LocalKind::Var | LocalKind::Ret) => Ok(()),
                    Some(LocalKind::Counter) => bad("counter", format!("counter {} is assigned", self.name(id))),
                    _ => bad("readonly", format!("parameter {} is assigned", self.name(id))),
                }
            }
        }
    }

    pub(super) fn same(&self, want: &Ty, have: &Ty, what: &str) -> Judged {
        if want.same_shape(have) {
            return Ok(());
        }
        bad("type", format!("{what} has type {have:?} instead of {want:?}"))
    }

    /// Type of a place whose index expressions have been checked or are checked elsewhere.
    pub(super) fn place(&self, place: &Place) -> Result<Ty, (&'static str, String)> {
        let Some(base) = self.scope.base_ty(place.base) else {
            return Err(("id", "a place has no base".to_string()));
        };
        let mut ty = base.clone();
        for proj in &place.projs {
            if let Proj::Index(e) | Proj::Slice { off: e, .. } = proj {
                self.same(&Ty::int(), &e.ty, "an index")?;
            }
            ty = match self.scope.project(&ty, proj) {
                Some(next) => next,
                None => return Err(("projection", format!("{} does not fit {ty:?}", proj_name(proj)))),
            };
        }
        Ok(ty)
    }

    pub(super) fn expr(&self, e: &Expr) -> Judged {
        let mut verdict = Ok(());
        visit::children(e, &mut |c| {
            if verdict.is_ok() {
                verdict = self.expr(c);
            }
        });
        verdict?;
        declared(&e.ty, &self.program.structs, &self.func.lens)?;
        match &e.kind {
            ExprKind::Const(v) if e.ty.is_scalar() => scalar_fits(&e.ty, v),
            ExprKind::Const(_) => bad("type", "a constant aggregate"),
            ExprKind::Read(place) => self.same(&self.place(place)?, &e.ty, "a read"),
            ExprKind::Un(op, a) => {
                self.same(&e.ty, &a.ty, "an operand")?;
                match (op, &a.ty) {
                    (UnOp::Neg, Ty::Int(_) | Ty::Word(_)) | (UnOp::Not, Ty::Word(_) | Ty::Bool) => Ok(()),
                    _ => bad("type", format!("{op:?} of {:?}", a.ty)),
                }
            }
            ExprKind::Bin(op, a, b) => self.bin(*op, a, b, &e.ty),
            ExprKind::Cmp(op, a, b) => {
                self.same(&Ty::Bool, &e.ty, "a comparison")?;
                self.same(&a.ty, &b.ty, "the right operand")?;
                match (op, &a.ty) {
                    (CmpOp::Eq | CmpOp::Ne, _) | (_, Ty::Int(_) | Ty::Word(_)) => Ok(()),
                    _ => bad("type", format!("{op:?} of {:?}", a.ty)),
                }
            }
            ExprKind::Select(c, a, b) => {
                self.same(&Ty::Bool, &c.ty, "a condition")?;
                self.same(&e.ty, &a.ty, "the first choice")?;
                self.same(&e.ty, &b.ty, "the second choice")
            }
            ExprKind::Cast(a) => match (&a.ty, &e.ty) {
                (Ty::Word(_) | Ty::Bool, Ty::Int(_)) | (Ty::Word(_) | Ty::Bool | Ty::Int(_), Ty::Word(_)) => Ok(()),
                _ => bad("type", format!("no conversion from {:?} to {:?}", a.ty, e.ty)),
            },
            ExprKind::Array(es) => match &e.ty {
                Ty::Array { elem, len: Len::Const(n), .. } => self.parts(es, *n, es.iter().map(|_| &**elem)),
                _ => bad("type", "an array literal of another type"),
            },
            ExprKind::Repeat(a) => match &e.ty {
                Ty::Array { elem, .. } => self.same(elem, &a.ty, "the repeated element"),
                _ => bad("type", "a repetition of another type"),
            },
            ExprKind::Struct(id, es) => {
                self.same(&Ty::Struct(*id), &e.ty, "a struct literal")?;
                let fields = &self.program.structs[id.0 as usize].fields;
                self.parts(es, fields.len() as u64, fields.iter().map(|(_, t)| t))
            }
        }
    }

    fn parts<'t>(&self, es: &[Expr], count: u64, mut want: impl Iterator<Item = &'t Ty>) -> Judged {
        if es.len() as u64 != count {
            return bad("arity", format!("{} elements instead of {count}", es.len()));
        }
        es.iter().try_for_each(|e| want.next().map_or(Ok(()), |t| self.same(t, &e.ty, "an element")))
    }

    fn bin(&self, op: BinOp, a: &Expr, b: &Expr, ty: &Ty) -> Judged {
        self.same(ty, &a.ty, "the left operand")?;
        let shift = matches!(op, BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr);
        let right = if shift { Ty::int() } else { ty.clone() };
        self.same(&right, &b.ty, "the right operand")?;
        match (op, ty) {
            (BinOp::Add | BinOp::Sub | BinOp::Mul, Ty::Int(_) | Ty::Word(_))
            | (BinOp::And | BinOp::Or | BinOp::Xor, Ty::Word(_) | Ty::Bool)
            | (BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr, Ty::Word(_)) => Ok(()),
            (BinOp::Div | BinOp::Mod, Ty::Int(_)) => match b.as_const() {
                Some(v) if v.is_positive() => Ok(()),
                _ => bad("operator", "the divisor is not a positive constant"),
            },
            (BinOp::And, Ty::Int(_)) => match b.as_const() {
                Some(v) if !v.is_negative() && (v & (v + BigInt::one())).is_zero() => Ok(()),
                _ => bad("operator", "the mask of an Int is not a constant 2^k - 1"),
            },
            (BinOp::Shl | BinOp::Shr, Ty::Int(_)) => match b.as_const() {
                Some(v) if !v.is_negative() => Ok(()),
                _ => bad("operator", "the shift count of an Int is not a non-negative constant"),
            },
            _ => bad("type", format!("{op:?} of {ty:?}")),
        }
    }
}

fn proj_name(proj: &Proj) -> String {
    match proj {
        Proj::Field(i) => format!("field {i}"),
        Proj::Index(_) => "an index".to_string(),
        Proj::Slice { len, .. } => format!("a slice of {len}"),
    }
}
