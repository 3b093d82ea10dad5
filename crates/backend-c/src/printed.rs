//! Which functions of a program are printed.

use santoku_ir::visit::{callees, reached};
use santoku_ir::{FuncId, Program};
use std::collections::BTreeSet;

/// Which functions are printed, and whether each is an entry: the exported functions and what they call; where nothing is
/// exported, all but tests, and those that no other function calls are the entries.
pub fn printed_functions(p: &Program) -> Vec<Option<bool>> {
    let ids = || (0..p.funcs.len() as u32).map(FuncId);
    let exported = |id: FuncId| p.func(id).export.is_some();
    if !ids().any(exported) {
        let tests: BTreeSet<FuncId> = p.tests.iter().map(|t| t.func).collect();
        let called: BTreeSet<FuncId> = ids().filter(|id| !tests.contains(id)).flat_map(|id| callees(p.func(id))).collect();
        return ids().map(|id| (!tests.contains(&id)).then(|| !called.contains(&id))).collect();
    }
    let printed = reached(p, ids().filter(|id| exported(*id)));
    ids().map(|id| printed.contains(&id).then(|| exported(id))).collect()
}
