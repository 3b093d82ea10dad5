//! Registers of the machine for those of a function, in one walk through its code: what is read last gives way.
//!
//! Needs: code, and where registers are read next.  Keeps: at a label every way arrives with values at the same places.  Absent: the frame.
//! Source: Belady, "A study of replacement algorithms for a virtual-storage computer" (1966); Braun and Hack, "Register spilling and live-range
//! splitting for SSA-form programs" (2009).
//! Trusted: nothing: the certifier looks at the bytes.

mod bases;
mod calls;
mod groups;
mod hints;
mod joins;

use crate::code::{Base, Code, Inst, Label, Reg};
use crate::flow::{number, Flow, Remade};
use crate::mach::{word_access, At, Line, Mach, CALLEE, CALLER, RA, SCRATCH, X};
use crate::tuning::Nudges;
use hints::Hints;
use std::collections::{BTreeMap, BTreeSet, HashMap};

type Res<T> = Result<T, String>;

/// What needs no store to give way counts as read so many times as far away.
const CHEAP: u32 = 2;

/// What the frame is made of, and the code.
pub struct Allocated {
    pub code: Vec<Line>,
    /// Registers that are kept in the frame, each with the places where it is live.
    pub spilled: BTreeMap<u32, (usize, usize)>,
    /// Registers that the caller wants back, in order.
    pub saved: Vec<X>,
}

/// Where values are at one place of the code.
#[derive(Clone, Default)]
struct State {
    reg_of: HashMap<u32, X>,
    holder: BTreeMap<X, u32>,
    /// What is in the frame as well, or only there.
    mem: BTreeSet<u32>,
    /// When each register was last given free, by a count of such times.
    freed: BTreeMap<X, u32>,
}

struct Allocator<'c> {
    code: &'c Code,
    flow: Flow,
    xlen: u32,
    /// Loads from what does not change wait until something reads them.
    lazy: bool,
    /// The function calls others: `ra` is in the frame.
    calls: bool,
    state: State,
    /// Where each register is read next, as far as it is live.
    next: HashMap<u32, u32>,
    /// Where every way to a label has to bring values.
    expected: HashMap<Label, State>,
    wishes: HashMap<u32, X>,
    hints: Hints,
    /// What is live while something is called.
    across: BTreeSet<u32>,
    /// What came on the stack.
    incoming: HashMap<u32, u32>,
    spilled: BTreeSet<u32>,
    used: BTreeSet<X>,
    out: Vec<Line>,
    /// The instruction at work.
    at: u32,
    /// As [`crate::Tuning::spill`].
    nudges: &'c Nudges,
    /// [`SCRATCH`] may hold values as well.
    all: bool,
    /// Something has to go through [`SCRATCH`] after all.
    scratch: bool,
    /// Behind the block at work.
    block_end: usize,
}

/// `all`: [`SCRATCH`] may hold values; nothing comes of it where something has to go through it.
///
/// # Errors
/// Where no register is left, which no function that is selected asks for.
pub fn allocate(code: &Code, xlen: u32, (lazy, all): (bool, bool), nudges: &Nudges) -> Res<Option<Allocated>> {
    let flow = Flow::of(code);
    let at_calls: Vec<usize> = code.insts.iter().enumerate().filter(|(_, i)| matches!(i, Inst::Call { .. })).map(|(k, _)| k).collect();
    let across = (0..code.registers).filter(|v| flow.spans[*v as usize].is_some_and(|(a, b)| at_calls.iter().any(|c| a < *c && *c < b))).collect();
    let mut a = Allocator {
        code,
        flow,
        xlen,
        lazy,
        calls: !at_calls.is_empty(),
        state: State::default(),
        next: HashMap::new(),
        expected: HashMap::new(),
        wishes: wishes(code),
        hints: Hints::of(code),
        across,
        incoming: HashMap::new(),
        spilled: BTreeSet::new(),
        used: BTreeSet::new(),
        out: vec![],
        at: 0,
        nudges,
        all,
        scratch: false,
        block_end: 0,
    };
    if a.calls {
        a.used.insert(RA);
    }
    a.run()?;
    if a.scratch {
        return Ok(None);
    }
    let spans = a.spilled.iter().map(|v| (*v, a.flow.spans[*v as usize].unwrap_or((0, code.insts.len())))).collect();
    let saved = a.used.iter().copied().filter(|x| CALLEE.contains(x) || *x == RA).collect();
    Ok(Some(Allocated { code: a.out, spilled: spans, saved }))
}

/// Where arguments and results go.
fn wishes(code: &Code) -> HashMap<u32, X> {
    let mut all = HashMap::new();
    let mut wish = |regs: &[Reg]| {
        for (k, r) in regs.iter().enumerate().take(8) {
            if let Some(v) = number(*r) {
                all.insert(v, 10 + k as X);
            }
        }
    };
    for i in &code.insts {
        match i {
            Inst::Return(regs) => wish(regs),
            Inst::Call { args, .. } => wish(args),
            _ => {}
        }
    }
    all
}

/// Something behind an instruction reads the value that a register has there.
fn lives(after: &[(u32, Option<u32>)], v: u32) -> bool {
    after.iter().any(|(w, next)| *w == v && next.is_some())
}

impl Allocator<'_> {
    fn run(&mut self) -> Res<()> {
        for k in 0..self.flow.blocks.len() {
            if self.scratch {
                return Ok(());
            }
            let range = self.flow.blocks[k].clone();
            self.block_end = range.end;
            let code = self.code;
            let reached = k == 0 || !matches!(code.insts[range.start - 1], Inst::Jump(_) | Inst::Return(_) | Inst::Stop);
            self.next = self.flow.next[k].iter().map(|(v, d)| (*v, range.start as u32 + d)).collect();
            if let Inst::Label(l) = code.insts[range.start] {
                self.label(l, range.start, reached)?;
            }
            let live: BTreeSet<u32> = self.next.keys().copied().collect();
            self.state.keep(&live);
            let after = self.flow.after(code, k);
            for (i, after) in range.zip(after) {
                self.at = i as u32;
                let start = self.out.len();
                self.inst(&code.insts[i], &after)?;
                self.note(&code.insts[i], start);
            }
        }
        Ok(())
    }

    fn push(&mut self, mach: Mach) {
        self.out.push(mach.into());
    }

    /// Of what was written since `start`, the last instruction that writes where a result is.
    fn note(&mut self, i: &Inst, start: usize) {
        for v in i.writes().into_iter().filter_map(number) {
            let Some(x) = self.state.reg_of.get(&v).copied() else { continue };
            let gives = |m: &Mach| m.writes() == Some(x) || matches!(m, Mach::Group(_, _, outs, _) if outs.contains(&x));
            if let Some(line) = self.out[start..].iter_mut().rev().find(|l| gives(&l.mach)) {
                line.of.get_or_insert(v);
            }
        }
    }

    fn word_load(&self) -> &'static str {
        word_access(self.xlen).0
    }

    fn word_store(&self) -> &'static str {
        word_access(self.xlen).1
    }

    fn remade(&self, v: u32) -> Option<&Remade> {
        self.flow.remade[v as usize].as_ref()
    }

    /// Where the frame has a register.
    fn home(&self, v: u32) -> At {
        match self.incoming.get(&v) {
            Some(k) => At::Incoming(*k),
            None => At::Spilled(v),
        }
    }

    fn is_free(&self, x: X) -> bool {
        !self.state.holder.contains_key(&x)
    }

    /// Registers in the order in which they are taken; `v` will be there.
    fn order(&self, v: Option<u32>) -> Vec<X> {
        let wish = v.and_then(|v| self.wishes.get(&v).copied());
        let across = v.is_some_and(|v| self.across.contains(&v));
        let used = CALLEE.iter().copied().filter(|x| self.used.contains(x));
        let other = CALLEE.iter().copied().filter(|x| !self.used.contains(x));
        // Without calls `ra` is one more that the caller wants back.
        let (caller_ra, callee_ra) = if self.calls { (Some(RA), None) } else { (None, Some(RA)) };
        let mut caller: Vec<X> = CALLER.into_iter().chain(self.all.then_some(SCRATCH)).chain(caller_ra).collect();
        let callee: Vec<X> = used.chain(other).chain(callee_ra).collect();
        let hint = v.and_then(|v| self.hints.of_value(v)).filter(|x| !across || CALLEE.contains(x));
        if hint.is_some_and(|x| !self.is_free(x)) {
            // It will move: not through where another is expected.
            caller.sort_by_key(|x| self.hints.is_expected(*x));
        }
        match across {
            true => hint.into_iter().chain(callee).chain(caller).collect(),
            false => hint.or(wish).into_iter().chain(caller).chain(callee).collect(),
        }
    }

    /// A register that nothing holds; `keep` are values that stay where they are.
    fn take(&mut self, v: Option<u32>, keep: &[u32], not: &[X]) -> Res<X> {
        let order = self.order(v);
        let mut free = order.iter().copied().filter(|x| self.is_free(*x) && !not.contains(x));
        if let Some(first) = free.next() {
            let hinted = v.is_some_and(|v| self.wishes.get(&v) == Some(&first) || self.hints.of_value(v) == Some(first));
            let x = if self.lazy || hinted { first } else { self.rested(first, free) };
            let kept = CALLEE.contains(&x) && !self.used.contains(&x);
            let x = kept.then(|| self.spare_base(not)).flatten().unwrap_or(x);
            self.used.insert(x);
            return Ok(x);
        }
        if let Some(x) = self.spare_base(not) {
            return Ok(x);
        }
        let far = |w: &u32| {
            let cheap = self.remade(*w).is_some() || self.state.mem.contains(w);
            let distance = self.next.get(w).map_or(u32::MAX, |n| n.saturating_sub(self.at));
            let far = i64::from(distance.saturating_mul(if cheap { CHEAP } else { 1 }));
            (far + self.nudges.of(*w as usize), cheap)
        };
        let victim = self.state.holder.iter().filter(|(x, w)| !keep.contains(w) && !not.contains(x)).map(|(x, w)| (far(w), *x, *w)).max();
        let (_, x, w) = victim.ok_or("more values than registers in one instruction")?;
        self.put_away(w);
        self.state.release(w);
        Ok(x)
    }

    /// Of registers that cost alike, the one that was free longest: what is executed out of order waits for no reader of what it held.
    fn rested(&self, first: X, others: impl Iterator<Item = X>) -> X {
        let is_kept = |x: X| CALLEE.contains(&x) && !self.used.contains(&x);
        std::iter::once(first).chain(others.filter(|x| is_kept(*x) == is_kept(first))).min_by_key(|x| self.state.freed.get(x).copied().unwrap_or(0)).unwrap_or(first)
    }

    /// It is in the frame, or can be made again.
    fn put_away(&mut self, v: u32) {
        if self.next.contains_key(&v) && self.remade(v).is_none() && !self.state.mem.contains(&v) {
            if let Some(x) = self.state.reg_of.get(&v).copied() {
                self.push(Mach::Store(self.word_store(), x, self.home(v), 0));
                self.state.mem.insert(v);
                if !self.incoming.contains_key(&v) {
                    self.spilled.insert(v);
                }
            }
        }
    }

    /// The register with a value.
    fn ensure(&mut self, v: u32, keep: &[u32]) -> Res<X> {
        if let Some(x) = self.state.reg_of.get(&v) {
            return Ok(*x);
        }
        let x = self.take(Some(v), keep, &[])?;
        self.state.hold(v, x);
        let mut keep = keep.to_vec();
        keep.push(v);
        self.fetch(v, x, &keep)?;
        Ok(x)
    }

    /// A value from the frame, or made again, in a register.
    fn fetch(&mut self, v: u32, x: X, keep: &[u32]) -> Res<()> {
        match self.remade(v).cloned() {
            Some(Remade(i)) => self.remake(&i, x, keep),
            None if self.state.mem.contains(&v) => {
                self.push(Mach::Load(self.word_load(), x, self.home(v), 0));
                Ok(())
            }
            None => Err(format!("register {v} has no value")),
        }
    }

    fn remake(&mut self, i: &Inst, x: X, keep: &[u32]) -> Res<()> {
        let made = match i {
            Inst::Li(_, n) => Mach::Li(x, *n),
            Inst::Table(_, k) => Mach::Table(x, *k),
            Inst::Slot(_, k, offset) => Mach::Slot(x, *k, *offset),
            Inst::Again(name, _, base, offset) => Mach::Load(name, x, self.base(*base, keep)?, *offset),
            _ => return Err("what is made again".into()),
        };
        self.push(made);
        Ok(())
    }

    fn base(&mut self, base: Base, keep: &[u32]) -> Res<At> {
        match base {
            Base::Slot(k) => Ok(At::Slot(k)),
            Base::Reg(r) => self.read(r, keep).map(At::Reg),
        }
    }

    fn read(&mut self, r: Reg, keep: &[u32]) -> Res<X> {
        match r {
            Reg::Zero => Ok(0),
            Reg::Own(v) => self.ensure(v, keep),
        }
    }

    /// What is read no more gives its register free.
    fn advance(&mut self, after: &[(u32, Option<u32>)]) {
        for (v, next) in after {
            match next {
                Some(at) => {
                    self.next.insert(*v, *at);
                }
                None => {
                    self.next.remove(v);
                }
            }
        }
    }

    /// Behind an instruction: what it was the last to read, or needed to make that again, holds no register.
    fn drop_dead(&mut self, after: &[(u32, Option<u32>)], written: &[Reg]) {
        for (v, _) in after {
            if !self.next.contains_key(v) && !written.contains(&Reg::Own(*v)) {
                self.state.release(*v);
                self.state.mem.remove(v);
            }
        }
    }

    /// A register for a result; what the frame has of it is old.
    fn define(&mut self, r: Reg, keep: &[u32]) -> Res<X> {
        let Some(v) = number(r) else { return Ok(0) };
        self.state.mem.remove(&v);
        if !self.next.contains_key(&v) {
            self.state.release(v);
            return Ok(0);
        }
        if let Some(x) = self.state.reg_of.get(&v) {
            return Ok(*x);
        }
        let x = self.take(Some(v), keep, &[])?;
        self.state.hold(v, x);
        Ok(x)
    }

    fn inst(&mut self, i: &Inst, after: &[(u32, Option<u32>)]) -> Res<()> {
        match i {
            Inst::Label(_) => return Ok(()),
            Inst::Jump(l) => return self.jump(*l),
            Inst::Stop => {
                self.push(Mach::Stop);
                return Ok(());
            }
            Inst::Branch(name, a, b, l) => return self.branch(name, (*a, *b), *l, after),
            Inst::Enter(regs) => return self.enter(regs, after),
            Inst::Return(regs) => return self.finish(regs),
            Inst::Call { symbol, args, results } => return self.call(symbol, args, results, after),
            Inst::Move(moves) => return self.moves(moves, after),
            Inst::Group(kind, ins, outs) => return self.group(*kind, ins, *outs, after),
            _ => {}
        }
        let written = i.writes().first().copied();
        if let Some(v) = written.and_then(number).filter(|v| self.is_late(*v)) {
            self.advance(after);
            self.state.release(v);
            return Ok(());
        }
        let own: Vec<u32> = i.reads().into_iter().filter_map(number).collect();
        let mut xs = vec![];
        for r in i.reads() {
            xs.push(self.read(r, &own)?);
        }
        self.advance(after);
        let other: Vec<Reg> = written.into_iter().filter(|r| number(*r).is_some_and(|v| !own.contains(&v))).collect();
        self.drop_dead(after, &other);
        let d = match written {
            Some(r) => self.define(r, &own)?,
            None => 0,
        };
        // A result that nothing reads; loads have no other effect either.
        if written.is_some() && d == 0 {
            return Ok(());
        }
        let at = |base: &Base, x: Option<&X>| match base {
            Base::Slot(k) => At::Slot(*k),
            Base::Reg(_) => At::Reg(x.copied().unwrap_or(0)),
        };
        let made = match i {
            Inst::Three(name, ..) => Mach::Three(name, d, xs[0], xs[1]),
            Inst::Imm(name, _, _, n) => Mach::Imm(name, d, xs[0], *n),
            Inst::Li(_, n) => Mach::Li(d, *n),
            Inst::Table(_, k) => Mach::Table(d, *k),
            Inst::Slot(_, k, offset) => Mach::Slot(d, *k, *offset),
            Inst::Load(name, _, base, offset) | Inst::Again(name, _, base, offset) => Mach::Load(name, d, at(base, xs.first()), *offset),
            Inst::Store(name, _, base, offset) => Mach::Store(name, xs[0], at(base, xs.get(1)), *offset),
            _ => return Err("an instruction without registers".into()),
        };
        self.push(made);
        Ok(())
    }

    /// It is made where something reads it.
    fn is_late(&self, v: u32) -> bool {
        match self.remade(v) {
            Some(Remade(Inst::Again(..))) => self.lazy,
            Some(_) => true,
            None => false,
        }
    }
}

impl State {
    fn hold(&mut self, v: u32, x: X) {
        self.reg_of.insert(v, x);
        self.holder.insert(x, v);
    }

    fn release(&mut self, v: u32) {
        if let Some(x) = self.reg_of.remove(&v) {
            self.holder.remove(&x);
            let last = self.freed.values().max().copied().unwrap_or(0);
            self.freed.insert(x, last + 1);
        }
    }

    /// Only these values.
    fn keep(&mut self, live: &BTreeSet<u32>) {
        self.reg_of.retain(|v, _| live.contains(v));
        self.holder.retain(|_, v| live.contains(v));
        self.mem.retain(|v| live.contains(v));
    }
}
