//! The type an expression has when nothing is written: what its parts say, without ranges.
//!
//! Printer and parser share this one function, so leaving a type out loses nothing.

use crate::data::{Expr, ExprKind};
use crate::ty::Ty;
use crate::typing::{without_ranges, Scope};

/// `None`: the text must say the type.
pub(super) fn natural_ty(kind: &ExprKind, scope: Scope<'_>) -> Option<Ty> {
    let of = |e: &Expr| Some(without_ranges(&e.ty));
    match kind {
        ExprKind::Const(_) | ExprKind::Cast(_) | ExprKind::Repeat(_) => None,
        ExprKind::Read(place) => scope.place_ty(place).map(|t| without_ranges(&t)),
        ExprKind::Un(_, a) | ExprKind::Bin(_, a, _) | ExprKind::Select(_, a, _) => of(a),
        ExprKind::Cmp(..) => Some(Ty::Bool),
        ExprKind::Array(es) => es.first().map(|e| Ty::array(without_ranges(&e.ty), es.len() as u64)),
        ExprKind::Struct(id, _) => Some(Ty::Struct(*id)),
    }
}
