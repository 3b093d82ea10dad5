//! What multiplications a program makes of secrets: a processor without constant-time ones of that width must not run it.
//!
//! Needs: the core with ranges on its integers; [`crate::secrecy`].  Keeps: the width is never too small; an integer without a
//! range counts as 128 bits.  Absent: multiplications that a compiler makes of other operations.
//! Trusted: c.

use crate::secrecy::Taint;
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use santoku_ir::{visit, BinOp, Expr, ExprKind, Func, LocalId, Program, Stmt, Ty};
use santoku_num::Int;
use std::collections::BTreeSet;

/// Bits of the widest product with a secret in it, over all that the exported functions call; `None` where secrets are not
/// multiplied. A product with a power of two is a shift. Without exports every function counts as one.
pub fn widest_secret_product(p: &Program) -> Option<u32> {
    let mut widest = None;
    // Callees stand before their callers.
    let mut secret = secrets_of_callers(p);
    for (k, f) in p.funcs.iter().enumerate().rev() {
        let Some(own) = secret[k].take() else { continue };
        let taint = Taint::from(p, f, own);
        visit::walk_exprs(&f.body, &mut |e| {
            if let ExprKind::Bin(BinOp::Mul, a, b) = &e.kind {
                if !is_shift(a) && !is_shift(b) && (taint.expr(a) || taint.expr(b)) {
                    widest = widest.max([e, &**a, &**b].into_iter().map(bits).max());
                }
            }
        });
        visit::walk_stmts(&f.body, &mut |s| {
            if let Stmt::Call { func, args, .. } = s {
                let params = p.func(*func).params.iter().zip(args).filter(|(_, e)| taint.expr(e)).map(|(p, _)| *p);
                secret[func.0 as usize].get_or_insert_default().extend(params);
            }
        });
    }
    widest
}

/// Parameters that are secret at a call from outside; `None` for functions that are not called from there.
fn secrets_of_callers(p: &Program) -> Vec<Option<BTreeSet<LocalId>>> {
    let exports = p.funcs.iter().any(|f| f.export.is_some());
    let secrets = |f: &Func| f.params.iter().copied().filter(|x| !f.local(*x).public).collect();
    p.funcs.iter().map(|f| (!exports || f.export.is_some()).then(|| secrets(f))).collect()
}

fn is_shift(e: &Expr) -> bool {
    e.as_const().map(Signed::abs).is_some_and(|c| c.is_zero() || (&c & (&c - BigInt::one())).is_zero())
}

/// Bits of the values of an expression, the sign included.
fn bits(e: &Expr) -> u32 {
    let signed = |v: &Int| match v.is_negative() {
        true => v.add(&Int::ONE).bits() + 1,
        false => v.bits(),
    };
    match &e.ty {
        Ty::Word(bits) => *bits,
        Ty::Int(Some(r)) => u32::try_from(signed(&r.lo).max(signed(&r.hi))).unwrap_or(u32::MAX),
        _ => 128,
    }
}
