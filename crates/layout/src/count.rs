//! How many operations on registers a function makes: gates, where every bit has a register.
//! Trusted: nothing: it makes a figure.

use crate::lut;
use santoku_ir::{Expr, ExprKind, Func, Place, Program, Stmt, Ty};

/// Operations of one run. A gate of three inputs is one, and so is a function without any, such as a lookup. Arithmetic of counters and indices is
/// not counted; loops count as often as they run, where that is known.
pub fn operations(p: &Program, f: &Func) -> u64 {
    f.body.iter().map(|s| statement(p, s)).sum()
}

fn called(p: &Program, f: &Func) -> u64 {
    if lut::is_lut(f) { 1 } else { operations(p, f).max(1) }
}

fn statement(p: &Program, s: &Stmt) -> u64 {
    match s {
        Stmt::Assign { src, .. } => expression(src),
        Stmt::Call { func, args, .. } => called(p, p.func(*func)) + args.iter().map(expression).sum::<u64>(),
        Stmt::For { lo, hi, body, .. } => body.iter().map(|s| statement(p, s)).sum::<u64>() * rounds(lo, hi),
        Stmt::If { then, els, .. } => then.iter().chain(els).map(|s| statement(p, s)).sum(),
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
