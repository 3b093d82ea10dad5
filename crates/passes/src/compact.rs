//! Locals that nothing mentions go, and the rest are numbered anew.
//!
//! Needs: nothing.  Keeps: the text. The numbers put back give the function there was, but for the locals that went.
//! Absent: any choice; a pass only says that it leaves such locals behind.
//! Trusted: c.

use santoku_ir::visit::{read_locals, rename_contract_locals, rename_locals, rename_ty_locals, written_locals};
use santoku_ir::{Func, LocalId, LocalKind};
use std::collections::{BTreeMap, BTreeSet};

/// Drops what is unused.
///
/// # Errors
/// What is not as before when the old numbers are put back: a fault of this file.
pub fn compact(func: &mut Func) -> Result<(), String> {
    let mut used: BTreeSet<LocalId> = read_locals(&func.body);
    used.extend(written_locals(&func.body));
    let signature = |kind: LocalKind| matches!(kind, LocalKind::Len | LocalKind::Param | LocalKind::Ret);
    let kept: Vec<LocalId> = (0..func.locals.len() as u32)
        .map(LocalId)
        .filter(|l| signature(func.local(*l).kind) || used.contains(l))
        .collect();
    if kept.len() == func.locals.len() {
        return Ok(());
    }
    let before = func.clone();
    let new: BTreeMap<LocalId, LocalId> = kept.iter().enumerate().map(|(n, l)| (*l, LocalId(n as u32))).collect();
    func.locals = kept.iter().map(|l| before.local(*l).clone()).collect();
    renumber(func, &|l| new.get(&l).copied().unwrap_or(l));
    let mut back = func.clone();
    renumber(&mut back, &|l| kept.get(l.0 as usize).copied().unwrap_or(l));
    let same = back.locals.iter().zip(&kept).all(|(l, old)| l == before.local(*old));
    back.locals.clone_from(&before.locals);
    if same && back == before {
        Ok(())
    } else {
        Err("its locals cannot be numbered anew".to_string())
    }
}

fn renumber(func: &mut Func, map: &dyn Fn(LocalId) -> LocalId) {
    rename_locals(&mut func.body, map);
    func.contracts.iter_mut().for_each(|c| rename_contract_locals(c, map));
    func.locals.iter_mut().for_each(|l| rename_ty_locals(&mut l.ty, map));
    for ids in [&mut func.lens, &mut func.params, &mut func.rets] {
        ids.iter_mut().for_each(|id| *id = map(*id));
    }
}
