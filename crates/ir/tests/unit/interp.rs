//! The meaning, case by case: what each construct computes, and for every fault a program that has it.

use santoku_ir::interp::*;
use santoku_ir::*;
use santoku_ir::build::FuncBuilder;
use santoku_ir::spec::{ContractKind, SpecExpr, SpecFn, SpecOp};
use santoku_ir::ty::{Len, LocalId, Range, Ty};

fn u8s(n: u64) -> Ty {
    Ty::array(Ty::Word(8), n)
}

fn limb() -> Ty {
    Ty::Int(Some(Range::new(0, 65535)))
}

/// A program of one function that `build` fills in.
fn one(build: impl FnOnce(&mut FuncBuilder<'_>)) -> Program {
    let mut program = Program::default();
    add(&mut program, "f", build);
    program
}

fn add(program: &mut Program, name: &str, build: impl FnOnce(&mut FuncBuilder<'_>)) -> FuncId {
    let mut b = FuncBuilder::new(program, name);
    build(&mut b);
    let func = b.finish();
    program.add_func(func)
}

fn run(program: &Program, lens: &[u64], args: Vec<Value>) -> Result<Vec<Value>, FaultKind> {
    let last = FuncId(program.funcs.len() as u32 - 1);
    let options = Options { steps: 1 << 20, ..Options::checked() };
    Interp::with_options(program, options).call(last, lens, args).map_err(|f| f.kind)
}

/// The value of a closed or one-parameter expression.
fn eval(e: Expr) -> Result<Value, FaultKind> {
    let program = one(|b| {
        let r = b.ret("r", e.ty.clone());
        b.assign(Place::local(r), e);
    });
    run(&program, &[], vec![]).map(|mut v| v.remove(0))
}

#[test]
fn words_wrap_at_their_width() {
    for bits in [1u32, 5, 8, 31, 32, 63, 64, 127, 128] {
        let top = u128::MAX >> (128 - bits);
        let w = |v: u128| Expr::word(bits, v);
        assert_eq!(eval(w(top) + w(1)), Ok(Value::Word(0)), "{bits}");
        assert_eq!(eval(w(0) - w(1)), Ok(Value::Word(top)), "{bits}");
        assert_eq!(eval(w(top) * w(top)), Ok(Value::Word(1)), "{bits}");
        assert_eq!(eval(-w(1)), Ok(Value::Word(top)), "{bits}");
        assert_eq!(eval(!w(0)), Ok(Value::Word(top)), "{bits}");
        assert_eq!(eval(w(1).shl(bits - 1).shr(bits - 1)), Ok(Value::Word(1)), "{bits}");
        for k in 0..bits {
            assert_eq!(eval(w(1).rotl(k)), Ok(Value::Word(1 << k)), "{bits} {k}");
            assert_eq!(eval(w(1 << k).rotr(k)), Ok(Value::Word(1)), "{bits} {k}");
        }
        let fault = FaultKind::ShiftCount { count: Int::from(bits), bits };
        assert_eq!(eval(w(1).shl(bits)), Err(fault.clone()));
        assert_eq!(eval(w(1).rotr(bits)), Err(fault));
    }
}

#[test]
fn integers_are_exact_and_divide_to_the_floor() {
    let i = |v: i64| Expr::int(v);
    let big = (0..5).fold(i(1 << 40), |e, _| e.clone() * e);
    assert_eq!(eval(big.shr(1280)), Ok(Value::int(1)));
    assert_eq!(eval(i(-7).shr(1)), Ok(Value::int(-4)));
    assert_eq!(eval(i(-7) & i(15)), Ok(Value::int(9)));
    assert_eq!(eval(Expr::bin(BinOp::Div, i(-7), i(3))), Ok(Value::int(-3)));
    assert_eq!(eval(Expr::bin(BinOp::Mod, i(-7), i(3))), Ok(Value::int(2)));
    assert_eq!(eval(i(-3).shl(4)), Ok(Value::int(-48)));
    assert!(matches!(eval(Expr::bin(BinOp::Div, i(1), i(0))), Err(FaultKind::Internal { .. })));
    assert!(matches!(eval(Expr::bin(BinOp::Shl, i(1), i(-1))), Err(FaultKind::ShiftCount { bits: 0, .. })));
    assert_eq!(eval(i(1).shl(1 << 30)), Err(FaultKind::IntTooLarge));
}

#[test]
fn conversions_and_comparisons() {
    assert_eq!(eval(Expr::int(-1).cast(Ty::Word(8))), Ok(Value::Word(255)));
    assert_eq!(eval(Expr::word(16, 0x1234).cast(Ty::Word(8))), Ok(Value::Word(0x34)));
    assert_eq!(eval(Expr::word(8, 0xff).cast(Ty::Word(16))), Ok(Value::Word(255)));
    assert_eq!(eval(Expr::bool(true).cast(Ty::Word(8))), Ok(Value::Word(1)));
    assert_eq!(eval(Expr::word(128, u128::MAX).cast(Ty::int())), Ok(Value::Int(Int::from(u128::MAX))));
    assert_eq!(eval(Expr::cmp(CmpOp::Lt, Expr::word(8, 1), Expr::word(8, 255))), Ok(Value::Bool(true)));
    let pair = |b: i64| Expr::array(&Ty::int(), vec![Expr::int(1), Expr::int(b)]);
    assert_eq!(eval(Expr::cmp(CmpOp::Eq, pair(2), pair(2))), Ok(Value::Bool(true)));
    assert_eq!(eval(Expr::cmp(CmpOp::Ne, pair(2), pair(3))), Ok(Value::Bool(true)));
    assert_eq!(eval(Expr::select(Expr::bool(false), pair(2), pair(3))), Ok(Value::ints([1, 3])));
    assert!(matches!(eval(Expr::word(8, 1) + Expr::int(1)), Err(FaultKind::ShiftCount { .. } | FaultKind::Internal { .. })));
}

#[test]
fn values_are_copied_never_aliased() {
    let program = one(|b| {
        let (x, y, r) = (b.param("x", u8s(2)), b.var("y", u8s(2)), b.ret("r", Ty::array(u8s(2), 2)));
        let whole = b.get(x);
        b.assign(Place::local(y), whole);
        b.assign(Place::local(y).at(0), Expr::word(8, 9));
        let both = Expr::array(&u8s(2), vec![b.get(x), b.get(y)]);
        b.assign(Place::local(r), both);
    });
    let out = run(&program, &[], vec![Value::from_bytes(&[1, 2])]);
    let expect = Value::array(vec![Value::from_bytes(&[1, 2]), Value::from_bytes(&[9, 2])]);
    assert_eq!(out, Ok(vec![expect]));
}

#[test]
fn slices_of_slices_read_and_write() {
    let program = one(|b| {
        let (x, r) = (b.param("x", u8s(8)), b.ret("r", u8s(8)));
        let whole = b.get(x);
        b.assign(Place::local(r), whole);
        let src = b.read(Place::local(x).slice(Expr::int(1), 6).slice(Expr::int(2), 2));
        b.assign(Place::local(r).slice(Expr::int(4), 4).slice(Expr::int(1), 2), src);
        let one = b.read(Place::local(x).slice(Expr::int(4), 4).at(3));
        b.assign(Place::local(r).slice(Expr::int(0), 2).at(1), one);
    });
    let out = run(&program, &[], vec![Value::from_bytes(&[0, 1, 2, 3, 4, 5, 6, 7])]);
    assert_eq!(out, Ok(vec![Value::from_bytes(&[0, 7, 2, 3, 4, 3, 4, 7])]));
}

#[test]
fn calls_evaluate_before_they_write_and_lengths_pass() {
    let mut program = Program::default();
    let swap = add(&mut program, "swap", |b| {
        let (p, q) = (b.param("p", Ty::int()), b.param("q", Ty::int()));
        let (s, t) = (b.ret("s", Ty::int()), b.ret("t", Ty::int()));
        let (pe, qe) = (b.get(p), b.get(q));
        b.assign(Place::local(s), qe).assign(Place::local(t), pe);
    });
    let count = add(&mut program, "count", |b| {
        let n = b.len("n");
        b.param("x", Ty::Array { elem: Box::new(Ty::Word(8)), len: Len::Param { param: n, add: 1 }, ranges: None });
        let r = b.ret("r", Ty::int());
        b.assign(Place::local(r), Expr::int_local(n));
    });
    add(&mut program, "main", |b| {
        let (v, r) = (b.var("v", Ty::array(Ty::int(), 2)), b.ret("r", Ty::array(Ty::int(), 3)));
        b.assign(Place::local(v), Expr::array(&Ty::int(), vec![Expr::int(5), Expr::int(7)]));
        let args = vec![b.read(Place::local(v).at(0)), b.read(Place::local(v).at(1))];
        b.call(vec![Place::local(v).at(0), Place::local(v).at(1)], swap, vec![], args);
        for i in 0..2 {
            let e = b.read(Place::local(v).at(i));
            b.assign(Place::local(r).at(i), e);
        }
        let bytes = Expr::repeat(Expr::word(8, 0), Len::Const(12));
        b.call(vec![Place::local(r).at(2)], count, vec![Expr::int(11)], vec![bytes]);
    });
    assert_eq!(run(&program, &[], vec![]), Ok(vec![Value::ints([7, 5, 11])]));
}

/// `r = [order of the counter as decimal digits, sum]` for a loop from `lo` to `hi`.
fn digits(lo: i64, hi: i64, rev: bool) -> Result<Vec<Value>, FaultKind> {
    let program = one(|b| {
        let (i, r) = (b.counter("i"), b.ret("r", Ty::int()));
        b.assign(Place::local(r), Expr::int(0));
        let body = b.block(|b| {
            let e = b.get(r) * Expr::int(10) + Expr::int_local(i);
            b.assign(Place::local(r), e);
        });
        let loc = Loc::default();
        let (lo, hi) = (Expr::int(lo), Expr::int(hi));
        b.push(Stmt::For { var: i, lo, hi, rev, unroll: Unroll::Auto, invariants: vec![], body, loc });
    });
    run(&program, &[], vec![])
}

#[test]
fn loops_count_both_ways_and_not_at_all() {
    assert_eq!(digits(1, 5, false), Ok(vec![Value::int(1234)]));
    assert_eq!(digits(1, 5, true), Ok(vec![Value::int(4321)]));
    assert_eq!(digits(5, 5, false), Ok(vec![Value::int(0)]));
    assert_eq!(digits(7, 2, true), Ok(vec![Value::int(0)]));
}

#[test]
fn endless_work_stops_at_the_step_budget() {
    let program = one(|b| {
        let i = b.counter("i");
        b.push(Stmt::for_range(i, Expr::int(0), Expr::int(1i64 << 40), vec![]));
    });
    assert_eq!(run(&program, &[], vec![]), Err(FaultKind::OutOfSteps));
    let huge = one(|b| {
        let r = b.var("r", Ty::array(u8s(1), 1 << 40));
        b.assign(Place::local(r).at(3).at(0), Expr::word(8, 1));
    });
    assert_eq!(run(&huge, &[], vec![]), Err(FaultKind::OutOfSteps));
    assert_eq!(eval(Expr::repeat(Expr::word(8, 0), Len::Const(1 << 40))), Err(FaultKind::OutOfSteps));
}

/// A loop `for i in 0..<4 { s += 1 }` with one invariant built from `i` and `s`.
fn with_invariant(invariant: impl FnOnce(Expr, Expr) -> Expr) -> (Result<Vec<Value>, FaultKind>, u64) {
    let program = one(|b| {
        let (i, s) = (b.counter("i"), b.ret("s", Ty::int()));
        b.assign(Place::local(s), Expr::int(0));
        let next = b.get(s) + Expr::int(1);
        let invariants = vec![invariant(Expr::int_local(i), b.get(s))];
        let (lo, hi, loc) = (Expr::int(0), Expr::int(4), Loc::default());
        let body = vec![Stmt::assign(Place::local(s), next)];
        b.push(Stmt::For { var: i, lo, hi, rev: false, unroll: Unroll::Auto, invariants, body, loc });
    });
    let mut interp = Interp::with_options(&program, Options::checked());
    let result = interp.call(FuncId(0), &[], vec![]).map_err(|f| f.kind);
    (result, interp.stats().invariants)
}

#[test]
fn invariants_hold_at_entry_and_after_each_step() {
    assert_eq!(with_invariant(|i, s| Expr::cmp(CmpOp::Eq, i, s)), (Ok(vec![Value::int(4)]), 5));
    let (late, count) = with_invariant(|_, s| Expr::cmp(CmpOp::Lt, s, Expr::int(4)));
    assert_eq!((late, count), (Err(FaultKind::Invariant { position: 0 }), 5));
    let (early, count) = with_invariant(|_, s| Expr::cmp(CmpOp::Gt, s, Expr::int(0)));
    assert_eq!((early, count), (Err(FaultKind::Invariant { position: 0 }), 1));
}

#[test]
fn out_of_bounds_reads_and_writes_fault() {
    for (index, write) in [(4i64, false), (-1, false), (4, true), (-1, true)] {
        let program = one(|b| {
            let (x, r) = (b.param("x", u8s(4)), b.ret("r", u8s(4)));
            let whole = b.get(x);
            b.assign(Place::local(r), whole);
            let (from, to) = if write { (0, index) } else { (index, 0) };
            let src = b.read(Place::local(x).index(Expr::int(from)));
            b.assign(Place::local(r).index(Expr::int(to)), src);
        });
        let fault = FaultKind::IndexOutOfBounds { index: Int::from(index), len: 4 };
        assert_eq!(run(&program, &[], vec![Value::from_bytes(&[0; 4])]), Err(fault));
    }
    let program = one(|b| {
        let (x, r) = (b.param("x", u8s(4)), b.ret("r", u8s(2)));
        let part = b.read(Place::local(x).slice(Expr::int(3), 2));
        b.assign(Place::local(r), part);
    });
    let fault = FaultKind::SliceOutOfBounds { off: Int::from(3), count: 2, len: 4 };
    assert_eq!(run(&program, &[], vec![Value::from_bytes(&[0; 4])]), Err(fault));
}

#[test]
fn undefined_elements_fault_when_read_or_returned() {
    let read_back = |assigned: &[u64], read: u64| {
        let program = one(|b| {
            let (x, r) = (b.var("x", u8s(3)), b.ret("r", Ty::Word(8)));
            for i in assigned {
                b.assign(Place::local(x).at(*i), Expr::word(8, 7));
            }
            let e = b.read(Place::local(x).at(read));
            b.assign(Place::local(r), e);
        });
        run(&program, &[], vec![])
    };
    assert_eq!(read_back(&[1], 1), Ok(vec![Value::word(7u8)]));
    let undefined = |p: &str| FaultKind::Undefined { place: p.to_string() };
    assert_eq!(read_back(&[1], 2), Err(undefined("x")));
    assert_eq!(read_back(&[], 0), Err(undefined("x")));
    let partial = one(|b| {
        let r = b.ret("r", u8s(2));
        b.assign(Place::local(r).at(0), Expr::word(8, 1));
    });
    assert_eq!(run(&partial, &[], vec![]), Err(undefined("r")));
    let after_loop = one(|b| {
        let (i, r) = (b.counter("i"), b.ret("r", Ty::int()));
        b.push(Stmt::for_range(i, Expr::int(0), Expr::int(3), vec![Stmt::assign(Place::local(r), Expr::int_local(i))]));
        b.assign(Place::local(r), Expr::int_local(i));
    });
    assert_eq!(run(&after_loop, &[], vec![]), Err(undefined("i")));
}

#[test]
fn declared_ranges_are_checked_at_every_flow() {
    let leaves = |r: &Result<Vec<Value>, FaultKind>| matches!(r, Err(FaultKind::RangeLeft { .. }));
    let into = |ty: Ty, path: &dyn Fn(LocalId) -> Place, v: i64| {
        let program = one(|b| {
            let r = b.var("r", ty);
            b.assign(path(r), Expr::int(v));
        });
        run(&program, &[], vec![])
    };
    let whole = |r| Place::local(r);
    assert!(leaves(&into(limb(), &whole, 65536)) && into(limb(), &whole, 65535).is_ok());
    let first = |r| Place::local(r).at(0);
    assert!(leaves(&into(Ty::array(limb(), 2), &first, -1)) && into(Ty::array(limb(), 2), &first, 0).is_ok());
    let (narrow, wide) = (Range::new(0, 3), Range::new(0, 9));
    let each = Ty::Array { elem: Box::new(Ty::Int(Some(wide.clone()))), len: Len::Const(2), ranges: Some(vec![narrow, wide]) };
    let second = |r| Place::local(r).slice(Expr::int(0), 2).slice(Expr::int(1), 1).at(0);
    assert!(leaves(&into(each.clone(), &first, 9)) && into(each.clone(), &second, 9).is_ok());
    assert!(leaves(&into(each, &second, 10)));
    let param = one(|b| {
        b.param("x", limb());
    });
    assert!(matches!(run(&param, &[], vec![Value::int(-1)]), Err(FaultKind::BadArgument { .. })));
    let noted = Expr::new(ExprKind::Un(UnOp::Neg, Box::new(Expr::int(5))), Ty::Int(Some(Range::new(0, 9))));
    assert!(matches!(eval(noted), Err(FaultKind::RangeLeft { .. })));
}

#[test]
fn ranges_of_callee_parameters_bind_the_caller() {
    let mut program = Program::default();
    let callee = add(&mut program, "callee", |b| {
        b.param("x", limb());
    });
    add(&mut program, "caller", |b| {
        b.call(vec![], callee, vec![], vec![Expr::int(65536)]);
    });
    assert!(matches!(run(&program, &[], vec![]), Err(FaultKind::RangeLeft { place, .. }) if place == "x"));
}

#[test]
fn arguments_from_outside_are_checked_to_the_last_element() {
    let program = one(|b| {
        let n = b.len("n");
        b.param("x", Ty::Array { elem: Box::new(Ty::Word(8)), len: Len::Param { param: n, add: -2 }, ranges: None });
    });
    let bad = |lens: &[u64], v: Value| matches!(run(&program, lens, vec![v]), Err(FaultKind::BadArgument { .. }));
    assert_eq!(run(&program, &[5], vec![Value::from_bytes(&[1, 2, 3])]), Ok(vec![]));
    assert!(bad(&[4], Value::from_bytes(&[1, 2, 3])));
    assert!(bad(&[1], Value::from_bytes(&[])));
    assert!(bad(&[5], Value::words(&[1u32, 2, 256])));
    assert!(bad(&[5], Value::ints([1, 2, 3])));
    assert!(bad(&[], Value::from_bytes(&[])));
}

/// `square(x) = x * x` and a function `y = x*x + slip` with contracts about it.
fn squaring(slip: i64) -> Program {
    let place = |id| Box::new(SpecExpr::Place(Place::local(LocalId(id))));
    let mut program = Program::default();
    let body = SpecExpr::Bin(SpecOp::Mul, Box::new(SpecExpr::Var(0)), Box::new(SpecExpr::Var(0)));
    program.specs.push(SpecFn { name: "square".into(), params: vec!["x".into()], body, loc: Loc::default() });
    add(&mut program, "f", |b| {
        let (x, y) = (b.param("x", Ty::int()), b.ret("y", Ty::int()));
        let e = b.get(x) * b.get(x) + Expr::int(slip);
        b.assign(Place::local(y), e);
        let zero = Box::new(SpecExpr::Int(0.into()));
        b.contract(ContractKind::Requires, SpecExpr::Cmp(CmpOp::Ge, place(0), zero), "x >= 0");
        let square = Box::new(SpecExpr::Call(SpecId(0), vec![*place(0)]));
        let modulus = Box::new(SpecExpr::Int(7.into()));
        b.contract(ContractKind::Ensures, SpecExpr::Congruent(place(1), square, modulus), "y = x^2 mod 7");
    });
    program
}

#[test]
fn contracts_are_checked_with_their_values_shown() {
    assert_eq!(run(&squaring(0), &[], vec![Value::int(5)]), Ok(vec![Value::int(25)]));
    assert_eq!(run(&squaring(7), &[], vec![Value::int(5)]), Ok(vec![Value::int(32)]));
    let fault = Interp::with_options(&squaring(1), Options::checked()).call(FuncId(0), &[], vec![Value::int(5)]);
    let text = fault.expect_err("26 is not 25 mod 7").to_string();
    assert_eq!(text, "ensures not met: y = x^2 mod 7 in f\n  x = 5\n  y = 26");
    let kind = FaultKind::Contract { kind: ContractKind::Requires, text: "x >= 0".into() };
    assert_eq!(run(&squaring(0), &[], vec![Value::int(-5)]), Err(kind));
    assert!(Interp::new(&squaring(1)).call(FuncId(0), &[], vec![Value::int(-5)]).is_ok());
}

#[test]
fn a_contract_beyond_the_budget_is_counted_not_judged() {
    let program = squaring(1);
    let options = Options { spec_steps: 3, ..Options::checked() };
    let mut interp = Interp::with_options(&program, options);
    assert!(interp.call(FuncId(0), &[], vec![Value::int(5)]).is_ok());
    assert_eq!((interp.stats().contracts, interp.stats().contracts_unevaluated), (1, 1));
}

#[test]
fn each_call_is_judged_when_it_is_first_made_whatever_is_left() {
    let judged = |spec_steps, inner_spec_steps| {
        let mut program = squaring(0);
        let caller = add(&mut program, "g", |b| {
            let y = b.ret("y", Ty::int());
            b.call(vec![Place::local(y)], FuncId(0), vec![], vec![Expr::int(7)]);
            let i = b.counter("i");
            let body = b.block(|b| {
                b.call(vec![Place::local(y)], FuncId(0), vec![], vec![Expr::int_local(i)]);
            });
            b.push(Stmt::for_range(i, Expr::int(0), Expr::int(4), body));
        });
        let mut interp = Interp::with_options(&program, Options { spec_steps, inner_spec_steps, ..Options::checked() });
        assert!(interp.call(caller, &[], vec![]).is_ok());
        assert_eq!(interp.stats().contracts + interp.stats().contracts_unevaluated + interp.stats().inner_unevaluated, 10);
        (interp.judged(FuncId(0)), interp.judged(caller))
    };
    assert_eq!(judged(100, 1000), (5, 1));
    assert_eq!(judged(100, 0), (2, 1));
    // What `f` ensures is too long, then also what it requires of its caller.
    assert_eq!(judged(3, 1000), (0, 1));
    assert_eq!(judged(1, 1000), (0, 0));
    assert_eq!(judged(0, 0), (0, 0));
    let program = squaring(0);
    let mut interp = Interp::new(&program);
    assert!(interp.call(FuncId(0), &[], vec![Value::int(5)]).is_ok());
    assert_eq!(interp.judged(FuncId(0)), 0);
}

#[test]
fn what_a_call_does_not_meet_names_the_caller() {
    let program = squaring(1);
    let caller = |arg: i64| {
        let mut with = program.clone();
        let id = add(&mut with, "g", |b| {
            let y = b.ret("y", Ty::int());
            b.push(Stmt::Call { dsts: vec![Place::local(y)], func: FuncId(0), lens: vec![], args: vec![Expr::int(arg)], loc: Loc { line: 7, ..Loc::default() } });
        });
        let fault = Interp::with_options(&with, Options::checked()).call(id, &[], vec![]).expect_err("neither is met");
        (fault.func.clone(), fault.call.clone())
    };
    assert_eq!(caller(-1), ("f".into(), Some(("g".into(), Loc { line: 7, ..Loc::default() }))));
    // What `f` ensures is its own.
    assert_eq!(caller(5), ("f".into(), None));
    let fault = Interp::with_options(&program, Options::checked()).call(FuncId(0), &[], vec![]).expect_err("no argument");
    assert_eq!(fault.call, None);
}

#[test]
fn asserts_fail_tests_and_name_their_locals() {
    let mut program = one(|b| {
        let x = b.var("x", Ty::int());
        b.assign(Place::local(x), Expr::int(3));
        let cond = Expr::cmp(CmpOp::Eq, b.get(x), Expr::int(4));
        b.push(Stmt::assert(cond, "x == 4"));
    });
    program.add_test("three is four", FuncId(0));
    let fault = Interp::new(&program).run_test(&program.tests[0]).expect_err("it is not");
    assert_eq!(fault.kind, FaultKind::Assertion { text: "x == 4".into() });
    assert_eq!(fault.values, vec![("x".to_string(), Value::int(3))]);
}

#[test]
fn malformed_programs_fault_and_never_panic() {
    let internal = |p: &Program| matches!(run(p, &[], vec![]), Err(FaultKind::Internal { .. }));
    let assigns = |e: Expr| one(|b| { let r = b.ret("r", Ty::int()); b.assign(Place::local(r), e); });
    assert!(internal(&assigns(Expr::int_local(LocalId(77)))));
    assert!(internal(&assigns(Expr::read(Place::constant(ConstId(0)), &Ty::int()))));
    let field_of_int = one(|b| {
        let (x, r) = (b.var("x", Ty::int()), b.ret("r", Ty::int()));
        b.assign(Place::local(x), Expr::int(1));
        b.assign(Place::local(r), Expr::read(Place::local(x).field(2), &Ty::int()));
    });
    assert!(internal(&field_of_int));
    assert!(internal(&assigns(Expr::new(ExprKind::Const((-1).into()), Ty::Word(8)))));
    assert!(internal(&assigns((0..1000).fold(Expr::int(1), |e, _| -e))));
    let mut recursive = Program::default();
    add(&mut recursive, "f", |b| {
        b.call(vec![], FuncId(0), vec![], vec![]);
    });
    assert!(internal(&recursive));
    let deep = (0..1000).fold(Vec::new(), |body, _| vec![Stmt::if_else(Expr::bool(true), body, vec![])]);
    assert!(internal(&one(|b| b.func_mut().body = deep)));
}

/// The deepest run the limits allow fits the stack of a test thread (2 MiB), debug build included.
#[test]
fn the_deepest_legal_run_fits_a_small_stack() {
    let mut program = Program::default();
    let leaf = (0..santoku_ir::limits::EXPR_DEPTH as u32 - 2).fold(Expr::int(1), |e, _| -e);
    let mut callee = add(&mut program, "f0", |b| {
        let r = b.ret("r", Ty::int());
        b.assign(Place::local(r), leaf);
    });
    for i in 1..=santoku_ir::limits::RUN_DEPTH {
        callee = add(&mut program, &format!("f{i}"), |b| {
            let r = b.ret("r", Ty::int());
            let call = Stmt::Call { dsts: vec![Place::local(r)], func: callee, lens: vec![], args: vec![], loc: Loc::default() };
            let nested = (0..4).fold(vec![call], |body, _| vec![Stmt::if_else(Expr::bool(true), body, vec![])]);
            b.func_mut().body = nested;
        });
    }
    let mut interp = Interp::new(&program);
    let depth_ok = santoku_ir::limits::RUN_DEPTH as u32 / 6 - 1;
    assert_eq!(interp.call(FuncId(depth_ok), &[], vec![]), Ok(vec![Value::int(1)]));
    let fault = interp.call(callee, &[], vec![]).expect_err("too deep");
    assert!(matches!(fault.kind, FaultKind::Internal { .. }));
}

#[test]
fn deep_specifications_stop_at_the_budget_not_at_the_stack() {
    let mut program = Program::default();
    let down = SpecExpr::Bin(SpecOp::Sub, Box::new(SpecExpr::Var(0)), Box::new(SpecExpr::Int(1.into())));
    let body = SpecExpr::If(
        Box::new(SpecExpr::Cmp(CmpOp::Eq, Box::new(SpecExpr::Var(0)), Box::new(SpecExpr::Int(0.into())))),
        Box::new(SpecExpr::Int(0.into())),
        Box::new(SpecExpr::Bin(SpecOp::Add, Box::new(SpecExpr::Int(1.into())), Box::new(SpecExpr::Call(SpecId(0), vec![down])))),
    );
    program.specs.push(SpecFn { name: "count".into(), params: vec!["n".into()], body, loc: Loc::default() });
    let count = |n: u32| {
        let mut none = |_: &Place| Ok(Value::Undef);
        santoku_ir::spec_eval::SpecRun::new(&program, 1 << 20, &mut none).apply(SpecId(0), vec![Value::int(n)])
    };
    assert_eq!(count(500), Ok(Value::int(500)));
    assert_eq!(count(100_000), Err(santoku_ir::spec_eval::SpecStop::Budget));
}

#[test]
fn bits_of_specifications_are_those_of_integers_that_are_not_negative() {
    let program = Program::default();
    let of = |op, a: i64, b: i64| {
        let mut none = |_: &Place| Ok(Value::Undef);
        let e = SpecExpr::Bin(op, Box::new(SpecExpr::Int(a.into())), Box::new(SpecExpr::Int(b.into())));
        santoku_ir::spec_eval::SpecRun::new(&program, 1 << 20, &mut none).eval(&e)
    };
    assert_eq!([SpecOp::And, SpecOp::Or, SpecOp::Xor].map(|op| of(op, 12, 10)), [8, 14, 6].map(|v: u32| Ok(Value::int(v))));
    assert!(of(SpecOp::Xor, -1, 1).is_err() && of(SpecOp::And, 1, -1).is_err());
}

/// `f(x, n) = f(x, n - 1) + f(x, n - 2)` takes a step for each n, also where the first argument is an array.
#[test]
fn a_recursion_that_comes_by_the_same_arguments_goes_each_way_once() {
    let mut program = Program::default();
    let (var, int) = (|v: u32| Box::new(SpecExpr::Var(v)), |v: i64| Box::new(SpecExpr::Int(v.into())));
    let again = |k: i64| Box::new(SpecExpr::Call(SpecId(0), vec![SpecExpr::Var(0), SpecExpr::Bin(SpecOp::Sub, var(1), int(k))]));
    let body = SpecExpr::If(
        Box::new(SpecExpr::Cmp(CmpOp::Lt, var(1), int(2))),
        Box::new(SpecExpr::Index(var(0), var(1))),
        Box::new(SpecExpr::Bin(SpecOp::Add, again(1), again(2))),
    );
    program.specs.push(SpecFn { name: "fib".into(), params: vec!["x".into(), "n".into()], body, loc: Loc::default() });
    let mut none = |_: &Place| Ok(Value::Undef);
    let args = vec![Value::from_bytes(&[0, 1]), Value::int(90u32)];
    let found = santoku_ir::spec_eval::SpecRun::new(&program, 5_000, &mut none).apply(SpecId(0), args);
    assert_eq!(found, Ok(Value::int(2_880_067_194_370_816_120u64)));
}
