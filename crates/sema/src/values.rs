//! Constant values, what generic parameters stand for, and where an expression or type stands.

use crate::modules::ModId;
use num_bigint::BigInt;
use santoku_ir::{Len, Range, StructId, Ty};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A constant value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CVal {
    Int(BigInt),
    /// Bits and value.
    Word(u32, BigInt),
    Bool(bool),
    Array(Vec<CVal>),
    Struct(StructId, Vec<CVal>),
}

/// What a generic parameter stands for.
#[derive(Clone, Debug)]
pub enum Generic {
    Const(BigInt),
    Type(Ty),
    /// A length: constant, or in terms of the length parameters of the function being lowered.
    Len(Len),
}

/// Where an expression or type stands.
#[derive(Clone, Debug)]
pub struct Env {
    pub module: ModId,
    pub generics: BTreeMap<String, Generic>,
    /// Comprehension and index variables, innermost last.
    pub vars: Vec<(String, CVal)>,
    /// Run-time variables in scope: they hide constants of the same name.
    pub hidden: Rc<BTreeSet<String>>,
}

impl Env {
    pub fn var(&self, name: &str) -> Option<&CVal> {
        self.vars.iter().rev().find(|(n, _)| n == name).map(|(_, v)| v)
    }
    /// Whether the name means something else than a top-level item.
    pub fn binds(&self, name: &str) -> bool {
        self.var(name).is_some() || self.hidden.contains(name) || self.generics.contains_key(name)
    }
    /// The generic parameter of this name, unless a variable hides it.
    pub fn generic(&self, name: &str) -> Option<&Generic> {
        let hidden = self.var(name).is_some() || self.hidden.contains(name);
        self.generics.get(name).filter(|_| !hidden)
    }
}

/// Scalars in a constant; a long integer counts once more per 64 bits.
pub fn weight(v: &CVal) -> u64 {
    match v {
        CVal::Int(v) => 1 + v.bits() / 64,
        CVal::Word(..) | CVal::Bool(_) => 1,
        CVal::Array(vs) | CVal::Struct(_, vs) => vs.iter().map(weight).sum(),
    }
}

/// The narrowest type of a constant.
pub fn const_ty(v: &CVal) -> Ty {
    match v {
        CVal::Int(v) => Ty::Int(Some(Range::point(v))),
        CVal::Word(b, _) => Ty::Word(*b),
        CVal::Bool(_) => Ty::Bool,
        CVal::Array(vs) => {
            let mut elem = Ty::Int(Some(Range::new(0, 0)));
            for (i, v) in vs.iter().enumerate() {
                elem = if i == 0 { const_ty(v) } else { join(&elem, &const_ty(v)) };
            }
            Ty::array(elem, vs.len() as u64)
        }
        CVal::Struct(id, _) => Ty::Struct(*id),
    }
}

pub fn join(a: &Ty, b: &Ty) -> Ty {
    match (a, b) {
        (Ty::Int(Some(x)), Ty::Int(Some(y))) => Ty::Int(Some(x.join(y))),
        (Ty::Array { elem: x, len, .. }, Ty::Array { elem: y, .. }) => {
            Ty::Array { elem: Box::new(join(x, y)), len: len.clone(), ranges: None }
        }
        _ => a.clone(),
    }
}

/// A declared type whose open integers take the range of the value.
pub fn with_value_ranges(ty: &Ty, v: &CVal) -> Ty {
    if crate::sty::open_int(ty) {
        const_ty(v)
    } else {
        ty.clone()
    }
}
