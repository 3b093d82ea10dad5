//! How much stack a unit's functions may use, guessed from the C that is printed: compilers decide.
//!
//! Needs: the C types of locals.  Keeps: nothing: what is left behind is found out on the bytes.  Absent: compilers.
//! Trusted: nothing: a guess.

use crate::context::{FnCx, UnitCx};
use crate::ctype::CTy;
use crate::options::Stack;
use santoku_ir::visit::callees;
use santoku_ir::{Func, Inline, Len, LocalKind, Program};

/// Return address, registers that are kept for the caller, alignment.
const FRAME: u64 = 128;
/// Of a local without a known size.
const WIDE: u64 = 64;
/// Optimised, most scalars live in registers: one of so many has a place on the stack.
const SPILLED: u64 = 3;
/// Without optimisation intermediate values have places too: so many times as much.
const PLAIN: u64 = 2;
/// Stacks are given in multiples of this.
const STEP: u64 = 256;
/// Those of single functions in multiples of this.
const FINE: u64 = 64;

/// Bytes of one function's locals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Own {
    aggregates: u64,
    scalars: u64,
}

impl Own {
    pub fn of(cx: &FnCx<'_>) -> Own {
        // Those of callers are theirs.
        let own = || cx.ctys.iter().zip(&cx.f.locals).filter(|(t, l)| l.kind == LocalKind::Var || !t.is_aggregate());
        let sum = |aggregate: bool| own().filter(|(t, _)| t.is_aggregate() == aggregate).map(|(t, _)| size(cx.unit, t)).sum();
        Own { aggregates: sum(true), scalars: sum(false) }
    }
}

fn size(unit: &UnitCx<'_>, t: &CTy) -> u64 {
    match t {
        CTy::Int(i) => u64::from(i.bits / 8).max(4),
        CTy::Vec(_) => unit.opts.vector.as_ref().map_or(WIDE, |v| u64::from(v.register_bytes)),
        CTy::Struct(id) => unit.fields(*id).iter().map(|(_, t)| size(unit, t)).sum(),
        CTy::Array(e, Len::Const(n)) => size(unit, e) * n,
        CTy::Array(..) => WIDE,
    }
}

/// The deepest chain of calls below functions that get secrets.
pub fn estimated(program: &Program, own: &[Own]) -> Stack {
    let secret = |f: &Func| f.export.is_some() && f.params.iter().any(|id| !f.local(*id).public);
    let roots: Vec<usize> = (0..program.funcs.len()).filter(|k| secret(&program.funcs[*k])).collect();
    deepest(program, own, &roots, (0, STEP))
}

/// The same below one function, and a frame of C that calls it.
pub fn estimated_of(program: &Program, own: &[Own], func: usize) -> Stack {
    deepest(program, own, &[func], (FRAME, FINE))
}

/// `more`: bytes besides; `step`: of which it is a multiple.
fn deepest(program: &Program, own: &[Own], roots: &[usize], (more, step): (u64, u64)) -> Stack {
    let most = |times: u64| {
        let own: Vec<u64> = own.iter().map(|o| times * (o.aggregates + o.scalars / SPILLED)).collect();
        let mut depths = vec![None; program.funcs.len()];
        let most = roots.iter().map(|k| depth(program, &own, *k, &mut depths)).max().unwrap_or(0);
        u32::try_from((most + times * more).div_ceil(step) * step).unwrap_or(u32::MAX / 2)
    };
    Stack { optimised: most(1), plain: most(PLAIN) }
}

/// The program has no recursion.
fn depth(program: &Program, own: &[u64], k: usize, depths: &mut [Option<u64>]) -> u64 {
    if let Some(known) = depths[k] {
        return known;
    }
    let below = callees(&program.funcs[k]).into_iter().map(|callee| depth(program, own, callee.0 as usize, depths)).max().unwrap_or(0);
    let frame = if program.funcs[k].inline == Inline::Never || program.funcs[k].export.is_some() { FRAME } else { 0 };
    let all = below + frame + own[k];
    depths[k] = Some(all);
    all
}
