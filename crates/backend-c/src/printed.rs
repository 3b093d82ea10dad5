//! Which functions of a program are printed.

use santoku_ir::visit::walk_stmts;
use santoku_ir::{Program, Stmt};

/// Which functions are printed, and whether each is an entry: the exported functions and what they call; where nothing is
/// exported, all but tests, and those that no other function calls are the entries.
pub fn printed_functions(p: &Program) -> Vec<Option<bool>> {
    let mut calls: Vec<Vec<usize>> = vec![];
    for f in &p.funcs {
        let mut to = vec![];
        walk_stmts(&f.body, &mut |s| {
            if let Stmt::Call { func, .. } = s {
                to.push(func.0 as usize);
            }
        });
        calls.push(to);
    }
    let test = |k: usize| p.tests.iter().any(|t| t.func.0 as usize == k);
    let exported: Vec<usize> = (0..p.funcs.len()).filter(|k| p.funcs[*k].export.is_some()).collect();
    if exported.is_empty() {
        let called = |k: usize| (0..calls.len()).any(|j| !test(j) && calls[j].contains(&k));
        return (0..p.funcs.len()).map(|k| (!test(k)).then(|| !called(k))).collect();
    }
    let mut out = vec![None; p.funcs.len()];
    let mut todo = exported;
    for k in &todo {
        out[*k] = Some(true);
    }
    while let Some(k) = todo.pop() {
        for j in &calls[k] {
            if out[*j].is_none() {
                out[*j] = Some(false);
                todo.push(*j);
            }
        }
    }
    out
}
