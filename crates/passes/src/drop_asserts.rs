//! Drops proved assertions and loop invariants.
//!
//! Needs: `derive-width` before it, which may use them as facts.  Keeps: the assertions of `test` blocks, which are what
//! those blocks are for.  Leaves out: contracts; they stay for reports and headers.
//! Class: checked.
//! Page: docs/passes/drop-asserts.md.  Tests: src/tests/alone.rs, src/tests/broken.rs.

use crate::options::PassOptions;
use crate::util::each_function;
use santoku_ir::visit::rewrite_stmts;
use santoku_ir::{Func, Ghost, Program, Stmt, Ty};
use std::collections::BTreeSet;

pub fn run(program: &Program, _: &PassOptions) -> Program {
    each_function(program, |_, func| strip(func))
}

/// Ghost text, which is proved before all passes and is no part of what they see: its statements, the text of lemmas (functions without
/// results that are no tests), and the types of its variables.
pub fn without_ghost(program: &Program) -> Program {
    let mut program = program.clone();
    let tests: BTreeSet<u32> = program.tests.iter().map(|t| t.func.0).collect();
    for (nr, func) in program.funcs.iter_mut().enumerate() {
        if func.rets.is_empty() && !tests.contains(&(nr as u32)) {
            func.body.clear();
            func.contracts.clear();
            func.locals.clear();
            func.params.clear();
            func.lens.clear();
        }
        let mut own = vec![];
        rewrite_stmts(&mut func.body, &mut |stmt| match &stmt {
            Stmt::Ghost { what, .. } => {
                if let Ghost::Let(id, _) = what {
                    own.push(*id);
                }
                vec![]
            }
            _ => vec![stmt],
        });
        own.into_iter().for_each(|id| func.locals[id.0 as usize].ty = Ty::Bool);
    }
    program
}

/// Takes them out of one function; the assertions of a test stay.
pub fn strip(func: &mut Func) {
    let is_test = func.rets.is_empty();
    rewrite_stmts(&mut func.body, &mut |mut stmt| match &mut stmt {
        Stmt::Assert { .. } | Stmt::Ghost { .. } if !is_test => Vec::new(),
        Stmt::For { invariants, .. } => {
            invariants.clear();
            vec![stmt]
        }
        Stmt::Assert { .. } | Stmt::Ghost { .. } | Stmt::Assign { .. } | Stmt::Call { .. } | Stmt::If { .. } => vec![stmt],
    });
}
