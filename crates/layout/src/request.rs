//! What is asked for, a layout, a machine, copies, and what is made.

use crate::isa::{Isa, Layout};
use std::collections::BTreeSet;

/// Statements of one copy before the next copy's, where nobody says otherwise.
pub const GRANULARITY: u32 = 10;

/// What to build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub layout: Layout,
    pub isa: Isa,
    /// Copies of the computation, at least 1.
    pub interleave: u32,
    /// Statements of one copy before the next copy's, at least 1.
    pub granularity: usize,
    /// Parameters (by name) that all blocks share: keys. All others but one block are refused.
    pub shared: BTreeSet<String>,
    /// C name of the kernel; prefixes everything in its file.
    pub name: String,
    /// Passes of [`crate::TABLE`] and of `passes`, and decisions of the C printer, that are left out, by name. Passes that a layout needs run
    /// all the same.
    pub without: BTreeSet<String>,
    /// The pass behind which the program is written down, see [`Kernel::dump`].
    pub dump_after: Option<String>,
}

/// A C file and how to call what is in it.
///
/// `void NAME_setup(struct NAME_keys *k, const uint8_t *shared)`: shared inputs in parameter order, words little-endian.
/// `void NAME_blocks(uint8_t *out, const uint8_t *in, const struct NAME_keys *k, size_t batches)`: `blocks` blocks a batch.
/// `void NAME_sliced(void *out, const void *in, const struct NAME_keys *k, size_t batches)`: without transposition; registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    pub name: String,
    /// Text of `NAME.c`.
    pub source: String,
    /// Text of `NAME.h`.
    pub header: String,
    /// Instruction-set flags for gcc and clang.
    pub cflags: Vec<String>,
    /// Blocks in the registers of one copy.
    pub lanes: u32,
    /// Blocks per batch: lanes times copies.
    pub blocks: u32,
    pub block_bytes: u32,
    pub shared_bytes: u32,
    /// Operations on registers of one copy, which computes `lanes` blocks: gates, where the layout is `bitslice`.
    pub operations: u64,
    /// What was checked on the way.
    pub checks: Vec<String>,
    /// Steps that were left out because they could not be checked, and why; each only makes the kernel faster.
    pub left_out: Vec<String>,
    /// The program behind the pass that [`Request::dump_after`] names, as text of the core; empty where it did not run.
    pub dump: String,
}
