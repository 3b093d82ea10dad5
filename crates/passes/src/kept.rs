//! What no pass may change: everything that is declared.
//!
//! Needs: the programs before and after.  Keeps: totality. Each record of the core is taken apart field by field and
//! without `..`, so that a new field does not compile until it is decided here what a pass may do with it.
//! Absent: what is computed (the equivalence checker's), and whether values fit what is declared (`derive_width`'s).
//! Trusted: c.

use santoku_ir::{Const, Contract, Func, Local, LocalId, LocalKind, Program, SpecFn, StructDef, Test, Ty};
use std::collections::BTreeSet;

/// Is everything declared for the whole program as it was? Functions may only go, and the tests of those that went.
///
/// # Errors
/// What is not.
pub fn program(before: &Program, after: &Program) -> Result<(), String> {
    let Program { files, structs, consts, specs, funcs, tests } = before;
    let names: BTreeSet<&str> = after.funcs.iter().map(|f| f.name.as_str()).collect();
    if *files != after.files {
        return Err("the list of files changed".into());
    }
    each("structure", structs, &after.structs, |s| &s.name, struct_def)?;
    each("constant", consts, &after.consts, |c| &c.name, constant)?;
    each("specification", specs, &after.specs, |s| &s.name, spec)?;
    let stayed = funcs.iter().map(|f| f.name.as_str()).filter(|n| names.contains(n));
    if !stayed.eq(after.funcs.iter().map(|f| f.name.as_str())) {
        return Err("functions appeared, or stand in another order".into());
    }
    let at = |p: &Program, Test { name, func, cases }: &Test| (name.clone(), p.funcs.get(func.0 as usize).map(|f| f.name.clone()), cases.clone());
    let old = tests.iter().map(|t| at(before, t)).filter(|(_, f, _)| f.as_deref().is_some_and(|f| names.contains(f)));
    if !old.eq(after.tests.iter().map(|t| at(after, t))) {
        return Err("the list of tests changed".into());
    }
    Ok(())
}

fn each<T>(what: &str, old: &[T], new: &[T], name: impl Fn(&T) -> &String, same: fn(&T, &T) -> bool) -> Result<(), String> {
    if old.len() != new.len() {
        return Err(format!("a {what} appeared or vanished"));
    }
    match old.iter().zip(new).find(|(a, b)| !same(a, b)) {
        Some((a, _)) => Err(format!("the {what} `{}` changed", name(a))),
        None => Ok(()),
    }
}

fn struct_def(old: &StructDef, new: &StructDef) -> bool {
    let StructDef { name, fields } = old;
    *name == new.name && *fields == new.fields
}

fn constant(old: &Const, new: &Const) -> bool {
    let Const { name, ty, value, loc } = old;
    *name == new.name && *ty == new.ty && *value == new.value && *loc == new.loc
}

fn spec(old: &SpecFn, new: &SpecFn) -> bool {
    let SpecFn { name, params, body, loc } = old;
    *name == new.name && *params == new.params && *body == new.body && *loc == new.loc
}

/// Is everything declared in a function as it was? Locals may be added behind those there are; with `ranges`, missing
/// ranges of variables and results may be filled in.
///
/// # Errors
/// What is not.
pub fn func(old: &Func, new: &Func, ranges: bool) -> Result<(), String> {
    let Func { name, export, inline, declassifies, applies, lens, params, rets, locals, body: _, contracts, doc, loc } = old;
    let part = if *name != new.name {
        "name"
    } else if *export != new.export {
        "export name"
    } else if *inline != new.inline {
        "inlining attribute"
    } else if *declassifies != new.declassifies {
        "secrecy of the results"
    } else if *applies != new.applies {
        "operation"
    } else if *lens != new.lens {
        "lengths"
    } else if *params != new.params {
        "parameters"
    } else if *rets != new.rets {
        "results"
    } else if !clauses(contracts, &new.contracts) {
        "contracts"
    } else if *doc != new.doc || *loc != new.loc {
        "documentation"
    } else {
        return declared(locals, &new.locals, ranges);
    };
    Err(format!("{part} changed"))
}

fn clauses(old: &[Contract], new: &[Contract]) -> bool {
    old.len() == new.len()
        && old.iter().zip(new).all(|(a, b)| {
            let Contract { kind, cond, text, loc } = a;
            *kind == b.kind && *cond == b.cond && *text == b.text && *loc == b.loc
        })
}

fn declared(old: &[Local], new: &[Local], ranges: bool) -> Result<(), String> {
    if new.len() < old.len() {
        return Err("locals vanished".into());
    }
    for (nr, (a, b)) in old.iter().zip(new).enumerate() {
        let Local { name, ty, kind, public, loc } = a;
        let open = ranges && matches!(kind, LocalKind::Var | LocalKind::Ret | LocalKind::Counter);
        let fits = if open { refines(ty, &b.ty) } else { *ty == b.ty };
        if *name != b.name || *kind != b.kind || *public != b.public || *loc != b.loc || !fits {
            let what = match kind {
                LocalKind::Len => "lengths",
                LocalKind::Param => "parameters",
                LocalKind::Ret => "results",
                LocalKind::Var | LocalKind::Counter => "variables",
            };
            return Err(format!("{what} changed: `{name}` ({})", LocalId(nr as u32).0));
        }
    }
    let fresh = new[old.len()..].iter().find(|l| !matches!(l.kind, LocalKind::Var | LocalKind::Counter));
    fresh.map_or(Ok(()), |l| Err(format!("`{}` appeared, which is no variable", l.name)))
}

/// The same shape, and every declared range as it was.
fn refines(old: &Ty, new: &Ty) -> bool {
    match (old, new) {
        (Ty::Int(None), Ty::Int(_)) => true,
        (Ty::Array { elem: a, ranges: None, .. }, Ty::Array { elem: b, ranges, .. }) => {
            // A range for each element only where there was none for all.
            old.same_shape(new) && refines(a, b) && (ranges.is_none() || **a == Ty::Int(None))
        }
        _ => old == new,
    }
}
