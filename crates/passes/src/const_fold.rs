//! Constant folding and identities.
//!
//! Needs: nothing.  Keeps: order of statements.  Scalars read from constant tables at constant indices become constants;
//! branches on constants become one of their sides; loops that never run go.
//! Leaves out: reordering of operands; rules are in fold.rs.
//! Class: checked.
//! Page: docs/passes/const-fold.md.  Tests: src/tests/alone.rs, src/tests/broken.rs.

use crate::fold::simplify;
use crate::options::PassOptions;
use crate::util::each_function;
use num_traits::{ToPrimitive, Zero};
use santoku_ir::visit::{map_exprs, rewrite_stmts};
use santoku_ir::{Base, ConstValue, Expr, ExprKind, Place, Program, Proj, Stmt};

/// Rules that feed each other are applied this many times at one place.
const ROUNDS_MAX: usize = 8;

pub fn run(program: &Program, _: &PassOptions) -> Program {
    each_function(program, |program, func| {
        map_exprs(&mut func.body, &mut |e| fold(program, e));
        rewrite_stmts(&mut func.body, &mut |stmt| decide(stmt));
    })
}

fn fold(program: &Program, e: &mut Expr) {
    if let ExprKind::Read(place) = &e.kind {
        if let Some(v) = table_entry(program, place).filter(|_| e.ty.is_scalar()) {
            e.kind = ExprKind::Const(v);
        }
    }
    for _ in 0..ROUNDS_MAX {
        let Some(new) = simplify(e) else { return };
        *e = new;
    }
}

/// The scalar at constant indices of a constant.
fn table_entry(program: &Program, place: &Place) -> Option<num_bigint::BigInt> {
    let Base::Const(id) = place.base else { return None };
    let mut value = &program.consts.get(id.0 as usize)?.value;
    for proj in &place.projs {
        let at = match proj {
            Proj::Field(k) => *k as usize,
            Proj::Index(e) => e.as_const()?.to_usize()?,
            Proj::Slice { .. } => return None,
        };
        value = match value {
            ConstValue::Array(vs) | ConstValue::Struct(vs) => vs.get(at)?,
            ConstValue::Scalar(_) => return None,
        };
    }
    match value {
        ConstValue::Scalar(v) => Some(v.clone()),
        ConstValue::Array(_) | ConstValue::Struct(_) => None,
    }
}

/// A branch on a constant, a loop that never runs, an assertion that holds.
fn decide(stmt: Stmt) -> Vec<Stmt> {
    match stmt {
        Stmt::If { cond, then, els, loc } => match cond.as_const() {
            Some(v) if v.is_zero() => els,
            Some(_) => then,
            None => vec![Stmt::If { cond, then, els, loc }],
        },
        Stmt::For { lo, hi, .. } if matches!((lo.as_const(), hi.as_const()), (Some(a), Some(b)) if b <= a) => Vec::new(),
        Stmt::Assert { cond, .. } if cond.as_const().is_some_and(|v| !v.is_zero()) => Vec::new(),
        Stmt::Assign { .. } | Stmt::Call { .. } | Stmt::For { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. } => vec![stmt],
    }
}
