//! Numbers that every part of the compiler needs.
//!
//! Needs: nothing of ours.  Keeps: what repeats from run to run.  Absent: anything that is particular to one part.
//! Trusted: nothing: it chooses samples.

mod random;

pub use random::SplitMix64;
