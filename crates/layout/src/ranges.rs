//! Proven ranges of exact integers, written in.

use crate::error::LayoutError;
use crate::isa::Layout;
use santoku_ir::{Func, Program};
use santoku_passes::{optimise, Level, PassOptions};
use std::collections::BTreeSet;

/// The proven range of every counter and index written in.
pub fn ranged(program: &Program, f: &Func, name: &str, layout: Layout) -> Result<Program, LayoutError> {
    let done = optimise(program, Level::O0, &BTreeSet::new(), &PassOptions::new(Level::O0, 64));
    let done = done.map_err(|e| LayoutError::internal("ranges", e.to_string()))?;
    match done.steps.iter().flat_map(|s| s.reverted.iter().chain(&s.believed)).next() {
        Some(_) => Err(LayoutError::Operation {
            func: name.to_string(),
            what: "place for contracts and assertions, without which the ranges of its integers are not found".into(),
            layout: layout.name(),
            loc: f.loc,
        }),
        None => Ok(done.program),
    }
}
