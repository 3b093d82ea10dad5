//! Pairs of functions that are equal for a reason, and twins that are not.

use crate::equiv::{check, Verdict};
use santoku_ir::build::FuncBuilder;
use santoku_ir::{Expr, Func, LocalId, Place, Program, Stmt, Ty};
use std::collections::BTreeSet;

fn program(make: impl FnOnce(&mut FuncBuilder)) -> Program {
    let mut p = Program::default();
    let mut f = FuncBuilder::new(&p, "f");
    make(&mut f);
    let func: Func = f.finish();
    p.add_func(func);
    let errors = santoku_ir::verify::verify(&p);
    assert!(errors.is_empty(), "{errors:?}");
    p
}

fn verdict(a: &Program, b: &Program) -> Verdict {
    check(a, b, "f", &BTreeSet::new())
}

fn get(l: LocalId) -> Expr {
    Expr::read(Place::local(l), &Ty::Word(32))
}

/// `for i in 0..<n { acc = acc * 3 + x; [count = count + 1] }` with a run-time bound and chosen names.
fn accumulate(start: u32, factor: u32, extra: bool, late: bool) -> Program {
    program(|f| {
        let n = f.len("n");
        let x = f.param("x", Ty::Word(32));
        let r = f.ret("r", Ty::Word(32));
        let count = extra.then(|| f.var("count", Ty::Word(32)));
        let acc = f.var(if late { "total" } else { "acc" }, Ty::Word(32));
        let i = f.counter("i");
        if let Some(c) = count {
            f.assign(Place::local(c), Expr::word(32, start));
        }
        f.assign(Place::local(acc), Expr::word(32, start));
        let mut body = Vec::new();
        if let Some(c) = count {
            body.push(Stmt::assign(Place::local(c), get(c) + Expr::word(32, 1)));
        }
        body.push(Stmt::assign(Place::local(acc), get(acc) * Expr::word(32, factor) + get(x)));
        f.push(Stmt::for_range(i, Expr::int(0), Expr::int_local(n), body));
        f.assign(Place::local(r), get(acc));
    })
}

#[test]
fn loops_with_run_time_bounds_are_compared_by_their_steps() {
    let base = accumulate(1, 3, false, false);
    assert!(verdict(&base, &accumulate(1, 3, true, false)).is_equal(), "a counter nobody reads");
    assert!(verdict(&base, &accumulate(1, 3, false, true)).is_equal(), "another name");
    assert!(!verdict(&base, &accumulate(2, 3, false, false)).is_equal(), "another start");
    assert!(!verdict(&base, &accumulate(1, 5, false, false)).is_equal(), "another step");
}

/// Sum of `x[i]` over `lo..<hi`, up or down, of a 6-element array.
fn sum(lo: u64, hi: u64, rev: bool) -> Program {
    program(|f| {
        let x = f.param("x", Ty::array(Ty::Word(32), 6));
        let r = f.ret("r", Ty::Word(32));
        let i = f.counter("i");
        f.assign(Place::local(r), Expr::word(32, 0));
        let item = Expr::read(Place::local(x).index(Expr::int_local(i)), &Ty::Word(32));
        let body = vec![Stmt::assign(Place::local(r), get(r) + item)];
        let mut stmt = Stmt::for_range(i, Expr::int(lo), Expr::int(hi), body);
        if let Stmt::For { rev: turned, .. } = &mut stmt {
            *turned = rev;
        }
        f.push(stmt);
    })
}

#[test]
fn a_difference_has_a_witness_and_names_the_result() {
    assert!(verdict(&sum(0, 6, false), &sum(0, 6, true)).is_equal(), "addition commutes");
    let Verdict::Differ(d) = verdict(&sum(0, 6, false), &sum(0, 5, false)) else { panic!("not caught") };
    assert!(d.exact && d.result == "r", "{d:?}");
    let w = d.witness.expect("a witness");
    assert_eq!(w.inputs[0].0, "x");
    assert_ne!(w.before, w.after);
}

/// Writes `v` at a run-time index and reads another place.
fn store(read_same: bool, twice: bool) -> Program {
    program(|f| {
        let i = f.local(santoku_ir::LocalKind::Param, "i", Ty::Int(Some(santoku_ir::Range::new(0, 4))), true);
        let (x, v) = (f.param("x", Ty::array(Ty::Word(32), 6)), f.param("v", Ty::Word(32)));
        let r = f.ret("r", Ty::Word(32));
        let t = f.var("t", Ty::array(Ty::Word(32), 6));
        let whole = f.get(x);
        f.assign(Place::local(t), whole);
        let here = || Place::local(t).index(Expr::int_local(i));
        if twice {
            f.assign(here(), get(v) + Expr::word(32, 1));
        }
        f.assign(here(), get(v));
        let from = if read_same { here() } else { Place::local(t).index(Expr::int_local(i) + Expr::int(1)) };
        f.assign(Place::local(r), Expr::read(from, &Ty::Word(32)));
    })
}

#[test]
fn stores_through_run_time_indices() {
    assert!(verdict(&store(true, false), &store(true, true)).is_equal(), "overwritten");
    assert!(verdict(&store(false, false), &store(false, true)).is_equal(), "elsewhere");
    assert!(!verdict(&store(true, false), &store(false, false)).is_equal());
}

#[test]
fn what_is_missing_or_reshaped_is_not_equal() {
    let p = sum(0, 6, false);
    assert!(matches!(check(&p, &p, "g", &BTreeSet::new()), Verdict::Unknown(_)));
    let q = accumulate(1, 3, false, false);
    assert!(matches!(verdict(&p, &q), Verdict::Unknown(_)));
    assert!(verdict(&p, &p).is_equal());
}

#[test]
fn a_graph_beyond_its_budget_is_not_equal() {
    // A million steps, each with a fresh product.
    let grow = |k: u32| {
        program(|f| {
            let x = f.param("x", Ty::Word(32));
            let r = f.ret("r", Ty::Word(32));
            let i = f.counter("i");
            f.assign(Place::local(r), get(x));
            let next = get(r) * (get(r) ^ Expr::word(32, k));
            f.push(Stmt::for_range(i, Expr::int(0), Expr::int(1_000_000), vec![Stmt::assign(Place::local(r), next)]));
        })
    };
    assert!(verdict(&grow(1), &grow(1)).is_equal(), "kept as a loop");
    assert!(!verdict(&grow(1), &grow(3)).is_equal());
}
