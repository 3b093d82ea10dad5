//! Groups of instructions that CKB-VM executes as one with another result than one by one.
//!
//! Needs: the rules of [`santoku_isa::ckb`].  Keeps: where the VM's result is another, the VM's is taken; where it is not certain
//! that the VM sees the group (an earlier group may take its first instruction, a linker may leave out what stands between),
//! the code is not followed.  Absent: groups without a deviation, which are executed one by one.

use super::code::Code;
use super::stop::Why;
use santoku_isa::ckb::{fuse, may_go, Fused, RULES};
use santoku_isa::Inst;
use std::collections::BTreeSet;

/// Instructions in the longest group.
fn longest() -> usize {
    RULES.iter().map(|r| r.group.len()).max().unwrap_or(1)
}

impl Code<'_> {
    /// A linker may leave out the instruction at `pc`.
    fn goes(&self, pc: u64, inst: &Inst) -> bool {
        may_go(inst) && (self.image.is_loose(pc) || self.image.part(pc).is_some_and(|p| p.high))
    }

    /// The group that CKB-VM makes of what lies at `pc`, and the address behind it. `shortened`: without what a linker may leave out
    /// behind the first instruction.
    fn group(&self, pc: u64, shortened: bool) -> Option<(Fused, u64)> {
        let (mut insts, mut ends, mut at) = (vec![], vec![], pc);
        while insts.len() < longest() {
            // What lies behind and is in no group is not executed here.
            let Some(inst) = self.guess(at) else { break };
            let stays = insts.is_empty() || !shortened || !self.goes(at, &inst);
            at = self.mask(at.wrapping_add(u64::from(inst.len)));
            if stays {
                insts.push(inst);
                ends.push(at);
            }
        }
        let fused = fuse(&insts, pc)?;
        let end = *ends.get(fused.count() - 1)?;
        Some((fused, end))
    }

    /// What is executed in the place of the instructions at `pc` where CKB-VM does something else; empty elsewhere.
    pub(super) fn instead(&self, pc: u64) -> Result<Vec<Inst>, Why> {
        if !self.ckb_vm {
            return Ok(vec![]);
        }
        let deviating = |shortened| self.group(pc, shortened).map(|(f, _)| f).filter(|f| f.deviates);
        let Some(possible) = deviating(false).or_else(|| deviating(true)) else { return Ok(vec![]) };
        let unclear = || Why::Unsupported(format!("CKB-VM may execute a group as one here ({}), or a part of it", possible.rule.opcode));
        let fused = deviating(false).ok_or_else(unclear)?;
        let flow = self.flow_of(pc).ok_or_else(unclear)?;
        let mut at = pc;
        for n in 0..fused.count() {
            let inst = self.decode(at).ok_or_else(unclear)?;
            if n > 0 && flow.is_entered(at) || self.goes(at, &inst) {
                return Err(unclear());
            }
            at = self.mask(at.wrapping_add(u64::from(inst.len)));
        }
        // An earlier group that reaches over the first instruction.
        let (mut open, mut seen) = (vec![(pc, 0)], BTreeSet::new());
        while let Some((behind, back)) = open.pop() {
            for start in flow.before(behind) {
                if [false, true].iter().any(|shortened| self.group(start, *shortened).is_some_and(|(_, end)| end > pc)) {
                    return Err(unclear());
                }
                let back = back + usize::from(!self.guess(start).is_some_and(|i| self.goes(start, &i)));
                if back < longest() && seen.insert((start, back)) {
                    open.push((start, back));
                }
            }
        }
        Ok(fused.meaning)
    }
}
