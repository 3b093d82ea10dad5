//! What every module keeps to: names, types, widths, secrecy, calls.
//!
//! Needs: nothing.  Keeps: what it accepts can be executed: no name without a value, no operand of another width, no branch, address, count or
//! division on a secret, no secret where none may lie.  Absent: whether accesses lie in their objects; the executor looks.
//! Trusted: nothing: nothing that ships is made of it.

use crate::data::{Address, BinOp, Block, CmpOp, ConvertOp, Count, For, Func, Inst, Kind, Module, Named, Op, ShiftOp, Type, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What is wrong, in which function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub func: String,
    pub reason: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.func, self.reason)
    }
}

type Res<T> = Result<T, String>;

/// # Errors
/// The first problem.
pub fn verify(module: &Module) -> Result<(), Problem> {
    let words = &module.machine.words;
    let of_module = |reason: String| Problem { func: "the module".into(), reason };
    if words.is_empty() || words.windows(2).any(|w| w[0] >= w[1]) || words.iter().any(|w| ![8, 16, 32, 64, 128].contains(w)) {
        return Err(of_module(format!("the machine's words are {words:?}")));
    }
    if let Some(t) = module.tables.iter().find(|t| !t.align.is_power_of_two()) {
        return Err(of_module(format!("table `{}` lies at multiples of {}", t.name, t.align)));
    }
    (0..module.funcs.len()).try_for_each(|k| verify_one(module, k))
}

/// The same of one function, by its place; those before it are taken as they are.
pub(crate) fn verify_one(module: &Module, k: usize) -> Result<(), Problem> {
    let f = &module.funcs[k];
    let mut v = Verifier { module, func: f, before: k, types: BTreeMap::new(), named: BTreeSet::new(), writable: BTreeSet::new() };
    v.function().map_err(|reason| Problem { func: f.name.clone(), reason })
}

struct Verifier<'m> {
    module: &'m Module,
    func: &'m Func,
    /// Functions that stand before this one.
    before: usize,
    /// Of the values that may be used here.
    types: BTreeMap<Value, Type>,
    /// All names that were given.
    named: BTreeSet<Value>,
    /// Addresses in slots and in what a parameter is given to write.
    writable: BTreeSet<Value>,
}

impl Verifier<'_> {
    fn function(&mut self) -> Res<()> {
        if let Some(s) = self.func.slots.iter().find(|s| !s.align.is_power_of_two() || s.bytes == 0) {
            return Err(format!("slot `{}` has {} bytes at multiples of {}", s.name, s.bytes, s.align));
        }
        for p in &self.func.params {
            self.name(&(p.value, p.ty))?;
            if p.written {
                self.writable.insert(p.value);
            }
        }
        if self.func.results.iter().any(|t| t.kind == Kind::Ptr) {
            return Err("an address is a result".into());
        }
        if self.func.declassifies && !self.func.apart {
            return Err("it declassifies, and may be inlined".into());
        }
        let shown = self.func.declassifies;
        let wanted: Vec<Type> = self.func.results.iter().map(|t| Type { secret: t.secret || shown, ..*t }).collect();
        self.block(&self.func.body, &wanted)
    }

    fn name(&mut self, (v, ty): &Named) -> Res<()> {
        if let Kind::Word(bits) = ty.kind {
            if !self.module.machine.words.contains(&bits) {
                return Err(format!("%{} has {bits} bits, which the machine has not", v.0));
            }
        }
        if !self.named.insert(*v) {
            return Err(format!("%{} is named twice", v.0));
        }
        self.types.insert(*v, *ty);
        Ok(())
    }

    fn ty(&self, v: Value) -> Res<Type> {
        self.types.get(&v).copied().ok_or_else(|| format!("%{} has no value here", v.0))
    }

    fn word(&self, v: Value) -> Res<(u32, bool)> {
        let ty = self.ty(v)?;
        ty.bits().map(|bits| (bits, ty.secret)).ok_or_else(|| format!("%{} is an address where a word is needed", v.0))
    }

    fn public(&self, v: Value, what: &str) -> Res<u32> {
        match self.word(v)? {
            (bits, false) => Ok(bits),
            (_, true) => Err(format!("%{} is secret, and {what}", v.0)),
        }
    }

    /// Whether what lies there is secret.
    fn address(&self, a: &Address) -> Res<bool> {
        let base = self.ty(a.base)?;
        if base.kind != Kind::Ptr {
            return Err(format!("%{} is no address", a.base.0));
        }
        if let Some((v, _)) = a.index {
            self.public(v, "an index")?;
        }
        Ok(base.secret)
    }

    /// Where something is written.
    fn written(&self, a: &Address) -> Res<bool> {
        match self.writable.contains(&a.base) {
            true => self.address(a),
            false => Err(format!("%{} is written to, and is only read", a.base.0)),
        }
    }

    fn count(&self, c: &Count) -> Res<()> {
        c.times.map_or(Ok(()), |(v, _)| self.public(v, "a count").map(drop))
    }

    /// Checks instructions in order, and that the block yields values of these types.
    fn block(&mut self, b: &Block, wanted: &[Type]) -> Res<()> {
        let outer = self.types.clone();
        for i in &b.insts {
            self.inst(i)?;
        }
        if b.yields.len() != wanted.len() {
            return Err(format!("a block yields {} values where {} are wanted", b.yields.len(), wanted.len()));
        }
        for (v, want) in b.yields.iter().zip(wanted) {
            flows(self.ty(*v)?, *want).map_err(|why| format!("%{} is yielded: {why}", v.0))?;
        }
        self.types = outer;
        Ok(())
    }

    fn inst(&mut self, i: &Inst) -> Res<()> {
        match i {
            Inst::Let { dst, op } => {
                let given = self.op(op, dst.first().map(|d| d.1))?;
                if given.len() != dst.len() {
                    return Err(format!("an operation gives {} values, {} are named", given.len(), dst.len()));
                }
                for (d, ty) in dst.iter().zip(given) {
                    flows(ty, d.1).map_err(|why| format!("%{}: {why}", d.0 .0))?;
                    self.name(d)?;
                }
                if matches!(op, Op::Slot(_)) || matches!(op, Op::At(a) if self.writable.contains(&a.base)) {
                    self.writable.extend(dst.iter().map(|d| d.0));
                }
                Ok(())
            }
            Inst::Store { bytes, at, value } => {
                let (bits, secret) = self.word(*value)?;
                size(*bytes, bits)?;
                match secret && !self.written(at)? {
                    true => Err(format!("%{} is secret, and is stored where nothing is", value.0)),
                    false => self.written(at).map(drop),
                }
            }
            Inst::Copy { to, from, count } => {
                self.count(count)?;
                match (self.written(to)?, self.address(from)?) {
                    (false, true) => Err("secrets are copied to where nothing is secret".into()),
                    _ => Ok(()),
                }
            }
            Inst::Call { dst, func, args } => self.call(dst, *func, args),
            Inst::If { cond, dst, then, els } => {
                self.public(*cond, "a branch depends on it")?;
                if dst.iter().any(|d| d.1.kind == Kind::Ptr) {
                    return Err("a branch yields an address".into());
                }
                let wanted: Vec<Type> = dst.iter().map(|d| d.1).collect();
                self.block(then, &wanted)?;
                self.block(els, &wanted)?;
                dst.iter().try_for_each(|d| self.name(d))
            }
            Inst::For(f) => self.rounds(f),
        }
    }

    fn call(&mut self, dst: &[Named], func: u32, args: &[Value]) -> Res<()> {
        let callee = self.module.funcs[..self.before].get(func as usize).ok_or("a function is called that does not stand before this one")?;
        if callee.params.len() != args.len() || callee.results.len() != dst.len() {
            return Err(format!("`{}` is called with {} arguments for {} results", callee.name, args.len(), dst.len()));
        }
        let mut secrets = false;
        for (a, p) in args.iter().zip(&callee.params) {
            secrets |= self.ty(*a)?.secret && !p.written;
        }
        for (a, p) in args.iter().zip(&callee.params) {
            let ty = self.ty(*a)?;
            if p.written && !self.writable.contains(a) {
                return Err(format!("argument `{}` of `{}` is written to, and is only read here", p.name, callee.name));
            }
            // What is only read may be taken for secret; what is computed from public arguments alone is public.
            let loose = p.ty.kind == Kind::Ptr && (!p.written || !secrets);
            flows(if loose { Type { secret: ty.secret || p.ty.secret, ..ty } } else { ty }, p.ty).map_err(|why| format!("argument `{}` of `{}`: {why}", p.name, callee.name))?;
        }
        for (d, ty) in dst.iter().zip(&callee.results) {
            flows(Type { secret: ty.secret && secrets, ..*ty }, d.1).map_err(|why| format!("%{}: {why}", d.0 .0))?;
            self.name(d)?;
        }
        Ok(())
    }

    fn rounds(&mut self, f: &For) -> Res<()> {
        let bits = [self.public(f.lo, "a bound")?, self.public(f.hi, "a bound")?];
        if f.counter.1.secret || bits.iter().any(|b| f.counter.1.bits() != Some(*b)) {
            return Err("the counter and the bounds of a loop are of one width, and public".into());
        }
        for ((_, ty), first) in &f.carried {
            flows(self.ty(*first)?, *ty).map_err(|why| format!("%{} is handed on: {why}", first.0))?;
        }
        if f.carried.iter().any(|(n, _)| n.1.kind == Kind::Ptr) {
            return Err("an address is handed on from round to round".into());
        }
        let outer = self.types.clone();
        self.name(&f.counter)?;
        f.carried.iter().try_for_each(|(n, _)| self.name(n))?;
        let wanted: Vec<Type> = f.carried.iter().map(|(n, _)| n.1).collect();
        self.block(&f.body, &wanted)?;
        self.types = outer;
        if f.dst.len() != wanted.len() {
            return Err("a loop names other values than its rounds hand on".into());
        }
        for (d, ty) in f.dst.iter().zip(wanted) {
            flows(ty, d.1)?;
            self.name(d)?;
        }
        Ok(())
    }

    /// The types of what an operation gives; `into`: of the first value that is named.
    fn op(&self, op: &Op, into: Option<Type>) -> Res<Vec<Type>> {
        let bits = into.and_then(Type::bits).unwrap_or(0);
        let same = |all: &[Value]| -> Res<Type> {
            let types: Vec<(u32, bool)> = all.iter().map(|v| self.word(*v)).collect::<Res<_>>()?;
            match types.iter().any(|t| t.0 != types[0].0) {
                true => Err(format!("{op:?}: operands of different widths")),
                false => Ok(Type::word(types[0].0, types.iter().any(|t| t.1))),
            }
        };
        Ok(vec![match op {
            Op::Const(v) if bits == 0 || bits < 128 && v >> bits != 0 => return Err(format!("{v} does not fit")),
            Op::Const(_) => Type::word(bits, false),
            Op::Slot(k) => Type::ptr(self.func.slots.get(*k as usize).ok_or("there is no such slot")?.secret),
            Op::Table(k) => {
                self.module.tables.get(*k as usize).ok_or("there is no such table")?;
                Type::ptr(false)
            }
            Op::At(a) => Type::ptr(self.address(a)?),
            Op::Bin(BinOp::DivU | BinOp::RemU, a, b) => {
                self.public(*a, "is divided")?;
                self.public(*b, "divides")?;
                same(&[*a, *b])?
            }
            Op::Bin(BinOp::MulHu | BinOp::MulHs | BinOp::MulHsu, ..) if bits > 64 => return Err("the high half of a product of more than 128 bits".into()),
            Op::Bin(_, a, b) => same(&[*a, *b])?,
            Op::Shift(ShiftOp::Shl | ShiftOp::ShrU | ShiftOp::ShrS | ShiftOp::RotL | ShiftOp::RotR, a, n) => {
                self.public(*n, "a count")?;
                same(&[*a])?
            }
            Op::Cmp(CmpOp::Eq | CmpOp::Ne | CmpOp::LtU | CmpOp::LtS, a, b) => same(&[*a, *b])?,
            Op::AddCarry(a, b, c) | Op::SubBorrow(a, b, c) => {
                let ty = same(&[*a, *b, *c])?;
                return Ok(vec![ty, ty]);
            }
            Op::Select(c, a, b) => {
                let (_, secret) = self.word(*c)?;
                let ty = same(&[*a, *b])?;
                Type { secret: ty.secret || secret, ..ty }
            }
            Op::Convert(how, a) => {
                let (from, secret) = self.word(*a)?;
                let fits = if *how == ConvertOp::Trunc { bits < from } else { bits > from };
                if !fits {
                    return Err(format!("{how:?} of {from} bits to {bits}"));
                }
                Type::word(bits, secret)
            }
            Op::Load { bytes, at, .. } => {
                size(*bytes, bits)?;
                Type::word(bits, self.address(at)?)
            }
        }])
    }
}

/// A value of one type may stand where the other is wanted: a public word where a secret one is, not the other way about. Of addresses neither:
/// through the other name, secrets could be written to what is public.
fn flows(from: Type, to: Type) -> Res<()> {
    match (from.kind == to.kind, from.secret, to.secret) {
        (false, ..) => Err(format!("{from:?} where {to:?} is wanted")),
        (true, true, false) => Err("a secret where none may be".into()),
        (true, false, true) if to.kind == Kind::Ptr => Err("an address of what is public where what is written may be secret".into()),
        _ => Ok(()),
    }
}

/// An access of so many bytes, of a value of so many bits.
fn size(bytes: u32, bits: u32) -> Res<()> {
    match bytes.is_power_of_two() && bytes * 8 <= bits {
        true => Ok(()),
        false => Err(format!("an access of {bytes} bytes for {bits} bits")),
    }
}
