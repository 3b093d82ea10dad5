//! Levels and knobs.
//!
//! Needs: nothing.  Keeps: every default in one place.  Absent: per-target tuning; callers set fields.

use santoku_circuit::Circuit;
use santoku_ir::table::Table;
pub use santoku_target::{Level, ParseLevelError};
use std::collections::{BTreeMap, BTreeSet};

/// Circuits of tables.
pub type Circuits = BTreeMap<Table, Circuit>;

/// Knobs of the passes. Sizes count operators and places, see `util::size`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassOptions {
    pub level: Level,
    /// Bits of a machine register of the target, 32 or 64.
    pub word_bits: u32,
    /// A loop is unrolled when all copies of its body together stay within this size; `@unroll` allows more.
    pub unroll_size_max: u64,
    /// Size that even `@unroll` may not exceed.
    pub unroll_hint_size_max: u64,
    /// A callee up to this size is inlined wherever it is called; `@inline` ignores it.
    pub inline_size_max: u64,
    /// No function grows beyond this size by inlining.
    pub inline_caller_size_max: u64,
    /// Aggregates with at most this many scalars are split by `array-to-scalar`.
    pub scalars_max: u64,
    /// Smallest expression `cse` names.
    pub cse_size_min: u64,
    /// Functions that must stay, besides exported ones and tests. Where there are none of all these, all stay.
    pub roots: BTreeSet<String>,
    /// Keep the functions of `test` blocks.
    pub keep_tests: bool,
    /// Tables that become gates; others are scanned.
    pub circuits: Circuits,
}

impl PassOptions {
    /// Defaults of a level for a machine of `word_bits`.
    pub fn new(level: Level, word_bits: u32) -> PassOptions {
        let (unroll, hinted, inline) = match level {
            Level::O0 => (0, 0, 0),
            Level::O1 => (32, 6_000, 12),
            Level::O2 => (600, 12_000, 40),
            Level::O3 => (2_500, 40_000, 120),
            Level::Os => (0, 800, 10),
        };
        PassOptions {
            level,
            word_bits,
            unroll_size_max: unroll,
            unroll_hint_size_max: hinted,
            inline_size_max: inline,
            inline_caller_size_max: 20_000,
            scalars_max: 64,
            cse_size_min: 4,
            roots: BTreeSet::new(),
            keep_tests: true,
            circuits: Circuits::new(),
        }
    }
}
