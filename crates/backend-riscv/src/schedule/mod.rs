//! An order of instructions in which results are there when they are read. Once before registers are given, in which no instruction goes far from its
//! place, because every value that waits takes a register; once behind that, with what was put away and fetched.
//!
//! Where a product is written in a slot in which no other instruction writes, one is kept free for it: a store stands there, or a branch that is
//! never taken.
//!
//! Needs: what instructions read and write; latencies of the machine.  Keeps: every instruction after what it reads, and before what changes what
//! it reads; the order of accesses of which one is a write.  Absent: how many registers it takes, but for the window.
//! Trusted: nothing: the certifier looks at the bytes.

mod before;
mod behind;
mod order;

pub use before::schedule;
pub use behind::{schedule_again, slots};
