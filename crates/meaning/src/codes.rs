//! Values that are no polynomials, where two programs are compared: each is a function of what it is computed from.
//!
//! An array whose length is not known here is one number, its code; different arrays have different codes.
//!
//! Needs: an execution beside another.  Keeps: the same function of the same values is the same atom, whichever program applies it; its bounds
//! are those of a word of its width.  Absent: what the functions are.
//! Trusted: nothing: a second opinion on the passes; the term graph, which is believed, has to agree.

use crate::atoms::{Applied, Atoms, Def, Num, Of, BITS};
use crate::found::{known, stop, Res};
use crate::poly::Poly;
use crate::state::Run;
use crate::value::{flat, Val};
use santoku_ir::{Base, BinOp, Expr, Len, Place, Proj, Ty};
use santoku_num::Itv;

/// Scalars of an array that is read or written at a place that is no number.
const SCALARS: usize = 1 << 14;

/// A step into an aggregate.
enum Step {
    Field(usize),
    At(Num),
    /// So many elements from an index on.
    Part(Num, u64),
}

impl Run<'_> {
    pub(crate) fn is_beside(&self) -> bool {
        self.outside.as_ref().is_some_and(|o| o.beside.is_some())
    }

    /// Anything of the type, whatever range it has.
    pub(crate) fn anything(&mut self, ty: &Ty) -> Val {
        self.shaped(ty, &mut |run, _, ty| run.atoms.fresh(bits(ty).map(Itv::word)))
    }

    /// What a local of the type holds before it is written.
    pub(crate) fn unwritten(&mut self, ty: &Ty) -> Val {
        self.shaped(ty, &mut |run, k, ty| run.applied(Of::Unwritten, ty, vec![Poly::constant(k)]))
    }

    /// A value of the type, scalar by scalar. An array of a length that is not known is one scalar without a range.
    fn shaped(&mut self, ty: &Ty, make: &mut dyn FnMut(&mut Self, u32, &Ty) -> Num) -> Val {
        let mut next = 0;
        self.shaped_from(ty, &mut next, make)
    }
    fn shaped_from(&mut self, ty: &Ty, next: &mut u32, make: &mut dyn FnMut(&mut Self, u32, &Ty) -> Num) -> Val {
        let p = self.p;
        match ty {
            Ty::Struct(id) => Val::agg(p.structs[id.0 as usize].fields.iter().map(|(_, t)| self.shaped_from(t, next, make)).collect()),
            Ty::Array { elem, len, .. } if self.length(len).is_some() => {
                let n = self.length(len).unwrap_or(0);
                Val::agg((0..n).map(|_| self.shaped_from(elem, next, make)).collect())
            }
            Ty::Array { .. } | Ty::Word(_) | Ty::Bool | Ty::Int(_) => {
                *next += 1;
                let open = Ty::Int(None);
                Val::Num(make(self, *next - 1, if matches!(ty, Ty::Array { .. }) { &open } else { ty }))
            }
        }
    }

    /// The length of an array that is followed element by element: a number here.
    fn length(&self, len: &Len) -> Option<u64> {
        let n = match len {
            Len::Const(n) => *n,
            Len::Param { param, add } => match self.locals.get(param.0 as usize) {
                Some(Some(Val::Num(n))) => n.p.as_const()?.to_u64()?.checked_add_signed(*add)?,
                _ => return None,
            },
        };
        (n <= SCALARS as u64).then_some(n)
    }

    /// How many scalars a value of the type has here.
    fn size(&self, ty: &Ty) -> usize {
        match ty {
            Ty::Struct(id) => self.p.structs[id.0 as usize].fields.iter().map(|(_, t)| self.size(t)).sum(),
            Ty::Array { elem, len, .. } => self.length(len).map_or(1, |n| usize::try_from(n).unwrap_or(usize::MAX).saturating_mul(self.size(elem))),
            Ty::Word(_) | Ty::Bool | Ty::Int(_) => 1,
        }
    }

    /// The scalars of a value, if they are those of its type.
    fn flat_as(&mut self, v: &Val, ty: &Ty) -> Res<Vec<Num>> {
        let mut own = vec![];
        known(flat(v, &mut own).filter(|()| own.len() == self.size(ty)), "a value of another shape")?;
        self.spend(own.len())?;
        Ok(own)
    }

    /// Counts work that no statement stands for.
    pub(crate) fn spend(&mut self, work: usize) -> Res<()> {
        self.steps = self.steps.saturating_add(work as u64 / 4);
        if self.steps > self.limits.0 { stop("too much work") } else { Ok(()) }
    }

    /// A function of values, as a number of that type.
    pub(crate) fn applied(&mut self, of: Of, ty: &Ty, to: Vec<Poly>) -> Num {
        self.atoms.applied((of, bits(ty), to))
    }

    /// A binary operation, with names for what is long.
    pub(crate) fn binary_beside(&mut self, op: BinOp, a: &Num, b: &Num, ty: &Ty) -> Res<Num> {
        let least = self.outside.as_ref().and_then(|o| o.names);
        let is_long = |n: &Num| least.is_some_and(|l| n.p.len() > l);
        let factors = op == BinOp::Mul && a.p.as_const().is_none() && b.p.as_const().is_none();
        let [a, b] = [a, b].map(|n| if factors && is_long(n) { self.atoms.named(n) } else { n.clone() });
        let v = self.exactly(op, &a, &b, ty)?;
        if v.p.terms().any(|(_, c)| c.bits() > BITS) {
            return stop("a number that is too long");
        }
        Ok(if *ty == Ty::Bool && is_long(&v) { self.atoms.named_truth(&v) } else { v })
    }

    /// A shift of a word by what is no number.
    pub(crate) fn shifted_beside(&mut self, op: BinOp, a: &Num, b: &Num, bits: Option<u32>) -> Option<Num> {
        let ty = Ty::Word(bits.filter(|_| self.is_beside())?);
        Some(self.applied(Of::Shifted(op), &ty, vec![a.p.clone(), b.p.clone()]))
    }

    /// Whether a value is negative.
    pub(crate) fn negative(&mut self, x: &Num) -> Res<Poly> {
        match self.is_negative(x) {
            Some(p) => Ok(p),
            None if self.is_beside() => Ok(self.applied(Of::Negative, &Ty::Bool, vec![x.p.clone()]).p),
            None => stop("a comparison of unbounded values"),
        }
    }

    /// The steps of a place.
    fn steps(&mut self, projs: &[Proj]) -> Res<Vec<Step>> {
        let mut out: Vec<Step> = vec![];
        for p in projs {
            let step = match p {
                Proj::Field(i) => Step::Field(*i as usize),
                Proj::Index(e) => Step::At(self.scalar(e)?),
                Proj::Slice { off, len } => Step::Part(self.scalar(off)?, *len),
            };
            let before = if let (Some(Step::Part(o, _)), Step::At(_) | Step::Part(..)) = (out.last(), &step) { Some(o.clone()) } else { None };
            if before.is_some() {
                out.pop();
            }
            out.push(match (before, step) {
                (Some(o), Step::At(i)) => Step::At(self.sum(&o, &i)),
                (Some(o), Step::Part(i, n)) => Step::Part(self.sum(&o, &i), n),
                (_, step) => step,
            });
        }
        Ok(out)
    }
    fn sum(&mut self, a: &Num, b: &Num) -> Num {
        self.atoms.num(a.p.add(&b.p), a.itv.as_ref().zip(b.itv.as_ref()).map(|(a, b)| a.add(b)))
    }

    pub(crate) fn read_beside(&mut self, p: &Place) -> Res<Val> {
        let (whole, ty) = match p.base {
            Base::Local(id) => {
                let ty = self.f.local(id).ty.clone();
                (self.locals[id.0 as usize].clone().unwrap_or_else(|| self.unwritten(&ty)), ty)
            }
            Base::Const(id) => (self.literal(id), self.p.consts[id.0 as usize].ty.clone()),
        };
        let steps = self.steps(&p.projs)?;
        self.pick(whole, &ty, &steps)
    }

    fn pick(&mut self, v: Val, ty: &Ty, steps: &[Step]) -> Res<Val> {
        let Some((step, rest)) = steps.split_first() else { return Ok(v) };
        let inner = self.inner(ty, step)?;
        match step {
            Step::Field(k) => match v {
                Val::Agg(es) => self.pick(known(es.get(*k).cloned(), "a field that there is not")?, &inner, rest),
                _ => stop("a field of what is no structure"),
            },
            Step::At(i) => {
                let e = self.element(&v, &inner, i)?;
                self.pick(e, &inner, rest)
            }
            Step::Part(o, n) => {
                if *n > SCALARS as u64 || !rest.is_empty() {
                    return stop("a part of an array that is too long");
                }
                let mut es = vec![];
                for k in 0..*n {
                    let at = self.sum(o, &Num::constant(k));
                    es.push(self.element(&v, &inner, &at)?);
                }
                Ok(Val::agg(es))
            }
        }
    }

    /// The type behind a step: of an element for parts.
    fn inner(&self, ty: &Ty, step: &Step) -> Res<Ty> {
        match (ty, step) {
            (Ty::Struct(id), Step::Field(k)) => known(self.p.structs[id.0 as usize].fields.get(*k).map(|(_, t)| t.clone()), "a field that there is not"),
            (Ty::Array { elem, .. }, Step::At(_) | Step::Part(..)) => Ok((**elem).clone()),
            _ => stop("a place that there is not"),
        }
    }

    /// The element at an index.
    fn element(&mut self, v: &Val, ty: &Ty, i: &Num) -> Res<Val> {
        match v {
            Val::Agg(es) => {
                if let Some(k) = i.p.as_const() {
                    let k = k.to_u64().and_then(|k| usize::try_from(k).ok());
                    return known(k.and_then(|k| es.get(k).cloned()), "an element that there is not");
                }
                let all = es.iter().map(|e| self.flat_as(e, ty)).collect::<Res<Vec<_>>>()?;
                Ok(self.shaped(ty, &mut |run, k, ty| {
                    let to = [&i.p].into_iter().chain(all.iter().map(|e| &e[k as usize].p)).cloned().collect();
                    run.applied(Of::Element, ty, to)
                }))
            }
            Val::Num(code) => Ok(self.shaped(ty, &mut |run, k, ty| run.applied(Of::Coded(k), ty, vec![i.p.clone(), code.p.clone()]))),
            Val::Unknown | Val::Open(_) => stop("an array that is not followed"),
        }
    }

    pub(crate) fn write_beside(&mut self, dst: &Place, v: Val) -> Res<()> {
        let Base::Local(id) = dst.base else { return stop("a constant is written") };
        let steps = self.steps(&dst.projs)?;
        let ty = self.f.local(id).ty.clone();
        let whole = match self.locals[id.0 as usize].take() {
            Some(v) => v,
            None if steps.is_empty() => Val::Unknown,
            None => self.unwritten(&ty),
        };
        self.locals[id.0 as usize] = Some(self.put(whole, &ty, &steps, v)?);
        Ok(())
    }

    fn put(&mut self, v: Val, ty: &Ty, steps: &[Step], new: Val) -> Res<Val> {
        let Some((step, rest)) = steps.split_first() else { return Ok(new) };
        let inner = self.inner(ty, step)?;
        match (step, v) {
            (Step::Field(k), Val::Agg(mut es)) => {
                let old = known(es.get(*k).cloned(), "a field that there is not")?;
                std::rc::Rc::make_mut(&mut es)[*k] = self.put(old, &inner, rest, new)?;
                Ok(Val::Agg(es))
            }
            (Step::At(i), v) => self.put_at(v, &inner, i, rest, new),
            (Step::Part(o, n), mut v) => {
                let Val::Agg(news) = new else { return stop("an array that is not followed") };
                if news.len() as u64 != *n || !rest.is_empty() {
                    return stop("an array of another length");
                }
                for (k, new) in news.iter().enumerate() {
                    let at = self.sum(o, &Num::constant(k as u64));
                    v = self.put_at(v, &inner, &at, &[], new.clone())?;
                }
                Ok(v)
            }
            _ => stop("a place that there is not"),
        }
    }

    fn put_at(&mut self, v: Val, elem: &Ty, i: &Num, rest: &[Step], new: Val) -> Res<Val> {
        let new = if rest.is_empty() {
            new
        } else {
            let old = self.element(&v, elem, i)?;
            self.put(old, elem, rest, new)?
        };
        match v {
            Val::Agg(mut es) => {
                if let Some(k) = i.p.as_const() {
                    let k = k.to_u64().and_then(|k| usize::try_from(k).ok()).filter(|k| *k < es.len());
                    std::rc::Rc::make_mut(&mut es)[known(k, "an element that there is not")?] = new;
                    return Ok(Val::Agg(es));
                }
                let news = self.flat_as(&new, elem)?;
                let mut out = vec![];
                for (k, old) in es.iter().enumerate() {
                    let olds = self.flat_as(old, elem)?;
                    let distance = i.p.shift(santoku_num::Int::from(k as u64).neg());
                    out.push(self.shaped(elem, &mut |run, c, ty| run.applied(Of::Kept, ty, vec![distance.clone(), news[c as usize].p.clone(), olds[c as usize].p.clone()])));
                }
                Ok(Val::agg(out))
            }
            Val::Num(code) => {
                let news = self.flat_as(&new, elem)?;
                let to = [code.p, i.p.clone()].into_iter().chain(news.into_iter().map(|n| n.p)).collect();
                Ok(Val::Num(self.applied(Of::Written, &Ty::Int(None), to)))
            }
            Val::Unknown | Val::Open(_) => stop("an array that is not followed"),
        }
    }

    /// An array of equal elements.
    pub(crate) fn repeated(&mut self, a: &Expr, ty: &Ty) -> Res<Val> {
        let v = self.eval(a)?;
        match ty {
            Ty::Array { len, .. } if self.length(len).is_some() => Ok(Val::agg(vec![v; self.length(len).unwrap_or(0) as usize])),
            Ty::Array { elem, len: Len::Param { param, add }, .. } => {
                let Some(Val::Num(n)) = self.locals[param.0 as usize].clone() else { return stop("a length that is not known") };
                let own = self.flat_as(&v, elem)?;
                let to = [n.p.shift(*add)].into_iter().chain(own.into_iter().map(|n| n.p)).collect();
                Ok(Val::Num(self.applied(Of::Repeated, &Ty::Int(None), to)))
            }
            _ => stop("an array that is too long"),
        }
    }
}

impl Atoms {
    /// The value of a function, in its bounds.
    fn applied(&mut self, what: Applied) -> Num {
        let itv = what.1.map(Itv::word);
        if let Some(a) = self.applied.get(&what) {
            return Num { p: Poly::atom(*a), itv };
        }
        let a = self.make(itv.clone(), Def::Free);
        self.applied.insert(what, a);
        Num { p: Poly::atom(a), itv }
    }
    /// An atom that is `x`, which is 0 or 1 on every execution.
    fn named_truth(&mut self, x: &Num) -> Num {
        match self.name_of(&x.p) {
            Some(a) => Num::truth(Poly::atom(a)),
            None => self.name(x, Some(Itv::bool())),
        }
    }
}

/// Bits of a scalar; none of an exact integer.
fn bits(ty: &Ty) -> Option<u32> {
    match ty {
        Ty::Word(bits) => Some(*bits),
        Ty::Bool => Some(1),
        Ty::Int(_) | Ty::Array { .. } | Ty::Struct(_) => None,
    }
}
