//! Values of the symbolic executor: trees of terms.
//!
//! Needs: terms, types.  Keeps: copies are cheap (shared until written); elements and fields in storage order.  Absent:
//! places ([`super::place`]).

use crate::term::{T, Terms};
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

/// An array of run-time length: what it began as, and what was written since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunArray {
    pub origin: Origin,
    pub elem: Ty,
    /// Oldest first.
    pub writes: Vec<Write>,
}

/// What an array of run-time length holds before any write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Unset,
    /// The array of this number, known to [`super::Environment::read`].
    Input(u32),
    /// Every element is this.
    Fill(Value),
}

/// One element written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// 0 or 1: whether the write took place.
    pub when: T,
    pub index: T,
    pub value: Value,
}

impl Value {
    pub fn parts(parts: Vec<Value>) -> Value {
        Value::Parts(Rc::new(parts))
    }

    /// The array of run-time length with this number.
    pub fn input_array(number: u32, elem: Ty) -> Value {
        Value::Run(Rc::new(RunArray { origin: Origin::Input(number), elem, writes: vec![] }))
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

    /// All scalars in storage order. An array of run-time length that nobody has written to is one constant, its number.
    ///
    /// # Errors
    /// [`Stop::Undefined`]; [`Stop::Unsupported`] for arrays of run-time length that were written.
    pub fn flat(&self, terms: &mut Terms) -> Result<Vec<T>, Stop> {
        let mut out = vec![];
        self.flatten(terms, &mut out)?;
        Ok(out)
    }

    fn flatten(&self, terms: &mut Terms, out: &mut Vec<T>) -> Result<(), Stop> {
        match self {
            Value::Undef | Value::Scalar(_) => out.push(self.scalar()?),
            Value::Parts(parts) => parts.iter().try_for_each(|p| p.flatten(terms, out))?,
            Value::Run(run) => match run.origin {
                Origin::Input(number) if run.writes.is_empty() => out.push(terms.int(number)),
                Origin::Input(_) | Origin::Unset | Origin::Fill(_) => {
                    return Err(Stop::Unsupported("an array of run-time length that was written".into()))
                }
            },
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
                Value::Run(Rc::new(RunArray { origin: Origin::Unset, elem: (**elem).clone(), writes: vec![] }))
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
            (Value::Run(a), Value::Run(b)) => Value::Run(Rc::new(a.select(terms, c, b)?)),
            (_, _) => return Err(Stop::Malformed("a choice between values of two shapes".into())),
        })
    }
}

impl RunArray {
    /// The writes both have in common, then those of each side under its condition.
    fn select(&self, terms: &mut Terms, c: T, other: &RunArray) -> Result<RunArray, Stop> {
        if self.origin != other.origin || self.elem != other.elem {
            return Err(Stop::Unsupported("a choice between arrays of run-time length".into()));
        }
        let common = self.writes.iter().zip(&other.writes).take_while(|(a, b)| a == b).count();
        let mut writes = self.writes[..common].to_vec();
        let not_c = terms.sub(Terms::ONE, c);
        for (side, when) in [(&self.writes, c), (&other.writes, not_c)] {
            for w in &side[common..] {
                writes.push(Write { when: terms.and(w.when, when, 1), ..w.clone() });
            }
        }
        Ok(RunArray { origin: self.origin.clone(), elem: self.elem.clone(), writes })
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
