//! Calls of functions that are short become their bodies.
//!
//! Needs: functions after those that they call.  Keeps: within one function, calls of one callee are all replaced or none.  Absent: what is public
//! where the callee takes it for secret; see `secrecy`.
//! Trusted: nothing: nothing that ships is made of it.

use super::dead::calls;
use super::costs::Costs;
use crate::data::{Address, Block, Count, For, Func, Inst, Named, Op, Slot, Value};
use crate::notes::Notes;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// `done`: the functions before this one, as they are now.
pub(super) fn inline(f: &Func, done: &[Func], costs: &Costs) -> Func {
    let (mut count, mut in_loops) = (BTreeMap::<u32, usize>::new(), BTreeSet::new());
    calls(&f.body, &mut |g| *count.entry(g).or_default() += 1);
    f.body.each(&mut |i| {
        if let Inst::For(l) = i {
            calls(&l.body, &mut |g| in_loops.extend([g]));
        }
    });
    let mut size = f.count();
    let mut chosen = vec![];
    // The shortest first.
    let mut all: Vec<(usize, u32, usize)> = count.iter().map(|(g, n)| (done[*g as usize].count(), *g, *n)).collect();
    all.sort_unstable();
    for (each, g, n) in all {
        let most = if in_loops.contains(&g) { costs.inline_max.min(costs.inline_in_loops_max) } else { costs.inline_max };
        if each <= most && !done[g as usize].apart && size + n * each <= costs.inline_caller_max {
            size += n * each;
            chosen.push(g);
        }
    }
    if chosen.is_empty() {
        return f.clone();
    }
    let mut i = Inline { done, chosen, next: super::names::names(f), slots: f.slots.clone(), notes: f.notes.clone() };
    let body = i.block(&f.body);
    Func { body, slots: i.slots, notes: i.notes, ..f.clone() }
}

struct Inline<'d> {
    done: &'d [Func],
    chosen: Vec<u32>,
    next: u32,
    slots: Vec<Slot>,
    notes: Notes,
}

impl Inline<'_> {
    fn block(&mut self, b: &Block) -> Block {
        let mut out = vec![];
        for i in &b.insts {
            match i {
                Inst::Call { dst, func, args } if self.chosen.contains(func) => out.extend(self.body(dst, *func, args)),
                Inst::If { cond, dst, then, els } => {
                    let (then, els) = (self.block(then), self.block(els));
                    out.push(Inst::If { cond: *cond, dst: dst.clone(), then, els });
                }
                Inst::For(f) => {
                    let body = self.block(&f.body);
                    out.push(Inst::For(Box::new(For { body, ..(**f).clone() })));
                }
                _ => out.push(i.clone()),
            }
        }
        // What a call gave has the callee's name for it now.
        Block { insts: out, yields: b.yields.clone() }
    }

    fn body(&mut self, dst: &[Named], func: u32, args: &[Value]) -> Vec<Inst> {
        let callee = &self.done[func as usize];
        let first = self.slots.len() as u32;
        // Until something secret is put there.
        self.slots.extend(callee.slots.iter().map(|s| Slot { secret: false, ..s.clone() }));
        let mut names: HashMap<Value, Value> = callee.params.iter().map(|p| p.value).zip(args.iter().copied()).collect();
        let mut copy = Copy { names: &mut names, next: &mut self.next, slots: first, notes: (&callee.notes, &mut self.notes) };
        let body = copy.block(&callee.body);
        let mut out = body.insts;
        // A result is named by an operation that changes nothing.
        for (d, v) in dst.iter().zip(body.yields) {
            let zero = Value(self.next);
            self.next += 1;
            let bits = d.1.bits().unwrap_or(0);
            out.push(Inst::Let { dst: vec![(zero, crate::data::Type::word(bits, false))], op: Op::Const(0) });
            out.push(Inst::Let { dst: vec![*d], op: Op::Bin(crate::data::BinOp::Or, v, zero) });
        }
        out
    }
}

/// A copy of a callee's body with names of the caller.
struct Copy<'n> {
    names: &'n mut HashMap<Value, Value>,
    next: &'n mut u32,
    slots: u32,
    /// The callee's, and the caller's.
    notes: (&'n Notes, &'n mut Notes),
}

impl Copy<'_> {
    fn name(&mut self, d: &Named) -> Named {
        let v = Value(*self.next);
        *self.next += 1;
        self.names.insert(d.0, v);
        self.notes.1.copy(v.0, self.notes.0.of(d.0 .0));
        (v, d.1)
    }

    fn now(&self, v: Value) -> Value {
        self.names.get(&v).copied().unwrap_or(v)
    }

    fn at(&self, a: &Address) -> Address {
        Address { base: self.now(a.base), index: a.index.map(|(v, n)| (self.now(v), n)), ..*a }
    }

    fn block(&mut self, b: &Block) -> Block {
        let insts = b.insts.iter().map(|i| self.inst(i)).collect();
        Block { insts, yields: b.yields.iter().map(|v| self.now(*v)).collect() }
    }

    fn inst(&mut self, i: &Inst) -> Inst {
        match i {
            Inst::Let { dst, op } => {
                let op = match op {
                    Op::Slot(k) => Op::Slot(k + self.slots),
                    op => op.renamed(&mut |v| self.now(v)),
                };
                Inst::Let { dst: dst.iter().map(|d| self.name(d)).collect(), op }
            }
            Inst::Store { bytes, at, value } => Inst::Store { bytes: *bytes, at: self.at(at), value: self.now(*value) },
            Inst::Copy { to, from, count } => {
                let count = Count { times: count.times.map(|(v, n)| (self.now(v), n)), ..*count };
                Inst::Copy { to: self.at(to), from: self.at(from), count }
            }
            Inst::Call { dst, func, args } => {
                let args = args.iter().map(|v| self.now(*v)).collect();
                Inst::Call { dst: dst.iter().map(|d| self.name(d)).collect(), func: *func, args }
            }
            Inst::If { cond, dst, then, els } => {
                let cond = self.now(*cond);
                let (then, els) = (self.block(then), self.block(els));
                Inst::If { cond, dst: dst.iter().map(|d| self.name(d)).collect(), then, els }
            }
            Inst::For(f) => {
                let (lo, hi) = (self.now(f.lo), self.now(f.hi));
                let firsts: Vec<Value> = f.carried.iter().map(|c| self.now(c.1)).collect();
                let counter = self.name(&f.counter);
                let carried = f.carried.iter().zip(firsts).map(|(c, first)| (self.name(&c.0), first)).collect();
                let body = self.block(&f.body);
                let dst = f.dst.iter().map(|d| self.name(d)).collect();
                Inst::For(Box::new(For { counter, lo, hi, carried, dst, body, rev: f.rev, signed: f.signed }))
            }
        }
    }
}
