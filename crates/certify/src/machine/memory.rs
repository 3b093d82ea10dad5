//! Memory as separate objects, byte ranges holding terms.
//!
//! Needs: terms.  Keeps: accesses at a constant offset touch only the bytes they name; at a computed offset, every element the
//! offset may mean.  Absent: addresses ([`super::exec`] splits them into object and offset), the object's meaning.

use crate::source::layout;
use crate::term::{Terms, Var, Written, T};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, ToPrimitive};
use santoku_num::SplitMix64;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Elements one computed offset may choose from.
const CHOICES_MAX: usize = 1 << 16;

/// What an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The stack; offsets count from the stack pointer at entry.
    Stack,
    /// An argument object of this many bytes.
    Object { size: u64 },
    /// An array of run-time length: what it holds, the number of its scalars, and the layout of one element.
    Run { content: Written, length: T, element: Rc<layout::Object> },
}

/// One object. Copies are cheap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub name: String,
    pub kind: Kind,
    /// May be written.
    pub writable: bool,
    /// By offset, disjoint; a cell is `bytes` long and holds an unsigned word.
    cells: Rc<BTreeMap<i64, Cell>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub bytes: u32,
    pub t: T,
}

impl Object {
    pub fn new(name: impl Into<String>, kind: Kind, writable: bool) -> Object {
        Object { name: name.into(), kind, writable, cells: Rc::default() }
    }

    pub fn cells(&self) -> &BTreeMap<i64, Cell> {
        &self.cells
    }

    /// Whether the bytes lie in the object. The stack's bounds are the executor's.
    pub fn holds(&self, at: i64, bytes: u32) -> bool {
        match self.kind {
            Kind::Object { size } => at >= 0 && (at as u64).checked_add(u64::from(bytes)).is_some_and(|end| end <= size),
            Kind::Stack | Kind::Run { .. } => true,
        }
    }

    /// What an array of run-time length holds.
    pub fn content(&self) -> Option<&Written> {
        match &self.kind {
            Kind::Run { content, .. } => Some(content),
            Kind::Stack | Kind::Object { .. } => None,
        }
    }

    /// The layout of an element of an array of run-time length.
    pub fn element(&self) -> Option<&layout::Object> {
        match &self.kind {
            Kind::Run { element, .. } => Some(element),
            Kind::Stack | Kind::Object { .. } => None,
        }
    }

    /// Puts another array of run-time length there; nothing, where there is none.
    pub fn set_content(&mut self, new: Written) {
        if let Kind::Run { content, .. } = &mut self.kind {
            *content = new;
        }
    }

    /// Overwrites bytes.
    pub fn store(&mut self, terms: &mut Terms, at: i64, bytes: u32, t: T) {
        let end = at + i64::from(bytes);
        let hit: Vec<(i64, Cell)> = self.touching(at, end);
        let cells = Rc::make_mut(&mut self.cells);
        for (k, cell) in hit {
            cells.remove(&k);
            let cell_end = k + i64::from(cell.bytes);
            if k < at {
                let kept = (at - k) as u32;
                cells.insert(k, Cell { bytes: kept, t: terms.slice(cell.t, 0, 8 * kept) });
            }
            if cell_end > end {
                let (kept, skip) = ((cell_end - end) as u32, (end - k) as u32);
                cells.insert(end, Cell { bytes: kept, t: terms.slice(cell.t, 8 * skip, 8 * kept) });
            }
        }
        cells.insert(at, Cell { bytes, t });
    }

    fn touching(&self, at: i64, end: i64) -> Vec<(i64, Cell)> {
        // A cell is at most 16 bytes long.
        self.cells.range(at - 16..end).filter(|(k, c)| *k + i64::from(c.bytes) > at).map(|(k, c)| (*k, *c)).collect()
    }

    /// The word at constant offset; `None` where a byte has no value.
    pub fn load(&self, terms: &mut Terms, at: i64, bytes: u32) -> Option<T> {
        if let Some(cell) = self.cells.get(&at).filter(|c| c.bytes == bytes) {
            return Some(cell.t);
        }
        let end = at + i64::from(bytes);
        let mut next = at;
        let mut sum = Terms::ZERO;
        for (k, cell) in self.touching(at, end) {
            if k > next {
                return None;
            }
            let cell_end = (k + i64::from(cell.bytes)).min(end);
            let skip = (next - k) as u32;
            let part = terms.slice(cell.t, 8 * skip, 8 * (cell_end - next) as u32);
            let part = terms.scale(part, &(BigInt::one() << (8 * (next - at) as u32)));
            sum = terms.add(sum, part);
            next = cell_end;
        }
        (next == end).then_some(sum)
    }

    /// Forgets what begins below an offset.
    pub fn forget_below(&mut self, to: i64) {
        let gone: Vec<i64> = self.cells.range(..to).map(|(k, _)| *k).collect();
        if !gone.is_empty() {
            let cells = Rc::make_mut(&mut self.cells);
            for k in gone {
                cells.remove(&k);
            }
        }
    }

    /// This object where `c` is 1, `other` where it is 0. What only one of them has, has no value.
    pub fn join(&mut self, terms: &mut Terms, c: T, other: &Object) {
        if let (Kind::Run { content, .. }, Kind::Run { content: theirs, .. }) = (&mut self.kind, &other.kind) {
            *content = content.either(terms, c, theirs);
            return;
        }
        if Rc::ptr_eq(&self.cells, &other.cells) || self.cells == other.cells {
            return;
        }
        let mut joined = BTreeMap::new();
        let mut cuts: Vec<(i64, u32)> = self.cells.iter().map(|(k, c)| (*k, c.bytes)).collect();
        for (k, cell) in other.cells.iter() {
            if self.cells.get(k).is_none_or(|c| c.bytes > cell.bytes) {
                cuts.push((*k, cell.bytes));
            }
        }
        cuts.sort_unstable_by_key(|(k, b)| (*k, *b));
        let mut end = i64::MIN;
        for (k, bytes) in cuts {
            if k < end {
                continue;
            }
            let (Some(a), Some(b)) = (self.load(terms, k, bytes), other.load(terms, k, bytes)) else { continue };
            joined.insert(k, Cell { bytes, t: terms.ite(c, a, b) });
            end = k + i64::from(bytes);
        }
        self.cells = Rc::new(joined);
    }
}

/// The offsets a computed offset may be: first, step and count, all of them constants.
pub struct Choices {
    pub first: i64,
    pub step: i64,
    pub count: usize,
}

impl Choices {
    /// One after the other.
    pub fn offsets(&self) -> impl Iterator<Item = i64> {
        let (first, step) = (self.first, self.step);
        (0..self.count).map(move |k| first + k as i64 * step)
    }

    /// Leaves those out that `offset` is not where none of `facts` is negative.
    pub fn narrow(&mut self, terms: &mut Terms, offset: T, facts: &[T]) {
        let at = |k: usize, all: &Choices| BigInt::from(all.first + k as i64 * all.step);
        let below = |terms: &mut Terms, limit: BigInt, sign: i32| {
            let limit = terms.int(limit * sign);
            let d = terms.combine(limit, &BigInt::from(-sign), offset);
            let d = terms.sub(d, Terms::ONE);
            terms.negative_under(d, facts)
        };
        // At least element `low`, at most element `high`: both are known of the ends.
        let (mut low, mut open) = (0, self.count);
        while open - low > 1 {
            let middle = low + (open - low) / 2;
            if below(terms, at(middle, self), 1) { low = middle } else { open = middle }
        }
        let (mut high, mut open) = (self.count - 1, low);
        while high > open {
            let middle = open + (high - open) / 2;
            if below(terms, at(middle, self), -1) { high = middle } else { open = middle + 1 }
        }
        *self = Choices { first: self.first + low as i64 * self.step, step: self.step, count: high - low + 1 };
    }
}

/// `None`: too many, or not bounded.
pub fn choices(terms: &mut Terms, offset: T) -> Option<Choices> {
    let (lo, hi) = terms.range(offset);
    let (step, rest) = terms.stride(offset);
    let first: BigInt = &lo + (&rest - &lo).mod_floor(&step);
    let count = ((&hi - &first).div_floor(&step) + 1u32).to_usize().filter(|n| (1..=CHOICES_MAX).contains(n))?;
    Some(Choices { first: first.to_i64()?, step: step.to_i64()?, count })
}

/// A word nobody gave a value: secret, and different from every other.
pub fn undefined(terms: &mut Terms, name: String, bits: u32) -> T {
    let hi: BigInt = (BigInt::one() << bits) - 1;
    let seed = name.bytes().fold(0x9e37_79b9_7f4a_7c15u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3));
    let mut random = SplitMix64::new(seed);
    let values = (0..terms.samples()).map(|_| (BigInt::from(random.next_u64()) << 64u32 | BigInt::from(random.next_u64())) & &hi).collect();
    terms.var(Var { name, lo: BigInt::ZERO, hi, public: false, values })
}
