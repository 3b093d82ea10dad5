//! From where to where each register of a function holds something that is read later.
//!
//! Instruction `i` reads at `2 i` and writes at `2 i + 1`.
//! Trusted: nothing: the certifier looks at the bytes.

use crate::code::{Code, Inst, Reg};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub reg: u32,
    pub start: usize,
    pub end: usize,
    /// Reads and writes, those in loops for more.
    pub weight: u64,
    /// Something is called while it is alive.
    pub calls: bool,
}

/// By number of the register; registers that are never written have none.
pub fn intervals(code: &Code) -> Vec<Interval> {
    let mut all: Vec<Option<Interval>> = vec![None; code.registers as usize];
    let depth = depths(code);
    for (i, inst) in code.insts.iter().enumerate() {
        let weight = 10u64.pow(depth[i].min(6));
        let mut see = |r: &Reg, at: usize, end: usize| {
            let Reg::Own(n) = r else { return };
            let v = all[*n as usize].get_or_insert(Interval { reg: *n, start: at, end, weight: 0, calls: false });
            (v.start, v.end, v.weight) = (v.start.min(at), v.end.max(end), v.weight + weight);
        };
        inst.reads().iter().for_each(|r| see(r, 2 * i, 2 * i));
        inst.writes().iter().for_each(|r| see(r, 2 * i + 1, 2 * i + 2));
    }
    // What comes into a loop and is used there is used in every round.
    for (first, last) in &code.loops {
        for v in all.iter_mut().flatten() {
            if v.start < 2 * first && v.end > 2 * first {
                v.end = v.end.max(2 * last + 2);
            }
        }
    }
    let calls: Vec<usize> = code.insts.iter().enumerate().filter(|(_, i)| matches!(i, Inst::Call { .. })).map(|(i, _)| 2 * i).collect();
    for v in all.iter_mut().flatten() {
        let next = calls.partition_point(|c| *c < v.start);
        v.calls = calls.get(next).is_some_and(|c| v.end > c + 1);
    }
    all.into_iter().flatten().collect()
}

/// Loops around each instruction.
fn depths(code: &Code) -> Vec<u32> {
    let mut depth = vec![0; code.insts.len()];
    for (first, last) in &code.loops {
        depth[*first..=*last].iter_mut().for_each(|d| *d += 1);
    }
    depth
}
