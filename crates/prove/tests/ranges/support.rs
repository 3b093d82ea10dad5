//! Short ways to build core programs, and to read verdicts.

use santoku_num::Int;
use santoku_ir::build::FuncBuilder;
use santoku_ir::*;
use santoku_prove::obligation::{Engine, Kind, Obligation, Outcome};
use santoku_prove::ranges::{analyse, Options};

pub fn range(lo: impl Into<Int>, hi: impl Into<Int>) -> Ty {
    Ty::Int(Some(Range::new(lo, hi)))
}

pub fn limbs(n: u64, lo: impl Into<Int>, hi: impl Into<Int>) -> Ty {
    Ty::array(range(lo, hi), n)
}

/// `place[i]`
pub fn at(l: LocalId, i: Expr) -> Place {
    Place::local(l).index(i)
}

pub fn int(v: i64) -> Expr {
    Expr::int(v)
}

/// `x & (2^k - 1)`
pub fn low(x: Expr, k: u32) -> Expr {
    x & Expr::int(Int::mask(k))
}

/// `for i in lo..<hi { body(i) }`
pub fn each(b: &mut FuncBuilder, lo: i64, hi: i64, body: impl FnOnce(&mut FuncBuilder, Expr)) {
    each_between(b, int(lo), int(hi), body);
}

pub fn each_between(b: &mut FuncBuilder, lo: Expr, hi: Expr, body: impl FnOnce(&mut FuncBuilder, Expr)) {
    let i = b.counter("i");
    let inner = b.block(|b| body(b, Expr::int_local(i)));
    b.push(Stmt::for_range(i, lo, hi, inner));
}

/// A program of one function.
pub fn program(build: impl FnOnce(&mut FuncBuilder)) -> Program {
    let mut p = Program::default();
    let empty = Program::default();
    let mut b = FuncBuilder::new(&empty, "f");
    build(&mut b);
    let f = b.finish();
    p.add_func(f);
    p
}

pub fn prove(p: &Program) -> Vec<Obligation> {
    let all = analyse(p, &Options::default()).1;
    assert!(!all.is_empty());
    all
}

pub fn open(all: &[Obligation]) -> Vec<&Obligation> {
    all.iter().filter(|o| !o.proved()).collect()
}

/// Everything is proved, and at least one obligation needed `engine`.
pub fn proves_with(p: &Program, engine: Engine) {
    let all = prove(p);
    assert!(open(&all).is_empty(), "{:#?}", open(&all));
    assert!(all.iter().any(|o| o.engine() == Some(engine)), "nobody needed {engine:?}");
}

pub fn proves(p: &Program) {
    let all = prove(p);
    assert!(open(&all).is_empty(), "{:#?}", open(&all));
}

/// Something of this kind is refused, for a reason that says so.
pub fn refuses(p: &Program, kind: Kind, reason: &str) -> Obligation {
    let all = prove(p);
    let found = all.iter().find(|o| {
        o.kind == kind && matches!(&o.outcome, Outcome::Failed { reason: r, .. } if r.contains(reason))
    });
    found.unwrap_or_else(|| panic!("no {kind:?} refused for {reason:?}: {:#?}", open(&all))).clone()
}

/// Inputs that break it were found and confirmed.
pub fn witnessed(o: &Obligation) -> bool {
    matches!(&o.outcome, Outcome::Failed { witness: Some(w), .. } if !w.message.is_empty())
}
