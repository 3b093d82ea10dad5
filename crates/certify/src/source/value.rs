//! Values of the symbolic executor: trees of terms.
//!
//! Needs: terms, types.  Keeps: copies are cheap (shared until written); elements and fields in storage order.  Absent:
//! places ([`super::place`]).

use crate::term::{T, Terms, Written};
use super::stop::Stop;
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use santoku_ir::interp::{self, Int};
use santoku_ir::{Func, Len, Program, Ty};
use std::rc::Rc;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Never assigned. Reading it stops the execution.
    Undef,
    Scalar(T),
    /// Elements of an array or fields of a struct, all there.
    Parts(Rc<Vec<Value>>),
    /// An array of run-time length.
    Run(Rc<RunArray>),
}

/// An array of run-time length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunArray {
    pub content: Written,
    pub elem: Ty,
}

impl Value {
    pub fn parts(parts: Vec<Value>) -> Value {
        Value::Parts(Rc::new(parts))
    }

    /// An array of run-time length.
    pub fn run(content: Written, elem: Ty) -> Value {
        Value::Run(Rc::new(RunArray { content, elem }))
    }

    /// A scalar.
    ///
    /// # Errors
    /// [`Stop::Undefined`], [`Stop::Malformed`] for an aggregate.
    pub fn scalar(&self) -> Result<T, Stop> {
        match self {
            Value::Scalar(t) => Ok(*t),
            Value::Undef => Err(Stop::Undefined),
            Value::Parts(_) | Value::Run(_) => Err(Stop::Malformed("an aggregate for a scalar".into())),
        }
    }

    /// All scalars in storage order. An array of run-time length is one, its number.
    ///
    /// # Errors
    /// [`Stop::Undefined`].
    pub fn flat(&self, terms: &mut Terms) -> Result<Vec<T>, Stop> {
        let mut out = vec![];
        self.flatten(terms, &mut out)?;
        Ok(out)
    }

    fn flatten(&self, terms: &mut Terms, out: &mut Vec<T>) -> Result<(), Stop> {
        match self {
            Value::Undef | Value::Scalar(_) => out.push(self.scalar()?),
            Value::Parts(parts) => parts.iter().try_for_each(|p| p.flatten(terms, out))?,
            Value::Run(run) => out.push(run.content.number(terms).ok_or(Stop::Undefined)?),
        }
        Ok(())
    }

    /// The value of a type of fixed size whose scalars are `next`, in storage order.
    ///
    /// # Errors
    /// [`Stop::Malformed`]: run-time length, or too few scalars.
    pub fn build(program: &Program, ty: &Ty, next: &mut dyn Iterator<Item = T>) -> Result<Value, Stop> {
        Ok(match ty {
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => {
                Value::Scalar(next.next().ok_or_else(|| Stop::Malformed("too few scalars".into()))?)
            }
            Ty::Array { elem, len: Len::Const(n), .. } => {
                Value::parts((0..*n).map(|_| Value::build(program, elem, next)).collect::<Result<_, _>>()?)
            }
            Ty::Array { len: Len::Param { .. }, .. } => return Err(Stop::Malformed("a run-time length".into())),
            Ty::Struct(id) => {
                let fields = &program.structs.get(id.0 as usize).ok_or_else(|| Stop::Malformed("no such struct".into()))?.fields;
                Value::parts(fields.iter().map(|(_, t)| Value::build(program, t, next)).collect::<Result<_, _>>()?)
            }
        })
    }

    /// A value of this type, nothing of which is assigned.
    pub fn blank(program: &Program, ty: &Ty) -> Result<Value, Stop> {
        Ok(match ty {
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => Value::Undef,
            // Elements are alike and shared.
            Ty::Array { elem, len: Len::Const(n), .. } => {
                let n = usize::try_from(*n).ok().filter(|n| *n as u64 <= santoku_bytes::layout::UNITS_MAX).ok_or(Stop::TooBig)?;
                Value::parts(vec![Value::blank(program, elem)?; n])
            }
            Ty::Array { elem, len: Len::Param { .. }, .. } => {
                Value::run(Written::unset(), (**elem).clone())
            }
            Ty::Struct(id) => {
                let fields = &program.structs.get(id.0 as usize).ok_or_else(|| Stop::Malformed("no such struct".into()))?.fields;
                Value::parts(fields.iter().map(|(_, t)| Value::blank(program, t)).collect::<Result<_, _>>()?)
            }
        })
    }

    /// Every scalar replaced; arrays of run-time length stay.
    pub fn map(&self, f: &mut dyn FnMut(T) -> T) -> Value {
        match self {
            Value::Scalar(t) => Value::Scalar(f(*t)),
            Value::Parts(parts) => Value::parts(parts.iter().map(|p| p.map(f)).collect()),
            Value::Undef | Value::Run(_) => self.clone(),
        }
    }

    /// `if c { self } else { other }`. What is assigned on one side alone is taken from there: no read of it can follow
    /// where the other side was taken, for nothing is read before it is assigned.
    pub fn select(&self, terms: &mut Terms, c: T, other: &Value) -> Result<Value, Stop> {
        Ok(match (self, other) {
            (Value::Undef, x) | (x, Value::Undef) => x.clone(),
            (Value::Scalar(a), Value::Scalar(b)) => Value::Scalar(if a == b { *a } else { terms.ite(c, *a, *b) }),
            (Value::Parts(a), Value::Parts(b)) if Rc::ptr_eq(a, b) => self.clone(),
            (Value::Parts(a), Value::Parts(b)) if a.len() == b.len() => {
                Value::parts(a.iter().zip(b.iter()).map(|(x, y)| x.select(terms, c, y)).collect::<Result<_, _>>()?)
            }
            (Value::Run(a), Value::Run(b)) if Rc::ptr_eq(a, b) => self.clone(),
            (Value::Run(a), Value::Run(b)) if a.elem == b.elem => Value::run(a.content.either(terms, c, &b.content), a.elem.clone()),
            (_, _) => return Err(Stop::Malformed("a choice between values of two shapes".into())),
        })
    }
}

/// A type with the lengths that are known written into it.
pub fn with_lengths(ty: &Ty, known: &dyn Fn(&Len) -> Option<u64>) -> Ty {
    match ty {
        Ty::Array { elem, len, ranges } => Ty::Array {
            elem: Box::new(with_lengths(elem, known)),
            len: known(len).map_or_else(|| len.clone(), Len::Const),
            ranges: ranges.clone(),
        },
        Ty::Word(_) | Ty::Int(_) | Ty::Bool | Ty::Struct(_) => ty.clone(),
    }
}

/// A length, where those of the function are known.
pub fn known_length(f: &Func, lens: &[u64], len: &Len) -> Option<u64> {
    match len {
        Len::Const(n) => Some(*n),
        Len::Param { param, add } => lens[f.lens.iter().position(|l| l == param)?].checked_add_signed(*add),
    }
}

/// The scalars of an interpreter's value in storage order.
pub fn scalars_of(value: &interp::Value) -> Vec<BigInt> {
    match value.parts() {
        Some(parts) => parts.iter().flat_map(scalars_of).collect(),
        None => value.to_integer().into_iter().collect(),
    }
}

/// The interpreter's value of a type of fixed size, from its scalars in storage order.
pub fn concrete(program: &Program, ty: &Ty, scalars: &mut dyn Iterator<Item = BigInt>) -> Option<interp::Value> {
    Some(match ty {
        Ty::Word(_) => interp::Value::Word(scalars.next()?.to_u128()?),
        Ty::Bool => interp::Value::Bool(!scalars.next()?.is_zero()),
        Ty::Int(_) => interp::Value::Int(Int::from(scalars.next()?)),
        Ty::Array { elem, len: Len::Const(n), .. } => {
            interp::Value::array((0..*n).map(|_| concrete(program, elem, scalars)).collect::<Option<_>>()?)
        }
        Ty::Array { len: Len::Param { .. }, .. } => return None,
        Ty::Struct(id) => {
            let fields = &program.structs.get(id.0 as usize)?.fields;
            interp::Value::structure(fields.iter().map(|(_, t)| concrete(program, t, scalars)).collect::<Option<_>>()?)
        }
    })
}
