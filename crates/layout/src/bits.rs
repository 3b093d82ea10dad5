//! Equality of two programs bit by bit: both are executed on the same unknown bits into one graph of gates.
//!
//! Keeps: soundness; equal graphs are equal functions.  Absent: search. Functions that are equal for deeper reasons than
//! renaming, rotation and the laws of exclusive or are not found equal; runs on random inputs tell those from a fault.
//! An integer lies in the range that is proved of it, where one is written.
//! Every operation of the core is here, but branches, indices, bounds and divisors must be known when they are reached.

pub use crate::error::Unequal;
use crate::held::Held;
use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};
use santoku_ir::{Base, BinOp, CmpOp, ConstValue, Expr, ExprKind, FuncId, Len, LocalId, Loc, Place, Program, Proj, Range, Stmt, Ty, UnOp};
use santoku_num::SplitMix64;
use santoku_prove::gates::{Bit, Gates};

/// Statements executed by one comparison, both sides together.
const STEPS_MAX: usize = 4_000_000;
/// Bits of an exact integer that depends on inputs.
const EXACT_MAX: usize = 2_048;
/// Bits of all inputs together.
const INPUTS_MAX: u32 = 1 << 22;

type Res<T> = Result<T, Unequal>;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Val {
    /// A word, or a boolean as one bit.
    Word(Vec<Bit>),
    Int(BigInt),
    /// An exact integer that depends on inputs, in two's complement.
    Exact(Vec<Bit>),
    Many(Vec<Val>),
    Unset,
}

/// One step into a value; slices come last and only there.
#[derive(Clone, Copy)]
enum Step {
    At(usize),
    Cut(usize, usize),
}

struct Run<'a> {
    program: &'a Program,
    gates: &'a mut Gates,
    loc: Loc,
    steps: usize,
}

/// Is `g` of `after` the same function as `f` of `before`, the bits of all parameters, and of all results, taken in order?
/// Gives the number of gates of both together.
///
/// # Errors
/// See [`Unequal`].
pub fn same(before: &Program, f: FuncId, after: &Program, g: FuncId) -> Result<usize, Unequal> {
    let mut gates = Gates::default();
    let mut sides = Vec::new();
    for (program, id) in [(before, f), (after, g)] {
        let func = program.func(id);
        let mut run = Run { program, gates: &mut gates, loc: func.loc, steps: 0 };
        let mut next = 0;
        let mut args = Vec::new();
        for p in &func.params {
            args.push(run.input(&func.local(*p).ty, &mut next)?);
        }
        let outs = run.call(id, &[], args)?;
        let mut bits = Vec::new();
        outs.iter().try_for_each(|v| run.flatten(v, &mut bits))?;
        sides.push((next, bits));
    }
    let (a, b) = (&sides[0], &sides[1]);
    if gates.full {
        return Err(Unequal::TooBig);
    }
    if (a.0, a.1.len()) != (b.0, b.1.len()) || a.1.is_empty() {
        return Err(Unequal::Differ(a.1.len().min(b.1.len())));
    }
    match a.1.iter().zip(&b.1).position(|(x, y)| x != y) {
        None => Ok(gates.len()),
        Some(at) => Err(told_apart(&gates, &a.1, &b.1).map_or(Unequal::Undecided(at), Unequal::Differ)),
    }
}

/// The first result bit that some of a few hundred inputs show to be different.
fn told_apart(gates: &Gates, a: &[Bit], b: &[Bit]) -> Option<usize> {
    let pairs: Vec<(Bit, Bit)> = a.iter().copied().zip(b.iter().copied()).collect();
    (0..8u64).find_map(|round| gates.agree(&pairs, &|n| SplitMix64::new(round << 32 | u64::from(n)).next_u64()))
}

/// The word an expression has where `var` is this and nothing else is known; `None` where that does not decide it.
pub fn word_at(program: &Program, func: FuncId, e: &Expr, var: LocalId, value: &BigInt) -> Option<BigInt> {
    let mut gates = Gates::default();
    let mut run = Run { program, gates: &mut gates, loc: Loc::default(), steps: 0 };
    let mut env = vec![Val::Unset; program.func(func).locals.len()];
    env[var.0 as usize] = Val::Int(value.clone());
    let bits = run.word(e, &env).ok()?;
    let mut v = BigInt::zero();
    for (k, b) in bits.iter().enumerate() {
        v.set_bit(k as u64, gates.known(*b)?);
    }
    Some(v)
}

impl Run<'_> {
    fn no<T>(&self, what: &str) -> Res<T> {
        Err(Unequal::NoForm { what: what.to_string(), loc: self.loc })
    }

    fn room(&mut self) -> Res<()> {
        self.steps += 1;
        if self.gates.full || self.steps > STEPS_MAX {
            return Err(Unequal::TooBig);
        }
        Ok(())
    }

    fn input(&mut self, ty: &Ty, next: &mut u32) -> Res<Val> {
        let mut bits = |n: u32, gates: &mut Gates| {
            let bits = (0..n).map(|k| gates.input(*next + k)).collect();
            *next += n;
            bits
        };
        if self.gates.full {
            return Err(Unequal::TooBig);
        }
        match ty {
            Ty::Word(n) => Ok(Val::Word(bits(*n, self.gates))),
            Ty::Bool => Ok(Val::Word(bits(1, self.gates))),
            Ty::Array { elem, len: Len::Const(n), .. } => {
                if *n > u64::from(INPUTS_MAX) {
                    return Err(Unequal::TooBig);
                }
                (0..*n).map(|_| self.input(elem, next)).collect::<Res<_>>().map(Val::Many)
            }
            Ty::Struct(id) => {
                let fields: Vec<Ty> = self.program.structs[id.0 as usize].fields.iter().map(|(_, t)| t.clone()).collect();
                fields.iter().map(|t| self.input(t, next)).collect::<Res<_>>().map(Val::Many)
            }
            Ty::Int(_) | Ty::Array { .. } => self.no("an input that is no word"),
        }
    }

    fn flatten(&self, v: &Val, out: &mut Vec<Bit>) -> Res<()> {
        match v {
            Val::Word(bits) => out.extend(bits),
            Val::Many(vs) => vs.iter().try_for_each(|v| self.flatten(v, out))?,
            Val::Int(_) | Val::Exact(_) => return self.no("a result that is an exact integer"),
            Val::Unset => return self.no("a result of which a part is never written"),
        }
        Ok(())
    }

    fn length(&self, len: &Len, env: &[Val]) -> Res<usize> {
        let n = match len {
            Len::Const(n) => n.to_usize(),
            Len::Param { param, add } => match &env[param.0 as usize] {
                Val::Int(n) => (n + BigInt::from(*add)).to_usize(),
                _ => None,
            },
        };
        match n {
            Some(n) if n <= INPUTS_MAX as usize => Ok(n),
            _ => Err(Unequal::TooBig),
        }
    }

    fn unset(&self, ty: &Ty, env: &[Val]) -> Res<Val> {
        Ok(match ty {
            Ty::Array { elem, len, .. } => Val::Many(vec![self.unset(elem, env)?; self.length(len, env)?]),
            Ty::Struct(id) => {
                let fields = &self.program.structs[id.0 as usize].fields;
                Val::Many(fields.iter().map(|(_, t)| self.unset(t, env)).collect::<Res<_>>()?)
            }
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => Val::Unset,
        })
    }

    fn call(&mut self, id: FuncId, lens: &[Val], args: Vec<Val>) -> Res<Vec<Val>> {
        let (func, here) = (self.program.func(id), self.loc);
        let mut env = vec![Val::Unset; func.locals.len()];
        for (p, v) in func.lens.iter().zip(lens).map(|(p, v)| (p, v.clone())).chain(func.params.iter().zip(args)) {
            env[p.0 as usize] = v;
        }
        for (k, l) in func.locals.iter().enumerate() {
            if matches!(env[k], Val::Unset) {
                env[k] = self.unset(&l.ty, &env)?;
            }
        }
        self.block(&func.body, &mut env)?;
        self.loc = here;
        Ok(func.rets.iter().map(|r| env[r.0 as usize].clone()).collect())
    }

    fn block(&mut self, body: &[Stmt], env: &mut Vec<Val>) -> Res<()> {
        for s in body {
            self.loc = s.loc();
            self.room()?;
            match s {
                Stmt::Assign { dst, src, .. } => {
                    let v = self.expr(src, env)?;
                    self.write(dst, v, env)?;
                }
                Stmt::Call { dsts, func, args, lens, .. } => {
                    let lens = lens.iter().map(|a| self.expr(a, env)).collect::<Res<Vec<_>>>()?;
                    let args = args.iter().map(|a| self.expr(a, env)).collect::<Res<_>>()?;
                    for (d, v) in dsts.iter().zip(self.call(*func, &lens, args)?) {
                        self.write(d, v, env)?;
                    }
                }
                Stmt::For { var, lo, hi, rev, body, .. } => {
                    let (lo, hi) = (self.int(lo, env)?, self.int(hi, env)?);
                    let (mut at, end) = if *rev { (hi - 1, lo - 1) } else { (lo, hi) };
                    while if *rev { at > end } else { at < end } {
                        env[var.0 as usize] = Val::Int(at.into());
                        self.room()?;
                        self.block(body, env)?;
                        at += if *rev { -1 } else { 1 };
                    }
                }
                Stmt::If { cond, then, els, .. } => {
                    let c = self.word(cond, env)?;
                    match c.first().and_then(|c| self.gates.known(*c)) {
                        Some(true) => self.block(then, env)?,
                        Some(false) => self.block(els, env)?,
                        None => return self.no("a branch on an input"),
                    }
                }
                Stmt::Assert { .. } | Stmt::Ghost { .. } => {}
            }
        }
        Ok(())
    }

    fn int(&mut self, e: &Expr, env: &[Val]) -> Res<i64> {
        match self.expr(e, env)? {
            Val::Int(v) => v.to_i64().filter(|v| v.unsigned_abs() < 1 << 62).map_or_else(|| self.no("an integer of more than 62 bits that steers"), Ok),
            Val::Exact(_) => self.no("an index, bound or shift count that comes from an input"),
            _ => self.no("a value that is read before it is written"),
        }
    }

    /// Constant path of a place.
    fn path(&mut self, p: &Place, env: &[Val]) -> Res<Vec<Step>> {
        let mut out: Vec<Step> = Vec::new();
        for j in &p.projs {
            let step = match j {
                Proj::Index(e) => Step::At(self.offset(e, env)?),
                Proj::Field(k) => Step::At(*k as usize),
                Proj::Slice { off, len } => Step::Cut(self.offset(off, env)?, *len as usize),
            };
            let step = match (out.last().copied(), step) {
                (Some(Step::Cut(off, len)), Step::At(k)) if k < len => {
                    out.pop();
                    Step::At(off + k)
                }
                (Some(Step::Cut(off, len)), Step::Cut(k, n)) if n <= len && k <= len - n => {
                    out.pop();
                    Step::Cut(off + k, n)
                }
                (Some(Step::Cut(..)), _) => return self.no("an index out of bounds"),
                (_, step) => step,
            };
            out.push(step);
        }
        Ok(out)
    }

    fn offset(&mut self, e: &Expr, env: &[Val]) -> Res<usize> {
        match usize::try_from(self.int(e, env)?) {
            Ok(k) if k <= INPUTS_MAX as usize => Ok(k),
            _ => self.no("an index out of bounds"),
        }
    }

    fn write(&mut self, dst: &Place, v: Val, env: &mut [Val]) -> Res<()> {
        let path = self.path(dst, env)?;
        let Base::Local(id) = dst.base else { return self.no("an assignment to a constant") };
        let mut slot = &mut env[id.0 as usize];
        for step in path {
            let Val::Many(vs) = slot else { return self.no("an index into a scalar") };
            match step {
                Step::At(k) => match vs.get_mut(k) {
                    Some(s) => slot = s,
                    None => return self.no("an index out of bounds"),
                },
                Step::Cut(off, len) => {
                    let (Some(part), Val::Many(new)) = (vs.get_mut(off..off + len), v) else { return self.no("an index out of bounds") };
                    if new.len() != len {
                        return self.no("an array of another length");
                    }
                    part.iter_mut().zip(new).for_each(|(s, v)| *s = v);
                    return Ok(());
                }
            }
        }
        *slot = v;
        Ok(())
    }

    fn constant(&mut self, ty: &Ty, v: &ConstValue) -> Res<Val> {
        match (ty, v) {
            (Ty::Word(n), ConstValue::Scalar(v)) => Ok(Val::Word(self.gates.word(v, *n))),
            (Ty::Bool, ConstValue::Scalar(v)) => Ok(Val::Word(self.gates.word(v, 1))),
            (Ty::Int(_), ConstValue::Scalar(v)) => Ok(Val::Int(v.clone())),
            (Ty::Array { elem, .. }, ConstValue::Array(vs)) => vs.iter().map(|v| self.constant(elem, v)).collect::<Res<_>>().map(Val::Many),
            (Ty::Struct(id), ConstValue::Struct(vs)) => {
                let fields: Vec<Ty> = self.program.structs[id.0 as usize].fields.iter().map(|(_, t)| t.clone()).collect();
                fields.iter().zip(vs).map(|(t, v)| self.constant(t, v)).collect::<Res<_>>().map(Val::Many)
            }
            _ => self.no("a constant of this type"),
        }
    }

    fn read(&mut self, p: &Place, env: &[Val]) -> Res<Val> {
        let path = self.path(p, env)?;
        let id = match p.base {
            Base::Local(id) => id,
            Base::Const(id) => return self.read_const(id, &path),
        };
        let mut v = &env[id.0 as usize];
        for step in path {
            let Val::Many(vs) = v else { return self.no("an index into a scalar") };
            let found = match step {
                Step::At(k) => vs.get(k),
                Step::Cut(off, len) => match vs.get(off..off + len) {
                    Some(part) => return Ok(Val::Many(part.to_vec())),
                    None => None,
                },
            };
            match found {
                Some(f) => v = f,
                None => return self.no("an index out of bounds"),
            }
        }
        Ok(v.clone())
    }

    fn read_const(&mut self, id: santoku_ir::ConstId, path: &[Step]) -> Res<Val> {
        let c = &self.program.consts[id.0 as usize];
        let (mut ty, mut v) = (&c.ty, &c.value);
        for step in path {
            let inner = match (step, ty, v) {
                (Step::At(k), Ty::Array { elem, .. }, ConstValue::Array(vs)) => vs.get(*k).map(|v| (&**elem, v)),
                (Step::At(k), Ty::Struct(id), ConstValue::Struct(vs)) => {
                    self.program.structs[id.0 as usize].fields.get(*k).map(|(_, t)| t).zip(vs.get(*k))
                }
                (Step::Cut(off, len), Ty::Array { elem, .. }, ConstValue::Array(vs)) => match vs.get(*off..off + len) {
                    Some(part) => return part.iter().map(|v| self.constant(elem, v)).collect::<Res<_>>().map(Val::Many),
                    None => None,
                },
                _ => None,
            };
            match inner {
                Some(i) => (ty, v) = i,
                None => return self.no("an index out of bounds"),
            }
        }
        self.constant(ty, v)
    }

    fn word(&mut self, e: &Expr, env: &[Val]) -> Res<Vec<Bit>> {
        match self.expr(e, env)? {
            Val::Word(bits) => Ok(bits),
            _ => self.no("a value that is read before it is written"),
        }
    }

    fn exact(&mut self, v: &Val) -> Res<Vec<Bit>> {
        match v {
            Val::Int(v) => Ok(self.gates.exact(v)),
            Val::Exact(v) if v.len() > EXACT_MAX => Err(Unequal::TooBig),
            Val::Exact(v) => Ok(v.clone()),
            _ => self.no("a value that is read before it is written"),
        }
    }

    fn expr(&mut self, e: &Expr, env: &[Val]) -> Res<Val> {
        let v = self.value(e, env)?;
        Ok(match (v, &e.ty) {
            (Val::Exact(v), Ty::Int(Some(r))) => Val::Exact(self.within(v, r)),
            (v, _) => v,
        })
    }

    /// An exact integer that is proved to lie in a range: of more bits than that takes, the upper ones follow from the others.
    fn within(&mut self, mut v: Vec<Bit>, range: &Range) -> Vec<Bit> {
        let Some(held) = Held::of(range).filter(|h| (h.bits as usize) < v.len()) else { return v };
        v.truncate(held.bits as usize);
        if !held.signed {
            v.push(self.gates.constant(false));
        }
        Gates::trimmed(v)
    }

    fn value(&mut self, e: &Expr, env: &[Val]) -> Res<Val> {
        Ok(match &e.kind {
            ExprKind::Const(v) => return self.constant(&e.ty, &ConstValue::Scalar(v.clone())),
            ExprKind::Read(p) => self.read(p, env)?,
            ExprKind::Array(es) => Val::Many(es.iter().map(|e| self.expr(e, env)).collect::<Res<_>>()?),
            ExprKind::Struct(_, es) => Val::Many(es.iter().map(|e| self.expr(e, env)).collect::<Res<_>>()?),
            ExprKind::Repeat(x) => {
                let Ty::Array { len, .. } = &e.ty else { return self.no("a repetition that is no array") };
                let n = self.length(len, env)?;
                Val::Many(vec![self.expr(x, env)?; n])
            }
            ExprKind::Un(UnOp::Not, a) => {
                let a = self.word(a, env)?;
                Val::Word(a.into_iter().map(|b| self.gates.not(b)).collect())
            }
            ExprKind::Un(UnOp::Neg, a) => match self.expr(a, env)? {
                Val::Int(v) => Val::Int(-v),
                Val::Exact(v) => {
                    let zero = self.gates.exact(&BigInt::zero());
                    Val::Exact(self.gates.exact_sub(&zero, &v))
                }
                Val::Word(a) => {
                    let zero = vec![self.gates.constant(false); a.len()];
                    Val::Word(self.gates.minus(&zero, &a))
                }
                _ => return self.no("a value that is read before it is written"),
            },
            ExprKind::Cast(a) => {
                let v = self.expr(a, env)?;
                self.cast(v, &e.ty)?
            }
            ExprKind::Bin(op, a, b) => self.bin(*op, a, b, env)?,
            ExprKind::Cmp(op, a, b) => {
                let (x, y) = (self.expr(a, env)?, self.expr(b, env)?);
                Val::Word(vec![self.compare(*op, &x, &y)?])
            }
            ExprKind::Select(c, a, b) => {
                let c = self.word(c, env)?;
                let (x, y) = (self.expr(a, env)?, self.expr(b, env)?);
                match c.first() {
                    Some(c) => self.select(*c, x, y)?,
                    None => return self.no("a condition of no bits"),
                }
            }
        })
    }

    fn cast(&mut self, v: Val, ty: &Ty) -> Res<Val> {
        Ok(match (v, ty) {
            (Val::Word(mut a), Ty::Word(n)) => {
                let zero = self.gates.constant(false);
                a.resize(*n as usize, zero);
                Val::Word(a)
            }
            (Val::Int(v), Ty::Word(n)) => {
                let low = ((v % (BigInt::one() << *n)) + (BigInt::one() << *n)) % (BigInt::one() << *n);
                Val::Word(self.gates.word(&low, *n))
            }
            (Val::Exact(v), Ty::Word(n)) => Val::Word(Gates::extended(&v, *n as usize)),
            (Val::Word(mut a), Ty::Int(_)) => {
                let known: Option<Vec<bool>> = a.iter().map(|b| self.gates.known(*b)).collect();
                match known {
                    Some(bits) => {
                        let mut v = BigInt::zero();
                        bits.iter().enumerate().for_each(|(k, b)| v.set_bit(k as u64, *b));
                        Val::Int(v)
                    }
                    None => {
                        a.push(self.gates.constant(false));
                        Val::Exact(a)
                    }
                }
            }
            (v @ (Val::Int(_) | Val::Exact(_)), Ty::Int(_)) => v,
            (Val::Unset, _) => return self.no("a value that is read before it is written"),
            _ => return self.no("this conversion"),
        })
    }

    fn compare(&mut self, op: CmpOp, x: &Val, y: &Val) -> Res<Bit> {
        let (less, x, y) = match op {
            CmpOp::Eq | CmpOp::Ne => {
                let e = self.equal(x, y)?;
                return Ok(if op == CmpOp::Eq { e } else { self.gates.not(e) });
            }
            CmpOp::Lt => (true, x, y),
            CmpOp::Ge => (false, x, y),
            CmpOp::Gt => (true, y, x),
            CmpOp::Le => (false, y, x),
        };
        let (a, b) = (self.number(x)?, self.number(y)?);
        let l = self.gates.exact_less(&a, &b);
        Ok(if less { l } else { self.gates.not(l) })
    }

    /// A word or an integer as an exact integer.
    fn number(&mut self, v: &Val) -> Res<Vec<Bit>> {
        if let Val::Word(bits) = v {
            let mut bits = bits.clone();
            bits.push(self.gates.constant(false));
            return Ok(bits);
        }
        self.exact(v)
    }

    fn equal(&mut self, x: &Val, y: &Val) -> Res<Bit> {
        if let (Val::Many(xs), Val::Many(ys)) = (x, y) {
            let mut all = self.gates.constant(true);
            for (x, y) in xs.iter().zip(ys) {
                let e = self.equal(x, y)?;
                all = self.gates.and(all, e);
            }
            return Ok(all);
        }
        let (a, b) = (self.number(x)?, self.number(y)?);
        let n = a.len().max(b.len());
        Ok(self.gates.equal(&Gates::extended(&a, n), &Gates::extended(&b, n)))
    }

    fn select(&mut self, c: Bit, x: Val, y: Val) -> Res<Val> {
        if let Some(c) = self.gates.known(c) {
            return Ok(if c { x } else { y });
        }
        Ok(match (x, y) {
            (Val::Many(xs), Val::Many(ys)) => {
                Val::Many(xs.into_iter().zip(ys).map(|(x, y)| self.select(c, x, y)).collect::<Res<_>>()?)
            }
            (Val::Word(x), Val::Word(y)) => Val::Word(x.iter().zip(&y).map(|(x, y)| self.gates.choose(c, *x, *y)).collect()),
            (Val::Int(x), Val::Int(y)) if x == y => Val::Int(x),
            (Val::Unset, _) | (_, Val::Unset) => Val::Unset,
            (x, y) => {
                let (a, b) = (self.exact(&x)?, self.exact(&y)?);
                let n = a.len().max(b.len());
                let (a, b) = (Gates::extended(&a, n), Gates::extended(&b, n));
                Val::Exact(a.iter().zip(&b).map(|(x, y)| self.gates.choose(c, *x, *y)).collect())
            }
        })
    }

    fn bin(&mut self, op: BinOp, a: &Expr, b: &Expr, env: &[Val]) -> Res<Val> {
        if let Ty::Int(_) = a.ty {
            let (x, y) = (self.expr(a, env)?, self.expr(b, env)?);
            return match (&x, &y) {
                (Val::Int(x), Val::Int(y)) => known(op, x, y).map_or_else(|| self.no("this operation of integers"), |v| Ok(Val::Int(v))),
                _ => self.exact_bin(op, &x, &y),
            };
        }
        let x = self.word(a, env)?;
        let n = x.len();
        if matches!(op, BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr) {
            let Some(k) = usize::try_from(self.int(b, env)?).ok().filter(|k| *k < n) else { return self.no("a shift by too much") };
            let zero = self.gates.constant(false);
            let at = |i: usize| match op {
                BinOp::Shl => if i >= k { x[i - k] } else { zero },
                BinOp::Shr => if i + k < n { x[i + k] } else { zero },
                BinOp::Rotl => x[(i + n - k) % n],
                _ => x[(i + k) % n],
            };
            return Ok(Val::Word((0..n).map(at).collect()));
        }
        let y = self.word(b, env)?;
        let pairs = x.iter().zip(&y);
        Ok(Val::Word(match op {
            BinOp::And => pairs.map(|(a, b)| self.gates.and(*a, *b)).collect(),
            BinOp::Or => pairs.map(|(a, b)| self.gates.or(*a, *b)).collect(),
            BinOp::Xor => pairs.map(|(a, b)| self.gates.xor(*a, *b)).collect(),
            BinOp::Add => {
                let zero = self.gates.constant(false);
                self.gates.add_words(&x, &y, zero)
            }
            BinOp::Sub => self.gates.minus(&x, &y),
            BinOp::Mul => self.gates.times(&x, &y),
            _ => return self.no("this operation of words"),
        }))
    }

    /// Exact integers of which at least one depends on inputs.
    fn exact_bin(&mut self, op: BinOp, x: &Val, y: &Val) -> Res<Val> {
        let a = self.exact(x)?;
        let small = |v: &Val| if let Val::Int(v) = v { v.to_usize().filter(|k| *k <= EXACT_MAX) } else { None };
        // Powers of two, as exponents.
        let power = |v: &Val| match v {
            Val::Int(v) if v.is_positive() && (v & (v - 1u32)).is_zero() => Some(v.bits() as usize - 1),
            _ => None,
        };
        let mask = |v: &Val| if let Val::Int(v) = v { power(&Val::Int(v + 1u32)) } else { None };
        Ok(Val::Exact(match op {
            BinOp::Add | BinOp::Sub | BinOp::Mul => {
                let b = self.exact(y)?;
                match op {
                    BinOp::Add => self.gates.exact_add(&a, &b),
                    BinOp::Sub => self.gates.exact_sub(&a, &b),
                    _ => self.gates.exact_mul(&a, &b),
                }
            }
            BinOp::Shl => match small(y) {
                Some(k) => self.gates.exact_shl(&a, k),
                None => return self.no("a shift by an input"),
            },
            BinOp::Shr => match small(y) {
                Some(k) => Gates::exact_shr(&a, k),
                None => return self.no("a shift by an input"),
            },
            BinOp::And => match mask(y) {
                Some(k) => self.gates.exact_low(&a, k),
                None => return self.no("a mask that is not 2^k - 1"),
            },
            BinOp::Div | BinOp::Mod => match power(y) {
                Some(k) if op == BinOp::Div => Gates::exact_shr(&a, k),
                Some(k) => self.gates.exact_low(&a, k),
                None => return self.no("a division by no power of two"),
            },
            BinOp::Or | BinOp::Xor | BinOp::Rotl | BinOp::Rotr => return self.no("this operation of integers"),
        }))
    }
}

/// An operation of known integers; division rounds down.
fn known(op: BinOp, x: &BigInt, y: &BigInt) -> Option<BigInt> {
    let modulo = |y: &BigInt| ((x % y) + y) % y;
    let count = || y.to_u32().filter(|k| *k <= EXACT_MAX as u32);
    Some(match op {
        BinOp::Add => x + y,
        BinOp::Sub => x - y,
        BinOp::Mul => x * y,
        BinOp::Div if y.is_positive() => (x - modulo(y)) / y,
        BinOp::Mod if y.is_positive() => modulo(y),
        BinOp::And if !y.is_negative() => modulo(&(y + 1u32)),
        BinOp::Shl => x << count()?,
        BinOp::Shr => x >> count()?,
        _ => return None,
    })
}
