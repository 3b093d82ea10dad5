//! One rule, one program it proves, one twin it refuses.

use crate::support::*;
use santoku_ir::build::FuncBuilder;
use santoku_ir::*;
use santoku_prove::obligation::{Engine, Kind, Outcome};
use santoku_prove::ranges::{analyse, annotate, check_annotations, Options};

fn set(b: &mut FuncBuilder, l: LocalId, e: Expr) {
    b.assign(Place::local(l), e);
}

fn one(ret: Ty, body: impl FnOnce(&mut FuncBuilder) -> Expr) -> Program {
    program(|b| {
        let v = body(b);
        let out = b.ret("out", ret);
        set(b, out, v);
    })
}

#[test]
fn overflow_at_one_corner_input() {
    let sum = |hi: i64| {
        one(range(0, hi), |b| {
            let (x, y) = (b.param("x", range(0, 1000)), b.param("y", range(0, 24)));
            b.get(x) + b.get(y)
        })
    };
    proves_with(&sum(1024), Engine::Intervals);
    let o = refuses(&sum(1023), Kind::Range, "0..1024 is not inside 0..1023");
    let Outcome::Failed { witness: Some(w), .. } = &o.outcome else { panic!("no witness: {o:#?}") };
    assert_eq!(w.inputs, vec![("x".into(), "1000".into()), ("y".into(), "24".into())]);
}

#[test]
fn off_by_one_loop() {
    let walk = |n: i64| {
        program(|b| {
            let x = b.param("x", Ty::array(Ty::Word(32), 8));
            let out = b.ret("out", Ty::Word(32));
            set(b, out, Expr::word(32, 0));
            each(b, 0, n, |b, i| {
                let v = b.get(out) + b.read(at(x, i));
                set(b, out, v);
            });
        })
    };
    proves(&walk(8));
    let o = refuses(&walk(9), Kind::Index, "`i` is 8");
    assert!(witnessed(&o), "{o:#?}");
}

#[test]
fn element_ranges_differ() {
    let store = |i: i64| {
        program(|b| {
            let ranges = vec![Range::new(0, 10), Range::new(0, 20)];
            let ty = Ty::Array { elem: Box::new(range(0, 20)), len: Len::Const(2), ranges: Some(ranges) };
            let x = b.param("x", range(0, 15));
            let out = b.ret("out", ty);
            b.assign(at(out, int(0)), int(0));
            b.assign(at(out, int(1)), int(0));
            let v = b.get(x);
            b.assign(at(out, int(i)), v);
        })
    };
    proves(&store(1));
    assert!(witnessed(&refuses(&store(0), Kind::Range, "0..15 is not inside 0..10")));
}

#[test]
fn every_element_must_be_written() {
    let fill = |n: i64| {
        program(|b| {
            let out = b.ret("out", Ty::array(Ty::Word(8), 4));
            each(b, 0, n, |b, i| {
                b.assign(at(out, i), Expr::word(8, 7));
            });
        })
    };
    proves(&fill(4));
    assert!(witnessed(&refuses(&fill(3), Kind::Defined, "unwritten")));
}

#[test]
fn shift_counts_stay_below_the_word() {
    let shift = |hi: i64| {
        one(Ty::Word(32), |b| {
            let x = b.param("x", Ty::Word(32));
            let k = b.local(LocalKind::Param, "k", range(0, hi), true);
            Expr::bin(BinOp::Rotl, b.get(x), b.get(k))
        })
    };
    proves(&shift(31));
    assert!(witnessed(&refuses(&shift(32), Kind::Shift, "the word has 32 bits")));
}

#[test]
fn a_selection_uses_its_condition() {
    let reduce = |p: i64| {
        one(range(0, 1000), |b| {
            let x = b.param("x", range(0, 2001));
            let c = Expr::cmp(CmpOp::Ge, b.get(x), int(p));
            Expr::select(c, b.get(x) - int(p), b.get(x))
        })
    };
    proves(&reduce(1001));
    assert!(witnessed(&refuses(&reduce(1002), Kind::Range, "out")));
    let through_a_variable = |touch: bool| {
        one(range(0, 1000), |b| {
            let x0 = b.param("x", range(0, 2001));
            let (x, c) = (b.var("v", Ty::int()), b.var("c", Ty::Bool));
            let v = b.get(x0);
            set(b, x, v);
            let v = Expr::cmp(CmpOp::Ge, b.get(x), int(1001));
            set(b, c, v);
            if touch {
                let v = b.get(x) + int(1);
                set(b, x, v);
            }
            Expr::select(b.get(c), b.get(x) - int(1001), b.get(x))
        })
    };
    proves(&through_a_variable(false));
    refuses(&through_a_variable(true), Kind::Range, "out");
}

#[test]
fn masks_bound_words() {
    let nibble = |mask: u32| {
        one(range(0, 15), |b| {
            let x = b.param("x", Ty::Word(32));
            (b.get(x).shr(3) & Expr::word(32, mask)).cast(Ty::int())
        })
    };
    proves(&nibble(15));
    assert!(witnessed(&refuses(&nibble(31), Kind::Range, "0..31 is not inside 0..15")));
}

fn caller(arg_hi: i64, requires: i64) -> Program {
    let mut p = Program::default();
    let empty = Program::default();
    let mut b = FuncBuilder::new(&empty, "callee");
    let x = b.local(LocalKind::Param, "x", range(0, 100), true);
    let out = b.ret("out", Ty::int());
    let v = b.get(x) * int(3);
    set(&mut b, out, v);
    let claim = SpecExpr::Cmp(CmpOp::Le, Box::new(SpecExpr::Place(Place::local(x))), Box::new(SpecExpr::Int(requires.into())));
    b.contract(ContractKind::Requires, claim, format!("x <= {requires}"));
    let callee = b.finish();
    let callee = p.add_func(callee);
    let mut b = FuncBuilder::new(&p, "f");
    let y = b.local(LocalKind::Param, "y", range(0, arg_hi), true);
    let r = b.var("r", Ty::int());
    let args = vec![b.get(y)];
    b.call(vec![Place::local(r)], callee, vec![], args);
    let out = b.ret("out", range(0, 3 * requires));
    let v = b.get(r);
    set(&mut b, out, v);
    let f = b.finish();
    p.add_func(f);
    p
}

#[test]
fn calls_meet_ranges_and_requires() {
    proves(&caller(50, 50));
    assert!(witnessed(&refuses(&caller(51, 50), Kind::Requires, "x <= 50")));
    let o = refuses(&caller(101, 100), Kind::Range, "callee(x)");
    assert!(witnessed(&o), "{o:#?}");
}

#[test]
fn asserts_are_claims_and_then_facts() {
    let half = |assert: i64| {
        program(|b| {
            let x = b.local(LocalKind::Param, "x", range(0, 100), true);
            let then = b.block(|b| {
                let cond = Expr::cmp(CmpOp::Lt, b.get(x), int(assert));
                b.push(Stmt::assert(cond, "small"));
            });
            let cond = Expr::cmp(CmpOp::Lt, b.get(x) + int(1), int(11));
            b.push(Stmt::if_else(cond, then, vec![]));
        })
    };
    proves(&half(10));
    assert!(witnessed(&refuses(&half(9), Kind::Assert, "x < 9")));
}

#[test]
fn wide_intermediates_are_refused() {
    let product = |bits: u32| {
        one(range(0, 1), |b| {
            let hi: num_bigint::BigInt = (num_bigint::BigInt::from(1) << bits) - 1;
            let (x, y) = (b.param("x", range(0, hi.clone())), b.param("y", range(0, hi)));
            low(b.get(x) * b.get(y), 1)
        })
    };
    proves(&product(64));
    refuses(&product(65), Kind::Width, "wider than 128 bits");
    let all = analyse(&product(65), &Options { modular_width: true, ..Options::default() }).1;
    assert!(open(&all).is_empty(), "only the low bit is used");
}

#[test]
fn annotations_are_written_and_checked() {
    let p = one(range(0, 70000), |b| {
        let x = b.param("x", range(0, 65535));
        let t = b.var("t", Ty::array(Ty::int(), 2));
        let v = b.get(x) + int(5);
        b.assign(at(t, int(0)), v);
        b.assign(at(t, int(1)), int(-1));
        b.read(at(t, int(0))) - b.read(at(t, int(1)))
    });
    let a = annotate(&p);
    let Ty::Array { ranges: Some(ranges), elem, .. } = &a.funcs[0].locals[1].ty else { panic!("{:?}", a.funcs[0].locals[1]) };
    assert_eq!(ranges, &vec![Range::new(5, 65540), Range::new(-1, -1)]);
    assert_eq!(**elem, range(-1, 65540));
    let Stmt::Assign { src, .. } = &a.funcs[0].body[2] else { panic!() };
    assert_eq!(src.ty, range(6, 65541));
    let again = check_annotations(&a);
    assert!(open(&again).is_empty() && again.len() > prove(&p).len(), "{:#?}", open(&again));

    let mut wrong = a.clone();
    let Stmt::Assign { src, .. } = &mut wrong.funcs[0].body[2] else { panic!() };
    src.ty = range(6, 65540);
    assert_eq!(open(&check_annotations(&wrong)).len(), 1);
}

#[test]
fn secret_digits_recoded_to_signed_ones() {
    let digit = |lo: i64| {
        one(range(lo, 7), |b| {
            let x = b.param("x", range(0, 16));
            let c = b.var("c", Ty::int());
            let v = (b.get(x) + int(8)).shr(4);
            set(b, c, v);
            b.get(x) - b.get(c).shl(4)
        })
    };
    proves(&digit(-8));
    assert!(witnessed(&refuses(&digit(-7), Kind::Range, "out")));
}

/// `carry` returns undeclared limbs; its caller needs the split inside it.
#[test]
fn splits_reach_into_small_callees() {
    let build = |passes: usize| {
        let mut p = Program::default();
        let empty = Program::default();
        let mut b = FuncBuilder::new(&empty, "carry");
        let x = b.param("x", limbs(2, -(1i64 << 40), 1i64 << 40));
        let r = b.ret("r", Ty::array(Ty::int(), 2));
        let (x0, x1) = (b.read(at(x, int(0))), b.read(at(x, int(1))));
        b.assign(at(r, int(1)), x1 + x0.shr(16));
        let x0 = b.read(at(x, int(0)));
        b.assign(at(r, int(0)), low(x0, 16));
        let (r0, r1) = (b.read(at(r, int(0))), b.read(at(r, int(1))));
        b.assign(at(r, int(0)), r0 + int(38) * r1.clone().shr(16));
        b.assign(at(r, int(1)), low(r1, 16));
        let carry = b.finish();
        let carry = p.add_func(carry);
        let mut b = FuncBuilder::new(&p, "f");
        let (x, t) = (b.param("x", limbs(2, -65535, 65535 * 2)), b.var("t", Ty::array(Ty::int(), 2)));
        let v = b.get(x);
        set(&mut b, t, v);
        for _ in 0..passes {
            let args = vec![b.get(t)];
            b.call(vec![Place::local(t)], carry, vec![], args);
        }
        let out = b.ret("out", limbs(2, 0, 65535));
        let v = b.get(t);
        set(&mut b, out, v);
        let f = b.finish();
        p.add_func(f);
        p
    };
    proves_with(&build(2), Engine::Relational);
    refuses(&build(1), Kind::Range, "out");
    let a = annotate(&build(2));
    let again = check_annotations(&a);
    assert!(open(&again).is_empty(), "{:#?}", open(&again));
}

/// `POS[i]` and `POS[i + 1]` belong together: only the values of `i` one by one show it.
#[test]
fn small_public_parameters_are_tried_one_by_one() {
    let build = |last: i64| {
        let mut p = Program::default();
        let pos = p.add_const("POS", Ty::array(Ty::int(), 4), ConstValue::ints([0, 26, 51, 77]));
        let mut b = FuncBuilder::new(&p, "f");
        let x = b.param("x", Ty::Word(32));
        let i = b.local(LocalKind::Param, "i", range(0, last), true);
        let out = b.ret("out", Ty::Word(32));
        let read = |e: Expr| Expr::read(Place::constant(pos).index(e), &Ty::int());
        let gap = read(b.get(i) + int(1)) - read(b.get(i));
        let v = Expr::bin(BinOp::Shr, b.get(x), gap);
        set(&mut b, out, v);
        let f = b.finish();
        p.add_func(f);
        p
    };
    proves_with(&build(2), Engine::Relational);
    assert!(witnessed(&refuses(&build(3), Kind::Index, "POS")));
}
