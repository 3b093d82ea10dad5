//! Why a comparison on this machine gave no figures.

use std::path::PathBuf;

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
