//! Abstract values: what every execution that gets here has in a scalar, element by element.

use santoku_num::{Int, Itv};
use crate::lin::Lin;
use santoku_ir::{ConstValue, Len, LocalId, Program, Range, Ty};
use std::rc::Rc;

/// Longer arrays share one element; a value of more scalars is refused.
pub const MAX_ELEMENTS: u64 = 1 << 16;
const MAX_SCALARS: u64 = 1 << 20;

/// A condition about stored scalars and forms.
#[derive(Clone, Debug, PartialEq)]
pub struct Cond {
    pub vars: Vec<CondVar>,
    /// Forms that are all `>= 0` when it holds, and when it does not.
    pub yes: Vec<Lin>,
    pub no: Vec<Lin>,
    /// Whether it holds whenever `yes` does, and does not whenever `no` does.
    pub exact: (bool, bool),
}

/// A stored scalar: where it lies when the condition holds and when it does not. `None`: nowhere.
#[derive(Clone, Debug, PartialEq)]
pub struct CondVar {
    pub frame: u64,
    pub local: LocalId,
    pub path: Vec<usize>,
    pub version: u64,
    pub yes: Option<Itv>,
    pub no: Option<Itv>,
}

impl Cond {
    pub fn negated(&self) -> Cond {
        let vars = self.vars.iter().map(|v| CondVar { yes: v.no.clone(), no: v.yes.clone(), ..v.clone() }).collect();
        Cond { vars, yes: self.no.clone(), no: self.yes.clone(), exact: (self.exact.1, self.exact.0) }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Sc {
    /// `None`: no execution has written it.
    pub itv: Option<Itv>,
    /// Every execution has.
    pub def: bool,
    pub form: Option<Rc<Lin>>,
    pub cond: Option<Rc<Cond>>,
}

impl Sc {
    pub fn new(itv: Itv) -> Sc {
        Sc { itv: Some(itv), def: true, form: None, cond: None }
    }
    pub fn unwritten() -> Sc {
        Sc { itv: None, def: false, form: None, cond: None }
    }
    pub fn with_form(itv: Itv, form: Option<Lin>) -> Sc {
        Sc { form: form.map(Rc::new), ..Sc::new(itv) }
    }
    fn bare(&self) -> Sc {
        Sc { form: None, cond: None, ..self.clone() }
    }
    fn join(&self, o: &Sc) -> Sc {
        let itv = match (&self.itv, &o.itv) {
            (Some(a), Some(b)) => Some(a.join(b)),
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        let form = self.form.clone().filter(|f| Some(f) == o.form.as_ref());
        let cond = self.cond.clone().filter(|c| Some(c) == o.cond.as_ref());
        Sc { itv, def: self.def && o.def, form, cond }
    }
}

/// What a scalar type can hold; `None`: an integer without a range, or no scalar.
pub fn of_type(ty: &Ty) -> Option<Itv> {
    match ty {
        Ty::Word(bits) => Some(Itv::word(*bits)),
        Ty::Bool => Some(Itv::bool()),
        Ty::Int(Some(r)) => r.clone().non_empty(),
        Ty::Int(None) | Ty::Array { .. } | Ty::Struct(_) => None,
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Val {
    Sc(Sc),
    /// One value per element.
    Arr(Rc<Vec<Val>>),
    /// One for all elements: of a length known at run time, or very many. Never certainly written, but where [`crate::place::Covers`] say so.
    All(Rc<Val>),
    Rec(Rc<Vec<Val>>),
}

impl Val {
    /// How many scalars it holds, roughly: by the first element of an array.
    pub fn elements(&self) -> u64 {
        match self {
            Val::Arr(es) => es.len() as u64 * es.first().map_or(0, Val::elements),
            Val::Rec(fs) => fs.iter().map(Val::elements).sum(),
            Val::All(e) => e.elements(),
            Val::Sc(_) => 1,
        }
    }
    /// A value of the type; `leaf` sees the scalar's type with the range of its element.
    pub fn build(p: &Program, ty: &Ty, leaf: &mut dyn FnMut(&Ty) -> Option<Sc>) -> Option<Val> {
        scalars(p, ty)?;
        Val::built(p, ty, leaf)
    }
    fn built(p: &Program, ty: &Ty, leaf: &mut dyn FnMut(&Ty) -> Option<Sc>) -> Option<Val> {
        Some(match ty {
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => Val::Sc(leaf(ty)?),
            Ty::Array { elem, len: Len::Const(n), ranges } if *n <= MAX_ELEMENTS => {
                let own = |i: u64| ranges.as_ref().and_then(|r| r.get(i as usize)).map(|r| Ty::Int(Some(r.clone())));
                Val::Arr(Rc::new((0..*n).map(|i| Val::built(p, own(i).as_ref().unwrap_or(elem), leaf)).collect::<Option<_>>()?))
            }
            Ty::Array { elem, .. } => Val::All(Rc::new(Val::built(p, elem, leaf)?)),
            Ty::Struct(id) => Val::Rec(Rc::new(p.structs[id.0 as usize].fields.iter().map(|(_, t)| Val::built(p, t, leaf)).collect::<Option<_>>()?)),
        })
    }
    /// Anything of the type, written. `None`: an integer in it has no range.
    pub fn any(p: &Program, ty: &Ty) -> Option<Val> {
        Val::build(p, ty, &mut |t| of_type(t).map(Sc::new))
    }
    pub fn unwritten(p: &Program, ty: &Ty) -> Val {
        Val::build(p, ty, &mut |_| Some(Sc::unwritten())).unwrap_or(Val::Sc(Sc::unwritten()))
    }
    pub fn of_const(v: &ConstValue) -> Option<Val> {
        Some(match v {
            ConstValue::Scalar(v) => Val::Sc(Sc::new(Itv::point(v))),
            ConstValue::Array(vs) => {
                let all: Vec<Val> = vs.iter().map(Val::of_const).collect::<Option<_>>()?;
                if all.len() as u64 <= MAX_ELEMENTS { Val::Arr(Rc::new(all)) } else { Val::All(Rc::new(all.into_iter().reduce(|a, b| a.join(&b))?)) }
            }
            ConstValue::Struct(vs) => Val::Rec(Rc::new(vs.iter().map(Val::of_const).collect::<Option<_>>()?)),
        })
    }
    pub fn scalar(&self) -> Option<&Sc> {
        if let Val::Sc(s) = self { Some(s) } else { None }
    }
    pub fn map(&self, f: &mut dyn FnMut(&Sc) -> Sc) -> Val {
        match self {
            Val::Sc(s) => Val::Sc(f(s)),
            Val::Arr(v) => Val::Arr(Rc::new(v.iter().map(|a| a.map(f)).collect())),
            Val::Rec(v) => Val::Rec(Rc::new(v.iter().map(|a| a.map(f)).collect())),
            Val::All(a) => Val::All(Rc::new(a.map(f))),
        }
    }
    /// Leaf by leaf. Where the shapes differ nothing is known of the result.
    pub fn zip(&self, o: &Val, f: &mut dyn FnMut(&Sc, &Sc) -> Sc) -> Option<Val> {
        let mut each = |a: &[Val], b: &[Val]| -> Option<Rc<Vec<Val>>> {
            (a.len() == b.len()).then_some(())?;
            Some(Rc::new(a.iter().zip(b).map(|(a, b)| a.zip(b, f)).collect::<Option<_>>()?))
        };
        Some(match (self, o) {
            (Val::Sc(a), Val::Sc(b)) => Val::Sc(f(a, b)),
            (Val::Arr(a), Val::Arr(b)) => Val::Arr(each(a, b)?),
            (Val::Rec(a), Val::Rec(b)) => Val::Rec(each(a, b)?),
            (Val::All(a), Val::All(b)) => Val::All(Rc::new(a.zip(b, f)?)),
            _ => return None,
        })
    }
    pub fn join(&self, o: &Val) -> Val {
        match (self, o) {
            (Val::Arr(a), Val::Arr(b)) | (Val::Rec(a), Val::Rec(b)) if Rc::ptr_eq(a, b) => self.clone(),
            _ => self.zip(o, &mut Sc::join).unwrap_or(Val::Sc(Sc::unwritten())),
        }
    }
    /// Calls `f` on every scalar until it says no.
    pub fn every(&self, f: &mut dyn FnMut(&Sc) -> bool) -> bool {
        match self {
            Val::Sc(s) => f(s),
            Val::Arr(v) | Val::Rec(v) => v.iter().all(|a| a.every(f)),
            Val::All(a) => a.every(f),
        }
    }
    /// Holds no scalar at all.
    pub fn is_empty(&self) -> bool {
        self.every(&mut |_| false)
    }
    pub fn defined(&self) -> bool {
        self.every(&mut |s| s.def)
    }
    /// Without forms and conditions, which belong to one execution.
    pub fn bare(&self) -> Val {
        self.map(&mut Sc::bare)
    }
    pub fn at(&self, path: &[usize]) -> Option<&Sc> {
        match (self, path) {
            (Val::Sc(s), []) => Some(s),
            (Val::Arr(v) | Val::Rec(v), [i, rest @ ..]) => v.get(*i)?.at(rest),
            _ => None,
        }
    }
    pub fn at_mut(&mut self, path: &[usize]) -> Option<&mut Sc> {
        match (self, path) {
            (Val::Sc(s), []) => Some(s),
            (Val::Arr(v) | Val::Rec(v), [i, rest @ ..]) => Rc::make_mut(v).get_mut(*i)?.at_mut(rest),
            _ => None,
        }
    }
    /// The same value as arrays of the type have it: element by element, or one for all.
    pub fn shaped(&self, p: &Program, ty: &Ty) -> Option<Val> {
        Some(match (self, ty) {
            (Val::Sc(_), Ty::Word(_) | Ty::Int(_) | Ty::Bool) => self.clone(),
            (Val::Rec(v), Ty::Struct(id)) => {
                let fields = &p.structs[id.0 as usize].fields;
                Val::Rec(Rc::new(v.iter().zip(fields).map(|(v, (_, t))| v.shaped(p, t)).collect::<Option<_>>()?))
            }
            (Val::Arr(v), Ty::Array { elem, len: Len::Const(n), .. }) if *n == v.len() as u64 && *n <= MAX_ELEMENTS => {
                if elem.is_scalar() { self.clone() } else { Val::Arr(Rc::new(v.iter().map(|v| v.shaped(p, elem)).collect::<Option<_>>()?)) }
            }
            (Val::Arr(v), Ty::Array { elem, .. }) => {
                let one = v.iter().map(|v| v.shaped(p, elem)).reduce(|a, b| Some(a?.join(&b?)));
                Val::All(Rc::new(one.unwrap_or_else(|| Val::any(p, elem))?))
            }
            (Val::All(e), Ty::Array { elem, len: Len::Const(n), .. }) if *n <= MAX_ELEMENTS && scalars(p, ty).is_some() => Val::Arr(Rc::new(vec![e.shaped(p, elem)?; *n as usize])),
            (Val::All(e), Ty::Array { elem, .. }) => Val::All(Rc::new(e.shaped(p, elem)?)),
            _ => return None,
        })
    }
}

/// Scalars that a value of the type is told apart by; `None`: too many.
fn scalars(p: &Program, ty: &Ty) -> Option<u64> {
    let all = match ty {
        Ty::Word(_) | Ty::Int(_) | Ty::Bool => 1,
        Ty::Array { elem, len: Len::Const(n), .. } if *n <= MAX_ELEMENTS => n.checked_mul(scalars(p, elem)?)?,
        Ty::Array { elem, .. } => scalars(p, elem)?,
        Ty::Struct(id) => p.structs[id.0 as usize].fields.iter().try_fold(0u64, |n, (_, t)| n.checked_add(scalars(p, t)?))?,
    };
    (all <= MAX_SCALARS).then_some(all)
}

/// What all of these ranges hold; `None`: nothing.
pub fn common(rs: &[Range]) -> Option<Itv> {
    rs.iter().map(|r| r.clone().non_empty()).reduce(|a, b| a?.common(&b?)).flatten()
}

/// Whether an integer inside has a declared range.
pub fn has_ranges(p: &Program, ty: &Ty) -> bool {
    match ty {
        Ty::Word(_) | Ty::Bool => false,
        Ty::Int(r) => r.is_some(),
        Ty::Array { elem, ranges, .. } => ranges.is_some() || has_ranges(p, elem),
        Ty::Struct(id) => p.structs[id.0 as usize].fields.iter().any(|(_, t)| has_ranges(p, t)),
    }
}

/// The small number that an interval is, if it is one.
pub fn small(i: &Itv) -> Option<i128> {
    if let Some(Int::Small(v)) = i.single() { Some(*v) } else { None }
}

/// Of what may never have been written.
pub fn shown(itv: &Option<Itv>) -> String {
    itv.as_ref().map_or_else(|| "nothing".into(), Itv::to_string)
}
