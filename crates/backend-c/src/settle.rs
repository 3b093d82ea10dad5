//! What is settled before printing: asserts and invariants are proved; decided comparisons are constants; loops without a round,
//! branches not taken and assignments of a place to itself are not code; variables that only those read are not assigned.
//! Printed, they would be the pointless comparisons and unused variables that C compilers warn of. Bounds are evaluated once.

use crate::alias::expr_places;
use crate::known::{decided, scalar_range};
use num_bigint::BigInt;
use num_traits::Zero;
use santoku_ir::visit::{children, expr_locals, map_exprs, rewrite_stmts, stmt_exprs, walk_stmts, written_locals};
use santoku_ir::{Base, CmpOp, Expr, ExprKind, Func, Local, LocalId, LocalKind, Place, Program, Stmt, Ty};
use santoku_num::Int;
use std::collections::BTreeSet;

pub fn settled(program: &Program) -> Program {
    let mut out = program.clone();
    for func in &mut out.funcs {
        rewrite_stmts(&mut func.body, &mut |s| if matches!(s, Stmt::Assert { .. } | Stmt::Ghost { .. }) { vec![] } else { vec![s] });
        map_exprs(&mut func.body, &mut compared);
        rewrite_stmts(&mut func.body, &mut settle);
        drop_unread(func);
        keep_bounds(func);
    }
    out
}

/// C looks at the last bound of a loop before every round: where the body may change it, a variable keeps its value.
fn keep_bounds(func: &mut Func) {
    let mut body = std::mem::take(&mut func.body);
    rewrite_stmts(&mut body, &mut |s| {
        let Stmt::For { var, mut lo, mut hi, rev, unroll, invariants, body, loc } = s else { return vec![s] };
        let written = written_locals(&body);
        let bound = if rev { &mut lo } else { &mut hi };
        let changes = single(bound).is_none() && expr_locals(bound).iter().any(|id| written.contains(id));
        let kept = changes.then(|| {
            let id = LocalId(func.locals.len() as u32);
            let name = if rev { "first" } else { "end" };
            func.locals.push(Local { name: name.into(), ty: bound.ty.clone(), kind: LocalKind::Var, public: true, loc });
            let read = Expr { kind: ExprKind::Read(Place::local(id)), ty: bound.ty.clone() };
            Stmt::Assign { dst: Place::local(id), src: std::mem::replace(bound, read), loc }
        });
        kept.into_iter().chain([Stmt::For { var, lo, hi, rev, unroll, invariants, body, loc }]).collect()
    });
    func.body = body;
}

/// A comparison that ranges or equal operands decide.
fn compared(e: &mut Expr) {
    if let ExprKind::Cmp(op, a, b) = &e.kind {
        if let Some(known) = outcome(*op, a, b).filter(|_| a.ty.is_scalar()) {
            e.kind = ExprKind::Const(u8::from(known).into());
        }
    }
}

fn outcome(op: CmpOp, a: &Expr, b: &Expr) -> Option<bool> {
    if a == b {
        return Some(matches!(op, CmpOp::Eq | CmpOp::Le | CmpOp::Ge));
    }
    decided(op, &scalar_range(a)?, &scalar_range(b)?)
}

fn settle(stmt: Stmt) -> Vec<Stmt> {
    match stmt {
        Stmt::For { lo, hi, .. } if runs_never(&lo, &hi) => vec![],
        Stmt::For { var, lo, hi, rev, unroll, body, loc, .. } => vec![Stmt::For { var, lo, hi, rev, unroll, invariants: vec![], body, loc }],
        Stmt::If { cond, then, els, loc } => match &cond.kind {
            ExprKind::Const(v) => if v.is_zero() { els } else { then },
            _ => vec![Stmt::If { cond, then, els, loc }],
        },
        Stmt::Assign { dst, src: Expr { kind: ExprKind::Read(p), .. }, .. } if dst == p => vec![],
        other => vec![other],
    }
}

fn runs_never(lo: &Expr, hi: &Expr) -> bool {
    matches!((scalar_range(lo), scalar_range(hi)), (Some(a), Some(b)) if b.hi <= a.lo)
}

/// Removes assignments to variables that no printed text reads, until all that are left are read.
fn drop_unread(func: &mut Func) {
    loop {
        let read = printed(&func.body);
        map_exprs(&mut func.body, &mut |e| {
            let mut gone = false;
            expr_places(e, &mut |p| gone |= !read.contains(&p.base));
            if let Some(v) = single(e).filter(|_| gone) {
                e.kind = ExprKind::Const(v);
            }
        });
        let dropped = |id: LocalId| func.locals[id.0 as usize].kind == LocalKind::Var && !read.contains(&Base::Local(id));
        let mut changed = false;
        rewrite_stmts(&mut func.body, &mut |s| match &s {
            Stmt::Assign { dst: Place { base: Base::Local(id), .. }, .. } if dropped(*id) => {
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

/// What is read where text is printed for it: an integer of one value is printed as that value.
fn printed(body: &[Stmt]) -> BTreeSet<Base> {
    fn visit(e: &Expr, seen: &mut BTreeSet<Base>) {
        if single(e).is_some() {
            return;
        }
        if let ExprKind::Read(p) = &e.kind {
            seen.insert(p.base);
        }
        children(e, &mut |c| visit(c, seen));
    }
    let mut seen = BTreeSet::new();
    walk_stmts(body, &mut |s| stmt_exprs(s, &mut |e| visit(e, &mut seen)));
    seen
}

/// The value of an integer that has one value.
pub fn single(e: &Expr) -> Option<BigInt> {
    match &e.ty {
        Ty::Int(Some(r)) => r.single().map(Int::to_big),
        _ => None,
    }
}
