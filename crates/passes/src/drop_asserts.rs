//! Drops proved assertions and loop invariants.
//!
//! Needs: `derive-width` before it, which may use them as facts.  Keeps: the assertions of `test` blocks, which are what
//! those blocks are for.  Leaves out: contracts; they stay for reports and headers.
//! Class: checked.
//! Page: docs/passes/drop-asserts.md.  Tests: src/tests/alone.rs, src/tests/broken.rs.

use crate::options::PassOptions;
use crate::util::each_function;
use santoku_ir::visit::rewrite_stmts;
use santoku_ir::{Func, Program, Stmt};

pub fn run(program: &Program, _: &PassOptions) -> Program {
    each_function(program, |_, func| strip(func))
}

/// Takes them out of one function; the assertions of a test stay.
pub fn strip(func: &mut Func) {
    let is_test = func.rets.is_empty();
    rewrite_stmts(&mut func.body, &mut |mut stmt| match &mut stmt {
        Stmt::Assert { .. } if !is_test => Vec::new(),
        Stmt::For { invariants, .. } => {
            invariants.clear();
            vec![stmt]
        }
        Stmt::Assert { .. } | Stmt::Assign { .. } | Stmt::Call { .. } | Stmt::If { .. } => vec![stmt],
    });
}
