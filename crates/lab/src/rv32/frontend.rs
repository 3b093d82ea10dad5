//! The E31 front end: fetches words of code ahead of the pipeline, along the predicted path.
//!
//! Code is fetched in aligned four-byte words, one a slot, through three steps: address, look-up, arrival. Up to five
//! words wait for or on their way to the pipeline, so the front end runs ahead whenever instructions take longer than
//! their fetch. A transfer the target buffer knows is followed at look-up and costs nothing. One that only shows when its
//! word arrives (a direct jump, a branch the direction table takes, a return) costs one slot of fetching, which the words
//! waiting may hide. Everything else is found out three slots later by the pipeline. An instruction that straddles two
//! words needs both, and one word a slot is handed over: a transfer to such an instruction costs a slot.
//!
//! The path is known here, so each word's arrival is computed when execution reaches it; words fetched on wrong paths are
//! not modelled, nor what they do to the instruction cache and the return stack.

use super::icache::ICache;
use super::memory::FLASH_BASE;
use super::pipeline::{Stalls, Timing};
use super::predict::{Directions, Entry, ReturnStack, TargetBuffer, Transfer};

/// Fetched words not yet taken by the pipeline, those under way included.
const QUEUE: usize = 5;
/// Places of the ring that remembers when words were taken: a power of two above QUEUE.
const RING: usize = 8;
/// Slots from a free queue place to the arrival of the word that fills it.
const REFILL: u64 = 3;
/// Slots from a prediction made on arrival to look-ups that see it.
const UPDATE: u64 = 2;
/// Slots from the issue of a mispredicted transfer to look-ups that see its entry.
const LATE_UPDATE: u64 = 4;
const NO_WORD: u32 = u32::MAX;

/// The fetch word execution is in.
#[derive(Clone, Copy)]
struct Word {
    /// Its address.
    addr: u32,
    /// Slot of its arrival.
    arrival: u64,
    /// Whether it was fetched from its first halfword on: the target buffer knows words by that address only.
    whole: bool,
    /// Direction history when it was looked up.
    history: u8,
    /// Whether a branch in it was shifted into the history: at most one a word is.
    shifted: bool,
}

/// Where fetching went on after a transfer.
enum Prediction {
    /// Past it.
    Sequential,
    /// To this address, known to the target buffer.
    AtLookup(u32),
    /// To this address, seen when the word arrived.
    OnArrival(u32),
}

/// One executed control transfer.
#[derive(Clone, Copy)]
pub struct Outcome {
    /// Address after it.
    pub next: u32,
    /// Address executed next.
    pub target: u32,
    /// Whether it was an unconditional transfer or its condition held.
    pub taken: bool,
    /// What kind of transfer it was.
    pub kind: Transfer,
}

/// Front-end state between instructions.
pub struct Frontend {
    /// Instruction-cache lines fetched so far.
    pub icache_misses: u64,
    icache: ICache,
    targets: TargetBuffer,
    directions: Directions,
    returns: ReturnStack,
    word: Word,
    /// Slots of fetching lost before the next word arrives.
    bubble: u64,
    /// Slots in which the last words were taken by the pipeline, as a ring.
    taken_at: [u64; RING],
    newest: usize,
    /// Words that arrived for the instruction about to issue.
    fresh: usize,
    /// Whether the last instruction took no word.
    idle_take: bool,
    history: u8,
    /// History before its last shift, which look-ups in the slot of the shift still see.
    history_before: u8,
    history_shifted: u64,
    /// Whether the next wait for a word comes from a misprediction, and how much of it from cache refills.
    redirected: bool,
    refilling: u64,
}

impl Frontend {
    /// Cold front end for code of `halfwords` halfwords from [`FLASH_BASE`].
    pub fn new(halfwords: usize) -> Self {
        Frontend {
            icache_misses: 0,
            icache: ICache::default(),
            targets: TargetBuffer::new(halfwords.div_ceil(2)),
            directions: Directions::default(),
            returns: ReturnStack::default(),
            word: Word { addr: NO_WORD, arrival: 0, whole: true, history: 0, shifted: false },
            bubble: 0,
            taken_at: [0; RING],
            newest: 0,
            fresh: 0,
            idle_take: false,
            history: 0,
            history_before: 0,
            history_shifted: 0,
            redirected: false,
            refilling: 0,
        }
    }

    /// First slot in which the instruction of `len` bytes at `pc` can issue as far as fetching goes; `earliest` is the
    /// first as far as the pipeline goes. What is lost is charged to `stalls`.
    #[inline(always)]
    pub fn fetch(&mut self, pc: u32, len: u8, earliest: u64, timing: &Timing, stalls: &mut Stalls) -> u64 {
        let (first, last) = (pc & !3, (pc + u32::from(len) - 2) & !3);
        let mut ready = earliest;
        if first != self.word.addr {
            self.advance(first, pc & 2 == 0, timing);
            // One word a slot is taken from the queue, so the first half waits a slot for the second; unless it was
            // taken with the instruction before, which it can be when that one took no word itself.
            let taken_before = last != first && self.idle_take && self.word.arrival < earliest;
            if !taken_before {
                ready = ready.max(self.word.arrival) + u64::from(last != first);
            }
        }
        if last != self.word.addr {
            self.advance(last, true, timing);
            ready = ready.max(self.word.arrival);
        }
        let lost = ready - earliest;
        if lost > 0 {
            let refill = lost.min(self.refilling);
            stalls.icache += refill;
            let cause = if self.redirected { &mut stalls.mispredict } else { &mut stalls.fetch };
            *cause += lost - refill;
        }
        self.redirected = false;
        self.refilling = 0;
        ready
    }

    /// The next word on the path arrives.
    fn advance(&mut self, addr: u32, whole: bool, timing: &Timing) {
        // A place in the queue is free once the word QUEUE places ahead was taken.
        let place = self.taken_at[(self.newest + 1 + RING - QUEUE) % RING] + REFILL;
        let mut arrival = (self.word.arrival + 1 + self.bubble).max(place);
        self.bubble = 0;
        if self.icache.miss(ICache::line(addr)) {
            self.icache_misses += 1;
            self.refilling += timing.refill_core;
            arrival += timing.refill_core;
        }
        let seen = if self.history_shifted + 2 <= arrival { self.history } else { self.history_before };
        self.word = Word { addr, arrival, whole, history: seen, shifted: false };
        self.newest = (self.newest + 1) % RING;
        self.fresh += 1;
    }

    /// The pipeline took the words of the instruction that issues in `slot`.
    #[inline]
    pub fn take(&mut self, slot: u64) {
        self.idle_take = self.fresh == 0;
        while self.fresh > 0 {
            self.fresh -= 1;
            self.taken_at[(self.newest + RING - self.fresh) % RING] = slot;
        }
    }

    /// A control transfer issued in `slot`: decides what was predicted, learns, and lets fetching go on where it must.
    #[inline]
    pub fn transfer(&mut self, o: Outcome, slot: u64, timing: &Timing) {
        let half = (o.next - 2) >> 1 & 1;
        let index = (self.word.addr - FLASH_BASE) >> 2;
        let entry = if self.word.whole { self.targets.find(index, self.word.arrival - 1) } else { None };
        let direction = self.directions.predict(self.word.addr, self.word.history);
        let prediction = self.predict(&o, half, entry, direction);
        if o.kind == Transfer::Branch {
            self.directions.learn(self.word.addr, self.word.history, o.taken);
            if !self.word.shifted {
                self.word.shifted = true;
                self.shift_history(direction, self.word.arrival);
            }
        }
        match o.kind {
            Transfer::Call | Transfer::IndirectCall => self.returns.push(o.next),
            Transfer::Return => self.returns.pop(),
            Transfer::Branch | Transfer::Jump | Transfer::IndirectJump => {}
        }
        match prediction {
            Prediction::Sequential if !o.taken => {}
            Prediction::AtLookup(target) if o.taken && target == o.target => {
                self.targets.touch(index);
                self.word.addr = NO_WORD;
            }
            Prediction::OnArrival(target) if o.taken && target == o.target => {
                // The entry is made only while the queue is nearly empty.
                let queue_low = self.taken_at[(self.newest + RING - 2) % RING] < self.word.arrival;
                if entry.is_none() && queue_low {
                    self.targets.insert(index, half, o.target, o.kind, self.word.arrival + UPDATE);
                }
                self.bubble = timing.redirect;
                self.word.addr = NO_WORD;
            }
            _ => self.redirect(&o, index, half, slot, timing),
        }
    }

    fn predict(&self, o: &Outcome, half: u32, entry: Option<Entry>, direction: bool) -> Prediction {
        if let Some(entry) = entry.filter(|e| e.kind != Transfer::Branch || direction) {
            if entry.half > half {
                // The buffer follows the other transfer of the word and hides this one.
                return Prediction::Sequential;
            }
            if entry.half == half {
                let on_stack = if entry.kind == Transfer::Return { self.returns.peek() } else { None };
                return Prediction::AtLookup(on_stack.unwrap_or(entry.target));
            }
        }
        match o.kind {
            Transfer::Branch if direction => Prediction::OnArrival(o.target),
            Transfer::Jump | Transfer::Call => Prediction::OnArrival(o.target),
            Transfer::Return => self.returns.peek().map_or(Prediction::Sequential, Prediction::OnArrival),
            Transfer::Branch | Transfer::IndirectJump | Transfer::IndirectCall => Prediction::Sequential,
        }
    }

    /// The prediction was wrong: fetching starts again at the right address.
    fn redirect(&mut self, o: &Outcome, index: u32, half: u32, slot: u64, timing: &Timing) {
        // What was shifted in since the look-up is undone.
        self.history = match o.kind {
            Transfer::Branch => shifted(self.word.history, o.taken),
            _ => self.word.history,
        };
        self.history_before = self.history;
        if o.taken {
            self.targets.insert(index, half, o.target, o.kind, slot + LATE_UPDATE);
        }
        self.word.addr = NO_WORD;
        self.word.arrival = slot + timing.mispredict;
        self.taken_at = [0; RING];
        self.redirected = true;
    }

    fn shift_history(&mut self, taken: bool, at: u64) {
        self.history_before = self.history;
        self.history = shifted(self.history, taken);
        self.history_shifted = at;
    }
}

/// History with one more direction; the newest is the highest bit.
fn shifted(history: u8, taken: bool) -> u8 {
    history >> 1 | u8::from(taken) << 7
}
