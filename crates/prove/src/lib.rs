//! The prover: obligations, the engines that settle them, and the report of who proved what.
//!
//! Needs: a verified core program (`ir`).  Keeps: an obligation is proved by a named engine or stands as failed; nothing is
//! dropped, and a program without obligations is no success.  Absent on purpose: files, processes (an SMT solver is
//! reached through its own module), rendering for people (see `cli`).
//! Trusted: nothing: engines search, and what they find is judged; what is believed all the same says so itself.

pub mod algebra;
pub mod cache;
pub mod carried;
pub mod clauses;
pub mod contracts;
pub mod crosscheck;
mod cuts;
pub mod equiv;
mod excuse;
pub mod gates;
pub mod itv;
pub mod judged;
mod key;
pub mod narrow;
#[cfg(test)]
mod fault_tests;
pub mod obligation;
pub mod products;
pub mod ranges;
pub mod replay;
pub mod report;
pub mod secrecy;
mod taken_back;
pub mod smt;
pub mod tally;
mod threads;
pub mod trial;
pub mod whole;

pub use report::Report;
pub use whole::{prove, ProveOptions};
