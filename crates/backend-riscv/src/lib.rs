//! RISC-V assembly from the lowered IR: selection, groups that a machine executes as one, a schedule, registers, frames. `santoku certify` judges
//! what becomes of it, as it judges compilers.
//!
//! Needs: a module for a machine whose widest word is a register.  Keeps: the calling convention of the psABI; no branch and no address on a secret
//! that the module has not.  Absent: a search for better schedules.
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

pub use emit::emit;
pub use options::{Latency, NotEmitted, Options, Product};
