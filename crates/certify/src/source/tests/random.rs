//! Random programs, the ranges proved of them written in: every function agrees with the interpreter.

use super::agree::compare;
use crate::source::{Lengths, Stop};
use santoku_ir::gen::{program_with, Config};
use santoku_ir::visit::map_exprs;
use santoku_ir::{BinOp, Expr, ExprKind, FuncId, Program, Ty};
use santoku_passes::{find, Level, PassOptions};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

/// A program with the ranges proved of it. Its functions fold all they compute into a result by rotations and sums; the
/// rotations, whose terms grow with every step, become products.
fn annotated(seed: u64) -> Program {
    let small = Config { statements: 3, nesting: 1, depth: 2, ..Config::default() };
    let config = match seed % 3 {
        0 => Config { statements: 4, depth: 2, ..Config::plain() },
        1 => Config { words: vec![1, 7, 8, 24, 33, 64, 65, 127, 128], int_bits: 120, ..small },
        _ => small,
    };
    let mut p = program_with(seed, &config);
    for f in &mut p.funcs {
        map_exprs(&mut f.body, &mut |e| {
            if let (ExprKind::Bin(op @ BinOp::Rotl, _, count), Ty::Word(128)) = (&mut e.kind, &e.ty) {
                if count.as_const() == Some(&42.into()) {
                    *op = BinOp::Mul;
                    **count = Expr::word(128, 0x1_0001);
                }
            }
        });
    }
    let pass = find("derive-width").expect("the pass has this name");
    (pass.run)(&p, &PassOptions::new(Level::O0, 64))
}

/// What came of comparing some programs.
#[derive(Default)]
struct Tried {
    scalars: usize,
    /// Scalars that differ.
    differing: usize,
    /// Why functions were not executed, and how many.
    stopped: BTreeMap<String, usize>,
}

/// All functions of the program of this seed, changed, beside the program as it was.
fn one(seed: u64, change: &dyn Fn(&Program) -> Program) -> Tried {
    let mut tried = Tried::default();
    let p = annotated(seed);
    let q = change(&p);
    for k in 0..p.funcs.len() as u32 {
        let n = p.func(FuncId(k)).lens.len();
        let lens: Vec<u64> = (0..n as u64).map(|k| (seed + 2 * k) % 6).collect();
        match compare(&q, &p, FuncId(k), Lengths::Fixed(&lens), 5) {
            Ok(done) => {
                tried.scalars += done.scalars;
                tried.differing += done.differing;
            }
            Err(stop) => {
                let why = stop.to_string();
                let why = if matches!(stop, Stop::Sample(_)) { "sample".to_string() } else { why };
                *tried.stopped.entry(why).or_default() += 1;
            }
        }
    }
    tried
}

/// The programs of these seeds, two at a time.
fn run(seeds: std::ops::Range<u64>, change: &(dyn Fn(&Program) -> Program + Sync)) -> (usize, usize, BTreeMap<String, usize>) {
    let next = AtomicU64::new(seeds.start);
    let sum = Mutex::new(Tried::default());
    let worker = || loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if !seeds.contains(&seed) {
            return;
        }
        let tried = one(seed, change);
        let mut sum = sum.lock().expect("no thread panicked with it");
        sum.scalars += tried.scalars;
        sum.differing += tried.differing;
        tried.stopped.into_iter().for_each(|(why, n)| *sum.stopped.entry(why).or_default() += n);
    };
    std::thread::scope(|s| {
        s.spawn(worker);
        s.spawn(worker);
    });
    let sum = sum.into_inner().expect("no thread panicked with it");
    (sum.scalars, sum.differing, sum.stopped)
}

#[test]
fn programs_agree_with_the_interpreter() {
    let (scalars, differing, stopped) = run(15..40, &|p| p.clone());
    println!("{scalars} scalars, not executed: {stopped:?}");
    assert!(scalars > 900, "{scalars}");
    assert_eq!(differing, 0);
    let fine = ["no layout: an integer without a range", "no layout: an integer of more than 128 bits"];
    assert!(stopped.keys().all(|why| fine.contains(&why.as_str())), "{stopped:?}");
    assert!(stopped.values().sum::<usize>() < 40, "{stopped:?}");
}

#[test]
fn a_wrong_operation_is_seen() {
    let change = |p: &Program| {
        let mut q = p.clone();
        for f in &mut q.funcs {
            map_exprs(&mut f.body, &mut |e| {
                if let (ExprKind::Bin(op @ BinOp::Xor, ..), true) = (&mut e.kind, e.ty.is_scalar()) {
                    *op = BinOp::And;
                }
            });
        }
        q
    };
    let (scalars, differing, _) = run(0..if santoku_skips::seeds::whole() { 12 } else { 4 }, &change);
    assert!(differing > 0, "{scalars} scalars");
}
