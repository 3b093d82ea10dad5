//! What can go wrong between C sources and a measurement.

use std::path::PathBuf;

use thiserror::Error;

use crate::rv32::SimError;
use crate::stack::StackError;

/// A measurement that did not happen, and why.
#[derive(Debug, Error)]
pub enum LabError {
    /// A tool the lab calls is not installed.
    #[error("`{tool}` was not found; on Debian: apt install {package}")]
    MissingTool { tool: String, package: String },
    /// The description of a target does not say what is needed, or there is none.
    #[error("target `{name}`: {reason}")]
    Target { name: String, reason: String },
    /// A compiler or linker refused its input.
    #[error("`{command}` failed:\n{stderr}")]
    ToolFailed { command: String, stderr: String },
    /// The job cannot be made into a program.
    #[error("unusable job: {0}")]
    BadJob(String),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// The simulated program went wrong.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// The program ended with a status other than 0.
    #[error("the program ended with status {0}")]
    ExitStatus(u32),
    /// No stack bound can be given.
    #[error(transparent)]
    Stack(#[from] StackError),
    /// An object file could not be understood.
    #[error("object file: {0}")]
    Object(String),
    /// A record could not be written or read.
    #[error("record: {0}")]
    Record(String),
}

impl LabError {
    /// Attaches a path to an I/O error.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> LabError {
        let path = path.into();
        move |source| LabError::Io { path, source }
    }
}
