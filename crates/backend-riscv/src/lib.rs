//! RISC-V assembly from the lowered IR: selection, groups that a machine executes as one, a schedule, registers, frames. `santoku certify` judges
//! what becomes of it, as it judges compilers.
//!
//! Needs: a module for a machine whose widest word is a register.  Keeps: the calling convention of the psABI; no branch and no address on a secret
//! that the module has not.  Absent: the search for better schedules, whose results are taken.
//! Trusted: nothing: the certifier looks at the bytes.

mod allocate;
mod clear;
mod code;
mod comments;
mod conditions;
mod emit;
mod flow;
mod forms;
mod layout;
mod mach;
mod merge;
mod moves;
mod options;
mod pipeline;
mod schedule;
mod select;
mod tuning;

pub use emit::{emit, guess, Counts, Emitted};
pub use options::{Latency, NotEmitted, Options, Product};
pub use tuning::{Nudges, Tuning};
