//! What a run counts, and the measuring windows within it.

use super::pipeline::{Pipeline, Stalls, Timing};

/// Measurement of a whole run or of one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Cycles with every data access served by RAM and instruction refills over a fast bus.
    pub cycles_core: u64,
    /// `cycles_core` plus the SPI flash: data words read from it, and instruction refills. An estimate.
    pub cycles_board: u64,
    /// Instructions retired.
    pub instret: u64,
    /// Instruction-cache lines fetched.
    pub icache_misses: u64,
    /// Data reads served by flash.
    pub flash_words: u64,
    /// Bytes of stack used below the stack pointer at the start.
    pub stack_bytes: u32,
    /// Hash of every program counter and data address, in order.
    pub trace_hash: u64,
    /// Cycles lost, by cause; part of `cycles_core`.
    pub stalls: Stalls,
}

/// Order-sensitive hash of 32-bit values. Each step is a bijection of the state, so two traces that differ in one value
/// never collide; the constant is 2^64 divided by the golden ratio, made odd.
#[derive(Clone, Copy)]
struct TraceHash(u64);

impl TraceHash {
    const START: TraceHash = TraceHash(0x243f_6a88_85a3_08d3);

    #[inline]
    fn add(&mut self, value: u32) {
        self.0 = (self.0.rotate_left(23) ^ u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// Counters at one moment.
#[derive(Clone, Copy)]
struct Snapshot {
    slot: u64,
    instret: u64,
    icache_misses: u64,
    flash_words: u64,
    stalls: Stalls,
    sp: u32,
    /// State of the enclosing run, put aside while a window is open.
    outer_hash: TraceHash,
    outer_min_sp: u32,
}

/// Running counters of a machine.
pub struct Recorder {
    /// Instructions retired so far.
    pub instret: u64,
    /// Data reads served by flash so far.
    pub flash_words: u64,
    timing: Timing,
    hash: TraceHash,
    min_sp: u32,
    start: Snapshot,
    window: Option<Snapshot>,
    windows: Vec<Measure>,
}

impl Recorder {
    /// Recorder of a run whose stack starts at `stack_top`.
    pub fn new(stack_top: u32, timing: Timing) -> Self {
        let start = Snapshot {
            slot: 0,
            instret: 0,
            icache_misses: 0,
            flash_words: 0,
            stalls: Stalls::default(),
            sp: stack_top,
            outer_hash: TraceHash::START,
            outer_min_sp: stack_top,
        };
        Recorder {
            instret: 0,
            flash_words: 0,
            timing,
            hash: TraceHash::START,
            min_sp: stack_top,
            start,
            window: None,
            windows: Vec::new(),
        }
    }

    /// A program counter was executed.
    #[inline]
    pub fn pc(&mut self, pc: u32) {
        self.hash.add(pc);
    }

    /// A data address was accessed.
    #[inline]
    pub fn data(&mut self, addr: u32) {
        self.hash.add(addr);
    }

    /// The stack pointer was written. Values outside the stack's half of the address space (before start-up code has set
    /// it) are not stack.
    #[inline]
    pub fn sp(&mut self, sp: u32) {
        if sp >= super::memory::RAM_BASE {
            self.min_sp = self.min_sp.min(sp);
        }
    }

    /// Opens a window; `None` if one is open.
    pub fn open(&mut self, pipeline: &Pipeline, icache_misses: u64, sp: u32) -> Option<()> {
        if self.window.is_some() {
            return None;
        }
        self.window = Some(Snapshot {
            slot: pipeline.next,
            instret: self.instret,
            icache_misses,
            flash_words: self.flash_words,
            stalls: pipeline.stalls,
            sp,
            outer_hash: self.hash,
            outer_min_sp: self.min_sp,
        });
        self.hash = TraceHash::START;
        self.min_sp = sp;
        Some(())
    }

    /// Closes the open window; `None` if none is.
    pub fn close(&mut self, pipeline: &Pipeline, icache_misses: u64) -> Option<()> {
        let from = self.window.take()?;
        let measure = self.since(&from, pipeline, icache_misses);
        self.windows.push(measure);
        self.hash = from.outer_hash;
        self.hash.add(measure.trace_hash as u32);
        self.hash.add((measure.trace_hash >> 32) as u32);
        self.min_sp = self.min_sp.min(from.outer_min_sp);
        Some(())
    }

    /// The whole run and its windows; `None` if a window is still open.
    pub fn finish(&mut self, pipeline: &Pipeline, icache_misses: u64) -> Option<(Measure, Vec<Measure>)> {
        if self.window.is_some() {
            return None;
        }
        Some((self.since(&self.start, pipeline, icache_misses), std::mem::take(&mut self.windows)))
    }

    fn since(&self, from: &Snapshot, pipeline: &Pipeline, icache_misses: u64) -> Measure {
        let cycles_core = pipeline.next - from.slot;
        let icache_misses = icache_misses - from.icache_misses;
        let flash_words = self.flash_words - from.flash_words;
        let refill_extra = self.timing.refill_board.saturating_sub(self.timing.refill_core);
        Measure {
            cycles_core,
            cycles_board: cycles_core + flash_words * self.timing.flash_word + icache_misses * refill_extra,
            instret: self.instret - from.instret,
            icache_misses,
            flash_words,
            stack_bytes: from.sp.saturating_sub(self.min_sp),
            trace_hash: self.hash.0,
            stalls: pipeline.stalls.since(from.stalls),
        }
    }
}
