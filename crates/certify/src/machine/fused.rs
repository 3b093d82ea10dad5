//! Groups of instructions that CKB-VM executes as one with another result than one by one.
//!
//! Needs: the rules of [`santoku_isa::ckb`].  Keeps: where the VM's result is another, the VM's is taken; where it is not certain
//! that the VM sees the group (an earlier group may take its first instruction), the code is not followed.  Absent: groups
//! without a deviation, which are executed one by one.

use super::exec::Code;
use super::Why;
use santoku_isa::ckb::{fuse, Fused, RULES};
use santoku_isa::Inst;

impl Code<'_> {
    /// The group that CKB-VM makes of what lies at `pc`.
    fn group(&self, pc: u64) -> Option<Fused> {
        let longest = RULES.iter().map(|r| r.group.len()).max().unwrap_or(1);
        let (mut insts, mut at) = (vec![], pc);
        while insts.len() < longest {
            // What lies behind and is in no group is not executed here.
            let Some(inst) = self.guess(at) else { break };
            at = self.mask(at.wrapping_add(u64::from(inst.len)));
            insts.push(inst);
        }
        fuse(&insts, pc)
    }

    /// What is executed in the place of the instructions at `pc` where CKB-VM does something else; empty elsewhere.
    pub(super) fn instead(&self, pc: u64) -> Result<Vec<Inst>, Why> {
        if !self.ckb_vm {
            return Ok(vec![]);
        }
        let Some(fused) = self.group(pc).filter(|f| f.deviates) else { return Ok(vec![]) };
        let unclear = || Why::Unsupported(format!("CKB-VM may execute a group as one here ({}), or a part of it", fused.rule.opcode));
        let flow = self.flow_of(pc).ok_or_else(unclear)?;
        let mut at = pc;
        for n in 0..fused.count() {
            let inst = self.decode(at).ok_or_else(unclear)?;
            if n > 0 && flow.is_entered(at) {
                return Err(unclear());
            }
            at = self.mask(at.wrapping_add(u64::from(inst.len)));
        }
        // An earlier group that reaches over the first instruction.
        let mut open = vec![(pc, 0)];
        while let Some((behind, back)) = open.pop() {
            for start in flow.before(behind) {
                let length = |f: &Fused| f.meaning.iter().map(|i| u64::from(i.len)).sum::<u64>();
                if self.group(start).is_some_and(|f| start.wrapping_add(length(&f)) > pc) {
                    return Err(unclear());
                }
                if back < fused.count().max(5) {
                    open.push((start, back + 1));
                }
            }
        }
        Ok(fused.meaning)
    }
}
