//! Places inside abstract values: reading, writing, weak updates.

use crate::itv::Itv;
use super::lin::Lin;
use super::value::{meet_ranges, Abs};
use num_traits::ToPrimitive;
use santoku_ir::{Len, Program, Range, Ty};
use std::rc::Rc;

/// One projection with its index known as an interval (inside the array) and perhaps as a linear form.
#[derive(Clone, Debug)]
pub enum Step {
    Field(usize),
    Index { at: Itv, lin: Option<Lin> },
    Slice { off: Itv, len: usize, lin: Option<Lin> },
}

/// `steps` followed by one more; an index into a slice becomes an index into the array.
pub fn push_step(steps: &mut Vec<Step>, step: Step) {
    let Some(Step::Slice { off, lin: base, .. }) = steps.last().cloned() else {
        steps.push(step);
        return;
    };
    let sum = |a: Option<Lin>| base.as_ref().zip(a).and_then(|(b, a)| b.add(&a));
    let merged = match step {
        Step::Index { at, lin } => Step::Index { at: off.add(&at), lin: sum(lin) },
        Step::Slice { off: o, len, lin } => Step::Slice { off: off.add(&o), len, lin: sum(lin) },
        Step::Field(_) => step,
    };
    steps.pop();
    steps.push(merged);
}

/// Element and field numbers, when all are known.
pub fn concrete(steps: &[Step]) -> Option<Vec<usize>> {
    steps
        .iter()
        .map(|s| match s {
            Step::Field(i) => Some(*i),
            Step::Index { at, .. } => at.single()?.small()?.to_usize(),
            Step::Slice { .. } => None,
        })
        .collect()
}

/// Inclusive element numbers an interval can take in an array of `n`.
fn span(at: &Itv, n: usize) -> std::ops::Range<usize> {
    let lo = at.lo.small().and_then(|v| v.max(0).to_usize()).unwrap_or(0);
    let hi = at.hi.small().map_or(n, |v| if v < 0 { 0 } else { usize::try_from(v).unwrap_or(usize::MAX).saturating_add(1) });
    lo.min(n)..hi.min(n)
}

fn joined(vs: &[Abs], f: impl Fn(&Abs) -> Abs) -> Option<Abs> {
    vs.iter().map(f).reduce(|a, b| a.join(&b))
}

/// The value at a place; `None` where nothing can be there (dead code, shape mismatch).
pub fn read(v: &Abs, steps: &[Step]) -> Option<Abs> {
    let Some((step, rest)) = steps.split_first() else { return Some(v.clone()) };
    match (v, step) {
        (Abs::Struct(fs), Step::Field(i)) => read(fs.get(*i)?, rest),
        (Abs::Arr(es), Step::Index { at, .. }) => {
            let part = es.get(span(at, es.len()))?;
            match part {
                [one] => read(one, rest),
                _ => joined(part, |e| read(e, rest).unwrap_or_else(|| e.clone())),
            }
        }
        (Abs::Sum(e), Step::Index { .. }) => read(e, rest),
        (Abs::Sum(e), Step::Slice { len, .. }) => read(&Abs::Arr(Rc::new(vec![(**e).clone(); *len])), rest),
        (Abs::Arr(es), Step::Slice { off, len, .. }) => {
            let last = es.len().checked_sub(*len)?;
            let offs = span(off, last + 1);
            let part = (0..*len).map(|t| joined(es.get(offs.start + t..offs.end + t)?, Abs::clone)).collect::<Option<_>>()?;
            read(&Abs::Arr(Rc::new(part)), rest)
        }
        _ => None,
    }
}

/// Writes; where the element is not known the old value stays possible. `keep` joins everywhere (for records).
pub fn write(v: &mut Abs, steps: &[Step], val: &Abs, keep: bool) {
    let Some((step, rest)) = steps.split_first() else {
        *v = if keep { v.join_written(val) } else { val.clone() };
        return;
    };
    match (v, step) {
        (Abs::Struct(fs), Step::Field(i)) => {
            if let Some(f) = Rc::make_mut(fs).get_mut(*i) {
                write(f, rest, val, keep);
            }
        }
        (Abs::Arr(es), Step::Index { at, .. }) => {
            let range = span(at, es.len());
            let weak = range.len() != 1;
            for e in &mut Rc::make_mut(es)[range] {
                weak_write(e, rest, val, keep, weak);
            }
        }
        (Abs::Sum(e), Step::Index { .. }) => weak_write(Rc::make_mut(e), rest, val, keep, true),
        (Abs::Sum(e), Step::Slice { .. }) => {
            if let Abs::Arr(vals) = val {
                vals.iter().for_each(|val| weak_write(Rc::make_mut(e), rest, val, keep, true));
            }
        }
        (Abs::Arr(es), Step::Slice { off, len, .. }) => {
            let Abs::Arr(vals) = val else { return };
            let Some(last) = es.len().checked_sub(*len) else { return };
            let offs = span(off, last + 1);
            let weak = offs.len() != 1;
            let es = Rc::make_mut(es);
            for o in offs {
                for (e, val) in es[o..].iter_mut().zip(vals.iter()) {
                    weak_write(e, &[], val, keep, weak);
                }
            }
        }
        _ => {}
    }
}

fn weak_write(e: &mut Abs, rest: &[Step], val: &Abs, keep: bool, weak: bool) {
    let old = weak.then(|| e.clone());
    write(e, rest, val, keep);
    if let Some(old) = old {
        *e = old.join(e);
    }
}

impl Abs {
    /// Join in which "never written" adds nothing.
    fn join_written(&self, o: &Abs) -> Abs {
        self.join(o).strip()
    }

    /// The value in the representation of `ty`: element-wise or summarised arrays.
    pub fn conform(self, p: &Program, ty: &Ty) -> Abs {
        match (self, ty) {
            (Abs::Arr(es), Ty::Array { elem, len, .. }) => match len {
                Len::Const(n) if *n as usize == es.len() && elem.is_scalar() => Abs::Arr(es),
                Len::Const(_) => Abs::Arr(Rc::new(es.iter().map(|e| e.clone().conform(p, elem)).collect())),
                Len::Param { .. } => {
                    let all = es.iter().map(|e| e.clone().conform(p, elem)).reduce(|a, b| a.join(&b));
                    Abs::Sum(Rc::new(all.unwrap_or_else(|| Abs::any(p, elem))))
                }
            },
            (Abs::Sum(e), Ty::Array { .. }) => match Abs::any(p, ty) {
                Abs::Arr(all) => Abs::Arr(Rc::new(vec![(*e).clone(); all.len()])),
                _ => Abs::Sum(e),
            },
            (other, _) => other,
        }
    }
}

/// Declared type of what `steps` reach: for an index that is not known, every element it can be must accept
/// the value, so the ranges are intersected.
pub fn target_ty(p: &Program, ty: &Ty, steps: &[Step]) -> Ty {
    let Some((step, rest)) = steps.split_first() else { return ty.clone() };
    let next = match (ty, step) {
        (Ty::Struct(id), Step::Field(i)) => match p.structs[id.0 as usize].fields.get(*i) {
            Some(f) => f.1.clone(),
            None => return Ty::Int(None),
        },
        (Ty::Array { elem, ranges, .. }, Step::Index { at, .. }) => match ranges {
            Some(rs) => narrowed(elem, &rs[span(at, rs.len())]),
            None => (**elem).clone(),
        },
        (Ty::Array { elem, ranges, .. }, Step::Slice { off, len, .. }) => {
            let part = ranges.as_ref().and_then(|rs| {
                let offs = span(off, rs.len().checked_sub(*len)? + 1);
                (0..*len)
                    .map(|t| match narrowed(elem, rs.get(offs.start + t..offs.end + t)?) {
                        Ty::Int(r) => r,
                        _ => None,
                    })
                    .collect::<Option<Vec<Range>>>()
            });
            Ty::Array { elem: elem.clone(), len: Len::Const(*len as u64), ranges: part }
        }
        _ => return Ty::Int(None),
    };
    target_ty(p, &next, rest)
}

/// An empty intersection becomes the empty range, which no value fits.
fn narrowed(elem: &Ty, ranges: &[Range]) -> Ty {
    match meet_ranges(ranges.iter()) {
        Some(m) => Ty::Int(Some(m.closed().unwrap_or_else(|| Range::new(1, 0)))),
        None => elem.clone(),
    }
}
