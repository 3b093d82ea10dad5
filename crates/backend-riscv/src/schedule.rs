//! An order of instructions in which results are ready when they are read, as far as that takes no instruction far from its place.
//!
//! Needs: what instructions read and write; latencies of the machine.  Keeps: every instruction after what it reads, and before what changes what
//! it reads; the order of accesses of which one is a write.  Absent: how many registers it takes, but for the window.
//! Trusted: nothing: the certifier looks at the bytes.

use crate::code::{Base, Code, Inst, Reg};
use crate::options::Latency;
use std::collections::BTreeMap;

/// How many instructions ahead one is looked for that need not wait.
const WINDOW: usize = 8;

pub fn schedule(code: &mut Code, latency: &Latency) {
    let mut out = Vec::with_capacity(code.insts.len());
    let mut run = vec![];
    // Labels, jumps, calls and moves stay where they are, and so do loops.
    for inst in std::mem::take(&mut code.insts) {
        if is_fixed(&inst) {
            out.extend(ordered(std::mem::take(&mut run), latency));
            out.push(inst);
        } else {
            run.push(inst);
        }
    }
    out.extend(ordered(run, latency));
    code.insts = out;
}

fn is_fixed(i: &Inst) -> bool {
    matches!(i, Inst::Move(_) | Inst::Label(_) | Inst::Jump(_) | Inst::Branch(..) | Inst::Call { .. } | Inst::Enter(_) | Inst::Return(_) | Inst::Stop)
}

/// Slots from the result of an instruction to its use.
fn cost(i: &Inst, latency: &Latency) -> usize {
    match i {
        Inst::Load("lw" | "lwu" | "ld", ..) | Inst::Again("lw" | "lwu" | "ld", ..) => latency.load,
        Inst::Load(..) | Inst::Again(..) => latency.narrow_load,
        Inst::Three(name, ..) if name.starts_with("mul") => latency.multiply,
        _ => 1,
    }
}

fn ordered(insts: Vec<Inst>, latency: &Latency) -> Vec<Inst> {
    let before = dependences(&insts);
    let (mut left, mut at): (Vec<usize>, usize) = ((0..insts.len()).collect(), 0);
    // When the result of each instruction is there, once it has its place.
    let mut ready: Vec<Option<usize>> = vec![None; insts.len()];
    let mut order = Vec::with_capacity(insts.len());
    while !left.is_empty() {
        // The slot in which it could be executed without waiting, if what it stands behind has its place.
        let slot = |k: usize| before[k].iter().try_fold(0, |slot, (j, reads)| ready[*j].map(|r| slot.max(if *reads { r } else { 0 })));
        let window = left.iter().take(WINDOW).enumerate().filter_map(|(n, k)| Some((n, slot(*k)?)));
        // The first that need not wait, else the one that waits least. What stands first is never held up by others.
        let best = window.min_by_key(|(n, slot)| ((*slot).max(at), *n)).unwrap_or((0, at));
        let k = left.remove(best.0);
        at = at.max(best.1);
        ready[k] = Some(at + cost(&insts[k], latency));
        at += 1;
        order.push(k);
    }
    let mut insts: Vec<Option<Inst>> = insts.into_iter().map(Some).collect();
    order.into_iter().filter_map(|k| insts[k].take()).collect()
}

/// For each instruction those that it stays behind, and whether it reads their results.
fn dependences(insts: &[Inst]) -> Vec<Vec<(usize, bool)>> {
    let mut written: BTreeMap<Reg, usize> = BTreeMap::new();
    let mut read: BTreeMap<Reg, Vec<usize>> = BTreeMap::new();
    let (mut stores, mut loads): (Vec<usize>, Vec<usize>) = (vec![], vec![]);
    let mut all = vec![];
    for (k, i) in insts.iter().enumerate() {
        let mut before: Vec<(usize, bool)> = vec![];
        for r in i.reads() {
            before.extend(written.get(&r).map(|j| (*j, true)));
            read.entry(r).or_default().push(k);
        }
        for r in i.writes() {
            before.extend(written.get(&r).map(|j| (*j, false)));
            before.extend(read.remove(&r).into_iter().flatten().filter(|j| *j != k).map(|j| (j, false)));
            written.insert(r, k);
        }
        if let Some(base) = accessed(i) {
            let others = |all: &[usize]| all.iter().copied().filter(|j| accessed(&insts[*j]).is_some_and(|other| may_meet(base, other))).map(|j| (j, false)).collect::<Vec<_>>();
            before.extend(others(&stores));
            if matches!(i, Inst::Store(..)) {
                before.extend(others(&loads));
                stores.push(k);
            } else {
                loads.push(k);
            }
        }
        all.push(before);
    }
    all
}

fn accessed(i: &Inst) -> Option<Base> {
    match i {
        Inst::Load(_, _, base, _) | Inst::Store(_, _, base, _) => Some(*base),
        _ => None,
    }
}

/// Two slots are apart; a pointer may lead into any.
fn may_meet(a: Base, b: Base) -> bool {
    !matches!((a, b), (Base::Slot(a), Base::Slot(b)) if a != b)
}
