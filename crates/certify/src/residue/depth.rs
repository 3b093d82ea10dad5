//! How deep a function and all that it calls go into the stack.
//!
//! Needs: decoded code.  Keeps: a bound for every way through the code, branches taken and not; no bound where the stack pointer is computed
//! from a value, where a function calls itself, or where it jumps to a computed address.  Absent: which ways are taken.
//! Trusted: certifier.

use super::step::{at_entry, decoded, ends, step, write, Callee, Regs, Step};
use super::takes::Takes;
use super::value::{Interface, Values, PUBLIC, V};
use crate::machine::{Code, CALLER_SAVED};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of stack that is believed of `memcpy`, `memmove` and `memset` where the file does not hold them.
pub const OF_LIBRARY: u64 = 128;

/// Depths of functions, each looked at once.
pub(crate) struct Depths<'a> {
    pub code: &'a Code<'a>,
    known: BTreeMap<u64, Result<u64, String>>,
    open: Vec<u64>,
    calls: BTreeMap<u64, BTreeSet<Callee>>,
    /// Functions that are known to leave no secret behind, by address.
    pub clean: BTreeMap<u64, Interface>,
    /// Functions without a source, by address: nobody proved what they branch on.
    pub by_hand: BTreeSet<u64>,
    /// Functions of the program whose results are public, by address.
    pub public_results: BTreeSet<u64>,
    /// How functions of the program get their arguments, by address.
    pub takes: BTreeMap<u64, Takes>,
    /// Functions that write to what their callers passed on the stack, or make an address of it.
    writing: BTreeSet<u64>,
}

impl<'a> Depths<'a> {
    pub fn new(code: &'a Code<'a>) -> Depths<'a> {
        Depths { code, known: BTreeMap::new(), open: vec![], calls: BTreeMap::new(), clean: BTreeMap::new(), by_hand: BTreeSet::new(), public_results: BTreeSet::new(), takes: BTreeMap::new(), writing: BTreeSet::new() }
    }

    /// Bytes below the stack pointer at the call.
    pub fn of(&mut self, callee: &Callee) -> Result<u64, String> {
        let address = match callee {
            Callee::Here(address) => *address,
            Callee::Elsewhere(name) if matches!(name.as_str(), "memcpy" | "memmove" | "memset") => return Ok(OF_LIBRARY),
            // What others do with secrets that they make is theirs.
            Callee::Elsewhere(name) if name == "randombytes" => return Ok(0),
            Callee::Elsewhere(name) => return Err(format!("`{name}` is called, which the file does not hold")),
        };
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        let name = self.name(address);
        if self.open.contains(&address) {
            return Err(format!("`{name}` calls itself"));
        }
        self.open.push(address);
        let found = self.walk(address).map_err(|why| if why.contains("in `") { why } else { format!("{why}, in `{name}`") });
        self.open.pop();
        self.known.insert(address, found.clone());
        found
    }

    /// Whether what was passed to a function on the stack is there when it returns, if it keeps to its objects. Its depth was asked for.
    pub fn keeps_arguments(&self, callee: &Callee) -> bool {
        match callee {
            Callee::Here(address) => !self.writing.contains(address),
            Callee::Elsewhere(_) => false,
        }
    }

    /// All functions of the file that run when these do.
    pub fn below(&self, first: &BTreeSet<Callee>) -> BTreeSet<u64> {
        let (mut seen, mut open) = (BTreeSet::new(), first.iter().cloned().collect::<Vec<_>>());
        while let Some(callee) = open.pop() {
            let Callee::Here(address) = callee else { continue };
            if seen.insert(address) {
                open.extend(self.calls.get(&address).into_iter().flatten().cloned());
            }
        }
        seen
    }

    /// Of the function that holds the instruction there.
    pub fn name(&self, address: u64) -> String {
        self.code.image.function_at(address).map_or_else(|| format!("{address:#x}"), |f| f.name.clone())
    }

    fn walk(&mut self, entry: u64) -> Result<u64, String> {
        let mut values = Values { secret_entry: 0, secret_result: false, narrow_entry: 0, narrow_result: false, xlen: self.code.xlen() };
        let mut states: BTreeMap<u64, Regs> = BTreeMap::from([(entry, at_entry())]);
        let mut open = BTreeSet::from([entry]);
        let mut deepest = 0u64;
        while let Some(pc) = open.pop_first() {
            let mut regs = states[&pc];
            if ends(self.code, pc) {
                continue;
            }
            let (_, next) = decoded(self.code, pc)?;
            // Pairs of instructions that make an address stand side by side.
            let before = [4, 2].iter().filter_map(|d| pc.checked_sub(*d)).find(|b| states.contains_key(b) && decoded(self.code, *b).is_ok_and(|(_, n)| n == pc));
            let done = step(self.code, &mut values, &mut regs, before, pc)?;
            let above = |v: &V| matches!(v, V::Stack(at) if *at >= 0);
            if matches!(&done, Step::Store { address: V::Stack(at), bytes, .. } if at + i64::from(*bytes) > 0) || regs.iter().enumerate().any(|(r, v)| r != 2 && above(v)) {
                self.writing.insert(entry);
            }
            let V::Stack(at) = regs[2] else { return Err("the stack pointer is computed from a value".into()) };
            let here = u64::try_from(-at).map_err(|_| "the stack pointer rises above its place at entry".to_string())?;
            deepest = deepest.max(here);
            let onward = match done {
                Step::Next | Step::Store { .. } => vec![next],
                Step::Load { rd, .. } => {
                    write(&mut regs, rd, PUBLIC);
                    vec![next]
                }
                Step::Branch { target, .. } => vec![next, target],
                Step::Goto(to) => vec![to],
                Step::Return(_) => vec![],
                Step::Call(callee) => {
                    deepest = deepest.max(here + self.called(entry, callee)?);
                    CALLER_SAVED.iter().for_each(|r| regs[*r] = PUBLIC);
                    vec![next]
                }
                Step::Last(callee) => {
                    deepest = deepest.max(here + self.called(entry, callee)?);
                    vec![]
                }
            };
            for to in onward {
                let joined = states.get(&to).map_or(regs, |old| std::array::from_fn(|r| values.join(old[r], regs[r])));
                if states.insert(to, joined) != Some(joined) {
                    open.insert(to);
                }
            }
        }
        Ok(deepest)
    }

    fn called(&mut self, caller: u64, callee: Callee) -> Result<u64, String> {
        let bytes = self.of(&callee)?;
        self.calls.entry(caller).or_default().insert(callee);
        Ok(bytes)
    }
}
