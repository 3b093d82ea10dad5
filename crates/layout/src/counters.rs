//! Ranges of counters and indices, written on every occurrence; the only exact integers a kernel has.

use crate::error::LayoutError;
use num_bigint::BigInt;
use santoku_ir::visit::{map_exprs, walk_stmts};
use santoku_ir::{Base, BinOp, Expr, ExprKind, Func, Program, Range, Stmt, Ty};

/// The program with the range of each integer expression.
///
/// # Errors
/// [`LayoutError::Internal`] for an integer that is no sum or product of counters of constant bounds.
pub fn annotate(program: &Program) -> Result<Program, LayoutError> {
    let mut out = program.clone();
    for f in &mut out.funcs {
        bounds(f);
        let locals = f.locals.clone();
        let mut lost = None;
        map_exprs(&mut f.body, &mut |e| {
            if let Ty::Int(_) = e.ty {
                let r = range(e, &locals);
                lost = lost.take().or(r.is_none().then(|| f.name.clone()));
                e.ty = Ty::Int(r);
            }
        });
        if let Some(name) = lost {
            return Err(LayoutError::internal("counters", format!("an integer of unknown range in `{name}`")));
        }
    }
    Ok(out)
}

/// Counters run from their loop's first value to its last.
fn bounds(f: &mut Func) {
    let mut found: Vec<(santoku_ir::LocalId, BigInt, BigInt)> = Vec::new();
    walk_stmts(&f.body, &mut |s| {
        if let Stmt::For { var, lo, hi, .. } = s {
            if let (Some(lo), Some(hi)) = (lo.as_const(), hi.as_const()) {
                found.push((*var, lo.clone(), hi - 1));
            }
        }
    });
    for (var, lo, hi) in found {
        let l = &mut f.locals[var.0 as usize];
        let r = Range::new(lo.clone(), hi.max(lo));
        l.ty = Ty::Int(Some(match &l.ty {
            Ty::Int(Some(old)) => old.join(&r),
            _ => r,
        }));
    }
}

fn range(e: &Expr, locals: &[santoku_ir::Local]) -> Option<Range> {
    match &e.kind {
        ExprKind::Const(v) => Some(Range::new(v.clone(), v.clone())),
        ExprKind::Read(p) => match (p.base, &p.projs[..]) {
            (Base::Local(id), []) => match &locals[id.0 as usize].ty {
                Ty::Int(r) => r.clone(),
                _ => None,
            },
            _ => None,
        },
        ExprKind::Bin(op, a, b) => {
            let (a, b) = (range(a, locals)?, range(b, locals)?);
            let all: Vec<BigInt> = [(&a.lo, &b.lo), (&a.lo, &b.hi), (&a.hi, &b.lo), (&a.hi, &b.hi)]
                .into_iter()
                .map(|(x, y)| match op {
                    BinOp::Add => Some(x + y),
                    BinOp::Sub => Some(x - y),
                    BinOp::Mul => Some(x * y),
                    _ => None,
                })
                .collect::<Option<_>>()?;
            Some(Range::new(all.iter().min()?.clone(), all.iter().max()?.clone()))
        }
        _ => None,
    }
}
