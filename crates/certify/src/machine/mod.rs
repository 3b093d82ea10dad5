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
mod weave;

pub use exec::{Code, Exec, State};

/// Why code could not be followed to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halt {
    pub pc: u64,
    pub why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// A branch, an address or an operation of variable time depends on a secret: which, and the term.
    Secret(Leak, String),
    /// Memory is touched that the function may not touch.
    Memory(String),
    /// The calling convention is broken.
    Convention(String),
    /// What every call has to keep is not kept, whoever is called: the stack pointer's alignment, gp, tp, where a call returns to.
    Platform(String),
    /// Code the executor does not follow.
    Unsupported(String),
    /// A loop of run-time length that was not shown to go with a loop of the source: what it is like, and what those are.
    Loop { machine: String, source: String },
    /// A limit was reached.
    TooBig,
}

/// What would show a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leak {
    Branch,
    Address,
    Time,
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Why::Secret(leak, term) => {
                let what = match leak {
                    Leak::Branch => "a branch depends on a secret",
                    Leak::Address => "an address depends on a secret",
                    Leak::Time => "an operation whose time varies works on a secret",
                };
                write!(f, "{what}: {term}")
            }
            Why::Memory(what) | Why::Convention(what) | Why::Platform(what) | Why::Unsupported(what) => f.write_str(what),
            Why::Loop { machine, source } => write!(f, "no relation at the head of a loop: the code has {machine}, the source {source}"),
            Why::TooBig => f.write_str("the code is too long to follow"),
        }
    }
}
