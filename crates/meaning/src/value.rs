//! Values of one execution for all inputs: polynomials, and aggregates of them.
//! Trusted: field, bytes, leaks.

use crate::atoms::{Atoms, Num};
use crate::poly::Poly;
use santoku_num::Int;
use santoku_ir::{ConstValue, Len, Program, Ty};
use santoku_judge::value::of_type;
use std::rc::Rc;

/// Elements of an array that are followed one by one.
const ELEMENTS: u64 = 1 << 16;
/// Terms that a choice is made of.
const CHOICE: usize = 100_000;

#[derive(Clone, Debug, PartialEq)]
pub enum Val {
    Num(Num),
    Agg(Rc<Vec<Val>>),
    /// An array whose length is not known here.
    Unknown,
    /// One of those, which nobody writes: a number among all.
    Open(usize),
}

impl Val {
    pub fn agg(vs: Vec<Val>) -> Val {
        Val::Agg(Rc::new(vs))
    }
    /// Anything of the type.
    pub fn any(p: &Program, at: &mut Atoms, ty: &Ty) -> Val {
        match ty {
            Ty::Word(_) | Ty::Bool | Ty::Int(_) => Val::Num(at.fresh(of_type(ty))),
            Ty::Array { elem, len: Len::Const(n), ranges } if *n <= ELEMENTS => {
                let own = |i: u64| ranges.as_ref().and_then(|r| r.get(i as usize)).map(|r| Ty::Int(Some(r.clone())));
                Val::agg((0..*n).map(|i| Val::any(p, at, own(i).as_ref().unwrap_or(elem))).collect())
            }
            Ty::Array { .. } => Val::Unknown,
            Ty::Struct(id) => Val::agg(p.structs[id.0 as usize].fields.iter().map(|(_, t)| Val::any(p, at, t)).collect()),
        }
    }
    pub fn of_const(v: &ConstValue) -> Val {
        match v {
            ConstValue::Scalar(v) => Val::Num(Num::constant(Int::from(v))),
            ConstValue::Array(vs) | ConstValue::Struct(vs) => Val::agg(vs.iter().map(Val::of_const).collect()),
        }
    }
    /// `first`, or where one of these 0/1 polynomials is 1 (at most one is) the value beside it. `None`: values of different shapes.
    pub fn choose(at: &Atoms, first: &Val, others: &[(Poly, &Val)]) -> Option<Val> {
        Some(match first {
            _ if others.iter().all(|(_, v)| *v == first) => first.clone(),
            Val::Num(a) => {
                let (mut p, mut itv) = (a.p.clone(), a.itv.clone());
                for (c, v) in others {
                    let Val::Num(b) = v else { return None };
                    if c.len() * (a.p.len() + b.p.len()) > CHOICE {
                        return None;
                    }
                    p = p.add(&c.mul(&b.p.sub(&a.p)));
                    itv = itv.zip(b.itv.as_ref()).map(|(a, b)| a.join(b));
                }
                Val::Num(Num { p: at.simplified(&p), itv })
            }
            Val::Agg(es) => Val::agg((0..es.len()).map(|i| {
                let part = |(c, v): &(Poly, &'_ Val)| if let Val::Agg(fs) = v { Some((c.clone(), fs.get(i)?.clone())) } else { None };
                let others: Vec<(Poly, Val)> = others.iter().map(part).collect::<Option<_>>()?;
                Val::choose(at, &es[i], &others.iter().map(|(c, v)| (c.clone(), v)).collect::<Vec<_>>())
            }).collect::<Option<_>>()?),
            Val::Open(_) => return None,
            Val::Unknown => others.iter().all(|(_, v)| **v == Val::Unknown).then_some(Val::Unknown)?,
        })
    }
}

/// The part of a value; a number of elements ends the path.
pub fn part(v: &Val, path: &[(usize, Option<usize>)]) -> Option<Val> {
    match (path.split_first(), v) {
        (None, _) => Some(v.clone()),
        (Some(((i, None), rest)), Val::Agg(es)) => part(es.get(*i)?, rest),
        (Some(((o, Some(n)), [])), Val::Agg(es)) => Some(Val::agg(es.get(*o..o.checked_add(*n)?)?.to_vec())),
        _ => None,
    }
}

/// The scalars of a value in storage order. `None`: it has parts that are not followed.
pub fn flat(v: &Val, out: &mut Vec<Num>) -> Option<()> {
    match v {
        Val::Num(n) => out.push(n.clone()),
        Val::Agg(es) => es.iter().try_for_each(|e| flat(e, out))?,
        Val::Unknown | Val::Open(_) => return None,
    }
    Some(())
}
