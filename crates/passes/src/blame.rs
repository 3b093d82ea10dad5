//! Which rewrite is in the way when ranges cannot be proved again.
//!
//! Needs: a run that ended with open ranges.  Keeps: determinism; the passes run again as they ran, and the range prover
//! is asked after each.  Absent: a judgement who is right. A wrong pass and a right one that the prover cannot follow look
//! the same from here; what either made of the function is left out, and the report says so.

use crate::derive_width::{open, Open};
use crate::run::Run;
use std::collections::BTreeSet;

impl Run<'_> {
    /// Leaves out the first rewrite after which something new is open; where there is none, every rewrite of the functions
    /// concerned. False when nothing is left to leave out.
    pub fn blame(&mut self, found: &[Open]) -> bool {
        let known = self.leave.len();
        match self.guilty() {
            Some((at, funcs)) => self.leave.extend(funcs.into_iter().map(|f| (at, f))),
            None => {
                let writes = self.passes.iter().position(|p| p.writes_ranges).unwrap_or(0);
                let funcs: BTreeSet<&str> = found.iter().map(|o| o.func.as_str()).collect();
                self.leave.extend((0..writes).flat_map(|at| funcs.iter().map(move |f| (at, (*f).to_string()))));
            }
        }
        self.leave.len() > known
    }

    fn guilty(&self) -> Option<(usize, BTreeSet<String>)> {
        let mut program = self.start.clone();
        for (at, pass) in self.passes.iter().enumerate() {
            if pass.writes_ranges {
                return None;
            }
            let (next, report) = self.step(at, &program).ok()?;
            program = next;
            if report.changed.is_empty() {
                continue;
            }
            let new: BTreeSet<String> = self.base().new_in(open(&program)).into_iter().map(|o| o.func).collect();
            let fresh: BTreeSet<String> = new.into_iter().filter(|f| !self.leave.contains(&(at, f.clone()))).collect();
            if !fresh.is_empty() {
                // What is open in a caller may be what became of a function it calls.
                let own = report.changed.iter().any(|f| fresh.contains(f));
                return Some((at, if own { fresh } else { report.changed.into_iter().collect() }));
            }
        }
        None
    }
}
