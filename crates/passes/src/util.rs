//! What several passes ask of a function: sizes, overlap of places, publicness, renumbering.
//!
//! Needs: the walkers of `ir`.  Keeps: nothing of its own.  Absent: rewrites.
//! Trusted: c.

use santoku_ir::visit::{expr_locals, walk_expr, walk_places, walk_stmts, stmt_exprs, Access};
use santoku_ir::{Base, Expr, ExprKind, Func, FuncId, Local, LocalId, LocalKind, Loc, Place, Program, Proj, Stmt, Ty};

/// Operators, reads and statements of a body, a rough measure of its code.
pub fn size(body: &[Stmt]) -> u64 {
    let mut n = 0;
    walk_stmts(body, &mut |s| {
        n += 1;
        stmt_exprs(s, &mut |e| n += expr_size(e));
    });
    n
}

/// Operators and reads of an expression; constants are free.
pub fn expr_size(e: &Expr) -> u64 {
    let mut n = 0;
    walk_expr(e, &mut |e| n += u64::from(!matches!(e.kind, ExprKind::Const(_))));
    n
}

/// Can the two places share storage? Different fields and different constant indices cannot.
pub fn overlap(a: &Place, b: &Place) -> bool {
    if a.base != b.base {
        return false;
    }
    for (p, q) in a.projs.iter().zip(&b.projs) {
        match (p, q) {
            (Proj::Field(i), Proj::Field(j)) if i != j => return false,
            (Proj::Index(i), Proj::Index(j)) => match (i.as_const(), j.as_const()) {
                (Some(x), Some(y)) if x != y => return false,
                (Some(_), Some(_)) => {}
                // Past a computed index nothing is known.
                _ => return true,
            },
            (Proj::Field(_), Proj::Field(_)) => {}
            _ => return true,
        }
    }
    true
}

/// Is every index on the way a constant?
pub fn fixed(place: &Place) -> bool {
    place.projs.iter().all(|p| match p {
        Proj::Field(_) => true,
        Proj::Index(e) | Proj::Slice { off: e, .. } => e.as_const().is_some(),
    })
}

/// Every place an expression reads.
pub fn reads(e: &Expr) -> Vec<&Place> {
    let mut places = Vec::new();
    walk_expr(e, &mut |e| {
        if let ExprKind::Read(p) = &e.kind {
            places.push(p);
        }
    });
    places
}

/// Every place a body touches, with how.
pub fn accesses(body: &[Stmt]) -> Vec<(&Place, Access)> {
    let mut places = Vec::new();
    walk_places(body, &mut |p, a| places.push((p, a)));
    places
}

/// Everything the expression reads is public.
pub fn is_public(func: &Func, e: &Expr) -> bool {
    expr_locals(e).iter().all(|l| func.local(*l).public)
}

/// Adds a variable.
pub fn add_var(func: &mut Func, name: String, ty: Ty, public: bool) -> LocalId {
    func.locals.push(Local { name, ty, kind: LocalKind::Var, public, loc: Loc::default() });
    LocalId(func.locals.len() as u32 - 1)
}

/// The local a place is rooted at.
pub fn local_of(place: &Place) -> Option<LocalId> {
    match place.base {
        Base::Local(id) => Some(id),
        Base::Const(_) => None,
    }
}

/// Applies a rewrite to every function in order (callees first), each seeing what became of those before it.
pub fn each_function(program: &Program, rewrite: impl Fn(&Program, &mut Func)) -> Program {
    let mut out = program.clone();
    for at in 0..out.funcs.len() {
        let mut func = out.funcs[at].clone();
        rewrite(&out, &mut func);
        out.funcs[at] = func;
    }
    out
}

/// Renumbers the callees of a body.
pub fn map_calls(body: &mut [Stmt], map: &dyn Fn(FuncId) -> FuncId) {
    for stmt in body {
        if let Stmt::Call { func, .. } = stmt {
            *func = map(*func);
        }
        for block in santoku_ir::visit::blocks_mut(stmt) {
            map_calls(block, map);
        }
    }
}
