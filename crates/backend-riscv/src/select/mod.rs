//! Instructions for each operation of the lowered IR.
//!
//! A word narrower than a register is held with its sign extended, as the psABI has it.
//! Trusted: nothing: the certifier looks at the bytes.

mod branches;
mod carries;
mod words;

use crate::code::{length, small, Base, Code, Inst, Label, Reg};
use crate::conditions::Conditions;
use crate::forms::Kind as Group;
use crate::merge::{merges, Merges};
use crate::options::Options;
use santoku_lower::pass::Bounds;
use santoku_lower::{Address, Block, For, Func, Inst as Low, Kind, Module, Named, Note, Notes, Op, ShiftOp, Value};
use std::collections::{BTreeMap, BTreeSet};

type Res<T> = Result<T, String>;

/// What a value is known to be before the program runs.
#[derive(Clone, Copy)]
enum Known {
    Const(i64),
    /// A place in a slot.
    Slot(u32, i64),
}

struct Select<'m> {
    module: &'m Module,
    notes: &'m Notes,
    options: &'m Options,
    code: Code,
    regs: BTreeMap<Value, Reg>,
    known: BTreeMap<Value, Known>,
    bits: BTreeMap<Value, u32>,
    /// How often each value is read.
    reads: BTreeMap<Value, u32>,
    bounds: Bounds,
    /// Addresses in what this function never writes.
    constant: BTreeSet<Value>,
    merges: Merges,
    conditions: Conditions,
    /// Addresses of elements, by base, index and bytes of an element, that are known here.
    elements: BTreeMap<(Value, Value, u64), Reg>,
    /// Constants that take more than one instruction, where they are known.
    numbers: BTreeMap<i64, Reg>,
    /// All bits 1 where a condition holds, else 0, where that is known.
    masks: BTreeMap<Value, Reg>,
    /// How many ways that stand apart this is inside of.
    apart: u32,
    /// Code that stands behind the function's end.
    behind: Vec<Vec<Inst>>,
    labels: u32,
}

/// `unchanging`: what lies at parameters that are not written stays as it is until the function's end.
pub fn select(module: &Module, f: &Func, options: &Options, unchanging: bool) -> Res<Code> {
    let mut s = Select {
        module,
        notes: &f.notes,
        options,
        code: Code { slots: f.slots.iter().map(|s| (s.bytes, s.align)).collect(), ..Code::default() },
        regs: BTreeMap::new(),
        known: BTreeMap::new(),
        bits: BTreeMap::new(),
        reads: f.body.reads(),
        bounds: Bounds::of(f),
        constant: f.params.iter().filter(|p| unchanging && p.ty.kind == Kind::Ptr && !p.written).map(|p| p.value).collect(),
        merges: Merges::default(),
        conditions: Conditions::default(),
        elements: BTreeMap::new(),
        numbers: BTreeMap::new(),
        masks: BTreeMap::new(),
        apart: 0,
        behind: vec![],
        labels: 0,
    };
    let params: Vec<Reg> = f.params.iter().map(|p| s.named(&(p.value, p.ty))).collect();
    s.push(Inst::Enter(params.clone()));
    let stop = s.lengths(f, &params);
    s.block(&f.body)?;
    let results = f.body.yields.iter().map(|v| s.reg(*v)).collect();
    s.push(Inst::Return(results));
    let behind = std::mem::take(&mut s.behind);
    s.code.insts.extend(behind.into_iter().flatten());
    if let Some(stop) = stop {
        s.push(Inst::Label(stop));
        s.push(Inst::Stop);
    }
    Ok(s.code)
}

/// Loops stand in order with all other code.
fn has_loop(b: &Block) -> bool {
    let mut found = false;
    b.each(&mut |i| found |= matches!(i, Low::For(_)));
    found
}

impl Select<'_> {
    /// Lengths that others give are checked first, in all of the register: where one that is too great leads.
    fn lengths(&mut self, f: &Func, params: &[Reg]) -> Option<Label> {
        let mut stop = None;
        for (p, r) in f.params.iter().zip(params).filter(|_| f.export.is_some()) {
            let Some(most) = p.most else { continue };
            let label = *stop.get_or_insert_with(|| self.label());
            let bound = self.number(most as i64);
            self.push(Inst::Branch("bltu", bound, *r, label));
        }
        stop
    }

    fn xlen(&self) -> u32 {
        self.options.xlen
    }

    fn push(&mut self, i: Inst) {
        self.code.insts.push(i);
    }

    fn fresh(&mut self) -> Reg {
        self.code.registers += 1;
        Reg::Own(self.code.registers - 1)
    }

    fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    /// The register of a value that is named here.
    fn named(&mut self, (v, ty): &Named) -> Reg {
        let r = self.fresh();
        self.regs.insert(*v, r);
        if let Kind::Word(bits) = ty.kind {
            self.bits.insert(*v, bits);
        }
        r
    }

    /// A register with the value.
    fn reg(&mut self, v: Value) -> Reg {
        match self.known.get(&v).copied() {
            Some(Known::Const(0)) => Reg::Zero,
            Some(Known::Const(n)) => self.number(n),
            Some(Known::Slot(k, offset)) => self.slot(k, offset),
            None => self.regs.get(&v).copied().unwrap_or(Reg::Zero),
        }
    }

    fn constant(&self, v: Value) -> Option<i64> {
        match self.known.get(&v) {
            Some(Known::Const(n)) => Some(*n),
            _ => None,
        }
    }

    /// The name of an instruction on words of so many bits: those on half a register end in `w`.
    fn sized(&self, bits: u32, whole: &'static str, half: &'static str) -> &'static str {
        if bits < self.xlen() { half } else { whole }
    }

    fn three(&mut self, name: &'static str, a: Reg, b: Reg) -> Reg {
        let d = self.fresh();
        self.push(Inst::Three(name, d, a, b));
        d
    }

    fn imm(&mut self, name: &'static str, a: Reg, n: i64) -> Reg {
        let d = self.fresh();
        self.push(Inst::Imm(name, d, a, n));
        d
    }

    fn block(&mut self, b: &Block) -> Res<()> {
        let found = if self.options.fused { merges(b, &self.reads) } else { Merges::default() };
        let outer = std::mem::replace(&mut self.merges, found);
        let conditions = std::mem::replace(&mut self.conditions, Conditions::of(b, &self.reads));
        let elements = self.elements.clone();
        let (numbers, masks) = (self.numbers.clone(), self.masks.clone());
        b.insts.iter().try_for_each(|i| self.inst(i))?;
        self.merges = outer;
        self.conditions = conditions;
        self.elements = elements;
        self.numbers = numbers;
        self.masks = masks;
        Ok(())
    }

    /// Registers from `first` on are of the line that names these values, and those that hold them are these.
    fn note(&mut self, dst: &[Named], first: u32) {
        let Some(note) = self.notes.of(dst[0].0 .0) else { return };
        for r in first..self.code.registers {
            self.code.notes.entry(r).or_insert_with(|| Note { variable: None, ..note.clone() });
        }
        for (v, _) in dst {
            match (self.regs.get(v), self.notes.of(v.0)) {
                (Some(Reg::Own(r)), Some(note)) if *r >= first => {
                    self.code.notes.insert(*r, note.clone());
                }
                _ => {}
            }
        }
    }

    fn is_read(&self, v: Value) -> bool {
        self.reads.contains_key(&v)
    }

    fn inst(&mut self, i: &Low) -> Res<()> {
        match i {
            Low::Let { dst, op } => {
                let first = self.code.registers;
                self.operation(dst, op)?;
                self.note(dst, first);
                Ok(())
            }
            Low::Store { bytes, at, value } => {
                let v = self.reg(*value);
                let (base, offset) = self.address(at);
                let name = match bytes {
                    1 => "sb",
                    2 => "sh",
                    4 => "sw",
                    _ => "sd",
                };
                self.push(Inst::Store(name, v, base, offset));
                Ok(())
            }
            Low::Copy { to, from, count } => {
                let (to, from) = (self.pointer(to), self.pointer(from));
                let n = match count.times {
                    None => self.number(count.plus),
                    Some((v, times)) => {
                        let scaled = self.scaled(v, times);
                        if count.plus == 0 { scaled } else { self.plus(scaled, count.plus) }
                    }
                };
                self.push(Inst::Call { symbol: "memmove".into(), args: vec![to, from, n], results: vec![] });
                Ok(())
            }
            Low::Call { dst, func, args } => {
                let args = args.iter().map(|a| self.reg(*a)).collect();
                let results = dst.iter().map(|d| self.named(d)).collect();
                let symbol = self.options.symbols.get(*func as usize).cloned().ok_or("a function without a symbol")?;
                self.push(Inst::Call { symbol, args, results });
                Ok(())
            }
            Low::If { cond, dst, then, els } => self.branch(*cond, dst, (then, els)),
            Low::For(f) => self.rounds(f),
        }
    }

    /// A way that is gone on one condition alone stands behind all other code: what goes past it finds registers as they were.
    fn aside(&mut self, cond: Value, to: Vec<Reg>, (then, els): (&Block, &Block)) -> Res<()> {
        let (taken, end) = (self.label(), self.label());
        self.branch_to(cond, true, taken);
        self.hand_on(&to, &els.yields);
        self.push(Inst::Label(end));
        // Before what stands behind it in turn.
        let place = self.behind.len();
        self.behind.push(vec![]);
        let main = std::mem::take(&mut self.code.insts);
        self.push(Inst::Label(taken));
        self.apart += 1;
        self.block(then)?;
        self.apart -= 1;
        self.hand_on(&to, &then.yields);
        self.push(Inst::Jump(end));
        self.behind[place] = std::mem::replace(&mut self.code.insts, main);
        Ok(())
    }

    fn branch(&mut self, cond: Value, dst: &[Named], (then, els): (&Block, &Block)) -> Res<()> {
        if els.insts.is_empty() && !has_loop(then) {
            let to = dst.iter().map(|d| self.named(d)).collect();
            return self.aside(cond, to, (then, els));
        }
        let (other, end) = (self.label(), self.label());
        let to: Vec<Reg> = dst.iter().map(|d| self.named(d)).collect();
        self.branch_to(cond, false, other);
        self.block(then)?;
        self.hand_on(&to, &then.yields);
        self.push(Inst::Jump(end));
        self.push(Inst::Label(other));
        self.block(els)?;
        self.hand_on(&to, &els.yields);
        self.push(Inst::Label(end));
        Ok(())
    }

    /// What is made for it is known on this way alone.
    fn hand_on(&mut self, to: &[Reg], from: &[Value]) {
        let numbers = self.numbers.clone();
        let from: Vec<Reg> = from.iter().map(|v| self.reg(*v)).collect();
        self.numbers = numbers;
        let moves: Vec<(Reg, Reg)> = to.iter().copied().zip(from).filter(|(d, s)| d != s).collect();
        if !moves.is_empty() {
            self.push(Inst::Move(moves));
        }
    }

    /// A round is entered where the counter is below the end.
    fn rounds(&mut self, f: &For) -> Res<()> {
        let (head, end) = (self.label(), self.label());
        let (lo, hi) = (self.reg(f.lo), self.reg(f.hi));
        let counter = self.named(&f.counter);
        // Down, the counter runs from one above its value.
        let (running, last) = if f.rev { (self.fresh(), lo) } else { (counter, hi) };
        let first: Vec<Value> = f.carried.iter().map(|c| c.1).collect();
        let carried: Vec<Reg> = f.carried.iter().map(|c| self.named(&c.0)).collect();
        self.push(Inst::Move(vec![(running, if f.rev { hi } else { lo })]));
        self.hand_on(&carried, &first);
        let below = if f.signed { "blt" } else { "bltu" };
        let beyond = if f.signed { "bge" } else { "bgeu" };
        let (a, b) = if f.rev { (last, running) } else { (running, last) };
        // Constants are as the machine holds them, in both senses of order as long as none is negative.
        let entered = matches!((self.constant(f.lo), self.constant(f.hi)), (Some(lo), Some(hi)) if 0 <= lo && lo < hi);
        if !entered {
            self.push(Inst::Branch(beyond, a, b, end));
        }
        let start = self.code.insts.len();
        self.push(Inst::Label(head));
        let one = self.sized(self.bits.get(&f.counter.0).copied().unwrap_or(32), "addi", "addiw");
        if f.rev {
            self.push(Inst::Imm(one, running, running, -1));
            self.push(Inst::Move(vec![(counter, running)]));
        }
        self.block(&f.body)?;
        self.hand_on(&carried, &f.body.yields);
        if !f.rev {
            self.push(Inst::Imm(one, running, running, 1));
        }
        self.push(Inst::Branch(below, a, b, head));
        self.code.loops.push((start, self.code.insts.len() - 1));
        self.push(Inst::Label(end));
        // What the last round handed on is what the first would have got, where there is none.
        let results: Vec<Reg> = f.dst.iter().map(|d| self.named(d)).collect();
        let moves: Vec<(Reg, Reg)> = results.into_iter().zip(carried).collect();
        if !moves.is_empty() {
            self.push(Inst::Move(moves));
        }
        Ok(())
    }

    /// A constant is one register wherever what made it first has run: the allocator keeps it or makes it again. In short code, only if it takes several
    /// instructions. Not on a way that stands apart, where it would be kept in the place of what the common way needs.
    fn number(&mut self, n: i64) -> Reg {
        if let Some(r) = self.numbers.get(&n) {
            return *r;
        }
        let r = self.fresh();
        self.push(Inst::Li(r, n));
        if self.apart == 0 && (length(n) > 1 || !self.options.short) {
            self.numbers.insert(n, r);
        }
        r
    }

    fn slot(&mut self, k: u32, offset: i64) -> Reg {
        let r = self.fresh();
        self.push(Inst::Slot(r, k, offset));
        r
    }

    fn plus(&mut self, r: Reg, n: i64) -> Reg {
        if small(n) {
            return self.imm("addi", r, n);
        }
        let k = self.number(n);
        self.three("add", r, k)
    }

    /// It is held alike with a sign and without: its highest bit is 0.
    fn is_small(&self, v: Value, bits: u32) -> bool {
        self.bounds.most(v) < 1 << (bits - 1)
    }

    /// A word without a sign, as wide as a register, times a factor.
    fn scaled(&mut self, v: Value, scale: u64) -> Reg {
        let r = self.reg(v);
        let bits = self.bits.get(&v).copied().unwrap_or(self.xlen());
        let up = if self.is_small(v, bits) { 0 } else { i64::from(self.xlen() - bits) };
        let shift = if scale.is_power_of_two() { i64::from(scale.trailing_zeros()) } else { 0 };
        // What is held with its sign extended is none of a sign here: it goes up, and comes down as far as the factor lets it.
        let r = match (up, shift) {
            (0, 0) => r,
            (0, n) => self.imm("slli", r, n),
            (up, n) => {
                let high = self.imm("slli", r, up);
                self.imm("srli", high, up - n)
            }
        };
        if scale.is_power_of_two() {
            return r;
        }
        // Two bits: two shifts and a sum take less than a number and a product.
        let low = scale.trailing_zeros();
        let rest = scale - (1 << low);
        if rest.is_power_of_two() {
            let (a, b) = (self.shift_by(ShiftOp::Shl, r, low.into(), self.xlen()), self.shift_by(ShiftOp::Shl, r, rest.trailing_zeros().into(), self.xlen()));
            return self.three("add", a, b);
        }
        let k = self.number(scale as i64);
        self.three("mul", r, k)
    }

    /// A base and a distance that an access can have.
    fn address(&mut self, a: &Address) -> (Base, i64) {
        let constant = a.index.and_then(|(v, scale)| Some(self.constant(v)? * scale as i64));
        let offset = a.offset + constant.unwrap_or(0);
        let index = a.index.filter(|_| constant.is_none());
        if let (Some(Known::Slot(k, at)), None) = (self.known.get(&a.base).copied(), index) {
            return (Base::Slot(k), at + offset);
        }
        let base = match index {
            None => self.reg(a.base),
            Some((v, scale)) => match self.elements.get(&(a.base, v, scale)) {
                Some(known) => *known,
                None => {
                    let (base, at) = (self.reg(a.base), self.scaled(v, scale));
                    let sum = self.three("add", base, at);
                    self.elements.insert((a.base, v, scale), sum);
                    sum
                }
            },
        };
        if small(offset) {
            return (Base::Reg(base), offset);
        }
        (Base::Reg(self.plus(base, offset)), 0)
    }

    fn pointer(&mut self, a: &Address) -> Reg {
        let place = self.address(a);
        self.at(place)
    }

    fn at(&mut self, place: (Base, i64)) -> Reg {
        match place {
            (Base::Reg(r), 0) => r,
            (Base::Reg(r), offset) => self.plus(r, offset),
            (Base::Slot(k), offset) => self.slot(k, offset),
        }
    }

    fn operation(&mut self, dst: &[Named], op: &Op) -> Res<()> {
        let (v, ty) = dst[0];
        if dst.iter().all(|d| !self.is_read(d.0)) || self.conditions.is_unmade(v) {
            return Ok(());
        }
        let bits = ty.bits().unwrap_or(self.xlen());
        if bits > self.xlen() {
            return Err(format!("a word of {bits} bits"));
        }
        self.bits.insert(v, bits);
        match op {
            Op::Const(n) => {
                let up = 64 - bits;
                self.known.insert(v, Known::Const(((*n as u64) << up) as i64 >> up));
                return Ok(());
            }
            Op::Slot(k) => {
                self.known.insert(v, Known::Slot(*k, 0));
                return Ok(());
            }
            Op::At(a) => {
                if self.constant.contains(&a.base) {
                    self.constant.insert(v);
                }
                match self.address(a) {
                    (Base::Slot(k), offset) => {
                        self.known.insert(v, Known::Slot(k, offset));
                    }
                    place => {
                        let r = self.at(place);
                        self.regs.insert(v, r);
                    }
                }
                return Ok(());
            }
            _ => {}
        }
        // Made with another, before.
        if self.regs.contains_key(&v) {
            return Ok(());
        }
        if let Some((high, low)) = self.merges.wide.get(&v).copied() {
            let Op::Bin(_, a, b) = op else { return Err("a product".into()) };
            let (a, b) = (self.reg(*a), self.reg(*b));
            self.grouped(Group::WideMul, vec![a, b], [high, low]);
            return Ok(());
        }
        let found = match op {
            Op::AddCarry(a, b, c) => return self.add_carry(dst, (*a, *b, *c), bits),
            Op::SubBorrow(a, b, c) => return self.sub_borrow(dst, (*a, *b, *c), bits),
            Op::Const(_) | Op::Slot(_) | Op::At(_) => Reg::Zero,
            Op::Table(k) => {
                self.module.tables.get(*k as usize).ok_or("there is no such table")?;
                self.constant.insert(v);
                let r = self.fresh();
                self.push(Inst::Table(r, *k));
                r
            }
            Op::Bin(o, a, b) => self.bin(*o, *a, *b, bits)?,
            Op::Shift(o, a, n) => self.shift(*o, *a, *n, bits),
            Op::Cmp(o, a, b) => self.compare(*o, *a, *b),
            Op::Select(c, a, b) => self.choose(*c, *a, *b),
            Op::Convert(how, a) => self.convert(*how, *a, bits),
            Op::Load { bytes, signed, at } => {
                let (base, offset) = self.address(at);
                let name = match (bytes, signed) {
                    (1, true) => "lb",
                    (1, false) => "lbu",
                    (2, true) => "lh",
                    (2, false) => "lhu",
                    // In a word of as many bits there is nothing to extend; in a register its sign is.
                    (4, signed) => if *signed || bits == 32 { "lw" } else { "lwu" },
                    _ => "ld",
                };
                let r = self.fresh();
                self.push(if self.constant.contains(&at.base) { Inst::Again(name, r, base, offset) } else { Inst::Load(name, r, base, offset) });
                r
            }
        };
        self.regs.insert(v, found);
        Ok(())
    }
}
