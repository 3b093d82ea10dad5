//! First-row initialisation: `x = 0; x += first` becomes `x = first`.
//!
//! Needs: an array set to zero, directly followed by the loop (or two nested loops) that accumulates into it, with constant
//! bounds.  Keeps: zeros that the first row does not cover.  Leaves out: the unrolled case, where `const-fold` after
//! `array-to-scalar` does the same.
//! Class: checked.
//! Page: docs/passes/first-row-init.md.  Tests: src/tests/alone.rs, src/tests/broken.rs.

use crate::options::PassOptions;
use crate::util::{each_function, local_of};
use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};
use santoku_ir::visit::{blocks_mut, expr_locals, substitute};
use santoku_ir::{BinOp, Expr, ExprKind, Func, Len, LocalId, LocalKind, Place, Program, Proj, Stmt, Ty};

pub fn run(program: &Program, _: &PassOptions) -> Program {
    each_function(program, |_, func| {
        let mut body = std::mem::take(&mut func.body);
        block(&mut body, func);
        func.body = body;
    })
}

fn block(body: &mut Vec<Stmt>, func: &mut Func) {
    for stmt in body.iter_mut() {
        for inner in blocks_mut(stmt) {
            block(inner, func);
        }
    }
    let mut at = 0;
    while at + 1 < body.len() {
        if let Some(new) = start_with_first(&body[at], &body[at + 1], func) {
            body.splice(at..at + 2, new);
        }
        at += 1;
    }
}

/// The local and length of `x = [0; n]`.
fn zeroed(stmt: &Stmt, func: &Func) -> Option<(LocalId, u64)> {
    let Stmt::Assign { dst, src, .. } = stmt else { return None };
    let id = local_of(dst).filter(|_| dst.projs.is_empty())?;
    let ExprKind::Repeat(zero) = &src.kind else { return None };
    let Ty::Array { len: Len::Const(n), .. } = &func.local(id).ty else { return None };
    zero.as_const().is_some_and(Zero::is_zero).then_some((id, *n))
}

fn start_with_first(zero: &Stmt, accumulate: &Stmt, func: &mut Func) -> Option<Vec<Stmt>> {
    let (x, n) = zeroed(zero, func)?;
    let Stmt::For { var, lo, hi, rev: false, unroll, invariants, body, loc } = accumulate else { return None };
    let (first, end) = (lo.as_const()?.clone(), hi.as_const()?.clone());
    if first >= end || !invariants.is_empty() {
        return None;
    }
    let [only] = body.as_slice() else { return None };
    if matches!(only, Stmt::Assign { .. }) {
        // One loop: every iteration starts its own element.
        let row = as_first_row(accumulate, x)?;
        let span = row_span(accumulate, x)?;
        let mut out = zeros(zero, x, n, span, func)?;
        out.push(row);
        return Some(out);
    }
    // Two loops: the first iteration of the outer one starts a row, the others accumulate.
    let mut row = vec![only.clone()];
    substitute(&mut row, *var, &Expr::int(first.clone()));
    let span = row_span(&row[0], x)?;
    let row = with_counter(as_first_row(&row[0], x)?, func);
    let mut out = zeros(zero, x, n, span, func)?;
    out.push(row);
    out.push(Stmt::For {
        var: *var,
        lo: Expr::int(first + BigInt::one()),
        hi: hi.clone(),
        rev: false,
        unroll: *unroll,
        invariants: Vec::new(),
        body: body.clone(),
        loc: *loc,
    });
    Some(out)
}

/// A copied loop needs a counter of its own: a counter belongs to one loop.
fn with_counter(stmt: Stmt, func: &mut Func) -> Stmt {
    let Stmt::For { var, lo, hi, rev, unroll, invariants, mut body, loc } = stmt else { return stmt };
    let new = LocalId(func.locals.len() as u32);
    func.locals.push(func.local(var).clone());
    debug_assert_eq!(func.local(new).kind, LocalKind::Counter);
    substitute(&mut body, var, &Expr::int_local(new));
    Stmt::For { var: new, lo, hi, rev, unroll, invariants, body, loc }
}

/// A loop whose only statement is `x[counter + c] = x[counter + c] + e`, with `e` free of `x`, as one that assigns.
fn as_first_row(stmt: &Stmt, x: LocalId) -> Option<Stmt> {
    let Stmt::For { var, lo, hi, rev: false, unroll, invariants, body, loc } = stmt else { return None };
    let [Stmt::Assign { dst, src, loc: at }] = body.as_slice() else { return None };
    let ExprKind::Bin(BinOp::Add, a, b) = &src.kind else { return None };
    let (own, e) = if a.as_read() == Some(dst) { (a, b) } else { (b, a) };
    if own.as_read() != Some(dst) || local_of(dst) != Some(x) || expr_locals(e).contains(&x) || !invariants.is_empty() {
        return None;
    }
    let body = vec![Stmt::Assign { dst: dst.clone(), src: (**e).clone(), loc: *at }];
    Some(Stmt::For {
        var: *var,
        lo: lo.clone(),
        hi: hi.clone(),
        rev: false,
        unroll: *unroll,
        invariants: Vec::new(),
        body,
        loc: *loc,
    })
}

/// Elements `from..to` that such a loop writes, each once.
fn row_span(stmt: &Stmt, x: LocalId) -> Option<(u64, u64)> {
    let Stmt::For { var, lo, hi, body, .. } = stmt else { return None };
    let [Stmt::Assign { dst, .. }] = body.as_slice() else { return None };
    let [Proj::Index(index)] = dst.projs.as_slice() else { return None };
    if local_of(dst) != Some(x) {
        return None;
    }
    let shift = offset(index, *var)?;
    let (from, to): (BigInt, BigInt) = (lo.as_const()? + &shift, hi.as_const()? + &shift);
    (from < to && !from.is_negative()).then(|| Some((from.to_u64()?, to.to_u64()?)))?
}

/// `c` where the index is `counter + c` with constants anywhere in the sum.
fn offset(e: &Expr, counter: LocalId) -> Option<BigInt> {
    match &e.kind {
        ExprKind::Read(p) => (*p == Place::local(counter)).then(BigInt::zero),
        ExprKind::Bin(BinOp::Add, a, b) => match (a.as_const(), b.as_const()) {
            (Some(c), None) => Some(offset(b, counter)? + c),
            (None, Some(c)) => Some(offset(a, counter)? + c),
            _ => None,
        },
        _ => None,
    }
}

/// Zeros for what the first row leaves: nothing, or the elements before and after it.
fn zeros(zero: &Stmt, x: LocalId, n: u64, (from, to): (u64, u64), func: &mut Func) -> Option<Vec<Stmt>> {
    let Stmt::Assign { src, loc, .. } = zero else { return None };
    let ExprKind::Repeat(value) = &src.kind else { return None };
    if to > n {
        return None;
    }
    let mut out = Vec::new();
    for (start, end) in [(0, from), (to, n)] {
        if start < end {
            let dst = Place::local(x).slice(Expr::int(start), end - start);
            let src = Expr::repeat((**value).clone(), Len::Const(end - start));
            out.push(Stmt::Assign { dst, src, loc: *loc });
        }
    }
    debug_assert!(func.local(x).kind != LocalKind::Param);
    Some(out)
}
