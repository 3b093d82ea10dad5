//! Instructions for each operation of the lowered IR.
//!
//! A word narrower than a register is held with its sign extended, as the psABI has it.
//! Trusted: nothing: the certifier looks at the bytes.

use crate::code::{small, Base, Code, Inst, Label, Reg};
use crate::options::Options;
use santoku_lower::{Address, BinOp, Block, CmpOp, ConvertOp, For, Func, Inst as Low, Kind, Module, Named, Op, ShiftOp, Value};
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
    options: &'m Options,
    code: Code,
    regs: BTreeMap<Value, Reg>,
    known: BTreeMap<Value, Known>,
    bits: BTreeMap<Value, u32>,
    used: BTreeSet<Value>,
    labels: u32,
}

pub fn select(module: &Module, f: &Func, options: &Options) -> Res<Code> {
    let mut s = Select {
        module,
        options,
        code: Code { slots: f.slots.iter().map(|s| (s.bytes, s.align)).collect(), ..Code::default() },
        regs: BTreeMap::new(),
        known: BTreeMap::new(),
        bits: BTreeMap::new(),
        used: BTreeSet::new(),
        labels: 0,
    };
    uses(&f.body, &mut s.used);
    let params: Vec<Reg> = f.params.iter().map(|p| s.named(&(p.value, p.ty))).collect();
    s.push(Inst::Enter(params.clone()));
    let stop = s.lengths(f, &params);
    s.block(&f.body)?;
    let results = f.body.yields.iter().map(|v| s.reg(*v)).collect();
    s.push(Inst::Return(results));
    if let Some(stop) = stop {
        s.push(Inst::Label(stop));
        s.push(Inst::Stop);
    }
    Ok(s.code)
}

/// Values that something reads.
fn uses(b: &Block, used: &mut BTreeSet<Value>) {
    used.extend(&b.yields);
    for i in &b.insts {
        match i {
            Low::Let { op, .. } => used.extend(op.operands()),
            Low::Store { at, value, .. } => used.extend(at.operands().chain([*value])),
            Low::Copy { to, from, count } => used.extend(to.operands().chain(from.operands()).chain(count.times.map(|t| t.0))),
            Low::Call { args, .. } => used.extend(args),
            Low::If { cond, then, els, .. } => {
                used.insert(*cond);
                uses(then, used);
                uses(els, used);
            }
            Low::For(f) => {
                used.extend([f.lo, f.hi]);
                used.extend(f.carried.iter().map(|c| c.1));
                uses(&f.body, used);
            }
        }
    }
}

impl Select<'_> {
    /// Lengths that others give are checked first, in all of the register: where one that is too great leads.
    fn lengths(&mut self, f: &Func, params: &[Reg]) -> Option<Label> {
        let mut stop = None;
        for (p, r) in f.params.iter().zip(params).filter(|_| f.export.is_some()) {
            let Some(most) = p.most else { continue };
            let label = *stop.get_or_insert_with(|| {
                self.labels += 1;
                Label(self.labels - 1)
            });
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
            Some(Known::Const(n)) => {
                let r = self.fresh();
                self.push(Inst::Li(r, n));
                r
            }
            Some(Known::Slot(k, offset)) => {
                let r = self.fresh();
                self.push(Inst::Slot(r, k, offset));
                r
            }
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
        b.insts.iter().try_for_each(|i| self.inst(i))
    }

    fn inst(&mut self, i: &Low) -> Res<()> {
        match i {
            Low::Let { dst, op } => self.operation(dst, op),
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

    fn branch(&mut self, cond: Value, dst: &[Named], (then, els): (&Block, &Block)) -> Res<()> {
        let (other, end) = (self.label(), self.label());
        let c = self.reg(cond);
        let to: Vec<Reg> = dst.iter().map(|d| self.named(d)).collect();
        self.push(Inst::Branch("beq", c, Reg::Zero, other));
        self.block(then)?;
        self.hand_on(&to, &then.yields);
        self.push(Inst::Jump(end));
        self.push(Inst::Label(other));
        self.block(els)?;
        self.hand_on(&to, &els.yields);
        self.push(Inst::Label(end));
        Ok(())
    }

    fn hand_on(&mut self, to: &[Reg], from: &[Value]) {
        let from: Vec<Reg> = from.iter().map(|v| self.reg(*v)).collect();
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
        self.push(Inst::Branch(beyond, a, b, end));
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

    fn number(&mut self, n: i64) -> Reg {
        let r = self.fresh();
        self.push(Inst::Li(r, n));
        r
    }

    fn plus(&mut self, r: Reg, n: i64) -> Reg {
        if small(n) {
            return self.imm("addi", r, n);
        }
        let k = self.number(n);
        self.three("add", r, k)
    }

    /// A word without a sign, as wide as a register, times a factor.
    fn scaled(&mut self, v: Value, scale: u64) -> Reg {
        let r = self.reg(v);
        let up = i64::from(self.xlen() - self.bits.get(&v).copied().unwrap_or(self.xlen()));
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
        let mut base = self.reg(a.base);
        if let Some((v, scale)) = index {
            let v = self.scaled(v, scale);
            base = self.three("add", base, v);
        }
        if small(offset) {
            return (Base::Reg(base), offset);
        }
        (Base::Reg(self.plus(base, offset)), 0)
    }

    fn pointer(&mut self, a: &Address) -> Reg {
        match self.address(a) {
            (Base::Reg(r), 0) => r,
            (Base::Reg(r), offset) => self.plus(r, offset),
            (Base::Slot(k), offset) => {
                let r = self.fresh();
                self.push(Inst::Slot(r, k, offset));
                r
            }
        }
    }

    fn operation(&mut self, dst: &[Named], op: &Op) -> Res<()> {
        if dst.iter().all(|d| !self.used.contains(&d.0)) {
            return Ok(());
        }
        let (v, ty) = dst[0];
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
                if let (Base::Slot(k), offset) = self.address(a) {
                    self.known.insert(v, Known::Slot(k, offset));
                    return Ok(());
                }
            }
            _ => {}
        }
        let found = match op {
            Op::AddCarry(a, b, c) => return self.add_carry(dst, (*a, *b, *c), bits),
            Op::SubBorrow(a, b, c) => return self.sub_borrow(dst, (*a, *b, *c), bits),
            Op::Const(_) | Op::Slot(_) => Reg::Zero,
            Op::Table(k) => {
                self.module.tables.get(*k as usize).ok_or("there is no such table")?;
                let r = self.fresh();
                self.push(Inst::Table(r, *k));
                r
            }
            Op::At(a) => self.pointer(a),
            Op::Bin(o, a, b) => self.bin(*o, *a, *b, bits)?,
            Op::Shift(o, a, n) => self.shift(*o, *a, *n, bits),
            Op::Cmp(o, a, b) => self.compare(*o, *a, *b),
            Op::Select(c, a, b) => self.choose(*c, *a, *b),
            Op::Convert(how, a) => self.convert(*how, *a),
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
                self.push(Inst::Load(name, r, base, offset));
                r
            }
        };
        self.regs.insert(v, found);
        Ok(())
    }

    fn bin(&mut self, op: BinOp, a: Value, b: Value, bits: u32) -> Res<Reg> {
        // The immediate is the second operand.
        let (a, b) = match op {
            BinOp::Add | BinOp::And | BinOp::Or | BinOp::Xor if self.constant(a).is_some() => (b, a),
            _ => (a, b),
        };
        if let Some(n) = self.constant(b) {
            let immediate = match op {
                BinOp::Add => Some((self.sized(bits, "addi", "addiw"), n)),
                BinOp::Sub => Some((self.sized(bits, "addi", "addiw"), n.wrapping_neg())),
                BinOp::And => Some(("andi", n)),
                BinOp::Or => Some(("ori", n)),
                BinOp::Xor => Some(("xori", n)),
                _ => None,
            };
            if let Some((name, n)) = immediate.filter(|i| small(i.1)) {
                let x = self.reg(a);
                return Ok(if n == 0 && name != "andi" && bits == self.xlen() { x } else { self.imm(name, x, n) });
            }
            // As many low bits as a mask has.
            if let (BinOp::And, Some(k)) = (op, mask_bits(n).filter(|k| *k < bits)) {
                let x = self.reg(a);
                let rest = i64::from(self.xlen() - k);
                let high = self.imm("slli", x, rest);
                return Ok(self.imm("srli", high, rest));
            }
        }
        let (x, y) = (self.reg(a), self.reg(b));
        let half = bits < self.xlen();
        let name = match op {
            BinOp::Add => self.sized(bits, "add", "addw"),
            BinOp::Sub => self.sized(bits, "sub", "subw"),
            BinOp::Mul => self.sized(bits, "mul", "mulw"),
            BinOp::And => "and",
            BinOp::Or => "or",
            BinOp::Xor => "xor",
            BinOp::DivU => self.sized(bits, "divu", "divuw"),
            BinOp::RemU => self.sized(bits, "remu", "remuw"),
            BinOp::MulHu | BinOp::MulHs | BinOp::MulHsu if half => return Err("the high half of a product of half registers".into()),
            BinOp::MulHu => "mulhu",
            BinOp::MulHs => "mulh",
            BinOp::MulHsu => "mulhsu",
        };
        Ok(self.three(name, x, y))
    }

    fn shift(&mut self, op: ShiftOp, a: Value, n: Value, bits: u32) -> Reg {
        let x = self.reg(a);
        if let Some(n) = self.constant(n) {
            return self.shift_by(op, x, n, bits);
        }
        let n = self.reg(n);
        let turn = |s: &mut Self, there: &'static str, back: &'static str| {
            // Shifts look at the low bits of the count alone.
            let rest = s.three("sub", Reg::Zero, n);
            let (high, low) = (s.three(there, x, n), s.three(back, x, rest));
            s.three("or", high, low)
        };
        let (left, right) = (self.sized(bits, "sll", "sllw"), self.sized(bits, "srl", "srlw"));
        match op {
            ShiftOp::Shl => self.three(left, x, n),
            ShiftOp::ShrU => self.three(right, x, n),
            ShiftOp::ShrS => self.three(self.sized(bits, "sra", "sraw"), x, n),
            ShiftOp::RotL if self.options.zbb => self.three(self.sized(bits, "rol", "rolw"), x, n),
            ShiftOp::RotR if self.options.zbb => self.three(self.sized(bits, "ror", "rorw"), x, n),
            ShiftOp::RotL => turn(self, left, right),
            ShiftOp::RotR => turn(self, right, left),
        }
    }

    fn shift_by(&mut self, op: ShiftOp, x: Reg, n: i64, bits: u32) -> Reg {
        if n == 0 {
            return x;
        }
        let (left, right) = (self.sized(bits, "slli", "slliw"), self.sized(bits, "srli", "srliw"));
        let rest = i64::from(bits) - n;
        let (there, back) = match op {
            ShiftOp::Shl => return self.imm(left, x, n),
            ShiftOp::ShrU => return self.imm(right, x, n),
            ShiftOp::ShrS => return self.imm(self.sized(bits, "srai", "sraiw"), x, n),
            ShiftOp::RotL => (n, rest),
            ShiftOp::RotR => (rest, n),
        };
        if self.options.zbb {
            return self.imm(self.sized(bits, "rori", "roriw"), x, back);
        }
        let (high, low) = (self.imm(left, x, there), self.imm(right, x, back));
        self.three("or", high, low)
    }

    fn compare(&mut self, op: CmpOp, a: Value, b: Value) -> Reg {
        if let (CmpOp::LtU | CmpOp::LtS, Some(n)) = (op, self.constant(b).filter(|n| small(*n))) {
            let x = self.reg(a);
            return self.imm(if op == CmpOp::LtU { "sltiu" } else { "slti" }, x, n);
        }
        let (x, y) = (self.reg(a), self.reg(b));
        match op {
            CmpOp::LtU => self.three("sltu", x, y),
            CmpOp::LtS => self.three("slt", x, y),
            CmpOp::Eq | CmpOp::Ne => {
                let d = match y {
                    Reg::Zero => x,
                    _ => self.three("xor", x, y),
                };
                if op == CmpOp::Eq { self.imm("sltiu", d, 1) } else { self.three("sltu", Reg::Zero, d) }
            }
        }
    }

    /// By a mask: no branch.
    fn choose(&mut self, c: Value, a: Value, b: Value) -> Reg {
        let c = self.reg(c);
        let (x, y) = (self.reg(a), self.reg(b));
        let mask = self.three("sub", Reg::Zero, c);
        let differ = self.three("xor", x, y);
        let taken = self.three("and", differ, mask);
        self.three("xor", taken, y)
    }

    fn convert(&mut self, how: ConvertOp, a: Value) -> Reg {
        let x = self.reg(a);
        let from = self.bits.get(&a).copied().unwrap_or(self.xlen());
        match how {
            ConvertOp::Zext => {
                let up = i64::from(self.xlen() - from);
                let high = self.imm("slli", x, up);
                self.imm("srli", high, up)
            }
            // It is held so.
            ConvertOp::Sext => x,
            ConvertOp::Trunc => self.imm("addiw", x, 0),
        }
    }

    fn add_carry(&mut self, dst: &[Named], (a, b, c): (Value, Value, Value), bits: u32) -> Res<()> {
        let wants_carry = self.used.contains(&dst[1].0);
        let add = self.sized(bits, "add", "addw");
        let (x, y) = (self.reg(a), self.reg(b));
        let first = self.three(add, x, y);
        let over = wants_carry.then(|| self.three("sltu", first, x));
        let (sum, carry) = match self.constant(c) {
            Some(0) => (first, over),
            _ => {
                let c = self.reg(c);
                let sum = self.three(add, first, c);
                let more = wants_carry.then(|| self.three("sltu", sum, c));
                (sum, over.zip(more).map(|(o, m)| self.three("or", o, m)))
            }
        };
        self.both(dst, sum, carry, bits);
        Ok(())
    }

    fn sub_borrow(&mut self, dst: &[Named], (a, b, c): (Value, Value, Value), bits: u32) -> Res<()> {
        let wants_borrow = self.used.contains(&dst[1].0);
        let sub = self.sized(bits, "sub", "subw");
        let (x, y) = (self.reg(a), self.reg(b));
        let wants_first = self.used.contains(&dst[0].0) || self.constant(c) != Some(0);
        let first = if wants_first { self.three(sub, x, y) } else { Reg::Zero };
        let under = wants_borrow.then(|| self.three("sltu", x, y));
        let (difference, borrow) = match self.constant(c) {
            Some(0) => (first, under),
            _ => {
                let c = self.reg(c);
                let more = wants_borrow.then(|| self.three("sltu", first, c));
                let difference = self.three(sub, first, c);
                (difference, under.zip(more).map(|(u, m)| self.three("or", u, m)))
            }
        };
        self.both(dst, difference, borrow, bits);
        Ok(())
    }

    fn both(&mut self, dst: &[Named], first: Reg, second: Option<Reg>, bits: u32) {
        self.regs.insert(dst[0].0, first);
        self.regs.insert(dst[1].0, second.unwrap_or(Reg::Zero));
        self.bits.extend(dst.iter().map(|d| (d.0, bits)));
    }
}

/// `k` of `2^k - 1`.
fn mask_bits(n: i64) -> Option<u32> {
    let n = u64::try_from(n).ok()?;
    (n & n.wrapping_add(1) == 0 && n > 0).then(|| n.count_ones())
}
