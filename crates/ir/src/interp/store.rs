//! Writing through projections, and checking what flows into declared types.

use super::fault::{Fault, FaultKind};
use super::ops::{mask, to_usize, Run};
use super::value::Value;
use crate::data::Program;
use crate::ty::{Len, Range, Ty};
use santoku_num::Int;
use std::sync::Arc;

/// Most elements of an array whose elements hold nothing.
const VACUOUS_MAX: usize = 1 << 16;

/// A projection with its index evaluated.
#[derive(Clone, Debug)]
pub(super) enum Walked {
    Field(usize),
    Index(Int),
    Slice(Int, usize),
}

/// How a length is evaluated in the current activation.
pub(super) type Lens<'f> = &'f dyn Fn(&Len) -> Result<usize, FaultKind>;

/// Position of `index` in an array of `len`.
pub(super) fn index_in(index: &Int, len: usize) -> Run<usize> {
    match index.to_u64().and_then(|i| usize::try_from(i).ok()) {
        Some(i) if i < len => Ok(i),
        _ => Err(Fault::new(FaultKind::IndexOutOfBounds { index: index.clone(), len: len as u64 })),
    }
}

/// Start of `count` elements from `off` in an array of `len`.
pub(super) fn slice_in(off: &Int, count: usize, len: usize) -> Run<usize> {
    match off.to_u64().and_then(|o| usize::try_from(o).ok()) {
        Some(o) if o.checked_add(count).is_some_and(|end| end <= len) => Ok(o),
        _ => {
            let fault = FaultKind::SliceOutOfBounds { off: off.clone(), count: count as u64, len: len as u64 };
            Err(Fault::new(fault))
        }
    }
}

/// Writes `value` into the part of `target` (of type `ty`) that `steps` select. Elements never assigned
/// come into being as [`Value::Undef`]; `cost` counts the elements created or copied, `budget` bounds them.
#[allow(clippy::too_many_arguments)] // one call site; the arguments are one activation's view of a place
pub(super) fn store(
    program: &Program,
    target: &mut Value,
    ty: &Ty,
    steps: &[Walked],
    value: Value,
    lens: Lens<'_>,
    cost: &mut u64,
    budget: u64,
) -> Run<()> {
    let (mut at, mut ty) = (target, ty);
    let mut window: Option<(usize, usize)> = None;
    for step in steps {
        expand(program, at, ty, lens, cost, budget)?;
        if let (Walked::Slice(start, count), Value::Array(elems)) = (step, &*at) {
            let (off, len) = window.unwrap_or((0, elems.len()));
            window = Some((off + slice_in(start, *count, len)?, *count));
            continue;
        }
        let here = at;
        (at, ty) = match (step, ty) {
            (Walked::Field(i), Ty::Struct(id)) if window.is_none() => {
                let def = program.structs.get(id.0 as usize).and_then(|d| d.fields.get(*i));
                let (Some((_, t)), Value::Struct(fields)) = (def, here) else { return Err(misfit()) };
                (Arc::make_mut(fields).get_mut(*i).ok_or_else(misfit)?, t)
            }
            (Walked::Index(index), Ty::Array { elem, .. }) => {
                let Value::Array(elems) = here else { return Err(misfit()) };
                let (off, len) = window.take().unwrap_or((0, elems.len()));
                let i = off + index_in(index, len)?;
                (&mut Arc::make_mut(elems)[i], &**elem)
            }
            _ => return Err(misfit()),
        };
    }
    match (window, at, value) {
        (None, at, value) => *at = value,
        (Some((off, n)), Value::Array(elems), Value::Array(new)) if new.len() == n => {
            *cost += n as u64;
            Arc::make_mut(elems)[off..off + n].clone_from_slice(&new);
        }
        (Some(_), _, _) => return Err(Fault::internal("a slice receives something of another shape")),
    }
    Ok(())
}

fn misfit() -> Box<Fault> {
    Fault::internal("a projection does not fit its value")
}

/// Gives a wholly undefined aggregate its parts, each undefined.
fn expand(program: &Program, v: &mut Value, ty: &Ty, lens: Lens<'_>, cost: &mut u64, budget: u64) -> Run<()> {
    if *v != Value::Undef {
        return Ok(());
    }
    match ty {
        Ty::Array { elem, len, .. } => {
            let n = lens(len).map_err(Fault::new)?;
            *cost += n as u64;
            if *cost > budget {
                return Err(Fault::new(FaultKind::OutOfSteps));
            }
            let part = vacuous(program, elem, lens)?.unwrap_or(Value::Undef);
            *v = Value::array(vec![part; n]);
        }
        Ty::Struct(id) => {
            let def = program.structs.get(id.0 as usize).ok_or_else(|| Fault::internal("no such struct"))?;
            let part = |(_, t): &(String, Ty)| Ok(vacuous(program, t, lens)?.unwrap_or(Value::Undef));
            *v = Value::structure(def.fields.iter().map(part).collect::<Run<_>>()?);
        }
        Ty::Word(_) | Ty::Int(_) | Ty::Bool => {}
    }
    Ok(())
}

/// The only value of a type that holds no scalar (an empty array, an array of such): assigned from the start.
pub(super) fn vacuous(program: &Program, ty: &Ty, lens: Lens<'_>) -> Run<Option<Value>> {
    match ty {
        Ty::Word(_) | Ty::Int(_) | Ty::Bool => Ok(None),
        Ty::Array { elem, len, .. } => {
            let n = lens(len).map_err(Fault::new)?;
            if n == 0 {
                return Ok(Some(Value::array(Vec::new())));
            }
            let Some(part) = vacuous(program, elem, lens)? else { return Ok(None) };
            if n > VACUOUS_MAX {
                return Err(Fault::internal("an array of too many empty values"));
            }
            Ok(Some(Value::array(vec![part; n])))
        }
        Ty::Struct(id) => {
            let def = program.structs.get(id.0 as usize).ok_or_else(|| Fault::internal("no such struct"))?;
            let parts = def.fields.iter().map(|(_, t)| vacuous(program, t, lens)).collect::<Run<Option<Vec<Value>>>>()?;
            Ok(parts.map(Value::structure))
        }
    }
}

/// An integer outside a range, before the place has a name.
pub(super) struct Outside {
    value: Int,
    range: Range,
}

impl Outside {
    pub fn at(self, place: &str) -> FaultKind {
        FaultKind::RangeLeft { place: place.to_string(), value: self.value, range: self.range }
    }
}

/// Checks an integer against a range; other values pass.
pub(super) fn in_range(range: &Range, v: &Value) -> Result<(), Outside> {
    match v {
        Value::Int(i) if *i < range.lo || range.hi < *i => Err(Outside { value: i.clone(), range: range.clone() }),
        _ => Ok(()),
    }
}

/// Checks the declared ranges of the place of type `ty` narrowed by `steps` against what flows into it.
pub(super) fn flow<'t>(
    program: &'t Program,
    mut ty: &'t Ty,
    steps: &[Walked],
    value: &Value,
    checked: &mut u64,
) -> Result<(), Outside> {
    // The per-element ranges in force, from this offset on.
    let mut each: Option<&'t [Range]> = None;
    let mut last_was_slice = false;
    for step in steps {
        match (step, ty) {
            (Walked::Field(i), Ty::Struct(id)) => {
                let field = program.structs.get(id.0 as usize).and_then(|d| d.fields.get(*i));
                let Some((_, t)) = field else { return Ok(()) };
                ty = t;
            }
            (Walked::Index(i), Ty::Array { elem, ranges, .. }) => {
                let list = if last_was_slice { each } else { ranges.as_deref() };
                let own = list.zip(i.to_u64()).and_then(|(list, i)| list.get(usize::try_from(i).ok()?));
                if let Some(range) = own {
                    *checked += 1;
                    return in_range(range, value);
                }
                ty = elem;
            }
            (Walked::Slice(off, _), Ty::Array { ranges, .. }) => {
                let list = if last_was_slice { each } else { ranges.as_deref() };
                each = list.zip(off.to_u64()).and_then(|(list, o)| list.get(usize::try_from(o).ok()?..));
                last_was_slice = true;
                continue;
            }
            _ => return Ok(()),
        }
        last_was_slice = false;
    }
    if last_was_slice {
        if let (Ty::Array { elem, .. }, Value::Array(vs)) = (ty, value) {
            return elements(program, elem, each, vs, checked);
        }
        return Ok(());
    }
    whole(program, ty, value, checked)
}

fn whole(program: &Program, ty: &Ty, value: &Value, checked: &mut u64) -> Result<(), Outside> {
    match (ty, value) {
        (Ty::Int(Some(range)), v) => {
            *checked += 1;
            in_range(range, v)
        }
        (Ty::Array { elem, ranges, .. }, Value::Array(vs)) => elements(program, elem, ranges.as_deref(), vs, checked),
        (Ty::Struct(id), Value::Struct(vs)) => {
            let Some(def) = program.structs.get(id.0 as usize) else { return Ok(()) };
            def.fields.iter().zip(vs.iter()).try_for_each(|((_, t), v)| whole(program, t, v, checked))
        }
        _ => Ok(()),
    }
}

fn elements(
    program: &Program,
    elem: &Ty,
    ranges: Option<&[Range]>,
    values: &[Value],
    checked: &mut u64,
) -> Result<(), Outside> {
    for (i, v) in values.iter().enumerate() {
        match ranges.and_then(|r| r.get(i)) {
            Some(range) => {
                *checked += 1;
                in_range(range, v)?;
            }
            None => match elem {
                // Most arrays are bytes; nothing below them has a range.
                Ty::Word(_) | Ty::Bool | Ty::Int(None) => return Ok(()),
                Ty::Int(Some(_)) | Ty::Array { .. } | Ty::Struct(_) => whole(program, elem, v, checked)?,
            },
        }
    }
    Ok(())
}

/// Checks a value from outside against a type: shape, lengths, word sizes, declared ranges.
pub(super) fn fits(program: &Program, ty: &Ty, value: &Value, lens: Lens<'_>) -> Result<(), String> {
    match (ty, value) {
        (Ty::Word(bits), Value::Word(w)) if *w <= mask(*bits) => Ok(()),
        (Ty::Word(bits), Value::Word(w)) => Err(format!("has {w:#x}, more than {bits} bits")),
        (Ty::Bool, Value::Bool(_)) | (Ty::Int(None), Value::Int(_)) => Ok(()),
        (Ty::Int(Some(range)), Value::Int(i)) => {
            in_range(range, value).map_err(|_| format!("has {i}, outside {}..{}", range.lo, range.hi))
        }
        (Ty::Array { elem, len, ranges }, Value::Array(vs)) => {
            let want = lens(len).map_err(|k| k.to_string())?;
            if want != vs.len() {
                return Err(format!("has {} elements instead of {want}", vs.len()));
            }
            for (i, v) in vs.iter().enumerate() {
                match ranges.as_ref().and_then(|r| r.get(i)) {
                    Some(range) => fits(program, &Ty::Int(Some(range.clone())), v, lens)?,
                    None => fits(program, elem, v, lens)?,
                }
            }
            Ok(())
        }
        (Ty::Struct(id), Value::Struct(vs)) => match program.structs.get(id.0 as usize) {
            Some(def) if def.fields.len() == vs.len() => {
                def.fields.iter().zip(vs.iter()).try_for_each(|((_, t), v)| fits(program, t, v, lens))
            }
            _ => Err("has the wrong number of fields".to_string()),
        },
        _ => Err("has another kind of value".to_string()),
    }
}

/// A length given from outside as the interpreter's integer.
pub(super) fn len_value(n: u64) -> Run<Int> {
    to_usize(n)?;
    Ok(Int::from(n))
}
