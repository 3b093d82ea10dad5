//! Whether ranges are all that was added to a program.

use santoku_ir::{visit, Func, Len, LocalKind, Program, Range, Ty};

/// Of each function of `annotated`: is it the one of `source`, and is nothing that it refers to another, but for ranges of expressions,
/// of results and of variables that `source` leaves open, or has wider for a variable or result? What is accepted of the one then holds of
/// the other. Parameters have the ranges that callers from outside are told.
pub fn only_ranges_added(source: &Program, annotated: &Program) -> Vec<bool> {
    if std::ptr::eq(source, annotated) {
        return vec![true; source.funcs.len()];
    }
    let around = (&source.structs, &source.consts, &source.specs) == (&annotated.structs, &annotated.consts, &annotated.specs);
    let same = |(to, from): (&Func, &Func)| around && source.funcs.len() == annotated.funcs.len() && without_ranges(from, to).as_ref() == Some(from);
    annotated.funcs.iter().zip(&source.funcs).map(same).collect()
}

/// `to` with the types of `from`, where these are the same but for ranges that `from` leaves open.
fn without_ranges(from: &Func, to: &Func) -> Option<Func> {
    let (mut bare, mut types) = (to.clone(), Vec::new());
    for (own, l) in from.locals.iter().zip(&mut bare.locals) {
        let fixed = matches!(own.kind, LocalKind::Len | LocalKind::Param);
        if !fixed && (only_ranges(&own.ty, &l.ty) || narrower(&own.ty, &l.ty)) {
            l.ty = own.ty.clone();
        }
    }
    visit::map_exprs(&mut from.body.clone(), &mut |e| types.push(e.ty.clone()));
    let mut types = types.into_iter();
    visit::map_exprs(&mut bare.body, &mut |e| {
        if let Some(ty) = types.next().filter(|ty| only_ranges(ty, &e.ty)) {
            e.ty = ty;
        }
    });
    types.next().is_none().then_some(bare)
}

/// Is `to` the type `from` with ranges where `from` has none?
fn only_ranges(from: &Ty, to: &Ty) -> bool {
    match (from, to) {
        (Ty::Int(None), Ty::Int(_)) => true,
        (Ty::Array { elem: a, len: n, ranges: None }, Ty::Array { elem: b, len: m, ranges }) => {
            n == m && only_ranges(a, b) && ranges.as_ref().is_none_or(|r| **a == Ty::Int(None) && of_elements(r, b, n))
        }
        _ => from == to,
    }
}

/// Is there one range for each element, and that of all their union? Readers may look at either.
fn of_elements(each: &[Range], all: &Ty, len: &Len) -> bool {
    *len == Len::Const(each.len() as u64) && *all == Ty::Int(each.iter().cloned().reduce(|x, y| x.join(&y)))
}

/// Is `to` the type `from` of an integer, or of an array of integers, with narrower ranges?
fn narrower(from: &Ty, to: &Ty) -> bool {
    match (from, to) {
        (Ty::Int(Some(a)), Ty::Int(Some(b))) => a.contains(b),
        (Ty::Array { elem: a, len: n, ranges: None }, Ty::Array { elem: b, len: m, ranges }) => {
            let inside = matches!((&**a, &**b), (Ty::Int(Some(a)), Ty::Int(Some(b))) if a.contains(b));
            n == m && inside && ranges.as_ref().is_none_or(|r| of_elements(r, b, n))
        }
        _ => false,
    }
}
