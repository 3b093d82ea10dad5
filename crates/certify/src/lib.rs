//! Machine code proved equal to the core IR, function by function.
//!
//! Needs: the IR, the RISC-V model (`isa`), object files (`elf`).  Keeps: every value of both sides in one canonical form
//! ([`term`]); what is not shown equal is reported as not proved, and run ([`concrete`]) to see whether it is wrong.  Absent: files, clocks, compilers; any table of the C back end.
//! Trusted: certifier.

mod adapt;
pub mod concrete;
mod entered;
mod facts;
#[cfg(test)]
mod facts_tests;
pub mod file;
pub mod function;
mod guess;
mod hash;
mod isa;
mod judged;
mod key;
pub mod leak;
pub mod loops;
pub mod machine;
pub mod manifest;
mod reach;
mod residue;
pub mod report;
mod results;
mod settle;
mod shared;
pub mod source;
mod subject;
pub mod term;
pub mod tried;
mod verdict;

pub use file::certify;
pub use residue::stack_depth;
pub use subject::{symbols, Options, World};
pub use isa::{isa_name, isa_of};
pub use judged::EFFORTS;
pub use key::{program_hash, ENGINE_VERSION};
