//! RISC-V assembly from the lowered IR: selection, registers, frames. `santoku certify` judges what becomes of it, as it judges compilers.
//!
//! Needs: a module for a machine whose widest word is a register.  Keeps: the calling convention of the psABI; no branch and no address on a secret
//! that the module has not.  Absent: fused groups, scheduling, search.
//! Trusted: nothing: the certifier looks at the bytes.

mod allocate;
mod clear;
mod code;
mod emit;
mod live;
mod moves;
mod options;
mod schedule;
mod select;

pub use emit::emit;
pub use options::{Latency, NotEmitted, Options};
