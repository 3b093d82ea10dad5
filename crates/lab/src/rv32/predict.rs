//! Branch prediction as the E31 manual and rocket-chip's defaults describe it: a 28-entry branch target buffer,
//! a 512-entry one-bit history table indexed by address and three bits of global history, a six-entry return stack.
//!
//! Replacement in the target buffer is least recently used here; the hardware's is an approximation of it.

const BTB_ENTRIES: usize = 28;
const BHT_ENTRIES: usize = 512;
const HISTORY_BITS: u32 = 3;
const RAS_ENTRIES: usize = 6;
const NO_ENTRY: u8 = u8::MAX;

/// Kind of control transfer, as the predictor tells them apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transfer {
    /// Conditional branch.
    Branch,
    /// Jump that pushes a return address.
    Call,
    /// Indirect jump through the return-address register.
    Return,
    /// Any other jump.
    Jump,
}

#[derive(Clone, Copy)]
struct Entry {
    index: u32,
    target: u32,
    used: u64,
    kind: Transfer,
}

/// Predictor state for code of a fixed extent; instructions are named by halfword index from its base.
pub struct Predictor {
    entries: Vec<Entry>,
    /// Target-buffer slot of each halfword, `NO_ENTRY` when it has none: turns the associative search into a look-up.
    slot_of: Vec<u8>,
    taken: [bool; BHT_ENTRIES],
    history: u32,
    stack: [u32; RAS_ENTRIES],
    depth: usize,
}

/// One executed control transfer.
#[derive(Clone, Copy)]
pub struct Outcome {
    /// Halfword index of the instruction.
    pub index: u32,
    /// Its address.
    pub pc: u32,
    /// Address after it.
    pub next: u32,
    /// Address executed next.
    pub target: u32,
    /// Whether control left the sequence.
    pub taken: bool,
    /// What kind of transfer it was.
    pub kind: Transfer,
}

impl Predictor {
    /// Cold predictor for code of `halfwords` halfwords.
    pub fn new(halfwords: usize) -> Self {
        Predictor {
            entries: Vec::with_capacity(BTB_ENTRIES),
            slot_of: vec![NO_ENTRY; halfwords],
            taken: [false; BHT_ENTRIES],
            history: 0,
            stack: [0; RAS_ENTRIES],
            depth: 0,
        }
    }

    /// Predicts, learns, and says whether the prediction was wrong. `now` orders uses and must not decrease.
    pub fn step(&mut self, o: Outcome, now: u64) -> bool {
        let slot = self.slot_of[o.index as usize];
        let row = (((o.pc >> 1) ^ (self.history << 6)) as usize) & (BHT_ENTRIES - 1);
        let predicted = if slot == NO_ENTRY { o.next } else { self.predict(slot, row, o.next, now) };
        if o.kind == Transfer::Branch && (slot != NO_ENTRY || o.taken) {
            self.taken[row] = o.taken;
            self.history = (self.history << 1 | u32::from(o.taken)) & ((1 << HISTORY_BITS) - 1);
        }
        let wrong = predicted != o.target;
        if o.taken && (wrong || slot == NO_ENTRY) {
            self.remember(slot, o, now);
        }
        match o.kind {
            Transfer::Call => {
                self.stack[self.depth % RAS_ENTRIES] = o.next;
                self.depth += 1;
            }
            Transfer::Return => self.depth = self.depth.saturating_sub(1),
            Transfer::Branch | Transfer::Jump => {}
        }
        wrong
    }

    fn predict(&mut self, slot: u8, row: usize, next: u32, now: u64) -> u32 {
        let entry = &mut self.entries[slot as usize];
        entry.used = now;
        match entry.kind {
            Transfer::Branch if self.taken[row] => entry.target,
            Transfer::Branch => next,
            Transfer::Return if self.depth == 0 => 0,
            Transfer::Return => self.stack[(self.depth - 1) % RAS_ENTRIES],
            Transfer::Call | Transfer::Jump => entry.target,
        }
    }

    fn remember(&mut self, slot: u8, o: Outcome, now: u64) {
        let entry = Entry { index: o.index, target: o.target, used: now, kind: o.kind };
        if slot != NO_ENTRY {
            self.entries[slot as usize] = entry;
            return;
        }
        let slot = if self.entries.len() < BTB_ENTRIES {
            self.entries.push(entry);
            self.entries.len() - 1
        } else {
            let oldest = (0..BTB_ENTRIES).min_by_key(|&i| self.entries[i].used).unwrap_or(0);
            self.slot_of[self.entries[oldest].index as usize] = NO_ENTRY;
            self.entries[oldest] = entry;
            oldest
        };
        self.slot_of[o.index as usize] = slot as u8;
    }
}
