//! What is compared, and the figures that come of it.

use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One implementation to be timed.
#[derive(Clone, Debug)]
pub struct HostImpl {
    /// Name in the rows; unique in a comparison.
    pub name: String,
    /// Compiler command, as `targets/compilers.toml` has it.
    pub compiler: String,
    /// Flags for every C file of this implementation, the adapter included.
    pub cflags: Vec<String>,
    /// C files, compiled one by one.
    pub sources: Vec<PathBuf>,
    /// Folders for `#include`.
    pub include_dirs: Vec<PathBuf>,
    /// Static libraries the C files draw from.
    pub libs: Vec<PathBuf>,
    /// Text of the C adapter; it defines `BENCH_IMPL` as `bench.h` says.
    pub adapter: String,
}

/// What every implementation is given, and how long it is watched.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Name in records.
    pub name: String,
    /// Bytes of message.
    pub message_len: usize,
    /// Samples of each (implementation, operation); up to eight times as many while too few are undisturbed.
    pub rounds: usize,
    /// Aimed length of one sample in microseconds; slower operations are timed one by one.
    pub batch_us: u32,
    /// Expected result per operation. Operations not named here need only agree with each other.
    pub expected: BTreeMap<String, Vec<u8>>,
    /// Whether all implementations must leave the same.
    pub compared: bool,
    /// Whether instructions of short operations are counted, one by one.
    pub count: bool,
}

impl Workload {
    /// A workload with 300 samples of 150 us, results compared, instructions not counted.
    pub fn new(name: &str, message_len: usize) -> Self {
        Workload { name: name.into(), message_len, rounds: 300, batch_us: 150, expected: BTreeMap::new(), compared: true, count: false }
    }

    /// The 64 bytes the implementations see as `bench_key` (a signature's seed is the first 32).
    pub fn key(&self) -> [u8; 64] {
        std::array::from_fn(|i| (i as u8).wrapping_mul(37).wrapping_add(11))
    }

    /// The message, `message_len` bytes.
    pub fn message(&self) -> Vec<u8> {
        let mut state = 0x9e37_79b9_u32;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state >> 24) as u8
        };
        (0..self.message_len).map(|_| next()).collect()
    }
}

/// Percentiles over the samples of one operation; unit as the field's name says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// 10th percentile.
    pub p10: f64,
    /// Median.
    pub median: f64,
    /// 90th percentile.
    pub p90: f64,
}

/// One operation of one implementation.
#[derive(Clone, Debug, Serialize)]
pub struct HostRow {
    /// [`HostImpl::name`].
    pub implementation: String,
    /// Operation, as the adapter names it.
    pub op: String,
    /// First line of the compiler's `--version`.
    pub compiler: String,
    /// Flags, joined by spaces.
    pub cflags: String,
    /// Samples that count: those beside whose probes no neighbour on the core was seen; where these are fewer than 20, the
    /// 20 least disturbed ones.
    pub samples: usize,
    /// Samples taken.
    pub taken: usize,
    /// Operations in one sample.
    pub reps: usize,
    /// Time-stamp counter ticks per operation.
    pub cycles_tsc: Spread,
    /// Core cycles per operation.
    pub cycles_core: Spread,
    /// Core cycles per byte, for bulk operations.
    pub core_cycles_per_byte: Option<Spread>,
    /// Operations per second at the median.
    pub ops_per_second: f64,
    /// Instructions of one operation, counted one by one; none where they are too many for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<u64>,
    /// What the operation left.
    #[serde(skip)]
    pub result: Vec<u8>,
}

/// The machine as the run saw it.
#[derive(Clone, Debug, Serialize)]
pub struct HostMachine {
    /// Processor model, as the kernel names it.
    pub cpu: String,
    /// Time-stamp counter frequency in Hz.
    pub tsc_hz: f64,
    /// Core cycles per tick: percentiles over the run. A wide spread means a machine that changed its clock.
    pub core_per_tsc: Spread,
    /// Processor pinned to, if the system allowed it.
    pub pinned_cpu: Option<u32>,
}

/// A whole comparison.
#[derive(Clone, Debug, Serialize)]
pub struct HostRun {
    /// [`Workload::name`].
    pub workload: String,
    /// Bytes of message.
    pub message_len: usize,
    /// Where it ran.
    pub machine: HostMachine,
    /// One row per (implementation, operation), in the order given.
    pub rows: Vec<HostRow>,
}

impl HostRun {
    /// How many samples there are, in words: taken of each, and fewest and most that count.
    pub fn samples(&self) -> String {
        let taken = self.rows.iter().map(|r| r.taken).max().unwrap_or(0);
        let fewest = self.rows.iter().map(|r| r.samples).min().unwrap_or(0);
        let most = self.rows.iter().map(|r| r.samples).max().unwrap_or(0);
        format!("{taken} samples each, interleaved, of which the {fewest} to {most} least disturbed by a neighbour on the core count")
    }
}
