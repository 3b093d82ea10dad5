//! Functions of the library, as they are after all passes.

use super::agree::{compare, Compared};
use crate::source::{Lengths, Stop};
use santoku_driver::{check, Request, Target};
use santoku_ir::visit::map_exprs;
use santoku_ir::{BinOp, ExprKind, FuncId, Program, Ty};
use santoku_passes::{optimise, Level, PassOptions};
use std::collections::BTreeSet;
use std::path::PathBuf;

fn final_ir(entry: &str, target: &str, level: Level) -> Program {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut load = |path: &str| Ok(std::fs::read_to_string(root.join(path)).ok());
    let text = std::fs::read_to_string(root.join(format!("tuned/{target}.toml"))).expect("a target");
    let target = Target::parse(target, "", &text).expect("a target");
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
    for name in ["fe25519_radix25_5.mul", "fe25519_radix25_5.square", "curve.ed25519.double"] {
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
    agrees(&p, "sha512.first_block$0", &[150]);
    agrees(&p, "sha512.tail$0", &[150]);
    agrees(&p, "sc25519.reduce64", &[]);
}

#[test]
fn show_functions() {
    if std::env::var_os("SANTOKU_SHOW").is_none() {
        return;
    }
    for target in ["rv32", "host64"] {
        let p = final_ir("lib/nacl/sign.stk", target, Level::O2);
        for k in 0..p.funcs.len() {
            let f = &p.funcs[k];
            if !std::env::var("SANTOKU_SHOW").unwrap_or_default().split(',').any(|s| f.name.contains(s)) {
                continue;
            }
            let started = std::time::Instant::now();
            let lens = vec![150u64; f.lens.len()];
            let done = std::panic::catch_unwind(|| compare(&p, &p, FuncId(k as u32), Lengths::Fixed(&lens), 5));
            eprintln!("{target} {:50} {:?} {:?}", f.name, done.map_err(|_| "panic"), started.elapsed());
        }
    }
}
