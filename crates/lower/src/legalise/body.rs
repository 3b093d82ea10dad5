//! The function under construction: values and their types, blocks that are open, slots, where each local is.
//! Trusted: nothing: nothing that ships is made of it.

use super::homes::{homes, Home};
use super::number::{word_of, Num, Rep};
use super::described::described;
use super::shared::{param, Shared, Signature};
use crate::data::{Address, Inst, Op, Param, Slot, Type, Value};
use crate::layout::{Layout, Scalar};
use num_bigint::BigInt;
use crate::notes::Notes;
use santoku_ir::{Func, Len, Loc, LocalId, LocalKind};
use std::collections::BTreeMap;

pub(crate) type Res<T> = Result<T, String>;

/// A number that has a name of its own: a local that is a scalar, or one of those in a local that is kept in names.
pub(crate) type Key = (LocalId, u32);

/// Bytes of a local array of run-time length.
const LOCAL_MAX: u64 = 1 << 16;

pub(crate) struct Body<'s, 'p> {
    pub shared: &'s mut Shared<'p>,
    pub func: &'p Func,
    types: Vec<Type>,
    open: Vec<Vec<Inst>>,
    slots: Vec<Slot>,
    pub homes: Vec<Home>,
    /// What each number is now.
    pub now: BTreeMap<Key, Num>,
    /// Where locals in memory lie.
    pub bases: BTreeMap<LocalId, Value>,
    /// Known values, by name.
    known: BTreeMap<Value, u128>,
    /// The statement at work.
    pub here: Loc,
    notes: Notes,
}

impl<'s, 'p> Body<'s, 'p> {
    pub fn new(shared: &'s mut Shared<'p>, func: &Func) -> Res<Body<'s, 'p>> {
        let program = shared.program;
        let at = program.funcs.iter().position(|f| std::ptr::eq(f, func)).ok_or("a function of another program")?;
        let func = &program.funcs[at];
        let homes = homes(program, func, shared.spread)?;
        let notes = Notes { place: shared.note(func.loc), ..Notes::default() };
        Ok(Body {
            shared,
            func,
            types: vec![],
            open: vec![vec![]],
            slots: vec![],
            homes,
            now: BTreeMap::new(),
            bases: BTreeMap::new(),
            known: BTreeMap::new(),
            here: Loc::default(),
            notes,
        })
    }

    pub fn finish(mut self) -> (Vec<Inst>, Vec<Slot>, Notes) {
        (self.open.pop().unwrap_or_default(), self.slots, self.notes)
    }

    /// A new name.
    pub fn fresh(&mut self, ty: Type) -> Value {
        self.types.push(ty);
        let v = Value(self.types.len() as u32 - 1);
        self.notes.copy(v.0, self.shared.note(self.here).as_ref());
        v
    }

    /// These words are what a variable is from here on, unless they are another's already.
    pub fn note(&mut self, key: Key, n: &Num) {
        let text = described(self.shared.program, self.func.local(key.0), key.1);
        let several = n.words.len() > 1;
        for (k, v) in n.words.iter().enumerate() {
            if let Some(note) = self.notes.values.get_mut(&v.0).filter(|n| n.variable.is_none()) {
                note.variable = Some(if several { format!("word {k} of {text}").into() } else { text.as_str().into() });
            }
        }
    }

    pub fn ty(&self, v: Value) -> Type {
        self.types[v.0 as usize]
    }

    pub fn push(&mut self, inst: Inst) {
        if let Some(block) = self.open.last_mut() {
            block.push(inst);
        }
    }

    /// Instructions that go into a block of their own.
    pub fn within<T>(&mut self, make: impl FnOnce(&mut Self) -> Res<T>) -> Res<(Vec<Inst>, T)> {
        self.open.push(vec![]);
        let made = make(self);
        let insts = self.open.pop().unwrap_or_default();
        Ok((insts, made?))
    }

    /// One operation that gives one word of so many bits, as secret as its operands.
    pub fn word(&mut self, op: Op, bits: u32) -> Value {
        let secret = op.operands().iter().any(|v| self.ty(*v).secret);
        let v = self.fresh(Type::word(bits, secret));
        if let Op::Const(n) = op {
            self.known.insert(v, n);
        }
        self.push(Inst::Let { dst: vec![(v, self.ty(v))], op });
        v
    }

    /// One that gives two.
    pub fn two(&mut self, op: Op, bits: u32) -> (Value, Value) {
        let secret = op.operands().iter().any(|v| self.ty(*v).secret);
        let ty = Type::word(bits, secret);
        let (a, b) = (self.fresh(ty), self.fresh(ty));
        self.push(Inst::Let { dst: vec![(a, ty), (b, ty)], op });
        (a, b)
    }

    pub fn pointer(&mut self, op: Op, secret: bool) -> Value {
        let v = self.fresh(Type::ptr(secret));
        self.push(Inst::Let { dst: vec![(v, Type::ptr(secret))], op });
        v
    }

    pub fn constant(&mut self, n: u128, bits: u32) -> Value {
        self.word(Op::Const(n), bits)
    }

    pub fn known(&self, v: Value) -> Option<u128> {
        self.known.get(&v).copied()
    }

    /// A constant number.
    pub fn number(&mut self, n: &BigInt, rep: Rep) -> Num {
        let words = (0..rep.words as u32).map(|k| self.constant(word_of(n, k * rep.bits, rep.bits), rep.bits)).collect();
        Num { words, bits: rep.bits, signed: rep.signed }
    }

    pub fn secret(&self, n: &Num) -> bool {
        n.words.iter().any(|v| self.ty(*v).secret)
    }

    /// Memory of the call's own, and its address.
    pub fn slot(&mut self, name: &str, layout: &Layout, secret: bool) -> Res<Value> {
        let bytes = self.greatest(layout).ok_or_else(|| format!("`{name}` has a run-time length and no storage"))?;
        let k = self.slots.len() as u32;
        self.slots.push(Slot { name: name.into(), bytes: bytes.max(1), align: layout.align(), secret });
        Ok(self.pointer(Op::Slot(k), secret))
    }

    /// Bytes for the greatest length that is declared, as long as they are few.
    fn greatest(&self, layout: &Layout) -> Option<u64> {
        let Layout::Array { elem, len: Len::Param { param, add } } = layout else { return layout.bytes() };
        let most = crate::layout::range_of(&self.func.local(*param).ty)?.hi.to_u64()?.checked_add_signed(*add)?;
        most.checked_mul(elem.bytes()?).filter(|n| *n <= LOCAL_MAX)
    }

    pub fn rep(&self, s: &Scalar) -> Rep {
        self.shared.words.fit(&s.range)
    }

    /// The words of a number in memory, the lowest first: each with its size and its distance from the number's own address.
    fn parts(&self, s: &Scalar, rep: Rep) -> Vec<(u32, i64)> {
        let word = rep.bits / 8;
        let count = s.bytes.div_ceil(word).max(1);
        let size = s.bytes.min(word);
        (0..count).map(|k| (size, i64::from(size * if self.shared.big_endian { count - 1 - k } else { k }))).collect()
    }

    pub fn load(&mut self, s: &Scalar, at: Address) -> Num {
        let rep = self.rep(s);
        let secret = self.ty(at.base).secret;
        let mut words: Vec<Value> = vec![];
        for (bytes, offset) in self.parts(s, rep).into_iter().take(rep.words) {
            let v = self.fresh(Type::word(rep.bits, secret));
            let op = Op::Load { bytes, signed: s.signed, at: at.plus(offset) };
            self.push(Inst::Let { dst: vec![(v, self.ty(v))], op });
            words.push(v);
        }
        Num { words, bits: rep.bits, signed: rep.signed }
    }

    pub fn store(&mut self, s: &Scalar, at: Address, n: &Num) -> Res<()> {
        // As many bits as lie there, whatever the range says.
        let all = self.shared.words.fit(&if s.signed { crate::layout::signed_range(8 * s.bytes) } else { santoku_ir::Range::word(8 * s.bytes) });
        let n = self.converted(n, all);
        for ((bytes, offset), v) in self.parts(s, all).into_iter().zip(n.words) {
            self.push(Inst::Store { bytes, at: at.plus(offset), value: v });
        }
        Ok(())
    }

    /// Names what the function gets.
    pub fn parameters(&mut self, signature: &Signature, params: &mut Vec<Param>) -> Res<()> {
        let f = self.func;
        for id in f.rets.iter().filter(|_| !signature.returns) {
            let l = f.local(*id);
            let v = self.fresh(Type::ptr(!l.public));
            params.push(param(v, self.ty(v), &l.name, true));
            self.bases.insert(*id, v);
        }
        for id in f.lens.iter().chain(&f.params) {
            let l = f.local(*id);
            if !l.ty.is_scalar() {
                let v = self.fresh(Type::ptr(!l.public));
                params.push(param(v, self.ty(v), &l.name, false));
                self.bases.insert(*id, v);
                continue;
            }
            let rep = self.rep_of(&l.ty)?;
            let secret = !l.public && l.kind != LocalKind::Len;
            let words: Vec<Value> = (0..rep.words).map(|_| self.fresh(Type::word(rep.bits, secret))).collect();
            params.extend(words.iter().map(|v| param(*v, self.ty(*v), &l.name, false)));
            if let (LocalKind::Len, Some(p)) = (l.kind, params.last_mut()) {
                p.most = crate::layout::range_of(&l.ty).and_then(|r| r.hi.to_u64());
            }
            self.now.insert((*id, 0), Num { words, bits: rep.bits, signed: rep.signed });
        }
        Ok(())
    }

    pub fn slots_of_locals(&mut self) -> Res<()> {
        for k in 0..self.func.locals.len() {
            let (id, l) = (LocalId(k as u32), &self.func.locals[k]);
            if l.kind == LocalKind::Var && self.homes[k] == Home::Memory {
                let layout = Layout::of(self.shared.program, &l.ty)?;
                let base = self.slot(&l.name, &layout, !l.public)?;
                self.bases.insert(id, base);
            }
        }
        Ok(())
    }

    /// What the function returns; results in names that others get in memory are stored.
    pub fn results(&mut self, signature: &Signature) -> Res<Vec<Value>> {
        let f = self.func;
        if signature.returns {
            return Ok(self.read_key((f.rets[0], 0))?.words);
        }
        for id in f.rets.iter().filter(|id| f.local(**id).ty.is_scalar()) {
            let n = self.read_key((*id, 0))?;
            let s = self.promoted(*id)?;
            self.store(&s, Address::of(self.bases[id]), &n)?;
        }
        Ok(vec![])
    }

    /// How a number lies in memory that a callee writes it to: in no less than 32 bits.
    pub fn promoted(&self, id: LocalId) -> Res<Scalar> {
        let range = crate::layout::range_of(&self.func.local(id).ty).ok_or("an integer without a range")?;
        Scalar::of(&range, 32).ok_or_else(|| "a number of more than 128 bits".into())
    }
}
