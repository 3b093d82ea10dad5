//! A function from entry to return: what it hands to what it calls, and what is left when it returns.
//!
//! Needs: single steps, depths.  Keeps: whatever a callee may have written, its registers and the stack down to its depth, holds secrets until it
//! is overwritten; of memory that is not the function's frame nothing is known.  Absent: what the callees compute.
//! Trusted: certifier.

use super::depth::Depths;
use super::step::{at_entry, decoded, step, write, Callee, Regs, Step};
use super::takes::{Frame, Written};
use crate::source::abi::Place;
use crate::machine::CALLER_SAVED;
use super::value::{Interface, Values, PUBLIC, SECRET, V};
use santoku_isa::{register_name, Word};
use std::collections::{BTreeMap, BTreeSet};

/// Instructions on one way through a function: clearing loops are followed round by round.
const STEPS_MAX: u32 = 1 << 20;
/// Ways through one function.
const WAYS_MAX: usize = 64;

/// A byte of the stack: part of a value that was stored whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Byte {
    value: V,
    first: i64,
    bytes: u8,
}

/// A call, with what it passes in registers and, word by word, on the stack.
#[derive(Clone)]
struct Call {
    callee: Callee,
    regs: Regs,
    stack: Vec<V>,
}

#[derive(Clone)]
struct State {
    pc: u64,
    before: Option<u64>,
    regs: Regs,
    /// By distance from the stack pointer at entry.
    stack: BTreeMap<i64, Byte>,
    steps: u32,
    calls: Vec<Call>,
    /// It wrote to memory that is not its frame.
    stores: bool,
}

/// What was seen on all ways through a function.
pub(crate) struct Left {
    /// The first secret that is still there, where it is.
    pub secret: Option<String>,
    /// Bytes of stack below entry that the function and what it calls may have written.
    pub deepest: u64,
    /// Bytes of them that held a secret and were overwritten, on the way that overwrites most.
    pub overwritten: u64,
    pub callees: BTreeSet<Callee>,
    /// The first instruction of it, or of the functions by hand that it calls, that shows a secret in its time; else why one of the latter
    /// is not followed.
    pub shows: Option<Shows>,
    /// The one function that it calls, with its own arguments, and whose results it returns, and nothing else that a caller would see.
    pub hands_on: Option<u64>,
}

/// What code by hand is found to do with secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    Secret(String),
    NotFollowed(String),
}

impl Shows {
    /// Something that is found weighs more than what is not known.
    fn first(old: Option<Shows>, new: Option<Shows>) -> Option<Shows> {
        match (&old, &new) {
            (None, _) | (Some(Shows::NotFollowed(_)), Some(Shows::Secret(_))) => new,
            _ => old,
        }
    }
}

/// Follows all ways through the function at `entry`.
///
/// # Errors
/// Why the code is not followed.
pub(crate) fn left(depths: &mut Depths, entry: u64, interface: &Interface) -> Result<Left, String> {
    let mut values = Values { secret_entry: interface.secret_entry, secret_result: interface.secret_result, narrow_entry: interface.narrow_entry, narrow_result: interface.narrow_result, xlen: depths.code.xlen() };
    let first = State { pc: entry, before: None, regs: at_entry(), stack: BTreeMap::new(), steps: 0, calls: vec![], stores: false };
    let (mut open, mut ways) = (vec![first], 0);
    let mut all = Left { secret: None, deepest: 0, overwritten: 0, callees: BTreeSet::new(), shows: None, hands_on: None };
    let mut handed = BTreeSet::new();
    while let Some(state) = open.pop() {
        ways += 1;
        if ways > WAYS_MAX {
            return Err("too many ways through the function".into());
        }
        let end = Way { depths, values: &mut values, open: &mut open, handed: interface.stack.into(), spoilt: BTreeSet::new(), deepest: 0, shows: None }.follow(state)?;
        let (state, spoilt, deepest, shows) = end;
        all.shows = Shows::first(all.shows, shows);
        returned(&state)?;
        let secret = remaining(&values, &state, interface);
        let over = spoilt.iter().filter(|at| state.stack.get(at).is_some_and(|b| !values.is_secret(b.value))).count();
        all.overwritten = all.overwritten.max(over as u64);
        all.deepest = all.deepest.max(deepest);
        all.callees.extend(state.calls.iter().map(|c| c.callee.clone()));
        handed.insert(handed_on(&state, interface));
        all.secret = all.secret.or(secret);
    }
    all.hands_on = if handed.len() == 1 { handed.pop_first().flatten() } else { None };
    Ok(all)
}

/// One way, up to the return.
struct Way<'w, 'a> {
    depths: &'w mut Depths<'a>,
    values: &'w mut Values,
    open: &'w mut Vec<State>,
    /// Bytes of arguments on the stack.
    handed: i64,
    /// Bytes that callees may have written.
    spoilt: BTreeSet<i64>,
    deepest: u64,
    shows: Option<Shows>,
}

impl Way<'_, '_> {
    fn follow(mut self, mut s: State) -> Result<(State, BTreeSet<i64>, u64, Option<Shows>), String> {
        // What another way spoilt before it parted from this one is in the stack of this one.
        self.spoilt.extend(s.stack.iter().filter(|(_, b)| b.value == SECRET).map(|(at, _)| *at));
        loop {
            s.steps += 1;
            if s.steps > STEPS_MAX {
                return Err("a loop that does not end in sight".into());
            }
            let (pc, (inst, next)) = (s.pc, decoded(self.depths.code, s.pc)?);
            if self.depths.code.takes_time(&inst) && [inst.rs1, inst.rs2].iter().any(|r| self.values.is_secret(s.regs[*r as usize])) {
                self.show(pc, "an operand of");
            }
            let done = step(self.depths.code, self.values, &mut s.regs, s.before, pc)?;
            (s.before, s.pc) = (Some(pc), next);
            match done {
                Step::Next => self.moved(&mut s)?,
                Step::Load { rd, address, bytes, signed } => {
                    self.show_address(pc, address);
                    let value = self.load(&s, address, bytes, signed);
                    write(&mut s.regs, rd, value);
                }
                Step::Store { address, bytes, value } => {
                    self.show_address(pc, address);
                    self.store(&mut s, address, bytes, value)?;
                }
                Step::Branch { taken: Some(taken), target, .. } => s.pc = if taken { target } else { next },
                Step::Branch { taken: None, target, secret } => {
                    if secret {
                        self.show(pc, "the condition of");
                    }
                    self.open.push(State { pc: target, ..s.clone() });
                }
                Step::Goto(to) => s.pc = to,
                Step::Call(callee) => self.call(&mut s, callee)?,
                Step::Last(callee) => {
                    let back = s.regs[1];
                    self.call(&mut s, callee)?;
                    s.regs[1] = back;
                    break;
                }
                Step::Return(to) => {
                    s.regs[1] = to;
                    break;
                }
            }
        }
        Ok((s, self.spoilt, self.deepest, self.shows))
    }

    fn show(&mut self, pc: u64, what: &str) {
        let code = self.depths.code;
        let (name, text) = (self.depths.name(pc), decoded(code, pc).map_or_else(|why| why, |(inst, _)| inst.row.name.to_string()));
        self.shows = Shows::first(self.shows.take(), Some(Shows::Secret(format!("{what} `{text}` at {pc:#x}, in `{name}`"))));
    }

    fn show_address(&mut self, pc: u64, address: V) {
        if self.values.is_secret(address) {
            self.show(pc, "the address of");
        }
    }

    /// What a callee by hand shows of secrets, those included that it gets in registers.
    fn by_hand(&mut self, s: &State, callee: &Callee) {
        let Callee::Here(at) = callee else { return };
        if !self.depths.by_hand.contains(at) {
            return;
        }
        // What it has in `t0` and the like from its caller it does not read: a compiler knows nothing of them.
        let secret_entry = (10..18).filter(|r| self.values.is_secret(s.regs[*r])).fold(0, |mask, r| mask | 1 << r);
        let shows = match left(self.depths, *at, &Interface { secret_entry, secret_result: true, results: 1, ..Interface::default() }) {
            Ok(inner) => inner.shows,
            Err(why) => Some(Shows::NotFollowed(format!("{why}, in `{}`", self.depths.name(*at)))),
        };
        self.shows = Shows::first(self.shows.take(), shows);
    }

    /// What lies below the stack pointer when it sinks is what was there.
    fn moved(&mut self, s: &mut State) -> Result<(), String> {
        let V::Stack(at) = s.regs[2] else { return Err("the stack pointer is computed from a value".into()) };
        self.deepest = self.deepest.max(u64::try_from(-at).map_err(|_| "the stack pointer rises above its place at entry")?);
        Ok(())
    }

    fn load(&self, s: &State, address: V, bytes: u8, signed: bool) -> V {
        let V::Stack(at) = address else { return V::Any { secret: true, frame: address.is_of_frame() } };
        if at >= 0 && at + i64::from(bytes) <= self.handed && u32::from(bytes) * 8 == self.values.xlen {
            return V::Handed(at);
        }
        let all: Vec<Option<&Byte>> = (at..at + i64::from(bytes)).map(|k| s.stack.get(&k)).collect();
        let whole = |b: &&Byte| b.first == at && b.bytes == bytes;
        match all[0].filter(whole) {
            Some(first) if all.iter().all(|b| *b == Some(first)) => match first.value {
                V::Known(w) if u32::from(bytes) * 8 < self.values.xlen => {
                    let bits = if signed { w.signed() as u128 } else { w.bits };
                    V::Known(Word::new(bits, self.values.xlen))
                }
                v => v,
            },
            _ => V::Any { secret: true, frame: all.iter().flatten().any(|b| b.value.is_of_frame()) },
        }
    }

    fn store(&mut self, s: &mut State, address: V, bytes: u8, value: V) -> Result<(), String> {
        let V::Stack(at) = address else {
            if address.is_of_frame() || value.is_of_frame() {
                return Err("a store at a computed place of the frame, or of an address in it".into());
            }
            s.stores = true;
            return Ok(());
        };
        let V::Stack(sp) = s.regs[2] else { return Err("the stack pointer is computed from a value".into()) };
        if at < sp || at + i64::from(bytes) > 0 {
            return Err("the stack is written outside the frame".into());
        }
        // Parts of what is overwritten in part are any values.
        let torn: Vec<i64> = (at..at + i64::from(bytes)).filter_map(|k| s.stack.get(&k)).flat_map(|b| b.first..b.first + i64::from(b.bytes)).collect();
        for k in torn {
            if let Some(b) = s.stack.get_mut(&k) {
                *b = Byte { value: self.values.some(&[b.value]), first: k, bytes: 1 };
            }
        }
        for k in at..at + i64::from(bytes) {
            s.stack.insert(k, Byte { value, first: at, bytes });
        }
        Ok(())
    }

    /// Registers in which a callee returns something that leaves no secret behind, not even one that it finds in a register.
    fn clean(&mut self, s: &State, callee: &Callee) -> Option<u32> {
        let Callee::Here(at) = callee else { return None };
        let own = self.depths.clean.get(at).copied()?;
        let found = (1..32).filter(|r| self.values.is_secret(s.regs[*r])).fold(own.secret_entry, |mask, r| mask | 1 << r);
        let left = left(self.depths, *at, &Interface { secret_entry: found, ..own }).ok()?;
        left.secret.is_none().then_some(own.results)
    }

    /// What a call writes in the frame.
    fn written(&self, s: &State, callee: &Callee, sp: i64) -> Result<Vec<Written>, String> {
        let takes = match callee {
            Callee::Here(at) => self.depths.takes.get(at),
            Callee::Elsewhere(_) => None,
        };
        if let Some(takes) = takes {
            return takes.written(sp, &At { way: self, state: s, sp });
        }
        // Of any other function it is not known how many of its arguments are on the stack.
        let passed = matches!(callee, Callee::Here(_)) && s.stack.range(sp..).any(|(_, b)| b.value.is_of_frame());
        if passed || (10..18).any(|r| s.regs[r].is_of_frame()) {
            return Err("a call that may get an address in the frame".into());
        }
        Ok(vec![])
    }

    fn call(&mut self, s: &mut State, callee: Callee) -> Result<(), String> {
        let depth = self.depths.of(&callee)?;
        let clean = self.clean(s, &callee);
        let V::Stack(sp) = s.regs[2] else { return Err("the stack pointer is computed from a value".into()) };
        let written = self.written(s, &callee, sp)?;
        let word = i64::from(self.values.xlen / 8);
        let places: Vec<i64> = (0..self.handed / word).map(|k| sp + k * word).collect();
        let stack = places.iter().map(|at| self.load(s, V::Stack(*at), word as u8, false)).collect();
        // They are the callee's to write to.
        if !self.depths.keeps_arguments(&callee) {
            for k in sp..(sp + self.handed).min(0) {
                s.stack.insert(k, Byte { value: SECRET, first: k, bytes: 1 });
            }
        }
        self.by_hand(s, &callee);
        s.calls.push(Call { callee, regs: s.regs, stack });
        let low = i64::try_from(depth).ok().and_then(|d| sp.checked_sub(d)).ok_or("a stack without bounds")?;
        self.deepest = self.deepest.max(low.unsigned_abs());
        // What leaves nothing behind itself leaves what was there, or no secret.
        if clean.is_none() {
            for k in low..sp {
                s.stack.insert(k, Byte { value: SECRET, first: k, bytes: 1 });
                self.spoilt.insert(k);
            }
        }
        for w in written {
            for k in w.at..w.at + w.bytes {
                s.stack.insert(k, Byte { value: if w.public { PUBLIC } else { SECRET }, first: k, bytes: 1 });
                self.spoilt.insert(k);
            }
        }
        CALLER_SAVED.iter().for_each(|r| s.regs[*r] = if clean.is_some() { PUBLIC } else { SECRET });
        s.regs[1] = PUBLIC;
        let public = self.values.secret_result && matches!(s.calls.last(), Some(Call { callee: Callee::Here(at), .. }) if self.depths.public_results.contains(at));
        for k in 0..clean.unwrap_or(2) {
            s.regs[10 + k as usize] = if public { PUBLIC } else { V::Result(k as u8) };
        }
        Ok(())
    }
}

/// A call.
struct At<'w, 'a> {
    way: &'w Way<'w, 'a>,
    state: &'w State,
    sp: i64,
}

impl Frame for At<'_, '_> {
    fn passed(&self, place: Place, words: u32) -> Vec<V> {
        let word = self.way.values.xlen / 8;
        let on_stack = |offset: u32| self.way.load(self.state, V::Stack(self.sp + i64::from(offset)), word as u8, false);
        let in_register = |k: u32| self.state.regs[10 + k as usize];
        match place {
            Place::Regs { first, count } => (first..first + count).map(in_register).collect(),
            Place::Stack { offset } => (0..words).map(|k| on_stack(offset + k * word)).collect(),
            Place::Split { offset } => vec![in_register(7), on_stack(offset)],
        }
    }

    fn holds_address(&self, at: i64, bytes: i64) -> bool {
        self.state.stack.range(at..at.saturating_add(bytes)).any(|(_, b)| b.value.is_of_frame())
    }
}

/// The convention is kept.
fn returned(s: &State) -> Result<(), String> {
    if s.regs[1] != V::Entry(1) {
        return Err("a jump to a computed address".into());
    }
    let kept = |r: &usize| s.regs[*r] == if *r == 2 { V::Stack(0) } else { V::Entry(*r as u8) };
    match (1..32).filter(|r| !CALLER_SAVED.contains(r)).find(|r| !kept(r)) {
        Some(r) => Err(format!("`{}` is not shown to be what it was at entry", register_name(r as u8))),
        None => Ok(()),
    }
}

/// The first place that still holds a secret. Of what calls give back, the part that the function returns is no secret that stays behind.
fn remaining(values: &Values, s: &State, interface: &Interface) -> Option<String> {
    let result = |r: usize| (10..10 + interface.results as usize).contains(&r);
    let left = |r: &&usize| {
        let beyond = matches!(s.regs[**r], V::Result(k) if u32::from(k) >= interface.results);
        !result(**r) && (beyond || values.is_secret(s.regs[**r]))
    };
    if let Some(r) = CALLER_SAVED.iter().find(left) {
        return Some(format!("register `{}`", register_name(*r as u8)));
    }
    let held = s.stack.iter().rev().find(|(_, b)| values.is_secret(b.value))?;
    let count = s.stack.values().filter(|b| values.is_secret(b.value)).count();
    Some(format!("{count} bytes of stack, the first {} below the caller's", -held.0))
}

/// The function that gets the arguments as they came, and whose results are returned as they are.
fn handed_on(s: &State, interface: &Interface) -> Option<u64> {
    let [Call { callee: Callee::Here(to), regs, stack }] = &s.calls[..] else { return None };
    let word = u64::from(interface.stack) / stack.len().max(1) as u64;
    let arguments = (10..10 + interface.arguments).all(|r| regs[r as usize] == V::Entry(r as u8))
        && stack.iter().enumerate().all(|(k, v)| *v == V::Handed((k as u64 * word) as i64));
    let results = (0..interface.results).all(|k| s.regs[10 + k as usize] == V::Result(k as u8));
    (arguments && results && !s.stores).then_some(*to)
}
