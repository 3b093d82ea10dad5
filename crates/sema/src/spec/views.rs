//! Slices of run-time length in specifications: as arguments, under an index, in `len`, on a side of `==`.
//!
//! What is given to a `spec fn` is an array, the index of the first element and a length; the function is lowered once
//! more for that. Trusted: text.

use crate::names::Item;
use crate::values::Generic;
use super::scope::{length, plus, spec_of, Scope, SpecVal, View};
use santoku_ir::{CmpOp, SpecExpr};
use santoku_syntax::ast::{Expr, ExprKind, Path};

/// A slice that code speaks of.
pub fn view_of(base: &santoku_ir::Place, at: &santoku_ir::Expr, len: &santoku_ir::Len, elem: &santoku_ir::Ty) -> SpecVal {
    let at = match at.as_const() {
        Some(v) => SpecExpr::Int(v.clone()),
        // An offset that is not constant is held in a variable.
        None => at.as_read().map_or(SpecExpr::Int(0.into()), |p| SpecExpr::Place(p.clone())),
    };
    SpecVal::View(Box::new(View { base: SpecExpr::Place(base.clone()), elem: spec_of(elem), at, len: length(len) }))
}

/// `at <= length of the array - number of elements`
pub fn lies_inside(at: santoku_ir::LocalId, len: &santoku_ir::Len, total: &santoku_ir::Len) -> SpecExpr {
    let at = SpecExpr::Place(santoku_ir::Place::local(at));
    SpecExpr::Cmp(CmpOp::Le, Box::new(plus(at, length(len))), Box::new(length(total)))
}

impl Scope<'_, '_> {
    /// The slice of run-time length that an expression is, if it is one.
    pub(super) fn view(&mut self, e: &Expr) -> Option<Option<View>> {
        match &e.kind {
            ExprKind::Paren(inner) => self.view(inner),
            ExprKind::Name(path) if path.module.is_none() && self.vars.iter().all(|v| v.0 != path.name.name) => {
                Some(match self.places.get(&path.name.name) {
                    Some(SpecVal::View(view)) => Some((**view).clone()),
                    _ => None,
                })
            }
            ExprKind::Slice { base, off, len } if !self.is_constant(len) => {
                let of = self.whole(base)?;
                let (start, len) = (self.int(off)?, self.int(len)?);
                Some(Some(View { at: plus(of.at, start), len, ..of }))
            }
            _ => Some(None),
        }
    }

    /// An array as the view of all its elements; a view as it is.
    pub(super) fn whole(&mut self, e: &Expr) -> Option<View> {
        if let Some(view) = self.view(e)? {
            return Some(view);
        }
        let (base, elem) = self.array(e)?;
        let len = SpecExpr::Len(Box::new(base.clone()));
        Some(View { base, elem, at: SpecExpr::Int(0.into()), len })
    }

    fn is_constant(&mut self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Int(_) => true,
            ExprKind::Paren(a) | ExprKind::Un { arg: a, .. } | ExprKind::Power { exp: a, .. } => self.is_constant(a),
            ExprKind::Bin { lhs, rhs, .. } => self.is_constant(lhs) && self.is_constant(rhs),
            ExprKind::Call { callee, args, .. } => {
                let item = self.cx.resolve(self.module, callee).map(|entity| entity.item);
                matches!(item, Ok(Item::ConstFn(_))) && args.iter().all(|a| self.is_constant(a))
            }
            ExprKind::Name(path) => self.names_constant(path),
            _ => false,
        }
    }

    fn names_constant(&mut self, path: &Path) -> bool {
        if path.module.is_none() {
            let name = &path.name.name;
            if self.vars.iter().any(|(n, _)| n == name) || self.places.contains_key(name) {
                return false;
            }
            if let Some(generic) = self.generics.get(name) {
                return matches!(generic, Generic::Const(_));
            }
        }
        self.cx.resolve(self.module, path).is_ok_and(|e| self.cx.world.is_constant(e))
    }

    /// `a == b` where one of them is a slice of run-time length: as long, and equal everywhere.
    pub(super) fn alike(&mut self, lhs: &Expr, rhs: &Expr) -> Option<Option<SpecExpr>> {
        let (a, b) = (self.view(lhs)?, self.view(rhs)?);
        let (a, b) = match (a, b) {
            (None, None) => return Some(None),
            (a, b) => (
                match a {
                    Some(a) => a,
                    None => self.whole(lhs)?,
                },
                match b {
                    Some(b) => b,
                    None => self.whole(rhs)?,
                },
            ),
        };
        if a.elem.bare() != b.elem.bare() {
            return self.cx.spec_mismatch(&a.elem, &b.elem, lhs.span);
        }
        let slot = self.vars.len() as u32;
        let i = || SpecExpr::Var(slot);
        let same = SpecExpr::Cmp(CmpOp::Eq, Box::new(a.element(i())), Box::new(b.element(i())));
        let all = SpecExpr::Forall { slot, lo: Box::new(SpecExpr::Int(0.into())), hi: Box::new(a.len.clone()), body: Box::new(same) };
        let lengths = SpecExpr::Cmp(CmpOp::Eq, Box::new(a.len), Box::new(b.len));
        Some(Some(SpecExpr::And(Box::new(lengths), Box::new(all))))
    }
}
