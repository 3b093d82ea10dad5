//! Which clauses are about words.
//! Trusted: nothing: how a clause is looked at, not whether it holds.

use crate::data::Program;
use crate::spec::{SpecExpr, SpecOp};
use crate::visit;
use std::collections::BTreeSet;

/// Whether an expression is about bits, itself or by the functions it calls: such clauses are about words.
pub fn of_bits(program: &Program, e: &SpecExpr) -> bool {
    let (mut seen, mut todo, mut found) = (BTreeSet::new(), vec![e], false);
    while let Some(e) = todo.pop() {
        visit::walk_spec(e, &mut |e| match e {
            SpecExpr::Bin(SpecOp::And | SpecOp::Or | SpecOp::Xor, ..) => found = true,
            SpecExpr::Call(id, _) if seen.insert(*id) => todo.extend(program.specs.get(id.0 as usize).map(|f| &f.body)),
            _ => {}
        });
    }
    found
}
