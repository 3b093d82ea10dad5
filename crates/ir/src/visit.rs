//! Walkers over statements, expressions and places, and renaming of locals.
//!
//! Needs: the data types.  Keeps: source order; every walker sees index expressions inside places,
//! destinations included.  Absent: contracts and ghost text, but where locals are renamed or places redirected; they are mathematics, not code.

use crate::data::*;
use crate::spec::{Contract, Ghost, SpecExpr};
use crate::ty::{Len, LocalId, Ty};
use std::collections::BTreeSet;

/// How a statement touches a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// Every statement, outer before inner, in source order.
pub fn walk_stmts<'a>(body: &'a [Stmt], f: &mut impl FnMut(&'a Stmt)) {
    for stmt in body {
        f(stmt);
        for block in blocks(stmt) {
            walk_stmts(block, f);
        }
    }
}

/// The functions that a function calls.
pub fn callees(f: &Func) -> BTreeSet<FuncId> {
    let mut all = BTreeSet::new();
    walk_stmts(&f.body, &mut |s| {
        if let Stmt::Call { func, .. } = s {
            all.insert(*func);
        }
    });
    all
}

/// These functions and all that they reach, by number: callees first.
pub fn reached(program: &Program, roots: impl IntoIterator<Item = FuncId>) -> BTreeSet<FuncId> {
    let mut all: BTreeSet<FuncId> = roots.into_iter().collect();
    for id in (0..program.funcs.len() as u32).rev().map(FuncId) {
        if all.contains(&id) {
            all.extend(callees(program.func(id)));
        }
    }
    all
}

/// The blocks nested directly in a statement.
pub fn blocks(stmt: &Stmt) -> Vec<&[Stmt]> {
    match stmt {
        Stmt::For { body, .. } => vec![body],
        Stmt::If { then, els, .. } => vec![then, els],
        Stmt::Assign { .. } | Stmt::Call { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. } => Vec::new(),
    }
}

/// The blocks nested directly in a statement.
pub fn blocks_mut(stmt: &mut Stmt) -> Vec<&mut Vec<Stmt>> {
    match stmt {
        Stmt::For { body, .. } => vec![body],
        Stmt::If { then, els, .. } => vec![then, els],
        Stmt::Assign { .. } | Stmt::Call { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. } => Vec::new(),
    }
}

/// The outermost expressions of one statement: destination indices, then operands; nested blocks excluded.
pub fn stmt_exprs<'a>(stmt: &'a Stmt, f: &mut impl FnMut(&'a Expr)) {
    match stmt {
        Stmt::Assign { dst, src, .. } => {
            place_exprs(dst, f);
            f(src);
        }
        Stmt::Call { dsts, lens, args, .. } => {
            dsts.iter().for_each(|d| place_exprs(d, f));
            lens.iter().chain(args).for_each(f);
        }
        Stmt::For { lo, hi, invariants, .. } => {
            f(lo);
            f(hi);
            invariants.iter().for_each(f);
        }
        Stmt::If { cond, .. } | Stmt::Assert { cond, .. } => f(cond),
        Stmt::Ghost { .. } => {}
    }
}

/// The outermost expressions of one statement, mutable; nested blocks excluded.
pub fn stmt_exprs_mut(stmt: &mut Stmt, f: &mut impl FnMut(&mut Expr)) {
    match stmt {
        Stmt::Assign { dst, src, .. } => {
            place_exprs_mut(dst, f);
            f(src);
        }
        Stmt::Call { dsts, lens, args, .. } => {
            dsts.iter_mut().for_each(|d| place_exprs_mut(d, f));
            lens.iter_mut().chain(args).for_each(f);
        }
        Stmt::For { lo, hi, invariants, .. } => {
            f(lo);
            f(hi);
            invariants.iter_mut().for_each(f);
        }
        Stmt::If { cond, .. } | Stmt::Assert { cond, .. } => f(cond),
        Stmt::Ghost { .. } => {}
    }
}

/// Index and offset expressions of a place.
pub fn place_exprs<'a>(place: &'a Place, f: &mut impl FnMut(&'a Expr)) {
    for proj in &place.projs {
        match proj {
            Proj::Index(e) | Proj::Slice { off: e, .. } => f(e),
            Proj::Field(_) => {}
        }
    }
}

/// Index and offset expressions of a place, mutable.
pub fn place_exprs_mut(place: &mut Place, f: &mut impl FnMut(&mut Expr)) {
    for proj in &mut place.projs {
        match proj {
            Proj::Index(e) | Proj::Slice { off: e, .. } => f(e),
            Proj::Field(_) => {}
        }
    }
}

/// Direct sub-expressions, those inside a read place included.
pub fn children<'a>(expr: &'a Expr, f: &mut impl FnMut(&'a Expr)) {
    match &expr.kind {
        ExprKind::Const(_) => {}
        ExprKind::Read(place) => place_exprs(place, f),
        ExprKind::Un(_, a) | ExprKind::Cast(a) | ExprKind::Repeat(a) => f(a),
        ExprKind::Bin(_, a, b) | ExprKind::Cmp(_, a, b) => {
            f(a);
            f(b);
        }
        ExprKind::Select(c, a, b) => {
            f(c);
            f(a);
            f(b);
        }
        ExprKind::Array(es) | ExprKind::Struct(_, es) => es.iter().for_each(f),
    }
}

/// Direct sub-expressions, mutable, those inside a read place included.
pub fn children_mut(expr: &mut Expr, f: &mut impl FnMut(&mut Expr)) {
    match &mut expr.kind {
        ExprKind::Const(_) => {}
        ExprKind::Read(place) => place_exprs_mut(place, f),
        ExprKind::Un(_, a) | ExprKind::Cast(a) | ExprKind::Repeat(a) => f(a),
        ExprKind::Bin(_, a, b) | ExprKind::Cmp(_, a, b) => {
            f(a);
            f(b);
        }
        ExprKind::Select(c, a, b) => {
            f(c);
            f(a);
            f(b);
        }
        ExprKind::Array(es) | ExprKind::Struct(_, es) => es.iter_mut().for_each(f),
    }
}

/// `expr` and all its sub-expressions, outer before inner.
pub fn walk_expr<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    f(expr);
    children(expr, &mut |e| walk_expr(e, f));
}

/// All expressions of a body at every depth, outer before inner.
pub fn walk_exprs<'a>(body: &'a [Stmt], f: &mut dyn FnMut(&'a Expr)) {
    walk_stmts(body, &mut |s| stmt_exprs(s, &mut |e| walk_expr(e, f)));
}

/// All places of a body with how each is touched: the destinations of a statement, then what it reads
/// (reads inside destination indices included).
pub fn walk_places<'a>(body: &'a [Stmt], f: &mut dyn FnMut(&'a Place, Access)) {
    walk_stmts(body, &mut |stmt| {
        destinations(stmt).iter().for_each(|d| f(d, Access::Write));
        stmt_exprs(stmt, &mut |e| {
            walk_expr(e, &mut |e| {
                if let ExprKind::Read(p) = &e.kind {
                    f(p, Access::Read);
                }
            });
        });
    });
}

/// The places a statement itself writes; nested blocks and loop counters excluded.
pub fn destinations(stmt: &Stmt) -> &[Place] {
    match stmt {
        Stmt::Assign { dst, .. } => std::slice::from_ref(dst),
        Stmt::Call { dsts, .. } => dsts,
        Stmt::For { .. } | Stmt::If { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. } => &[],
    }
}

/// Rewrites `expr` from the leaves up: `f` sees each node after its children.
pub fn map_expr(expr: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
    children_mut(expr, &mut |e| map_expr(e, f));
    f(expr);
}

/// Rewrites every expression of a body, leaves first.
pub fn map_exprs(body: &mut [Stmt], f: &mut dyn FnMut(&mut Expr)) {
    for stmt in body {
        stmt_exprs_mut(stmt, &mut |e| map_expr(e, f));
        for block in blocks_mut(stmt) {
            map_exprs(block, f);
        }
    }
}

/// Rewrites every place of a body, read or written; places inside an index before the place around them.
pub fn map_places(body: &mut [Stmt], f: &mut dyn FnMut(&mut Place, Access)) {
    for stmt in body {
        stmt_exprs_mut(stmt, &mut |e| map_expr_places(e, f));
        match stmt {
            Stmt::Assign { dst, .. } => f(dst, Access::Write),
            Stmt::Call { dsts, .. } => dsts.iter_mut().for_each(|d| f(d, Access::Write)),
            Stmt::Ghost { what, .. } => what.exprs_mut().iter_mut().for_each(|e| map_spec_places(e, f)),
            Stmt::For { .. } | Stmt::If { .. } | Stmt::Assert { .. } => {}
        }
        for block in blocks_mut(stmt) {
            map_places(block, f);
        }
    }
}

fn map_expr_places(expr: &mut Expr, f: &mut dyn FnMut(&mut Place, Access)) {
    map_expr(expr, &mut |e| {
        if let ExprKind::Read(p) = &mut e.kind {
            f(p, Access::Read);
        }
    });
}

/// Replaces each block from the innermost out by what `f` makes of each statement (one, none or many).
pub fn rewrite_stmts(body: &mut Vec<Stmt>, f: &mut dyn FnMut(Stmt) -> Vec<Stmt>) {
    let old = std::mem::take(body);
    for mut stmt in old {
        for block in blocks_mut(&mut stmt) {
            rewrite_stmts(block, f);
        }
        body.extend(f(stmt));
    }
}

/// Locals read anywhere in a body, indices of destinations included.
pub fn read_locals(body: &[Stmt]) -> BTreeSet<LocalId> {
    let mut seen = BTreeSet::new();
    walk_places(body, &mut |p, access| {
        if let (Base::Local(id), Access::Read) = (p.base, access) {
            seen.insert(id);
        }
    });
    seen
}

/// Locals written anywhere in a body, wholly or in part, loop counters included.
pub fn written_locals(body: &[Stmt]) -> BTreeSet<LocalId> {
    let mut seen = BTreeSet::new();
    walk_stmts(body, &mut |stmt| {
        seen.extend(destinations(stmt).iter().filter_map(|d| match d.base {
            Base::Local(id) => Some(id),
            Base::Const(_) => None,
        }));
        match stmt {
            Stmt::For { var: id, .. } | Stmt::Ghost { what: Ghost::Let(id, _), .. } => drop(seen.insert(*id)),
            _ => {}
        }
    });
    seen
}

/// Locals an expression reads.
pub fn expr_locals(expr: &Expr) -> BTreeSet<LocalId> {
    let mut seen = BTreeSet::new();
    walk_expr(expr, &mut |e| {
        if let ExprKind::Read(Place { base: Base::Local(id), .. }) = &e.kind {
            seen.insert(*id);
        }
    });
    seen
}

/// Replaces reads of exactly `local` (no projections) by `value`, and reads through `local` by reads through
/// `value` where that is itself a read. The caller sees to it that `value` means the same at every use.
pub fn substitute(body: &mut [Stmt], local: LocalId, value: &Expr) {
    map_exprs(body, &mut |e| substitute_here(e, local, value));
}

/// [`substitute`] in one expression.
pub fn substitute_expr(expr: &mut Expr, local: LocalId, value: &Expr) {
    map_expr(expr, &mut |e| substitute_here(e, local, value));
}

fn substitute_here(e: &mut Expr, local: LocalId, value: &Expr) {
    let ExprKind::Read(place) = &mut e.kind else { return };
    if place.base != Base::Local(local) {
        return;
    }
    if place.projs.is_empty() {
        *e = value.clone();
    } else if let ExprKind::Read(to) = &value.kind {
        rebase(place, to);
    }
}

/// Makes `place`, which is rooted at some local, the same projection of `to`.
pub fn rebase(place: &mut Place, to: &Place) {
    place.base = to.base;
    place.projs.splice(0..0, to.projs.iter().cloned());
}

/// Redirects every use of `local`, read and written, to the place `to`.
pub fn substitute_place(body: &mut [Stmt], local: LocalId, to: &Place) {
    map_places(body, &mut |p, _| {
        if p.base == Base::Local(local) {
            rebase(p, to);
        }
    });
}

/// Renames locals everywhere in a body: places, counters, lengths inside types.
pub fn rename_locals(body: &mut [Stmt], map: &dyn Fn(LocalId) -> LocalId) {
    for stmt in body {
        stmt_exprs_mut(stmt, &mut |e| rename_expr_locals(e, map));
        match stmt {
            Stmt::Assign { dst, .. } => rename_base(dst, map),
            Stmt::Call { dsts, .. } => dsts.iter_mut().for_each(|d| rename_base(d, map)),
            Stmt::For { var, .. } => *var = map(*var),
            Stmt::Ghost { what, .. } => {
                if let Ghost::Let(id, _) = what {
                    *id = map(*id);
                }
                what.exprs_mut().iter_mut().for_each(|e| rename_spec_locals(e, map));
            }
            Stmt::If { .. } | Stmt::Assert { .. } => {}
        }
        for block in blocks_mut(stmt) {
            rename_locals(block, map);
        }
    }
}

/// Renames locals in one expression, its types included.
pub fn rename_expr_locals(expr: &mut Expr, map: &dyn Fn(LocalId) -> LocalId) {
    map_expr(expr, &mut |e| {
        rename_ty_locals(&mut e.ty, map);
        if let ExprKind::Read(p) = &mut e.kind {
            rename_base(p, map);
        }
    });
}

fn rename_base(place: &mut Place, map: &dyn Fn(LocalId) -> LocalId) {
    if let Base::Local(id) = &mut place.base {
        *id = map(*id);
    }
}

/// Renames the length parameters a type mentions.
pub fn rename_ty_locals(ty: &mut Ty, map: &dyn Fn(LocalId) -> LocalId) {
    if let Ty::Array { elem, len, .. } = ty {
        rename_ty_locals(elem, map);
        if let Len::Param { param, .. } = len {
            *param = map(*param);
        }
    }
}

/// Direct sub-expressions of a specification expression.
pub fn spec_children<'a>(e: &'a SpecExpr, f: &mut impl FnMut(&'a SpecExpr)) {
    match e {
        SpecExpr::Int(_) | SpecExpr::Bool(_) | SpecExpr::Var(_) | SpecExpr::Place(_) => {}
        SpecExpr::Field(a, _) | SpecExpr::Len(a) | SpecExpr::Neg(a) | SpecExpr::Not(a) => f(a),
        SpecExpr::Index(a, b)
        | SpecExpr::Bin(_, a, b)
        | SpecExpr::Cmp(_, a, b)
        | SpecExpr::And(a, b)
        | SpecExpr::Or(a, b)
        | SpecExpr::Implies(a, b)
        | SpecExpr::Let(_, a, b) => {
            f(a);
            f(b);
        }
        SpecExpr::Congruent(a, b, c) | SpecExpr::If(a, b, c) => {
            f(a);
            f(b);
            f(c);
        }
        SpecExpr::Sum { lo, hi, body, .. } | SpecExpr::Forall { lo, hi, body, .. } => {
            f(lo);
            f(hi);
            f(body);
        }
        SpecExpr::Array(es) | SpecExpr::Call(_, es) => es.iter().for_each(f),
    }
}

/// Direct sub-expressions of a specification expression, mutable.
pub fn spec_children_mut(e: &mut SpecExpr, f: &mut impl FnMut(&mut SpecExpr)) {
    match e {
        SpecExpr::Int(_) | SpecExpr::Bool(_) | SpecExpr::Var(_) | SpecExpr::Place(_) => {}
        SpecExpr::Field(a, _) | SpecExpr::Len(a) | SpecExpr::Neg(a) | SpecExpr::Not(a) => f(a),
        SpecExpr::Index(a, b)
        | SpecExpr::Bin(_, a, b)
        | SpecExpr::Cmp(_, a, b)
        | SpecExpr::And(a, b)
        | SpecExpr::Or(a, b)
        | SpecExpr::Implies(a, b)
        | SpecExpr::Let(_, a, b) => {
            f(a);
            f(b);
        }
        SpecExpr::Congruent(a, b, c) | SpecExpr::If(a, b, c) => {
            f(a);
            f(b);
            f(c);
        }
        SpecExpr::Sum { lo, hi, body, .. } | SpecExpr::Forall { lo, hi, body, .. } => {
            f(lo);
            f(hi);
            f(body);
        }
        SpecExpr::Array(es) | SpecExpr::Call(_, es) => es.iter_mut().for_each(f),
    }
}

/// A specification expression and all its parts, outer before inner.
pub fn walk_spec<'a>(e: &'a SpecExpr, f: &mut dyn FnMut(&'a SpecExpr)) {
    f(e);
    spec_children(e, &mut |c| walk_spec(c, f));
}

/// Rewrites a specification expression from the leaves up.
pub fn map_spec(e: &mut SpecExpr, f: &mut dyn FnMut(&mut SpecExpr)) {
    spec_children_mut(e, &mut |c| map_spec(c, f));
    f(e);
}

fn map_spec_places(e: &mut SpecExpr, f: &mut dyn FnMut(&mut Place, Access)) {
    map_spec(e, &mut |e| {
        if let SpecExpr::Place(p) = e {
            place_exprs_mut(p, &mut |i| map_expr_places(i, f));
            f(p, Access::Read);
        }
    });
}

/// Renames the locals a contract mentions, index expressions included.
pub fn rename_contract_locals(contract: &mut Contract, map: &dyn Fn(LocalId) -> LocalId) {
    rename_spec_locals(&mut contract.cond, map);
}

/// The same in one specification expression.
pub fn rename_spec_locals(e: &mut SpecExpr, map: &dyn Fn(LocalId) -> LocalId) {
    map_spec(e, &mut |e| {
        if let SpecExpr::Place(p) = e {
            place_exprs_mut(p, &mut |i| rename_expr_locals(i, map));
            rename_base(p, map);
        }
    });
}
