//! Machine code proved equal to the core IR, function by function.
//!
//! Needs: the IR, the RISC-V model (`isa`), object files (`elf`).  Keeps: every value of both sides in one canonical form
//! ([`term`]); what is not shown equal is reported as not proved.  Absent: files, clocks, compilers; any table of the C back end.

pub mod function;
pub mod machine;
pub mod source;
pub mod term;
