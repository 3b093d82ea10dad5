//! What a specification function gives, as far as its text says so whatever the arguments are.
//! Trusted: field.

use santoku_ir::{Base, Len, Place, Program, SpecExpr, SpecId, Ty};

/// A number, or an array of so many numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Number,
    Array(usize),
}

/// `None`: the text does not say.
pub fn of(p: &Program, id: SpecId) -> Option<Extent> {
    if let Found::Is(e) = function(p, id, &mut vec![]) { Some(e) } else { None }
}

enum Found {
    Is(Extent),
    /// What a call of the function itself gives.
    Again,
    Unknown,
}

fn function(p: &Program, id: SpecId, inside: &mut Vec<SpecId>) -> Found {
    if inside.contains(&id) {
        return Found::Again;
    }
    inside.push(id);
    let found = text(p, &p.specs[id.0 as usize].body, inside);
    inside.pop();
    found
}

fn text(p: &Program, e: &SpecExpr, inside: &mut Vec<SpecId>) -> Found {
    match e {
        SpecExpr::Int(_) | SpecExpr::Len(_) | SpecExpr::Neg(_) | SpecExpr::Bin(..) | SpecExpr::Sum { .. } => Found::Is(Extent::Number),
        SpecExpr::Array(es) if es.iter().all(|e| matches!(text(p, e, inside), Found::Is(Extent::Number))) => Found::Is(Extent::Array(es.len())),
        SpecExpr::Place(Place { base: Base::Const(c), projs }) if projs.is_empty() => match &p.consts[c.0 as usize].ty {
            Ty::Array { elem, len: Len::Const(n), .. } if matches!(**elem, Ty::Int(_) | Ty::Word(_)) => usize::try_from(*n).map_or(Found::Unknown, |n| Found::Is(Extent::Array(n))),
            Ty::Int(_) | Ty::Word(_) => Found::Is(Extent::Number),
            _ => Found::Unknown,
        },
        SpecExpr::Let(_, _, e) => text(p, e, inside),
        SpecExpr::Call(id, _) => function(p, *id, inside),
        SpecExpr::If(_, a, b) => match (text(p, a, inside), text(p, b, inside)) {
            (Found::Is(a), Found::Is(b)) if a == b => Found::Is(a),
            (Found::Is(a), Found::Again) | (Found::Again, Found::Is(a)) => Found::Is(a),
            (Found::Again, Found::Again) => Found::Again,
            _ => Found::Unknown,
        },
        _ => Found::Unknown,
    }
}
