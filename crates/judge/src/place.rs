//! Places: which elements a place may mean, what is read there, what a write leaves.

use santoku_num::{Int, Itv};
use crate::lin::Lin;
use crate::value::{common, small, Val, MAX_ELEMENTS};
use santoku_ir::{Len, LocalId, Program, Range, Ty};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Of an array with one value for all elements: elements `[start, end)` that every execution has written.
pub type Covers = BTreeMap<LocalId, Vec<(Lin, Lin)>>;

/// A projection whose index lies inside the array.
#[derive(Clone, Debug)]
pub enum Step {
    Field(usize),
    /// `len` consecutive elements (an index: `None`, one element itself).
    Part { at: Itv, form: Option<Lin>, len: Option<usize> },
}

/// A slice of a slice is a slice.
pub fn push(steps: &mut Vec<Step>, step: Step) {
    match (steps.last_mut(), step) {
        (Some(Step::Part { at, form, len: len @ Some(_) }), Step::Part { at: more, form: f, len: l }) => {
            *at = at.add(&more);
            *form = form.as_ref().zip(f).map(|(a, b)| a.add(&b));
            *len = l;
        }
        (_, step) => steps.push(step),
    }
}

/// Element and field numbers, where all are known.
pub fn path(steps: &[Step]) -> Option<Vec<usize>> {
    let number = |s: &Step| match s {
        Step::Field(i) => Some(*i),
        Step::Part { at, len: None, .. } => small(at).and_then(|v| usize::try_from(v).ok()),
        Step::Part { .. } => None,
    };
    steps.iter().map(number).collect()
}

/// First elements that a part of `len` of `n` elements can have.
fn starts(at: &Itv, len: usize, n: usize) -> Option<std::ops::RangeInclusive<usize>> {
    let last = n.checked_sub(len)?;
    let clamped = |v: &Int| if v.is_negative() { 0 } else { v.to_u64().and_then(|v| usize::try_from(v).ok()).unwrap_or(usize::MAX) };
    let (lo, hi) = (clamped(&at.lo), clamped(&at.hi).min(last));
    (lo <= hi).then_some(lo..=hi)
}

/// The value at a place; `None`: there is none.
pub fn read(v: &Val, steps: &[Step]) -> Option<Val> {
    let Some((step, rest)) = steps.split_first() else { return Some(v.clone()) };
    match (v, step) {
        (Val::Rec(fs), Step::Field(i)) => read(fs.get(*i)?, rest),
        (Val::All(e), Step::Part { len: None, .. }) => read(e, rest),
        (Val::All(e), Step::Part { len: Some(n), .. }) => (rest.is_empty() && *n as u64 <= MAX_ELEMENTS).then(|| Val::Arr(Rc::new(vec![(**e).clone(); *n]))),
        (Val::Arr(es), Step::Part { at, len: None, .. }) => {
            starts(at, 1, es.len())?.map(|i| read(&es[i], rest)).reduce(|a, b| Some(a?.join(&b?)))?
        }
        (Val::Arr(es), Step::Part { at, len: Some(n), .. }) if rest.is_empty() => {
            let all = starts(at, *n, es.len())?.map(|o| Val::Arr(Rc::new(es[o..o + n].to_vec())));
            all.reduce(|a, b| a.join(&b))
        }
        _ => None,
    }
}

/// Writes. Where it is not known which element, the old value stays possible. `None`: there is no such place.
pub fn write(v: &mut Val, steps: &[Step], new: &Val) -> Option<()> {
    let Some((step, rest)) = steps.split_first() else {
        *v = new.clone();
        return Some(());
    };
    match (v, step) {
        (Val::Rec(fs), Step::Field(i)) => write(Rc::make_mut(fs).get_mut(*i)?, rest, new),
        (Val::All(e), Step::Part { len: None, .. }) => perhaps(Rc::make_mut(e), rest, new),
        (Val::All(e), Step::Part { len: Some(_), .. }) => {
            let Val::Arr(vs) = new else { return None };
            vs.iter().try_for_each(|v| perhaps(Rc::make_mut(e), rest, v))
        }
        (Val::Arr(es), Step::Part { at, len, .. }) => {
            let all = starts(at, len.unwrap_or(1), es.len())?;
            let certain = all.start() == all.end();
            let put = |e: &mut Val, v: &Val| if certain { write(e, rest, v) } else { perhaps(e, rest, v) };
            let es = Rc::make_mut(es);
            match (len, new) {
                (None, _) => es[all].iter_mut().try_for_each(|e| put(e, new)),
                (Some(n), Val::Arr(vs)) if vs.len() == *n && rest.is_empty() => all.into_iter().try_for_each(|o| es[o..].iter_mut().zip(vs.iter()).try_for_each(|(e, v)| put(e, v))),
                _ => None,
            }
        }
        _ => None,
    }
}

fn perhaps(e: &mut Val, rest: &[Step], new: &Val) -> Option<()> {
    let old = e.clone();
    write(e, rest, new)?;
    *e = old.join(e);
    Some(())
}

/// The declared type of what the steps reach. Where it is not known which element, all of them must accept the value: the
/// ranges are intersected, and an empty intersection accepts nothing (`None`).
pub fn target(p: &Program, ty: &Ty, steps: &[Step]) -> Option<Ty> {
    let Some((step, rest)) = steps.split_first() else { return Some(ty.clone()) };
    let all = |elem: &Ty, rs: &[Range]| -> Option<Ty> {
        let i = common(rs)?;
        elem.is_scalar().then(|| Ty::Int(Some(i)))
    };
    let next = match (ty, step) {
        (Ty::Struct(id), Step::Field(i)) => p.structs[id.0 as usize].fields.get(*i)?.1.clone(),
        (Ty::Array { elem, ranges: None, .. }, Step::Part { len: None, .. }) => (**elem).clone(),
        (Ty::Array { elem, ranges: None, .. }, Step::Part { len: Some(n), .. }) => Ty::Array { elem: elem.clone(), len: Len::Const(*n as u64), ranges: None },
        (Ty::Array { elem, ranges: Some(rs), .. }, Step::Part { at, len: None, .. }) => all(elem, &rs[starts(at, 1, rs.len())?])?,
        (Ty::Array { elem, ranges: Some(rs), .. }, Step::Part { at, len: Some(n), .. }) => {
            let s = starts(at, *n, rs.len())?;
            let one = |t: usize| if let Some(Ty::Int(Some(r))) = all(elem, &rs[s.start() + t..=s.end() + t]) { Some(r) } else { None };
            Ty::Array { elem: elem.clone(), len: Len::Const(*n as u64), ranges: Some((0..*n).map(one).collect::<Option<_>>()?) }
        }
        _ => return None,
    };
    target(p, &next, rest)
}
