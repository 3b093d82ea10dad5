//! What the proven ranges decide, before printing: loops without a round and branches not taken are not code, and variables that only
//! those read are not assigned. Printed, they would be the pointless comparisons and unused variables that C compilers warn of.

use crate::expr::decided;
use num_bigint::BigInt;
use num_traits::Zero;
use santoku_ir::visit::{read_locals, rewrite_stmts};
use santoku_ir::{Base, Expr, ExprKind, Func, LocalId, LocalKind, Program, Range, Stmt, Ty};
use std::collections::BTreeSet;

pub fn settled(program: &Program) -> Program {
    let mut out = program.clone();
    for func in &mut out.funcs {
        rewrite_stmts(&mut func.body, &mut settle);
        drop_unread(func);
    }
    out
}

fn settle(stmt: Stmt) -> Vec<Stmt> {
    match stmt {
        Stmt::For { lo, hi, .. } if runs_never(&lo, &hi) => vec![],
        Stmt::If { cond, then, els, loc } => match outcome(&cond) {
            Some(true) => then,
            Some(false) => els,
            None => vec![Stmt::If { cond, then, els, loc }],
        },
        other => vec![other],
    }
}

fn runs_never(lo: &Expr, hi: &Expr) -> bool {
    matches!((&lo.kind, &hi.kind), (ExprKind::Const(a), ExprKind::Const(b)) if b <= a)
}

fn outcome(cond: &Expr) -> Option<bool> {
    match &cond.kind {
        ExprKind::Const(v) => Some(!v.is_zero()),
        ExprKind::Cmp(op, a, b) => decided(*op, &range(a)?, &range(b)?),
        _ => None,
    }
}

/// Of an exact integer.
fn range(e: &Expr) -> Option<Range> {
    match (&e.kind, &e.ty) {
        (ExprKind::Const(v), _) => Some(Range::new(BigInt::clone(v), v.clone())),
        (_, Ty::Int(range)) => range.clone(),
        _ => None,
    }
}

/// Removes assignments to variables that are read nowhere, until all that are left are read.
fn drop_unread(func: &mut Func) {
    loop {
        let read = read_locals(&func.body);
        let kept = |id: LocalId| func.locals[id.0 as usize].kind != LocalKind::Var || read.contains(&id);
        let dropped: BTreeSet<LocalId> = (0..func.locals.len() as u32).map(LocalId).filter(|id| !kept(*id)).collect();
        let mut changed = false;
        rewrite_stmts(&mut func.body, &mut |s| match &s {
            Stmt::Assign { dst, .. } if matches!(dst.base, Base::Local(id) if dropped.contains(&id)) => {
                changed = true;
                vec![]
            }
            _ => vec![s],
        });
        if !changed {
            return;
        }
    }
}
