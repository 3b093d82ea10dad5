//! Core IR to portable C99.
//!
//! Needs: `ir`, with every integer occurrence annotated by its proven range (the `derive-width`
//! pass); a range decides the machine type of each operation and of each stored element.
//! Keeps: the meaning and the order of memory accesses; no secret reaches a branch or an address; no
//! undefined behaviour. Assumed of the C compiler: two's complement and arithmetic right shift of negative
//! values (both checked at compile time by the emitted unit).
//! Absent on purpose: optimisation (passes), reading or writing files.
//! Trusted: nothing: `c-judge` reads the text back and compares it with the program; files that say otherwise are what it does not read.

mod aggregate;
mod alias;
mod call;
mod clear;
#[cfg(test)]
mod clear_tests;
mod context;
mod ctype;
#[cfg(test)]
mod decided_tests;
mod decisions;
mod error;
mod estimate;
mod exported;
mod expr;
mod func;
mod known;
mod lanes;
mod lowbits;
mod merge;
mod names;
mod options;
mod preamble;
mod printed;
mod scope;
mod settle;
mod stmt;
mod storage;
mod together;
mod unit;
mod vector;
mod words;

pub use clear::{function_stack_macro, stack_macro};
pub use santoku_c_judge::Compared;
pub use decisions::{Decision, Decisions, DECISIONS};
pub use error::{EmitError, LOCAL_BYTES};
pub use exported::{Argument, Exported, Number, Role};
pub use options::{Clears, Lanes, LanesOf, Measured, Options, Placement, Products, Stack, Vector};
pub use preamble::API;
pub use storage::storage;
pub use together::renaming_inside;
pub use unit::{emit, emit_in_pieces, emit_inner, interface, Emitted, Inner};
