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

pub mod kernel;
mod link;
mod parse;
mod program;
pub mod rivals;

pub use program::{available, HostProgram};

use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One implementation to be timed.
#[derive(Clone, Debug)]
pub struct HostImpl {
    /// Name in the rows; unique in a comparison.
    pub name: String,
    /// Compiler command, as `targets/compilers.toml` has it.
    pub compiler: String,
    /// Flags for every C file of this implementation, the adapter included.
    pub cflags: Vec<String>,
    /// C files, compiled one by one.
    pub sources: Vec<PathBuf>,
    /// Folders for `#include`.
    pub include_dirs: Vec<PathBuf>,
    /// Static libraries the C files draw from.
    pub libs: Vec<PathBuf>,
    /// Text of the C adapter; it defines `BENCH_IMPL` as `bench.h` says.
    pub adapter: String,
}

/// What every implementation is given, and how long it is watched.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Name in records.
    pub name: String,
    /// Bytes of message.
    pub message_len: usize,
    /// Samples of each (implementation, operation); up to eight times as many while too few are undisturbed.
    pub rounds: usize,
    /// Aimed length of one sample in microseconds; slower operations are timed one by one.
    pub batch_us: u32,
    /// Expected result per operation. Operations not named here need only agree with each other.
    pub expected: BTreeMap<String, Vec<u8>>,
    /// Whether all implementations must leave the same.
    pub compared: bool,
    /// Whether instructions of short operations are counted, one by one.
    pub count: bool,
}

impl Workload {
    /// A workload with 300 samples of 150 us, results compared, instructions not counted.
    pub fn new(name: &str, message_len: usize) -> Self {
        Workload { name: name.into(), message_len, rounds: 300, batch_us: 150, expected: BTreeMap::new(), compared: true, count: false }
    }

    /// The 64 bytes the implementations see as `bench_key` (a signature's seed is the first 32).
    pub fn key(&self) -> [u8; 64] {
        std::array::from_fn(|i| (i as u8).wrapping_mul(37).wrapping_add(11))
    }

    /// The message, `message_len` bytes.
    pub fn message(&self) -> Vec<u8> {
        let mut state = 0x9e37_79b9_u32;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state >> 24) as u8
        };
        (0..self.message_len).map(|_| next()).collect()
    }
}

/// Percentiles over the samples of one operation; unit as the field's name says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// 10th percentile.
    pub p10: f64,
    /// Median.
    pub median: f64,
    /// 90th percentile.
    pub p90: f64,
}

/// One operation of one implementation.
#[derive(Clone, Debug, Serialize)]
pub struct HostRow {
    /// [`HostImpl::name`].
    pub implementation: String,
    /// Operation, as the adapter names it.
    pub op: String,
    /// First line of the compiler's `--version`.
    pub compiler: String,
    /// Flags, joined by spaces.
    pub cflags: String,
    /// Samples that count: those beside whose probes no neighbour on the core was seen; where these are fewer than 20, the
    /// 20 least disturbed ones.
    pub samples: usize,
    /// Samples taken.
    pub taken: usize,
    /// Operations in one sample.
    pub reps: usize,
    /// Time-stamp counter ticks per operation.
    pub cycles_tsc: Spread,
    /// Core cycles per operation.
    pub cycles_core: Spread,
    /// Core cycles per byte, for bulk operations.
    pub core_cycles_per_byte: Option<Spread>,
    /// Operations per second at the median.
    pub ops_per_second: f64,
    /// Instructions of one operation, counted one by one; none where they are too many for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<u64>,
    /// What the operation left.
    #[serde(skip)]
    pub result: Vec<u8>,
}

/// The machine as the run saw it.
#[derive(Clone, Debug, Serialize)]
pub struct HostMachine {
    /// Processor model, as the kernel names it.
    pub cpu: String,
    /// Time-stamp counter frequency in Hz.
    pub tsc_hz: f64,
    /// Core cycles per tick: percentiles over the run. A wide spread means a machine that changed its clock.
    pub core_per_tsc: Spread,
    /// Processor pinned to, if the system allowed it.
    pub pinned_cpu: Option<u32>,
}

/// A whole comparison.
#[derive(Clone, Debug, Serialize)]
pub struct HostRun {
    /// [`Workload::name`].
    pub workload: String,
    /// Bytes of message.
    pub message_len: usize,
    /// Where it ran.
    pub machine: HostMachine,
    /// One row per (implementation, operation), in the order given.
    pub rows: Vec<HostRow>,
}

impl HostRun {
    /// How many samples there are, in words: taken of each, and fewest and most that count.
    pub fn samples(&self) -> String {
        let taken = self.rows.iter().map(|r| r.taken).max().unwrap_or(0);
        let fewest = self.rows.iter().map(|r| r.samples).min().unwrap_or(0);
        let most = self.rows.iter().map(|r| r.samples).max().unwrap_or(0);
        format!("{taken} samples each, interleaved, of which the {fewest} to {most} least disturbed by a neighbour on the core count")
    }
}

/// Why a comparison gave no numbers.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// Not an x86-64 machine.
    #[error("host timing reads the x86-64 time-stamp counter; this machine is {arch}. Measure on the RV32 model or CKB-VM instead")]
    Machine {
        /// Architecture found.
        arch: &'static str,
    },
    /// A comparison of nothing, or two implementations of one name.
    #[error("nothing sound to compare: {reason}")]
    Request {
        /// What was wrong.
        reason: String,
    },
    /// A tool is missing.
    #[error("cannot run `{tool}` ({source}): install it (Debian: {package})")]
    Tool {
        /// Command.
        tool: String,
        /// Package that brings it.
        package: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// An implementation does not compile or link.
    #[error("{implementation} does not build: `{command}` said:\n{stderr}")]
    Build {
        /// Implementation.
        implementation: String,
        /// Command line.
        command: String,
        /// Its complaint.
        stderr: String,
    },
    /// An adapter's own check failed: a key was not loaded, or a forged signature was accepted.
    #[error("{implementation} failed its own checks before timing (code {code})")]
    Refused {
        /// Implementation.
        implementation: String,
        /// Value of the adapter's `setup`.
        code: i64,
    },
    /// The program died.
    #[error("the program ended with {status}: {stderr}")]
    Crashed {
        /// Exit status or signal.
        status: String,
        /// Its last words.
        stderr: String,
    },
    /// Two implementations computed different things: neither is worth timing.
    #[error("{implementation} disagrees with {other} on `{op}`: {found} instead of {expected}")]
    Disagree {
        /// The one that differs.
        implementation: String,
        /// What it was compared with.
        other: String,
        /// Operation.
        op: String,
        /// Expected bytes, in hexadecimal.
        expected: String,
        /// Its bytes, in hexadecimal.
        found: String,
    },
    /// Our own fault: the bench's output is not what this module reads.
    #[error("internal error in lab::host: {0}")]
    Internal(String),
    /// Files could not be written or read.
    #[error("{path}: {source}")]
    Io {
        /// File.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

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
