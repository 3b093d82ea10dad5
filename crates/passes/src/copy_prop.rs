//! Copy propagation: a variable that only holds a copy is read at its origin.
//!
//! Needs: nothing.  Keeps: the copy itself; `dead-code` removes it where nobody reads it any more.
//! Leaves out: scalar copies of array elements (a variable is cheaper to read than memory) and copies whose origin has
//! a computed index.
//! Class: checked.
//! Page: docs/passes/copy-prop.md.  Tests: src/tests/alone.rs, src/tests/broken.rs.

use crate::options::PassOptions;
use crate::util::{each_function, fixed, local_of, overlap};
use santoku_ir::visit::{blocks_mut, destinations, map_expr, rebase, stmt_exprs_mut, written_locals};
use santoku_ir::{Expr, ExprKind, Func, LocalId, Place, Program, Proj, Stmt};
use std::collections::{BTreeMap, BTreeSet};

pub fn run(program: &Program, _: &PassOptions) -> Program {
    each_function(program, |_, func| {
        let mut body = std::mem::take(&mut func.body);
        block(&mut body, &mut BTreeMap::new(), func);
        func.body = body;
    })
}

/// What is known: this local holds this constant, or the value at this place.
type Known = BTreeMap<LocalId, Expr>;

fn block(body: &mut [Stmt], known: &mut Known, func: &Func) {
    for stmt in body {
        if let Stmt::For { .. } = stmt {
            forget(known, &written_locals(std::slice::from_ref(stmt)));
        }
        stmt_exprs_mut(stmt, &mut |e| map_expr(e, &mut |e| replace(e, known)));
        for inner in blocks_mut(stmt) {
            block(inner, &mut known.clone(), func);
        }
        let nested = written_locals(std::slice::from_ref(stmt));
        if destinations(stmt).is_empty() {
            forget(known, &nested);
        }
        for dst in destinations(stmt) {
            kill(known, dst);
        }
        if let Stmt::Assign { dst, src, .. } = stmt {
            if let Some((id, value)) = fact(dst, src, func) {
                known.insert(id, value);
            }
        }
    }
}

fn replace(e: &mut Expr, known: &Known) {
    let ExprKind::Read(place) = &mut e.kind else { return };
    let Some(value) = local_of(place).and_then(|l| known.get(&l)) else { return };
    if place.projs.is_empty() {
        e.kind = value.kind.clone();
    } else if let ExprKind::Read(to) = &value.kind {
        rebase(place, to);
    }
}

/// What an assignment teaches.
fn fact(dst: &Place, src: &Expr, func: &Func) -> Option<(LocalId, Expr)> {
    let id = local_of(dst).filter(|_| dst.projs.is_empty())?;
    match &src.kind {
        ExprKind::Const(_) => Some((id, src.clone())),
        ExprKind::Read(from) if from.base != dst.base && fixed(from) => {
            let sliced = from.projs.iter().any(|p| matches!(p, Proj::Slice { .. }));
            let memory = src.ty.is_scalar() && !from.projs.is_empty();
            // A public variable may stand where only public values may; its origin must be public too.
            let fits = local_of(from).is_none_or(|l| func.local(l).public || !func.local(id).public);
            (!sliced && !memory && fits).then(|| (id, src.clone()))
        }
        _ => None,
    }
}

/// Drops what a write to `dst` makes untrue.
fn kill(known: &mut Known, dst: &Place) {
    let Some(id) = local_of(dst) else { return };
    known.remove(&id);
    known.retain(|_, value| value.as_read().is_none_or(|from| !overlap(from, dst)));
}

fn forget(known: &mut Known, written: &BTreeSet<LocalId>) {
    known.retain(|id, value| {
        let origin = value.as_read().and_then(local_of);
        !written.contains(id) && origin.is_none_or(|l| !written.contains(&l))
    });
}
