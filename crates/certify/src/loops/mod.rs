//! Loops whose number of rounds is not known: proved by induction instead of followed.
//!
//! [`source`] executes one round with everything it carries unknown; [`machine`] executes one lap of the code from a state related
//! to the source's, the relation guessed by [`relation`].
//!
//! Needs: both executors.  Keeps: a loop counts as matched only if the relation holds at the first arrival, one lap leads from
//! related states to related states, both leave after the same round, and the code comes to its loop only where the source does to its own;
//! all of it asked of terms. What a guess is made from decides nothing.  Absent: laps of more than two rounds, loops in loops of unknown
//! count, loops left in two places.

pub(crate) mod machine;
mod relation;
pub mod source;

pub use source::Cut;
