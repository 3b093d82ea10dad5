//! Constants that depend on a loop counter: `2^(16*i)`, `(M >> (64*j)) & mask`.
//!
//! The core shifts exact integers by constants only. Where the counter's bounds are constants and everything else
//! is one too, the expression is evaluated for every value of the counter and read from a table of constants.

use crate::entities::Entity;
use crate::names::Item;
use crate::values::{const_ty, CVal, Generic};
use super::context::{bare, FnCx, One};
use num_bigint::BigInt;
use santoku_ir::{Expr, LocalId, Place, Ty};
use santoku_syntax::ast::{self, BinOp, ExprKind};

/// Longest loop for which a table is made.
const ROWS: u64 = 4096;

/// What an expression consists of.
#[derive(Default)]
struct Parts {
    counter: Option<(LocalId, String)>,
    /// A power, or a shift of a constant, by something with the counter in it.
    needed: bool,
    /// Something that is neither constant nor the one counter.
    other: bool,
}

impl FnCx<'_, '_> {
    /// Whether the expression must and can be tabulated.
    pub fn counted(&mut self, e: &ast::Expr) -> bool {
        if self.counters.is_empty() {
            return false;
        }
        let mut parts = Parts::default();
        self.inspect(e, &mut parts);
        parts.needed && !parts.other && parts.counter.is_some()
    }

    fn inspect(&mut self, e: &ast::Expr, parts: &mut Parts) {
        match &bare(e).kind {
            ExprKind::Int(_) => {}
            ExprKind::Name(path) => self.inspect_name(path, parts),
            ExprKind::Power { exp, .. } => {
                parts.needed |= self.has_counter(exp);
                self.inspect(exp, parts);
            }
            ExprKind::Un { op: ast::UnOp::Neg, arg } => self.inspect(arg, parts),
            ExprKind::Bin { op, lhs, rhs } => {
                parts.needed |= matches!(op, BinOp::Shl | BinOp::Shr) && self.has_counter(rhs);
                parts.other |= op_gives_bool(*op);
                self.inspect(lhs, parts);
                self.inspect(rhs, parts);
            }
            ExprKind::Index { base, index } => {
                self.inspect(base, parts);
                self.inspect(index, parts);
            }
            ExprKind::Call { callee, args, .. } if self.is_const_function(callee) => {
                parts.needed |= args.iter().any(|a| self.has_counter(a));
                args.iter().for_each(|a| self.inspect(a, parts));
            }
            _ => parts.other = true,
        }
    }

    fn is_const_function(&mut self, callee: &ast::Path) -> bool {
        let entity = self.cx.resolve(self.env.module, callee);
        matches!(entity, Ok(Entity { item: Item::ConstFn(_), .. }))
    }

    fn inspect_name(&mut self, path: &ast::Path, parts: &mut Parts) {
        let name = &path.name.name;
        if path.module.is_none() {
            if let Some(variable) = self.variable(name) {
                let super::context::Binding::Local(id) = variable.binding else { return parts.other = true };
                let step = self.steps.get(&id).map_or(1.into(), |s| s.0.clone());
                let short = |(lo, hi): &(BigInt, BigInt)| super::step::rounds(&(hi - lo), &step) <= ROWS.into() && hi > lo;
                if !self.counters.get(&id).is_some_and(short) || parts.counter.as_ref().is_some_and(|c| c.0 != id) {
                    return parts.other = true;
                }
                parts.counter = Some((id, name.clone()));
                return;
            }
            match self.env.generics.get(name) {
                Some(Generic::Const(_)) => return,
                Some(_) => return parts.other = true,
                None => {}
            }
        }
        // Words are shifted by counters directly.
        let integer = match self.cx.resolve(self.env.module, path) {
            Ok(entity @ Entity { item: Item::Const(_), .. }) => {
                self.cx.world.constant(entity).is_some_and(|(_, ty, _)| ty.is_none_or(|t| !of_words(t)))
            }
            Ok(entity) => self.cx.world.is_constant(entity),
            Err(_) => false,
        };
        parts.other |= !integer;
    }

    /// Whether an expression is known at compile time. `bound`: its own comprehension variables.
    pub fn is_constant(&mut self, e: &ast::Expr, bound: &mut Vec<String>) -> bool {
        match &bare(e).kind {
            ExprKind::Int(_) | ExprKind::Bool(_) => true,
            ExprKind::Name(path) => self.constant_name(path, bound),
            ExprKind::Power { exp: a, .. } | ExprKind::Un { arg: a, .. } | ExprKind::Convert { arg: a, .. } => {
                self.is_constant(a, bound)
            }
            ExprKind::Bin { lhs: a, rhs: b, .. }
            | ExprKind::Index { base: a, index: b }
            | ExprKind::Repeat { elem: a, len: b } => self.is_constant(a, bound) && self.is_constant(b, bound),
            ExprKind::Array(parts) => parts.iter().all(|p| self.is_constant(p, bound)),
            ExprKind::Call { callee, args, .. } => {
                self.is_const_function(callee) && args.iter().all(|a| self.is_constant(a, bound))
            }
            ExprKind::If { cond, then, els } => {
                self.is_constant(cond, bound) && [then, els].into_iter().all(|b| self.constant_block(b, bound))
            }
            ExprKind::Comprehension { var, lo, hi, elem, .. } => {
                let bounds = self.is_constant(lo, bound) && self.is_constant(hi, bound);
                bound.push(var.name.clone());
                let all = bounds && self.is_constant(elem, bound);
                bound.pop();
                all
            }
            _ => false,
        }
    }

    fn constant_block(&mut self, b: &ast::Block, bound: &mut Vec<String>) -> bool {
        b.stmts.is_empty() && b.result.as_ref().is_some_and(|r| self.is_constant(r, bound))
    }

    fn constant_name(&mut self, path: &ast::Path, bound: &[String]) -> bool {
        let name = &path.name.name;
        if path.module.is_none() {
            if bound.contains(name) {
                return true;
            }
            if self.variable(name).is_some() {
                return false;
            }
            if let Some(generic) = self.env.generics.get(name) {
                return matches!(generic, Generic::Const(_));
            }
        }
        let entity = self.cx.resolve(self.env.module, path);
        entity.is_ok_and(|e| self.cx.world.is_constant(e))
    }

    /// The value of an expression for which [`Self::is_constant`] holds.
    pub fn constant_value(&mut self, e: &ast::Expr, hint: Option<&Ty>) -> Option<One> {
        let mut env = self.env.clone();
        let v = self.cx.const_expr(&mut env, e)?;
        let v = match hint {
            Some(ty) => self.cx.coerce(v, ty, e.span)?,
            None => v,
        };
        Some(self.const_one(&v, e.span))
    }

    fn has_counter(&mut self, e: &ast::Expr) -> bool {
        let mut parts = Parts::default();
        self.inspect(e, &mut parts);
        parts.counter.is_some()
    }

    /// The element of the table for the current value of the counter.
    pub fn counter_table(&mut self, e: &ast::Expr, hint: Option<&Ty>) -> Option<One> {
        let mut parts = Parts::default();
        self.inspect(e, &mut parts);
        let (id, name) = parts.counter?;
        let (lo, hi) = self.counters.get(&id)?.clone();
        let stepped = self.steps.get(&id).cloned();
        let step = stepped.as_ref().map_or(1.into(), |s| s.0.clone());
        let mut env = self.env.clone();
        let mut rows = Vec::new();
        let mut i = lo.clone();
        while i < hi {
            env.vars.push((name.clone(), CVal::Int(i.clone())));
            let v = self.cx.const_expr(&mut env, e);
            env.vars.pop();
            rows.push(match hint {
                Some(word @ Ty::Word(_)) => self.cx.coerce(v?, word, e.span)?,
                _ => v?,
            });
            i += &step;
        }
        let table = CVal::Array(rows);
        let Ty::Array { elem, .. } = const_ty(&table) else { return None };
        let whole = self.const_one(&table, e.span);
        let place: Place = whole.expr.as_read()?.clone();
        let index = match stepped {
            Some((_, round)) => self.read_local(round).expr,
            None if lo == BigInt::ZERO => self.read_local(id).expr,
            None => self.read_local(id).expr - Expr::int(lo),
        };
        Some(One::new(Expr::read(place.index(index), &elem), *elem))
    }
}

fn of_words(t: &ast::Type) -> bool {
    match &t.kind {
        ast::TypeKind::Word(_) => true,
        ast::TypeKind::Array { elem, .. } => of_words(elem),
        _ => false,
    }
}

fn op_gives_bool(op: BinOp) -> bool {
    matches!(
        op,
        BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::And | BinOp::Or | BinOp::Implies
    )
}
