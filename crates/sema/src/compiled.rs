//! What is compiled, and what comes of it.

use santoku_diag::{Diagnostic, Sources};
use std::collections::BTreeMap;

/// What the caller chooses.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Interface module (`field.fe25519`, or its last segment alone) -> variant (`radix16`).
    pub impls: BTreeMap<String, String>,
}

/// A program without errors.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub program: santoku_ir::Program,
    pub sources: Sources,
    pub warnings: Vec<Diagnostic>,
}

/// At least one error; `diagnostics` holds the warnings too, in order of discovery.
#[derive(Clone, Debug)]
pub struct Failed {
    pub sources: Sources,
    pub diagnostics: Vec<Diagnostic>,
}
