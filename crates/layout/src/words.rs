//! Programs in words alone: what a secret decides, and exact integers that depend on secrets, become words.
//!
//! Needs: the proven range of every integer that a variable holds.  Keeps: names, calls, structs, loops; conditions and
//! integers that are public.  Absent on purpose: division by what is no power of two.
//! Trusted: nothing: what it makes is compared with the program before.

use crate::choices::{changed, public, steers, Choices, Res};
use crate::held::{integers, of_type, other_than_words, Held};
use santoku_ir::visit::{walk_exprs, walk_stmts};
use santoku_ir::{Expr, ExprKind, Func, Loc, Local, Place, Program, Stmt, Ty};
use std::collections::BTreeSet;

/// Something that has no form in words, and its place.
pub struct NoForm {
    pub what: String,
    pub loc: Loc,
}

/// Does a secret decide something, or become an exact integer?
pub fn needed(program: &Program, of: &BTreeSet<String>) -> bool {
    program.funcs.iter().filter(|f| of.contains(&f.name)).any(|f| f.locals.iter().any(|l| changes(program, l)) || decides(f))
}

/// Does a function have a selection or a comparison of secrets, or an integer made of them?
fn decides(f: &Func) -> bool {
    let mut found = false;
    walk_exprs(&f.body, &mut |e| {
        let of = |a: &Expr| !public(f, a);
        found |= match &e.kind {
            ExprKind::Cmp(..) => of(e),
            ExprKind::Select(c, ..) => of(c),
            ExprKind::Cast(a) => matches!((&a.ty, &e.ty), (Ty::Bool | Ty::Int(_), _) | (_, Ty::Int(_))) && of(a),
            _ => false,
        };
    });
    found
}

/// Does the type of a local change?
fn changes(program: &Program, l: &Local) -> bool {
    !steers(l) && other_than_words(program, &l.ty)
}

/// The program in words of at most `widest` bits. Functions that are not in `of` stay as they are.
///
/// # Errors
/// [`NoForm`].
pub fn in_words(program: &Program, of: &BTreeSet<String>, widest: u32) -> Result<Program, NoForm> {
    let mut out = program.clone();
    structs(program, &mut out, widest)?;
    for (k, f) in program.funcs.iter().enumerate().filter(|(_, f)| of.contains(&f.name)) {
        out.funcs[k] = function(program, f, widest)?;
    }
    Ok(out)
}

fn structs(program: &Program, out: &mut Program, widest: u32) -> Result<(), NoForm> {
    let nowhere = |what: String| NoForm { what, loc: Loc::default() };
    for s in &mut out.structs {
        for (_, ty) in &mut s.fields {
            *ty = changed(ty, of_type(ty), widest).map_err(nowhere)?;
        }
    }
    if program.consts.iter().any(|c| has_changed_struct(program, &c.ty)) {
        return Err(nowhere("table of structs with conditions or exact integers".into()));
    }
    Ok(())
}

fn has_changed_struct(program: &Program, ty: &Ty) -> bool {
    match ty {
        Ty::Array { elem, .. } => has_changed_struct(program, elem),
        Ty::Struct(_) => other_than_words(program, ty),
        Ty::Word(_) | Ty::Int(_) | Ty::Bool => false,
    }
}

fn function(program: &Program, f: &Func, widest: u32) -> Result<Func, NoForm> {
    let held = ranges(f);
    let mut out = f.clone();
    for (l, held) in out.locals.iter_mut().zip(&held) {
        let (fixed, loc) = (steers(l), l.loc);
        let at = |what: String| NoForm { what, loc };
        if fixed && has_changed_struct(program, &l.ty) {
            return Err(at("public struct with conditions or exact integers".into()));
        }
        if !fixed {
            l.ty = changed(&l.ty, *held, widest).map_err(at)?;
        }
    }
    let locals = std::mem::take(&mut out.locals);
    let mut made = Choices { program, func: f, held: &held, widest, locals, before: vec![], loc: f.loc };
    let body = block(&mut made, &f.body).map_err(|what| NoForm { what, loc: made.loc })?;
    out.locals = made.locals;
    out.body = body;
    Ok(out)
}

/// The word for the integers of each local: of its declared range, or of all that is assigned to it.
fn ranges(f: &Func) -> Vec<Option<Held>> {
    let mut found: Vec<Option<santoku_ir::Range>> = vec![None; f.locals.len()];
    let mut open = BTreeSet::new();
    walk_stmts(&f.body, &mut |s| {
        let Stmt::Assign { dst, src, .. } = s else { return };
        let santoku_ir::Base::Local(id) = dst.base else { return };
        match range(src) {
            Some(r) => {
                let all = &mut found[id.0 as usize];
                *all = Some(all.as_ref().map_or(r.clone(), |a| a.join(&r)));
            }
            None => _ = open.insert(id.0 as usize),
        }
    });
    let of = |(k, l): (usize, &Local)| of_type(&l.ty).or_else(|| found[k].as_ref().filter(|_| !open.contains(&k)).and_then(Held::of));
    f.locals.iter().enumerate().map(of).collect()
}

/// The proven range of the integers in a value.
fn range(e: &Expr) -> Option<santoku_ir::Range> {
    match (&e.kind, &e.ty) {
        (ExprKind::Const(v), Ty::Int(_)) => Some(santoku_ir::Range::point(v.clone())),
        (_, Ty::Int(r)) => r.clone(),
        (ExprKind::Array(es), _) => es.iter().map(range).reduce(|a, b| Some(a?.join(&b?))).flatten(),
        (ExprKind::Repeat(x), _) => range(x),
        (ExprKind::Select(_, a, b), _) => Some(range(a)?.join(&range(b)?)),
        (_, Ty::Array { elem, ranges, .. }) => match (ranges, &**elem) {
            (Some(rs), _) => rs.iter().cloned().reduce(|a, b| a.join(&b)),
            (None, Ty::Int(r)) => r.clone(),
            _ => None,
        },
        _ => None,
    }
}

fn block(made: &mut Choices<'_>, body: &[Stmt]) -> Res<Vec<Stmt>> {
    let mut out = Vec::new();
    for s in body {
        made.loc = s.loc();
        let new = statement(made, s)?;
        out.append(&mut made.before);
        out.extend(new);
    }
    Ok(out)
}

/// `None`: text about the program, which speaks of what is no longer there.
fn statement(made: &mut Choices<'_>, s: &Stmt) -> Res<Option<Stmt>> {
    let mut s = s.clone();
    match &mut s {
        Stmt::Assign { dst, src, .. } => {
            let (steers, held) = target(made, dst);
            if !steers {
                *src = made.value(src, held)?;
            }
        }
        Stmt::Call { func, args, dsts, .. } => {
            let callee = made.program.func(*func);
            for (p, a) in callee.params.iter().zip(args) {
                let l = callee.local(*p);
                if !steers(l) {
                    *a = made.value(a, of_type(&l.ty))?;
                }
            }
            for (d, r) in dsts.iter().zip(&callee.rets) {
                let (steers, held) = target(made, d);
                if !steers && integers(made.program, &callee.local(*r).ty) && held != of_type(&callee.local(*r).ty) {
                    return Err("exact integer that a function returns in another range than its variable".into());
                }
            }
        }
        Stmt::For { body, invariants, .. } => {
            invariants.clear();
            let inner = std::mem::take(body);
            *body = block(made, &inner)?;
        }
        Stmt::If { then, els, .. } => {
            for side in [then, els] {
                let inner = std::mem::take(side);
                *side = block(made, &inner)?;
            }
        }
        Stmt::Assert { .. } | Stmt::Ghost { .. } => return Ok(None),
    }
    Ok(Some(s))
}

/// Does what is written to the place steer, and the word for its integers.
fn target(made: &Choices<'_>, dst: &Place) -> (bool, Option<Held>) {
    let santoku_ir::Base::Local(id) = dst.base else { return (true, None) };
    let l = made.func.local(id);
    (steers(l), made.held_at(dst))
}
