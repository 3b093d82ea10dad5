//! The machine side: RISC-V code executed into terms.
//!
//! [`domain`] interprets the instruction model over terms, [`memory`] keeps objects apart, [`exec`] follows the code of one
//! function, [`access`] its loads and stores, [`constants`] gives addresses to constants, [`weave`] follows several ways through a
//! loop side by side, [`call`] replaces calls by what the source says of the callee, [`contract`] says when that may be.
//!
//! Needs: the instruction model, an object file.  Keeps: a branch or an address that depends on a secret stops the execution
//! with its place; so does every access outside the stack frame, the arguments and constants.  Absent: the source.

mod access;
pub mod call;
pub mod code;
mod constants;
mod contract;
pub mod domain;
mod either;
pub mod exec;
pub mod flow;
mod fused;
mod given;
mod live;
mod made;
pub mod memory;
mod run;
mod shape;
pub mod state;
mod stop;
mod weave;

pub use code::Code;
pub(crate) use run::{any_run, scalars_of};
pub(crate) use contract::CALLER_SAVED;
pub use state::{Exec, State};
pub use stop::{Halt, Leak, Why};
