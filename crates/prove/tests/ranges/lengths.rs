//! Public lengths: indices, slices and definedness under symbolic bounds.

use crate::support::*;
use santoku_ir::build::FuncBuilder;
use santoku_ir::*;
use santoku_prove::obligation::{Engine, Kind};

fn bytes(n: LocalId, add: i64) -> Ty {
    Ty::Array { elem: Box::new(Ty::Word(8)), len: Len::Param { param: n, add }, ranges: None }
}

fn div(a: Expr, k: i64) -> Expr {
    Expr::bin(BinOp::Div, a, int(k))
}

fn set(b: &mut FuncBuilder, l: LocalId, e: Expr) {
    b.assign(Place::local(l), e);
}

/// Xor of all bytes of the full 128-byte blocks, indexed `128 * b + j + skew`.
fn blocks(skew: i64) -> Program {
    program(|b| {
        let n = b.len("n");
        let m = b.param("m", bytes(n, 0));
        let acc = b.var("acc", Ty::Word(8));
        set(b, acc, Expr::word(8, 0));
        each_between(b, int(0), div(Expr::int_local(n), 128), |b, i| {
            each(b, 0, 128, |b, j| {
                let v = b.get(acc) ^ b.read(at(m, int(128) * i + j + int(skew)));
                set(b, acc, v);
            });
        });
        let out = b.ret("out", Ty::Word(8));
        let v = b.get(acc);
        set(b, out, v);
    })
}

#[test]
fn indices_of_full_blocks() {
    proves_with(&blocks(0), Engine::Relational);
    let o = refuses(&blocks(1), Kind::Index, "m[");
    assert!(witnessed(&o), "{o:#?}");
    refuses(&blocks(-1), Kind::Index, "m[");
}

/// Writes all of an array of `n + 4` bytes: a prefix of 4, then the message, from `from` on, in `to - n` less or more.
fn filled(from: i64, to: i64, rev: bool) -> Program {
    program(|b| {
        let n = b.len("n");
        let m = b.param("m", bytes(n, 0));
        let t = b.var("t", bytes(n, 4));
        let four = b.param("four", Ty::array(Ty::Word(8), 4));
        let v = b.get(four);
        b.assign(Place::local(t).slice(int(0), 4), v);
        let i = b.counter("i");
        let inner = b.block(|b| {
            let v = b.read(at(m, Expr::int_local(i)));
            b.assign(at(t, Expr::int_local(i) + int(4)), v);
        });
        let mut s = Stmt::for_range(i, int(from), Expr::int_local(n) + int(to), inner);
        if let Stmt::For { rev: r, .. } = &mut s {
            *r = rev;
        }
        b.push(s);
        let out = b.ret("out", bytes(n, 4));
        let v = b.get(t);
        set(b, out, v);
    })
}

#[test]
fn arrays_filled_by_loops_are_defined() {
    proves_with(&filled(0, 0, false), Engine::Relational);
    proves_with(&filled(0, 0, true), Engine::Relational);
    let o = refuses(&filled(1, 0, false), Kind::Defined, "before it is written");
    assert!(witnessed(&o), "{o:#?}");
    refuses(&filled(0, -1, true), Kind::Defined, "before it is written");
    let o = refuses(&filled(0, 1, false), Kind::Index, "m[i]");
    assert!(witnessed(&o), "{o:#?}");
}

/// A block buffer filled byte by byte through a running position, `pos += step`.
fn running(step: i64, guard: i64) -> Program {
    program(|b| {
        let n = b.len("n");
        let m = b.param("m", bytes(n, 0));
        let (pos, acc) = (b.local(LocalKind::Var, "pos", Ty::int(), true), b.var("acc", Ty::Word(8)));
        set(b, acc, Expr::word(8, 0));
        set(b, pos, int(0));
        each_between(b, int(0), div(Expr::int_local(n), 16), |b, _| {
            let part = b.read(Place::local(m).slice(b.get(pos), 16));
            let _ = part;
            let v = b.get(acc) ^ b.read(Place::local(m).slice(b.get(pos), 16).at(15));
            set(b, acc, v);
            let next = b.get(pos) + int(step);
            set(b, pos, next);
        });
        // The rest: n - pos < 16.
        let rest = b.local(LocalKind::Var, "rest", Ty::Int(Some(Range::new(0, guard))), true);
        let v = Expr::int_local(n) - b.get(pos);
        set(b, rest, v);
        let out = b.ret("out", Ty::Word(8));
        let v = b.get(acc);
        set(b, out, v);
    })
}

#[test]
fn a_running_position_is_an_induction_variable() {
    proves_with(&running(16, 15), Engine::Relational);
    refuses(&running(17, 15), Kind::Index, "slice");
    refuses(&running(16, 14), Kind::Range, "rest");
    refuses(&running(15, 15), Kind::Range, "rest");
}

/// `if i >= back { m[i - back] }`
fn guarded(back: i64) -> Program {
    program(|b| {
        let n = b.len("n");
        let m = b.param("m", bytes(n, 0));
        let r = b.local(LocalKind::Param, "r", Ty::Int(Some(Range::new(0, 1000))), true);
        let out = b.ret("out", Ty::Word(8));
        set(b, out, Expr::word(8, 0));
        each_between(b, int(0), Expr::int_local(n), |b, i| {
            let then = b.block(|b| {
                let v = b.read(at(m, i.clone() - b.get(r) - int(back)));
                set(b, out, v);
            });
            let cond = Expr::cmp(CmpOp::Ge, i.clone(), b.get(r));
            b.push(Stmt::if_else(cond, then, vec![]));
        });
    })
}

#[test]
fn a_branch_bounds_its_indices() {
    proves_with(&guarded(0), Engine::Relational);
    let o = refuses(&guarded(1), Kind::Index, "m[");
    assert!(witnessed(&o), "{o:#?}");
}

#[test]
fn loops_with_many_steps_end_and_stay_in_budget() {
    let huge = |bound: i64| {
        program(|b| {
            let x = b.var("x", Ty::int());
            set(b, x, int(1));
            each(b, 0, 1 << 40, |b, _| {
                let v = low(b.get(x) * int(5) + int(1), 16);
                set(b, x, v);
            });
            let out = b.ret("out", range(0, bound));
            let v = b.get(x);
            set(b, out, v);
        })
    };
    proves_with(&huge(65535), Engine::Intervals);
    refuses(&huge(65534), Kind::Range, "out");
}

#[test]
fn a_growing_value_in_a_long_loop_is_not_bounded_by_wishing() {
    let p = program(|b| {
        let x = b.var("x", Ty::int());
        set(b, x, int(1));
        each(b, 0, 1 << 40, |b, _| {
            let v = b.get(x) * int(2);
            set(b, x, v);
        });
    });
    refuses(&p, Kind::Width, "wider than 128 bits");
}
