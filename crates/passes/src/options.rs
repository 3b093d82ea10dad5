//! Levels and knobs.
//!
//! Needs: nothing.  Keeps: every default in one place.  Absent: per-target tuning; callers set fields.

use santoku_circuit::Circuit;
use santoku_ir::table::Table;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// How much is done, as in C compilers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    O0,
    O1,
    O2,
    O3,
    Os,
}

impl Level {
    pub const ALL: [Level; 5] = [Level::O0, Level::O1, Level::O2, Level::O3, Level::Os];
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::O0 => "O0",
            Level::O1 => "O1",
            Level::O2 => "O2",
            Level::O3 => "O3",
            Level::Os => "Os",
        })
    }
}

/// The text was none of `O0 O1 O2 O3 Os` (with or without a leading `-`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseLevelError(pub String);

impl fmt::Display for ParseLevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no optimisation level: O0, O1, O2, O3 or Os", self.0)
    }
}

impl std::error::Error for ParseLevelError {}

impl FromStr for Level {
    type Err = ParseLevelError;
    fn from_str(s: &str) -> Result<Level, ParseLevelError> {
        let name = s.strip_prefix('-').unwrap_or(s);
        let found = Level::ALL.into_iter().find(|l| l.to_string() == name);
        found.ok_or_else(|| ParseLevelError(s.to_string()))
    }
}

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
