//! Derived width: the proven range of every exact integer is written into the core.
//!
//! Needs: all structural passes before it; a range is that of one occurrence.  Keeps: the text of every statement, and
//! declared ranges.  Leaves out: the choice of machine types, which is the back end's; asserts and invariants are still
//! there, as facts.
//! Class: checked. The written ranges are proved again from the annotated text alone.
//! Page: docs/passes/derive-width.md.  Tests: src/tests/alone.rs, src/tests/broken.rs.

use crate::options::PassOptions;
use santoku_ir::visit::{map_exprs, walk_stmts};
use santoku_ir::{Expr, ExprKind, Func, Program, Range, Stmt, Ty};
use santoku_prove::obligation::Outcome;
use santoku_prove::ranges::{annotate, check_annotations};

pub fn run(program: &Program, _: &PassOptions) -> Program {
    let mut out = annotate(&with_result_ranges(program));
    for func in &mut out.funcs {
        map_exprs(&mut func.body, &mut constants_are_themselves);
    }
    out
}

/// A constant in code that is never reached has no values to take a range from; it is in the range of itself.
fn constants_are_themselves(e: &mut Expr) {
    if let (ExprKind::Const(v), Ty::Int(range)) = (&e.kind, &mut e.ty) {
        *range = Some(Range::new(v.clone(), v.clone()));
    }
}

/// Results without a declared range get theirs first: callers must see the same range in the text as when it was derived.
fn with_result_ranges(program: &Program) -> Program {
    let open = |f: &Func| f.rets.iter().any(|r| !closed(program, &f.local(*r).ty));
    let mut called = false;
    for func in &program.funcs {
        walk_stmts(&func.body, &mut |s| {
            called |= matches!(s, Stmt::Call { func, .. } if open(program.func(*func)));
        });
    }
    if !called {
        return program.clone();
    }
    let ranged = annotate(program);
    let mut out = program.clone();
    for (func, from) in out.funcs.iter_mut().zip(&ranged.funcs) {
        for ret in &func.rets {
            func.locals[ret.0 as usize].ty = from.local(*ret).ty.clone();
        }
    }
    out
}

/// Does every exact integer inside have a declared range?
fn closed(program: &Program, ty: &Ty) -> bool {
    match ty {
        Ty::Word(_) | Ty::Bool => true,
        Ty::Int(range) => range.is_some(),
        Ty::Array { elem, .. } => closed(program, elem),
        Ty::Struct(id) => program.structs[id.0 as usize].fields.iter().all(|(_, t)| closed(program, t)),
    }
}

/// Proves every written range anew. Gives the function and the text of the first that does not hold; `Ok` carries how
/// many hold.
pub fn check(program: &Program) -> Result<usize, (String, String)> {
    let mut held = 0;
    for o in check_annotations(program).iter().filter(|o| o.text.ends_with("is in its annotated range")) {
        match &o.outcome {
            Outcome::Proved { .. } => held += 1,
            Outcome::Failed { reason, .. } | Outcome::Fault { reason, .. } => {
                return Err((program.func(o.func).name.clone(), format!("{}: {reason}", o.text)));
            }
        }
    }
    Ok(held)
}
