//! Once ranges are written, statements may only go, and each that stays must compute what it computed.
//!
//! Equal results are not enough then: a mask that no result needs still keeps a value in the range that the text
//! says it has. So the text after must be the text before with statements taken out, and a walk forward over both
//! knows at each place which locals may hold something else; no statement that stays may read one of those.
//!
//! Needs: both bodies with the same numbers of locals.  Keeps: the ranges proved before hold after.
//! Absent: any judgement of what is worth taking out.
//! Trusted: c.

use crate::util::local_of;
use santoku_ir::visit::{expr_locals, place_exprs, written_locals};
use santoku_ir::{Expr, Func, LocalId, Place, Stmt};
use std::collections::BTreeSet;

/// Is `new` the function `old` with statements taken out that nothing else depends on? Invariants may go too.
///
/// # Errors
/// What speaks against it.
pub fn check(old: &Func, new: &Func) -> Result<(), String> {
    let mut stale = BTreeSet::new();
    block(&old.body, &new.body, &mut stale)?;
    match new.rets.iter().find(|r| stale.contains(r)) {
        Some(r) => Err(format!("the result `{}` is not written any more", new.local(*r).name)),
        None => Ok(()),
    }
}

/// Locals that may hold something else after the text than before it.
type Stale = BTreeSet<LocalId>;

fn block(old: &[Stmt], new: &[Stmt], stale: &mut Stale) -> Result<(), String> {
    let partners = align(old, new).ok_or("something else than leaving out statements was done after the ranges were written")?;
    for (stmt, partner) in old.iter().zip(partners) {
        match partner {
            None => gone(stmt, stale),
            Some(at) => stays(stmt, &new[at], stale)?,
        }
    }
    Ok(())
}

/// For each old statement the new one that it is, from the last on: of two that read alike the later one stays.
fn align(old: &[Stmt], new: &[Stmt]) -> Option<Vec<Option<usize>>> {
    let mut left = new.len();
    let mut partners = vec![None; old.len()];
    for (at, stmt) in old.iter().enumerate().rev() {
        if left > 0 && alike(stmt, &new[left - 1]) {
            left -= 1;
            partners[at] = Some(left);
        }
    }
    (left == 0).then_some(partners)
}

fn alike(old: &Stmt, new: &Stmt) -> bool {
    match (old, new) {
        (Stmt::If { cond, then, els, loc }, Stmt::If { cond: c, then: t, els: e, loc: l }) => {
            cond == c && loc == l && align(then, t).is_some() && align(els, e).is_some()
        }
        (
            Stmt::For { var, lo, hi, rev, unroll, invariants, body, loc },
            Stmt::For { var: v, lo: a, hi: b, rev: r, unroll: u, invariants: i, body: inner, loc: l },
        ) => {
            let head = var == v && lo == a && hi == b && rev == r && unroll == u && loc == l;
            head && (i.is_empty() || invariants == i) && align(body, inner).is_some()
        }
        (Stmt::Assign { .. } | Stmt::Call { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. }, _) => old == new,
        (Stmt::If { .. } | Stmt::For { .. }, _) => false,
    }
}

fn gone(stmt: &Stmt, stale: &mut Stale) {
    let nothing = match stmt {
        Stmt::Assign { dst, src, .. } => src.as_read() == Some(dst),
        Stmt::For { lo, hi, .. } => matches!((lo.as_const(), hi.as_const()), (Some(a), Some(b)) if b <= a),
        Stmt::Call { .. } | Stmt::If { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. } => false,
    };
    if !nothing {
        stale.extend(written_locals(std::slice::from_ref(stmt)));
    }
}

fn stays(old: &Stmt, new: &Stmt, stale: &mut Stale) -> Result<(), String> {
    match (old, new) {
        (Stmt::If { cond, then, els, .. }, Stmt::If { then: t, els: e, .. }) => {
            reads(cond, stale)?;
            let mut other = stale.clone();
            block(then, t, stale)?;
            block(els, e, &mut other)?;
            stale.extend(other);
            Ok(())
        }
        (Stmt::For { var, lo, hi, body, .. }, Stmt::For { invariants, body: inner, .. }) => {
            reads(lo, stale)?;
            reads(hi, stale)?;
            // Nothing at all may have been done, and each round begins with what the one before left.
            loop {
                let mut round = stale.clone();
                round.remove(var);
                invariants.iter().try_for_each(|i| reads(i, &round))?;
                block(body, inner, &mut round)?;
                if round.is_subset(stale) {
                    return Ok(());
                }
                stale.extend(round);
            }
        }
        (Stmt::Assert { cond, .. }, _) => reads(cond, stale),
        (Stmt::Ghost { .. }, _) => Ok(()),
        (Stmt::Assign { dst, src, .. }, _) => {
            reads(src, stale)?;
            writes(dst, stale)
        }
        (Stmt::Call { dsts, lens, args, .. }, _) => {
            lens.iter().chain(args).try_for_each(|e| reads(e, stale))?;
            dsts.iter().try_for_each(|d| writes(d, stale))
        }
        (Stmt::If { .. } | Stmt::For { .. }, _) => Err("two statements of different kinds".into()),
    }
}

fn reads(e: &Expr, stale: &Stale) -> Result<(), String> {
    if expr_locals(e).is_disjoint(stale) {
        Ok(())
    } else {
        Err("a statement that stays reads what one that went had written".into())
    }
}

/// A write to the whole of a local makes it what it was; a write to a part leaves the rest.
fn writes(dst: &Place, stale: &mut Stale) -> Result<(), String> {
    let mut clean = Ok(());
    place_exprs(dst, &mut |e| clean = clean.clone().and_then(|()| reads(e, stale)));
    if let (Some(id), true) = (local_of(dst), dst.projs.is_empty()) {
        stale.remove(&id);
    }
    clean
}
