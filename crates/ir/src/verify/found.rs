//! What the verifier finds.

use crate::data::*;
use crate::ty::LocalId;
use std::fmt;

/// A rule broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// Name of the function, empty for declarations outside functions.
    pub func: String,
    pub loc: Loc,
    /// One of [`super::CODES`].
    pub code: &'static str,
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        if !self.func.is_empty() {
            write!(f, " in {}", self.func)?;
        }
        if self.loc != Loc::default() {
            write!(f, " (file {}, line {}, column {})", self.loc.file, self.loc.line, self.loc.col)?;
        }
        Ok(())
    }
}

impl std::error::Error for VerifyError {}

/// An array read (or result returned) of which this verifier does not know whether all that is read was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided {
    pub func: FuncId,
    pub local: LocalId,
    pub loc: Loc,
}
