//! Following the code of one function.
//!
//! Needs: [`super::domain`], [`super::memory`], [`super::flow`].  Keeps: one state per point of the code; where a public
//! condition is open both ways are executed and joined where they meet.  Absent: loops whose number of rounds is not settled
//! by constants.

use super::constants::Constants;
use super::contract::Callee;
use super::domain::{Values, Word};
use super::flow::Flow;
use super::memory::{undefined, Object};
use super::weave::Region;
use super::{Halt, Leak, Why};
use crate::loops::machine::Lap;
use crate::loops::Cut;
use crate::source::convention::Convention;
use crate::source::CallMade;
use crate::term::{Terms, T};
use num_traits::{One, ToPrimitive};
use santoku_elf::{Image, Ledger};
use santoku_ir::{FuncId, Program};
use santoku_isa::{effect, Effect, Inst, Isa, Latency};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// Instructions one execution may follow.
const STEPS_MAX: u64 = 1_000_000;
/// Forks nested in each other, and in all.
const FORKS_MAX: u32 = 600;
const FORKS_IN_ALL: u32 = 1_500;
/// Forks nested in each other where the source has loops of run-time length: a loop that goes with none of them ends here.
const FORKS_WITH_LOOPS: u32 = 48;

pub const RA: usize = 1;
pub const SP: usize = 2;
pub const GP: usize = 3;
pub const TP: usize = 4;

/// A file with what is known of it.
pub struct Code<'a> {
    /// Writes down what is read.
    pub image: Ledger<'a>,
    pub isa: Isa,
    pub program: &'a Program,
    /// Functions of the program by their symbol in the file.
    pub symbols: BTreeMap<String, FuncId>,
    /// Functions that are not called as the source says, by address.
    pub conventions: BTreeMap<u64, Convention>,
    /// Multiplications of secrets count as a leak.
    pub secret_mul_leaks: bool,
    /// The processor is CKB-VM, which executes some groups of instructions as one.
    pub ckb_vm: bool,
    /// Without the attempts that ask a solver.
    pub normal_form_only: bool,
    flows: RefCell<BTreeMap<u64, Rc<Flow>>>,
}

impl<'a> Code<'a> {
    pub fn new(image: &'a Image, isa: Isa, program: &'a Program, symbols: BTreeMap<String, FuncId>) -> Code<'a> {
        Code { image: Ledger::new(image), isa, program, symbols, conventions: BTreeMap::new(), secret_mul_leaks: false, ckb_vm: false, normal_form_only: false, flows: RefCell::default() }
    }

    pub fn xlen(&self) -> u32 {
        self.isa.xlen.bits()
    }

    pub(crate) fn mask(&self, pc: u64) -> u64 {
        pc & self.isa.xlen.mask()
    }

    pub(crate) fn decode(&self, pc: u64) -> Option<Inst> {
        let word = self.image.fetch(pc).filter(|_| self.isa.takes_at(pc))?;
        santoku_isa::decode(&self.isa, word).filter(|inst| self.knows(inst))
    }

    /// Why there is nothing to execute at `pc`.
    fn nothing_at(&self, pc: u64) -> Why {
        let known = if self.isa.takes_at(pc) { "no instruction is known here" } else { "an instruction at an address that 4 does not divide, and the processor has none of 16 bits" };
        Why::Unsupported(self.image.doubt(pc).unwrap_or_else(|| known.into()))
    }

    /// A branch without a relocation leads to the same place wherever a linker puts things.
    fn firm_branch(&self, pc: u64, to: u64) -> Result<(), Why> {
        match self.image.is_firm(pc, to) {
            true => Ok(()),
            false => Err(Why::Unsupported(format!("a branch to {to:#x}, at a distance that a linker may change and no relocation names"))),
        }
    }

    /// CKB-VM takes no fence with registers in it for an instruction.
    fn knows(&self, inst: &Inst) -> bool {
        !self.ckb_vm || inst.row.name != "fence" || (inst.rd, inst.rs1) == (0, 0)
    }

    /// The same for guesses at the flow, on which nothing rests.
    pub(super) fn guess(&self, pc: u64) -> Option<Inst> {
        santoku_isa::decode(&self.isa, self.image.guess(pc)?)
    }

    /// Whether both lie in one function, its first instruction included: that may be the head of a loop.
    pub(crate) fn same_function(&self, a: u64, b: u64) -> bool {
        match (self.image.function_at(a), self.image.function_at(b)) {
            (Some(f), Some(g)) => f.address == g.address,
            _ => false,
        }
    }

    /// Whether a jump that leaves no return address behind stays in its function, or one that does leads into the middle of it.
    pub(crate) fn stays(&self, pc: u64, to: u64, links: bool) -> bool {
        self.same_function(pc, to) && !(links && self.image.function_at(to).is_some_and(|f| f.address == to))
    }

    /// How the function at an address is called.
    pub fn convention_at(&self, address: u64) -> Convention {
        self.conventions.get(&address).cloned().unwrap_or_default()
    }

    /// The function of the program that starts at `pc`.
    pub fn cut_at(&self, pc: u64) -> Option<FuncId> {
        let f = self.image.function_at(pc).filter(|f| f.address == pc)?;
        std::iter::once(&f.name).chain(&f.aliases).find_map(|n| self.symbols.get(n).copied())
    }

    /// How execution may go through the function around `pc`.
    pub(crate) fn flow_of(&self, pc: u64) -> Option<Rc<Flow>> {
        let entry = self.image.function_at(pc)?.address;
        let mut all = self.flows.borrow_mut();
        Some(all.entry(entry).or_insert_with(|| Rc::new(Flow::new(self, entry))).clone())
    }
}

/// Registers and memory at one point of the code.
#[derive(Clone, Debug)]
pub struct State {
    pub regs: Vec<T>,
    pub objects: Vec<Object>,
    /// 0 or 1: whether execution comes here.
    pub path: T,
    /// Bits that are 1 wherever execution comes here: the conditions of the path.
    pub conditions: Vec<T>,
    /// Return addresses of functions that are being executed in place.
    pub frames: Vec<u64>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Stop,
    /// The loop that is executed for one lap was left for certain.
    Left,
    Return,
    /// Back at the head of a loop, in a [`Region`].
    Back(u64),
    /// At a branch whose ways the region's weaver follows.
    Split(T, u64, u64),
}

/// What is known of the condition of a branch.
enum Open {
    Known(bool),
    Secret,
    Public(T),
}

/// A call that was replaced by the source's function.
#[derive(Clone, Debug)]
pub struct Made {
    pub pc: u64,
    pub func: FuncId,
    pub args: Vec<T>,
    pub path: T,
    /// Bits that are 1 wherever it is made.
    pub conditions: Vec<T>,
    /// Result and parameter that are the same object.
    pub shared: Vec<(usize, usize)>,
}

/// An execution in progress.
pub struct Exec<'a> {
    pub code: &'a Code<'a>,
    pub terms: &'a mut Terms,
    /// Address of each object of the states; the stack's is 0.
    pub bases: Vec<T>,
    /// Arrays of run-time length: the bound of the index and the element.
    pub arrays: &'a dyn Arrays,
    pub made: Vec<Made>,
    /// What the source calls.
    pub(crate) calls: Vec<CallMade>,
    /// Where the function returns to.
    pub return_to: T,
    /// Bytes of arguments on the stack.
    pub stack_args: i64,
    /// What gp and tp hold at entry.
    pub(crate) platform: [T; 2],
    /// The function whose call could not be replaced, where that ended the execution.
    pub refused: Option<u64>,
    /// The call being replaced: where, and the function called. Also in laps, whose calls say nothing of the convention.
    pub(crate) calling: Option<(u64, u64)>,
    /// Lowest offset the stack pointer had.
    pub deepest: i64,
    pub steps: u64,
    /// Limit of [`Terms::size`].
    pub terms_max: usize,
    /// Limit of `steps`.
    pub(crate) steps_max: u64,
    forked: u32,
    /// Loops of the source that are to be found in the code.
    pub cuts: Vec<Rc<Cut>>,
    /// The function has arrays of run-time length: conditions are kept as facts, too.
    pub with_facts: bool,
    /// Terms that are not negative in any execution that comes here.
    pub facts: Vec<T>,
    /// Conditions of the branches taken to come here.
    pub(crate) assumed: Vec<T>,
    pub(crate) fresh: u32,
    pub(crate) forks: u32,
    /// The lap being executed.
    pub(crate) lap: Option<Lap>,
    /// Where several ways are followed side by side at the moment.
    pub(super) region: Option<Region>,
    pub(crate) laps: u32,
    /// Heads of loops of constant count.
    pub(crate) plain: BTreeSet<u64>,
    /// Constants of the file by name.
    pub(super) constants: Constants,
}

/// What the source knows of arrays of run-time length.
pub trait Arrays {
    /// Scalar `index` of array `array` as an integer.
    fn read(&self, terms: &mut Terms, array: u32, index: T) -> T;
    /// Whether all of them are public.
    fn public(&self, array: u32) -> bool;
    /// Number of scalars.
    fn length(&self, terms: &mut Terms, array: u32) -> T;
}

impl<'a> Exec<'a> {
    pub fn new(code: &'a Code<'a>, terms: &'a mut Terms, bases: Vec<T>, arrays: &'a dyn Arrays, return_to: T) -> Exec<'a> {
        Exec { code, terms, bases, arrays, made: vec![], calls: vec![], return_to, stack_args: 0, platform: [Terms::ZERO; 2], deepest: 0, steps: 0, terms_max: 40_000_000, steps_max: STEPS_MAX, cuts: vec![], refused: None, calling: None, with_facts: false, facts: vec![], assumed: vec![], fresh: 0, forks: 0, forked: 0, lap: None, region: None, laps: 0, plain: BTreeSet::new(), constants: Constants::default() }
    }

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
        if self.cuts.is_empty() {
            return Open::Public(c);
        }
        Open::Public(self.terms.plainer(c, &self.facts))
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
        let most = if self.cuts.is_empty() { FORKS_MAX } else { FORKS_WITH_LOOPS };
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
                _ => self.either(c, a.regs[r], *y),
            };
        }
        for (x, y) in a.objects.iter_mut().zip(&b.objects) {
            x.join(self.terms, c, y);
        }
        a
    }

    /// Operations whose time depends on their operands.
    fn time(&mut self, inst: &Inst, rs1: T, rs2: T) -> Result<(), Why> {
        let varies = match inst.row.latency {
            Latency::Fixed => false,
            Latency::Multiply => self.code.secret_mul_leaks,
            Latency::Divide => true,
        };
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
