//! Executes functions of a module, in any domain of values in which branches, bounds and addresses are numbers.
//!
//! Needs: a module that [`crate::verify`] accepts.  Keeps: one rule for each operation, whatever the domain.  Absent: how long anything takes.
//! Trusted: nothing: nothing that ships is made of it.

pub use crate::memory::{At, Memory, Object};

use crate::data::{Address, BinOp, Block, CmpOp, ConvertOp, Count, For, Inst, Kind, Module, Named, Op, ShiftOp, Value};
use santoku_isa::{Domain, Word, Words};
use std::collections::BTreeMap;

/// A domain whose public values are numbers.
pub trait Numbers: Domain {
    /// The value, if it is one.
    fn number(&self, v: &Self::V) -> Option<Word>;
}

impl Numbers for Words {
    fn number(&self, v: &Word) -> Option<Word> {
        Some(*v)
    }
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Held<V> {
    Word(V),
    Ptr(At),
}

type Res<T> = Result<T, String>;

/// Instructions, where nothing else was said.
const STEPS_MAX: u64 = 1 << 28;

/// Executes calls of one module on one memory.
pub struct Exec<'m, D: Numbers> {
    pub module: &'m Module,
    pub domain: D,
    pub memory: Memory<D>,
    /// Instructions that may still be executed.
    pub steps: u64,
    tables: Vec<Object>,
}

struct Frame<V> {
    slots: Vec<Object>,
    values: BTreeMap<Value, Held<V>>,
}

impl<'m, D: Numbers> Exec<'m, D> {
    pub fn new(module: &'m Module, mut domain: D) -> Exec<'m, D> {
        let mut memory = Memory::new(module.machine.big_endian);
        let tables = module.tables.iter().map(|t| memory.filled(&mut domain, &t.name, &t.bytes, t.align, false)).collect();
        Exec { module, domain, memory, steps: STEPS_MAX, tables }
    }

    /// Results of a function.
    ///
    /// # Errors
    /// What the function does that no program may do, or a branch that the domain does not decide.
    pub fn call(&mut self, func: u32, args: Vec<Held<D::V>>) -> Res<Vec<Held<D::V>>> {
        let f = self.module.funcs.get(func as usize).ok_or("there is no such function")?;
        let before = self.memory.len();
        let slots = f.slots.iter().map(|s| self.memory.object(&s.name, s.bytes, s.align)).collect();
        let values = f.params.iter().map(|p| p.value).zip(args).collect();
        let mut frame = Frame { slots, values };
        let out = self.block(&mut frame, &f.body).map_err(|why| if why.contains(", in `") { why } else { format!("{why}, in `{}`", f.name) })?;
        self.memory.keep(before);
        Ok(out)
    }

    fn block(&mut self, frame: &mut Frame<D::V>, b: &'m Block) -> Res<Vec<Held<D::V>>> {
        for i in &b.insts {
            self.steps = self.steps.checked_sub(1).ok_or("too many steps")?;
            self.inst(frame, i)?;
        }
        b.yields.iter().map(|v| frame.held(*v).cloned()).collect()
    }

    fn inst(&mut self, frame: &mut Frame<D::V>, i: &'m Inst) -> Res<()> {
        match i {
            Inst::Let { dst, op } => {
                let values = self.op(frame, op, dst)?;
                frame.values.extend(dst.iter().map(|d| d.0).zip(values));
            }
            Inst::Store { bytes, at, value } => {
                let at = self.address(frame, at)?;
                let v = frame.word(*value)?.clone();
                let low = self.domain.extract(&v, 0, 8 * bytes);
                self.memory.store(at, *bytes, &low)?;
            }
            Inst::Copy { to, from, count } => {
                let (to, from) = (self.address(frame, to)?, self.address(frame, from)?);
                let n = self.count(frame, count)?;
                self.memory.copy(to, from, n)?;
            }
            Inst::Call { dst, func, args } => {
                let args = args.iter().map(|a| frame.held(*a).cloned()).collect::<Res<_>>()?;
                let results = self.call(*func, args)?;
                frame.values.extend(dst.iter().map(|d| d.0).zip(results));
            }
            Inst::If { cond, dst, then, els } => {
                let taken = self.number(frame, *cond)?.bits;
                let results = self.block(frame, if taken == 1 { then } else { els })?;
                frame.values.extend(dst.iter().map(|d| d.0).zip(results));
            }
            Inst::For(f) => self.rounds(frame, f)?,
        }
        Ok(())
    }

    fn rounds(&mut self, frame: &mut Frame<D::V>, f: &'m For) -> Res<()> {
        let value = |w: Word| if f.signed { w.signed() } else { w.bits as i128 };
        let (lo, hi) = (self.number(frame, f.lo)?, self.number(frame, f.hi)?);
        let width = lo.width;
        let (lo, hi) = (value(lo), value(hi));
        let mut handed: Vec<Held<D::V>> = f.carried.iter().map(|(_, first)| frame.held(*first).cloned()).collect::<Res<_>>()?;
        for k in 0..(hi - lo).max(0) {
            let at = if f.rev { hi - 1 - k } else { lo + k };
            let at = self.domain.constant(Word::new(at as u128, width).bits, width);
            frame.values.insert(f.counter.0, Held::Word(at));
            frame.values.extend(f.carried.iter().map(|(n, _)| n.0).zip(handed));
            handed = self.block(frame, &f.body)?;
        }
        frame.values.extend(f.dst.iter().map(|d| d.0).zip(handed));
        Ok(())
    }

    fn number(&self, frame: &Frame<D::V>, v: Value) -> Res<Word> {
        self.domain.number(frame.word(v)?).ok_or_else(|| format!("%{} is no number", v.0))
    }

    fn address(&self, frame: &Frame<D::V>, a: &Address) -> Res<At> {
        let Held::Ptr(base) = frame.held(a.base)? else { return Err(format!("%{} is no address", a.base.0)) };
        let index = match a.index {
            Some((v, scale)) => i64::try_from(self.number(frame, v)?.bits).ok().and_then(|n| n.checked_mul(scale as i64)).ok_or("an index beyond all memory")?,
            None => 0,
        };
        Ok(At { offset: base.offset + index + a.offset, ..*base })
    }

    fn count(&self, frame: &Frame<D::V>, c: &Count) -> Res<u64> {
        let times = match c.times {
            Some((v, times)) => self.number(frame, v)?.bits as i64 * times as i64,
            None => 0,
        };
        u64::try_from(times + c.plus).map_err(|_| "a count below nothing".into())
    }

    fn op(&mut self, frame: &Frame<D::V>, op: &Op, dst: &[Named]) -> Res<Vec<Held<D::V>>> {
        let bits = match dst.first().map(|d| d.1.kind) {
            Some(Kind::Word(bits)) => bits,
            _ => 0,
        };
        let word = |v: &Value| frame.word(*v).cloned();
        let one = |v| Ok(vec![Held::Word(v)]);
        match op {
            Op::Const(v) => one(self.domain.constant(*v, bits)),
            Op::Slot(k) => Ok(vec![Held::Ptr(At { object: frame.slots[*k as usize], offset: 0 })]),
            Op::Table(k) => Ok(vec![Held::Ptr(At { object: self.tables[*k as usize], offset: 0 })]),
            Op::At(a) => Ok(vec![Held::Ptr(self.address(frame, a)?)]),
            Op::Bin(o, a, b) => one(self.bin(*o, &word(a)?, &word(b)?, bits)),
            Op::Shift(o, a, n) => {
                let n = self.number(frame, *n)?.bits;
                if n >= bits.into() {
                    return Err(format!("a shift by {n} of {bits} bits"));
                }
                let v = word(a)?;
                one(self.shift(*o, &v, n, bits))
            }
            Op::Cmp(o, a, b) => {
                let (a, b) = (word(a)?, word(b)?);
                one(self.compare(*o, &a, &b, bits))
            }
            Op::AddCarry(a, b, c) => {
                let (a, b, c) = (word(a)?, word(b)?, word(c)?);
                let (sum, carry) = self.add_carry(&a, &b, &c, bits);
                Ok(vec![Held::Word(sum), Held::Word(carry)])
            }
            Op::SubBorrow(a, b, c) => {
                let (a, b, c) = (word(a)?, word(b)?, word(c)?);
                let (difference, borrow) = self.sub_borrow(&a, &b, &c, bits);
                Ok(vec![Held::Word(difference), Held::Word(borrow)])
            }
            Op::Select(c, a, b) => {
                let (c, a, b) = (word(c)?, word(a)?, word(b)?);
                let c = self.domain.extract(&c, 0, 1);
                one(self.domain.ite(&c, &a, &b))
            }
            Op::Convert(how, a) => {
                let a = word(a)?;
                one(match how {
                    ConvertOp::Zext => self.domain.zext(&a, bits),
                    ConvertOp::Sext => self.domain.sext(&a, bits),
                    ConvertOp::Trunc => self.domain.extract(&a, 0, bits),
                })
            }
            Op::Load { bytes, signed, at } => {
                let at = self.address(frame, at)?;
                let v = self.memory.load(&mut self.domain, at, *bytes)?;
                one(if *signed { self.domain.sext(&v, bits) } else { self.domain.zext(&v, bits) })
            }
        }
    }

    fn bin(&mut self, op: BinOp, a: &D::V, b: &D::V, bits: u32) -> D::V {
        let d = &mut self.domain;
        let high = |d: &mut D, a: D::V, b: D::V| {
            let product = d.mul(&a, &b);
            d.extract(&product, bits, bits)
        };
        match op {
            BinOp::Add => d.add(a, b),
            BinOp::Sub => d.sub(a, b),
            BinOp::Mul => d.mul(a, b),
            BinOp::And => d.and(a, b),
            BinOp::Or => d.or(a, b),
            BinOp::Xor => d.xor(a, b),
            BinOp::DivU => d.udiv(a, b),
            BinOp::RemU => d.urem(a, b),
            BinOp::MulHu => {
                let (a, b) = (d.zext(a, 2 * bits), d.zext(b, 2 * bits));
                high(d, a, b)
            }
            BinOp::MulHs => {
                let (a, b) = (d.sext(a, 2 * bits), d.sext(b, 2 * bits));
                high(d, a, b)
            }
            BinOp::MulHsu => {
                let (a, b) = (d.sext(a, 2 * bits), d.zext(b, 2 * bits));
                high(d, a, b)
            }
        }
    }

    fn shift(&mut self, op: ShiftOp, a: &D::V, n: u128, bits: u32) -> D::V {
        let d = &mut self.domain;
        let (count, rest) = (d.constant(n, bits), d.constant((u128::from(bits) - n) % u128::from(bits), bits));
        let turned = |d: &mut D, up: &D::V, down: &D::V| {
            let (high, low) = (d.shl(a, up), d.lshr(a, down));
            d.or(&high, &low)
        };
        match op {
            ShiftOp::Shl => d.shl(a, &count),
            ShiftOp::ShrU => d.lshr(a, &count),
            ShiftOp::ShrS => d.ashr(a, &count),
            ShiftOp::RotL | ShiftOp::RotR if n == 0 => a.clone(),
            ShiftOp::RotL => turned(d, &count, &rest),
            ShiftOp::RotR => turned(d, &rest, &count),
        }
    }

    fn compare(&mut self, op: CmpOp, a: &D::V, b: &D::V, bits: u32) -> D::V {
        let d = &mut self.domain;
        let one = match op {
            CmpOp::Eq => d.eq(a, b),
            CmpOp::Ne => {
                let same = d.eq(a, b);
                d.not(&same)
            }
            CmpOp::LtU => d.ult(a, b),
            CmpOp::LtS => d.slt(a, b),
        };
        d.zext(&one, bits)
    }

    fn add_carry(&mut self, a: &D::V, b: &D::V, c: &D::V, bits: u32) -> (D::V, D::V) {
        let d = &mut self.domain;
        let first = d.add(a, b);
        let sum = d.add(&first, c);
        let (over, more) = (d.ult(&first, a), d.ult(&sum, c));
        let carry = d.or(&over, &more);
        (sum, d.zext(&carry, bits))
    }

    fn sub_borrow(&mut self, a: &D::V, b: &D::V, c: &D::V, bits: u32) -> (D::V, D::V) {
        let d = &mut self.domain;
        let first = d.sub(a, b);
        let difference = d.sub(&first, c);
        let (under, more) = (d.ult(a, b), d.ult(&first, c));
        let borrow = d.or(&under, &more);
        (difference, d.zext(&borrow, bits))
    }
}

impl<V> Frame<V> {
    fn held(&self, v: Value) -> Res<&Held<V>> {
        self.values.get(&v).ok_or_else(|| format!("%{} has no value", v.0))
    }

    fn word(&self, v: Value) -> Res<&V> {
        match self.held(v)? {
            Held::Word(w) => Ok(w),
            Held::Ptr(_) => Err(format!("%{} is an address", v.0)),
        }
    }
}
