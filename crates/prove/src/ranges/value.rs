//! Abstract values: one interval per scalar, arrays element by element.

mod made;

use crate::itv::Itv;
use super::lin::Lin;
use santoku_num::Bound;
use santoku_ir::{ConstValue, Len, LocalId, Program, Range, Ty};
use std::rc::Rc;

/// Longer arrays share one element.
const MAX_ELEMENTS: u64 = 1 << 16;

/// What is known of a scalar besides its interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    None,
    /// An integer equal to this form.
    Lin(Rc<Lin>),
    /// A boolean equal to this condition.
    Cond(Rc<Cond>),
}

/// A condition on stored scalars, valid while their locals keep these versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cond {
    pub vars: Vec<CondVar>,
    /// Linear facts when the condition is true, and when it is false.
    pub yes: Vec<Lin>,
    pub no: Vec<Lin>,
    /// Whether those facts together say all that the condition, or its negation, says.
    pub exact: (bool, bool),
}

/// One scalar with its interval in both cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CondVar {
    /// The activation whose local it is.
    pub frame: u32,
    pub local: LocalId,
    pub path: Vec<usize>,
    pub version: u32,
    pub yes: Itv,
    pub no: Itv,
}

/// One scalar: `def` says it certainly was written; `term` is its node in the solver's graph (0: none).
///
/// Interval, fact and term speak of one value. Nobody outside can put them together from different ones: a value is made from an
/// interval alone, or by an operation of `made`, which takes all three from the operands; an interval can only be narrowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sc {
    itv: Itv,
    def: bool,
    term: u32,
    fact: Fact,
}

impl Sc {
    pub fn new(itv: Itv) -> Sc {
        Sc { itv, def: true, term: 0, fact: Fact::None }
    }
    pub fn undefined() -> Sc {
        Sc { itv: Itv::EMPTY, def: false, term: 0, fact: Fact::None }
    }
    pub fn itv(&self) -> &Itv {
        &self.itv
    }
    /// Whether it certainly was written.
    pub fn def(&self) -> bool {
        self.def
    }
    pub fn term(&self) -> u32 {
        self.term
    }
    pub fn fact(&self) -> &Fact {
        &self.fact
    }
    /// A truth value that is this condition.
    pub fn condition(itv: Itv, cond: Option<Rc<Cond>>) -> Sc {
        Sc { fact: cond.map_or(Fact::None, Fact::Cond), ..Sc::new(itv) }
    }
    /// The same value, known to lie in `known` as well. Where both exclude each other the path is dead or an obligation is
    /// open: `known` is what counts from here on, and nothing else is known of the value.
    pub fn narrowed(&self, known: &Itv) -> Sc {
        let met = self.itv.meet(known);
        if met.is_empty() {
            return Sc { def: self.def, ..Sc::new(known.clone()) };
        }
        Sc { itv: met, ..self.clone() }
    }
    /// The same value without its form.
    pub fn bare_form(self) -> Sc {
        Sc { fact: Fact::None, ..self }
    }
    /// The negation of a truth value.
    pub fn negated(&self) -> Sc {
        let fact = match &self.fact {
            Fact::Cond(c) => Fact::Cond(Rc::new(c.negated())),
            _ => Fact::None,
        };
        Sc { fact, ..Sc::new(Itv::point(1).sub(&self.itv)) }
    }
    /// A value in this interval that was written as surely as this one, of which nothing else is known.
    pub fn anything_in(&self, itv: Itv) -> Sc {
        Sc { def: self.def, ..Sc::new(itv) }
    }
    /// The same value, where it was written.
    pub fn written(&self) -> Sc {
        Sc { def: true, ..self.clone() }
    }
    /// The interval alone.
    pub fn bare(&self) -> Sc {
        Sc { fact: Fact::None, term: 0, ..self.clone() }
    }
    pub fn lin(&self) -> Option<&Rc<Lin>> {
        match &self.fact {
            Fact::Lin(l) => Some(l),
            _ => None,
        }
    }
    fn join(&self, o: &Sc) -> Sc {
        let fact = if self.fact == o.fact { self.fact.clone() } else { Fact::None };
        let term = if self.term == o.term { self.term } else { 0 };
        Sc { itv: self.itv.join(&o.itv), def: self.def && o.def, term, fact }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Abs {
    Sc(Sc),
    /// One value per element.
    Arr(Rc<Vec<Abs>>),
    /// One value for all elements: lengths known at run time only, or huge.
    Sum(Rc<Abs>),
    Struct(Rc<Vec<Abs>>),
}

impl Abs {
    pub fn scalar(itv: Itv) -> Abs {
        Abs::Sc(Sc::new(itv))
    }
    /// Builds a value of type `ty`; `leaf` sees the scalar type with the range of its element.
    pub fn build(p: &Program, ty: &Ty, leaf: &mut dyn FnMut(&Ty) -> Sc) -> Abs {
        match ty {
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => Abs::Sc(leaf(ty)),
            Ty::Array { elem, len: Len::Const(n), ranges } if *n <= MAX_ELEMENTS => Abs::Arr(Rc::new(
                (0..*n as usize)
                    .map(|i| match ranges.as_ref().and_then(|r| r.get(i)) {
                        Some(r) => Abs::Sc(leaf(&Ty::Int(Some(r.clone())))),
                        None => Abs::build(p, elem, leaf),
                    })
                    .collect(),
            )),
            Ty::Array { elem, .. } => Abs::Sum(Rc::new(Abs::build(p, elem, leaf))),
            Ty::Struct(id) => {
                let fields = &p.structs[id.0 as usize].fields;
                Abs::Struct(Rc::new(fields.iter().map(|(_, t)| Abs::build(p, t, leaf)).collect()))
            }
        }
    }
    /// Any value of the type, written.
    pub fn any(p: &Program, ty: &Ty) -> Abs {
        Abs::build(p, ty, &mut |t| Sc::new(scalar_itv(t)))
    }
    /// No value yet.
    pub fn undefined(p: &Program, ty: &Ty) -> Abs {
        Abs::build(p, ty, &mut |_| Sc::undefined())
    }
    pub fn of_const(v: &ConstValue) -> Abs {
        match v {
            ConstValue::Scalar(v) => Abs::scalar(Itv::point(v)),
            ConstValue::Array(vs) if vs.len() as u64 <= MAX_ELEMENTS => {
                Abs::Arr(Rc::new(vs.iter().map(Abs::of_const).collect()))
            }
            ConstValue::Array(vs) => {
                let all = vs.iter().map(Abs::of_const).reduce(|a, b| a.join(&b));
                Abs::Sum(Rc::new(all.unwrap_or_else(|| Abs::scalar(Itv::EMPTY))))
            }
            ConstValue::Struct(vs) => Abs::Struct(Rc::new(vs.iter().map(Abs::of_const).collect())),
        }
    }
    pub fn as_sc(&self) -> Option<&Sc> {
        match self {
            Abs::Sc(s) => Some(s),
            _ => None,
        }
    }
    /// The interval of a scalar; everything for an aggregate.
    pub fn itv(&self) -> Itv {
        self.as_sc().map_or(Itv::TOP, |s| s.itv.clone())
    }
    pub fn join(&self, o: &Abs) -> Abs {
        self.zip(o, &mut |a, b| a.join(b))
    }
    /// Leaf by leaf; shapes agree but for element-wise against summarised arrays.
    pub fn zip(&self, o: &Abs, f: &mut dyn FnMut(&Sc, &Sc) -> Sc) -> Abs {
        match (self, o) {
            (Abs::Sc(a), Abs::Sc(b)) => Abs::Sc(f(a, b)),
            (Abs::Arr(a), Abs::Arr(b)) => {
                Abs::Arr(Rc::new(a.iter().zip(b.iter()).map(|(a, b)| a.zip(b, f)).collect()))
            }
            (Abs::Struct(a), Abs::Struct(b)) => {
                Abs::Struct(Rc::new(a.iter().zip(b.iter()).map(|(a, b)| a.zip(b, f)).collect()))
            }
            (Abs::Sum(a), Abs::Sum(b)) => Abs::Sum(Rc::new(a.zip(b, f))),
            (Abs::Arr(a), Abs::Sum(b)) => Abs::Arr(Rc::new(a.iter().map(|a| a.zip(b, f)).collect())),
            (Abs::Sum(a), Abs::Arr(b)) => Abs::Arr(Rc::new(b.iter().map(|b| a.zip(b, f)).collect())),
            _ => self.clone(),
        }
    }
    pub fn map(&self, f: &mut dyn FnMut(&Sc) -> Sc) -> Abs {
        match self {
            Abs::Sc(s) => Abs::Sc(f(s)),
            Abs::Arr(v) => Abs::Arr(Rc::new(v.iter().map(|a| a.map(f)).collect())),
            Abs::Struct(v) => Abs::Struct(Rc::new(v.iter().map(|a| a.map(f)).collect())),
            Abs::Sum(a) => Abs::Sum(Rc::new(a.map(f))),
        }
    }
    /// Calls `f` on every scalar until it says no.
    pub fn all(&self, f: &mut dyn FnMut(&Sc) -> bool) -> bool {
        match self {
            Abs::Sc(s) => f(s),
            Abs::Arr(v) | Abs::Struct(v) => v.iter().all(|a| a.all(f)),
            Abs::Sum(a) => a.all(f),
        }
    }
    pub fn defined(&self) -> bool {
        self.all(&mut |s| s.def)
    }
    /// The same value without facts that hold in one run only.
    pub fn strip(&self) -> Abs {
        self.map(&mut Sc::bare)
    }
    /// Whether every value of `o` is one of `self`'s.
    pub fn covers(&self, o: &Abs) -> bool {
        match (self, o) {
            (Abs::Sc(a), Abs::Sc(b)) => {
                a.itv.contains(&b.itv) && (b.def || !a.def) && (a.fact == Fact::None || a.fact == b.fact)
            }
            (Abs::Arr(a), Abs::Arr(b)) | (Abs::Struct(a), Abs::Struct(b)) => {
                a.len() == b.len() && (Rc::ptr_eq(a, b) || a.iter().zip(b.iter()).all(|(a, b)| a.covers(b)))
            }
            (Abs::Sum(a), Abs::Sum(b)) => a.covers(b),
            (Abs::Sum(a), Abs::Arr(b)) => b.iter().all(|b| a.covers(b)),
            _ => false,
        }
    }
    /// Bounds that moved since `old` jump to the next landmark inside the leaf's declared range.
    pub fn widen(&self, old: &Abs, p: &Program, ty: &Ty, hard: bool) -> Abs {
        let bounds = Abs::build(p, ty, &mut |t| Sc::new(scalar_itv(t)));
        let pairs = self.zip(old, &mut |new, old| new.anything_in(landmark(&new.itv, &old.itv, hard)));
        pairs.zip(&bounds, &mut |v, b| v.anything_in(v.itv.meet(&b.itv)))
    }
    /// The scalar at a path of element and field numbers (a summarised array ignores the number).
    pub fn at(&self, path: &[usize]) -> Option<&Sc> {
        match (self, path) {
            (Abs::Sc(s), []) => Some(s),
            (Abs::Arr(v) | Abs::Struct(v), [i, rest @ ..]) => v.get(*i)?.at(rest),
            (Abs::Sum(a), [_, rest @ ..]) => a.at(rest),
            _ => None,
        }
    }
    pub fn at_mut(&mut self, path: &[usize]) -> Option<&mut Sc> {
        match (self, path) {
            (Abs::Sc(s), []) => Some(s),
            (Abs::Arr(v) | Abs::Struct(v), [i, rest @ ..]) => Rc::make_mut(v).get_mut(*i)?.at_mut(rest),
            _ => None,
        }
    }
}

/// The values of a scalar type.
pub fn scalar_itv(ty: &Ty) -> Itv {
    match ty {
        Ty::Word(bits) => Itv::word(*bits),
        Ty::Bool => Itv::BOOL,
        Ty::Int(Some(r)) => Itv::from(r),
        Ty::Int(None) | Ty::Array { .. } | Ty::Struct(_) => Itv::TOP,
    }
}

const LANDMARKS: [u32; 12] = [0, 4, 8, 16, 24, 31, 32, 40, 48, 63, 64, 127];

fn landmark(new: &Itv, old: &Itv, hard: bool) -> Itv {
    let joined = old.join(new);
    if old.is_empty() {
        return joined;
    }
    let up = |v: &Bound| {
        LANDMARKS.iter().map(|k| Bound::mask(*k)).find(|m| !hard && v <= m).unwrap_or(Bound::PosInf)
    };
    let hi = if joined.hi > old.hi { up(&joined.hi) } else { joined.hi.clone() };
    let lo = match () {
        _ if joined.lo >= old.lo => joined.lo.clone(),
        _ if !hard && !joined.lo.is_negative() => Bound::ZERO,
        _ => up(&joined.lo.neg()).neg(),
    };
    Itv { lo, hi }
}

/// Whether any integer inside has a declared range: types without need no check on assignment.
pub fn has_ranges(p: &Program, ty: &Ty) -> bool {
    match ty {
        Ty::Word(_) | Ty::Bool => false,
        Ty::Int(r) => r.is_some(),
        Ty::Array { elem, ranges, .. } => ranges.is_some() || has_ranges(p, elem),
        Ty::Struct(id) => p.structs[id.0 as usize].fields.iter().any(|(_, t)| has_ranges(p, t)),
    }
}

/// Whether any scalar inside is an exact integer.
pub fn has_ints(p: &Program, ty: &Ty) -> bool {
    match ty {
        Ty::Word(_) | Ty::Bool => false,
        Ty::Int(_) => true,
        Ty::Array { elem, .. } => has_ints(p, elem),
        Ty::Struct(id) => p.structs[id.0 as usize].fields.iter().any(|(_, t)| has_ints(p, t)),
    }
}

/// Intersection of ranges; an empty one collapses to a point outside neither (`lo > hi` cannot be stored).
pub fn meet_ranges<'a>(rs: impl Iterator<Item = &'a Range>) -> Option<Itv> {
    rs.map(Itv::from).reduce(|a, b| a.meet(&b))
}
