//! The registry of diagnostic codes. A code used anywhere must stand here, and here only once.

/// `(code, summary)`, sorted by code.
pub const CODES: &[(&str, &str)] = &[];
