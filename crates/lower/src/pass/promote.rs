//! Slots become values where every access says which number it is of, and what is read again is taken from what is at hand.
//!
//! Needs: a module that [`crate::verify`] accepts.  Keeps: what the function computes and what others see of memory.  Absent: slots whose address
//! is given to a call or has an index.
//! Trusted: nothing: nothing that ships is made of it.

use super::facts::ones;
use super::root::{roots, Root};
use crate::data::{Address, BinOp, Block, ConvertOp, For, Func, Inst, Named, Op, ShiftOp, Type, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Numbers of one function that become values.
const CELLS_MAX: usize = 512;

/// A number in memory: where, and how many bytes.
type Cell = (Root, i64, u32);

struct Promote {
    roots: BTreeMap<Value, Root>,
    /// Distances of addresses from what their roots lead to, where they are known.
    places: BTreeMap<Value, i64>,
    /// Slots that become values; bits of each of their numbers.
    cells: BTreeMap<Cell, u32>,
    secret: Vec<bool>,
    alias: HashMap<Value, Value>,
    types: HashMap<Value, Type>,
    /// What each number is now.
    now: BTreeMap<Cell, Value>,
    next: u32,
    out: Vec<Inst>,
}

pub(super) fn promote(f: &Func) -> Func {
    let bits = f.params.iter().map(|p| (p.value, p.ty.bits().unwrap_or(0))).collect();
    let mut seen = Seen { roots: roots(f), types: bits, ..Seen::default() };
    seen.block(&f.body);
    let cells = seen.cells();
    let mut types: HashMap<Value, Type> = f.params.iter().map(|p| (p.value, p.ty)).collect();
    typed(&f.body, &mut types);
    let next = types.keys().map(|v| v.0 + 1).max().unwrap_or(0);
    let secret = f.slots.iter().map(|s| s.secret).collect();
    let mut p = Promote { roots: seen.roots, places: seen.places, cells, secret, alias: HashMap::new(), types, now: BTreeMap::new(), next, out: vec![] };
    let mut made = f.clone();
    made.body = p.block(&f.body, &[]);
    made
}

fn typed(b: &Block, types: &mut HashMap<Value, Type>) {
    for i in &b.insts {
        let dst: &[Named] = match i {
            Inst::Let { dst, .. } | Inst::Call { dst, .. } => dst,
            Inst::If { dst, then, els, .. } => {
                typed(then, types);
                typed(els, types);
                dst
            }
            Inst::For(f) => {
                typed(&f.body, types);
                types.extend(f.carried.iter().map(|c| c.0).chain([f.counter]));
                &f.dst
            }
            Inst::Store { .. } | Inst::Copy { .. } => &[],
        };
        types.extend(dst.iter().copied());
    }
}

/// How slots are used.
#[derive(Default)]
struct Seen {
    roots: BTreeMap<Value, Root>,
    places: BTreeMap<Value, i64>,
    /// Bits of the words that are stored to each number.
    stored: BTreeMap<Cell, BTreeSet<u32>>,
    accessed: BTreeSet<Cell>,
    /// Slots of which something else is done.
    other: BTreeSet<Root>,
    types: HashMap<Value, u32>,
}

impl Seen {
    fn place(&self, a: &Address) -> Option<i64> {
        let base = match self.roots.get(&a.base)? {
            Root::Param(_) if !self.places.contains_key(&a.base) => 0,
            _ => *self.places.get(&a.base)?,
        };
        a.index.is_none().then(|| base + a.offset)
    }

    fn access(&mut self, a: &Address, bytes: u32, bits: Option<u32>) {
        let Some(root) = self.roots.get(&a.base).copied() else { return };
        match self.place(a) {
            Some(at) => {
                self.accessed.insert((root, at, bytes));
                self.stored.entry((root, at, bytes)).or_default().extend(bits);
            }
            None => {
                self.other.insert(root);
            }
        }
    }

    fn escapes(&mut self, v: Value) {
        self.other.extend(self.roots.get(&v).copied());
    }

    fn block(&mut self, b: &Block) {
        for i in &b.insts {
            match i {
                Inst::Let { dst, op } => {
                    for d in dst {
                        self.types.insert(d.0, d.1.bits().unwrap_or(0));
                    }
                    match op {
                        Op::Slot(_) | Op::Table(_) => {
                            self.places.insert(dst[0].0, 0);
                        }
                        Op::At(a) => match self.place(a) {
                            Some(at) => {
                                self.places.insert(dst[0].0, at);
                            }
                            None => self.escapes(a.base),
                        },
                        Op::Load { bytes, at, .. } => self.access(at, *bytes, None),
                        _ => {}
                    }
                }
                Inst::Store { bytes, at, value } => {
                    let bits = self.types.get(value).copied();
                    self.access(at, *bytes, bits);
                }
                Inst::Copy { to, from, .. } => {
                    self.escapes(to.base);
                    self.escapes(from.base);
                }
                Inst::Call { dst, args, .. } => {
                    args.iter().for_each(|v| self.escapes(*v));
                    self.types.extend(dst.iter().map(|d| (d.0, d.1.bits().unwrap_or(0))));
                }
                Inst::If { dst, then, els, .. } => {
                    self.block(then);
                    self.block(els);
                    self.types.extend(dst.iter().map(|d| (d.0, d.1.bits().unwrap_or(0))));
                }
                Inst::For(f) => {
                    self.types.extend(f.carried.iter().map(|c| c.0).chain([f.counter]).map(|d| (d.0, d.1.bits().unwrap_or(0))));
                    self.block(&f.body);
                    self.types.extend(f.dst.iter().map(|d| (d.0, d.1.bits().unwrap_or(0))));
                }
            }
        }
    }

    /// The numbers of slots that become values.
    fn cells(&self) -> BTreeMap<Cell, u32> {
        let mut all: BTreeMap<Cell, u32> = BTreeMap::new();
        let of_slots: Vec<Cell> = self.accessed.iter().copied().filter(|c| matches!(c.0, Root::Slot(_)) && !self.other.contains(&c.0)).collect();
        let mut spoiled: BTreeSet<Root> = BTreeSet::new();
        for (k, a) in of_slots.iter().enumerate() {
            // In order of places: what reaches into the next is not one of several numbers.
            if of_slots.get(k + 1).is_some_and(|b| a.0 == b.0 && a.1 + i64::from(a.2) > b.1) {
                spoiled.insert(a.0);
            }
            // What is read, but never written, has no bits.
            let bits: Vec<u32> = self.stored.get(a).into_iter().flatten().copied().collect();
            match bits[..] {
                [bits] if bits > 0 => {
                    all.insert(*a, bits);
                }
                _ => {
                    spoiled.insert(a.0);
                }
            }
        }
        all.retain(|c, _| !spoiled.contains(&c.0));
        if all.len() > CELLS_MAX { BTreeMap::new() } else { all }
    }
}

impl Promote {
    fn fresh(&mut self, op: Op, ty: Type) -> Value {
        let v = Value(self.next);
        self.next += 1;
        self.types.insert(v, ty);
        self.out.push(Inst::Let { dst: vec![(v, ty)], op });
        v
    }

    fn named(&mut self, ty: Type) -> Named {
        self.next += 1;
        self.types.insert(Value(self.next - 1), ty);
        (Value(self.next - 1), ty)
    }

    fn old(&self, v: Value) -> Value {
        self.alias.get(&v).copied().unwrap_or(v)
    }

    fn cell(&self, a: &Address, bytes: u32) -> Option<Cell> {
        let root = self.roots.get(&a.base).copied()?;
        let base = match root {
            Root::Param(_) => self.places.get(&a.base).copied().unwrap_or(0),
            _ => *self.places.get(&a.base)?,
        };
        a.index.is_none().then_some((root, base + a.offset, bytes))
    }

    /// What is stored there is now known by this name.
    fn hold(&mut self, cell: Cell, v: Value) {
        if self.cells.contains_key(&cell) {
            self.now.insert(cell, v);
        } else {
            self.forget(|(root, at, bytes)| root == cell.0 && at < cell.1 + i64::from(cell.2) && cell.1 < at + i64::from(bytes));
            self.now.insert(cell, v);
        }
    }

    /// What lies in memory may have changed there.
    fn forget(&mut self, changed: impl Fn(Cell) -> bool) {
        let cells = &self.cells;
        self.now.retain(|c, _| cells.contains_key(c) || !changed(*c));
    }

    /// A word of so many bits from a stored one.
    fn read(&mut self, v: Value, bytes: u32, signed: bool, ty: Type) -> Value {
        let (bits, low) = (ty.bits().unwrap_or(0), 8 * bytes);
        let own = self.types[&v];
        let mut v = v;
        let from = own.bits().unwrap_or(0);
        if from < bits {
            let op = Op::Convert(if signed { ConvertOp::Sext } else { ConvertOp::Zext }, v);
            v = self.fresh(op, Type { secret: own.secret, ..ty });
        } else if from > bits {
            v = self.fresh(Op::Convert(ConvertOp::Trunc, v), Type { secret: own.secret, ..ty });
        }
        if low >= bits.min(from) {
            return v;
        }
        let ty = Type { secret: own.secret, ..ty };
        if !signed {
            let mask = self.fresh(Op::Const(ones(low)), Type { secret: false, ..ty });
            return self.fresh(Op::Bin(BinOp::And, v, mask), ty);
        }
        let n = self.fresh(Op::Const((bits - low).into()), Type { secret: false, ..ty });
        let high = self.fresh(Op::Shift(ShiftOp::Shl, v, n), ty);
        self.fresh(Op::Shift(ShiftOp::ShrS, high, n), ty)
    }

    /// The numbers in `more` are yielded too.
    fn block(&mut self, b: &Block, more: &[Cell]) -> Block {
        let outer = std::mem::take(&mut self.out);
        b.insts.iter().for_each(|i| self.inst(i));
        let mut yields: Vec<Value> = b.yields.iter().map(|v| self.old(*v)).collect();
        for cell in more {
            let v = self.held(*cell);
            yields.push(v);
        }
        Block { insts: std::mem::replace(&mut self.out, outer), yields }
    }

    /// A number now; what was not written is any.
    fn held(&mut self, cell: Cell) -> Value {
        match self.now.get(&cell) {
            Some(v) => *v,
            None => self.fresh(Op::Const(0), Type::word(self.cells[&cell], false)),
        }
    }

    fn type_of(&self, cell: Cell) -> Type {
        let secret = match cell.0 {
            Root::Slot(k) => self.secret[k as usize],
            _ => true,
        };
        Type::word(self.cells[&cell], secret)
    }

    fn inst(&mut self, i: &Inst) {
        let a = |s: &Self, at: &Address| Address { base: s.old(at.base), index: at.index.map(|(v, n)| (s.old(v), n)), ..*at };
        match i {
            Inst::Let { dst, op: Op::Load { bytes, signed, at } } => {
                let found = self.cell(at, *bytes);
                let slot = found.filter(|c| self.cells.contains_key(c));
                if let Some(v) = found.and_then(|c| self.now.get(&c).copied()).or_else(|| slot.map(|c| self.held(c))) {
                    let v = self.read(v, *bytes, *signed, dst[0].1);
                    self.alias.insert(dst[0].0, v);
                    return;
                }
                let op = Op::Load { bytes: *bytes, signed: *signed, at: a(self, at) };
                self.out.push(Inst::Let { dst: dst.clone(), op });
                // A word in memory that was narrower would have to be told how it was made wider.
                if let Some(cell) = found.filter(|c| dst[0].1.bits() == Some(8 * c.2)) {
                    self.now.insert(cell, dst[0].0);
                }
            }
            Inst::Let { dst, op } => {
                let op = op.renamed(&mut |v| self.old(v));
                self.out.push(Inst::Let { dst: dst.clone(), op });
            }
            Inst::Store { bytes, at, value } => {
                let v = self.old(*value);
                let to = self.cell(at, *bytes);
                if to.is_none_or(|c| !self.cells.contains_key(&c)) {
                    self.out.push(Inst::Store { bytes: *bytes, at: a(self, at), value: v });
                }
                match to {
                    Some(cell) => self.hold(cell, v),
                    None => {
                        let root = self.roots.get(&at.base).copied();
                        self.forget(|c| Some(c.0) == root);
                    }
                }
            }
            Inst::Copy { to, from, count } => {
                let times = count.times.map(|(v, n)| (self.old(v), n));
                self.out.push(Inst::Copy { to: a(self, to), from: a(self, from), count: crate::data::Count { times, ..*count } });
                let root = self.roots.get(&to.base).copied();
                self.forget(|c| Some(c.0) == root);
            }
            Inst::Call { dst, func, args } => {
                let given: BTreeSet<Root> = args.iter().filter_map(|v| self.roots.get(v).copied()).collect();
                let args = args.iter().map(|v| self.old(*v)).collect();
                self.out.push(Inst::Call { dst: dst.clone(), func: *func, args });
                self.forget(|c| given.contains(&c.0));
            }
            Inst::If { cond, dst, then, els } => self.branch(*cond, dst, then, els),
            Inst::For(f) => self.rounds(f),
        }
    }

    fn branch(&mut self, cond: Value, dst: &[Named], then: &Block, els: &Block) {
        let mut changed = BTreeSet::new();
        self.written(then, &mut changed);
        self.written(els, &mut changed);
        let changed: Vec<Cell> = changed.into_iter().collect();
        let cond = self.old(cond);
        let before = self.now.clone();
        let then = self.block(then, &changed);
        self.now.clone_from(&before);
        let els = self.block(els, &changed);
        self.now = before;
        self.forget(|_| true);
        let mut dst = dst.to_vec();
        for cell in changed {
            let d = self.named(self.type_of(cell));
            dst.push(d);
            self.now.insert(cell, d.0);
        }
        self.out.push(Inst::If { cond, dst, then, els });
    }

    fn rounds(&mut self, f: &For) {
        let mut changed = BTreeSet::new();
        self.written(&f.body, &mut changed);
        let changed: Vec<Cell> = changed.into_iter().collect();
        let mut carried: Vec<(Named, Value)> = f.carried.iter().map(|(d, first)| (*d, self.old(*first))).collect();
        let mut dst = f.dst.clone();
        let (lo, hi) = (self.old(f.lo), self.old(f.hi));
        for cell in &changed {
            let first = self.held(*cell);
            let ty = self.type_of(*cell);
            carried.push((self.named(ty), first));
            dst.push(self.named(ty));
        }
        let extra = f.carried.len();
        self.forget(|_| true);
        for (cell, c) in changed.iter().zip(&carried[extra..]) {
            self.now.insert(*cell, c.0 .0);
        }
        let before = self.now.clone();
        let body = self.block(&f.body, &changed);
        self.now = before;
        self.forget(|_| true);
        for (cell, d) in changed.iter().zip(&dst[extra..]) {
            self.now.insert(*cell, d.0);
        }
        self.out.push(Inst::For(Box::new(For { lo, hi, carried, dst, body, ..f.clone() })));
    }

    /// Numbers that become values and are written in a block.
    fn written(&self, b: &Block, found: &mut BTreeSet<Cell>) {
        for i in &b.insts {
            match i {
                Inst::Store { bytes, at, .. } => found.extend(self.cell(at, *bytes).filter(|c| self.cells.contains_key(c))),
                Inst::If { then, els, .. } => {
                    self.written(then, found);
                    self.written(els, found);
                }
                Inst::For(f) => self.written(&f.body, found),
                _ => {}
            }
        }
    }
}
