//! Functions that code may enter which was not compared with the source: what is proved of how they are called in the file says
//! nothing of such a call.
//!
//! Needs: decoded code, what was found equal.  Keeps: code that others can call and that is not equal, and whatever an address in
//! the data leads to, is followed instruction by instruction, through jumps, calls and the ends of functions.  Absent:
//! addresses of code that are made otherwise than by `lui`, `auipc`, `gp` or a word of data.

use crate::function::Verdict;
use crate::results::Results;
use crate::subject::{Job, Subject};
use santoku_elf::Function;
use santoku_isa::{Inst, Sem};
use std::collections::BTreeSet;

/// Instructions behind the one that makes the high part of an address, among which the low part is looked for.
const NEAR: usize = 32;
/// How far a low part reaches.
const REACH: u64 = 1 << 11;

/// Functions, by address, that such code may enter.
#[derive(Default)]
pub(crate) struct Entered {
    /// In any way.
    pub any: BTreeSet<u64>,
    /// By an address that the data or such code holds: whoever has it calls as the psABI says.
    pub by_address: BTreeSet<u64>,
}

/// What code can enter that is not equal to its source, or has none, unless all that runs such code is compared.
pub(crate) fn entered(subject: &Subject, results: &Results) -> Entered {
    let equal: BTreeSet<u64> = results.done.iter().filter(|(_, d)| d.found.verdict == Verdict::Equal).map(|(Job { address, .. }, _)| *address).collect();
    let compared = |f: &Function| equal.contains(&f.address) && subject.convention_at(f.address).is_source() && !subject.functions_of(f).is_empty();
    let image = subject.image;
    let gp = image.without_code.iter().find(|f| f.name == "__global_pointer$").map(|f| f.address);
    let mut walk = Walk { subject, compared: &compared, gp, found: Entered::default(), seen: BTreeSet::new(), open: vec![] };
    walk.open.extend(image.functions.iter().filter(|f| !f.local && !compared(f)).map(|f| f.address));
    image.addresses_in_data().into_iter().for_each(|at| walk.by_address(at));
    walk.all();
    walk.found
}

struct Walk<'a> {
    subject: &'a Subject<'a>,
    /// Whether a function is equal to its source, called as the source says.
    compared: &'a dyn Fn(&Function) -> bool,
    gp: Option<u64>,
    found: Entered,
    seen: BTreeSet<u64>,
    open: Vec<u64>,
}

impl Walk<'_> {
    /// Control may come to an address.
    fn arrive(&mut self, at: u64) {
        let image = self.subject.image;
        if image.word(at).is_none() {
            return;
        }
        let function = image.function_at(at);
        self.found.any.extend(function.map(|f| f.address));
        // What a compared function does when it is entered at its start was followed; it enters others as they were compared.
        if !function.is_some_and(|f| f.address == at && (self.compared)(f)) {
            self.open.push(at);
        }
    }

    fn by_address(&mut self, at: u64) {
        self.found.by_address.extend(self.subject.image.function_at(at).map(|f| f.address));
        self.arrive(at);
    }

    /// What code leads to by a distance, or by a symbol and an addend, over what a linker may leave out.
    fn anywhere(&mut self) {
        self.found.any.extend(self.subject.image.functions.iter().map(|f| f.address));
    }

    fn branch(&mut self, pc: u64, to: u64) {
        if !self.subject.image.is_firm(pc, to) {
            self.anywhere();
        }
        self.arrive(to);
    }

    fn all(&mut self) {
        while let Some(pc) = self.open.pop() {
            if self.seen.insert(pc) {
                self.one(pc);
            }
        }
    }

    fn decode(&self, pc: u64) -> Option<Inst> {
        self.subject.image.word(pc).and_then(|word| santoku_isa::decode(&self.subject.isa, word))
    }

    fn one(&mut self, pc: u64) {
        let Some(inst) = self.decode(pc) else { return };
        let mask = self.subject.isa.xlen.mask();
        let there = |base: u64| base.wrapping_add(inst.imm as u64) & mask;
        if self.subject.image.wanders(pc) {
            self.anywhere();
        }
        match (&inst.row.sem, inst.row.name) {
            (Sem::Branch(_), _) => self.branch(pc, there(pc)),
            (Sem::Jump(_), name) => {
                if name == "jal" {
                    self.branch(pc, there(pc));
                }
                if inst.rd == 0 {
                    return;
                }
            }
            (_, "auipc") => self.high(pc, &inst, there(pc)),
            (_, "lui") => self.high(pc, &inst, there(0)),
            (_, "addi") if inst.rs1 == 3 => self.gp.into_iter().for_each(|gp| self.by_address(there(gp))),
            // The low part of an address whose high part stands elsewhere.
            _ => self.subject.image.meant_at(pc).into_iter().for_each(|at| self.by_address(at)),
        }
        self.arrive(pc.wrapping_add(u64::from(inst.len)) & mask);
    }

    /// What a high part becomes: where a call or a jump leads, or an address that may go anywhere.
    fn high(&mut self, pc: u64, high: &Inst, base: u64) {
        let (image, mask) = (self.subject.image, self.subject.isa.xlen.mask());
        let next = pc.wrapping_add(u64::from(high.len));
        let call = self.decode(next).filter(|i| matches!(i.row.sem, Sem::Jump(_)) && i.rs1 == high.rd && i.row.name != "jal");
        let meant = image.meant_at(pc);
        if let Some(jump) = call {
            return self.arrive(meant.unwrap_or_else(|| base.wrapping_add(jump.imm as u64) & mask));
        }
        if let Some(meant) = meant {
            return self.by_address(meant);
        }
        let (mut at, mut found) = (next, false);
        for inst in (0..NEAR).map_while(|_| {
            let inst = self.decode(at)?;
            at = at.wrapping_add(u64::from(inst.len));
            Some(inst)
        }).collect::<Vec<_>>() {
            if inst.rs1 == high.rd {
                self.by_address(base.wrapping_add(inst.imm as u64) & mask);
                found = true;
            }
            if inst.rd == high.rd {
                break;
            }
        }
        if !found {
            let near = image.functions.iter().map(|f| f.address).filter(|a| a.wrapping_sub(base.wrapping_sub(REACH)) < 2 * REACH);
            near.collect::<Vec<u64>>().into_iter().for_each(|a| self.by_address(a));
        }
    }
}
