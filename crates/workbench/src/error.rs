//! What can go wrong between a primitive and its figures.

use santoku_backend_c::EmitError;
use santoku_diag::{Diagnostic, Sources};
use santoku_driver::Failure;
use santoku_passes::PassFailure;
use std::path::PathBuf;

#[derive(Debug)]
pub enum BenchError {
    /// The user's program or target is wrong: diagnostics with their sources.
    Source(Box<(Sources, Vec<Diagnostic>)>),
    /// A declaration (`lib/primitives.toml`) is wrong.
    Declaration { path: PathBuf, reason: String },
    /// No primitive, table or profile of that name; the list says which there are.
    Unknown { what: &'static str, name: String, known: Vec<String> },
    Io { path: PathBuf, reason: String },
    /// A pass or the printer failed: our fault.
    Internal { stage: String, reason: String },
    /// The measured program computed something wrong: nothing is reported then.
    WrongResult { program: String, reason: String },
    /// What was to be compared computes different things: the user's fault, and nothing is reported.
    Differ { what: String, reason: String },
    /// The lab could not build or run something.
    Lab { what: String, reason: String },
}

impl std::fmt::Display for BenchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BenchError::Source(s) => write!(f, "{} error(s) in the source", s.1.len()),
            BenchError::Declaration { path, reason } => write!(f, "{}: {reason}", path.display()),
            BenchError::Unknown { what, name, known } => write!(f, "there is no {what} `{name}`; there are: {}", known.join(", ")),
            BenchError::Io { path, reason } => write!(f, "{}: {reason}", path.display()),
            BenchError::Internal { stage, reason } => write!(f, "internal error in {stage}: {reason}"),
            BenchError::WrongResult { program, reason } => write!(f, "{program} gave a wrong result: {reason}"),
            BenchError::Differ { what, reason } => write!(f, "{what} computes something else: {reason}"),
            BenchError::Lab { what, reason } => write!(f, "{what}: {reason}"),
        }
    }
}

impl std::error::Error for BenchError {}

impl From<Failure> for BenchError {
    fn from(f: Failure) -> BenchError {
        match f {
            Failure::Refused { sources, diagnostics } => BenchError::Source(Box::new((sources, diagnostics))),
            Failure::Internal { stage, message } => BenchError::Internal { stage, reason: message },
        }
    }
}

impl From<PassFailure> for BenchError {
    fn from(e: PassFailure) -> BenchError {
        BenchError::Internal { stage: format!("pass {}", e.pass), reason: e.to_string() }
    }
}

impl From<EmitError> for BenchError {
    fn from(e: EmitError) -> BenchError {
        BenchError::Internal { stage: "the C back end".into(), reason: e.to_string() }
    }
}

impl BenchError {
    /// The lab could not do `what`.
    pub fn lab(what: impl Into<String>, reason: impl std::fmt::Display) -> BenchError {
        BenchError::Lab { what: what.into(), reason: reason.to_string() }
    }

    pub fn io(path: impl Into<PathBuf>, e: &std::io::Error) -> BenchError {
        BenchError::Io { path: path.into(), reason: e.to_string() }
    }
}
