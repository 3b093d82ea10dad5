//! Which registers are read before they are written.
//!
//! Needs: the flow of the code.  Keeps: nothing rests on it: a register taken for unread gets an unknown value where ways meet.
//! Absent: memory.

use super::code::{Code, RA, SP};
use super::shape::Edges;
use santoku_isa::{Inst, Sem};
use std::collections::BTreeMap;

/// What matters behind a function: the results, and what belongs to its caller (psABI: ra, sp, gp, tp, s0 to s11).
const AT_END: u32 = 1 << RA | 1 << SP | 0b11 << 3 | 0b11 << 8 | 0b11 << 10 | 0x3ff << 18;

/// For every instruction, the registers whose values matter before it, one bit each.
pub(super) fn live(code: &Code, edges: &Edges) -> BTreeMap<u64, u32> {
    let mut found: BTreeMap<u64, u32> = edges.keys().map(|pc| (*pc, 0)).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (pc, next) in edges.iter().rev() {
            let after = next.iter().map(|n| n.map_or(AT_END, |n| found.get(&n).copied().unwrap_or(u32::MAX)));
            let after = after.fold(0, |all, l| all | l);
            let before = code.guess(*pc).map_or(u32::MAX, |inst| before(&inst, next, after));
            if found.insert(*pc, before) != Some(before) {
                changed = true;
            }
        }
    }
    found
}

fn before(inst: &Inst, next: &[Option<u64>], after: u32) -> u32 {
    match inst.row.sem {
        // Whatever is called may read them all, also in the place of a return.
        Sem::Jump(_) if inst.rd != 0 || next == [None] && inst.rs1 as usize != RA => u32::MAX,
        _ => after & !(1 << inst.rd) | 1 << inst.rs1 | 1 << inst.rs2,
    }
}
