//! The rules of a call, watched while code runs: what the caller owes, and noise where the callee owes nothing.
//!
//! Needs: the calling convention, layouts.  Keeps: nothing of `machine::contract`, which it judges.  Absent: what a call gives.

use crate::source::abi::{signature, Kind, Place, Role, Signature};
use super::bench::{Bench, Callee, Open, Run};
use santoku_ir::FuncId;
use santoku_isa::Memory;
use std::collections::BTreeMap;

/// Registers that belong to the callee, but for results: ra, t0 to t6, a0 to a7.
const SPOILT: [usize; 16] = [1, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31];

impl<'a> Bench<'a> {
    /// Holds calls of these functions to the convention of the source.
    ///
    /// # Errors
    /// A signature cannot be passed.
    pub fn with_calls(mut self, symbols: &BTreeMap<String, FuncId>) -> Result<Bench<'a>, String> {
        for (name, func) in symbols {
            let Some(f) = self.image.function(name) else { continue };
            let signature = signature(self.program, self.program.func(*func), self.image.xlen).map_err(|e| e.to_string())?;
            let words = signature.returned.as_ref().map_or(0, |s| s.bits.div_ceil(self.image.xlen).max(1)) as usize;
            self.callees.insert(f.address, Callee { signature, words });
        }
        Ok(self)
    }
}

impl Run<'_> {
    /// After the jump at `pc`: a call owes something to who is called.
    pub(super) fn called(&mut self, pc: u64) -> Result<(), String> {
        let image = self.bench.image;
        let to = self.machine.pc;
        let inside = image.function_at(pc).zip(image.function_at(to)).is_some_and(|(f, g)| f.address == g.address);
        let callee = self.bench.callees.get(&to).filter(|_| !inside);
        if callee.is_none() && image.external(to).is_none() {
            return Ok(());
        }
        let sp = self.machine.regs[2];
        if sp % 16 != 0 {
            return Err("a call with a stack pointer that is no multiple of 16".into());
        }
        if [self.machine.regs[3], self.machine.regs[4]] != self.platform {
            return Err("a call with another gp or tp than at entry".into());
        }
        self.space.sp = sp;
        let Some(callee) = callee else { return Ok(()) };
        let between = self.owed(&callee.signature, sp)?;
        let stack = u64::from(callee.signature.stack);
        self.calls.push(Open { back: self.machine.regs[1], sp, stack, words: callee.words, between });
        Ok(())
    }

    /// Checks the arguments; addresses of the bytes between the scalars of results.
    fn owed(&mut self, signature: &Signature, sp: u64) -> Result<Vec<u64>, String> {
        let slot = u64::from(self.bench.image.xlen / 8);
        let mut objects: Vec<(u64, u64, bool)> = vec![];
        let mut between = vec![];
        for arg in &signature.args {
            let words: Vec<Option<u64>> = match arg.place {
                Place::Regs { first, count } => (0..count).map(|k| Some(self.machine.regs[(10 + first + k) as usize])).collect(),
                Place::Stack { offset } => vec![self.space.load(sp + u64::from(offset), slot as u8)],
                Place::Split { .. } => continue,
            };
            let word = words.first().copied().flatten().ok_or("an argument on the stack is not there")?;
            match &arg.kind {
                Kind::Scalar(s) if s.bits < self.bench.image.xlen => {
                    if word != i64::from(word as u32 as i32) as u64 {
                        return Err("an argument is not extended to the register".into());
                    }
                }
                Kind::Scalar(_) => {}
                Kind::Pointer(o) => {
                    let written = matches!(arg.role, Role::Ret(_));
                    if word % o.align != 0 {
                        return Err(format!("an object at an address that is no multiple of {}", o.align));
                    }
                    if o.repeat.is_some() {
                        continue;
                    }
                    if !self.space.may(word, o.size, written) {
                        return Err("an object is passed that lies elsewhere".into());
                    }
                    objects.push((word, o.size, written));
                    let mut next = 0;
                    for u in o.units.iter().filter(|_| written) {
                        between.extend((next..u.offset).map(|k| word + k));
                        next = u.offset + u64::from(u.bytes);
                    }
                    between.extend((next..o.size).filter(|_| written).map(|k| word + k));
                }
            }
        }
        let meet = |(a, n): (u64, u64), (b, m): (u64, u64)| a < b + m && b < a + n;
        for (i, (a, n, written)) in objects.iter().enumerate() {
            if meet((*a, *n), (sp, signature.stack.into())) {
                return Err("an object overlaps arguments on the stack".into());
            }
            let others = objects.iter().enumerate().filter(|(j, _)| *written && *j != i);
            for (_, (b, m, other)) in others {
                if meet((*a, *n), (*b, *m)) && ((a, n) != (b, m) || *other) {
                    return Err("a result overlaps another object of the call".into());
                }
            }
        }
        Ok(between)
    }

    /// Where a call has returned, what the callee owes nothing of holds noise.
    pub(super) fn returned(&mut self) {
        let (mut any, mut words, mut stack) = (false, 0, 0);
        // Several at once where one call was made in the place of another's return.
        while let Some(open) = self.calls.pop_if(|open| open.back == self.machine.pc && open.sp == self.machine.regs[2]) {
            self.space.sp = open.sp;
            for address in &open.between {
                let noise = self.noise.next_u64() & 0xff;
                let _ = self.space.store(*address, 1, noise);
            }
            (any, words, stack) = (true, open.words, open.stack);
        }
        if any {
            self.spoil(words, stack);
        }
    }

    /// Noise in registers and stack that belong to the callee, but for results in so many registers.
    pub(super) fn spoil(&mut self, words: usize, stack: u64) {
        let mask = self.bench.isa.xlen.mask();
        for r in SPOILT.into_iter().filter(|r| !(10..10 + words).contains(r)) {
            self.machine.regs[r] = self.noise.next_u64() & mask;
        }
        let region = &mut self.space.regions[0];
        let offset = |at: u64| (at.saturating_sub(region.base) as usize).min(region.bytes.len());
        let (from, to) = (offset(self.lowest), offset(self.machine.regs[2].saturating_add(stack)));
        if from < to {
            let noise = self.noise.bytes((to - from) as usize);
            region.bytes[from..to].copy_from_slice(&noise);
        }
        self.lowest = self.machine.regs[2];
    }
}
