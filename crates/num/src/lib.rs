//! Numbers that every part of the compiler needs: exact integers, their intervals, samples.
//!
//! Needs: big integers.  Keeps: exact results; samples repeat from run to run.  Absent: anything that is particular to one part.
//!
//! Integers and intervals are trusted, by the judges too: `tests/every` tries each operation on all small operands, and the crate
//! `mistakes` breaks their lines one by one and sees those tests fail.
//! Trusted: safe, field, c, bytes, leaks, certifier, text.

mod bound;
mod bytes;
mod end;
mod int;
mod itv;
mod random;

pub use bound::{Bound, Short};
pub use bytes::{from_hex, hex, little};
pub use end::End;
pub use int::Int;
pub use itv::Itv;
pub use random::SplitMix64;
