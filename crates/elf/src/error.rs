//! Why a file is not read.

use std::fmt;

/// Sort of fault. All are faults of the file given, none of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorKind {
    /// Not an ELF file at all.
    NotElf,
    /// ELF, but for another machine or byte order.
    NotRiscv,
    /// Well formed, but of a sort that is not read: dynamic, stripped, a relocation for shared libraries.
    Unsupported,
    /// The file contradicts itself or ends too early.
    Corrupt,
}

/// A file that could not be read: where, why, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub kind: ErrorKind,
    /// Part of the file: `section .text`, `relocation 3 of section .text`.
    pub place: String,
    pub reason: String,
    pub way_out: String,
}

impl Error {
    pub(crate) fn corrupt(place: impl Into<String>, reason: impl fmt::Display) -> Error {
        Error {
            kind: ErrorKind::Corrupt,
            place: place.into(),
            reason: reason.to_string(),
            way_out: "make the file again; it is damaged or was not written by an assembler or linker".into(),
        }
    }

    pub(crate) fn unsupported(place: impl Into<String>, reason: impl fmt::Display, way_out: &str) -> Error {
        Error { kind: ErrorKind::Unsupported, place: place.into(), reason: reason.to_string(), way_out: way_out.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.reason, self.way_out)
    }
}

impl std::error::Error for Error {}
