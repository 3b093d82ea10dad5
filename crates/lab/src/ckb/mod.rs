//! Programs on CKB-VM (version 2, ISA IMC + B + macro-op fusion, unless another is asked for), run by the crate that nodes run: exact cycles, no model of ours. The same crate
//! without B and fusion, each instruction at one cost, is the guest of a zkVM.
//!
//! Needs: an RV64 ELF (see [`crate::program`] for making one from C). Keeps: nothing. Absent on purpose: chain syscalls, and the
//! assembly interpreter: the portable one gives the same cycles and builds everywhere.
//!
//! Inputs do not pass through syscalls, which cost cycles: they are written into the program's own variables, found by symbol,
//! before the first instruction; outputs are read from variables after the last.

mod calls;
mod error;
mod image;
mod machine;
mod near;
mod profile;

pub use error::CkbError;
pub use machine::{CkbJob, CkbRun, Machine, Version};
pub use near::NearMiss;
pub use profile::{FunctionCost, OpCost, Profile};

use ckb_vm::machine::trace::TraceMachine;
use ckb_vm::DefaultMachineRunner;
use machine::Loaded;

/// Runs an ELF file to its end. The same input gives the same cycles, always.
pub fn run(elf: &[u8], job: &CkbJob) -> Result<CkbRun, CkbError> {
    let mut loaded = Loaded::new(elf, job)?;
    let mut traced = TraceMachine::new(loaded.vm);
    match traced.run() {
        Ok(exit_code) => {
            loaded.vm = traced.machine;
            loaded.finish(exit_code, job)
        }
        Err(ckb_vm::Error::CyclesExceeded) => Err(CkbError::Cycles { max_cycles: job.max_cycles }),
        // The fast interpreter knows only the block it was in; stepping finds the instruction.
        Err(e) => match profile(elf, job) {
            Err(exact) => Err(exact),
            Ok(_) => Err(CkbError::Internal(format!("`{e}` in blocks, but not step by step"))),
        },
    }
}

/// Runs an ELF file step by step, with costs per function, per chain of calls and per operation. Same cycles as [`run`].
pub fn profile(elf: &[u8], job: &CkbJob) -> Result<Profile, CkbError> {
    profile::profile(Loaded::new(elf, job)?, job)
}

#[cfg(test)]
mod tests;
