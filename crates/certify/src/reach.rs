//! Which code leads to which: direct jumps, branches and calls.
//!
//! Needs: decoded code.  Keeps: nothing: a call whose target is not written in the instructions before it is missing here, and so is
//! one from code of no function. Whether there are others is asked of `entered`.  Absent: what is made of it.
//! Trusted: nothing: it orders the work.

use crate::subject::Subject;
use santoku_elf::Function;
use santoku_ir::FuncId;
use santoku_isa::Sem;
use std::collections::{BTreeMap, BTreeSet};

/// By the function called, its direct callers.
pub(crate) type Callers = BTreeMap<u64, BTreeSet<u64>>;

/// Who calls, jumps or branches to whom, directly.
pub(crate) fn callers(subject: &Subject) -> Callers {
    let mut callers = Callers::new();
    for f in &subject.image.functions {
        for to in targets(subject, f) {
            if let Some(g) = subject.image.function_at(to).filter(|g| g.address != f.address) {
                callers.entry(g.address).or_default().insert(f.address);
            }
        }
    }
    callers
}

/// A function and those that it runs because no function of the program stands for them, by address; and the functions of the
/// program that all these call. A callee that the compiler put in the place of every call is not among them.
pub(crate) fn runs(subject: &Subject, address: u64) -> (BTreeSet<u64>, BTreeSet<FuncId>) {
    let (mut seen, mut open, mut found) = (BTreeSet::from([address]), vec![address], BTreeSet::new());
    while let Some(at) = open.pop() {
        let to = subject.image.function_at(at).map(|f| targets(subject, f)).unwrap_or_default();
        for g in to.into_iter().filter_map(|to| subject.image.function_at(to)) {
            let known = subject.functions_of(g);
            if known.is_empty() && seen.insert(g.address) {
                open.push(g.address);
            }
            found.extend(known);
        }
    }
    (seen, found)
}

/// The functions of the program that code without a source calls, directly or through code of its kind. A part that a compiler took out of a
/// function, `f.part.0`, counts as the function.
pub(crate) fn enters(subject: &Subject, address: u64) -> BTreeSet<FuncId> {
    let (mut seen, mut open, mut found) = (BTreeSet::from([address]), vec![address], BTreeSet::new());
    while let Some(at) = open.pop() {
        let to = subject.image.function_at(at).map(|f| targets(subject, f)).unwrap_or_default();
        for g in to.into_iter().filter_map(|to| subject.image.function_at(to)) {
            let whole = g.name.split_once('.').and_then(|(name, _)| subject.symbols.get(name)).filter(|_| g.local);
            let known: BTreeSet<FuncId> = subject.functions_of(g).into_iter().chain(whole.copied()).collect();
            if known.is_empty() && seen.insert(g.address) {
                open.push(g.address);
            }
            found.extend(known);
        }
    }
    found
}

/// Where a function's direct jumps, branches and calls lead.
fn targets(subject: &Subject, f: &Function) -> BTreeSet<u64> {
    let Subject { image, isa, .. } = subject;
    let mask = isa.xlen.mask();
    let mut high: BTreeMap<u8, u64> = BTreeMap::new();
    let (mut out, mut pc) = (BTreeSet::new(), f.address);
    while pc.wrapping_sub(f.address) < f.size {
        let inst = image.word(pc).and_then(|word| santoku_isa::decode(isa, word));
        let Some(inst) = inst else {
            pc = pc.wrapping_add(2);
            continue;
        };
        let there = |base: u64| base.wrapping_add(inst.imm as u64) & mask;
        match (&inst.row.sem, inst.row.name) {
            (Sem::Branch(_), _) => {
                out.insert(there(pc));
            }
            (Sem::Jump(_), "jal") => {
                out.insert(there(pc));
            }
            (Sem::Jump(_), _) => {
                out.extend(high.get(&inst.rs1).map(|base| there(*base)));
                high.remove(&inst.rd);
            }
            (_, "auipc") => {
                high.insert(inst.rd, there(pc));
            }
            (_, "lui") => {
                high.insert(inst.rd, there(0));
            }
            _ => {
                high.remove(&inst.rd);
            }
        }
        pc = pc.wrapping_add(u64::from(inst.len));
    }
    out
}
