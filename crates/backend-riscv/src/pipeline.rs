//! In which slot of a pipeline an instruction issues, given what is still in flight. A slot is a cycle in which one instruction may issue.
//!
//! Needs: the latencies of the machine.  Keeps: the order of what is told it.  Absent: caches, predictors, the store buffer.
//! Source: `docs/lab.md`, the timing model; what the lab measures with is a model of its own.
//! Trusted: nothing: it chooses an order, and the certifier looks at the bytes.

use crate::options::{Latency, Product};
use std::collections::HashMap;

/// What an instruction occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// So many instructions, whose result the next one may use.
    Plain(usize),
    /// Slots to the use.
    Load(usize),
    Multiply,
    /// It writes no register.
    Store,
}

/// An instruction, as far as a pipeline sees it. Registers have numbers.
#[derive(Clone, Debug)]
pub struct Step {
    pub unit: Unit,
    pub reads: Vec<u32>,
    pub writes: Vec<u32>,
}

/// A product on its way to its register.
#[derive(Clone, Copy)]
struct Late {
    register: u32,
    earliest: usize,
    written: Option<usize>,
}

pub struct Pipeline<'l> {
    latency: &'l Latency,
    /// The first slot in which the next instruction may issue.
    next: usize,
    ready: HashMap<u32, usize>,
    late: Option<Late>,
}

impl Pipeline<'_> {
    pub fn new(latency: &Latency) -> Pipeline<'_> {
        Pipeline { latency, next: 0, ready: HashMap::new(), late: None }
    }

    pub fn next(&self) -> usize {
        self.next
    }

    /// A product waits for a slot in which nothing else is written, and could have this one.
    pub fn wants_slot(&self) -> bool {
        self.late.is_some_and(|l| l.written.is_none() && l.earliest <= self.next)
    }

    /// A product waits for such a slot, now or later.
    pub fn wants_slot_soon(&self) -> bool {
        self.late.is_some_and(|l| l.written.is_none())
    }

    /// It needs the multiplier, or what that has not written.
    pub fn waits_for_product(&self, s: &Step) -> bool {
        self.late.is_some_and(|l| s.unit == Unit::Multiply || s.reads.contains(&l.register) || s.writes.contains(&l.register))
    }

    fn operands(&self, s: &Step) -> usize {
        let all = s.reads.iter().chain(&s.writes);
        all.filter_map(|r| self.ready.get(r).copied()).fold(self.next, usize::max)
    }

    /// The slot in which it would issue now.
    pub fn slot(&self, s: &Step) -> usize {
        let slot = self.operands(s);
        let (Some(late), Product::Late { after, .. }) = (&self.late, self.latency.product) else { return slot };
        if !self.waits_for_product(s) {
            return slot;
        }
        // Slots in which it waits are free for the product.
        let written = late.written.unwrap_or(late.earliest.max(self.next));
        slot.max(written + after)
    }

    /// An empty slot, or one of an instruction that writes nothing.
    fn free(&mut self, from: usize, to: usize) {
        if let Some(late) = &mut self.late {
            let slot = late.earliest.max(from);
            if late.written.is_none() && slot < to {
                late.written = Some(slot);
            }
        }
    }

    /// An instruction that does nothing and writes nothing.
    pub fn fill(&mut self) {
        self.free(self.next, self.next + 1);
        self.next += 1;
    }

    pub fn issue(&mut self, s: &Step) {
        let slot = self.slot(s);
        self.free(self.next, slot);
        if self.waits_for_product(s) {
            self.late = None;
        }
        let (mut slots, mut result) = (1, 1);
        match s.unit {
            Unit::Plain(n) => (slots, result) = (n, n),
            Unit::Load(latency) => result = latency,
            Unit::Store => self.free(slot, slot + 1),
            Unit::Multiply => match self.latency.product {
                Product::Pipelined { slots } => result = slots,
                Product::Late { earliest, .. } => {
                    self.late = s.writes.first().map(|r| Late { register: *r, earliest: slot + earliest, written: None });
                }
            },
        }
        for r in &s.writes {
            self.ready.insert(*r, slot + result);
        }
        self.next = slot + slots;
    }
}
