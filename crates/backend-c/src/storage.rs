//! Storage of local arrays of run-time length: C sets aside what the greatest length takes.

use crate::printed::printed_functions;
use crate::{EmitError, LOCAL_BYTES};
use santoku_ir::visit::walk_stmts;
use santoku_ir::{ExprKind, Func, Len, Loc, LocalId, LocalKind, Place, Program, Stmt, Ty};
use std::collections::BTreeSet;

/// Elements of the greatest length `param + add` that is declared, where so many of `bytes` have storage.
pub fn greatest(f: &Func, param: LocalId, add: i64, bytes: u64) -> Option<u64> {
    let Ty::Int(Some(r)) = &f.local(param).ty else { return None };
    r.hi.add(&add.into()).to_u64().filter(|most| most.saturating_mul(bytes) <= LOCAL_BYTES)
}

/// Refuses local arrays of run-time length that certainly have no storage in C, in the functions that are printed.
///
/// # Errors
/// [`EmitError::Storage`]; the first in order of the program.
pub fn storage(program: &Program) -> Result<(), EmitError> {
    let printed = printed_functions(program);
    let all = program.funcs.iter().zip(printed).filter(|(_, printed)| printed.is_some());
    all.map(|(f, _)| f).try_for_each(of_function)
}

fn of_function(f: &Func) -> Result<(), EmitError> {
    for id in written(f) {
        let local = f.local(id);
        if local.kind == LocalKind::Var {
            fits(f, &local.ty, &local.name, local.loc)?;
        }
    }
    let mut found = Ok(());
    walk_stmts(&f.body, &mut |s| {
        let Stmt::Call { args, loc, .. } = s else { return };
        for a in args.iter().filter(|a| !matches!(a.kind, ExprKind::Read(_))) {
            if found.is_ok() {
                found = fits(f, &a.ty, "an argument", *loc);
            }
        }
    });
    found
}

fn fits(f: &Func, ty: &Ty, name: &str, loc: Loc) -> Result<(), EmitError> {
    let Ty::Array { elem, len: Len::Param { param, add }, .. } = ty else { return Ok(()) };
    if greatest(f, *param, *add, least_bytes(elem)).is_some() {
        return Ok(());
    }
    Err(EmitError::Storage { func: f.name.clone(), array: name.into(), length: f.local(*param).name.clone(), loc })
}

/// Bytes of an element, at least.
fn least_bytes(ty: &Ty) -> u64 {
    match ty {
        Ty::Word(bits) => u64::from(bits.div_ceil(8)).next_power_of_two(),
        Ty::Array { elem, len: Len::Const(n), .. } => n.saturating_mul(least_bytes(elem)),
        _ => 1,
    }
}

/// Locals that some statement writes.
fn written(f: &Func) -> BTreeSet<LocalId> {
    let mut out = BTreeSet::new();
    let mut of = |p: &Place| out.extend(match p.base {
        santoku_ir::Base::Local(id) => Some(id),
        santoku_ir::Base::Const(_) => None,
    });
    walk_stmts(&f.body, &mut |s| match s {
        Stmt::Assign { dst, .. } => of(dst),
        Stmt::Call { dsts, .. } => dsts.iter().for_each(&mut of),
        _ => {}
    });
    out
}
