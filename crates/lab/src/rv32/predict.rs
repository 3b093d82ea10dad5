//! Branch prediction state of the E31: target buffer, direction table, return stack.
//!
//! Sizes are the E31 manual's (28, 512 and 6 entries). The target buffer holds one transfer per fetch word and replaces
//! by a binary tree of recently-used bits; the direction table holds one bit per entry, indexed by the fetch word's
//! address and a hash of the last eight directions. When a look-up sees an update is the front end's business.

const BTB_ENTRIES: u32 = 28;
const BTB_LEVELS: u32 = 5;
const BHT_ENTRIES: usize = 512;
const RAS_ENTRIES: usize = 6;
const NO_ENTRY: u8 = u8::MAX;

/// Kind of control transfer, as the predictor tells them apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transfer {
    /// Conditional branch.
    Branch,
    /// Direct jump that pushes no return address.
    Jump,
    /// Direct jump that pushes a return address.
    Call,
    /// Indirect jump that pushes no return address.
    IndirectJump,
    /// Indirect jump that pushes a return address.
    IndirectCall,
    /// Indirect jump through a return-address register.
    Return,
}

/// What the target buffer knows about a fetch word.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    word: u32,
    /// Which halfword of the word ends the transfer.
    pub half: u32,
    /// Where it went.
    pub target: u32,
    /// What it was.
    pub kind: Transfer,
    visible_from: u64,
}

/// The branch target buffer, for code of a fixed extent; fetch words are numbered from its base.
pub struct TargetBuffer {
    entries: Vec<Entry>,
    /// Entry of each fetch word, `NO_ENTRY` when it has none: turns the associative search into a look-up.
    entry_of: Vec<u8>,
    /// Replacement tree: bit n is node n, the root is node 1; a set bit says the half with the larger numbers is older.
    tree: u32,
}

impl TargetBuffer {
    /// Empty buffer for code of `words` fetch words.
    pub fn new(words: usize) -> Self {
        TargetBuffer { entries: Vec::with_capacity(BTB_ENTRIES as usize), entry_of: vec![NO_ENTRY; words], tree: 0 }
    }

    /// Entry for a fetch word looked up at time `now`.
    #[inline]
    pub fn find(&self, word: u32, now: u64) -> Option<Entry> {
        let at = *self.entry_of.get(word as usize)?;
        let entry = self.entries.get(at as usize)?;
        (entry.visible_from <= now).then_some(*entry)
    }

    /// Notes that the entry of a fetch word was followed.
    #[inline]
    pub fn touch(&mut self, word: u32) {
        if let Some(&at) = self.entry_of.get(word as usize).filter(|&&at| at != NO_ENTRY) {
            self.access(u32::from(at));
        }
    }

    /// Enters a transfer, over the word's old entry if it has one; look-ups see it from `visible_from` on.
    pub fn insert(&mut self, word: u32, half: u32, target: u32, kind: Transfer, visible_from: u64) {
        let Some(&old) = self.entry_of.get(word as usize) else { return };
        let entry = Entry { word, half, target, kind, visible_from };
        let at = if old == NO_ENTRY { self.victim() } else { u32::from(old) };
        if at as usize >= self.entries.len() {
            // The tree leads to unused entries in its own order: those before it stay empty.
            let unused = Entry { word: u32::MAX, visible_from: u64::MAX, ..entry };
            self.entries.resize(at as usize + 1, unused);
        }
        let replaced = self.entries[at as usize].word as usize;
        if let Some(slot) = self.entry_of.get_mut(replaced) {
            *slot = NO_ENTRY;
        }
        self.entries[at as usize] = entry;
        self.entry_of[word as usize] = at as u8;
        self.access(at);
    }

    fn access(&mut self, way: u32) {
        let mut node = 1;
        for level in (0..BTB_LEVELS).rev() {
            let bit = way >> level & 1;
            self.tree = self.tree & !(1 << node) | (bit ^ 1) << node;
            node = node << 1 | bit;
        }
        // Nodes from the number of entries on have no storage.
        self.tree &= (1 << BTB_ENTRIES) - 1;
    }

    fn victim(&self) -> u32 {
        let (mut node, mut way) = (1, 0);
        for level in (0..BTB_LEVELS).rev() {
            let exists = (way | 1 << level) < BTB_ENTRIES;
            let bit = u32::from(exists) & self.tree >> node & 1;
            way |= bit << level;
            node = node << 1 | bit;
        }
        way
    }
}

/// The branch history table: a direction per (fetch word, hashed history).
pub struct Directions {
    taken: [bool; BHT_ENTRIES],
}

impl Default for Directions {
    fn default() -> Self {
        Directions { taken: [false; BHT_ENTRIES] }
    }
}

impl Directions {
    fn index(addr: u32, history: u8) -> usize {
        let word = addr >> 2 & 511 ^ addr >> 11 & 3;
        let hashed = u32::from(history.wrapping_mul(0xdd)) >> 5;
        (word ^ hashed << 6) as usize
    }

    /// Predicted direction of a branch in the fetch word at `addr`.
    pub fn predict(&self, addr: u32, history: u8) -> bool {
        self.taken[Self::index(addr, history)]
    }

    /// Learns a direction.
    pub fn learn(&mut self, addr: u32, history: u8, taken: bool) {
        self.taken[Self::index(addr, history)] = taken;
    }
}

/// The return-address stack. Overflow forgets the oldest address.
#[derive(Default)]
pub struct ReturnStack {
    ring: [u32; RAS_ENTRIES],
    top: usize,
    depth: usize,
}

impl ReturnStack {
    /// Pushes a return address.
    pub fn push(&mut self, addr: u32) {
        self.top = (self.top + 1) % RAS_ENTRIES;
        self.ring[self.top] = addr;
        self.depth = (self.depth + 1).min(RAS_ENTRIES);
    }

    /// Address on top, if there is one.
    pub fn peek(&self) -> Option<u32> {
        (self.depth > 0).then(|| self.ring[self.top])
    }

    /// Drops the top.
    pub fn pop(&mut self) {
        if self.depth > 0 {
            self.depth -= 1;
            self.top = (self.top + RAS_ENTRIES - 1) % RAS_ENTRIES;
        }
    }
}
