//! Functions that apply one function to every element of an array: [`Applies::Each`].
//! Trusted: text.

use crate::data::{Applies, Func, FuncId, Program, Stmt};
use crate::expr::{Base, ExprKind, Place, Proj};
use crate::ty::{Len, LocalId, Ty};
use num_traits::Zero;

/// What is applied to each of so many elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Each {
    pub func: FuncId,
    pub count: u64,
}

/// Parameter, result and number of elements of a function from an array of arrays to one of the same type.
pub fn array(func: &Func) -> Option<(LocalId, LocalId, u64)> {
    let ([x], [y], true) = (func.params.as_slice(), func.rets.as_slice(), func.lens.is_empty()) else { return None };
    let (a, b) = (func.locals.get(x.0 as usize)?, func.locals.get(y.0 as usize)?);
    match &a.ty {
        Ty::Array { elem, len: Len::Const(n), .. } if matches!(**elem, Ty::Array { .. }) && a.ty.same_shape(&b.ty) => Some((*x, *y, *n)),
        _ => None,
    }
}

/// What a function applies to each element, as its body says it: a loop over all of them, and in it one call. `None` where it is not said to,
/// and where the body says it in another way.
pub fn of(program: &Program, func: &Func) -> Option<Each> {
    if func.applies != Some(Applies::Each) {
        return None;
    }
    let (x, y, count) = array(func)?;
    let [Stmt::For { var, lo, hi, body, .. }] = func.body.as_slice() else { return None };
    let [Stmt::Call { dsts, func: callee, lens, args, .. }] = body.as_slice() else { return None };
    let all = lo.as_const()?.is_zero() && *hi.as_const()? == count.into();
    let at = |p: &Place, of: LocalId| {
        let [Proj::Index(i)] = p.projs.as_slice() else { return false };
        p.base == Base::Local(of) && matches!(&i.kind, ExprKind::Read(c) if *c == Place::local(*var))
    };
    let ([dst], [arg], true) = (dsts.as_slice(), args.as_slice(), lens.is_empty()) else { return None };
    let ExprKind::Read(arg) = &arg.kind else { return None };
    (all && at(dst, y) && at(arg, x) && (callee.0 as usize) < program.funcs.len()).then_some(Each { func: *callee, count })
}
