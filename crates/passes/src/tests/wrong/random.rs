//! Random mistakes in passes over random programs: whatever is kept must do what the program did.

use super::{options, passes, WRONG};
use crate::run::run_passes;
use crate::{find, Level, Pass, TABLE};
use num_bigint::BigInt;
use santoku_ir::gen::{program_with, Config};
use santoku_ir::interp::{Interp, Options};
use santoku_ir::visit::{map_exprs, rewrite_stmts};
use santoku_ir::{BinOp, CmpOp, Expr, ExprKind, FuncId, LocalId, LocalKind, Place, Program, Range, Ty};
use santoku_prove::equiv::{random_inputs, Rng};
use santoku_skips::seeds;
use std::cell::Cell;

thread_local! {
    /// Which mistake; the same at every run of the pass over one program.
    static SEED: Cell<u64> = const { Cell::new(0) };
}

/// One change of a program.
pub fn with_seed(seed: u64, p: &mut Program) {
    SEED.set(seed);
    mistake(p);
}

fn mistake(p: &mut Program) {
    let mut rng = Rng::new(SEED.get());
    let busy: Vec<usize> = (0..p.funcs.len()).filter(|at| !p.funcs[*at].body.is_empty()).collect();
    let Some(&at) = busy.get(rng.below(busy.len() as u64) as usize) else { return };
    match rng.below(8) {
        0 => drop_statement(p, at, &mut rng),
        1 => narrow_local(p, at, &mut rng),
        _ => change_expression(p, at, &mut rng),
    }
}

fn drop_statement(p: &mut Program, at: usize, rng: &mut Rng) {
    let mut all = 0;
    santoku_ir::visit::walk_stmts(&p.funcs[at].body, &mut |_| all += 1);
    let (nth, mut seen) = (rng.below(all), 0);
    rewrite_stmts(&mut p.funcs[at].body, &mut |s| {
        seen += 1;
        if seen == nth + 1 { Vec::new() } else { vec![s] }
    });
}

/// A fresh variable may have any range; one that was there may not.
fn narrow_local(p: &mut Program, at: usize, rng: &mut Rng) {
    let locals = &mut p.funcs[at].locals;
    let vars: Vec<usize> = (0..locals.len()).filter(|l| matches!(locals[*l].kind, LocalKind::Var | LocalKind::Counter)).collect();
    let Some(&l) = vars.get(rng.below(vars.len() as u64) as usize) else { return };
    match &mut locals[l].ty {
        Ty::Int(Some(r)) => r.hi = r.lo.add(&r.hi).shr(1),
        ty @ Ty::Int(None) => *ty = Ty::Int(Some(Range::new(0, rng.below(300)))),
        Ty::Word(_) | Ty::Bool | Ty::Array { .. } | Ty::Struct(_) => {}
    }
}

fn change_expression(p: &mut Program, at: usize, rng: &mut Rng) {
    let locals = p.funcs[at].locals.clone();
    let mut all = 0;
    map_exprs(&mut p.funcs[at].body, &mut |_| all += 1);
    let (nth, mut seen, how) = (rng.below(all), 0, rng.below(1 << 20));
    map_exprs(&mut p.funcs[at].body, &mut |e| {
        seen += 1;
        if seen == nth + 1 {
            change(e, how, &locals);
        }
    });
}

fn change(e: &mut Expr, how: u64, locals: &[santoku_ir::Local]) {
    if let (Ty::Int(Some(r)), 0) = (&mut e.ty, how % 3) {
        r.hi = r.lo.add(&r.hi).shr(1);
        return;
    }
    let word = |ty: &Ty| matches!(ty, Ty::Word(_));
    match &mut e.kind {
        ExprKind::Const(v) if e.ty == Ty::Bool => *v = BigInt::from(1) - &*v,
        ExprKind::Const(v) => *v += 1,
        ExprKind::Read(place) if place.projs.is_empty() => {
            let same: Vec<usize> = (0..locals.len()).filter(|l| locals[*l].ty.same_shape(&e.ty)).collect();
            if let Some(l) = same.get(how as usize % same.len().max(1)) {
                *place = Place::local(LocalId(*l as u32));
            }
        }
        ExprKind::Bin(op, a, b) if word(&e.ty) && !matches!(op, BinOp::Shl | BinOp::Shr | BinOp::Rotl | BinOp::Rotr | BinOp::Div | BinOp::Mod) => {
            let others = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::And, BinOp::Or, BinOp::Xor];
            *op = others[how as usize % others.len()];
            if how % 5 == 0 {
                std::mem::swap(a, b);
            }
        }
        ExprKind::Bin(op @ (BinOp::Add | BinOp::Sub), ..) => *op = if *op == BinOp::Add { BinOp::Sub } else { BinOp::Add },
        ExprKind::Bin(op @ (BinOp::Rotl | BinOp::Rotr), ..) => *op = if *op == BinOp::Rotl { BinOp::Rotr } else { BinOp::Rotl },
        ExprKind::Cmp(op, ..) => {
            let others = [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le, CmpOp::Gt, CmpOp::Ge];
            *op = others[if matches!(op, CmpOp::Eq | CmpOp::Ne) { how as usize % 2 } else { 2 + how as usize % 4 }];
        }
        ExprKind::Select(_, a, b) => std::mem::swap(a, b),
        _ => {}
    }
}

/// An input on which the program runs well and what was made of it does not, or gives something else.
fn first_difference(before: &Program, after: &Program) -> Option<String> {
    let (mut a, mut b) = (Interp::with_options(before, Options::checked()), Interp::with_options(after, Options::checked()));
    for (at, f) in before.funcs.iter().enumerate() {
        let Some(new) = after.find(&f.name) else { continue };
        let mut rng = Rng::new(at as u64 + 3);
        for _ in 0..12 {
            let i = random_inputs(before, f, &mut rng);
            let Ok(x) = a.call(FuncId(at as u32), &i.lens, i.args.clone()) else { continue };
            let y = b.call(new, &i.lens, i.args.clone());
            if y.as_ref().ok() != Some(&x) {
                return Some(format!("{} on {i:?}: {x:?}, then {y:?}", f.name));
            }
        }
    }
    None
}

fn attack(seeds: std::ops::Range<u64>) -> [usize; 3] {
    let (mut refused, mut put_back, mut harmless) = (0, 0, 0);
    for seed in seeds {
        let config = if seed % 2 == 0 { Config::default() } else { Config::plain() };
        let p = program_with(seed / 4, &config);
        let level = Level::ALL[seed as usize % 5];
        let pass = TABLE[(seed as usize / 5) % TABLE.len()];
        WRONG.set((pass.name, mistake));
        SEED.set(seed + 1);
        let broken = Pass { run: super::wrong, ..*find(pass.name).expect("a pass") };
        let all: Vec<&Pass> = passes(level).into_iter().map(|p| if p.name == pass.name { &broken } else { p }).collect();
        match run_passes(&p, &all, &options(level), &mut |_, _| {}, &|| 0) {
            Err(_) => refused += 1,
            Ok(done) => {
                if let Some(why) = first_difference(&p, &done.program) {
                    panic!("seed {seed}, {} at {level}: {why}", pass.name);
                }
                let back = done.steps.iter().any(|s| s.pass == pass.name && !s.reverted.is_empty());
                *(if back { &mut put_back } else { &mut harmless }) += 1;
            }
        }
    }
    [refused, put_back, harmless]
}

#[test]
fn random_mistakes_are_caught_or_harmless() {
    let [refused, put_back, harmless] = attack(0..260);
    println!("tried: 260 random mistakes in passes: {refused} refused, {put_back} put back, {harmless} made no difference");
    assert!(refused > 60 && put_back > 2);
}

#[test]
#[ignore = "long: make soak"]
fn soak_random_mistakes_are_caught_or_harmless() {
    let (first, n) = (seeds::first(), seeds::count(5_000));
    let [refused, put_back, harmless] = attack(first..first + n);
    println!("tried: {n} random mistakes in passes: {refused} refused, {put_back} put back, {harmless} made no difference");
    assert!(refused * 5 > n as usize);
}
