//! How many operations on registers a function makes: gates, where every bit has a register.

use santoku_ir::{Expr, ExprKind, Func, Place, Stmt, Ty};

/// Operations of one run. A call of another function counts as one: what is left of calls here are lookups and gates of three inputs.
/// Arithmetic of counters and indices is not counted; loops count as often as they run, where that is known.
pub fn operations(f: &Func) -> u64 {
    f.body.iter().map(statement).sum()
}

fn statement(s: &Stmt) -> u64 {
    match s {
        Stmt::Assign { src, .. } => expression(src),
        Stmt::Call { args, .. } => 1 + args.iter().map(expression).sum::<u64>(),
        Stmt::For { lo, hi, body, .. } => body.iter().map(statement).sum::<u64>() * rounds(lo, hi),
        Stmt::If { then, els, .. } => then.iter().chain(els).map(statement).sum(),
        Stmt::Assert { .. } | Stmt::Ghost { .. } => 0,
    }
}

fn rounds(lo: &Expr, hi: &Expr) -> u64 {
    match (&lo.kind, &hi.kind) {
        (ExprKind::Const(a), ExprKind::Const(b)) => u64::try_from(b - a).unwrap_or(0),
        _ => 1,
    }
}

fn expression(e: &Expr) -> u64 {
    let own = u64::from(!matches!(e.ty, Ty::Int(_)));
    match &e.kind {
        ExprKind::Const(_) => 0,
        ExprKind::Read(Place { .. }) => 0,
        ExprKind::Un(_, a) => own + expression(a),
        ExprKind::Bin(_, a, b) | ExprKind::Cmp(_, a, b) => own + expression(a) + expression(b),
        ExprKind::Select(c, a, b) => own + expression(c) + expression(a) + expression(b),
        ExprKind::Cast(a) | ExprKind::Repeat(a) => expression(a),
        ExprKind::Array(all) | ExprKind::Struct(_, all) => all.iter().map(expression).sum(),
    }
}
