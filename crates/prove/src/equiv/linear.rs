//! Functions of one word whose result is made of its bits by exclusive or: what they give for zero and for each single bit determines them.
//!
//! Needs: the program.  Keeps: a function is called linear (with a constant, that is affine over the field of two elements) only where each of its steps
//! is: exclusive or, masks and shifts by what no input reaches, conversions of words.  Absent: all others.
//! Trusted: c.

use santoku_ir::interp::{Interp, Value};
use santoku_ir::visit::walk_stmts;
use santoku_ir::{Base, BinOp, Expr, ExprKind, Func, FuncId, LocalKind, Place, Program, Proj, Stmt, Ty, UnOp};

/// What an affine function of one word gives for zero, and then for each bit alone. `None` if it is not seen to be one, or if it faults.
pub fn images(program: &Program, id: FuncId) -> Option<Vec<u128>> {
    let f = program.func(id);
    let ([x], [_], true) = (f.params.as_slice(), f.rets.as_slice(), f.lens.is_empty()) else { return None };
    let Ty::Word(inputs) = f.local(*x).ty else { return None };
    let mut affine = true;
    walk_stmts(&f.body, &mut |s| {
        affine &= match s {
            Stmt::Assign { dst, src, .. } => dst.projs.is_empty() && linear(f, src),
            Stmt::For { lo, hi, .. } => closed(f, lo) && closed(f, hi),
            _ => false,
        }
    });
    if !affine {
        return None;
    }
    let mut interp = Interp::new(program);
    let mut run = |x: u128| interp.call(id, &[], vec![Value::word(x)]).ok()?.first()?.as_word();
    std::iter::once(0).chain((0..inputs).map(|k| 1 << k)).map(&mut run).collect()
}

/// A word each of whose bits is an exclusive or of bits of the input, and perhaps of one.
fn linear(f: &Func, e: &Expr) -> bool {
    let word = matches!(e.ty, Ty::Word(_));
    word && match &e.kind {
        ExprKind::Read(Place { base: Base::Local(_), projs }) => projs.is_empty(),
        ExprKind::Un(UnOp::Not, a) | ExprKind::Cast(a) => linear(f, a),
        ExprKind::Bin(BinOp::Xor, a, b) => linear(f, a) && linear(f, b),
        ExprKind::Bin(BinOp::And, a, b) => (linear(f, a) && closed(f, b)) || (closed(f, a) && linear(f, b)),
        ExprKind::Bin(BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr, a, k) => linear(f, a) && closed(f, k),
        _ => false,
    } || closed(f, e)
}

/// What no input reaches: made of constants and of counters.
fn closed(f: &Func, e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(_) => true,
        ExprKind::Read(Place { base: Base::Local(id), projs }) => projs.is_empty() && f.local(*id).kind == LocalKind::Counter,
        ExprKind::Read(Place { base: Base::Const(_), projs }) => projs.iter().all(|p| matches!(p, Proj::Index(i) if closed(f, i))),
        ExprKind::Cast(a) => closed(f, a),
        ExprKind::Bin(_, a, b) => closed(f, a) && closed(f, b),
        _ => false,
    }
}
