//! All inputs at once: every value is a list, one entry per input.
//!
//! Needs: a tree.  Keeps: a run that any input would break is `None`.  Absent: the meaning of the language; the interpreter
//! is asked about every claim too, and a difference fails the test.

use crate::ast::{Bounds, Ex, Func, Op, Prog, Rel, St, Ty};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Integers beyond this are not followed.
const INT_BITS: u64 = 120;
/// Nor are loops of more rounds.
const ROUNDS_MAX: i64 = 4096;

#[derive(Clone, Debug, PartialEq)]
pub enum Val {
    Sc(Rc<Vec<BigInt>>),
    Agg(Rc<Vec<Val>>),
}

impl Val {
    pub fn scalar(v: Vec<BigInt>) -> Val {
        Val::Sc(Rc::new(v))
    }
    pub fn sc(&self) -> Option<&[BigInt]> {
        match self {
            Val::Sc(v) => Some(v),
            Val::Agg(_) => None,
        }
    }
    /// Of the given inputs alone.
    pub fn at(&self, keep: &[usize]) -> Val {
        match self {
            Val::Sc(v) => Val::scalar(keep.iter().map(|i| v[*i].clone()).collect()),
            Val::Agg(vs) => Val::Agg(Rc::new(vs.iter().map(|v| v.at(keep)).collect())),
        }
    }
    /// The first where `c`, else the second.
    fn choose(c: &[BigInt], a: &Val, b: &Val) -> Option<Val> {
        Some(match (a, b) {
            (Val::Sc(a), Val::Sc(b)) => Val::scalar(
                c.iter().zip(a.iter().zip(b.iter())).map(|(c, (a, b))| if c.is_zero() { b.clone() } else { a.clone() }).collect(),
            ),
            (Val::Agg(a), Val::Agg(b)) => {
                Val::Agg(Rc::new(a.iter().zip(b.iter()).map(|(a, b)| Val::choose(c, a, b)).collect::<Option<_>>()?))
            }
            _ => return None,
        })
    }
}

pub fn bounds(v: &[BigInt]) -> Bounds {
    let lo = v.iter().min().cloned().unwrap_or_default();
    let hi = v.iter().max().cloned().unwrap_or_default();
    (lo, hi)
}

pub type Env = Vec<Option<Val>>;

/// The run of one function on `n` inputs.
pub struct Run<'p> {
    pub prog: &'p Prog,
    pub func: &'p Func,
    pub n: usize,
    /// What each variable has held, over all inputs and visits.
    pub seen: &'p Seen,
}

#[derive(Debug, Default)]
pub struct Seen(RefCell<BTreeMap<usize, Bounds>>);

impl Seen {
    pub fn all(&self) -> BTreeMap<usize, Bounds> {
        self.0.borrow().clone()
    }
    fn note(&self, var: usize, v: &Val) {
        match v {
            Val::Agg(vs) => vs.iter().for_each(|v| self.note(var, v)),
            Val::Sc(v) => {
                let (lo, hi) = bounds(v);
                let mut all = self.0.borrow_mut();
                let old = all.entry(var).or_insert_with(|| (lo.clone(), hi.clone()));
                *old = (old.0.clone().min(lo), old.1.clone().max(hi));
            }
        }
    }
}

/// Number of values of a type with a range.
pub fn count(ty: &Ty, range: &Option<Bounds>) -> Option<u64> {
    match (ty, range) {
        (Ty::Int, Some((lo, hi))) => (hi - lo + 1u32).to_u64(),
        (Ty::Word(b), _) => 1u64.checked_shl(*b).filter(|_| *b < 20),
        (Ty::Bool, _) => Some(2),
        (Ty::Arr(t, n), r) => count(t, r)?.checked_pow(*n as u32),
        _ => None,
    }
}

fn nth(ty: &Ty, range: &Option<Bounds>, rest: &mut u64) -> Vec<BigInt> {
    match ty {
        Ty::Arr(t, n) => (0..*n).flat_map(|_| nth(t, range, rest)).collect(),
        t => {
            let n = count(t, range).unwrap_or(1);
            let d = *rest % n;
            *rest /= n;
            vec![range.as_ref().filter(|_| *t == Ty::Int).map_or(BigInt::zero(), |r| r.0.clone()) + d]
        }
    }
}

/// All inputs of a function that it allows: parameters at entry, and how many inputs.
pub fn inputs(f: &Func) -> Option<(Env, usize)> {
    let params = &f.vars[..f.params];
    let total = params.iter().try_fold(1u64, |n, v| n.checked_mul(count(&v.ty, &v.range)?))?;
    let n = usize::try_from(total).ok().filter(|n| *n <= 1 << 14)?;
    let mut env: Env = vec![None; f.vars.len()];
    let rows: Vec<Vec<Vec<BigInt>>> = (0..total)
        .map(|mut k| params.iter().map(|v| nth(&v.ty, &v.range, &mut k)).collect())
        .collect();
    for (i, v) in params.iter().enumerate() {
        let column = |at: usize| Val::scalar(rows.iter().map(|r| r[i][at].clone()).collect());
        env[i] = Some(match &v.ty {
            Ty::Arr(_, m) => Val::Agg(Rc::new((0..*m).map(column).collect())),
            _ => column(0),
        });
    }
    // Conditions speak of integers alone.
    let (prog, seen) = (Prog::default(), Seen::default());
    let run = Run { prog: &prog, func: f, n, seen: &seen };
    let mut keep: Vec<usize> = (0..n).collect();
    for c in &f.needs {
        let truth = run.eval(&env, c)?;
        keep.retain(|i| truth.sc().is_some_and(|t| !t[*i].is_zero()));
    }
    if keep.is_empty() {
        return None;
    }
    Some((env.iter().map(|v| v.as_ref().map(|v| v.at(&keep))).collect(), keep.len()))
}

impl Run<'_> {
    fn map(&self, a: &Val, f: impl Fn(&BigInt) -> BigInt) -> Option<Val> {
        Some(Val::scalar(a.sc()?.iter().map(f).collect()))
    }

    pub fn eval(&self, env: &Env, e: &Ex) -> Option<Val> {
        let word = |e: &Ex| match self.prog.ty(self.func, e) {
            Ty::Word(b) => Some(b),
            _ => None,
        };
        Some(match e {
            Ex::Lit(v, _) => Val::scalar(vec![v.clone(); self.n]),
            Ex::Var(v) => env[*v].clone()?,
            Ex::Bin(op, a, b) => self.binary(*op, word(a), self.prog.ty(self.func, a) == Ty::Bool, &self.eval(env, a)?, &self.eval(env, b)?)?,
            Ex::Neg(a) => {
                let w = word(a);
                self.map(&self.eval(env, a)?, |v| wrapped(-v, w))?
            }
            Ex::Not(a) => {
                let top = word(a).map_or(BigInt::one(), ones);
                self.map(&self.eval(env, a)?, |v| &top - v)?
            }
            Ex::Cast(t, a) => {
                let w = if let Ty::Word(b) = t { Some(*b) } else { None };
                self.map(&self.eval(env, a)?, |v| wrapped(v.clone(), w))?
            }
            Ex::Cmp(r, a, b) => {
                let (a, b) = (self.eval(env, a)?, self.eval(env, b)?);
                let holds = |(x, y): (&BigInt, &BigInt)| BigInt::from(i32::from(related(*r, x, y)));
                Val::scalar(a.sc()?.iter().zip(b.sc()?).map(holds).collect())
            }
            // A public condition branches: each side sees only the inputs that go there.
            Ex::Sel(c, a, b) if self.public(c) => {
                let cond = self.eval(env, c)?;
                self.sides(env, cond.sc()?, &mut |run, env, truth| run.eval(env, if truth { a } else { b }))?
            }
            Ex::Sel(c, a, b) => Val::choose(self.eval(env, c)?.sc()?, &self.eval(env, a)?, &self.eval(env, b)?)?,
            Ex::Idx(a, i) => self.element(&self.eval(env, a)?, self.eval(env, i)?.sc()?)?,
            Ex::Slice(a, i, n) => {
                let (a, i) = (self.eval(env, a)?, self.eval(env, i)?);
                let part = |k: usize| self.element(&a, &i.sc()?.iter().map(|v| v + k).collect::<Vec<_>>());
                Val::Agg(Rc::new((0..*n).map(part).collect::<Option<_>>()?))
            }
            Ex::Field(a, i) => match self.eval(env, a)? {
                Val::Agg(vs) => vs.get(*i)?.clone(),
                Val::Sc(_) => return None,
            },
            Ex::List(es) => Val::Agg(Rc::new(es.iter().map(|e| self.eval(env, e)).collect::<Option<_>>()?)),
            Ex::Rec(s, es) => {
                let vals: Vec<Val> = es.iter().map(|e| self.eval(env, e)).collect::<Option<_>>()?;
                let fits = vals.iter().zip(&self.prog.structs[*s]).all(|(v, (_, r))| within(v, r));
                fits.then(|| Val::Agg(Rc::new(vals)))?
            }
            Ex::Table(t) => {
                let all = self.prog.tables[*t].values.iter().map(|v| Val::scalar(vec![v.clone(); self.n])).collect();
                Val::Agg(Rc::new(all))
            }
            Ex::Call(g, es) => {
                let func = &self.prog.funcs[*g];
                let mut inner: Env = vec![None; func.vars.len()];
                for (i, e) in es.iter().enumerate() {
                    let v = self.eval(env, e)?;
                    within(&v, &func.vars[i].range).then_some(())?;
                    inner[i] = Some(v);
                }
                let own = Seen::default();
                let run = Run { prog: self.prog, func, n: self.n, seen: &own };
                run.hold(&inner, &func.needs)?;
                run.block(&mut inner, &func.body)?;
                let v = run.eval(&inner, &func.result)?;
                within(&v, &func.ret).then_some(v)?
            }
        })
    }

    fn element(&self, a: &Val, at: &[BigInt]) -> Option<Val> {
        let Val::Agg(vs) = a else { return None };
        let at: Vec<usize> = at.iter().map(|i| i.to_usize().filter(|i| *i < vs.len())).collect::<Option<_>>()?;
        if let Some(first) = at.first().filter(|i| at.iter().all(|j| j == *i)) {
            return Some(vs[*first].clone());
        }
        let scalars: Vec<&[BigInt]> = vs.iter().map(Val::sc).collect::<Option<_>>()?;
        Some(Val::scalar(at.iter().enumerate().map(|(k, i)| scalars[*i][k].clone()).collect()))
    }

    fn binary(&self, op: Op, w: Option<u32>, boolean: bool, a: &Val, b: &Val) -> Option<Val> {
        let (xs, ys) = (a.sc()?, b.sc()?);
        let one = |x: &BigInt, y: &BigInt| -> Option<BigInt> {
            let count = || y.to_u32().filter(|k| *k < w.unwrap_or(100));
            Some(match op {
                Op::Add => wrapped(x + y, w),
                Op::Sub => wrapped(x - y, w),
                Op::Mul => wrapped(x * y, w),
                Op::Div => x.div_floor(Some(y).filter(|y| y.is_positive())?),
                Op::Mod => x.mod_floor(Some(y).filter(|y| y.is_positive())?),
                // A mask of low bits; other masks of integers are of constants alone.
                Op::And if w.is_none() && !boolean && (y & &(y + 1u32)).is_zero() => x.mod_floor(&Some(y + 1).filter(BigInt::is_positive)?),
                Op::And => x & y,
                Op::Or => x | y,
                Op::Xor => x ^ y,
                Op::Shl => wrapped(x << count()?, w),
                Op::Shr => x >> count()?,
                Op::Rotl | Op::Rotr => {
                    let (w, k) = (w?, count()?);
                    let left = if op == Op::Rotl { k } else { (w - k) % w };
                    wrapped(x << left, Some(w)) | (x >> (w - left))
                }
            })
        };
        let out: Vec<BigInt> = xs.iter().zip(ys).map(|(x, y)| one(x, y)).collect::<Option<_>>()?;
        (w.is_some() || out.iter().all(|v| v.bits() <= INT_BITS)).then(|| Val::scalar(out))
    }

    pub fn block(&self, env: &mut Env, body: &[St]) -> Option<()> {
        body.iter().try_for_each(|s| self.statement(env, s))
    }

    pub fn statement(&self, env: &mut Env, s: &St) -> Option<()> {
        match s {
            St::Let(v, e) => {
                let value = self.eval(env, e)?;
                within(&value, &self.func.vars[*v].range).then_some(())?;
                self.seen.note(*v, &value);
                env[*v] = Some(value);
            }
            St::Set(place, e) => {
                let value = self.eval(env, e)?;
                let root = root(place)?;
                within(&value, &self.func.vars[root].range).then_some(())?;
                let old = env[root].clone()?;
                self.seen.note(root, &value);
                env[root] = Some(self.store(env, place, &old, value)?);
            }
            St::For { var, lo, hi, rev, invariants, body } => {
                let (lo, hi) = (self.eval(env, lo)?, self.eval(env, hi)?);
                let (first, last) = (bounds(lo.sc()?).0.to_i64()?, bounds(hi.sc()?).1.to_i64()?);
                (last.saturating_sub(first) <= ROUNDS_MAX).then_some(())?;
                let mut all: Vec<i64> = (first..last).collect();
                if *rev {
                    all.reverse();
                }
                let outside: Vec<bool> = env.iter().map(Option::is_none).collect();
                let step = |run: &Run, env: &mut Env, i: i64| {
                    env[*var] = Some(Val::scalar(vec![BigInt::from(i); run.n]));
                    run.hold(env, invariants)?;
                    run.block(env, body)?;
                    env[*var] = Some(Val::scalar(vec![BigInt::from(if *rev { i - 1 } else { i + 1 }); run.n]));
                    run.hold(env, invariants)
                };
                for i in all {
                    let here = BigInt::from(i);
                    let inside: Vec<BigInt> =
                        lo.sc()?.iter().zip(hi.sc()?).map(|(a, b)| BigInt::from(i32::from(*a <= here && here < *b))).collect();
                    if !inside.iter().any(Zero::is_zero) {
                        step(self, env, i)?;
                        continue;
                    }
                    env[*var] = None;
                    self.some(env, &inside, &mut |run, env, truth| if truth { step(run, env, i) } else { Some(()) })?;
                }
                env.iter_mut().zip(outside).filter(|(_, none)| *none).for_each(|(v, _)| *v = None);
            }
            St::If(c, a, b) => {
                let cond = self.eval(env, c)?;
                let cond = cond.sc()?;
                if self.public(c) {
                    return self.some(env, cond, &mut |run, env, truth| run.block(env, if truth { a } else { b }));
                }
                // Each side alone, and one behind the other on what is selected after every statement: the last statements of both may be one.
                self.block(&mut env.clone(), a)?;
                self.block(&mut env.clone(), b)?;
                let not: Vec<BigInt> = cond.iter().map(|c| BigInt::from(i32::from(c.is_zero()))).collect();
                let outside: Vec<bool> = env.iter().map(Option::is_none).collect();
                for (s, goes) in a.iter().map(|s| (s, cond)).chain(b.iter().map(|s| (s, &not[..]))) {
                    let before = env.clone();
                    self.statement(env, s)?;
                    for (slot, old) in env.iter_mut().zip(before) {
                        if let (Some(new), Some(old)) = (&slot, old) {
                            *slot = Some(Val::choose(goes, new, &old)?);
                        }
                    }
                }
                env.iter_mut().zip(outside).filter(|(_, none)| *none).for_each(|(v, _)| *v = None);
            }
        }
        Some(())
    }

    /// `f` for the inputs where `cond` holds and for the others; the results in the order of the inputs.
    fn sides(&self, env: &Env, cond: &[BigInt], f: &mut dyn FnMut(&Run, &mut Env, bool) -> Option<Val>) -> Option<Val> {
        let (mut order, mut parts): (Vec<usize>, Vec<Val>) = (Vec::new(), Vec::new());
        for truth in [true, false] {
            let keep: Vec<usize> = (0..self.n).filter(|i| cond[*i].is_zero() != truth).collect();
            if !keep.is_empty() {
                let mut part: Env = env.iter().map(|v| v.as_ref().map(|v| v.at(&keep))).collect();
                parts.push(f(&Run { n: keep.len(), ..*self }, &mut part, truth)?);
                order.extend(keep);
            }
        }
        let mut back = vec![0; self.n];
        order.iter().enumerate().for_each(|(k, i)| back[*i] = k);
        Some(joined(&parts.iter().collect::<Vec<_>>())?.at(&back))
    }

    /// Two ways on, by a condition; what was known before is known after.
    fn some(&self, env: &mut Env, cond: &[BigInt], f: &mut dyn FnMut(&Run, &mut Env, bool) -> Option<()>) -> Option<()> {
        let known: Vec<usize> = (0..env.len()).filter(|i| env[*i].is_some()).collect();
        let after = self.sides(env, cond, &mut |run, env, truth| {
            f(run, env, truth)?;
            Some(Val::Agg(Rc::new(known.iter().map(|i| env[*i].clone()).collect::<Option<_>>()?)))
        })?;
        if let Val::Agg(vs) = after {
            known.iter().zip(vs.iter()).for_each(|(i, v)| env[*i] = Some(v.clone()));
        }
        Some(())
    }

    fn hold(&self, env: &Env, conditions: &[Ex]) -> Option<()> {
        conditions.iter().try_for_each(|c| (!self.eval(env, c)?.sc()?.iter().any(Zero::is_zero)).then_some(()))
    }

    fn store(&self, env: &Env, place: &Ex, old: &Val, value: Val) -> Option<Val> {
        let (at, len) = match place {
            Ex::Var(_) => return Some(value),
            Ex::Field(_, i) => (vec![BigInt::from(*i); self.n], None),
            Ex::Idx(_, i) => (self.eval(env, i)?.sc()?.to_vec(), None),
            Ex::Slice(_, i, n) => (self.eval(env, i)?.sc()?.to_vec(), Some(*n)),
            _ => return None,
        };
        let Val::Agg(vs) = old else { return None };
        let end = BigInt::from(vs.len()) - len.unwrap_or(1);
        if at.iter().any(|i| i.is_negative() || *i > end) {
            return None;
        }
        let mut out = vs.to_vec();
        for k in 0..len.unwrap_or(1) {
            let new = match (&value, len) {
                (Val::Agg(ns), Some(_)) => ns.get(k)?.clone(),
                (v, _) => v.clone(),
            };
            for (j, slot) in out.iter_mut().enumerate() {
                let hit: Vec<BigInt> = at.iter().map(|i| BigInt::from(i32::from(i + k == BigInt::from(j)))).collect();
                *slot = Val::choose(&hit, &new, slot)?;
            }
        }
        Some(Val::Agg(Rc::new(out)))
    }

    pub fn public(&self, e: &Ex) -> bool {
        let mut all = true;
        each_var(e, &mut |v| all &= self.func.vars[v].public);
        all
    }
}

fn joined(all: &[&Val]) -> Option<Val> {
    Some(match all.first()? {
        Val::Sc(_) => Val::scalar(all.iter().map(|v| v.sc()).collect::<Option<Vec<_>>>()?.concat()),
        Val::Agg(vs) => {
            let part = |i: usize| {
                let parts: Vec<&Val> = all.iter().map(|v| if let Val::Agg(vs) = v { vs.get(i) } else { None }).collect::<Option<_>>()?;
                joined(&parts)
            };
            Val::Agg(Rc::new((0..vs.len()).map(part).collect::<Option<_>>()?))
        }
    })
}

/// Calls `f` with every variable read in `e`.
pub fn each_var(e: &Ex, f: &mut dyn FnMut(usize)) {
    match e {
        Ex::Var(v) => f(*v),
        Ex::Lit(..) | Ex::Table(_) => {}
        Ex::Bin(_, a, b) | Ex::Cmp(_, a, b) | Ex::Idx(a, b) | Ex::Slice(a, b, _) => {
            each_var(a, f);
            each_var(b, f);
        }
        Ex::Neg(a) | Ex::Not(a) | Ex::Cast(_, a) | Ex::Field(a, _) => each_var(a, f),
        Ex::Sel(a, b, c) => [a, b, c].into_iter().for_each(|e| each_var(e, f)),
        Ex::List(es) | Ex::Rec(_, es) | Ex::Call(_, es) => es.iter().for_each(|e| each_var(e, f)),
    }
}

pub fn root(place: &Ex) -> Option<usize> {
    match place {
        Ex::Var(v) => Some(*v),
        Ex::Idx(a, _) | Ex::Slice(a, _, _) | Ex::Field(a, _) => root(a),
        _ => None,
    }
}

pub fn within(v: &Val, r: &Option<Bounds>) -> bool {
    let Some((lo, hi)) = r else { return true };
    match v {
        Val::Sc(v) => v.iter().all(|x| lo <= x && x <= hi),
        Val::Agg(vs) => vs.iter().all(|v| within(v, r)),
    }
}

pub fn ones(bits: u32) -> BigInt {
    (BigInt::one() << bits) - 1
}

fn wrapped(v: BigInt, bits: Option<u32>) -> BigInt {
    match bits {
        Some(b) => v.mod_floor(&(BigInt::one() << b)),
        None => v,
    }
}

fn related(r: Rel, x: &BigInt, y: &BigInt) -> bool {
    match r {
        Rel::Eq => x == y,
        Rel::Ne => x != y,
        Rel::Lt => x < y,
        Rel::Le => x <= y,
        Rel::Gt => x > y,
        Rel::Ge => x >= y,
    }
}
