//! Values that nothing reads, and slots that nothing mentions.
//! Trusted: nothing: nothing that ships is made of it.

use crate::data::{Block, For, Func, Inst, Op, Value};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn dead(f: &Func) -> Func {
    let mut made = f.clone();
    let mut live = BTreeSet::new();
    sweep(&mut made.body, &mut live);
    let mut mentioned = BTreeSet::new();
    made.body.each(&mut |i| {
        if let Inst::Let { op: Op::Slot(k), .. } = i {
            mentioned.insert(*k);
        }
    });
    let kept: Vec<u32> = (0..made.slots.len() as u32).filter(|k| mentioned.contains(k)).collect();
    let number: BTreeMap<u32, u32> = kept.iter().enumerate().map(|(new, old)| (*old, new as u32)).collect();
    made.slots = kept.iter().map(|k| made.slots[*k as usize].clone()).collect();
    made.body.each_mut(&mut |i| {
        if let Inst::Let { op: Op::Slot(k), .. } = i {
            *k = number[k];
        }
    });
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
            live.extend(i.reads());
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

/// The functions that a block calls, blocks within included.
pub(super) fn calls(b: &Block, see: &mut impl FnMut(u32)) {
    b.each(&mut |i| {
        if let Inst::Call { func, .. } = i {
            see(*func);
        }
    });
}
