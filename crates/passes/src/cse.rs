//! Common subexpressions: an expression that occurs again while its operands are unchanged is computed once.
//!
//! Needs: nothing.  Keeps: order of statements; a new variable is assigned right before the first use.
//! Leaves out: expressions across loop and branch borders, aggregates, expressions below the size option.
//! Class: checked.
//! Page: docs/passes/cse.md.  Tests: src/tests/alone.rs, src/tests/broken.rs.

use crate::options::PassOptions;
use crate::util::{add_var, each_function, expr_size, is_public, local_of, overlap, reads};
use santoku_ir::visit::{blocks_mut, children, children_mut, destinations, stmt_exprs, stmt_exprs_mut, written_locals};
use santoku_ir::{Expr, ExprKind, Func, LocalId, Place, Program, Stmt};
use std::collections::{BTreeMap, BTreeSet};

pub fn run(program: &Program, options: &PassOptions) -> Program {
    each_function(program, |_, func| {
        let mut body = std::mem::take(&mut func.body);
        block(&mut body, func, options);
        func.body = body;
    })
}

fn block(body: &mut Vec<Stmt>, func: &mut Func, options: &PassOptions) {
    for stmt in body.iter_mut() {
        for inner in blocks_mut(stmt) {
            block(inner, func, options);
        }
    }
    let classes = find(body, options);
    if !classes.is_empty() {
        rewrite(body, func, classes);
    }
}

/// Occurrences of one expression between two changes of its operands.
struct Class {
    expr: Expr,
    /// Statements of the block, ascending, one entry per occurrence.
    at: Vec<usize>,
}

/// Expressions in sight, by text; `Key` is what makes two occurrences one.
struct Sight {
    open: BTreeMap<Expr, usize>,
    by_local: BTreeMap<LocalId, BTreeSet<Expr>>,
    classes: Vec<Class>,
}

impl Sight {
    fn see(&mut self, e: &Expr, at: usize, options: &PassOptions) {
        if worth(e, options) {
            if let Some(&class) = self.open.get(e) {
                self.classes[class].at.push(at);
                // The parts of a repeated expression are computed with it, once.
                return;
            }
            self.open.insert(e.clone(), self.classes.len());
            self.classes.push(Class { expr: e.clone(), at: vec![at] });
            for l in reads(e).into_iter().filter_map(local_of) {
                self.by_local.entry(l).or_default().insert(e.clone());
            }
        }
        children(e, &mut |c| self.see(c, at, options));
    }

    /// A write ends the life of what it may change.
    fn kill(&mut self, dst: &Place) {
        let Some(seen) = local_of(dst).and_then(|l| self.by_local.get_mut(&l)) else { return };
        let open = &mut self.open;
        seen.retain(|e| {
            let hit = reads(e).into_iter().any(|p| overlap(p, dst));
            if hit {
                open.remove(e);
            }
            !hit
        });
    }
}

fn worth(e: &Expr, options: &PassOptions) -> bool {
    let operator = matches!(
        e.kind,
        ExprKind::Un(..) | ExprKind::Bin(..) | ExprKind::Cmp(..) | ExprKind::Select(..) | ExprKind::Cast(_)
    );
    operator && e.ty.is_scalar() && expr_size(e) >= options.cse_size_min
}

/// Expressions of one block that occur more than once.
fn find(body: &[Stmt], options: &PassOptions) -> Vec<Class> {
    let mut sight = Sight { open: BTreeMap::new(), by_local: BTreeMap::new(), classes: Vec::new() };
    for (at, stmt) in body.iter().enumerate() {
        // Asserts and invariants go before code is made; they are no reason to compute anything.
        if !matches!(stmt, Stmt::Assert { .. } | Stmt::Ghost { .. } | Stmt::For { .. }) {
            stmt_exprs(stmt, &mut |e| sight.see(e, at, options));
        }
        for dst in destinations(stmt) {
            sight.kill(dst);
        }
        if destinations(stmt).is_empty() {
            for l in written_locals(std::slice::from_ref(stmt)) {
                sight.kill(&Place::local(l));
            }
        }
    }
    sight.classes.retain(|c| c.at.len() > 1);
    sight.classes
}

/// Names each class before its first occurrence and reads the name at all of them.
fn rewrite(body: &mut Vec<Stmt>, func: &mut Func, classes: Vec<Class>) {
    let mut named: Vec<(Class, LocalId)> = Vec::with_capacity(classes.len());
    for class in classes {
        let public = is_public(func, &class.expr);
        let id = add_var(func, "common".to_string(), class.expr.ty.clone(), public);
        named.push((class, id));
    }
    // Larger expressions first, so that their parts are replaced in their definitions, not in their uses.
    named.sort_by_key(|(c, _)| std::cmp::Reverse(expr_size(&c.expr)));
    let mut by_stmt: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (n, (class, _)) in named.iter().enumerate() {
        for &at in &class.at {
            let list = by_stmt.entry(at).or_default();
            if list.last() != Some(&n) {
                list.push(n);
            }
        }
    }
    let old = std::mem::take(body);
    for (at, mut stmt) in old.into_iter().enumerate() {
        let here = by_stmt.get(&at).map(Vec::as_slice).unwrap_or_default();
        let table: BTreeMap<&Expr, LocalId> = here.iter().map(|n| (&named[*n].0.expr, named[*n].1)).collect();
        // Definitions from the smallest up: a larger one may read a smaller one.
        for &n in here.iter().rev().filter(|n| named[**n].0.at[0] == at) {
            let (class, id) = &named[n];
            let mut value = class.expr.clone();
            children_mut(&mut value, &mut |c| replace(c, &table));
            body.push(Stmt::Assign { dst: Place::local(*id), src: value, loc: stmt.loc() });
        }
        if !table.is_empty() {
            stmt_exprs_mut(&mut stmt, &mut |e| replace(e, &table));
        }
        body.push(stmt);
    }
}

/// Replaces the outermost named expressions.
fn replace(e: &mut Expr, table: &BTreeMap<&Expr, LocalId>) {
    match table.get(e) {
        Some(&id) => *e = Expr::read(Place::local(id), &e.ty),
        None => children_mut(e, &mut |c| replace(c, table)),
    }
}
