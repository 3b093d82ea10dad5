//! Constants, identities, carries, repeated operations: one walk that makes the body anew.
//!
//! Needs: a module that [`crate::verify`] accepts.  Keeps: what the function computes, stores and calls, and their order.  Absent: what is not used
//! any more, which `dead` removes.
//! Trusted: nothing: nothing that ships is made of it.

use super::facts::{most_of, ones, Bounds, Fact, Known};
use super::root::{roots, Root};
use super::costs::Costs;
use crate::data::{Address, BinOp, Block, Count, For, Func, Inst, Kind, Module, Named, Op, Type, Value};
use crate::notes::{Note, Notes};
use std::collections::{BTreeMap, HashMap};

/// What is simpler than an operation, by how many results it has.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub one: fn(&mut Fold<'_>, Op, Type) -> Option<Value>,
    /// Also told which results something reads.
    pub two: fn(&mut Fold<'_>, Op, u32, (bool, bool)) -> Option<(Value, Value)>,
}

pub(super) struct Fold<'f> {
    rules: Rules,
    func: &'f Func,
    module: &'f Module,
    pub costs: &'f Costs,
    /// Where each address of the old body leads.
    roots: BTreeMap<Value, Root>,
    /// Of values of the old body.
    bounds: Bounds,
    /// The new value of each old one.
    alias: HashMap<Value, Value>,
    pub facts: Vec<Fact>,
    /// What is at hand, by what computes it; one map for each block that is open.
    seen: Vec<HashMap<(Op, u32), Vec<Value>>>,
    /// How often each old value is read.
    uses: BTreeMap<Value, u32>,
    /// How often the old value that became this one is read.
    pub used: HashMap<Value, u32>,
    /// Addresses of the new body that lead to what this function never writes.
    constant: BTreeMap<Value, bool>,
    /// What each old value is added to, if that is all it is read for.
    addends: BTreeMap<Value, Value>,
    /// What the second result of the operation at work is added to.
    pub added_to: Option<Value>,
    out: Vec<Inst>,
    /// Of new values; the line at work, and the first value that is made for it.
    notes: Notes,
    here: Option<Note>,
    first: u32,
}

/// Values that are read once, by a sum of two: what the other one is.
fn addends(b: &Block, uses: &BTreeMap<Value, u32>) -> BTreeMap<Value, Value> {
    let mut all = BTreeMap::new();
    b.each(&mut |i| {
        if let Inst::Let { op: Op::Bin(BinOp::Add, x, y), .. } = i {
            all.extend([(*x, *y), (*y, *x)].into_iter().filter(|(v, _)| uses.get(v) == Some(&1)));
        }
    });
    all
}

pub(super) fn fold(f: &Func, module: &Module, costs: &Costs, rules: Rules) -> Func {
    let uses = f.body.reads();
    let mut fold = Fold {
        rules,
        func: f,
        module,
        costs,
        roots: roots(f),
        bounds: Bounds::of(f),
        alias: HashMap::new(),
        facts: vec![],
        seen: vec![HashMap::new()],
        addends: addends(&f.body, &uses),
        added_to: None,
        uses,
        used: HashMap::new(),
        constant: BTreeMap::new(),
        out: vec![],
        notes: Notes { place: f.notes.place.clone(), ..Notes::default() },
        here: None,
        first: 0,
    };
    let mut made = f.clone();
    for p in &mut made.params {
        p.value = fold.given(&(p.value, p.ty)).0;
    }
    made.body = fold.block(&f.body);
    made.notes = fold.notes;
    made
}

impl Known for Fold<'_> {
    fn constant_of(&self, v: Value) -> Option<u128> {
        match self.facts[v.0 as usize].op {
            Some((Op::Const(n), _)) => Some(n),
            _ => None,
        }
    }

    fn most(&self, v: Value) -> u128 {
        self.facts[v.0 as usize].most
    }

    fn bits(&self, v: Value) -> u32 {
        self.ty(v).bits().unwrap_or(0)
    }
}

impl Fold<'_> {
    /// A new value for one that no operation gives.
    fn given(&mut self, (old, ty): &Named) -> Named {
        let v = self.fresh(*ty, None, self.bounds.most(*old));
        self.named(*old, v);
        (v, *ty)
    }

    fn named(&mut self, old: Value, new: Value) {
        self.alias.insert(old, new);
        // What is at hand from elsewhere may have a wider range there.
        if new.0 >= self.first && self.notes.of(new.0).is_none_or(|n| n.variable.is_none()) {
            self.notes.copy(new.0, self.func.notes.of(old.0));
        }
        let uses = self.uses.get(&old).copied().unwrap_or(0);
        *self.used.entry(new).or_default() += uses;
        if let Some(root) = self.roots.get(&old) {
            let constant = match root {
                Root::Param(k) => !self.func.params[*k].written,
                Root::Table(_) => true,
                Root::Slot(_) => false,
            };
            self.constant.insert(new, constant);
        }
    }

    fn fresh(&mut self, ty: Type, op: Option<(Op, usize)>, most: u128) -> Value {
        let most = match ty.kind {
            Kind::Word(bits) => most.min(ones(bits)),
            Kind::Ptr => u128::MAX,
        };
        self.facts.push(Fact { ty, op, most });
        let v = Value(self.facts.len() as u32 - 1);
        self.notes.copy(v.0, self.here.as_ref());
        v
    }

    fn now(&self, old: Value) -> Value {
        self.alias.get(&old).copied().unwrap_or(old)
    }

    fn at(&self, a: &Address) -> Address {
        let mut a = Address { base: self.now(a.base), index: a.index.map(|(v, n)| (self.now(v), n)), ..*a };
        // An index that is known, and a base that is a place in something else.
        if let Some((v, scale)) = a.index {
            if let Some(offset) = self.constant_of(v).and_then(|n| i64::try_from(n).ok()?.checked_mul(scale as i64)).and_then(|n| n.checked_add(a.offset)) {
                a = Address { index: None, offset, ..a };
            }
        }
        // So much above another index is so much further on.
        if let Some((v, scale)) = a.index {
            if let Some(Op::Bin(BinOp::Add, x, n)) = self.op_of(v) {
                let room = self.constant_of(n).filter(|n| self.most(x).checked_add(*n).is_some_and(|m| m <= ones(self.bits(v))));
                let further = room.and_then(|n| i64::try_from(n).ok()?.checked_mul(scale as i64)?.checked_add(a.offset));
                if let Some(offset) = further {
                    a = Address { index: Some((x, scale)), offset, ..a };
                }
            }
        }
        while let Some((Op::At(inner), _)) = self.facts[a.base.0 as usize].op {
            let Some(offset) = inner.offset.checked_add(a.offset).filter(|_| inner.index.is_none()) else { break };
            a = Address { base: inner.base, index: a.index, offset };
        }
        a
    }

    pub fn ty(&self, v: Value) -> Type {
        self.facts[v.0 as usize].ty
    }

    /// What computes a value, if that is an operation of one result.
    pub fn op_of(&self, v: Value) -> Option<Op> {
        self.facts[v.0 as usize].op.filter(|(op, _)| op.results() == 1).map(|(op, _)| op)
    }

    /// What a value is which result of.
    pub fn result_of(&self, v: Value) -> Option<(Op, usize)> {
        self.facts[v.0 as usize].op
    }

    /// A word of so many bits by this operation, as simply as it can be had.
    pub fn word(&mut self, op: Op, bits: u32) -> Value {
        let secret = op.operands().iter().any(|v| self.ty(*v).secret);
        self.one(op, Type::word(bits, secret))
    }

    pub fn constant(&mut self, n: u128, bits: u32) -> Value {
        self.word(Op::Const(n & ones(bits)), bits)
    }

    /// The two results.
    pub fn two(&mut self, op: Op, bits: u32) -> (Value, Value) {
        let secret = op.operands().iter().any(|v| self.ty(*v).secret);
        let all = self.pair(op, [Type::word(bits, secret); 2], (true, true));
        (all[0], all[1])
    }

    /// A number of a table.
    pub fn tabled(&mut self, bytes: u32, signed: bool, at: Address, bits: u32) -> Option<Value> {
        let (Some((Op::Table(k), _)), None) = (self.facts[at.base.0 as usize].op, at.index) else { return None };
        let table = self.module.tables.get(k as usize)?;
        let first = usize::try_from(at.offset).ok()?;
        let mut all = table.bytes.get(first..first + bytes as usize)?.to_vec();
        if self.module.machine.big_endian {
            all.reverse();
        }
        let n = all.iter().rev().fold(0u128, |n, b| n << 8 | u128::from(*b));
        let negative = signed && n >> (8 * bytes - 1) == 1;
        Some(self.constant(if negative { n | ones(bits) ^ ones(8 * bytes) } else { n }, bits))
    }

    pub fn one(&mut self, op: Op, ty: Type) -> Value {
        match (self.rules.one)(self, op, ty) {
            Some(v) => v,
            None => self.emitted(op, &[ty])[0],
        }
    }

    /// `read`: which results something reads.
    fn pair(&mut self, op: Op, tys: [Type; 2], read: (bool, bool)) -> Vec<Value> {
        match (self.rules.two)(self, op, tys[0].bits().unwrap_or(0), read) {
            Some((a, b)) => vec![a, b],
            None => self.emitted(op, &tys),
        }
    }

    /// The values that an operation gives, which may be at hand.
    pub fn emitted(&mut self, op: Op, tys: &[Type]) -> Vec<Value> {
        // One of the two ways to write it.
        let op = match op {
            Op::Bin(o @ (BinOp::Add | BinOp::Mul | BinOp::MulHu | BinOp::And | BinOp::Or | BinOp::Xor), a, b) if a > b && self.constant_of(b).is_none() => Op::Bin(o, b, a),
            op => op,
        };
        let again = match op {
            Op::Load { at, .. } => self.constant.get(&at.base).copied().unwrap_or(false),
            _ => true,
        };
        let key = (op, tys[0].bits().unwrap_or(0));
        if again {
            if let Some(found) = self.seen.iter().rev().find_map(|m| m.get(&key)) {
                return found.clone();
            }
        }
        let named: Vec<Named> = (0..tys.len()).map(|k| (self.fresh(tys[k], Some((op, k)), most_of(self, &op, k, tys[k])), tys[k])).collect();
        self.out.push(Inst::Let { dst: named.clone(), op });
        let values: Vec<Value> = named.iter().map(|n| n.0).collect();
        if again {
            if let Some(m) = self.seen.last_mut() {
                m.insert(key, values.clone());
            }
        }
        values
    }

    fn block(&mut self, b: &Block) -> Block {
        let outer = std::mem::take(&mut self.out);
        self.seen.push(HashMap::new());
        b.insts.iter().for_each(|i| self.inst(i));
        self.seen.pop();
        let insts = std::mem::replace(&mut self.out, outer);
        Block { insts, yields: b.yields.iter().map(|v| self.now(*v)).collect() }
    }

    fn inst(&mut self, i: &Inst) {
        self.first = self.facts.len() as u32;
        let line = match i {
            Inst::Let { dst, .. } => dst.first().and_then(|d| self.func.notes.of(d.0 .0)),
            _ => None,
        };
        self.here = line.map(|n| Note { variable: None, ..n.clone() });
        match i {
            Inst::Let { dst, op } => self.operation(dst, op),
            Inst::Store { bytes, at, value } => {
                let made = Inst::Store { bytes: *bytes, at: self.at(at), value: self.now(*value) };
                self.out.push(made);
            }
            Inst::Copy { to, from, count } => {
                let count = self.count(count);
                let made = Inst::Copy { to: self.at(to), from: self.at(from), count };
                self.out.push(made);
            }
            Inst::Call { dst, func, args } => {
                let args = args.iter().map(|v| self.now(*v)).collect();
                let dst = dst.iter().map(|d| self.given(d)).collect();
                self.out.push(Inst::Call { dst, func: *func, args });
            }
            Inst::If { cond, dst, then, els } => self.branch(*cond, dst, then, els),
            Inst::For(f) => self.rounds(f),
        }
    }

    fn count(&self, c: &Count) -> Count {
        match c.times {
            Some((v, n)) => match self.constant_of(self.now(v)).and_then(|k| i64::try_from(k).ok()?.checked_mul(n as i64)?.checked_add(c.plus)) {
                Some(plus) => Count { times: None, plus },
                None => Count { times: Some((self.now(v), n)), plus: c.plus },
            },
            None => *c,
        }
    }

    fn operation(&mut self, dst: &[Named], op: &Op) {
        let op = self.renamed(op);
        let made = match dst {
            [d] => vec![self.one(op, d.1)],
            [a, b] => {
                let read = |v: &Named| self.uses.get(&v.0).copied().unwrap_or(0) > 0;
                let read = (read(a), read(b));
                self.added_to = self.addends.get(&b.0).map(|v| self.now(*v));
                self.pair(op, [a.1, b.1], read)
            }
            _ => self.emitted(op, &dst.iter().map(|d| d.1).collect::<Vec<_>>()),
        };
        dst.iter().zip(made).for_each(|(d, v)| self.named(d.0, v));
    }

    fn renamed(&self, op: &Op) -> Op {
        match op {
            Op::At(a) => Op::At(self.at(a)),
            Op::Load { bytes, signed, at } => Op::Load { bytes: *bytes, signed: *signed, at: self.at(at) },
            op => op.renamed(&mut |v| self.now(v)),
        }
    }

    fn branch(&mut self, cond: Value, dst: &[Named], then: &Block, els: &Block) {
        let cond = self.now(cond);
        if let Some(n) = self.constant_of(cond) {
            let taken = if n == 1 { then } else { els };
            taken.insts.iter().for_each(|i| self.inst(i));
            for (d, v) in dst.iter().zip(&taken.yields) {
                let v = self.now(*v);
                self.named(d.0, v);
            }
            return;
        }
        let (then, els) = (self.block(then), self.block(els));
        let dst = dst.iter().map(|d| self.given(d)).collect();
        self.out.push(Inst::If { cond, dst, then, els });
    }

    fn rounds(&mut self, f: &For) {
        let (lo, hi) = (self.now(f.lo), self.now(f.hi));
        let carried: Vec<(Named, Value)> = f.carried.iter().map(|(d, first)| (d, self.now(*first))).collect::<Vec<_>>().into_iter().map(|(d, first)| (self.given(d), first)).collect();
        let counter = self.given(&f.counter);
        let body = self.block(&f.body);
        let dst = f.dst.iter().map(|d| self.given(d)).collect();
        self.out.push(Inst::For(Box::new(For { counter, lo, hi, rev: f.rev, signed: f.signed, carried, dst, body })));
    }
}
