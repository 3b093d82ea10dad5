//! Slots that are never in use together lie in the same bytes.
//!
//! Needs: a module that [`crate::verify`] accepts.  Keeps: what the function computes; that secrets lie apart from public numbers.  Absent: slots of one loop,
//! whose rounds could hand something on in them: all are in use as long as the loop runs.
//! Trusted: nothing: nothing that ships is made of it.

use super::names::names;
use super::root::{roots, Root};
use crate::data::{Address, Block, Func, Inst, Kind, Op, Slot, Type, Value};
use std::collections::{BTreeMap, BTreeSet};

/// From the first access to the last, by number of instruction.
type Span = (usize, usize);

struct Lives {
    roots: BTreeMap<Value, Root>,
    at: usize,
    spans: BTreeMap<u32, Span>,
}

impl Lives {
    fn access(&mut self, v: Value, seen: &mut BTreeSet<u32>) {
        if let Some(Root::Slot(k)) = self.roots.get(&v) {
            seen.insert(*k);
            self.reach(*k, (self.at, self.at));
        }
    }

    fn reach(&mut self, k: u32, (from, to): Span) {
        let span = self.spans.entry(k).or_insert((from, to));
        *span = (span.0.min(from), span.1.max(to));
    }

    /// The slots that are accessed in it.
    fn block(&mut self, b: &Block) -> BTreeSet<u32> {
        let mut seen = BTreeSet::new();
        for i in &b.insts {
            self.at += 1;
            let start = self.at;
            match i {
                Inst::Let { op: Op::Load { at, .. }, .. } | Inst::Store { at, .. } => self.access(at.base, &mut seen),
                Inst::Copy { to, from, .. } => {
                    self.access(to.base, &mut seen);
                    self.access(from.base, &mut seen);
                }
                Inst::Call { args, .. } => args.iter().for_each(|v| self.access(*v, &mut seen)),
                Inst::Let { .. } | Inst::If { .. } | Inst::For(_) => {}
            }
            for inner in i.blocks() {
                let inside = self.block(inner);
                if matches!(i, Inst::For(_)) {
                    inside.iter().for_each(|k| self.reach(*k, (start, self.at)));
                }
                seen.extend(inside);
            }
        }
        seen
    }
}

/// Where each slot of one kind begins, and the bytes of all.
struct Packed {
    places: BTreeMap<u32, u64>,
    slot: Slot,
}

fn meet(a: Span, b: Span) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

/// Great slots first, each at the lowest place that is free while it is in use.
fn packed(f: &Func, spans: &BTreeMap<u32, Span>, secret: bool) -> Option<Packed> {
    let mut all: Vec<(u32, &Slot)> = (0..).zip(&f.slots).filter(|(k, s)| s.secret == secret && spans.contains_key(k)).collect();
    let apart: u64 = all.iter().map(|(_, s)| s.bytes).sum();
    let align = all.iter().map(|(_, s)| s.align).max()?;
    let name = all.iter().map(|(_, s)| s.name.as_str()).collect::<Vec<_>>().join(", ");
    all.sort_by_key(|(k, s)| (std::cmp::Reverse(s.bytes), *k));
    let mut places: BTreeMap<u32, u64> = BTreeMap::new();
    for (k, s) in all {
        let taken: Vec<(u64, u64)> = places.iter().filter(|(j, _)| meet(spans[j], spans[&k])).map(|(j, at)| (*at, at + f.slots[*j as usize].bytes)).collect();
        let starts = taken.iter().map(|t| t.1.next_multiple_of(s.align.into())).chain([0]);
        let at = starts.filter(|at| taken.iter().all(|(from, to)| at + s.bytes <= *from || to <= at)).min()?;
        places.insert(k, at);
    }
    let bytes = places.iter().map(|(k, at)| at + f.slots[*k as usize].bytes).max()?;
    (bytes < apart).then_some(Packed { places, slot: Slot { name, bytes, align, secret } })
}

/// No address is chosen, or handed on by a branch or a loop: where each leads shows.
fn is_plain(f: &Func) -> bool {
    let mut plain = true;
    let pointer = |all: &[(Value, Type)]| all.iter().any(|d| d.1.kind == Kind::Ptr);
    f.body.each(&mut |i| {
        plain &= match i {
            Inst::Let { dst, op } => matches!(op, Op::Slot(_) | Op::Table(_) | Op::At(_)) || !pointer(dst),
            Inst::If { dst, .. } | Inst::Call { dst, .. } => !pointer(dst),
            Inst::For(f) => !pointer(&f.dst) && !f.carried.iter().any(|c| c.0 .1.kind == Kind::Ptr),
            Inst::Store { .. } | Inst::Copy { .. } => true,
        }
    });
    plain
}

fn put(b: &mut Block, all: &[(u32, Packed)], next: &mut u32) {
    let mut insts = Vec::with_capacity(b.insts.len());
    for mut i in std::mem::take(&mut b.insts) {
        i.blocks_mut().into_iter().for_each(|b| put(b, all, next));
        if let Inst::Let { dst, op: Op::Slot(k) } = &mut i {
            if let Some((slot, at)) = all.iter().find_map(|(slot, p)| Some((*slot, *p.places.get(k)?))) {
                let base = Value(*next);
                *next += 1;
                insts.push(Inst::Let { dst: vec![(base, dst[0].1)], op: Op::Slot(slot) });
                i = Inst::Let { dst: dst.clone(), op: Op::At(Address { offset: at as i64, ..Address::of(base) }) };
            }
        }
        insts.push(i);
    }
    b.insts = insts;
}

pub(super) fn overlay(f: &Func) -> Func {
    if !is_plain(f) {
        return f.clone();
    }
    let mut lives = Lives { roots: roots(f), at: 0, spans: BTreeMap::new() };
    lives.block(&f.body);
    let mut made = f.clone();
    let mut all = vec![];
    for p in [false, true].into_iter().filter_map(|secret| packed(f, &lives.spans, secret)) {
        made.slots.push(p.slot.clone());
        all.push((made.slots.len() as u32 - 1, p));
    }
    put(&mut made.body, &all, &mut names(f));
    made
}
