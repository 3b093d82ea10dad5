//! The opposite of derived width, for ablation: every limb, product and sum in 64 bits, as portable code without proved ranges is
//! written. Loop counters and public scalars keep their types, as they would there.

use santoku_ir::visit::{children, expr_locals, map_exprs};
use santoku_ir::{Base, Expr, ExprKind, Local, Place, Program, Range, Ty};

/// Replaces every proved range by one that contains it. Meaning and obligations stay: a wider range is a weaker claim.
pub fn widen(program: &Program) -> Program {
    let mut out = program.clone();
    for (_, ty) in out.structs.iter_mut().flat_map(|s| &mut s.fields) {
        storage(ty);
    }
    out.consts.iter_mut().for_each(|c| arrays(&mut c.ty));
    for func in &mut out.funcs {
        let locals = std::mem::take(&mut func.locals);
        map_exprs(&mut func.body, &mut |e| expression(e, &locals));
        func.locals = locals;
        func.locals.iter_mut().for_each(|l| if l.public { arrays(&mut l.ty) } else { storage(&mut l.ty) });
    }
    out
}

fn wide() -> Range {
    Range::new(-i64::MAX, i64::MAX)
}

fn range(r: &mut Range) {
    if wide().contains(r) {
        *r = wide();
    }
}

fn storage(ty: &mut Ty) {
    match ty {
        Ty::Int(Some(r)) => range(r),
        Ty::Array { elem, ranges, .. } => {
            storage(elem);
            let Some(all) = ranges else { return };
            all.iter_mut().for_each(range);
            // Where some are too large to be widened, elements as a whole are what these are together.
            if let (Ty::Int(Some(own)), Some(join)) = (elem.as_mut(), all.iter().cloned().reduce(|a, b| a.join(&b))) {
                *own = join;
            }
        }
        Ty::Int(None) | Ty::Word(_) | Ty::Bool | Ty::Struct(_) => {}
    }
}

fn arrays(ty: &mut Ty) {
    if matches!(ty, Ty::Array { .. }) {
        storage(ty);
    }
}

/// Operands come before what is made of them.
fn expression(e: &mut Expr, locals: &[Local]) {
    if matches!(e.ty, Ty::Array { .. }) || is_wide(e, locals) {
        storage(&mut e.ty);
    }
}

fn is_wide(e: &Expr, locals: &[Local]) -> bool {
    let secret = |e: &Expr| expr_locals(e).iter().any(|l| !locals[l.0 as usize].public);
    match &e.kind {
        ExprKind::Const(_) => false,
        ExprKind::Read(place) => wide_place(place, locals),
        ExprKind::Cast(from) => secret(from),
        _ => {
            let mut any = false;
            children(e, &mut |c| any |= c.ty == Ty::Int(Some(wide())));
            any
        }
    }
}

/// Elements and fields are storage; whole scalars are wide unless public.
fn wide_place(place: &Place, locals: &[Local]) -> bool {
    match place.base {
        Base::Local(id) => !place.projs.is_empty() || !locals[id.0 as usize].public,
        Base::Const(_) => !place.projs.is_empty(),
    }
}
