//! Where a specification expression stands, and what it is.

use crate::context::Cx;
use crate::entities::Entity;
use crate::modules::ModId;
use crate::values::Generic;
use num_bigint::BigInt;
use santoku_diag::Span;
use santoku_ir::{StructId, Len, Place, SpecExpr, SpecOp, Ty};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub enum SpecVal {
    One(SpecExpr, SpecTy),
    Tuple(Vec<SpecVal>),
    /// A slice of run-time length.
    View(Box<View>),
}

/// Slot, bounds and body of `sum` and `forall`.
pub type Binder = (u32, Box<SpecExpr>, Box<SpecExpr>, Box<SpecExpr>);

/// Where a specification expression stands.
pub struct Scope<'a, 'w> {
    pub(crate) cx: &'a mut Cx<'w>,
    pub(crate) module: ModId,
    pub(crate) generics: BTreeMap<String, Generic>,
    /// Binders, outermost first; the position is the slot.
    pub(crate) vars: Vec<(String, SpecTy)>,
    /// Parameters and results of the function a contract belongs to; in ghost text all variables in scope.
    pub(crate) places: BTreeMap<String, SpecVal>,
    /// Moduli of the values that became integers, and where.
    pub(crate) moduli: Vec<(BigInt, Span)>,
}

/// A local as a value of a specification.
pub fn of_local(id: santoku_ir::LocalId, ty: &Ty) -> SpecVal {
    SpecVal::One(SpecExpr::Place(Place::local(id)), spec_of(ty))
}

impl<'a, 'w> Scope<'a, 'w> {
    pub fn new(cx: &'a mut Cx<'w>, module: ModId, generics: &BTreeMap<String, Generic>) -> Scope<'a, 'w> {
        let generics = generics.clone();
        Scope { cx, module, generics, vars: Vec::new(), places: BTreeMap::new(), moduli: Vec::new() }
    }

    /// With these names, which hide generic parameters.
    pub fn among(mut self, places: BTreeMap<String, SpecVal>) -> Scope<'a, 'w> {
        self.generics.retain(|name, _| !places.contains_key(name));
        self.places = places;
        self
    }
}

pub fn bin(op: SpecOp, a: SpecExpr, b: SpecExpr) -> SpecExpr {
    SpecExpr::Bin(op, Box::new(a), Box::new(b))
}

pub fn length(len: &Len) -> SpecExpr {
    match len {
        Len::Const(n) => SpecExpr::Int((*n).into()),
        Len::Param { param, add } => {
            let n = SpecExpr::Place(Place::local(*param));
            if *add == 0 {
                n
            } else {
                bin(SpecOp::Add, n, SpecExpr::Int((*add).into()))
            }
        }
    }
}

/// Informal type of a specification value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecTy {
    Int,
    Bool,
    Array(Box<SpecTy>),
    Struct(StructId),
    /// A declared type whose values stand for integers, and what it is otherwise.
    Stands(Entity, Box<SpecTy>),
}

impl SpecTy {
    /// What the type is, whatever its values stand for.
    pub fn into_bare(self) -> SpecTy {
        match self {
            SpecTy::Stands(_, inner) => inner.into_bare(),
            SpecTy::Array(elem) => SpecTy::Array(elem),
            other => other,
        }
    }

    /// As [`Self::into_bare`], elements of arrays too.
    pub fn bare(&self) -> SpecTy {
        match self {
            SpecTy::Stands(_, inner) => inner.bare(),
            SpecTy::Array(elem) => SpecTy::Array(Box::new(elem.bare())),
            other => other.clone(),
        }
    }
}

pub fn spec_of(ty: &Ty) -> SpecTy {
    match ty {
        Ty::Word(_) | Ty::Int(_) => SpecTy::Int,
        Ty::Bool => SpecTy::Bool,
        Ty::Array { elem, .. } => SpecTy::Array(Box::new(spec_of(elem))),
        Ty::Struct(id) => SpecTy::Struct(*id),
    }
}

/// Consecutive elements of an array, as many as a specification says.
#[derive(Clone, Debug)]
pub struct View {
    pub base: SpecExpr,
    pub elem: SpecTy,
    pub at: SpecExpr,
    pub len: SpecExpr,
}

impl View {
    pub fn element(&self, i: SpecExpr) -> SpecExpr {
        SpecExpr::Index(Box::new(self.base.clone()), Box::new(plus(self.at.clone(), i)))
    }
}

pub fn plus(a: SpecExpr, b: SpecExpr) -> SpecExpr {
    let zero = |e: &SpecExpr| matches!(e, SpecExpr::Int(v) if *v == 0.into());
    match (&a, &b) {
        (SpecExpr::Int(x), SpecExpr::Int(y)) => SpecExpr::Int(x + y),
        _ if zero(&a) => b,
        _ if zero(&b) => a,
        _ => bin(SpecOp::Add, a, b),
    }
}
