//! Registers of the machine for those of a function, by linear scan: what is used least for its length goes to the stack.
//! Trusted: nothing: the certifier looks at the bytes.

use crate::code::{Code, Inst, Reg};
use crate::live::{intervals, Interval};
use std::collections::BTreeMap;

/// Where something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Register `x0` to `x31`.
    X(u8),
    /// A word of the frame.
    Spilled(u32),
    /// A word that the caller put on the stack.
    Incoming(u32),
    /// A word for a callee on the stack.
    Outgoing(u32),
}

pub struct Allocation {
    places: BTreeMap<u32, Place>,
    pub spilled: u32,
    /// Registers that the caller wants back, in order.
    pub saved: Vec<u8>,
}

/// For values on their way and addresses that are far; nothing stays there.
pub const SCRATCH: [u8; 3] = [29, 30, 31];

/// `a0` to `a7`, `t0` to `t3`.
const CALLER: [u8; 12] = [10, 11, 12, 13, 14, 15, 16, 17, 5, 6, 7, 28];
/// `s0` to `s11`.
const CALLEE: [u8; 12] = [8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];

impl Allocation {
    /// `None`: nothing reads it.
    pub fn place(&self, r: Reg) -> Option<Place> {
        match r {
            Reg::Zero => Some(Place::X(0)),
            Reg::Own(n) => self.places.get(&n).copied(),
        }
    }
}

pub fn allocate(code: &Code) -> Allocation {
    let mut all = intervals(code);
    all.sort_by_key(|v| (v.start, v.reg));
    let wishes = wishes(code);
    let mut active: Vec<(Interval, u8)> = vec![];
    let mut out = Allocation { places: BTreeMap::new(), spilled: 0, saved: vec![] };
    for v in all {
        active.retain(|(a, _)| a.end > v.start);
        let free = |x: &&u8| !active.iter().any(|(_, taken)| taken == *x);
        let wished = wishes.get(&v.reg).into_iter().flatten().filter_map(|w| match w {
            Wish::X(x) => Some(*x),
            Wish::Like(other) => match out.places.get(other) {
                Some(Place::X(x)) => Some(*x),
                _ => None,
            },
        });
        let may = |x: &u8| if v.calls { CALLEE.contains(x) } else { CALLER.contains(x) || CALLEE.contains(x) };
        let wished = wished.filter(may).find(|x| free(&x));
        let used = |x: &&u8| out.saved.contains(x);
        let order = CALLER.iter().chain(CALLEE.iter().filter(used)).chain(CALLEE.iter());
        let found = wished.or_else(|| order.filter(|x| may(x)).find(free).copied());
        let x = match found {
            Some(x) => x,
            None => {
                let least = active.iter().enumerate().filter(|(_, (_, x))| may(x)).min_by_key(|(_, (a, _))| worth(a));
                match least.filter(|(_, (a, _))| worth(a) < worth(&v)).map(|(k, _)| k) {
                    Some(k) => {
                        let (old, x) = active.swap_remove(k);
                        out.places.insert(old.reg, Place::Spilled(out.spilled));
                        out.spilled += 1;
                        x
                    }
                    None => {
                        out.places.insert(v.reg, Place::Spilled(out.spilled));
                        out.spilled += 1;
                        continue;
                    }
                }
            }
        };
        if CALLEE.contains(&x) && !out.saved.contains(&x) {
            out.saved.push(x);
        }
        out.places.insert(v.reg, Place::X(x));
        active.push((v, x));
    }
    out.saved.sort_unstable();
    out
}

/// What a register of the machine saves while the interval has it.
fn worth(v: &Interval) -> u64 {
    v.weight * 1000 / (v.end - v.start).max(1) as u64
}

/// A register that needs no move.
enum Wish {
    X(u8),
    Like(u32),
}

fn wishes(code: &Code) -> BTreeMap<u32, Vec<Wish>> {
    let mut all: BTreeMap<u32, Vec<Wish>> = BTreeMap::new();
    let mut argument = |r: &Reg, k: usize| {
        if let (Reg::Own(n), true) = (r, k < 8) {
            all.entry(*n).or_default().push(Wish::X(10 + k as u8));
        }
    };
    for inst in &code.insts {
        match inst {
            Inst::Enter(regs) | Inst::Return(regs) => regs.iter().enumerate().for_each(|(k, r)| argument(r, k)),
            Inst::Call { args, results, .. } => [args, results].iter().for_each(|l| l.iter().enumerate().for_each(|(k, r)| argument(r, k))),
            _ => {}
        }
    }
    for inst in &code.insts {
        if let Inst::Move(moves) = inst {
            for (d, s) in moves {
                if let (Reg::Own(d), Reg::Own(s)) = (d, s) {
                    all.entry(*d).or_default().push(Wish::Like(*s));
                    all.entry(*s).or_default().push(Wish::Like(*d));
                }
            }
        }
    }
    all
}
