//! Following the code of one function.
//!
//! Needs: [`super::domain`], [`super::memory`], [`super::flow`].  Keeps: one state per point of the code; where a public
//! condition is open both ways are executed and joined where they meet.  Absent: loops whose number of rounds is not settled
//! by constants.

use crate::term::{T, Terms};
use super::code::{GP, SP, TP};
use super::contract::Callee;
use super::domain::{Values, Word};
use super::memory::undefined;
use super::state::{End, Exec, Lap, State};
use super::stop::{Halt, Leak, Why};
use num_traits::{One, ToPrimitive};
use santoku_isa::{effect, Effect, Inst};
use std::collections::VecDeque;

/// Forks nested in each other, and in all.
const FORKS_MAX: u32 = 600;
const FORKS_IN_ALL: u32 = 1_500;
/// Forks nested in each other where the source has loops of run-time length: a loop that goes with none of them ends here.
const FORKS_WITH_LOOPS: u32 = 48;

/// What is known of the condition of a branch.
enum Open {
    Known(bool),
    Secret,
    Public(T),
}

impl<'a> Exec<'a> {
    /// Executes from `pc` to the return of the function.
    ///
    /// # Errors
    /// [`Halt`].
    pub fn run(&mut self, pc: u64, state: State) -> Result<State, Halt> {
        self.platform = [state.regs[GP], state.regs[TP]];
        let (state, _) = self.run_to(pc, state, None)?;
        Ok(state)
    }

    pub(crate) fn run_to(&mut self, mut pc: u64, mut state: State, stop: Option<u64>) -> Result<(State, End), Halt> {
        let mut first = self.lap.as_mut().is_some_and(Lap::start);
        let mut from = None;
        // Of a group that is executed at once; nothing else leads into one.
        let mut group = VecDeque::new();
        while first || !group.is_empty() || Some(pc) != stop {
            if group.is_empty() && self.is_back(from, pc, &state) {
                return Ok((state, End::Back(pc)));
            }
            let before = from.replace(pc);
            if !std::mem::take(&mut first) && group.is_empty() {
                if self.left(pc, &state)? {
                    return Ok((state, End::Left));
                }
                if let Some((next, after)) = self.cut_loop(pc, &state)? {
                    (pc, state) = (next, after);
                    continue;
                }
            }
            let halt = |why| Halt { pc, why };
            self.steps += 1;
            if self.steps > self.steps_max || self.terms.size() > self.terms_max {
                return Err(halt(Why::TooBig));
            }
            if group.is_empty() {
                group = self.code.instead(pc).map_err(halt)?.into();
            }
            let alone = group.is_empty();
            let inst = group.pop_front().or_else(|| self.code.decode(pc));
            let inst = inst.ok_or_else(|| halt(self.code.nothing_at(pc)))?;
            let (rs1, rs2) = (state.regs[inst.rs1 as usize], state.regs[inst.rs2 as usize]);
            self.time(&inst, rs1, rs2).map_err(halt)?;
            let (inst, rs1, made) = if alone { self.placed(pc, inst, rs1).map_err(halt)? } else { (inst, rs1, None) };
            let w = self.code.xlen();
            let mut values = Values { terms: self.terms, missing: None };
            let done = effect(&mut values, &self.code.isa, &inst, pc, &Word { t: rs1, w }, &Word { t: rs2, w });
            if let Some(what) = values.missing {
                return Err(halt(Why::Unsupported(what.into())));
            }
            let next = self.code.mask(pc + u64::from(inst.len));
            let done = made.map_or(done, |t| Effect::Write { value: Word { t, w } });
            if let Effect::Branch { target, .. } = done {
                self.code.firm_branch(pc, target).map_err(halt)?;
            }
            match done {
                Effect::Write { value } => {
                    self.write(&mut state, inst.rd, value.t).map_err(halt)?;
                    pc = next;
                }
                Effect::Load { address, bytes, signed } => {
                    let t = self.load(&mut state, address.t, u32::from(bytes)).map_err(halt)?;
                    self.aligned(address.t, bytes).map_err(halt)?;
                    let t = if signed { self.extend(t, 8 * u32::from(bytes)) } else { t };
                    self.write(&mut state, inst.rd, t).map_err(halt)?;
                    pc = next;
                }
                Effect::Store { address, bytes, value } => {
                    self.store(&mut state, address.t, u32::from(bytes), value.t).map_err(halt)?;
                    self.aligned(address.t, bytes).map_err(halt)?;
                    pc = next;
                }
                Effect::Branch { taken, target } => match self.condition(taken.t, &state) {
                    Open::Known(c) => pc = if c { target } else { next },
                    Open::Secret => return Err(halt(Why::Secret(Leak::Branch, self.secret(taken.t)))),
                    Open::Public(c) if self.exits(c, (target, next), &mut pc, &mut state) => {}
                    Open::Public(c) if self.splits(pc, &state) => return Ok((state, End::Split(c, target, next))),
                    Open::Public(c) => {
                        let (joined, end, meet) = self.both(c, pc, (target, next), state, stop)?;
                        state = joined;
                        match (end, meet) {
                            (End::Stop, Some(meet)) => pc = meet,
                            _ => return Ok((state, end)),
                        }
                    }
                },
                Effect::Jump { target, link } => match self.jump(&mut state, &inst, (before, pc), (target.t, link))? {
                    Some(to) => pc = to,
                    None => return Ok((state, End::Return)),
                },
                Effect::Fence => pc = next,
                Effect::EnvCall | Effect::Break | Effect::Csr => {
                    return Err(halt(Why::Unsupported(format!("`{}`", inst.row.name))));
                }
            }
        }
        Ok((state, End::Stop))
    }

    /// What is known of the condition of a branch. Where the source has loops that were cut, it takes the form that the source
    /// may know.
    fn condition(&mut self, c: T, state: &State) -> Open {
        if let Some(c) = self.terms.as_const(c) {
            return Open::Known(c.is_one());
        }
        if !self.terms.public(c) {
            return Open::Secret;
        }
        let not = self.terms.not_bit(c);
        if self.with_facts {
            for (bit, holds) in [(c, false), (not, true)] {
                if self.excluded(state.path, bit) {
                    return Open::Known(holds);
                }
            }
        }
        if !self.has_loops {
            return Open::Public(self.terms.like_condition(c));
        }
        let plainer = self.terms.plainer(c, &self.facts);
        let same = if plainer == c { self.no_rounds(c, not) } else { None };
        Open::Public(same.unwrap_or(plainer))
    }

    /// The condition that a loop of the source has rounds, or has none, where the code asks for that in another way.
    fn no_rounds(&mut self, c: T, not: T) -> Option<T> {
        let same = |terms: &Terms, a: T, b: T| (0..terms.samples()).all(|n| terms.sample(a, n) == terms.sample(b, n));
        for cut in self.cuts.clone().iter().filter(|cut| !cut.constant && cut.each == 1) {
            let none = self.terms.not_bit(cut.some);
            let left = self.terms.sub(cut.hi, cut.lo);
            for (end, is_end) in [(c, none), (not, cut.some)] {
                if c != is_end && same(self.terms, c, is_end) && self.terms.tests_end(end, left, &self.facts) {
                    return Some(is_end);
                }
            }
        }
        None
    }

    /// Executes both ways of the branch at `pc`, up to where they meet.
    fn both(&mut self, c: T, pc: u64, ways: (u64, u64), state: State, stop: Option<u64>) -> Result<(State, End, Option<u64>), Halt> {
        if let Some(region) = self.region_of(pc, &state, stop) {
            let end = region.end();
            let (joined, ended) = self.weave(region, c, ways, state)?;
            return Ok((joined, ended, end));
        }
        let flow = self.code.flow_of(pc);
        let meet = match &flow {
            // One round of a loop: its head is where the ways meet.
            Some(flow) if self.lap.is_some() && flow.turns_back(pc) && stop.is_some_and(|s| flow.is_in_loop(pc, s)) => stop,
            _ => flow.and_then(|f| f.meet(pc)).or_else(|| state.frames.last().copied()),
        };
        let region = self.region.take();
        let forked = self.fork(c, ways, state, meet);
        self.region = region;
        forked.map(|(joined, end)| (joined, end, meet))
    }

    /// Executes both ways up to where they meet.
    fn fork(&mut self, c: T, (yes, no): (u64, u64), state: State, meet: Option<u64>) -> Result<(State, End), Halt> {
        let not = self.terms.not_bit(c);
        let (py, pn) = (self.terms.and(state.path, c, 1), self.terms.and(state.path, not, 1));
        if py == Terms::ZERO {
            return self.run_to(no, state, meet);
        }
        if pn == Terms::ZERO {
            return self.run_to(yes, state, meet);
        }
        self.forks += 1;
        self.forked(yes)?;
        let path = state.path;
        let (mut a, mut b) = (state.clone(), state);
        (a.path, b.path) = (py, pn);
        let conditions = a.conditions.len();
        a.conditions.push(c);
        b.conditions.push(not);
        let known = self.known();
        self.assume(c);
        let (a, end_a) = self.run_to(yes, a, meet)?;
        self.forget(known);
        self.assume(not);
        let (b, end_b) = self.run_to(no, b, meet)?;
        self.forget(known);
        self.forks -= 1;
        if end_a != end_b || a.frames != b.frames {
            return Err(Halt { pc: yes, why: Why::Unsupported("the ways of a branch do not meet".into()) });
        }
        let mut joined = self.join(c, a, &b, meet);
        joined.path = path;
        joined.conditions.truncate(conditions);
        Ok((joined, end_a))
    }

    /// Counts a fork.
    pub(super) fn forked(&mut self, pc: u64) -> Result<(), Halt> {
        self.forked += 1;
        let most = if self.has_loops { FORKS_WITH_LOOPS } else { FORKS_MAX };
        if self.forks > most || self.forked > FORKS_IN_ALL {
            return Err(Halt { pc, why: Why::TooBig });
        }
        Ok(())
    }

    /// `a` where `c` is 1, `b` where it is 0, at `pc`. Registers that nothing reads from there on have any value.
    pub(super) fn join(&mut self, c: T, mut a: State, b: &State, pc: Option<u64>) -> State {
        let live = pc.filter(|_| a.frames.is_empty()).map_or(u32::MAX, |pc| self.code.flow_of(pc).map_or(u32::MAX, |f| f.live(pc)));
        for (r, y) in b.regs.iter().enumerate().filter(|(r, y)| a.regs[*r] != **y).collect::<Vec<_>>() {
            a.regs[r] = match (live >> r & 1, self.either_upper(a.regs[r], *y)) {
                (0, _) => self.unknown("a register that is not read", self.code.xlen()),
                (_, Some(upper)) => upper,
                _ => {
                    let t = self.either(c, a.regs[r], *y);
                    self.terms.renamed(t)
                }
            };
        }
        for (x, y) in a.objects.iter_mut().zip(&b.objects) {
            x.join(self.terms, c, y);
        }
        a
    }

    /// Operations whose time depends on their operands.
    fn time(&mut self, inst: &Inst, rs1: T, rs2: T) -> Result<(), Why> {
        let varies = self.code.takes_time(inst);
        for t in [rs1, rs2] {
            if varies && !self.terms.public(t) {
                return Err(Why::Secret(Leak::Time, self.secret(t)));
            }
        }
        Ok(())
    }

    pub(crate) fn write(&mut self, state: &mut State, rd: u8, t: T) -> Result<(), Why> {
        if rd == 0 {
            return Ok(());
        }
        let t = self.terms.renamed(t);
        let t = self.terms.swept(t);
        let t = self.simple(t);
        self.keeps_platform(rd, t)?;
        state.regs[rd as usize] = t;
        if rd as usize == SP {
            let (object, offset) = self.split(t);
            let at = self.terms.as_const(offset).and_then(|o| o.to_i64());
            match (object, at) {
                (Some(0), Some(at)) if at <= 0 => {
                    self.deepest = self.deepest.min(at);
                    // What lies below the stack pointer may change at any moment.
                    state.objects[0].forget_below(at);
                }
                _ => return Err(Why::Convention("the stack pointer leaves the frame".into())),
            }
        }
        Ok(())
    }

    /// The secret in a term, and the term.
    pub(super) fn secret(&self, t: T) -> String {
        format!("{} in {}", self.terms.secret_in(t).unwrap_or_default(), self.terms.show(t, 2))
    }

    fn extend(&mut self, t: T, bits: u32) -> T {
        let w = self.code.xlen();
        let t = self.terms.signed(t, bits);
        self.terms.mod2k(t, w)
    }

    pub(crate) fn unknown(&mut self, what: &str, bits: u32) -> T {
        self.fresh += 1;
        undefined(self.terms, format!("{what}?{}", self.fresh), bits)
    }

    pub(crate) fn stack_offset(&mut self, state: &State) -> Result<i64, Why> {
        let (object, offset) = self.split(state.regs[SP]);
        let at = self.terms.as_const(offset).and_then(|o| o.to_i64());
        at.filter(|_| object == Some(0)).ok_or_else(|| Why::Convention("the stack pointer is lost".into()))
    }

    /// Goes on at the target, or replaces a call. `None`: the function has returned.
    fn jump(&mut self, state: &mut State, inst: &Inst, (before, pc): (Option<u64>, u64), (target, link): (T, u64)) -> Result<Option<u64>, Halt> {
        let halt = |why| Halt { pc, why };
        if inst.rd == 0 && target == self.return_to && state.frames.is_empty() {
            return Ok(None);
        }
        let (to, named) = self.arrives(pc, inst, target).map_err(halt)?;
        if state.frames.last() == Some(&to) && inst.rd == 0 {
            state.frames.pop();
            return Ok(Some(to));
        }
        // Before the call: it returns to what `ra` holds then, whichever register is linked.
        let link_t = self.code_address(link);
        self.write(state, inst.rd, link_t).map_err(halt)?;
        if let Some(callee) = self.code.callee(before, pc, to, inst.rd != 0, named).map_err(halt)? {
            let ra = Self::ra(state);
            self.calling = None;
            self.may_call(state).map_err(halt)?;
            match callee {
                Callee::External(name) => self.external(state, &name).map_err(halt)?,
                Callee::Source(func) => {
                    (self.refused, self.calling) = (Some(to), Some((pc, to)));
                    self.replace(state, func, pc).map_err(halt)?;
                    (self.refused, self.calling) = (None, None);
                }
            }
            return self.back_from(state, ra, link).map_err(halt);
        }
        // Compilers that take common pieces of code out link them by other registers than `ra`.
        if inst.rd != 0 {
            state.frames.push(link);
        }
        Ok(Some(to))
    }

    /// Where a jump arrives, and whether that is the address of an instruction that was named as such, by a relocation or by a link.
    fn arrives(&self, pc: u64, inst: &Inst, target: T) -> Result<(u64, bool), Why> {
        if let Some(to) = self.code_at(target) {
            return Ok((to, true));
        }
        let computed = || Why::Unsupported("a jump to a computed address".into());
        let to = self.terms.as_const(target).and_then(|t| t.to_u64()).ok_or_else(computed)?;
        match inst.row.name == "jalr" && !self.code.image.is_relocated(pc) {
            true => Err(Why::Unsupported(format!("a jump to {to:#x}, a number that no relocation names"))),
            false => Ok((to, false)),
        }
    }
}
