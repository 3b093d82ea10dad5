//! Where a body is narrow: behind some statement few values go on. What is claimed of these there cuts a proof in two.
//!
//! Needs: a function.  Keeps: nothing that a proof rests on: a place that is not narrow is a worse proposal.
//! Trusted: nothing: see above.

use santoku_ir::visit::{expr_locals, read_locals, written_locals};
use santoku_ir::{Base, Func, Len, LocalId, LocalKind, Loc, Program, Stmt, Ty};
use std::collections::BTreeSet;

/// Most values that a claim is easily made about, and most places that are named.
const VALUES: u64 = 12;
const PLACES: usize = 3;

/// A statement, and the variables that are all that goes on behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrow {
    /// Statements of the body in front of it, at least one, and where the last of these stands.
    pub at: usize,
    pub loc: Loc,
    pub values: Vec<LocalId>,
    pub names: Vec<String>,
}

/// The narrow places of a body: more goes on before and behind each of them. Branches and loops are not looked into.
pub fn narrow(program: &Program, func: &Func) -> Vec<Narrow> {
    let going_on: Vec<BTreeSet<LocalId>> = going_on(func);
    let width = |live: &BTreeSet<LocalId>| live.iter().try_fold(0u64, |n, id| n.checked_add(size(program, &func.local(*id).ty)?));
    let widths: Vec<Option<u64>> = going_on.iter().map(width).collect();
    let mut found = vec![];
    for (at, own) in widths.iter().enumerate().take(widths.len().saturating_sub(1)).skip(1) {
        let Some(own) = own.filter(|w| (1..=VALUES).contains(w)) else { continue };
        // The last of several that are equally narrow, between wider ones.
        let before = widths[..at].iter().rev().find(|w| **w != Some(own)).copied().flatten();
        let behind = widths[at + 1];
        let all_variables = going_on[at].iter().all(|id| func.local(*id).kind != LocalKind::Param);
        if before.is_some_and(|w| w > own) && behind.is_some_and(|w| w > own) && all_variables {
            let names = going_on[at].iter().map(|id| func.local(*id).name.clone()).collect();
            found.push((own, Narrow { at, loc: func.body[at - 1].loc(), values: going_on[at].iter().copied().collect(), names }));
        }
    }
    found.sort_by_key(|(width, _)| *width);
    found.truncate(PLACES);
    let mut found: Vec<Narrow> = found.into_iter().map(|(_, n)| n).collect();
    found.sort_by_key(|n| n.at);
    found
}

/// In front of each statement, and behind the last: the variables and parameters whose values are read later.
fn going_on(func: &Func) -> Vec<BTreeSet<LocalId>> {
    let mut live: BTreeSet<LocalId> = func.rets.iter().copied().collect();
    let mut all = vec![live.clone()];
    for s in func.body.iter().rev() {
        match s {
            Stmt::Assign { dst, .. } if dst.projs.is_empty() => {
                if let Base::Local(id) = dst.base {
                    live.remove(&id);
                }
            }
            Stmt::Call { dsts, .. } => dsts.iter().filter(|d| d.projs.is_empty()).for_each(|d| {
                if let Base::Local(id) = d.base {
                    live.remove(&id);
                }
            }),
            _ => {}
        }
        // What ghost text says goes into no result.
        if !matches!(s, Stmt::Ghost { .. } | Stmt::Assert { .. }) {
            live.extend(read_locals(std::slice::from_ref(s)));
        }
        if let Stmt::For { lo, hi, .. } = s {
            live.extend(expr_locals(lo).into_iter().chain(expr_locals(hi)));
        }
        live.retain(|id| func.local(*id).kind != LocalKind::Counter);
        all.push(live.clone());
    }
    all.reverse();
    // What nothing was written to does not go on.
    let mut written: BTreeSet<LocalId> = func.params.iter().chain(&func.lens).copied().collect();
    for (at, live) in all.iter_mut().enumerate() {
        live.retain(|id| written.contains(id));
        written.extend(func.body.get(at).map(|s| written_locals(std::slice::from_ref(s))).unwrap_or_default());
    }
    all
}

/// Numbers in a value. `None`: as many as a length says.
fn size(program: &Program, ty: &Ty) -> Option<u64> {
    match ty {
        Ty::Array { elem, len: Len::Const(n), .. } => size(program, elem)?.checked_mul(*n),
        Ty::Array { .. } => None,
        Ty::Struct(id) => program.structs[id.0 as usize].fields.iter().try_fold(0u64, |n, (_, t)| n.checked_add(size(program, t)?)),
        _ => Some(1),
    }
}
