//! Types of places: what a base narrowed by projections has, read off the declarations.
//!
//! Needs: the declarations of a program and one function's locals.  Keeps: declared ranges along the way
//! (the element range of a constant index, the sub-list of a constant slice).  Absent: any judgement of
//! legality beyond "this projection makes no sense here" (`None`); [`crate::verify`] judges.

use crate::data::{Base, Const, Expr, ExprKind, Func, Local, Place, Program, Proj};
use crate::limits::{STRUCT_NODES, TYPE_DEPTH};
use crate::ty::{Len, Range, StructDef, Ty};
use num_traits::ToPrimitive;

/// Declarations in scope for the places of one function.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    pub structs: &'a [StructDef],
    pub consts: &'a [Const],
    pub locals: &'a [Local],
}

impl<'a> Scope<'a> {
    /// The scope of `func` in `program`.
    pub fn of(program: &'a Program, func: &'a Func) -> Scope<'a> {
        Scope { structs: &program.structs, consts: &program.consts, locals: &func.locals }
    }

    /// Declared type of a base; `None` when the id is out of range.
    pub fn base_ty(&self, base: Base) -> Option<&'a Ty> {
        match base {
            Base::Local(id) => self.locals.get(id.0 as usize).map(|l| &l.ty),
            Base::Const(id) => self.consts.get(id.0 as usize).map(|c| &c.ty),
        }
    }

    /// Declared type of a place; `None` when an id is out of range or a projection does not fit.
    pub fn place_ty(&self, place: &Place) -> Option<Ty> {
        let mut ty = self.base_ty(place.base)?.clone();
        for proj in &place.projs {
            ty = self.project(&ty, proj)?;
        }
        Some(ty)
    }

    /// Type after one projection. Element ranges survive constant indices and offsets; otherwise the
    /// element type (the join of the ranges) stands for every element.
    pub fn project(&self, ty: &Ty, proj: &Proj) -> Option<Ty> {
        match (ty, proj) {
            (Ty::Struct(id), Proj::Field(i)) => {
                self.structs.get(id.0 as usize)?.fields.get(*i as usize).map(|(_, t)| t.clone())
            }
            (Ty::Array { elem, ranges, .. }, Proj::Index(index)) => {
                let at = const_usize(index).and_then(|i| ranges.as_ref()?.get(i).cloned());
                Some(at.map_or_else(|| (**elem).clone(), |r| Ty::Int(Some(r))))
            }
            (Ty::Array { elem, ranges, .. }, Proj::Slice { off, len }) => {
                let part = const_usize(off).and_then(|o| {
                    let end = o.checked_add(usize::try_from(*len).ok()?)?;
                    ranges.as_ref()?.get(o..end).map(<[Range]>::to_vec)
                });
                Some(Ty::Array { elem: elem.clone(), len: Len::Const(*len), ranges: part })
            }
            (Ty::Word(_) | Ty::Int(_) | Ty::Bool | Ty::Array { .. } | Ty::Struct(_), _) => None,
        }
    }
}

fn const_usize(e: &Expr) -> Option<usize> {
    match &e.kind {
        ExprKind::Const(v) => v.to_usize(),
        _ => None,
    }
}

/// The same shape with every range removed: the type an expression has before the width pass.
pub fn without_ranges(ty: &Ty) -> Ty {
    match ty {
        Ty::Int(_) => Ty::Int(None),
        Ty::Array { elem, len, .. } => {
            Ty::Array { elem: Box::new(without_ranges(elem)), len: len.clone(), ranges: None }
        }
        Ty::Word(_) | Ty::Bool | Ty::Struct(_) => ty.clone(),
    }
}

/// A scalar's bit pattern as a constant lies in this range; `None` for aggregates and unbounded integers.
pub fn scalar_range(ty: &Ty) -> Option<Range> {
    match ty {
        Ty::Word(bits) => Some(Range::word((*bits).min(1 << 16))),
        Ty::Bool => Some(Range::new(0, 1)),
        Ty::Int(range) => range.clone(),
        Ty::Array { .. } | Ty::Struct(_) => None,
    }
}

/// Checks that structs mention only earlier ones and unfold to trees of bounded depth and size, so that
/// recursion over types ends soon; gives the position of the first that does not.
pub fn first_bad_struct(structs: &[StructDef]) -> Option<usize> {
    // Per struct: depth and number of nodes when unfolded (arrays once).
    let mut known: Vec<(usize, usize)> = Vec::new();
    for def in structs {
        let (mut depth, mut nodes) = (0, 1);
        for (_, ty) in &def.fields {
            let (d, n) = unfolded(ty, &known).unwrap_or((usize::MAX, 0));
            depth = d.max(depth);
            nodes += n;
        }
        if depth >= TYPE_DEPTH || nodes > STRUCT_NODES {
            return Some(known.len());
        }
        known.push((depth + 1, nodes));
    }
    None
}

fn unfolded(ty: &Ty, structs: &[(usize, usize)]) -> Option<(usize, usize)> {
    let mut ty = ty;
    for depth in 1..=TYPE_DEPTH {
        match ty {
            Ty::Array { elem, .. } => ty = elem,
            Ty::Struct(id) => return structs.get(id.0 as usize).map(|(d, n)| (d + depth, *n)),
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => return Some((depth, 1)),
        }
    }
    None
}
