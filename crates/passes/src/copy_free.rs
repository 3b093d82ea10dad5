//! Copy-free results: a value that is only built to be copied is built where the copy goes.
//!
//! Needs: `copy-prop`, `dead-code` before it for the simple cases.  Keeps: every other use of the destination.
//! Leaves out: destinations with computed indices, variables written behind the copy or read in another block, and copies that
//! change the declared range (the wider storage is needed for the intermediate values). At O0 it is for arrays of run-time length
//! alone, which have storage in C where they become a result.
//! Class: checked.
//! Page: docs/passes/copy-free.md.  Tests: src/tests/alone.rs, src/tests/broken.rs.

use crate::options::{Level, PassOptions};
use crate::util::{accesses, each_function, fixed, local_of, overlap};
use santoku_ir::typing::Scope;
use santoku_ir::visit::{blocks_mut, expr_locals, place_exprs, stmt_exprs, substitute_place, Access};
use santoku_ir::{Func, Len, LocalId, LocalKind, Place, Program, Proj, Stmt, Ty};
use std::collections::BTreeMap;

pub fn run(program: &Program, options: &PassOptions) -> Program {
    each_function(program, |program, func| {
        let mut body = std::mem::take(&mut func.body);
        let first = count(&body);
        let mut uses = Uses { now: first.clone(), first, all: options.level != Level::O0 };
        block(&mut body, program, func, &mut uses);
        func.body = body;
    })
}

fn count(body: &[Stmt]) -> BTreeMap<LocalId, usize> {
    let mut uses = BTreeMap::new();
    for l in accesses(body).into_iter().filter_map(|(p, _)| local_of(p)) {
        *uses.entry(l).or_insert(0) += 1;
    }
    uses
}

/// How many places of the body are rooted at each local: before this run, and with what it did so far. A variable that
/// took over more places than the one it stands for had is left alone.
struct Uses {
    first: BTreeMap<LocalId, usize>,
    now: BTreeMap<LocalId, usize>,
    /// Variables of every type; otherwise arrays of run-time length.
    all: bool,
}

fn block(body: &mut Vec<Stmt>, program: &Program, func: &Func, uses: &mut Uses) {
    let mut at = 0;
    while at < body.len() {
        for inner in blocks_mut(&mut body[at]) {
            block(inner, program, func, uses);
        }
        match redirect(body, at, program, func, uses) {
            Some((start, temp, dst)) => {
                body.remove(at);
                substitute_place(&mut body[start..], temp, &dst);
                // The places of the variable are the destination's now, less the copy.
                let moved = uses.now.remove(&temp).unwrap_or(0).saturating_sub(1);
                if let Some(target) = local_of(&dst) {
                    let n = uses.now.entry(target).or_insert(0);
                    *n = n.saturating_sub(1) + moved;
                }
            }
            None => at += 1,
        }
    }
}

/// If statement `at` copies a variable whose whole life is in this block, nothing touches the destination before the copy, and
/// behind it both are only read while the variable lives: where the life starts, the variable, the destination.
fn redirect(body: &[Stmt], at: usize, program: &Program, func: &Func, uses: &Uses) -> Option<(usize, LocalId, Place)> {
    let (before, behind) = (&body[..at], &body[at + 1..]);
    let Stmt::Assign { dst, src, .. } = &body[at] else { return None };
    let from = src.as_read().filter(|p| p.projs.is_empty())?;
    let temp = local_of(from).filter(|l| func.local(*l).kind == LocalKind::Var)?;
    let target = local_of(dst)?;
    let plain = fixed(dst) && !dst.projs.iter().any(|p| matches!(p, Proj::Slice { .. }));
    // Same declared type, and public only where public is asked for.
    let ty = Scope::of(program, func).place_ty(dst)?;
    let fits = ty == func.local(temp).ty && func.local(temp).public == func.local(target).public;
    let runtime = matches!(ty, Ty::Array { len: Len::Param { .. }, .. });
    if !uses.all && !runtime {
        return None;
    }
    if target == temp || !plain || !fits || matches!(func.local(target).kind, LocalKind::Counter | LocalKind::Len) {
        return None;
    }
    let start = before.iter().position(|s| mentions(s, temp))?;
    let life = &before[start..];
    let behind = &behind[..behind.iter().rposition(|s| mentions(s, temp)).map_or(0, |last| last + 1)];
    // A value of known size is read from where it is at hand.
    if !behind.is_empty() && !runtime {
        return None;
    }
    let inside = [life, behind].iter().filter_map(|part| count(part).get(&temp).copied()).sum::<usize>();
    let alone = |uses: &BTreeMap<LocalId, usize>| uses.get(&temp) == Some(&(inside + 1));
    if !alone(&uses.first) || !alone(&uses.now) || !starts(&life[0], temp) {
        return None;
    }
    // One assignment reads all it needs before it writes.
    let single = life.len() == 1 && matches!(life[0], Stmt::Assign { .. });
    let disturbed = !single && accesses(life).into_iter().any(|(p, _)| overlap(p, dst));
    let rewritten = accesses(behind).into_iter().any(|(p, a)| a == Access::Write && (local_of(p) == Some(temp) || overlap(p, dst)));
    // A call whose arguments share storage with its result would need the copy back.
    let clashes = life.iter().any(|s| clash(s, temp, target));
    (!disturbed && !rewritten && !clashes).then(|| (start, temp, dst.clone()))
}

fn mentions(stmt: &Stmt, local: LocalId) -> bool {
    accesses(std::slice::from_ref(stmt)).into_iter().any(|(p, _)| local_of(p) == Some(local))
}

/// Does the life of a variable start here afresh? Every part of it is written before it is read, and no other statement
/// of the function touches it, so the first write starts it.
fn starts(first: &Stmt, temp: LocalId) -> bool {
    let mut read = false;
    stmt_exprs(first, &mut |e| read |= expr_locals(e).contains(&temp));
    let written = accesses(std::slice::from_ref(first)).iter().any(|(p, a)| local_of(p) == Some(temp) && *a == Access::Write);
    !read && written
}

fn clash(stmt: &Stmt, temp: LocalId, target: LocalId) -> bool {
    let mut found = false;
    santoku_ir::visit::walk_stmts(std::slice::from_ref(stmt), &mut |s| {
        let Stmt::Call { dsts, lens, args, .. } = s else { return };
        let writes = dsts.iter().any(|d| local_of(d) == Some(temp));
        let mut reads = lens.iter().chain(args).any(|e| expr_locals(e).contains(&target));
        dsts.iter().for_each(|d| place_exprs(d, &mut |e| reads |= expr_locals(e).contains(&target)));
        found |= writes && reads;
    });
    found
}
