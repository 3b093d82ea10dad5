//! For every code a program it refuses, beside the nearest program it accepts.

use santoku_ir::verify::*;
use santoku_ir::*;
use santoku_ir::build::FuncBuilder;
use santoku_ir::spec::{ContractKind, SpecExpr, SpecFn};
use santoku_ir::ty::{Range, StructId};

fn codes(program: &Program) -> Vec<&'static str> {
    verify(program).iter().map(|e| e.code).collect()
}

fn int_in(lo: i64, hi: i64) -> Ty {
    Ty::Int(Some(Range::new(lo, hi)))
}

fn bytes(len: Len) -> Ty {
    Ty::Array { elem: Box::new(Ty::Word(8)), len, ranges: None }
}

/// What every test function starts from: `s` a secret byte, `p` a public int, `x` four secret bytes.
struct Start {
    s: LocalId,
    p: LocalId,
    x: LocalId,
    r: LocalId,
    i: LocalId,
}

/// Verifies a program of a helper `h(a: u8) -> u8` and a function that `build` completes; the result `r` is
/// assigned at the end.
fn check(build: impl FnOnce(&mut FuncBuilder<'_>, &Start)) -> Vec<&'static str> {
    codes(&program(build))
}

fn program(build: impl FnOnce(&mut FuncBuilder<'_>, &Start)) -> Program {
    let mut program = Program::default();
    program.add_struct("Pair", vec![("a".into(), Ty::Word(8)), ("b".into(), Ty::array(Ty::Word(8), 2))]);
    program.add_const("K", Ty::array(Ty::Int(None), 2), ConstValue::ints([1, 2]));
    let mut h = FuncBuilder::new(&program, "h");
    let (a, b) = (h.param("a", Ty::Word(8)), h.ret("b", Ty::Word(8)));
    let e = h.get(a);
    h.assign(Place::local(b), e);
    let h = h.finish();
    program.add_func(h);
    let mut b = FuncBuilder::new(&program, "f");
    let start = Start {
        s: b.param("s", Ty::Word(8)),
        p: b.local(LocalKind::Param, "p", int_in(0, 3), true),
        x: b.param("x", Ty::array(Ty::Word(8), 4)),
        r: b.ret("r", Ty::Word(8)),
        i: b.counter("i"),
    };
    build(&mut b, &start);
    let e = b.get(start.s);
    b.assign(Place::local(start.r), e);
    let f = b.finish();
    program.add_func(f);
    program
}

/// Verifies an assignment of `e` to a fresh variable of its type.
fn expr(e: impl FnOnce(&mut FuncBuilder<'_>, &Start) -> Expr) -> Vec<&'static str> {
    check(|b, at| {
        let e = e(b, at);
        let v = b.var("v", e.ty.clone());
        b.assign(Place::local(v), e);
    })
}

const OK: Vec<&str> = Vec::new();

#[test]
fn every_code_is_listed_sorted_and_has_a_refused_program() {
    let mut seen: Vec<&str> = refused().iter().flat_map(codes).collect();
    seen.sort_unstable();
    seen.dedup();
    let listed: Vec<&str> = CODES.iter().map(|(code, _)| *code).collect();
    assert_eq!(seen, listed);
}

/// One program per code.
fn refused() -> Vec<Program> {
    let spoiled = |spoil: &dyn Fn(&mut Program)| {
        let mut p = program(|_, _| {});
        spoil(&mut p);
        p
    };
    vec![
        spoiled(&|p| p.funcs[0].applies = Some(Applies::Table(ConstId(0)))),
        spoiled(&|p| p.funcs[0].applies = Some(Applies::Perm(ConstId(0)))),
        spoiled(&|p| p.funcs[0].declassifies = true),
        spoiled(&|p| p.funcs[0].applies = Some(Applies::Each)),
        program(|b, _| {
            b.call(vec![], FuncId(0), vec![], vec![]);
        }),
        spoiled(&|p| p.consts[0].value = ConstValue::Scalar(1.into())),
        program(|b, _| {
            b.contract(ContractKind::Requires, SpecExpr::Var(0), "?");
        }),
        program(|b, at| {
            b.assign(Place::local(at.i), Expr::int(0));
        }),
        program(|b, _| {
            b.assign(Place::local(LocalId(99)), Expr::int(0));
        }),
        program(|b, _| b.func_mut().params.clear()),
        program(|b, _| {
            b.var("v", bytes(Len::Param { param: LocalId(1), add: 0 }));
        }),
        spoiled(&|p| p.funcs[0].name = "f".into()),
        program(|b, _| {
            b.push(Stmt::assert((0..300).fold(Expr::bool(true), |e, _| !e), "deep"));
        }),
        program(|b, at| {
            let e = Expr::bin(BinOp::Div, b.get(at.p), Expr::int(0));
            let v = b.var("v", Ty::int());
            b.assign(Place::local(v), e);
        }),
        spoiled(&|p| p.structs[0].fields[0].1 = Ty::Struct(StructId(0))),
        spoiled(&|p| {
            let ret = |b: &mut FuncBuilder<'_>, n| b.ret(n, Ty::int());
            let empty = Program::default();
            let mut g = FuncBuilder::new(&empty, "g");
            let (u, v) = (ret(&mut g, "u"), ret(&mut g, "v"));
            g.assign(Place::local(u), Expr::int(0)).assign(Place::local(v), Expr::int(0));
            let g = p.add_func(g.finish());
            let mut c = FuncBuilder::new(&empty, "c");
            let t = c.var("t", Ty::int());
            c.call(vec![Place::local(t), Place::local(t)], g, vec![], vec![]);
            p.add_func(c.finish());
        }),
        program(|b, at| {
            let e = b.read(Place::local(at.s).field(0));
            b.assign(Place::local(at.r), e);
        }),
        program(|b, _| {
            b.var("v", int_in(1, 0));
        }),
        program(|b, at| {
            b.assign(Place::local(at.s), Expr::word(8, 0));
        }),
        program(|b, at| {
            let cond = Expr::cmp(CmpOp::Eq, b.get(at.s), Expr::word(8, 0));
            b.push(Stmt::if_else(cond, vec![], vec![]));
        }),
        spoiled(&|p| p.add_test("t", FuncId(0))),
        program(|b, at| {
            b.assign(Place::local(at.r), Expr::int(0));
        }),
        program(|b, at| {
            let v = b.var("v", Ty::Word(8));
            let e = b.get(v);
            b.assign(Place::local(at.r), e);
        }),
    ]
}

#[test]
fn the_plain_program_is_accepted() {
    assert_eq!(check(|_, _| {}), OK);
    assert_eq!(report(&program(|_, _| {})).undecided, vec![]);
}

#[test]
fn operators_take_the_types_they_take() {
    let word = |bits| Expr::word(bits, 1);
    assert_eq!(expr(|b, at| b.get(at.s) + word(8)), OK);
    assert_eq!(expr(|b, at| b.get(at.s) + word(16)), ["type"]);
    assert_eq!(expr(|b, at| b.get(at.s) + Expr::int(1)), ["type"]);
    assert_eq!(expr(|b, at| b.get(at.p) | Expr::int(1)), ["type"]);
    assert_eq!(expr(|b, at| b.get(at.p) & Expr::int(15)), OK);
    assert_eq!(expr(|b, at| b.get(at.p) & Expr::int(14)), ["operator"]);
    assert_eq!(expr(|b, at| Expr::bin(BinOp::Shl, b.get(at.p), b.get(at.p))), ["operator"]);
    assert_eq!(expr(|b, at| Expr::bin(BinOp::Shl, b.get(at.s), b.get(at.p))), OK);
    assert_eq!(expr(|b, at| b.get(at.p).rotl(1)), ["type"]);
    assert_eq!(expr(|_, _| Expr::bool(true) ^ Expr::bool(false)), OK);
    assert_eq!(expr(|_, _| Expr::bool(true) + Expr::bool(false)), ["type"]);
    assert_eq!(expr(|b, at| !b.get(at.p)), ["type"]);
    assert_eq!(expr(|b, at| b.get(at.p).cast(Ty::Bool)), ["type"]);
    assert_eq!(expr(|b, at| b.get(at.x).cast(Ty::int())), ["type"]);
    assert_eq!(expr(|_, _| Expr::cmp(CmpOp::Lt, Expr::bool(true), Expr::bool(false))), ["type"]);
    assert_eq!(expr(|b, at| Expr::cmp(CmpOp::Eq, b.get(at.x), b.get(at.x))), OK);
    assert_eq!(expr(|b, at| Expr::select(b.get(at.s), word(8), word(8))), ["type"]);
    assert_eq!(expr(|_, _| Expr::new(ExprKind::Const(256.into()), Ty::Word(8))), ["constant"]);
    assert_eq!(expr(|_, _| Expr::new(ExprKind::Const(7.into()), int_in(0, 6))), ["constant"]);
    assert_eq!(expr(|_, _| Expr::structure(StructId(0), vec![word(8)])), ["arity"]);
    assert_eq!(expr(|_, _| Expr::new(ExprKind::Array(vec![word(8)]), Ty::array(Ty::Word(8), 2))), ["arity"]);
    assert_eq!(expr(|_, _| Expr::array(&Ty::Word(8), vec![word(8), word(9)])), ["type"]);
    assert_eq!(expr(|b, at| b.read(Place::local(at.x).slice(Expr::word(8, 0), 2))), ["type"]);
}

#[test]
fn secrets_do_not_steer() {
    let s = |b: &FuncBuilder<'_>, at: &Start| b.get(at.s).cast(Ty::int());
    assert_eq!(expr(|b, at| b.read(Place::local(at.x).index(b.get(at.p)))), OK);
    assert_eq!(expr(|b, at| b.read(Place::local(at.x).index(s(b, at)))), ["secret"]);
    assert_eq!(expr(|b, at| b.read(Place::local(at.x).slice(s(b, at), 1))), ["secret"]);
    assert_eq!(expr(|b, at| Expr::bin(BinOp::Shr, b.get(at.s), s(b, at))), ["secret"]);
    assert_eq!(expr(|b, at| Expr::bin(BinOp::Mod, s(b, at), Expr::int(10))), ["secret"]);
    assert_eq!(expr(|b, at| Expr::bin(BinOp::Mod, s(b, at), Expr::int(16))), OK);
    assert_eq!(expr(|b, at| Expr::bin(BinOp::Div, b.get(at.p), Expr::int(10))), OK);
    let bound = |secret: bool| {
        check(|b, at| {
            let hi = if secret { s(b, at) } else { b.get(at.p) };
            b.push(Stmt::for_range(at.i, Expr::int(0), hi, vec![]));
        })
    };
    assert_eq!((bound(false), bound(true)), (OK, vec!["secret"]));
    let write = |secret: bool| {
        check(|b, at| {
            let v = b.var("v", Ty::array(Ty::Word(8), 4));
            let index = if secret { s(b, at) } else { b.get(at.p) };
            b.assign(Place::local(v).index(index), Expr::word(8, 0));
        })
    };
    assert_eq!((write(false), write(true)), (OK, vec!["secret"]));
}

#[test]
fn public_places_receive_public_values() {
    let into_public = |secret: bool| {
        check(|b, at| {
            let v = b.local(LocalKind::Var, "v", Ty::Word(8), true);
            let e = if secret { b.get(at.s) } else { b.get(at.p).cast(Ty::Word(8)) };
            b.assign(Place::local(v), e);
        })
    };
    assert_eq!((into_public(false), into_public(true)), (OK, vec!["secret"]));
    let call_result = |secret: bool| {
        check(|b, at| {
            let v = b.local(LocalKind::Var, "v", Ty::Word(8), true);
            let e = if secret { b.get(at.s) } else { Expr::word(8, 3) };
            b.call(vec![Place::local(v)], FuncId(0), vec![], vec![e]);
        })
    };
    assert_eq!((call_result(false), call_result(true)), (OK, vec!["secret"]));
    let mut marked = program(|b, at| {
        let (v, e) = (b.var("v", Ty::Word(8)), b.get(at.s));
        b.call(vec![Place::local(v)], FuncId(0), vec![], vec![e]);
    });
    assert_eq!(codes(&marked), OK);
    marked.funcs[0].locals[0].public = true;
    assert_eq!(codes(&marked), ["secret"]);
    marked.funcs[0].locals[0].public = false;
    marked.funcs[0].locals[1].public = true;
    assert_eq!(codes(&marked), ["secret"], "the callee's own claim is checked");
}

#[test]
fn what_a_function_declassifies_is_public_for_callers_alone() {
    let said = |attribute: Inline, declassifies: bool, inside: bool| {
        let mut p = program(|b, at| {
            let v = b.local(LocalKind::Var, "v", Ty::Word(8), true);
            let e = b.get(at.s);
            b.call(vec![Place::local(v)], FuncId(0), vec![], vec![e]);
        });
        let h = &mut p.funcs[0];
        (h.inline, h.declassifies) = (attribute, declassifies);
        if inside {
            let cond = Expr::cmp(CmpOp::Lt, Expr::read(Place::local(h.rets[0]), &Ty::Word(8)), Expr::word(8, 3));
            h.body.push(Stmt::if_else(cond, vec![], vec![]));
        }
        codes(&p)
    };
    assert_eq!(said(Inline::Never, true, false), OK);
    assert_eq!(said(Inline::Never, false, false), ["secret"]);
    assert_eq!(said(Inline::Auto, true, false), ["declassify"]);
    assert_eq!(said(Inline::Never, true, true), ["secret"], "in its body the result is as secret as before");
}

#[test]
fn destinations_of_a_call_are_disjoint() {
    let mut base = Program::default();
    let mut g = FuncBuilder::new(&base, "g");
    let (u, v) = (g.ret("u", Ty::int()), g.ret("v", Ty::int()));
    g.assign(Place::local(u), Expr::int(0)).assign(Place::local(v), Expr::int(0));
    let g = g.finish();
    base.add_func(g);
    let to = |dsts: &dyn Fn(LocalId, LocalId, LocalId) -> Vec<Place>| {
        let mut b = FuncBuilder::new(&base, "f");
        let a = b.var("a", Ty::array(Ty::int(), 4));
        let k = b.local(LocalKind::Var, "k", Ty::int(), true);
        let n = b.len("n");
        b.assign(Place::local(k), Expr::int(0));
        b.call(dsts(a, k, n), FuncId(0), vec![], vec![]);
        let mut p = base.clone();
        p.add_func(b.finish());
        codes(&p)
    };
    let el = |a: LocalId, i: Expr| Place::local(a).index(i);
    assert_eq!(to(&|a, _, _| vec![Place::local(a).at(0), Place::local(a).at(1)]), OK);
    assert_eq!(to(&|a, _, _| vec![Place::local(a).at(1), Place::local(a).at(1)]), ["overlap"]);
    assert_eq!(to(&|a, _, n| vec![el(a, Expr::int_local(n)), Place::local(a).at(1)]), ["overlap"]);
    assert_eq!(to(&|a, k, _| vec![Place::local(k), el(a, Expr::int_local(k))]), ["overlap"]);
    let part = |a, off| Place::local(a).slice(Expr::int(off), 2).at(0);
    assert_eq!(to(&|a, _, _| vec![part(a, 0), part(a, 2)]), OK);
    assert_eq!(to(&|a, _, _| vec![part(a, 0), part(a, 1)]), ["overlap"]);
}

#[test]
fn lengths_pass_to_callees_as_they_are() {
    let call = |len: &dyn Fn(&FuncBuilder<'_>, LocalId) -> Expr, arg: Len| {
        let mut p = Program::default();
        let mut g = FuncBuilder::new(&p, "g");
        let m = g.len("m");
        g.param("x", bytes(Len::Param { param: m, add: 2 }));
        let g = p.add_func(g.finish());
        let mut f = FuncBuilder::new(&p, "f");
        let n = f.len("n");
        let y = f.param("y", bytes(arg));
        let (lens, args) = (vec![len(&f, n)], vec![f.get(y)]);
        f.call(vec![], g, lens, args);
        let f = f.finish();
        p.add_func(f);
        codes(&p)
    };
    let n_plus = |add| Len::Param { param: LocalId(0), add };
    assert_eq!(call(&|_, n| Expr::int_local(n), n_plus(2)), OK);
    assert_eq!(call(&|_, n| Expr::int_local(n) - Expr::int(3), n_plus(-1)), OK);
    assert_eq!(call(&|_, _| Expr::int(5), Len::Const(7)), OK);
    assert_eq!(call(&|_, _| Expr::int(5), Len::Const(8)), ["type"]);
    assert_eq!(call(&|_, n| Expr::int_local(n), n_plus(1)), ["type"]);
    assert_eq!(call(&|_, n| Expr::int_local(n).shl(1), n_plus(2)), ["length"]);
}

#[test]
fn ranges_per_element_match_their_array() {
    let ranged = |elem: Ty, n: u64, ranges: Vec<Range>| {
        check(|b, _| {
            b.var("v", Ty::Array { elem: Box::new(elem), len: Len::Const(n), ranges: Some(ranges) });
        })
    };
    let two = || vec![Range::new(0, 3), Range::new(2, 9)];
    assert_eq!(ranged(int_in(0, 9), 2, two()), OK);
    assert_eq!(ranged(Ty::int(), 2, two()), OK);
    assert_eq!(ranged(int_in(0, 8), 2, two()), ["range"]);
    assert_eq!(ranged(int_in(0, 9), 3, two()), ["range"]);
    assert_eq!(ranged(Ty::Word(8), 2, two()), ["range"]);
}

/// Verdict and open obligations of `t` filled by `fill`, then read whole.
fn filled(n: Len, fill: impl FnOnce(&mut FuncBuilder<'_>, LocalId, LocalId, LocalId)) -> (Vec<&'static str>, usize) {
    let empty = Program::default();
    let mut b = FuncBuilder::new(&empty, "f");
    let len = b.len("n");
    let (i, j) = (b.counter("i"), b.counter("j"));
    let t = b.var("t", bytes(n.clone()));
    let r = b.ret("r", bytes(n));
    assert_eq!((len, i, j, t), (LocalId(0), LocalId(1), LocalId(2), LocalId(3)));
    fill(&mut b, t, i, j);
    let e = b.get(t);
    b.assign(Place::local(r), e);
    let mut p = Program::default();
    p.add_func(b.finish());
    let report = report(&p);
    (report.errors.iter().map(|e| e.code).collect(), report.undecided.len())
}

#[test]
fn loops_over_all_elements_assign_the_array() {
    let zero = || Expr::word(8, 0);
    let count = |i: LocalId, lo: Expr, hi: Expr, body: Vec<Stmt>| Stmt::for_range(i, lo, hi, body);
    let at = |t: LocalId, e: Expr| Place::local(t).index(e);
    let full = |lo: i64, hi: i64, shift: i64| {
        filled(Len::Const(8), |b, t, i, _| {
            let body = vec![Stmt::assign(at(t, Expr::int_local(i) + Expr::int(shift)), zero())];
            b.push(count(i, Expr::int(lo), Expr::int(hi), body));
        })
    };
    assert_eq!(full(0, 8, 0), (OK, 0));
    assert_eq!(full(2, 10, -2), (OK, 0));
    assert_eq!(full(0, 7, 0), (OK, 1));
    assert_eq!(full(1, 8, 0), (OK, 1));
    let slices = |n: i64, step: i64, len: u64| {
        filled(Len::Const(8), |b, t, i, _| {
            let off = Expr::int_local(i) * Expr::int(step);
            let body = vec![Stmt::assign(Place::local(t).slice(off, len), Expr::repeat(zero(), Len::Const(len)))];
            b.push(count(i, Expr::int(0), Expr::int(n), body));
        })
    };
    assert_eq!(slices(4, 2, 2), (OK, 0));
    assert_eq!(slices(3, 2, 2), (OK, 1));
    assert_eq!(slices(4, 2, 1), (OK, 1));
    let n_plus = |add| Len::Param { param: LocalId(0), add };
    let parametric = |len: Len, lo: i64, add: i64| {
        filled(len, |b, t, i, _| {
            let hi = Expr::int_local(LocalId(0)) + Expr::int(add);
            b.push(count(i, Expr::int(lo), hi, vec![Stmt::assign(at(t, Expr::int_local(i)), zero())]));
        })
    };
    assert_eq!(parametric(n_plus(4), 0, 4), (OK, 0));
    assert_eq!(parametric(n_plus(4), 0, 3), (OK, 1));
    assert_eq!(parametric(n_plus(4), 1, 4), (OK, 1));
}

#[test]
fn assignment_joins_at_branches_and_constant_parts_add_up() {
    let zero = || Expr::word(8, 0);
    let parts = |k: u64| {
        filled(Len::Const(4), |b, t, _, _| {
            b.assign(Place::local(t).slice(Expr::int(0), 3), Expr::repeat(zero(), Len::Const(3)));
            b.assign(Place::local(t).at(k), zero());
        })
    };
    assert_eq!((parts(3), parts(2)), ((OK, 0), (OK, 1)));
    assert_eq!(filled(Len::Const(4), |_, _, _, _| {}), (vec!["unassigned"], 0));
    assert_eq!(filled(Len::Const(0), |_, _, _, _| {}), (OK, 0));
    let branch = |both: bool| {
        check(|b, at| {
            let v = b.var("v", Ty::Word(8));
            let set = || vec![Stmt::assign(Place::local(v), zero())];
            let cond = Expr::cmp(CmpOp::Eq, b.get(at.p), Expr::int(0));
            b.push(Stmt::if_else(cond, set(), if both { set() } else { vec![] }));
            let e = b.get(v);
            b.assign(Place::local(at.r), e);
        })
    };
    assert_eq!((branch(true), branch(false)), (OK, vec!["unassigned"]));
    let in_loop = |hi: Expr| {
        check(|b, at| {
            let v = b.var("v", Ty::Word(8));
            b.push(Stmt::for_range(at.i, Expr::int(0), hi, vec![Stmt::assign(Place::local(v), zero())]));
            let e = b.get(v);
            b.assign(Place::local(at.r), e);
        })
    };
    assert_eq!(in_loop(Expr::int(1)), OK);
    assert_eq!(in_loop(Expr::int(0)), ["unassigned"]);
    assert_eq!(in_loop(Expr::int_local(LocalId(1))), ["unassigned"]);
}

#[test]
fn structs_are_assigned_field_by_field() {
    let fields = |both: bool| {
        check(|b, at| {
            let v = b.var("v", Ty::Struct(StructId(0)));
            b.assign(Place::local(v).field(0), Expr::word(8, 0));
            if both {
                b.assign(Place::local(v).field(1), Expr::repeat(Expr::word(8, 0), Len::Const(2)));
            }
            let e = b.read(Place::local(v).field(0));
            b.assign(Place::local(at.r), e);
            let w = b.var("w", Ty::Struct(StructId(0)));
            let e = b.get(v);
            b.assign(Place::local(w), e);
        })
    };
    assert_eq!(fields(true), OK);
    assert_eq!(fields(false), OK, "field 1 holds an array: left to the prover");
}

#[test]
fn results_are_assigned() {
    let mut p = Program::default();
    let mut b = FuncBuilder::new(&p, "f");
    b.ret("r", Ty::int());
    let f = b.finish();
    p.add_func(f);
    assert_eq!(codes(&p), ["unassigned"]);
}

#[test]
fn counters_live_in_their_loop_alone() {
    let nested = |same: bool| {
        check(|b, at| {
            let j = b.counter("j");
            let inner = Stmt::for_range(if same { at.i } else { j }, Expr::int(0), Expr::int(2), vec![]);
            b.push(Stmt::for_range(at.i, Expr::int(0), Expr::int(2), vec![inner]));
        })
    };
    assert_eq!((nested(false), nested(true)), (OK, vec!["counter"]));
    assert_eq!(expr(|_, at| Expr::int_local(at.i)), ["counter"]);
    let twice = check(|b, at| {
        for _ in 0..2 {
            b.push(Stmt::for_range(at.i, Expr::int(0), Expr::int(2), vec![]));
        }
    });
    assert_eq!(twice, OK);
}

#[test]
fn contracts_speak_of_what_callers_see() {
    let clause = |kind, local: u32| {
        check(|b, _| {
            b.var("v", Ty::Word(8));
            b.contract(kind, SpecExpr::Place(Place::local(LocalId(local))), "clause");
        })
    };
    let (param, ret, var) = (0, 3, 5);
    assert_eq!(clause(ContractKind::Requires, param), OK);
    assert_eq!(clause(ContractKind::Requires, ret), ["contract"]);
    assert_eq!(clause(ContractKind::Ensures, ret), OK);
    assert_eq!(clause(ContractKind::Ensures, var), ["contract"]);
    let spec = |body: SpecExpr| {
        let mut p = program(|_, _| {});
        p.specs.push(SpecFn { name: "g".into(), params: vec!["x".into()], body, loc: Loc::default() });
        codes(&p)
    };
    let boxed = |e| Box::new(e);
    assert_eq!(spec(SpecExpr::Var(0)), OK);
    assert_eq!(spec(SpecExpr::Var(1)), ["contract"]);
    assert_eq!(spec(SpecExpr::Let(1, boxed(SpecExpr::Var(0)), boxed(SpecExpr::Var(1)))), OK);
    assert_eq!(spec(SpecExpr::Let(1, boxed(SpecExpr::Var(1)), boxed(SpecExpr::Var(0)))), ["contract"]);
    assert_eq!(spec(SpecExpr::Place(Place::local(LocalId(0)))), ["contract"]);
    assert_eq!(spec(SpecExpr::Place(Place::constant(ConstId(0)).at(1))), OK);
    assert_eq!(spec(SpecExpr::Place(Place::constant(ConstId(7)))), ["id"]);
    assert_eq!(spec(SpecExpr::Call(santoku_ir::data::SpecId(0), vec![])), ["arity"]);
}

#[test]
fn a_table_is_an_array_of_words_as_large_as_its_inputs() {
    let said = |input: Ty, output: Ty, entries: u32, bits: u32| {
        let mut p = Program::default();
        let values = ConstValue::ints((0..entries).map(|i| i % 2));
        let table = p.add_const("T", Ty::array(Ty::Word(bits), entries.into()), values);
        let mut b = FuncBuilder::new(&p, "t");
        let (_, y) = (b.param("x", input), b.ret("y", output.clone()));
        let value = match output {
            Ty::Word(bits) => Expr::word(bits, 0),
            _ => Expr::repeat(Expr::word(16, 0), Len::Const(2)),
        };
        b.assign(Place::local(y), value);
        b.func_mut().applies = Some(Applies::Table(table));
        let f = b.finish();
        p.add_func(f);
        codes(&p)
    };
    let columns = |n: u64| Ty::array(Ty::Word(16), n);
    assert_eq!(said(Ty::Word(4), Ty::Word(2), 16, 2), OK);
    assert_eq!(said(columns(4), columns(2), 16, 2), OK);
    assert_eq!(said(Ty::Word(3), Ty::Word(2), 16, 2), ["table"]);
    assert_eq!(said(Ty::Word(4), Ty::Word(3), 16, 2), ["table"]);
    assert_eq!(said(columns(3), columns(2), 16, 2), ["table"]);
    assert_eq!(said(Ty::Word(4), Ty::Word(2), 15, 2), ["table"]);
    assert_eq!(said(Ty::Word(9), Ty::Word(2), 512, 2), ["table"]);
}

#[test]
fn a_permutation_names_bits_of_its_parameter() {
    let said = |input: u32, output: u32, numbers: &[u32]| {
        let mut p = Program::default();
        let ty = Ty::array(Ty::Int(Some(santoku_ir::ty::Range::new(0, 200))), numbers.len() as u64);
        let c = p.add_const("P", ty, ConstValue::ints(numbers.iter().copied()));
        let mut b = FuncBuilder::new(&p, "p");
        let (_, y) = (b.param("x", Ty::Word(input)), b.ret("y", Ty::Word(output)));
        b.assign(Place::local(y), Expr::word(output, 0));
        b.func_mut().applies = Some(Applies::Perm(c));
        let f = b.finish();
        p.add_func(f);
        codes(&p)
    };
    assert_eq!(said(3, 4, &[2, 0, 0, 1]), OK);
    assert_eq!(said(3, 4, &[3, 0, 0, 1]), ["perm"]);
    assert_eq!(said(3, 3, &[2, 0, 0, 1]), ["perm"]);
    assert_eq!(said(3, 5, &[2, 0, 0, 1]), ["perm"]);
}

#[test]
fn structs_that_unfold_without_end_are_refused() {
    let mut p = Program::default();
    p.add_struct("S0", vec![("x".into(), Ty::Bool)]);
    for i in 0..40u32 {
        let inner = Ty::Struct(StructId(i));
        p.add_struct(format!("S{}", i + 1), vec![("l".into(), inner.clone()), ("r".into(), inner)]);
    }
    assert_eq!(codes(&p), ["nesting"]);
    p.structs.truncate(10);
    assert_eq!(codes(&p), OK);
}

#[test]
fn errors_say_where_and_what() {
    let mut p = program(|b, _| {
            b.call(vec![], FuncId(0), vec![], vec![]);
        });
    p.funcs[1].body[0] = Stmt::Call {
        dsts: vec![],
        func: FuncId(0),
        lens: vec![],
        args: vec![],
        loc: Loc { file: 0, line: 7, col: 2, start: 0, end: 0 },
    };
    let text: Vec<String> = verify(&p).iter().map(ToString::to_string).collect();
    assert_eq!(text, ["arity: 0 arguments instead of 1 for h in f (file 0, line 7, column 2)"]);
}
