//! Arrays and records into scalars.
//!
//! Needs: `unroll`, so that indices are constants.  Keeps: results that are built up in place: they are built in
//! scalars and stored once at the end.  Leaves out: parameters (they are in memory already and are not written),
//! arrays that are passed to calls, selected as a whole, compared, or larger than the option allows.
//! Class: checked.
//! Page: docs/passes/array-to-scalar.md.  Tests: src/tests/alone.rs, src/tests/broken.rs.

use crate::options::PassOptions;
use crate::util::{accesses, add_var, each_function, local_of};
use num_traits::ToPrimitive;
use santoku_ir::typing::Scope;
use santoku_ir::visit::{map_exprs, rewrite_stmts, stmt_exprs, walk_expr, walk_stmts};
use santoku_ir::{Base, Expr, ExprKind, Func, Len, Local, LocalId, LocalKind, Place, Program, Proj, Stmt, StructDef, Ty};
use std::collections::{BTreeMap, BTreeSet};

/// Levels of nesting taken apart one after the other.
const ROUNDS_MAX: usize = 4;

pub fn run(program: &Program, options: &PassOptions) -> Program {
    each_function(program, |program, func| {
        stage_results(program, func, options);
        for _ in 0..ROUNDS_MAX {
            let chosen = candidates(program, func, options);
            if chosen.is_empty() {
                return;
            }
            split(program, func, &chosen);
        }
    })
}

/// Result arrays that are read back while they are built get a variable of their own, copied out at the end.
fn stage_results(program: &Program, func: &mut Func, options: &PassOptions) {
    let rets: BTreeSet<LocalId> = func.rets.iter().copied().collect();
    let read: BTreeSet<LocalId> = santoku_ir::visit::read_locals(&func.body);
    let fit = splittable(program, func, options, &|l| rets.contains(&l) && read.contains(&l));
    for ret in fit {
        let Local { name, ty, public, .. } = func.local(ret).clone();
        let var = add_var(func, name, ty.clone(), public);
        santoku_ir::visit::rename_locals(&mut func.body, &|l| if l == ret { var } else { l });
        func.body.push(Stmt::assign(Place::local(ret), Expr::read(Place::local(var), &ty)));
    }
}

fn candidates(program: &Program, func: &Func, options: &PassOptions) -> BTreeSet<LocalId> {
    splittable(program, func, options, &|l| func.local(l).kind == LocalKind::Var)
}

/// Locals among those wanted whose every use can be taken apart.
fn splittable(
    program: &Program,
    func: &Func,
    options: &PassOptions,
    wanted: &dyn Fn(LocalId) -> bool,
) -> BTreeSet<LocalId> {
    let all = (0..func.locals.len() as u32).map(LocalId);
    let fits = |l: LocalId| {
        let ty = &func.local(l).ty;
        !ty.is_scalar() && scalars(&program.structs, ty).is_some_and(|n| n <= options.scalars_max)
    };
    let mut good: BTreeSet<LocalId> = all.filter(|l| wanted(*l) && fits(*l)).collect();
    walk_stmts(&func.body, &mut |stmt| {
        let whole: Option<*const Expr> = match stmt {
            Stmt::Assign { dst, src, .. } => {
                if local_of(dst).is_some_and(|l| good.contains(&l)) && !(part(dst).is_some() || takes_apart(dst, src)) {
                    good.remove(&local_of(dst).unwrap_or(LocalId(0)));
                }
                // A plain copy out of the local is a copy of each part, wherever it goes.
                src.as_read().filter(|p| covers(p) && plain(dst)).map(|_| std::ptr::from_ref(src))
            }
            Stmt::Call { dsts, .. } => {
                for l in dsts.iter().filter(|d| part(d).is_none()).filter_map(local_of) {
                    good.remove(&l);
                }
                None
            }
            Stmt::For { .. } | Stmt::If { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. } => None,
        };
        stmt_exprs(stmt, &mut |e| {
            walk_expr(e, &mut |e| {
                let ExprKind::Read(place) = &e.kind else { return };
                if part(place).is_none() && whole != Some(std::ptr::from_ref(e)) {
                    if let Some(l) = local_of(place) {
                        good.remove(&l);
                    }
                }
            });
        });
    });
    // In a program that is not proved an index may name no part.
    for (place, _) in accesses(&func.body) {
        let inside = |l: LocalId| first_within(place, parts(&program.structs, &func.local(l).ty));
        if let Some(l) = local_of(place).filter(|l| !inside(*l)) {
            good.remove(&l);
        }
    }
    good
}

/// Does the first step of a place stay among `count` parts, as far as it is fixed?
fn first_within(place: &Place, count: usize) -> bool {
    match place.projs.first() {
        None => true,
        Some(Proj::Field(k)) => (*k as usize) < count,
        Some(Proj::Index(e)) => e.as_const().is_none_or(|v| v.to_usize().is_some_and(|k| k < count)),
        Some(Proj::Slice { off, len }) => off.as_const().is_none_or(|v| {
            let end = v.to_u64().and_then(|o| o.checked_add(*len)).and_then(|e| usize::try_from(e).ok());
            end.is_some_and(|e| e <= count)
        }),
    }
}

/// Number of the part a place goes into, where that is fixed.
fn part(place: &Place) -> Option<usize> {
    match place.projs.first()? {
        Proj::Field(k) => Some(*k as usize),
        Proj::Index(e) => e.as_const()?.to_usize(),
        Proj::Slice { .. } => None,
    }
}

/// Can `dst = src` be written part by part, `dst` being a whole local or a fixed slice of one?
fn takes_apart(dst: &Place, src: &Expr) -> bool {
    let source = match &src.kind {
        ExprKind::Array(_) | ExprKind::Struct(..) | ExprKind::Repeat(_) => true,
        ExprKind::Read(from) => plain(from),
        _ => false,
    };
    covers(dst) && source
}

/// A whole base, or a slice of it at a constant offset.
fn covers(place: &Place) -> bool {
    match place.projs.as_slice() {
        [] => true,
        [Proj::Slice { off, .. }] => off.as_const().is_some(),
        _ => false,
    }
}

/// Constant indices all the way, a slice at most at the end: parts can be named.
fn plain(place: &Place) -> bool {
    let inner = place.projs.split_last().map_or(&[][..], |(_, inner)| inner);
    crate::util::fixed(place) && !inner.iter().any(|p| matches!(p, Proj::Slice { .. }))
}

/// Part `k` of the value at a place of this type.
fn part_place(place: &Place, ty: &Ty, k: usize) -> Place {
    let mut part = place.clone();
    if let Some(Proj::Slice { off, .. }) = part.projs.last() {
        let at = off.as_const().cloned().unwrap_or_default() + k;
        part.projs.pop();
        part.projs.push(Proj::Index(Expr::int(at)));
    } else {
        part.projs.push(step(ty, k));
    }
    part
}

/// Scalars in a type of fixed size.
fn scalars(structs: &[StructDef], ty: &Ty) -> Option<u64> {
    match ty {
        Ty::Word(_) | Ty::Int(_) | Ty::Bool => Some(1),
        Ty::Array { elem, len: Len::Const(n), .. } => scalars(structs, elem)?.checked_mul(*n),
        Ty::Array { len: Len::Param { .. }, .. } => None,
        Ty::Struct(id) => {
            structs[id.0 as usize].fields.iter().try_fold(0u64, |n, (_, t)| n.checked_add(scalars(structs, t)?))
        }
    }
}

/// Step into part `k` of a value of this type.
fn step(ty: &Ty, k: usize) -> Proj {
    match ty {
        Ty::Struct(_) => Proj::Field(k as u32),
        Ty::Word(_) | Ty::Int(_) | Ty::Bool | Ty::Array { .. } => Proj::Index(Expr::int(k)),
    }
}

fn parts(structs: &[StructDef], ty: &Ty) -> usize {
    match ty {
        Ty::Struct(id) => structs[id.0 as usize].fields.len(),
        Ty::Array { len: Len::Const(n), .. } => *n as usize,
        Ty::Word(_) | Ty::Int(_) | Ty::Bool | Ty::Array { .. } => 0,
    }
}

fn split(program: &Program, func: &mut Func, chosen: &BTreeSet<LocalId>) {
    let mut map: BTreeMap<LocalId, Vec<LocalId>> = BTreeMap::new();
    for &whole in chosen {
        let Local { name, ty, public, .. } = func.local(whole).clone();
        let mut news = Vec::new();
        for k in 0..parts(&program.structs, &ty) {
            let scope = Scope { structs: &program.structs, consts: &program.consts, locals: &func.locals };
            let Some(part_ty) = scope.project(&ty, &step(&ty, k)) else { continue };
            // The part number goes before the `$` of an inlined copy.
            let name = match name.split_once('$') {
                Some((base, copy)) => format!("{base}.{k}${copy}"),
                None => format!("{name}.{k}"),
            };
            news.push(add_var(func, name, part_ty, public));
        }
        map.insert(whole, news);
    }
    let mut body = std::mem::take(&mut func.body);
    rewrite_stmts(&mut body, &mut |stmt| match stmt {
        Stmt::Assign { dst, src, loc } if touches_whole(&dst, &map) || copies_whole(&src, &map) => {
            apart(program, func, (dst, src), &map).into_iter().map(|(dst, src)| Stmt::Assign { dst, src, loc }).collect()
        }
        other => vec![other],
    });
    let redirect = |place: &mut Place| {
        if let Some(k) = part(place) {
            if let Some(news) = local_of(place).and_then(|l| map.get(&l)) {
                place.base = Base::Local(news[k]);
                place.projs.remove(0);
            }
        }
    };
    map_exprs(&mut body, &mut |e| {
        if let ExprKind::Read(p) = &mut e.kind {
            redirect(p);
        }
    });
    rewrite_stmts(&mut body, &mut |mut stmt| {
        match &mut stmt {
            Stmt::Assign { dst, .. } => redirect(dst),
            Stmt::Call { dsts, .. } => dsts.iter_mut().for_each(redirect),
            Stmt::For { .. } | Stmt::If { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. } => {}
        }
        vec![stmt]
    });
    func.body = body;
}

fn touches_whole(dst: &Place, map: &BTreeMap<LocalId, Vec<LocalId>>) -> bool {
    covers(dst) && local_of(dst).is_some_and(|l| map.contains_key(&l))
}

fn copies_whole(src: &Expr, map: &BTreeMap<LocalId, Vec<LocalId>>) -> bool {
    src.as_read().is_some_and(|p| touches_whole(p, map))
}

/// An aggregate assignment as one assignment per part. Where the source reads what the destination replaces, the
/// parts are computed first and stored after.
fn apart(
    program: &Program,
    func: &mut Func,
    (dst, src): (Place, Expr),
    map: &BTreeMap<LocalId, Vec<LocalId>>,
) -> Vec<(Place, Expr)> {
    let ty = src.ty.clone();
    let count = parts(&program.structs, &ty);
    let (src, mut first) = compute_once(func, src);
    let shares = crate::util::reads(&src).iter().any(|p| p.base == dst.base);
    let mut then = Vec::new();
    for k in 0..count {
        let to = part_place(&dst, &ty, k);
        let value = element(program, func, &src, k);
        let part_ty = value.ty.clone();
        if shares && !matches!(value.kind, ExprKind::Const(_)) {
            let name = "part".to_string();
            let public = local_of(&dst).is_some_and(|l| func.local(l).public);
            let temp = Place::local(add_var(func, name, part_ty.clone(), public));
            first.push((temp.clone(), value));
            then.push((to, Expr::read(temp, &part_ty)));
        } else {
            then.push((to, value));
        }
    }
    debug_assert!(touches_whole(&dst, map) || copies_whole(&src, map));
    first.extend(then);
    first
}

/// The operand of a repetition is computed once, whatever the number of copies.
fn compute_once(func: &mut Func, src: Expr) -> (Expr, Vec<(Place, Expr)>) {
    match src.kind {
        ExprKind::Repeat(e) if !matches!(e.kind, ExprKind::Const(_)) => {
            let public = crate::util::is_public(func, &e);
            let temp = Place::local(add_var(func, "part".to_string(), e.ty.clone(), public));
            let again = Expr::read(temp.clone(), &e.ty);
            (Expr::new(ExprKind::Repeat(Box::new(again)), src.ty), vec![(temp, *e)])
        }
        kind => (Expr::new(kind, src.ty), Vec::new()),
    }
}

/// Part `k` of an aggregate expression that [`takes_apart`] accepted.
fn element(program: &Program, func: &Func, src: &Expr, k: usize) -> Expr {
    match &src.kind {
        ExprKind::Array(es) | ExprKind::Struct(_, es) => es[k].clone(),
        ExprKind::Repeat(e) => (**e).clone(),
        ExprKind::Read(from) => {
            let from = part_place(from, &src.ty, k);
            let ty = Scope::of(program, func).place_ty(&from).unwrap_or(Ty::Int(None));
            Expr::read(from, &ty)
        }
        _ => src.clone(),
    }
}
