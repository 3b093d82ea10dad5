//! The library in our own language: every level is validated, nothing is put back, results stay the same.

use santoku_ir::interp::Interp;
use santoku_ir::Program;
use santoku_passes::{Level, PassOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

fn compile(entry: &str, impls: &[(&str, &str)]) -> Program {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut load = |path: &str| std::fs::read_to_string(root.join(path)).ok();
    let impls: BTreeMap<String, String> = impls.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect();
    let options = santoku_sema::Options { impls };
    match santoku_sema::compile(entry, &["lib".to_string()], &mut load, &options) {
        Ok(done) => done.program,
        Err(failed) => panic!("{entry}: {:#?}", failed.diagnostics),
    }
}

/// Optimises and gives what the steps did: functions changed, put back or not accepted by the judge.
fn run(p: &Program, level: Level) -> (Program, usize, Vec<String>) {
    let started = std::time::Instant::now();
    let clock = || started.elapsed().as_micros() as u64;
    let options = PassOptions::new(level, 32);
    let done = santoku_passes::optimise_with(p, level, &BTreeSet::new(), &options, &mut |_, _| {}, &clock);
    let done = done.unwrap_or_else(|e| panic!("{level}: {e}"));
    let changed = done.steps.iter().map(|s| s.changed.len()).sum();
    let put_back = done.steps.iter().flat_map(|s| s.reverted.iter().map(|(f, why)| format!("{level} {} {f}: {why}", s.pass)));
    let believed = done.believed().map(|(pass, f, why)| format!("{level} {pass} {f}: not accepted by the judge: {why}"));
    let again = done.again.believed.iter().map(|(f, why)| format!("{level} {f}: the second look does not accept it: {why}"));
    assert!(done.again.scalars > 0 && done.again.accepted + done.again.believed.len() == done.again.asked);
    let put_back = put_back.chain(believed).chain(again).collect();
    if std::env::var_os("SANTOKU_TIMES").is_some() {
        eprintln!("{level} second look: {:?}", done.again);
        for s in &done.steps {
            eprintln!("{level} {:16} {:4} changed {:9} nodes {:8} us", s.pass, s.changed.len(), s.nodes, s.micros);
        }
    }
    (done.program, changed, put_back)
}

fn tests_agree(p: &Program, q: &Program) -> usize {
    let (mut a, mut b) = (Interp::new(p), Interp::new(q));
    for (t, u) in p.tests.iter().zip(&q.tests) {
        assert_eq!(t.name, u.name);
        assert!(a.run_test(t).is_ok(), "{} fails before any pass", t.name);
        assert!(b.run_test(u).is_ok(), "{} fails after the passes", t.name);
    }
    p.tests.len().min(q.tests.len())
}

fn whole(entry: &str, impls: &[(&str, &str)], levels: &[Level]) {
    let p = compile(entry, impls);
    for &level in levels {
        let (q, changed, put_back) = run(&p, level);
        assert!(changed > 0, "{entry} {level}");
        assert!(put_back.is_empty(), "{entry}: {put_back:#?}");
        assert!(tests_agree(&p, &q) > 0 || p.tests.is_empty(), "{entry}");
    }
}

#[test]
fn sha512() {
    whole("lib/hash/sha512.stk", &[], &[Level::O1, Level::O2, Level::O3, Level::Os]);
}

#[test]
fn field_in_16_limbs() {
    whole("lib/field/fe25519_radix16.stk", &[], &[Level::O1, Level::O2, Level::O3, Level::Os]);
}

#[test]
fn field_in_10_limbs() {
    whole("lib/field/fe25519_radix25_5.stk", &[], &[Level::O2, Level::Os]);
}

#[test]
fn field_in_5_limbs() {
    whole("lib/field/fe25519_radix51.stk", &[], &[Level::O2, Level::Os]);
}

#[test]
fn chacha20() {
    whole("lib/cipher/chacha20.stk", &[], &[Level::O2, Level::O3]);
}

#[test]
fn nacl_sign() {
    whole("lib/nacl/sign.stk", &[], &[Level::O2, Level::Os]);
}

#[test]
fn ecdsa_p256() {
    whole("lib/ecdsa/p256.stk", &[], &[Level::O1, Level::O2, Level::O3]);
}

#[test]
fn rectangle() {
    whole("lib/cipher/rectangle.stk", &[], &[Level::O2, Level::Os]);
}

#[test]
fn p256_field() {
    whole("lib/field/fep256_mont64.stk", &[], &[Level::O2, Level::Os]);
}
