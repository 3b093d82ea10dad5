//! Words made of a loop's counter alone (`u32(i)`, `RC[i] ^ u32(2 * i)`), or of a public integer that a function is given,
//! become a constant table, read at the counter.
//!
//! Needs: constant bounds.  Keeps: the value in every round; what cannot be computed for every round stays as it is.
//! Trusted: nothing: what it makes is compared with the program before.

use crate::bits::word_at;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use santoku_ir::visit::{children, children_mut, expr_locals, place_exprs_mut};
use santoku_ir::{BinOp, ConstValue, Expr, ExprKind, Func, FuncId, Local, LocalId, Place, Program, Stmt, Ty};
use std::collections::BTreeSet;

/// Entries of a table, at most.
const TRIPS_MAX: i64 = 4_096;

struct Loop {
    var: LocalId,
    lo: i64,
    hi: i64,
}

impl Loop {
    /// None for an integer of too many values.
    fn of(var: LocalId, lo: i64, hi: i64) -> Option<Loop> {
        (1..=TRIPS_MAX).contains(&hi.saturating_sub(lo)).then_some(Loop { var, lo, hi })
    }

    /// Of a parameter with a declared range.
    fn of_param(f: &Func, var: LocalId) -> Option<Loop> {
        let Local { public: true, ty: Ty::Int(Some(r)), .. } = f.local(var) else { return None };
        Loop::of(var, i64::try_from(r.lo.to_big()).ok()?, i64::try_from(r.hi.to_big()).ok()?.checked_add(1)?)
    }
}

/// Puts tables for the words that depend on one counter or integer of `func`.
pub fn of_counters(program: &mut Program, func: FuncId) {
    let mut body = std::mem::take(&mut program.funcs[func.0 as usize].body);
    // A public integer that is handed to a function is as good as a counter.
    let f = program.func(func);
    let mut loops: Vec<Loop> = f.params.iter().filter_map(|id| Loop::of_param(f, *id)).collect();
    block(program, func, &mut body, &mut loops);
    program.funcs[func.0 as usize].body = body;
}

fn block(program: &mut Program, func: FuncId, body: &mut [Stmt], loops: &mut Vec<Loop>) {
    for s in body {
        match s {
            Stmt::Assign { dst, src, .. } => {
                place_exprs_mut(dst, &mut |e| expr(program, func, e, loops));
                expr(program, func, src, loops);
            }
            Stmt::Call { args, .. } => args.iter_mut().for_each(|a| expr(program, func, a, loops)),
            Stmt::For { var, lo, hi, body, .. } => {
                let bound = |e: &Expr| e.as_const().and_then(BigInt::to_i64);
                let outside = loops.len();
                loops.extend(bound(lo).zip(bound(hi)).and_then(|(lo, hi)| Loop::of(*var, lo, hi)));
                block(program, func, body, loops);
                loops.truncate(outside);
            }
            Stmt::If { then, els, .. } => {
                block(program, func, then, loops);
                block(program, func, els, loops);
            }
            Stmt::Assert { .. } | Stmt::Ghost { .. } => {}
        }
    }
}

fn expr(program: &mut Program, func: FuncId, e: &mut Expr, loops: &[Loop]) {
    if let Some(read) = table(program, func, e, loops) {
        *e = read;
        return;
    }
    children_mut(e, &mut |c| expr(program, func, c, loops));
}

/// The read that stands for a word of one counter.
fn table(program: &mut Program, func: FuncId, e: &Expr, loops: &[Loop]) -> Option<Expr> {
    let Ty::Word(bits) = e.ty else { return None };
    if matches!(e.kind, ExprKind::Const(_) | ExprKind::Read(_)) || !converts(e) {
        return None;
    }
    let locals = expr_locals(e);
    let l = loops.iter().find(|l| locals == BTreeSet::from([l.var]))?;
    let entries = (l.lo..l.hi).map(|i| word_at(program, func, e, l.var, &i.into())).collect::<Option<Vec<_>>>()?;
    let ty = Ty::array(Ty::Word(bits), entries.len() as u64);
    let name = format!("layout$table{}", program.consts.len());
    let id = program.add_const(name, ty, ConstValue::Array(entries.into_iter().map(ConstValue::Scalar).collect()));
    let at = Expr::read(Place::local(l.var), &Ty::int());
    let at = if l.lo == 0 { at } else { Expr::bin(BinOp::Sub, at, Expr::int(l.lo)) };
    Some(Expr::read(Place::constant(id).index(at), &Ty::Word(bits)))
}

/// Is there a conversion from an integer in it? Tables of the program alone stay as they are.
fn converts(e: &Expr) -> bool {
    let mut found = matches!((&e.kind, &e.ty), (ExprKind::Cast(a), Ty::Word(_)) if matches!(a.ty, Ty::Int(_)));
    children(e, &mut |c| found |= converts(c));
    found
}
