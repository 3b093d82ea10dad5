//! Cuts that nobody wrote: claims about the few values that go on at a narrow place, which the judge of meaning then has to accept.
//!
//! Where a clause speaks of what `e` is modulo `m`, and the values that go on there have a combination that is `e` modulo `m`, the claim says so; at
//! the end of the body the clause is claimed of the combination. Weights of a combination are the solution of linear equations between
//! coefficients.
//!
//! Needs: a function without ghost text whose clauses the judge does not accept.  Keeps: nothing: proposals are claims, and claims are judged.
//! Trusted: nothing: see above.

use crate::clauses::Finder;
use crate::narrow::{narrow, Narrow};
use santoku_ir::interp::Int;
use santoku_ir::visit::{spec_children_mut, walk_spec};
use santoku_ir::{Base, ContractKind, Func, FuncId, Ghost, Len, LocalId, Place, Program, SpecExpr, SpecOp, Stmt, Ty};
use santoku_meaning::atoms::{Atoms, Def};
use santoku_meaning::poly::{inverse, Mono, Poly};
use santoku_meaning::state::Run;
use std::collections::BTreeMap;

/// Terms of a polynomial.
const TERMS: usize = 3_000;

/// The program with a claim at a narrow place of the function and one at its end: one program for each place and clause that has them.
pub fn proposals(p: &Program, id: FuncId) -> Vec<Program> {
    let f = p.func(id);
    let (places, mut all) = (narrow(p, f), vec![]);
    for c in f.contracts.iter().filter(|c| c.kind == ContractKind::Ensures) {
        let remainders = remainders(f, &c.cond);
        for ((value, modulus), place) in remainders.iter().flat_map(|r| places.iter().map(move |n| (r, n))) {
            let Some(sum) = combination(p, id, place, value, modulus) else { continue };
            let claim = SpecExpr::Congruent(Box::new(sum.clone()), Box::new(value.clone()), Box::new(modulus.clone()));
            let mut end = c.cond.clone();
            replace(&mut end, value, &sum);
            let mut q = p.clone();
            let body = &mut q.funcs[id.0 as usize].body;
            body.push(ghost(end, body));
            body.insert(place.at, ghost(claim, &body[..place.at]));
            all.push(q);
        }
    }
    all
}

fn ghost(claim: SpecExpr, before: &[Stmt]) -> Stmt {
    let loc = before.last().map(Stmt::loc).unwrap_or_default();
    Stmt::Ghost { what: Ghost::Assert(claim), text: String::new(), loc }
}

/// `e` and `m` of each `e % m` in a clause whose `e` speaks of no result.
fn remainders(f: &Func, clause: &SpecExpr) -> Vec<(SpecExpr, SpecExpr)> {
    let mut found = vec![];
    walk_spec(clause, &mut |e| {
        if let SpecExpr::Bin(SpecOp::Mod, value, m) = e {
            if inputs_alone(f, value) {
                found.push(((**value).clone(), (**m).clone()));
            }
        }
    });
    found
}

fn inputs_alone(f: &Func, e: &SpecExpr) -> bool {
    let (mut inputs, mut alone) = (false, true);
    walk_spec(e, &mut |e| {
        if let SpecExpr::Place(Place { base: Base::Local(id), .. }) = e {
            inputs = true;
            alone &= f.params.contains(id);
        }
    });
    inputs && alone
}

fn replace(e: &mut SpecExpr, old: &SpecExpr, new: &SpecExpr) {
    if e == old {
        *e = new.clone();
        return;
    }
    spec_children_mut(e, &mut |c| replace(c, old, new));
}

/// The combination of the values that go on at a place that is `value` modulo a constant.
fn combination(p: &Program, id: FuncId, place: &Narrow, value: &SpecExpr, modulus: &SpecExpr) -> Option<SpecExpr> {
    let f = p.func(id);
    let mut run = Run::new(p, id, &Finder);
    run.block(&f.body[..place.at]).ok()?;
    let m = run.number(modulus)?.as_const().filter(|m| *m > Int::Small(1))?;
    let mut number = |e: &SpecExpr| {
        let p = run.number(e)?;
        written_out(&run.atoms, p)?.modulo(&m)
    };
    let wanted = number(value)?;
    let scalars: Vec<SpecExpr> = place.values.iter().flat_map(|l| numbers(&f.local(*l).ty, *l)).collect();
    let own = scalars.iter().map(number).collect::<Option<Vec<Poly>>>()?;
    let weights = weights(&own, &wanted, &m)?;
    let term = |(e, w): (SpecExpr, &Int)| SpecExpr::Bin(SpecOp::Mul, Box::new(SpecExpr::Int(w.to_big())), Box::new(e));
    let terms = scalars.into_iter().zip(&weights).filter(|(_, w)| **w != Int::ZERO).map(term);
    terms.reduce(|a, b| SpecExpr::Bin(SpecOp::Add, Box::new(a), Box::new(b)))
}

/// A polynomial in which names are what they stand for, unless it becomes long.
fn written_out(atoms: &Atoms, mut p: Poly) -> Option<Poly> {
    loop {
        let name = p.atoms().into_iter().find_map(|a| if let Def::Name(of) = atoms.def(a) { Some((a, of.clone())) } else { None });
        let Some((a, of)) = name else { return Some(p) };
        p = p.replace(a, &of, TERMS)?;
    }
}

/// The numbers in a flat value.
fn numbers(ty: &Ty, id: LocalId) -> Vec<SpecExpr> {
    match ty {
        Ty::Array { len: Len::Const(n), .. } => (0..*n).map(|k| SpecExpr::Place(Place::local(id).at(k))).collect(),
        _ => vec![SpecExpr::Place(Place::local(id))],
    }
}

/// Numbers below `m` by which the polynomials give the wanted one, modulo `m`: elimination, a monomial an equation.
fn weights(of: &[Poly], wanted: &Poly, m: &Int) -> Option<Vec<Int>> {
    let mut rows: BTreeMap<&Mono, Vec<Int>> = BTreeMap::new();
    for (k, p) in of.iter().chain([wanted]).enumerate() {
        for (t, c) in p.terms() {
            rows.entry(t).or_insert_with(|| vec![Int::ZERO; of.len() + 1])[k] = c.clone();
        }
    }
    let mut rows: Vec<Vec<Int>> = rows.into_values().collect();
    let mut solved: Vec<(usize, Vec<Int>)> = vec![];
    for k in 0..of.len() {
        let Some((at, by)) = rows.iter().enumerate().find_map(|(at, r)| Some((at, inverse(&r[k], m)?))) else { continue };
        let pivot: Vec<Int> = rows.swap_remove(at).iter().map(|c| c.mul(&by).mod_floor(m)).collect::<Option<_>>()?;
        for row in rows.iter_mut().chain(solved.iter_mut().map(|s| &mut s.1)) {
            let by = row[k].clone();
            for (c, p) in row.iter_mut().zip(&pivot) {
                *c = c.sub(&by.mul(p)).mod_floor(m)?;
            }
        }
        solved.push((k, pivot));
    }
    // What is left has to say that 0 is 0; a value that nothing asks for has no part in it.
    if rows.iter().any(|r| r.iter().any(|c| *c != Int::ZERO)) {
        return None;
    }
    let mut out = vec![Int::ZERO; of.len()];
    solved.into_iter().for_each(|(k, row)| out[k] = row[of.len()].clone());
    Some(out)
}
