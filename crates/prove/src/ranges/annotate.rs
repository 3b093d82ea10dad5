//! Writing proven ranges into a program, and checking them again from nothing.

use crate::obligation::{Engine, Kind, Obligation, Outcome};
use super::found::{Options, Ranges};
use super::limits::Limits;
use crate::itv::Itv;
use super::settle::analyse;
use super::value::Abs;
use num_bigint::BigInt;
use santoku_ir::{visit, Expr, FuncId, LocalId, LocalKind, Program, Range, Stmt, Ty};

/// The program with every `Int(None)` of an expression or local replaced by its proven range: expressions by the
/// values of that occurrence, locals by all values ever stored in them (element by element for arrays of
/// constant length). What is never reached gets `0..0`; what has no finite bound stays `Int(None)`.
pub fn annotate(p: &Program) -> Program {
    let (ranges, _) = analyse(p, &Options::default());
    annotate_with(p, &ranges)
}

/// [`annotate`] by what callees give of any arguments: wider where arguments are narrow, and found by looking at fewer bodies.
pub fn annotate_by_summaries(p: &Program) -> Program {
    let limits = Limits { small_callee: 0, ..Limits::default() };
    annotate_with(p, &analyse(p, &Options { witness_tries: 0, limits, ..Options::default() }).0)
}

/// [`annotate`] with ranges already at hand; they must come from the very same program.
pub fn annotate_with(p: &Program, ranges: &Ranges) -> Program {
    let mut out = p.clone();
    for (nr, f) in out.funcs.iter_mut().enumerate() {
        let id = FuncId(nr as u32);
        for (l, local) in f.locals.iter_mut().enumerate() {
            local.ty = refine(&local.ty, Some(ranges.local(id, santoku_ir::LocalId(l as u32))));
        }
        let mut site = 0;
        each_expr(&mut f.body, &mut |e| {
            e.ty = refine(&e.ty, ranges.site(id, site));
            site += 1;
        });
    }
    out
}

/// An annotated program in which variables and results have no more than the values seen, narrower than declared where that is less.
pub fn narrowed_with(mut annotated: Program, ranges: &Ranges) -> Program {
    for (nr, f) in annotated.funcs.iter_mut().enumerate() {
        for (l, local) in f.locals.iter_mut().enumerate().filter(|(_, l)| matches!(l.kind, LocalKind::Var | LocalKind::Ret)) {
            if let Some(ty) = narrowed(&local.ty, ranges.local(FuncId(nr as u32), LocalId(l as u32))) {
                local.ty = ty;
            }
        }
    }
    annotated
}

fn narrowed(ty: &Ty, seen: &Abs) -> Option<Ty> {
    let within = |declared: &Range, v: &Abs| v.itv().closed().filter(|r| !v.itv().is_empty() && declared.contains(r));
    match (ty, seen) {
        (Ty::Int(Some(r)), v) => Some(Ty::Int(Some(within(r, v)?))),
        (Ty::Array { elem, len, ranges: None }, Abs::Arr(vs)) => {
            let Ty::Int(Some(r)) = &**elem else { return None };
            let all = vs.iter().map(|v| within(r, v)).collect::<Option<Vec<_>>>()?;
            let join = all.iter().cloned().reduce(|a, b| a.join(&b))?;
            Some(Ty::Array { elem: Box::new(Ty::Int(Some(join))), len: len.clone(), ranges: Some(all) })
        }
        _ => None,
    }
}

/// Every expression in site order: outer before inner, in source order.
fn each_expr(body: &mut [Stmt], f: &mut dyn FnMut(&mut Expr)) {
    for stmt in body {
        visit::stmt_exprs_mut(stmt, &mut |e| outer_first(e, f));
        for block in visit::blocks_mut(stmt) {
            each_expr(block, f);
        }
    }
}

fn outer_first(e: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
    f(e);
    visit::children_mut(e, &mut |c| outer_first(c, f));
}

/// `ty` with its missing ranges filled in from the values seen.
fn refine(ty: &Ty, seen: Option<&Abs>) -> Ty {
    let range_of = |i: &Itv| if i.is_empty() { Some(Range::new(0, 0)) } else { i.closed() };
    match (ty, seen) {
        (Ty::Int(None), Some(v)) => Ty::Int(range_of(&v.itv())),
        (Ty::Int(None), None) => Ty::Int(Some(Range::new(0, 0))),
        (Ty::Array { elem, len, ranges: None }, Some(Abs::Arr(vs))) => {
            if let (Ty::Int(None), Some(all)) = (&**elem, vs.iter().map(|v| range_of(&v.itv())).collect::<Option<Vec<_>>>()) {
                let join = all.iter().cloned().reduce(|a, b| a.join(&b)).unwrap_or_else(|| Range::new(0, 0));
                return Ty::Array { elem: Box::new(Ty::Int(Some(join))), len: len.clone(), ranges: Some(all) };
            }
            let one = vs.iter().cloned().reduce(|a, b| a.join(&b));
            Ty::Array { elem: Box::new(refine(elem, one.as_ref())), len: len.clone(), ranges: None }
        }
        (Ty::Array { elem, len, ranges: None }, other) => {
            let one = match other {
                Some(Abs::Sum(v)) => Some(&**v),
                _ => None,
            };
            Ty::Array { elem: Box::new(refine(elem, one)), len: len.clone(), ranges: None }
        }
        _ => ty.clone(),
    }
}

/// Checks an annotated program from nothing: all safety obligations again, that every annotated expression
/// contains the values a fresh run finds there, and every loop counter all it counts.
pub fn check_annotations(p: &Program) -> Vec<Obligation> {
    let quick = check_with(p, &Options { smt: None, witness_tries: 0, ..Options::default() });
    if quick.iter().all(|o| o.proved() || o.kind == Kind::Ensures) {
        return quick;
    }
    // Declared locals may let intervals close a function that needed linear facts before, and then know less of
    // its results: the thorough way knows as much again.
    check_with(p, &Options { eager: true, ..Options::default() })
}

fn check_with(p: &Program, opts: &Options) -> Vec<Obligation> {
    let (ranges, mut out) = analyse(p, opts);
    for (nr, f) in p.funcs.iter().enumerate() {
        let func = FuncId(nr as u32);
        let show = super::Show { program: p, func: f };
        // A counter is written by its loop alone, which settles nothing about the range it is declared with.
        for (at, local) in f.locals.iter().enumerate().filter(|(_, l)| l.kind == LocalKind::Counter) {
            if let Some(outcome) = implied(&local.ty, ranges.local(func, LocalId(at as u32))) {
                let text = format!("`{}` is in its annotated range", local.name);
                out.push(Obligation { func, kind: Kind::Range, loc: local.loc, nr: 0, text, outcome, micros: 0 });
            }
        }
        let (mut site, mut loc) = (0, f.loc);
        visit::walk_stmts(&f.body, &mut |s| {
            loc = s.loc();
            visit::stmt_exprs(s, &mut |e| {
                visit::walk_expr(e, &mut |e| {
                    let seen = ranges.site(func, site);
                    site += 1;
                    if let Some(outcome) = seen.and_then(|v| implied(&e.ty, v)) {
                        let text = format!("`{}` is in its annotated range", show.expr(e));
                        out.push(Obligation { func, kind: Kind::Range, loc, nr: 0, text, outcome, micros: 0 });
                    }
                });
            });
        });
    }
    out
}

/// `None` when the type annotates nothing.
fn implied(ty: &Ty, v: &Abs) -> Option<Outcome> {
    let any = match ty {
        Ty::Int(Some(r)) => return Some(verdict(&Itv::from(r), &v.itv())),
        Ty::Array { elem, ranges, .. } => (elem, ranges),
        _ => return None,
    };
    let each: Vec<&Abs> = match v {
        Abs::Arr(vs) => vs.iter().collect(),
        Abs::Sum(v) => vec![v],
        _ => return None,
    };
    let one = |i: usize| any.1.as_ref().and_then(|r| r.get(i)).map_or_else(|| (**any.0).clone(), |r| Ty::Int(Some(r.clone())));
    let all: Vec<Outcome> = each.into_iter().enumerate().filter_map(|(i, v)| implied(&one(i), v)).collect();
    let bad = all.iter().find(|o| matches!(o, Outcome::Failed { .. })).cloned();
    bad.or_else(|| all.into_iter().next())
}

fn verdict(wanted: &Itv, found: &Itv) -> Outcome {
    if wanted.contains(found) {
        return Outcome::Proved { engine: Engine::Intervals };
    }
    let big = |n: &santoku_num::Bound| n.to_big().unwrap_or_else(|| BigInt::from(0));
    let origin = crate::obligation::Origin {
        site: String::new(),
        found: (found.lo.to_big(), found.hi.to_big()),
        wanted: Some((big(&wanted.lo), big(&wanted.hi))),
        declared_at: None,
        operands: Vec::new(),
    };
    Outcome::Failed { reason: format!("{found} is not inside the annotated {wanted}"), witness: None, origin: Some(origin) }
}
