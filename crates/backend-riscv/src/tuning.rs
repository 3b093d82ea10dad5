//! Departures from the rules of this crate, one function at a time, as a search finds them.
//!
//! Needs: nothing; any numbers will do.  Keeps: what is made computes the same, because the schedule keeps what depends on one another in its order
//! and the allocator only chooses another value to put away.  Absent: how good numbers are found, which is the lab's.
//! Trusted: nothing: the certifier looks at the bytes.

use std::collections::BTreeMap;

/// What is done otherwise in one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// Instructions that were selected for the function for which it was found. Where there are more or fewer, it is for other code.
    pub instructions: usize,
    /// Instructions as they are selected, before registers are given: by how many slots each counts as later. On machines without latencies, by how
    /// many places it goes back.
    pub before: Nudges,
    /// Registers without number: how much farther away each counts as read, when one has to give way.
    pub spill: Nudges,
    /// Instructions with registers: by how many slots each counts as later.
    pub behind: Nudges,
}

/// Numbers, each with what is added to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nudges(pub BTreeMap<u32, i32>);

impl Nudges {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn of(&self, k: usize) -> i64 {
        u32::try_from(k).ok().and_then(|k| self.0.get(&k)).map_or(0, |by| i64::from(*by))
    }
}
