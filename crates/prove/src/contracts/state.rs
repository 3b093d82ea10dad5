//! Symbolic values of program variables.

use crate::algebra::num::Num;
use crate::algebra::{Atoms, Poly};
use crate::itv::Itv;
use num_bigint::BigInt;
use santoku_ir::{ConstValue, Len, Program, Ty};
use std::rc::Rc;

/// A scalar as a polynomial (booleans are 0/1), an aggregate of known size, or an array of run-time length of which
/// nothing but the element type is tracked.
#[derive(Clone, Debug)]
pub enum SVal {
    Num(Rc<Num>),
    Agg(Rc<Vec<SVal>>),
    Opaque(Ty),
    Undef,
}

impl SVal {
    pub fn num(n: Num) -> SVal {
        SVal::Num(Rc::new(n))
    }
    pub fn agg(v: Vec<SVal>) -> SVal {
        SVal::Agg(Rc::new(v))
    }
    pub fn elems(&self) -> Option<&[SVal]> {
        match self {
            SVal::Agg(v) => Some(v),
            SVal::Num(_) | SVal::Opaque(_) | SVal::Undef => None,
        }
    }
}

/// Whether new atoms are inputs (with samples) or results of something unseen (without).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fresh {
    Input,
    Unknown,
}

/// Interval that the type alone gives a scalar.
pub fn type_iv(ty: &Ty) -> Itv {
    match ty {
        Ty::Word(b) => Itv::word(*b),
        Ty::Int(Some(r)) => Itv::from(r),
        Ty::Bool => Itv::new(0, 1),
        Ty::Int(None) | Ty::Array { .. } | Ty::Struct(_) => Itv::TOP,
    }
}

/// A value of type `ty` made of fresh atoms named after `name`.
pub fn fresh(p: &Program, atoms: &mut Atoms, ty: &Ty, name: &str, how: Fresh) -> SVal {
    match ty {
        Ty::Word(_) | Ty::Int(_) | Ty::Bool => scalar(atoms, name, type_iv(ty), how),
        Ty::Array { elem, len: Len::Const(n), ranges } => SVal::agg(
            (0..*n as usize)
                .map(|i| {
                    let at = format!("{name}[{i}]");
                    match ranges.as_ref().and_then(|r| r.get(i)) {
                        Some(r) => scalar(atoms, &at, Itv::from(r), how),
                        None => fresh(p, atoms, elem, &at, how),
                    }
                })
                .collect(),
        ),
        Ty::Array { .. } => SVal::Opaque(ty.clone()),
        Ty::Struct(s) => SVal::agg(
            p.structs[s.0 as usize].fields.iter().map(|(f, t)| fresh(p, atoms, t, &format!("{name}.{f}"), how)).collect(),
        ),
    }
}

fn scalar(atoms: &mut Atoms, name: &str, iv: Itv, how: Fresh) -> SVal {
    let poly = match how {
        Fresh::Input => atoms.input(name, iv.clone()),
        Fresh::Unknown => atoms.opaque(name, iv.clone()),
    };
    SVal::num(Num { p: poly, iv })
}

/// Nothing assigned yet; aggregates get their shape so that elements can be assigned one by one.
pub fn undefined(p: &Program, ty: &Ty) -> SVal {
    match ty {
        Ty::Word(_) | Ty::Int(_) | Ty::Bool => SVal::Undef,
        Ty::Array { elem, len: Len::Const(n), .. } => SVal::agg(vec![undefined(p, elem); *n as usize]),
        Ty::Array { .. } => SVal::Opaque(ty.clone()),
        Ty::Struct(s) => SVal::agg(p.structs[s.0 as usize].fields.iter().map(|(_, t)| undefined(p, t)).collect()),
    }
}

/// A fully evaluated constant.
pub fn constant(v: &ConstValue) -> SVal {
    match v {
        ConstValue::Scalar(c) => SVal::num(Num::constant(c.clone())),
        ConstValue::Array(vs) | ConstValue::Struct(vs) => SVal::agg(vs.iter().map(constant).collect()),
    }
}

/// `if c { a } else { b }`, leaf by leaf.
pub fn select(c: &Poly, a: &SVal, b: &SVal) -> SVal {
    if let Some(v) = c.as_const() {
        return if v == BigInt::from(0) { b.clone() } else { a.clone() };
    }
    match (a, b) {
        (SVal::Num(x), SVal::Num(y)) => {
            if x.p == y.p {
                return SVal::num(Num { p: x.p.clone(), iv: x.iv.meet(&y.iv) });
            }
            let p = y.p.add(&c.mul(&x.p.sub(&y.p)));
            SVal::num(Num { p, iv: x.iv.join(&y.iv) })
        }
        (SVal::Agg(x), SVal::Agg(y)) if Rc::ptr_eq(x, y) => a.clone(),
        (SVal::Agg(x), SVal::Agg(y)) if x.len() == y.len() => {
            SVal::agg(x.iter().zip(y.iter()).map(|(x, y)| select(c, x, y)).collect())
        }
        (SVal::Opaque(_), _) => a.clone(),
        (_, SVal::Opaque(_)) => b.clone(),
        _ => SVal::Undef,
    }
}
