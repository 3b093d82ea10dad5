//! A call writes its result where an argument lies, where it went to memory of its own and from there to the argument's place.
//!
//! Needs: callees in their last form.  Keeps: what the function computes.  Absent: results that are read before they are copied, or otherwise used.
//! Trusted: nothing: the certifier proves each function also with its result in the place of its parameter, where a call does that.

use super::root::{roots, Root};
use super::shared::shareable;
use crate::data::{Block, Count, Func, Inst, Module, Op, Value};
use std::collections::{BTreeMap, BTreeSet};

struct Place<'m> {
    module: &'m Module,
    roots: BTreeMap<Value, Root>,
    reads: BTreeMap<Value, u32>,
    /// How often each slot's address is read.
    mentions: BTreeMap<Root, u32>,
    bytes: Vec<u64>,
}

pub(super) fn place(f: &Func, module: &Module) -> Func {
    let (roots, reads) = (roots(f), f.body.reads());
    let mut mentions: BTreeMap<Root, u32> = BTreeMap::new();
    for (v, root) in &roots {
        *mentions.entry(*root).or_default() += reads.get(v).copied().unwrap_or(0);
    }
    let p = Place { module, roots, reads, mentions, bytes: f.slots.iter().map(|s| s.bytes).collect() };
    let mut made = f.clone();
    p.block(&mut made.body);
    made
}

/// The copy behind a call: where it goes, which instructions it is, how often it mentions the slot, and how many bytes it is.
struct Copied {
    base: Value,
    insts: BTreeSet<usize>,
    loads: u32,
    bytes: u64,
}

impl Place<'_> {
    fn block(&self, b: &mut Block) {
        let mut k = 0;
        while k < b.insts.len() {
            if let Some((args, gone)) = self.in_place(&b.insts, k) {
                if let Inst::Call { args: old, .. } = &mut b.insts[k] {
                    *old = args;
                }
                let mut at = 0;
                b.insts.retain(|_| {
                    at += 1;
                    !gone.contains(&(at - 1))
                });
            }
            b.insts[k].blocks_mut().into_iter().for_each(|b| self.block(b));
            k += 1;
        }
    }

    /// The arguments of a call that needs no copy, and the instructions that make it.
    fn in_place(&self, insts: &[Inst], k: usize) -> Option<(Vec<Value>, BTreeSet<usize>)> {
        let Inst::Call { func, args, .. } = &insts[k] else { return None };
        let func = *func as usize;
        let params = &self.module.funcs.get(func)?.params;
        (0..args.len().min(params.len())).filter(|i| params[*i].written).find_map(|i| {
            let root = self.roots.get(&args[i]).copied()?;
            let Root::Slot(slot) = root else { return None };
            let copied = self.copied(insts, k + 1, root)?;
            // Nothing else knows the slot, and all of it is copied.
            if self.mentions.get(&root) != Some(&(copied.loads + 1)) || copied.bytes != self.bytes[slot as usize] {
                return None;
            }
            let to = self.roots.get(&copied.base)?;
            let there: Vec<usize> = (0..args.len()).filter(|j| self.roots.get(&args[*j]) == Some(to)).collect();
            let alike = |j: &usize| args[*j] == copied.base && shareable(self.module, func, (i, *j));
            if there.is_empty() || !there.iter().all(alike) {
                return None;
            }
            let mut args = args.clone();
            args[i] = copied.base;
            Some((args, copied.insts))
        })
    }

    /// Loads of a slot and stores of what was loaded, at the same distances from another base.
    fn copied(&self, insts: &[Inst], from: usize, slot: Root) -> Option<Copied> {
        let mut loaded: BTreeMap<Value, (i64, u32)> = BTreeMap::new();
        let mut all = Copied { base: Value(u32::MAX), insts: BTreeSet::new(), loads: 0, bytes: 0 };
        let mut stored: BTreeSet<(i64, u32)> = BTreeSet::new();
        for (k, i) in insts.iter().enumerate().skip(from) {
            match i {
                Inst::Let { dst, op: Op::Load { bytes, at, .. } } if self.roots.get(&at.base) == Some(&slot) && at.index.is_none() => {
                    loaded.insert(dst[0].0, (at.offset, *bytes));
                    all.loads += 1;
                    all.insts.insert(k);
                }
                Inst::Store { bytes, at, value } if at.index.is_none() && loaded.get(value) == Some(&(at.offset, *bytes)) => {
                    let first = stored.is_empty();
                    if !first && all.base != at.base || self.reads.get(value) != Some(&1) || !stored.insert((at.offset, *bytes)) {
                        return None;
                    }
                    all.base = at.base;
                    all.bytes += u64::from(*bytes);
                    all.insts.insert(k);
                }
                Inst::Copy { to, from, count: Count { times: None, plus } } if all.insts.is_empty() && self.roots.get(&from.base) == Some(&slot) => {
                    let whole = to.index.is_none() && from.index.is_none() && to.offset == 0 && from.offset == 0;
                    return whole.then(|| Copied { base: to.base, insts: BTreeSet::from([k]), loads: 1, bytes: *plus as u64 });
                }
                Inst::Let { op: Op::Const(_) | Op::Slot(_), .. } => {}
                _ => break,
            }
        }
        (stored.len() == loaded.len() && !stored.is_empty()).then_some(all)
    }
}
