//! Inlining: a call becomes the body of the callee.
//!
//! Needs: callees before callers (the program's order), so that what is inlined is inlined already.
//! Keeps: meaning; parameters read through to the argument where that is a plain place.
//! Leaves out: callees whose local arrays have a run-time length that the caller cannot name.
//! Class: checked. Both sides are executed with the inlined functions expanded.
//! Page: docs/passes/inline.md.  Tests: src/tests/alone.rs, src/tests/broken.rs.

use crate::options::{Level, PassOptions};
use crate::util::{each_function, fixed, is_public, local_of, size};
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use santoku_ir::visit::{
    destinations, expr_locals, map_exprs, place_exprs, rename_locals, rename_ty_locals, stmt_exprs, substitute, substitute_place,
    walk_expr, walk_stmts, written_locals,
};
use santoku_ir::{
    BinOp, Expr, ExprKind, Func, Inline, Len, Local, LocalId, LocalKind, Loc, Place, Program, Proj, Stmt, Ty,
};
use std::collections::{BTreeMap, BTreeSet};

pub fn run(program: &Program, options: &PassOptions) -> Program {
    each_function(program, |program, func| inline_calls(program, func, options))
}

fn inline_calls(program: &Program, func: &mut Func, options: &PassOptions) {
    let mut body = std::mem::take(&mut func.body);
    let mut grown = size(&body);
    let mut copies = 0;
    block(&mut body, &mut |stmt| {
        let Stmt::Call { func: callee, .. } = &stmt else { return vec![stmt] };
        let callee = program.func(*callee);
        let cost = size(&callee.body);
        if !wanted(callee, cost, options) || grown + cost > options.inline_caller_size_max {
            return vec![stmt];
        }
        match expand(program, func, callee, &stmt, copies) {
            Some(stmts) => {
                copies += 1;
                grown += cost;
                stmts
            }
            None => vec![stmt],
        }
    });
    func.body = body;
}

/// Applies `f` to every statement once, outer blocks last; what `f` returns is not visited again.
fn block(body: &mut Vec<Stmt>, f: &mut dyn FnMut(Stmt) -> Vec<Stmt>) {
    santoku_ir::visit::rewrite_stmts(body, f);
}

/// A function without results is a test block; it is never called.
fn wanted(callee: &Func, cost: u64, options: &PassOptions) -> bool {
    match callee.inline {
        Inline::Never => false,
        Inline::Always => options.level != Level::O0,
        Inline::Auto => cost <= options.inline_size_max,
    }
}

/// The statements that do what the call does, or `None` where the callee does not fit.
///
/// A call with public arguments alone gives public values, whatever its results are written to. Where such a destination
/// also holds secrets (a state that starts from a constant), the body may not be built in it: its steps would read them.
fn expand(program: &Program, caller: &mut Func, callee: &Func, call: &Stmt, copy: u32) -> Option<Vec<Stmt>> {
    let locals = caller.locals.len();
    for in_secret in [true, false] {
        match expand_into(caller, callee, call, copy, in_secret) {
            Some(stmts) if !leaks(program, caller, &stmts) => return Some(stmts),
            Some(_) | None => caller.locals.truncate(locals),
        }
    }
    None
}

/// Does something that must be public read a secret? The rules are those of the verifier.
fn leaks(program: &Program, caller: &Func, body: &[Stmt]) -> bool {
    let public_local = |l: LocalId| {
        let l = caller.local(l);
        l.public || matches!(l.kind, LocalKind::Len | LocalKind::Counter)
    };
    let secret = |e: &Expr| expr_locals(e).into_iter().any(|l| !public_local(l));
    let public = |p: &Place| local_of(p).is_some_and(public_local);
    let mut leak = false;
    walk_stmts(body, &mut |stmt| {
        destinations(stmt).iter().for_each(|d| place_exprs(d, &mut |i| leak |= secret(i)));
        stmt_exprs(stmt, &mut |e| walk_expr(e, &mut |e| leak |= steers(e, &secret)));
        match stmt {
            Stmt::Assign { dst, src, .. } => leak |= public(dst) && secret(src),
            Stmt::If { cond, .. } => leak |= secret(cond),
            Stmt::For { lo, hi, .. } => leak |= secret(lo) || secret(hi),
            Stmt::Call { dsts, func, lens, args, .. } => {
                let callee = program.func(*func);
                leak |= lens.iter().any(secret);
                leak |= args.iter().zip(&callee.params).any(|(a, p)| callee.local(*p).public && secret(a));
                let opened = |(d, r): (&Place, &LocalId)| public(d) && !callee.gives_public(*r);
                leak |= dsts.iter().zip(&callee.rets).any(opened) && args.iter().any(secret);
            }
            Stmt::Assert { .. } | Stmt::Ghost { .. } => {}
        }
    });
    leak
}

/// Does a secret choose an index, a shift count or a dividend?
fn steers(e: &Expr, secret: &dyn Fn(&Expr) -> bool) -> bool {
    match &e.kind {
        ExprKind::Read(place) => {
            let mut found = false;
            place_exprs(place, &mut |i| found |= secret(i));
            found
        }
        ExprKind::Bin(BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr, _, count) => secret(count),
        ExprKind::Bin(BinOp::Div | BinOp::Mod, a, b) => {
            let power = b.as_const().is_some_and(|v| (v & (v - BigInt::from(1))).is_zero());
            !power && secret(a)
        }
        _ => false,
    }
}

/// [`expand`]; `in_secret`: a public result may be built in a place that holds secrets.
fn expand_into(caller: &mut Func, callee: &Func, call: &Stmt, copy: u32, in_secret: bool) -> Option<Vec<Stmt>> {
    let Stmt::Call { dsts, lens, args, loc, .. } = call else { return None };
    let written = written_locals(&callee.body);
    if callee.params.iter().chain(&callee.lens).any(|p| written.contains(p)) {
        return None;
    }
    // A destination index that another result changes is settled before in a call, after in a body.
    let indices: BTreeSet<LocalId> = dsts.iter().flat_map(index_locals).collect();
    if dsts.iter().filter_map(local_of).any(|l| indices.contains(&l)) {
        return None;
    }
    let sizes = lengths(caller, callee, lens)?;
    // What is computed from public values alone is public, whatever the callee declares.
    let open = args.iter().all(|a| is_public(caller, a));
    let map = adopt(caller, callee, &sizes, (copy, open))?;
    let mut body = callee.body.clone();
    rename_locals(&mut body, &|id| map[id.0 as usize]);
    // The lengths of expression types follow those of the locals, which `adopt` has settled.
    map_exprs(&mut body, &mut |e| fix_ty(&mut e.ty, callee, &map, &sizes));

    let mut out = Vec::new();
    for (len, value) in callee.lens.iter().zip(lens) {
        substitute(&mut body, map[len.0 as usize], value);
    }
    for (param, arg) in callee.params.iter().zip(args) {
        let id = map[param.0 as usize];
        if reads_through(arg) {
            substitute(&mut body, id, arg);
        } else {
            caller.locals[id.0 as usize].public |= is_public(caller, arg);
            out.push(Stmt::Assign { dst: Place::local(id), src: arg.clone(), loc: *loc });
        }
    }
    let touched: BTreeSet<LocalId> = args.iter().chain(lens).flat_map(expr_locals).collect();
    let mut copies = Vec::new();
    for (k, (ret, dst)) in callee.rets.iter().zip(dsts).enumerate() {
        let id = map[ret.0 as usize];
        let others = dsts.iter().enumerate().any(|(j, d)| j != k && d.base == dst.base);
        let direct = dst.projs.is_empty() && !others && local_of(dst).is_some_and(|l| {
            let fits = in_secret || caller.local(l).public || !caller.local(id).public;
            fits && !touched.contains(&l) && caller.local(l).ty == caller.local(id).ty
        });
        if direct {
            substitute_place(&mut body, id, dst);
        } else {
            let src = Expr::read(Place::local(id), &caller.local(id).ty);
            copies.push(Stmt::Assign { dst: dst.clone(), src, loc: *loc });
        }
    }
    out.extend(body);
    out.extend(copies);
    Some(out)
}

fn index_locals(dst: &Place) -> BTreeSet<LocalId> {
    let mut found = BTreeSet::new();
    place_exprs(dst, &mut |e| found.extend(expr_locals(e)));
    found
}

/// May reads of the parameter become reads of the argument? Nothing in the body writes to the argument: its own locals
/// are fresh, and direct destinations are not read by any argument.
fn reads_through(arg: &Expr) -> bool {
    match &arg.kind {
        ExprKind::Const(_) => true,
        ExprKind::Read(place) => {
            fixed(place) && !place.projs.iter().any(|p| matches!(p, Proj::Slice { .. }))
        }
        _ => false,
    }
}

/// What each length of the callee is in the caller.
#[derive(Clone, Copy)]
struct Size {
    param: LocalId,
    base: Option<LocalId>,
    add: i64,
}

/// Lengths as a constant, or a length of the caller plus a constant.
fn lengths(caller: &Func, callee: &Func, lens: &[Expr]) -> Option<Vec<Size>> {
    callee.lens.iter().zip(lens).map(|(param, e)| {
        let (base, add) = affine(caller, e)?;
        Some(Size { param: *param, base, add })
    }).collect()
}

fn affine(caller: &Func, e: &Expr) -> Option<(Option<LocalId>, i64)> {
    match &e.kind {
        ExprKind::Const(v) => Some((None, v.to_i64()?)),
        ExprKind::Read(p) if p.projs.is_empty() => {
            let id = local_of(p)?;
            (caller.local(id).kind == LocalKind::Len).then_some((Some(id), 0))
        }
        ExprKind::Bin(op @ (BinOp::Add | BinOp::Sub), a, b) => {
            let (base, add) = affine(caller, a)?;
            let k = b.as_const()?.to_i64()?;
            Some((base, if *op == BinOp::Add { add.checked_add(k)? } else { add.checked_sub(k)? }))
        }
        _ => None,
    }
}

fn resized(len: &Len, sizes: &[Size]) -> Option<Len> {
    let Len::Param { param, add } = len else { return Some(len.clone()) };
    let size = sizes.iter().find(|s| s.param == *param)?;
    let add = size.add.checked_add(*add)?;
    match size.base {
        Some(param) => Some(Len::Param { param, add }),
        None => Some(Len::Const(u64::try_from(add).ok()?)),
    }
}

fn resize(ty: &Ty, sizes: &[Size]) -> Option<Ty> {
    match ty {
        Ty::Array { elem, len, ranges } => Some(Ty::Array {
            elem: Box::new(resize(elem, sizes)?),
            len: resized(len, sizes)?,
            ranges: ranges.clone(),
        }),
        Ty::Word(_) | Ty::Int(_) | Ty::Bool | Ty::Struct(_) => Some(ty.clone()),
    }
}

/// Declares the callee's locals in the caller; gives the new number of each.
fn adopt(caller: &mut Func, callee: &Func, sizes: &[Size], (copy, open): (u32, bool)) -> Option<Vec<LocalId>> {
    let tys = callee.locals.iter().map(|l| resize(&l.ty, sizes)).collect::<Option<Vec<_>>>()?;
    let mut map = Vec::with_capacity(callee.locals.len());
    for (local, ty) in callee.locals.iter().zip(tys) {
        map.push(LocalId(caller.locals.len() as u32));
        let kind = if local.kind == LocalKind::Counter { LocalKind::Counter } else { LocalKind::Var };
        let base = local.name.split('$').next().unwrap_or("");
        let name = format!("{base}${copy}_{}", callee_tag(&callee.name));
        caller.locals.push(Local { name, ty, kind, public: local.public || open, loc: Loc::default() });
    }
    Some(map)
}

/// The last segment of a dotted name, without what monomorphisation added.
fn callee_tag(name: &str) -> &str {
    let last = name.rsplit('.').next().unwrap_or(name);
    last.split('$').next().unwrap_or(last)
}

/// Types inside expressions still name the callee's lengths, renumbered by `rename_locals`.
fn fix_ty(ty: &mut Ty, callee: &Func, map: &[LocalId], sizes: &[Size]) {
    let back: BTreeMap<LocalId, LocalId> = callee.lens.iter().map(|l| (map[l.0 as usize], *l)).collect();
    rename_ty_locals(ty, &|id| back.get(&id).copied().unwrap_or(id));
    if let Some(done) = resize(ty, sizes) {
        *ty = done;
    }
}
