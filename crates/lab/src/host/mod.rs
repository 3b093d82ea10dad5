//! Timing C implementations on the machine we run on (x86-64), interleaved in one process.
//!
//! Needs: a C compiler, `ld`, `objcopy`. Keeps: nothing; the work directory is the caller's. Absent on purpose: `unsafe`
//! and foreign calls. The timed code lives in a generated C program of its own ([`compare`] builds and runs it), so a
//! crash of an implementation is an error value here and no Rust code runs between two samples.
//!
//! Method: batches of about 150 us, one sample of every pair before the next of any, medians with 10th and 90th
//! percentiles, pinned to one processor where the system allows it. Counted is the time-stamp counter; the ratio of
//! core cycles to its ticks comes from a chain of dependent multiplications timed between the samples of the same run.
//! A shared core slows what is bound by throughput up to twofold, by another tenant's doing: a probe that wants every issue
//! slot stands before and after each sample, and only samples between undisturbed probes count.

mod error;
mod job;
pub mod kernel;
mod link;
mod parse;
mod program;
pub mod rivals;

pub use error::HostError;
pub use job::{HostImpl, HostMachine, HostRow, HostRun, Spread, Workload};
pub use program::{available, HostProgram};

use std::path::Path;

/// Builds all implementations into one bench under `work_dir`, runs it, checks that their results agree, and returns one row
/// per operation. Takes about `rounds * batch_us` (at least one operation each) per row.
pub fn compare(work_dir: &Path, impls: &[HostImpl], workload: &Workload) -> Result<HostRun, HostError> {
    if !cfg!(target_arch = "x86_64") {
        return Err(HostError::Machine { arch: std::env::consts::ARCH });
    }
    check_request(impls, workload)?;
    let built = link::build(work_dir, impls, workload)?;
    let output = link::run(&built.program)?;
    parse::rows(&output, impls, &built.compilers, workload)
}

fn check_request(impls: &[HostImpl], workload: &Workload) -> Result<(), HostError> {
    let fail = |reason: String| Err(HostError::Request { reason });
    if impls.is_empty() {
        return fail("no implementation given".into());
    }
    if workload.rounds < 3 || workload.message_len == 0 {
        return fail(format!("{} rounds on {} bytes", workload.rounds, workload.message_len));
    }
    for (i, imp) in impls.iter().enumerate() {
        if impls[..i].iter().any(|other| other.name == imp.name) {
            return fail(format!("two implementations are named {}", imp.name));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
