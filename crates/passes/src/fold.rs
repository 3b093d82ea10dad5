//! Rules for one expression whose operands are simplified already.
//!
//! Needs: nothing.  Keeps: the value for every value of the operands, and the shape of the type.
//! Absent: facts about ranges; a mask that a range makes idle is the back end's to drop.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use santoku_ir::{BinOp, CmpOp, Expr, ExprKind, Ty, UnOp};

/// Exact constants wider than this are left alone.
const CONST_BITS_MAX: u64 = 4096;

/// A simpler expression of the same value, or `None`.
pub fn simplify(e: &Expr) -> Option<Expr> {
    let new = match &e.kind {
        ExprKind::Const(_) | ExprKind::Read(_) | ExprKind::Array(_) | ExprKind::Repeat(_) | ExprKind::Struct(..) => None,
        ExprKind::Un(op, a) => unary(*op, a, &e.ty),
        ExprKind::Bin(op, a, b) => binary(*op, a, b, &e.ty),
        ExprKind::Cmp(op, a, b) => compare(*op, a, b),
        ExprKind::Select(c, a, b) => select(c, a, b),
        ExprKind::Cast(a) => cast(a, &e.ty),
    };
    new.filter(|n| n.ty.same_shape(&e.ty))
}

fn constant(v: BigInt, ty: &Ty) -> Option<Expr> {
    let v = match ty {
        Ty::Word(bits) => v.mod_floor(&(BigInt::one() << bits)),
        Ty::Bool => v.mod_floor(&BigInt::from(2)),
        Ty::Int(_) if v.bits() <= CONST_BITS_MAX => v,
        Ty::Int(_) | Ty::Array { .. } | Ty::Struct(_) => return None,
    };
    let ty = if matches!(ty, Ty::Int(_)) { Ty::Int(None) } else { ty.clone() };
    Some(Expr::new(ExprKind::Const(v), ty))
}

fn bits(ty: &Ty) -> Option<u32> {
    match ty {
        Ty::Word(n) => Some(*n),
        Ty::Int(_) | Ty::Bool | Ty::Array { .. } | Ty::Struct(_) => None,
    }
}

fn all_ones(ty: &Ty) -> Option<BigInt> {
    match ty {
        Ty::Word(n) => Some((BigInt::one() << n) - 1),
        Ty::Bool => Some(BigInt::one()),
        Ty::Int(_) | Ty::Array { .. } | Ty::Struct(_) => None,
    }
}

fn unary(op: UnOp, a: &Expr, ty: &Ty) -> Option<Expr> {
    if let Some(v) = a.as_const() {
        return match op {
            UnOp::Neg => constant(-v, ty),
            UnOp::Not => constant(all_ones(ty)? - v, ty),
        };
    }
    match &a.kind {
        ExprKind::Un(inner, x) if *inner == op => Some((**x).clone()),
        ExprKind::Cmp(cmp, x, y) if op == UnOp::Not => Some(Expr::cmp(opposite(*cmp), (**x).clone(), (**y).clone())),
        _ => None,
    }
}

fn opposite(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Eq => CmpOp::Ne,
        CmpOp::Ne => CmpOp::Eq,
        CmpOp::Lt => CmpOp::Ge,
        CmpOp::Ge => CmpOp::Lt,
        CmpOp::Gt => CmpOp::Le,
        CmpOp::Le => CmpOp::Gt,
    }
}

fn binary(op: BinOp, a: &Expr, b: &Expr, ty: &Ty) -> Option<Expr> {
    match (a.as_const(), b.as_const()) {
        (Some(x), Some(y)) => constant(evaluate(op, x, y, ty)?, ty),
        (None, Some(y)) => with_constant(op, a, y, ty),
        (Some(x), None) => constant_first(op, x, b, ty),
        (None, None) if a == b => same_operands(op, a, ty),
        (None, None) => None,
    }
}

/// The value of an operation on constants; `None` where it has none or is not worth writing out.
fn evaluate(op: BinOp, x: &BigInt, y: &BigInt, ty: &Ty) -> Option<BigInt> {
    let small = || y.to_u32().filter(|k| u64::from(*k) <= CONST_BITS_MAX);
    let in_word = || small().filter(|k| bits(ty).is_none_or(|n| *k < n));
    Some(match op {
        BinOp::Add => x + y,
        BinOp::Sub => x - y,
        BinOp::Mul => x * y,
        BinOp::Div if y.is_positive() => x.div_floor(y),
        BinOp::Mod if y.is_positive() => x.mod_floor(y),
        BinOp::Div | BinOp::Mod => return None,
        BinOp::And if matches!(ty, Ty::Int(_)) => x.mod_floor(&(y + 1u32)),
        BinOp::And => x & y,
        BinOp::Or => x | y,
        BinOp::Xor => x ^ y,
        BinOp::Shl => x << in_word()?,
        BinOp::Shr => x >> in_word()?,
        BinOp::Rotl => rotate(x, in_word()?, bits(ty)?),
        BinOp::Rotr => rotate(x, (bits(ty)? - in_word()?) % bits(ty)?, bits(ty)?),
    })
}

fn rotate(x: &BigInt, k: u32, bits: u32) -> BigInt {
    (x << k) | (x >> (bits - k))
}

/// Right operand constant: `x - 0 == x`, `x & 1..1 == x`, `x << 0 == x`, and so on.
fn with_constant(op: BinOp, a: &Expr, y: &BigInt, ty: &Ty) -> Option<Expr> {
    let same = || Some(a.clone());
    match op {
        BinOp::Add | BinOp::Sub if y.is_zero() => same(),
        BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr if y.is_zero() => same(),
        BinOp::Mul | BinOp::Div if y.is_one() => same(),
        BinOp::Mul | BinOp::And if y.is_zero() => constant(BigInt::zero(), ty),
        BinOp::Mod if y.is_one() => constant(BigInt::zero(), ty),
        BinOp::And if all_ones(ty).as_ref() == Some(y) => same(),
        BinOp::Or if all_ones(ty).as_ref() == Some(y) => constant(y.clone(), ty),
        BinOp::Xor if all_ones(ty).as_ref() == Some(y) && matches!(ty, Ty::Bool) => Some(!a.clone()),
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::And | BinOp::Shl | BinOp::Shr => chain(op, a, y, ty),
        BinOp::Div | BinOp::Mod | BinOp::Or | BinOp::Xor | BinOp::Rotl | BinOp::Rotr => None,
    }
}

/// `(x op c) op y` with both constants joined: sums, products, masks and shifts one way.
fn chain(op: BinOp, a: &Expr, y: &BigInt, ty: &Ty) -> Option<Expr> {
    let ExprKind::Bin(inner, x, c) = &a.kind else { return None };
    let c = c.as_const()?;
    let joined = |op: BinOp, v: BigInt| Some(Expr::bin(op, (**x).clone(), constant(v, ty)?));
    match (*inner, op) {
        (BinOp::Add, BinOp::Add) => joined(BinOp::Add, c + y),
        (BinOp::Add, BinOp::Sub) => joined(BinOp::Add, c - y),
        (BinOp::Sub, BinOp::Sub) => joined(BinOp::Sub, c + y),
        (BinOp::Sub, BinOp::Add) => joined(BinOp::Add, y - c),
        (BinOp::Mul, BinOp::Mul) => joined(BinOp::Mul, c * y),
        // Masks of an int are `2^k - 1`, so the narrower one is the conjunction as well.
        (BinOp::And, BinOp::And) => joined(BinOp::And, c & y),
        (BinOp::Shl, BinOp::Shl) | (BinOp::Shr, BinOp::Shr) => {
            let count: BigInt = c + y;
            let fits = bits(ty).is_none_or(|n| count < BigInt::from(n)) && count.bits() < 16;
            fits.then(|| Expr::bin(op, (**x).clone(), Expr::int(count)))
        }
        _ => None,
    }
}

/// Left operand constant.
fn constant_first(op: BinOp, x: &BigInt, b: &Expr, ty: &Ty) -> Option<Expr> {
    match op {
        BinOp::Add | BinOp::Or | BinOp::Xor if x.is_zero() => Some(b.clone()),
        BinOp::Mul if x.is_one() => Some(b.clone()),
        BinOp::Mul if x.is_zero() => constant(BigInt::zero(), ty),
        BinOp::And if x.is_zero() && !matches!(ty, Ty::Int(_)) => constant(BigInt::zero(), ty),
        BinOp::And if all_ones(ty).as_ref() == Some(x) => Some(b.clone()),
        BinOp::Sub if x.is_zero() => Some(-b.clone()),
        BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr if x.is_zero() => constant(BigInt::zero(), ty),
        _ => None,
    }
}

fn same_operands(op: BinOp, a: &Expr, ty: &Ty) -> Option<Expr> {
    match op {
        BinOp::Sub | BinOp::Xor => constant(BigInt::zero(), ty),
        BinOp::And | BinOp::Or if !matches!(ty, Ty::Int(_)) => Some(a.clone()),
        _ => None,
    }
}

fn compare(op: CmpOp, a: &Expr, b: &Expr) -> Option<Expr> {
    let order = match (a.as_const(), b.as_const()) {
        (Some(x), Some(y)) => x.cmp(y),
        _ if a == b => std::cmp::Ordering::Equal,
        _ => return None,
    };
    let holds = match op {
        CmpOp::Eq => order.is_eq(),
        CmpOp::Ne => order.is_ne(),
        CmpOp::Lt => order.is_lt(),
        CmpOp::Le => order.is_le(),
        CmpOp::Gt => order.is_gt(),
        CmpOp::Ge => order.is_ge(),
    };
    Some(Expr::bool(holds))
}

fn select(c: &Expr, a: &Expr, b: &Expr) -> Option<Expr> {
    if let Some(v) = c.as_const() {
        return Some(if v.is_zero() { b.clone() } else { a.clone() });
    }
    if a == b {
        return Some(a.clone());
    }
    match &c.kind {
        ExprKind::Un(UnOp::Not, d) => Some(Expr::select((**d).clone(), b.clone(), a.clone())),
        _ => None,
    }
}

fn cast(a: &Expr, ty: &Ty) -> Option<Expr> {
    if a.ty.same_shape(ty) {
        return Some(a.clone());
    }
    if let Some(v) = a.as_const() {
        return constant(v.clone(), ty);
    }
    let ExprKind::Cast(x) = &a.kind else { return None };
    let again = || Some(Expr::new(ExprKind::Cast(x.clone()), ty.clone()));
    match (&x.ty, &a.ty, ty) {
        // Through a wider word or an exact integer nothing is lost.
        (Ty::Word(n), Ty::Word(m), Ty::Word(_) | Ty::Int(_)) if n <= m => again(),
        (Ty::Word(_) | Ty::Bool, Ty::Int(_), Ty::Word(_)) => again(),
        (Ty::Bool, Ty::Word(_), Ty::Word(_) | Ty::Int(_)) => again(),
        // A later cut to fewer bits makes an earlier one idle.
        (Ty::Word(_) | Ty::Int(_), Ty::Word(m), Ty::Word(k)) if k <= m => again(),
        _ => None,
    }
}
