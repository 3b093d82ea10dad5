//! Removes functions that nothing exported reaches.
//!
//! Needs: roots: exported functions, tests (unless told otherwise), and those named in the options.  Keeps: the text of
//! every function that stays, and the order.  Leaves out: programs without any root, which are libraries.
//! Class: checked. What stays must be the same text, and no root may go.
//! Page: docs/passes/dead-functions.md.  Tests: src/tests/alone.rs, src/tests/broken.rs.

use crate::options::PassOptions;
use crate::util::map_calls;
use santoku_ir::visit::callees;
use santoku_ir::{Func, FuncId, Program};
use std::collections::BTreeMap;

pub fn run(program: &Program, options: &PassOptions) -> Program {
    let is_test = |at: usize| program.tests.iter().any(|t| t.func.0 as usize == at);
    let mut keep: Vec<bool> =
        program.funcs.iter().enumerate().map(|(at, f)| root(f, is_test(at), options)).collect();
    if !keep.iter().any(|k| *k) {
        return program.clone();
    }
    // Callees stand before callers, so one sweep from the end reaches everything.
    for at in (0..program.funcs.len()).rev().filter(|at| *at < program.funcs.len()) {
        if keep[at] {
            callees(&program.funcs[at]).into_iter().for_each(|c| keep[c.0 as usize] = true);
        }
    }
    let mut map = BTreeMap::new();
    let mut out = program.clone();
    out.funcs.clear();
    for (at, func) in program.funcs.iter().enumerate().filter(|(at, _)| keep[*at]) {
        map.insert(FuncId(at as u32), FuncId(out.funcs.len() as u32));
        let mut func = func.clone();
        map_calls(&mut func.body, &|id| map[&id]);
        out.funcs.push(func);
    }
    out.tests.retain(|t| map.contains_key(&t.func));
    for test in &mut out.tests {
        test.func = map[&test.func];
    }
    out
}

fn root(func: &Func, is_test: bool, options: &PassOptions) -> bool {
    func.export.is_some() || options.roots.contains(&func.name) || (is_test && options.keep_tests)
}

/// Must the function of this name survive?
pub fn is_root(program: &Program, name: &str, options: &PassOptions) -> bool {
    let Some(id) = program.find(name) else { return false };
    root(program.func(id), program.tests.iter().any(|t| t.func == id), options)
}
