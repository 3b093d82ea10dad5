//! Values that nothing reads, and slots that nothing mentions.
//! Trusted: nothing: nothing that ships is made of it.

use crate::data::{Block, For, Func, Inst, Op, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How often each value is read.
pub(super) fn count(b: &Block, uses: &mut HashMap<Value, u32>) {
    let mut see = |v: Value| *uses.entry(v).or_default() += 1;
    b.yields.iter().for_each(|v| see(*v));
    for i in &b.insts {
        reads(i).into_iter().for_each(&mut see);
    }
    for i in &b.insts {
        match i {
            Inst::If { then, els, .. } => {
                count(then, uses);
                count(els, uses);
            }
            Inst::For(f) => count(&f.body, uses),
            _ => {}
        }
    }
}

/// What an instruction reads, but for what blocks inside of it do.
pub(super) fn reads(i: &Inst) -> Vec<Value> {
    match i {
        Inst::Let { op, .. } => op.operands(),
        Inst::Store { at, value, .. } => at.operands().chain([*value]).collect(),
        Inst::Copy { to, from, count } => to.operands().chain(from.operands()).chain(count.times.map(|t| t.0)).collect(),
        Inst::Call { args, .. } => args.clone(),
        Inst::If { cond, .. } => vec![*cond],
        Inst::For(f) => [f.lo, f.hi].into_iter().chain(f.carried.iter().map(|c| c.1)).collect(),
    }
}

pub(super) fn dead(f: &Func) -> Func {
    let mut made = f.clone();
    let mut live = BTreeSet::new();
    sweep(&mut made.body, &mut live);
    let mut mentioned = BTreeSet::new();
    slots(&made.body, &mut mentioned);
    let kept: Vec<u32> = (0..made.slots.len() as u32).filter(|k| mentioned.contains(k)).collect();
    let number: BTreeMap<u32, u32> = kept.iter().enumerate().map(|(new, old)| (*old, new as u32)).collect();
    made.slots = kept.iter().map(|k| made.slots[*k as usize].clone()).collect();
    renumber(&mut made.body, &number);
    made
}

/// Backwards; `live` are values that something behind reads.
fn sweep(b: &mut Block, live: &mut BTreeSet<Value>) {
    live.extend(&b.yields);
    for k in (0..b.insts.len()).rev() {
        let i = &mut b.insts[k];
        let dead = match i {
            Inst::Let { dst, .. } => dst.iter().all(|d| !live.contains(&d.0)),
            Inst::If { dst, then, els, .. } => {
                let kept: Vec<bool> = dst.iter().map(|d| live.contains(&d.0)).collect();
                keep(dst, &kept);
                for side in [&mut *then, &mut *els] {
                    keep(&mut side.yields, &kept);
                    sweep(side, live);
                }
                dst.is_empty() && then.insts.is_empty() && els.insts.is_empty()
            }
            Inst::For(f) => {
                rounds(f, live);
                f.body.insts.is_empty() && f.dst.iter().all(|d| !live.contains(&d.0))
            }
            _ => false,
        };
        if dead {
            b.insts.remove(k);
        } else {
            live.extend(reads(i));
        }
    }
}

/// What is handed on from round to round is live where a later round, or something behind, reads it.
fn rounds(f: &mut For, live: &mut BTreeSet<Value>) {
    let mut kept: Vec<bool> = f.dst.iter().map(|d| live.contains(&d.0)).collect();
    loop {
        let mut body = f.body.clone();
        keep(&mut body.yields, &kept);
        let mut read = live.clone();
        sweep(&mut body, &mut read);
        let next: Vec<bool> = f.carried.iter().zip(&kept).map(|(c, k)| *k || read.contains(&c.0 .0)).collect();
        if next == kept {
            f.body = body;
            *live = read;
            break;
        }
        kept = next;
    }
    keep(&mut f.carried, &kept);
    keep(&mut f.dst, &kept);
}

fn keep<T>(all: &mut Vec<T>, kept: &[bool]) {
    let mut k = kept.iter();
    all.retain(|_| *k.next().unwrap_or(&true));
}

fn slots(b: &Block, found: &mut BTreeSet<u32>) {
    for i in &b.insts {
        match i {
            Inst::Let { op: Op::Slot(k), .. } => {
                found.insert(*k);
            }
            Inst::If { then, els, .. } => {
                slots(then, found);
                slots(els, found);
            }
            Inst::For(f) => slots(&f.body, found),
            _ => {}
        }
    }
}

fn renumber(b: &mut Block, number: &BTreeMap<u32, u32>) {
    for i in &mut b.insts {
        match i {
            Inst::Let { op: Op::Slot(k), .. } => *k = number[k],
            Inst::If { then, els, .. } => {
                renumber(then, number);
                renumber(els, number);
            }
            Inst::For(f) => renumber(&mut f.body, number),
            _ => {}
        }
    }
}

/// The functions that a block calls, blocks within included.
pub(super) fn calls(b: &Block, see: &mut impl FnMut(u32)) {
    for i in &b.insts {
        match i {
            Inst::Call { func, .. } => see(*func),
            Inst::If { then, els, .. } => {
                calls(then, see);
                calls(els, see);
            }
            Inst::For(f) => calls(&f.body, see),
            _ => {}
        }
    }
}
