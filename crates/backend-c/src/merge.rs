//! A variable whose last use is to become a result, and the result: one object in C where both have the same type there.
//!
//! `copy-free` leaves such a copy alone where the variable may hold more than the result is declared for: the narrower range would be wrong of
//! what is between. In C the type counts, not the range.
//!
//! Needs: a settled function.  Keeps: what the function gives; the core program is as it was, so that ranges are those of the variable.

use crate::alias::touches;
use crate::ctype::{narrowest, CInt};
use santoku_ir::visit::rename_locals;
use santoku_ir::{Base, ExprKind, Func, Len, LocalId, LocalKind, Place, Range, Stmt, Ty};

/// The variable, and the result that it becomes.
pub fn merged(f: &Func) -> Option<(LocalId, LocalId)> {
    let (Stmt::Assign { dst, src, .. }, before) = f.body.split_last()? else { return None };
    let (ret, ExprKind::Read(from)) = (whole(dst)?, &src.kind) else { return None };
    let var = whole(from)?;
    let kinds = (f.local(var).kind, f.local(ret).kind) == (LocalKind::Var, LocalKind::Ret);
    let (of_var, of_ret) = (storage(&f.local(var).ty)?, storage(&f.local(ret).ty)?);
    let alike = (of_var.0, of_var.1) == (of_ret.0, of_ret.1);
    // What fits the result all the way is a matter of `copy-free`.
    (kinds && alike && !of_ret.2.contains(of_var.2) && !touches(before, ret)).then_some((var, ret))
}

/// The function with the result in the place of the variable: what is shared with what is seen here. Ranges are not right in it.
pub fn in_one(f: &Func, (var, ret): (LocalId, LocalId)) -> Func {
    let mut out = f.clone();
    out.body.pop();
    rename_locals(&mut out.body, &|id| if id == var { ret } else { id });
    out
}

fn whole(p: &Place) -> Option<LocalId> {
    match p.base {
        Base::Local(id) if p.projs.is_empty() => Some(id),
        _ => None,
    }
}

/// Elements of a flat array of exact integers, how C stores them, and their range.
fn storage(ty: &Ty) -> Option<(u64, CInt, &Range)> {
    let Ty::Array { elem, len: Len::Const(n), .. } = ty else { return None };
    let Ty::Int(Some(r)) = &**elem else { return None };
    Some((*n, narrowest(r, 8)?, r))
}
