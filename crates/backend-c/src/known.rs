//! What the text of an expression and its proven ranges tell before anything is printed.

use crate::ctype::pow2;
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use santoku_ir::{CmpOp, Expr, ExprKind, Range, Ty};

/// The values a scalar may have; none for an aggregate, or an integer that carries no range.
pub fn scalar_range(e: &Expr) -> Option<Range> {
    match (&e.kind, &e.ty) {
        (ExprKind::Const(v), _) => Some(Range::new(v.clone(), v.clone())),
        (_, Ty::Int(range)) => range.clone(),
        (_, Ty::Word(b)) => Some(Range::word(*b)),
        (_, Ty::Bool) => Some(Range::new(0, 1)),
        (_, Ty::Array { .. } | Ty::Struct(_)) => None,
    }
}

/// The outcome of a comparison that the ranges alone decide.
pub fn decided(op: CmpOp, a: &Range, b: &Range) -> Option<bool> {
    let (below, above) = (a.hi < b.lo, a.lo > b.hi);
    let same = a.lo == a.hi && a == b;
    match op {
        CmpOp::Eq => (below || above).then_some(false).or(same.then_some(true)),
        CmpOp::Ne => (below || above).then_some(true).or(same.then_some(false)),
        CmpOp::Lt => below.then_some(true).or((a.lo >= b.hi).then_some(false)),
        CmpOp::Le => (a.hi <= b.lo).then_some(true).or(above.then_some(false)),
        CmpOp::Gt => above.then_some(true).or((a.hi <= b.lo).then_some(false)),
        CmpOp::Ge => (a.lo >= b.hi).then_some(true).or(below.then_some(false)),
    }
}

/// A constant shift count.
pub fn const_count(b: &Expr) -> Option<u32> {
    match (&b.kind, &b.ty) {
        (ExprKind::Const(v), _) => v.to_u32(),
        (_, Ty::Int(Some(r))) => r.single()?.to_u64()?.try_into().ok(),
        _ => None,
    }
}

/// Zero test used by emitters of literals.
pub fn is_zero_const(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Const(v) if v.is_zero())
}

/// `k` if `v = 2^k - 1`.
pub fn mask_bits(v: &BigInt) -> Option<u32> {
    let n: BigInt = v + 1;
    let k = n.trailing_zeros()? as u32;
    (n == pow2(k)).then_some(k)
}
