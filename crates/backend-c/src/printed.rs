//! Which functions of a program are printed.

use santoku_ir::visit::{callees, reached};
use santoku_ir::{FuncId, Program};

/// Which functions are printed, and whether each is an entry: the exported functions and what they call; where nothing is
/// exported, all but tests, and those that no other function calls are the entries.
pub fn printed_functions(p: &Program) -> Vec<Option<bool>> {
    let calls: Vec<Vec<usize>> = p.funcs.iter().map(|f| callees(f).into_iter().map(|id| id.0 as usize).collect()).collect();
    let test = |k: usize| p.tests.iter().any(|t| t.func.0 as usize == k);
    let exported: Vec<usize> = (0..p.funcs.len()).filter(|k| p.funcs[*k].export.is_some()).collect();
    if exported.is_empty() {
        let called = |k: usize| (0..calls.len()).any(|j| !test(j) && calls[j].contains(&k));
        return (0..p.funcs.len()).map(|k| (!test(k)).then(|| !called(k))).collect();
    }
    let mut out = vec![None; p.funcs.len()];
    for id in reached(p, exported.iter().map(|k| FuncId(*k as u32))) {
        out[id.0 as usize] = Some(exported.contains(&(id.0 as usize)));
    }
    out
}
