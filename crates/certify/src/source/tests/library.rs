//! Functions of the library, as they are after all passes.
#![allow(clippy::result_large_err)] // A failure ends the test.

use super::agree::{compare, Compared, Env};
use crate::source::abi::signature;
use crate::source::{inputs, Lengths, Rng, Source, Stop};
use crate::term::Terms;
use santoku_driver::{check, Request};
use santoku_ir::visit::map_exprs;
use santoku_ir::{BinOp, ExprKind, FuncId, Program, Ty};
use santoku_passes::{optimise, Level, PassOptions};
use std::collections::BTreeSet;
use std::path::PathBuf;

fn final_ir(entry: &str, target: &str, level: Level) -> Program {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut load = |path: &str| Ok(std::fs::read_to_string(root.join(path)).ok());
    let target = santoku_target::built_in(target).expect("right").expect("compiled in");
    let word = target.word_bits;
    let request = Request { roots: vec!["lib".into()], ..Request::new(entry, target) };
    let checked = check(&request, &mut load).unwrap_or_else(|e| panic!("{entry}: {e:?}"));
    let options = PassOptions { keep_tests: false, ..PassOptions::new(level, word) };
    optimise(&checked.program, level, &BTreeSet::new(), &options).unwrap_or_else(|e| panic!("{entry}: {e}")).program
}

fn find(p: &Program, part: &str) -> FuncId {
    let at = p.funcs.iter().position(|f| f.name == part || f.name.ends_with(&format!(".{part}")));
    let names: Vec<&str> = p.funcs.iter().map(|f| f.name.as_str()).collect();
    FuncId(at.unwrap_or_else(|| panic!("no {part} in {names:?}")) as u32)
}

fn agrees(p: &Program, name: &str, lens: &[u64]) -> Compared {
    let done = compare(p, p, find(p, name), Lengths::Fixed(lens), 7).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(done.valid, "{name}: preconditions");
    assert!(done.scalars > 0 && done.varying > 0, "{name}: {done:?}");
    assert_eq!(done.differing, 0, "{name}: {done:?}");
    done
}

/// Operations on words turned into others.
fn mutant(p: &Program, name: &str) -> Program {
    let mut q = p.clone();
    let f = &mut q.funcs[find(p, name).0 as usize];
    let mut changed = 0;
    map_exprs(&mut f.body, &mut |e| {
        if let (ExprKind::Bin(op, ..), Ty::Word(_)) = (&mut e.kind, &e.ty) {
            let other = match op {
                BinOp::Add => BinOp::Sub,
                BinOp::Sub => BinOp::Add,
                BinOp::Xor | BinOp::And => BinOp::Or,
                BinOp::Or => BinOp::And,
                _ => return,
            };
            *op = other;
            changed += 1;
        }
    });
    assert!(changed > 0, "{name}: nothing to change");
    q
}

/// The function agrees with itself, and its mutant is seen to differ.
fn agrees_and_its_mutant_does_not(p: &Program, name: &str) {
    agrees(p, name, &[]);
    let q = mutant(p, name);
    match compare(&q, p, find(p, name), Lengths::Fixed(&[]), 7) {
        Ok(done) => assert!(done.differing > 0, "{name}: {done:?}"),
        // A mutant may leave the ranges that were proved of the original.
        Err(stop) => assert!(matches!(stop, Stop::Sample(_)), "{name}: {stop}"),
    }
}

#[test]
fn field_arithmetic() {
    let p = final_ir("lib/nacl/sign.stk", "rv32", Level::O2);
    for name in ["fe25519_saturated32.mul", "fe25519_saturated32.square", "curve.ed25519.double"] {
        agrees(&p, name, &[]);
    }
    let p = final_ir("lib/nacl/sign.stk", "host64", Level::O2);
    agrees(&p, "fe25519_radix51.mul", &[]);
}

#[test]
fn recoding_and_tables() {
    let p = final_ir("lib/nacl/sign.stk", "rv32", Level::Os);
    agrees_and_its_mutant_does_not(&p, "ed25519_comb.recode");
    // Its precondition is met by tables of the program alone; its index is a public variable.
    agrees(&p, "ed25519_comb.term", &[]);
}

#[test]
fn fixed_lengths_and_reduction() {
    let p = final_ir("lib/nacl/sign.stk", "rv32", Level::O2);
    agrees(&p, "sha512.first_block$32", &[150]);
    agrees(&p, "sha512.tail$32", &[150]);
    agrees(&p, "sc25519.reduce64", &[]);
}

#[test]
fn compression() {
    let p = final_ir("lib/nacl/sign.stk", "host64", Level::Os);
    let done = compare(&p, &p, find(&p, "sha512.compress"), Lengths::Fixed(&[]), 2).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((done.scalars, done.varying, done.differing), (16, 8, 0));
}

/// A point that no random value is comes from a caller.
#[test]
fn preconditions_met_by_callers_alone() {
    let p = final_ir("lib/nacl/sign.stk", "portable", Level::O2);
    agrees(&p, "ed25519.add_niels", &[]);
}

/// Every function of these programs, its calls cut: samples that meet its preconditions are found, and it is executed to
/// its end or to a loop over a length. A compression of SHA-512 is too large where its words are not named.
#[test]
fn all_functions_with_calls_cut() {
    let (mut ended, mut calls, mut loops, mut large) = (0, 0, vec![], vec![]);
    for (entry, target, level) in [
        ("lib/nacl/sign.stk", "rv32", Level::O2),
        ("lib/nacl/sign.stk", "host64", Level::Os),
        ("lib/ecdsa/p256.stk", "ckb", Level::O2),
    ] {
        let p = final_ir(entry, target, level);
        for (k, f) in p.funcs.iter().enumerate() {
            let (mut terms, func) = (Terms::new(32, 5), FuncId(k as u32));
            let xlen = if target == "rv32" { 32 } else { 64 };
            let seen = signature(&p, f, xlen).unwrap_or_else(|e| panic!("{}: {e}", f.name));
            assert_eq!(seen.args.len() + usize::from(seen.returned.is_some()), f.rets.len() + f.lens.len() + f.params.len());
            let made = inputs(&p, &mut terms, func, Lengths::Symbolic, &mut Rng::new(1)).unwrap_or_else(|e| panic!("{}: {e}", f.name));
            assert!(made.valid, "{}", f.name);
            let env = Env { cut: (0..k as u32).map(FuncId).collect(), ..Env::of(&made) };
            let mut source = Source::new(&p, &mut terms, &env);
            source.limits.terms = 400_000;
            let done = source.run(func, &made.lens, made.args);
            calls += source.calls.len();
            match done {
                Ok(_) => ended += 1,
                Err(Stop::Loop(name, ..)) => loops.push(name),
                Err(Stop::TooBig) => large.push(f.name.clone()),
                Err(stop) => panic!("{}: {stop}", f.name),
            }
            assert_eq!(terms.broken(), None, "{}", f.name);
        }
    }
    println!("{ended} executed to the end, {calls} calls cut, loops in {loops:?}, too large {large:?}");
    assert!(ended > 120 && calls > 3000 && loops.len() < 12);
    let expected = ["compress"];
    assert!(large.len() < 12 && large.iter().all(|name| expected.iter().any(|e| name.contains(e))), "{large:?}");
}
