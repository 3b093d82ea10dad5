//! A second look, at all passes together.
//!
//! The term graph says of every pass that it kept what a function computes. Behind the last pass each function that is left is put
//! before the judge of meaning, beside the program that the passes began with: it shares neither terms nor rules with the graph.
//!
//! Needs: both programs.  Keeps: a function for which the graph alone speaks is named.  Absent: which pass it was.
//! Trusted: nothing: a second opinion on the passes; the term graph, which is believed, has to agree.

use santoku_ir::{FuncId, Program};
use santoku_meaning::twins;

/// What the second look found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Again {
    /// Functions with results, and those of them that were accepted.
    pub asked: usize,
    pub accepted: usize,
    /// Scalars that were compared.
    pub scalars: usize,
    /// Functions that were not accepted, with the reason: that they compute what they did rests on the term graph.
    pub believed: Vec<(String, String)>,
}

/// Compares every function of `after` that gives something with what it was in `before`.
pub fn look(before: &Program, after: &Program) -> Again {
    let mut again = Again::default();
    for (at, func) in after.funcs.iter().enumerate().filter(|(_, f)| !f.rets.is_empty()) {
        again.asked += 1;
        match twins::check(before, after, FuncId(at as u32)) {
            Ok(scalars) => {
                again.accepted += 1;
                again.scalars += scalars;
            }
            Err(why) => again.believed.push((func.name.clone(), why.0)),
        }
    }
    again
}
