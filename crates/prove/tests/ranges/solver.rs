//! What only the solver settles, and the inputs its models give.

use crate::support::*;
use santoku_ir::*;
use santoku_prove::obligation::{Engine, Kind, Outcome};
use santoku_prove::ranges::{analyse, Options};
use santoku_prove::smt;

/// `max(a, b) - a - less`
fn excess(less: i64) -> Program {
    program(|b| {
        let (x, y) = (b.param("x", range(0, 100)), b.param("y", range(0, 100)));
        let (m, out) = (b.var("m", Ty::int()), b.ret("out", range(0, 100)));
        let bigger = Expr::select(Expr::cmp(CmpOp::Gt, b.get(x), b.get(y)), b.get(x), b.get(y));
        b.assign(Place::local(m), bigger);
        let v = b.get(m) - b.get(x) - int(less);
        b.assign(Place::local(out), v);
    })
}

#[test]
fn a_maximum_is_no_less_than_its_operands() {
    if !smt::available() {
        santoku_skips::skip("questions to the solver", "there is no z3");
        return;
    }
    proves_with(&excess(0), Engine::Smt);
    assert!(witnessed(&refuses(&excess(1), Kind::Range, "out")));
}

#[test]
fn without_the_solver_it_stays_open() {
    let all = analyse(&excess(0), &Options { smt: None, ..Options::default() }).1;
    assert_eq!(open(&all).len(), 1);
}

/// One input in 2^40 breaks it: no corner, no constant of the program, no luck.
#[test]
fn a_model_gives_the_only_input_that_breaks() {
    if !smt::available() {
        santoku_skips::skip("questions to the solver", "there is no z3");
        return;
    }
    let p = program(|b| {
        let x = b.param("x", range(0, 1i64 << 40));
        let out = b.ret("out", range(0, 0));
        let hit = Expr::cmp(CmpOp::Eq, b.get(x) * int(5) + int(1), int(5 * 123_456_789_012 + 1));
        b.assign(Place::local(out), Expr::select(hit, int(1), int(0)));
    });
    let o = refuses(&p, Kind::Range, "out");
    let Outcome::Failed { witness: Some(w), .. } = &o.outcome else { panic!("{o:#?}") };
    assert_eq!(w.inputs, vec![("x".to_string(), "123456789012".to_string())]);
}

/// `x - (x - y)` is `y`, however the words wrap.
#[test]
fn wrapping_words_are_followed() {
    if !smt::available() {
        santoku_skips::skip("questions to the solver", "there is no z3");
        return;
    }
    let back = |hi: i64| {
        program(|b| {
            let (x, y) = (b.param("x", Ty::Word(8)), b.param("y", Ty::Word(8)));
            let out = b.ret("out", range(0, hi));

            let v = (b.get(x) - (b.get(x) - (b.get(y) & Expr::word(8, 15)))).cast(Ty::int());
            b.assign(Place::local(out), v);
        })
    };
    proves_with(&back(15), Engine::Smt);
    assert!(witnessed(&refuses(&back(14), Kind::Range, "out")));
}
