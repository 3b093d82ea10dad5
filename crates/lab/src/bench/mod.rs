//! What calls of C functions cost: one trait for every machine that measures.
//!
//! Needs the compilers of the machine's description. Keeps nothing on disk. A machine builds several implementations of the same calls at once,
//! so that one that is shared with others can time them in turn; simulators run them one after the other, and exactly.

mod e31;
mod host;
mod parts;
mod spills;
mod vm;

use crate::error::LabError;
use santoku_target::{Executor, Target};

pub use parts::{Built, Fact, Machine, Measures, Operation, Outcome, Profile, Subject};
pub use spills::StackAccesses;

/// The machine that a target's description names.
///
/// # Errors
/// [`LabError::Target`]: nothing there measures; [`LabError::MissingTool`].
pub fn machine(target: &Target) -> Result<Box<dyn Machine>, LabError> {
    let wrong = |reason: &str| LabError::Target { name: target.name.clone(), reason: reason.into() };
    let run = target.run.as_ref().ok_or_else(|| wrong("its description has no `[run]`"))?;
    match run.on {
        Executor::E31 => Ok(Box::new(e31::E31)),
        Executor::CkbVm | Executor::Rv64Vm => Ok(Box::new(vm::Vm { target: target.clone() })),
        Executor::Native => Ok(Box::new(host::Host { target: target.clone() })),
        Executor::Emulator => Err(wrong("an emulator counts no cycles")),
    }
}

/// Whether figures come from executing programs of this target.
pub fn measures(target: &Target) -> bool {
    target.run.as_ref().is_some_and(|r| r.on != Executor::Emulator)
}
