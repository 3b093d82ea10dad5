//! All comparisons made, and which of them hold together.
//! Trusted: bytes, leaks, certifier.

use crate::function::Verdict;
use crate::shared::Shared;
use crate::subject::{Done, Job};
use santoku_bytes::closed::{closed, Judged};
use santoku_ir::FuncId;
use std::collections::{BTreeMap, BTreeSet};

/// All comparisons made.
#[derive(Clone, Default)]
pub(crate) struct Results {
    pub done: BTreeMap<Job, Done>,
    /// Functions that others can call and that were seen to give wrong values, whatever the terms say.
    pub wrong: BTreeSet<u64>,
}

pub(crate) type Known = BTreeMap<FuncId, BTreeSet<u64>>;

impl Results {
    /// The comparisons that hold together with all they demand: of every function of that name in the file.
    pub fn sound(&self, known: &Known) -> BTreeSet<Job> {
        let equal = self.done.iter().filter(|(_, d)| d.found.verdict == Verdict::Equal);
        let mut sound: BTreeSet<Job> = equal.map(|(j, _)| j.clone()).collect();
        loop {
            let rests = |j: &Job| self.unproved(j, known, &sound).is_some();
            let lost: Vec<Job> = sound.iter().filter(|j| rests(j)).cloned().collect();
            if lost.is_empty() {
                return sound;
            }
            lost.iter().for_each(|j| {
                sound.remove(j);
            });
        }
    }

    /// What the judge of bytes accepts together with all that it rests on.
    pub(crate) fn judged(&self, known: &Known) -> BTreeSet<Judged> {
        let accepted = self.done.iter().filter(|(_, d)| d.found.verdict == Verdict::Equal && d.found.judged.is_none());
        closed(&accepted.map(|(j, d)| ((j.address, (j.func, j.shared.clone())), d.found.calls.clone())).collect(), known)
    }

    /// A call that a comparison rests on and that is not among these.
    pub(crate) fn unproved(&self, job: &Job, known: &Known, sound: &BTreeSet<Job>) -> Option<(FuncId, Shared)> {
        let calls = &self.done.get(job)?.found.calls;
        let holds = |(func, shared): &(FuncId, Shared)| {
            let places = known.get(func).filter(|all| !all.is_empty());
            places.is_some_and(|all| all.iter().all(|a| sound.contains(&Job { address: *a, func: *func, shared: shared.clone() })))
        };
        calls.iter().find(|c| !holds(c)).cloned()
    }
}
