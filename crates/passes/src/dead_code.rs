//! Dead code: what no result depends on goes.
//!
//! Needs: nothing.  Keeps: asserts and invariants and what they read (until `drop-asserts`).
//! Leaves out: single elements of an array; an array is live or dead as a whole, after `array-to-scalar` that is exact
//! for all but the arrays that must stay in memory.
//! Class: checked.
//! Page: docs/passes/dead-code.md.  Tests: src/tests/alone.rs, src/tests/broken.rs.

use crate::options::PassOptions;
use crate::util::{each_function, local_of};
use santoku_ir::visit::{expr_locals, place_exprs};
use santoku_ir::{Expr, LocalId, Place, Program, Stmt};
use std::collections::BTreeSet;

pub fn run(program: &Program, _: &PassOptions) -> Program {
    each_function(program, |_, func| {
        let mut live: BTreeSet<LocalId> = func.rets.iter().copied().collect();
        let mut body = std::mem::take(&mut func.body);
        sweep(&mut body, &mut live);
        func.body = body;
    })
}

/// Removes dead statements of a block, given what is live after it; `live` becomes what is live before it.
fn sweep(body: &mut Vec<Stmt>, live: &mut BTreeSet<LocalId>) {
    let mut kept = Vec::with_capacity(body.len());
    for mut stmt in std::mem::take(body).into_iter().rev() {
        if retain(&mut stmt, live) {
            kept.push(stmt);
        }
    }
    kept.reverse();
    *body = kept;
}

/// Keeps a statement that matters, its dead parts removed.
fn retain(stmt: &mut Stmt, live: &mut BTreeSet<LocalId>) -> bool {
    match stmt {
        Stmt::Assign { dst, src, .. } => {
            if copies_itself(dst, src) || !is_live(dst, live) {
                return false;
            }
            overwrite(dst, live);
            live.extend(expr_locals(src));
            read_indices(dst, live);
            true
        }
        Stmt::Call { dsts, lens, args, .. } => {
            // A call without results would be a call for its asserts; there are none such.
            if !dsts.iter().any(|d| is_live(d, live)) {
                return false;
            }
            dsts.iter().for_each(|d| overwrite(d, live));
            lens.iter().chain(args.iter()).for_each(|e| live.extend(expr_locals(e)));
            dsts.iter().for_each(|d| read_indices(d, live));
            true
        }
        Stmt::Ghost { .. } => true,
        Stmt::Assert { cond, .. } => {
            live.extend(expr_locals(cond));
            true
        }
        Stmt::If { cond, then, els, .. } => {
            let mut other = live.clone();
            sweep(then, live);
            sweep(els, &mut other);
            if then.is_empty() && els.is_empty() {
                return false;
            }
            live.extend(other);
            live.extend(expr_locals(cond));
            true
        }
        Stmt::For { .. } => retain_loop(stmt, live),
    }
}

fn retain_loop(stmt: &mut Stmt, live: &mut BTreeSet<LocalId>) -> bool {
    let Stmt::For { lo, hi, body, invariants, .. } = stmt else { return true };
    if runs_never(lo, hi) {
        return false;
    }
    for e in invariants.iter() {
        live.extend(expr_locals(e));
    }
    // Live at the end of the body: what is live after the loop or at the start of the next iteration.
    let mut at_end = live.clone();
    loop {
        let mut trial = body.clone();
        let mut at_start = at_end.clone();
        sweep(&mut trial, &mut at_start);
        if at_start.is_subset(&at_end) {
            *body = trial;
            break;
        }
        at_end.extend(at_start);
    }
    if body.is_empty() && invariants.is_empty() {
        return false;
    }
    live.extend(at_end);
    live.extend(expr_locals(lo));
    live.extend(expr_locals(hi));
    true
}

fn runs_never(lo: &Expr, hi: &Expr) -> bool {
    matches!((lo.as_const(), hi.as_const()), (Some(a), Some(b)) if b <= a)
}

fn copies_itself(dst: &Place, src: &Expr) -> bool {
    src.as_read() == Some(dst)
}

fn is_live(dst: &Place, live: &BTreeSet<LocalId>) -> bool {
    local_of(dst).is_some_and(|l| live.contains(&l))
}

/// A write to the whole local ends the life of what was there before.
fn overwrite(dst: &Place, live: &mut BTreeSet<LocalId>) {
    if let (Some(id), true) = (local_of(dst), dst.projs.is_empty()) {
        live.remove(&id);
    }
}

fn read_indices(dst: &Place, live: &mut BTreeSet<LocalId>) {
    place_exprs(dst, &mut |e| live.extend(expr_locals(e)));
}
