//! What a specification function gives, as far as its text says so whatever the arguments are.
//! Trusted: field.

use santoku_ir::spec_words::of_bits;
use santoku_ir::{visit, Base, ContractKind, Func, Ghost, Len, Place, Program, SpecExpr, SpecId, SpecOp, Stmt, Ty};
use std::collections::{BTreeMap, BTreeSet};

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

/// The functions of bits in what the callees of a function and the lemmas it names ensure.
pub fn spoken_of(p: &Program, f: &Func) -> BTreeMap<SpecId, Extent> {
    let mut all = BTreeMap::new();
    visit::walk_stmts(&f.body, &mut |s| {
        let (Stmt::Call { func, .. } | Stmt::Ghost { what: Ghost::Lemma(func, _), .. }) = s else { return };
        for c in p.func(*func).contracts.iter().filter(|c| c.kind == ContractKind::Ensures) {
            visit::walk_spec(&c.cond, &mut |e| {
                if let SpecExpr::Call(id, _) = e {
                    let of_bits = of_bits(p, &p.specs[id.0 as usize].body);
                    all.extend(of(p, *id).filter(|_| of_bits).map(|extent| (*id, extent)));
                }
            });
        }
    });
    all
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
        SpecExpr::Array(es) if es.iter().all(|e| element(p, e, inside)) => Found::Is(Extent::Array(es.len())),
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

/// Whether an element of an array is taken for a number. What a parameter or a part of one is, the types of specifications say: where it
/// is something else, nobody uses it as a number.
fn element(p: &Program, e: &SpecExpr, inside: &mut Vec<SpecId>) -> bool {
    match e {
        SpecExpr::Var(_) | SpecExpr::Index(..) | SpecExpr::Field(..) => true,
        SpecExpr::Let(_, _, e) => element(p, e, inside),
        SpecExpr::If(_, a, b) => element(p, a, inside) && element(p, b, inside),
        e => matches!(text(p, e, inside), Found::Is(Extent::Number)),
    }
}

/// The argument that every call of a function in its own body lowers by a constant, of a function that calls itself and nothing that
/// calls it. What finitely many of its equations say then holds of some function, so nothing absurd follows from them.
pub fn decreasing(p: &Program, id: SpecId) -> Option<usize> {
    let f = &p.specs[id.0 as usize];
    let mut calls: Vec<&[SpecExpr]> = vec![];
    let (mut seen, mut todo) = (BTreeSet::new(), vec![id]);
    while let Some(at) = todo.pop() {
        let mut back = false;
        visit::walk_spec(&p.specs[at.0 as usize].body, &mut |e| match e {
            SpecExpr::Call(to, args) if *to == id && at == id => calls.push(args),
            SpecExpr::Call(to, _) if *to == id => back = true,
            SpecExpr::Call(to, _) if seen.insert(*to) => todo.push(*to),
            _ => {}
        });
        if back {
            return None;
        }
    }
    let less = |e: &SpecExpr, i: usize| match e {
        SpecExpr::Bin(SpecOp::Sub, a, c) => **a == SpecExpr::Var(i as u32) && matches!(&**c, SpecExpr::Int(c) if *c > 0.into()),
        _ => false,
    };
    (0..f.params.len()).find(|i| !calls.is_empty() && calls.iter().all(|args| args.get(*i).is_some_and(|e| less(e, *i))))
}
