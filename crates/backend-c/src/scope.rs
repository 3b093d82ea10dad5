//! Where each local is declared: in the innermost block that holds all its uses and defines it afresh, so that the C
//! compiler can share stack slots between blocks.

use crate::alias::{expr_reads, touches};
use santoku_ir::visit::{walk_places, walk_stmts};
use santoku_ir::{Base, Expr, ExprKind, Func, Len, LocalId, LocalKind, Place, Proj, Stmt, Ty};
use std::collections::BTreeMap;

/// Path of a block: child indices `(statement, branch)` from the body down.
pub type BlockPath = Vec<(usize, u8)>;

/// Locals to declare at the head of each block.
pub fn place_locals(f: &Func) -> BTreeMap<BlockPath, Vec<LocalId>> {
    let mut out: BTreeMap<BlockPath, Vec<LocalId>> = BTreeMap::new();
    for (i, l) in f.locals.iter().enumerate() {
        let id = LocalId(i as u32);
        if matches!(l.kind, LocalKind::Var | LocalKind::Counter) {
            let mut path = vec![];
            if descend(f, &f.body, id, &mut path) {
                out.entry(path).or_default().push(id);
            }
        }
    }
    out
}

/// Extends `path` towards the innermost block; false if the local is not used at all.
fn descend(f: &Func, block: &[Stmt], id: LocalId, path: &mut BlockPath) -> bool {
    let users: Vec<usize> = (0..block.len()).filter(|k| uses(&block[*k], id)).collect();
    match users.as_slice() {
        [] => false,
        [one] => {
            for (branch, inner) in children(&block[*one]) {
                if fits_inside(f, &block[*one], branch, inner, id) {
                    path.push((*one, branch));
                    return descend(f, inner, id, path);
                }
            }
            true
        }
        _ => true,
    }
}

fn children(s: &Stmt) -> Vec<(u8, &[Stmt])> {
    match s {
        Stmt::For { body, .. } => vec![(0, body)],
        Stmt::If { then, els, .. } => vec![(0, then), (1, els)],
        Stmt::Assign { .. } | Stmt::Call { .. } | Stmt::Assert { .. } => vec![],
    }
}

/// All uses of `id` in `s` are inside `inner`, and (for a loop) each round defines it before reading it.
fn fits_inside(f: &Func, s: &Stmt, branch: u8, inner: &[Stmt], id: LocalId) -> bool {
    match s {
        Stmt::For { var, lo, hi, .. } => {
            *var != id && !expr_reads(lo, id) && !expr_reads(hi, id) && defined_first(f, inner, id)
        }
        Stmt::If { cond, then, els, .. } => {
            let other = if branch == 0 { els } else { then };
            let here = inner.iter().any(|t| uses(t, id));
            here && !expr_reads(cond, id) && !other.iter().any(|t| uses(t, id))
        }
        Stmt::Assign { .. } | Stmt::Call { .. } | Stmt::Assert { .. } => false,
    }
}

/// Mentioned anywhere in `s`, also as the counter of a loop that never reads it.
fn uses(s: &Stmt, id: LocalId) -> bool {
    let stmts = std::slice::from_ref(s);
    let mut counts = false;
    walk_stmts(stmts, &mut |t| counts |= matches!(t, Stmt::For { var, .. } if *var == id));
    counts || touches(stmts, id)
}

/// The first statements of `block` that mention `id` define all of it without reading it.
fn defined_first(f: &Func, block: &[Stmt], id: LocalId) -> bool {
    let Some(first) = block.iter().position(|s| uses(s, id)) else { return true };
    defines(f, &block[first], id) || fields_defined(f, &block[first..], id)
}

fn defines(f: &Func, s: &Stmt, id: LocalId) -> bool {
    let whole = |p: &Place| p.base == Base::Local(id) && p.projs.is_empty();
    match s {
        Stmt::Assign { dst, src, .. } => whole(dst) && !expr_reads(src, id),
        Stmt::Call { dsts, lens, args, .. } => dsts.iter().any(whole) && !lens.iter().chain(args).any(|e| expr_reads(e, id)),
        Stmt::For { var, lo, hi, body, .. } => {
            *var == id || (covers(&f.local(id).ty, lo, hi) && element_defined(body, id, *var))
        }
        Stmt::If { .. } | Stmt::Assert { .. } => false,
    }
}

/// The loop `0 ..< length` of an array type.
fn covers(ty: &Ty, lo: &Expr, hi: &Expr) -> bool {
    let constant = |e: &Expr| match &e.kind {
        ExprKind::Const(v) => u64::try_from(v).ok(),
        _ => None,
    };
    match ty {
        Ty::Array { len: Len::Const(n), .. } => constant(lo) == Some(0) && constant(hi) == Some(*n),
        _ => false,
    }
}

/// The first mention of `id` in `body` stores the whole element `[var]`, and nothing else of `id` is read before.
fn element_defined(body: &[Stmt], id: LocalId, var: LocalId) -> bool {
    let at = |p: &Place| {
        p.base == Base::Local(id)
            && p.projs.len() == 1
            && matches!(&p.projs[0], Proj::Index(e) if matches!(&e.kind, ExprKind::Read(q) if q.base == Base::Local(var) && q.projs.is_empty()))
    };
    let Some(first) = body.iter().find(|s| uses(s, id)) else { return false };
    let stores = match first {
        Stmt::Assign { dst, src, .. } => at(dst) && !expr_reads(src, id),
        Stmt::Call { dsts, args, .. } => dsts.iter().any(at) && !args.iter().any(|e| expr_reads(e, id)),
        Stmt::For { .. } | Stmt::If { .. } | Stmt::Assert { .. } => false,
    };
    // Later reads must stay at `[var]`, which this round has written.
    let mut all_at = true;
    walk_places(body, &mut |p, _| {
        if p.base == Base::Local(id) {
            let same = matches!(p.projs.first(), Some(Proj::Index(e)) if matches!(&e.kind, ExprKind::Read(q) if q.base == Base::Local(var)));
            all_at &= same;
        }
    });
    stores && all_at
}

/// Consecutive statements that define every field of a struct (or every constant index of an array) before it is read.
fn fields_defined(f: &Func, stmts: &[Stmt], id: LocalId) -> bool {
    let Ty::Array { len: Len::Const(n), .. } = &f.local(id).ty else { return false };
    let mut seen = vec![false; (*n).min(4096) as usize];
    for s in stmts {
        if !uses(s, id) {
            continue;
        }
        let Stmt::Assign { dst, src, .. } = s else { return false };
        let at = match dst.projs.as_slice() {
            [Proj::Index(e)] if dst.base == Base::Local(id) => match &e.kind {
                ExprKind::Const(v) => usize::try_from(v).ok(),
                _ => None,
            },
            _ => None,
        };
        match at {
            Some(k) if k < seen.len() && !expr_reads(src, id) => seen[k] = true,
            _ => return false,
        }
        if seen.iter().all(|b| *b) && seen.len() as u64 == *n {
            return true;
        }
    }
    false
}
