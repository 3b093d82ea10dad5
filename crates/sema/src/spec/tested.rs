//! `assert` about specifications in `test` blocks.

use super::Scope;
use crate::context::Cx;
use crate::modules::ModId;
use crate::names::Item;
use santoku_ir::{Contract, ContractKind};
use santoku_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};
use std::collections::BTreeMap;

/// Whether a statement asserts something of a `spec fn`.
pub fn asserts(cx: &mut Cx, module: ModId, s: &Stmt) -> bool {
    matches!(&s.kind, StmtKind::Assert(e) if calls(cx, module, e))
}

fn calls(cx: &mut Cx, module: ModId, e: &Expr) -> bool {
    if let ExprKind::Call { callee, .. } = &e.kind {
        if cx.resolve(module, callee).is_ok_and(|e| matches!(e.item, Item::Spec(_) | Item::SharedSpec(..))) {
            return true;
        }
    }
    let mut m = |e: &Expr| calls(cx, module, e);
    match &e.kind {
        ExprKind::Call { args, .. } => args.iter().any(m),
        ExprKind::Paren(a) | ExprKind::Un { arg: a, .. } | ExprKind::Field { base: a, .. } => m(a),
        ExprKind::Index { base: a, index: b } | ExprKind::Bin { lhs: a, rhs: b, .. } => m(a) || m(b),
        ExprKind::Slice { base, .. } => m(base),
        ExprKind::Congruent { lhs, rhs, .. } => m(lhs) || m(rhs),
        ExprKind::Sum { body, .. } | ExprKind::Forall { body, .. } => m(body),
        _ => false,
    }
}

/// The clause of such a statement. Variables of the test are not seen.
pub fn asserted(cx: &mut Cx, module: ModId, s: &Stmt) -> Option<Contract> {
    let StmtKind::Assert(e) = &s.kind else { return None };
    let cond = Scope::new(cx, module, &BTreeMap::new()).bool(e)?;
    Some(Contract { kind: ContractKind::Ensures, cond, text: cx.text(e.span), loc: cx.loc(s.span) })
}
