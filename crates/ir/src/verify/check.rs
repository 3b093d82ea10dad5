//! What the checks of one function share.

use super::found::{Undecided, VerifyError};
use crate::data::*;
use crate::limits::{EXPR_DEPTH, TYPE_DEPTH};
use crate::ty::{Len, LocalId, Ty};
use crate::typing::Scope;
use crate::visit;
use std::collections::BTreeSet;

/// The checks of one function.
pub(super) struct FuncCheck<'p> {
    pub(super) program: &'p Program,
    /// Position in the program: callees have smaller ones.
    pub(super) at: usize,
    pub(super) func: &'p Func,
    pub(super) scope: Scope<'p>,
    /// Locals that some statement writes.
    pub(super) written: BTreeSet<LocalId>,
    /// Where errors are being found.
    pub(super) loc: Loc,
    pub(super) errors: Vec<VerifyError>,
    pub(super) undecided: Vec<Undecided>,
}

impl<'p> FuncCheck<'p> {
    pub(super) fn new(program: &'p Program, at: usize, func: &'p Func) -> FuncCheck<'p> {
        let scope = Scope::of(program, func);
        let (written, loc) = (BTreeSet::new(), func.loc);
        FuncCheck { program, at, func, scope, written, loc, errors: Vec::new(), undecided: Vec::new() }
    }

    pub(super) fn error(&mut self, code: &'static str, message: impl Into<String>) {
        let func = self.func.name.clone();
        self.errors.push(VerifyError { func, loc: self.loc, code, message: message.into() });
    }

    /// Name of a local, for messages.
    pub(super) fn name(&self, id: LocalId) -> &'p str {
        self.func.locals.get(id.0 as usize).map_or("?", |l| &l.name)
    }

    pub(super) fn kind(&self, id: LocalId) -> Option<LocalKind> {
        self.func.locals.get(id.0 as usize).map(|l| l.kind)
    }
}

/// Whether all expressions, given with the depth they start at, stay within the limit. No recursion.
pub(super) fn exprs_within(mut work: Vec<(&Expr, usize)>) -> bool {
    while let Some((e, depth)) = work.pop() {
        if depth > EXPR_DEPTH || !ty_within(&e.ty) {
            return false;
        }
        visit::children(e, &mut |c| work.push((c, depth + 1)));
    }
    true
}

pub(super) fn ty_within(mut ty: &Ty) -> bool {
    for _ in 0..TYPE_DEPTH {
        match ty {
            Ty::Array { elem, .. } => ty = elem,
            Ty::Word(_) | Ty::Int(_) | Ty::Bool | Ty::Struct(_) => return true,
        }
    }
    false
}

/// An expression `local + constant`, or a constant (`None`), of integers.
pub(super) fn affine(e: &Expr) -> Option<(Option<LocalId>, i64)> {
    use num_traits::ToPrimitive;
    match &e.kind {
        ExprKind::Const(v) => Some((None, v.to_i64()?)),
        ExprKind::Read(Place { base: Base::Local(id), projs }) if projs.is_empty() => Some((Some(*id), 0)),
        ExprKind::Bin(BinOp::Add, a, b) => match (affine(a)?, affine(b)?) {
            ((x, c), (None, d)) | ((None, c), (x, d)) => Some((x, c.checked_add(d)?)),
            _ => None,
        },
        ExprKind::Bin(BinOp::Sub, a, b) => match (affine(a)?, affine(b)?) {
            ((x, c), (None, d)) => Some((x, c.checked_sub(d)?)),
            _ => None,
        },
        _ => None,
    }
}

/// `affine` as an array length of the function whose lengths are `lens`.
pub(super) fn affine_len(e: &Expr, lens: &[LocalId]) -> Option<Len> {
    match affine(e)? {
        (None, c) => Some(Len::Const(u64::try_from(c).ok()?)),
        (Some(param), add) if lens.contains(&param) => Some(Len::Param { param, add }),
        (Some(_), _) => None,
    }
}
