//! Integers at the ends of C's types: loops between bounds of run time that are empty, reversed or next to an end, and exact
//! arithmetic whose values and intermediate values reach the ends. C under sanitizers against the interpreter.

mod support;

use num_bigint::BigInt;
use num_traits::{One, Signed};
use santoku_backend_c::EmitError;
use santoku_ir::build::FuncBuilder;
use santoku_ir::gen::Rng;
use santoku_ir::interp::{Int, Value};
use santoku_ir::{BinOp, CmpOp, Expr, Func, FuncId, LocalId, LocalKind, Place, Program, Range, Stmt, Ty, Unroll};
use santoku_skips::{installed, seeds};
use std::collections::BTreeMap;
use support::{annotated, build, call, differing, edges, random, Call, Mode, Subject, COMPILERS};

/// Lengths and arguments of one call.
type Input = (Vec<u64>, Vec<Value>);

/// Elements that count the rounds of a loop: one more is out of bounds, which a sanitizer sees.
const ROUNDS: u64 = 64;

fn pow2(k: u32) -> BigInt {
    BigInt::one() << k
}

/// The quotient rounded down; `d` is positive.
/// A number at an end of a type of at most `bits` bits, or small.
fn end(rng: &mut Rng, bits: u32) -> BigInt {
    let k = *rng.pick(&[0, 7, 8, 15, 16, 31, 31, 32, 32, 63, 63, 64, 64, 127, 128]);
    let off = BigInt::from(rng.below(7)) - 3;
    match rng.below(3) {
        _ if k == 0 || k > bits => off,
        0 if k < bits => off - pow2(k),
        _ => off + pow2(k),
    }
}

/// Is there a C type of at most `bits` bits for it?
fn fits(r: &Range, bits: u32) -> bool {
    let signed = || Range::new(-pow2(bits - 1), pow2(bits - 1) - 1);
    (if r.lo.is_negative() { signed() } else { Range::word(bits) }).contains(r)
}

/// A range about an end, or from one to another.
fn range(rng: &mut Rng, bits: u32) -> Range {
    loop {
        let (a, b) = (end(rng, bits), end(rng, bits));
        let b = if rng.one_in(2) { b } else { &a + BigInt::from(rng.below(12)) };
        let r = Range::new(a.clone().min(b.clone()), a.max(b));
        if fits(&r, bits) {
            return r;
        }
    }
}

/// A bound of a loop: `param + param * twice + add`, or a constant.
struct Bound {
    expr: Expr,
    param: Option<Range>,
    add: BigInt,
}

impl Bound {
    /// From `below` under `near`, at times to another end.
    fn new(rng: &mut Rng, b: &mut FuncBuilder<'_>, name: &str, near: &BigInt, below: u64, bits: u32) -> Bound {
        let add = BigInt::from(rng.below(5)) - 2;
        if rng.one_in(4) {
            return Bound { expr: Expr::int(near + &add), param: None, add: near + add };
        }
        let mut r = Range::new(near - BigInt::from(below), near + BigInt::from(1 + rng.below(6)));
        if rng.one_in(4) {
            let other = end(rng, bits);
            r = r.join(&Range::new(other.clone(), other));
        }
        let id = b.local(LocalKind::Param, name, Ty::Int(Some(r.clone())), true);
        let add = if rng.one_in(2) { BigInt::from(0) } else { add };
        let expr = if add == BigInt::from(0) { Expr::int_local(id) } else { Expr::int_local(id) + Expr::int(add.clone()) };
        Bound { expr, param: Some(r), add }
    }

    /// A value of the parameter, and that of the bound.
    fn value(&self, rng: &mut Rng, near: Option<&BigInt>) -> (Option<BigInt>, BigInt) {
        let Some(r) = &self.param else { return (None, self.add.clone()) };
        let v = match near {
            Some(n) if !rng.one_in(3) => {
                let v: BigInt = n - &self.add + rng.below(12) - 3;
                v.clamp(r.lo.to_big(), r.hi.to_big())
            }
            _ => rng.int_in(r),
        };
        let bound = &v + &self.add;
        (Some(v), bound)
    }
}

/// Folds the counter into the digest, and counts the round in `rounds`.
fn round(b: &FuncBuilder<'_>, digest: LocalId, rounds: LocalId, i: LocalId, first: &Expr) -> Vec<Stmt> {
    let word = Expr::int_local(i).cast(Ty::Word(64));
    let at = Place::local(rounds).index(Expr::int_local(i) - first.clone());
    vec![
        Stmt::assign(Place::local(digest), b.get(digest).rotl(7) + word.clone()),
        Stmt::assign(at.clone(), Expr::read(at, &Ty::Word(8)) + word.cast(Ty::Word(8)) + Expr::word(8, 1)),
    ]
}

/// One loop, at times with another about its counter, and calls of it that make few rounds or none.
fn loops(rng: &mut Rng, bits: u32) -> (Program, Vec<Input>) {
    let program = Program::default();
    let mut b = FuncBuilder::new(&program, "f");
    let near = if rng.one_in(3) { -pow2(*rng.pick(&[31, 63])) } else { end(rng, bits) };
    let below = if rng.one_in(2) { 0 } else { rng.below(6) };
    let lo = Bound::new(rng, &mut b, "lo", &near, below, bits);
    let other = if rng.one_in(4) { end(rng, bits) } else { near };
    let hi = Bound::new(rng, &mut b, "hi", &other, below, bits);
    let (digest, rounds) = (b.ret("d", Ty::Word(64)), b.ret("r", Ty::array(Ty::Word(8), ROUNDS)));
    b.assign(Place::local(digest), Expr::word(64, 1));
    b.assign(Place::local(rounds), Expr::repeat(Expr::word(8, 0), santoku_ir::Len::Const(ROUNDS)));
    let i = b.counter("i");
    let mut body = round(&b, digest, rounds, i, &lo.expr);
    if rng.one_in(3) {
        let j = b.counter("j");
        let (down, up) = (BigInt::from(rng.below(4)) - 2, BigInt::from(rng.below(4)) - 1);
        let word = Expr::int_local(j).cast(Ty::Word(64));
        let inner = vec![Stmt::assign(Place::local(digest), b.get(digest).rotl(3) ^ word)];
        let about = |k: BigInt| Expr::int_local(i) + Expr::int(k);
        body.push(a_loop(rng, j, about(down), about(up), inner));
    }
    let (lo_expr, hi_expr) = (lo.expr.clone(), hi.expr.clone());
    let made = a_loop(rng, i, lo_expr, hi_expr, body);
    b.push(made);
    let mut inputs = vec![];
    for _ in 0..40 {
        let (a, from) = lo.value(rng, None);
        let (b, to) = hi.value(rng, Some(&from));
        if &to - &from <= BigInt::from(ROUNDS) {
            inputs.push((vec![], a.into_iter().chain(b).map(|v| Value::Int(Int::from(v))).collect()));
        }
    }
    (of(b.finish()), inputs)
}

/// The same about a length: `rev 0 ..< n + n - 5`.
fn length_loops(rng: &mut Rng) -> (Program, Vec<Input>) {
    let program = Program::default();
    let mut b = FuncBuilder::new(&program, "f");
    let n = b.len("n");
    let (digest, rounds) = (b.ret("d", Ty::Word(64)), b.ret("r", Ty::array(Ty::Word(8), ROUNDS)));
    b.assign(Place::local(digest), Expr::word(64, 1));
    b.assign(Place::local(rounds), Expr::repeat(Expr::word(8, 0), santoku_ir::Len::Const(ROUNDS)));
    let i = b.counter("i");
    let bound = |rng: &mut Rng| {
        let k = BigInt::from(rng.below(9)) - 6;
        match rng.below(4) {
            0 => Expr::int(k),
            1 => Expr::int_local(n) + Expr::int(k),
            2 => Expr::int_local(n) + Expr::int_local(n) + Expr::int(k),
            _ => Expr::int(k) - Expr::int_local(n),
        }
    };
    let (lo, hi) = (bound(rng), bound(rng));
    let body = round(&b, digest, rounds, i, &lo);
    let made = a_loop(rng, i, lo, hi, body);
    b.push(made);
    (of(b.finish()), (0..12).map(|n| (vec![n], vec![])).collect())
}

fn a_loop(rng: &mut Rng, var: LocalId, lo: Expr, hi: Expr, body: Vec<Stmt>) -> Stmt {
    Stmt::For { var, lo, hi, rev: !rng.one_in(3), unroll: Unroll::Never, invariants: vec![], body, loc: santoku_ir::Loc::default() }
}

fn of(func: Func) -> Program {
    let mut p = Program { files: vec!["generated.stk".into()], ..Program::default() };
    p.add_func(func);
    p
}

/// Exact arithmetic over parameters and constants at the ends.
struct Sums<'r> {
    rng: &'r mut Rng,
    leaves: Vec<(Expr, Range)>,
    public: bool,
    bits: u32,
}

impl Sums<'_> {
    fn leaf(&mut self) -> (Expr, Range) {
        if self.rng.one_in(4) {
            loop {
                let v = end(self.rng, self.bits);
                let r = Range::new(v.clone(), v.clone());
                if fits(&r, self.bits) {
                    return (Expr::int(v), r);
                }
            }
        }
        self.rng.pick(&self.leaves).clone()
    }

    fn int(&mut self, depth: u32) -> (Expr, Range) {
        if depth == 0 {
            return self.leaf();
        }
        let (a, ra) = self.int(depth - 1);
        let k = *self.rng.pick(&[1, 2, 7, 8, 16, 31, 32, 33, 63, 64, 65, 127]);
        let made = match self.rng.below(10) {
            0 => (-a.clone(), ra.neg()),
            1 => (a.clone().shl(k), ra.shl(k)),
            2 => (a.clone().shr(k), ra.shr(k)),
            3 => (a.clone() & Expr::int(pow2(k) - 1), Range::new(0, pow2(k) - 1)),
            4 | 5 if self.public => self.divided(a.clone(), &ra),
            6 if !self.public => {
                let bits = *self.rng.pick(&[1, 7, 8, 31, 32, 33, 63, 64]);
                (a.clone().cast(Ty::Word(bits)).cast(Ty::int()), Range::new(0, pow2(bits) - 1))
            }
            op => {
                let (b, rb) = self.int(depth - 1);
                match op {
                    7 => (a.clone() - b, ra.sub(&rb)),
                    8 => (a.clone() * b, ra.mul(&rb)),
                    9 => {
                        let c = Expr::cmp(CmpOp::Lt, a.clone(), b.clone());
                        (Expr::select(c, a.clone(), b), ra.join(&rb))
                    }
                    _ => (a.clone() + b, ra.add(&rb)),
                }
            }
        };
        if fits(&made.1, self.bits) { made } else { (a, ra) }
    }

    fn divided(&mut self, a: Expr, r: &Range) -> (Expr, Range) {
        let d = if self.rng.one_in(3) { BigInt::from(1 + self.rng.below(12)) } else { end(self.rng, self.bits).abs() + 1 };
        if self.rng.one_in(2) {
            return (Expr::bin(BinOp::Div, a, Expr::int(d.clone())), r.div_floor(&Int::from(&d)).expect("a positive divisor"));
        }
        (Expr::bin(BinOp::Mod, a, Expr::int(d.clone())), Range::new(0, d - 1))
    }
}

fn sums(rng: &mut Rng, bits: u32) -> (Program, Vec<Input>) {
    let program = Program::default();
    let mut b = FuncBuilder::new(&program, "f");
    let public = rng.one_in(2);
    let mut leaves = vec![];
    for name in ["x", "y"] {
        let r = range(rng, bits);
        let id = b.local(LocalKind::Param, name, Ty::Int(Some(r.clone())), public);
        leaves.push((Expr::int_local(id), r));
    }
    let depth = 1 + rng.below(3) as u32;
    let mut g = Sums { rng, leaves, public, bits };
    let (e, r) = g.int(depth);
    let (other, _) = g.int(1);
    let op = *g.rng.pick(&[CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le, CmpOp::Gt, CmpOp::Ge]);
    let word = *g.rng.pick(&[1, 8, 24, 32, 33, 64]);
    let (out, less, low) = (b.ret("r", Ty::Int(Some(r))), b.ret("c", Ty::Bool), b.ret("w", Ty::Word(word)));
    b.assign(Place::local(out), e.clone());
    b.assign(Place::local(less), Expr::cmp(op, e.clone(), other));
    b.assign(Place::local(low), e.cast(Ty::Word(word)));
    let p = of(b.finish());
    let inputs = random(&p, FuncId(0), 8, 3).into_iter().chain(edges(&p, FuncId(0))).collect();
    (p, inputs)
}

/// Quotients and remainders about both ends of one type, and its least literal beside them.
fn divisions(rng: &mut Rng, bits: u32) -> (Program, Vec<Input>) {
    let program = Program::default();
    let mut b = FuncBuilder::new(&program, "f");
    let k = *rng.pick(&[32, 64, 128]).min(&bits);
    let (least, greatest) = (-pow2(k - 1), pow2(k - 1) - 1);
    let r = Range::new(&least + rng.below(2), &greatest - rng.below(3));
    let x = b.local(LocalKind::Param, "x", Ty::Int(Some(r.clone())), true);
    let c = b.param("c", Ty::Bool);
    for n in 0..2 {
        let d = if rng.one_in(2) { BigInt::from(2 + rng.below(10)) } else { &greatest - (rng.below(9) * rng.below(1 << 26)) };
        let quotient = Ty::Int(Some(r.div_floor(&Int::from(&d)).expect("a positive divisor")));
        let (q, m) = (b.ret(format!("q{n}"), quotient), b.ret(format!("m{n}"), Ty::Int(Some(Range::new(0, &d - 1)))));
        b.assign(Place::local(q), Expr::bin(BinOp::Div, Expr::int_local(x), Expr::int(d.clone())));
        b.assign(Place::local(m), Expr::bin(BinOp::Mod, Expr::int_local(x), Expr::int(d)));
    }
    let s = b.ret("s", Ty::Int(Some(Range::new(least.clone(), greatest))));
    b.assign(Place::local(s), Expr::select(b.get(c), Expr::int_local(x), Expr::int(least)));
    let p = of(b.finish());
    let inputs = random(&p, FuncId(0), 20, 5).into_iter().chain(edges(&p, FuncId(0))).collect();
    (p, inputs)
}

#[derive(Default)]
struct Count {
    programs: BTreeMap<&'static str, usize>,
    calls: usize,
    refused: usize,
}

fn run(seeds: std::ops::Range<u64>, count: &mut Count) {
    let (mut subjects, mut calls): (Vec<Subject>, Vec<Call>) = (vec![], vec![]);
    for seed in seeds {
        let mut rng = Rng::new(seed ^ 0x656e_6473);
        let bits = if seed % 3 == 0 { 64 } else { 128 };
        let (kind, (program, inputs)) = match seed % 8 {
            0..=2 => ("sums", sums(&mut rng, bits)),
            3 => ("divisions", divisions(&mut rng, bits)),
            4 => ("loops about a length", length_loops(&mut rng)),
            _ => ("loops", loops(&mut rng, bits)),
        };
        let ranged = annotated(&program);
        match Subject::on(&format!("e{seed}"), program, ranged, bits) {
            Ok(s) => {
                subjects.push(s);
                let k = subjects.len() - 1;
                calls.extend(inputs.into_iter().map(|(lens, args)| call(&subjects, k, 0, &lens, args)));
                *count.programs.entry(kind).or_default() += 1;
            }
            // An intermediate value, or a bound one beyond the end, is of no type of C.
            Err(EmitError::TooWide { .. } | EmitError::Unsupported { .. } | EmitError::Storage { .. }) => count.refused += 1,
            Err(e) => panic!("e{seed}: {e}"),
        }
    }
    let mut ran = 0;
    for compiler in installed(&seeds::one(COMPILERS, 1)) {
        let program = build(compiler, &subjects, Mode::Strict).unwrap_or_else(|e| panic!("{e}"));
        let wrong = differing(&program, &calls).unwrap_or_else(|e| panic!("{compiler}: {e}"));
        let shown: Vec<&str> = wrong.iter().take(5).map(|c| c.what()).collect();
        let text = wrong.first().map_or(String::new(), |c| subjects[c.subject()].text());
        assert!(wrong.is_empty(), "{compiler}: {} of {} calls differ: {shown:#?}\n{text}", wrong.len(), calls.len());
        ran += 1;
    }
    assert!(ran > 0, "no compiler");
    count.calls += calls.len() * ran;
}

fn print(c: &Count) {
    println!("tried: {} calls of {:?}; {} of no type of C", c.calls, c.programs, c.refused);
}

#[test]
fn loops_and_sums_at_the_ends_of_types_compute_what_the_interpreter_does() {
    let mut count = Count::default();
    run(0..120, &mut count);
    print(&count);
    let least = count.programs.values().copied().min().unwrap_or(0);
    assert!(count.programs.len() == 4 && least > 10 && count.calls > 2_000, "{:?}", count.programs);
}

#[test]
#[ignore = "long"]
fn soak_loops_and_sums_at_the_ends_of_types() {
    let mut count = Count::default();
    let (first, n) = (seeds::first(), seeds::count(2_000));
    for from in (0..n).step_by(200) {
        run(first + from..first + (from + 200).min(n), &mut count);
    }
    print(&count);
    assert!(count.calls > 0);
}
