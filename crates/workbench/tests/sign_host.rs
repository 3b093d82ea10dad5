//! The shipped `nacl_sign.c` on this machine: both halves, two compilers, sanitizers; published vectors and random runs against
//! two independent libraries.

mod support;

use support::{host_program, nacl, published, random, shipped_source, with_a_wrong_constant};

const HALF32: &str = "-DSANTOKU_32BIT";
const SANITIZERS: [&str; 4] = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// All published vectors and `runs` random cases; nothing may fail.
fn check(compiler: &str, flags: &[&str], runs: usize) {
    let program = host_program(compiler, flags, &shipped_source());
    for (name, cases) in [("RFC 8032 and Wycheproof", published()), ("NaCl", nacl()), ("random", random(runs).to_vec())] {
        let failed = program.run(&cases);
        assert!(failed.is_empty(), "{compiler} {flags:?}: {name}: {} of {} fail: {:?}", failed.len(), cases.len(), &failed[..failed.len().min(5)]);
        println!("{compiler} {flags:?}: {name}: {} records", cases.len());
    }
}

#[test]
fn gcc_64_bit() {
    check("gcc", &["-O2"], 10_000);
}

#[test]
fn gcc_32_bit() {
    check("gcc", &["-O2", HALF32], 10_000);
}

#[test]
fn clang_64_bit() {
    check("clang-19", &["-O2"], 1_000);
}

#[test]
fn clang_32_bit() {
    check("clang-19", &["-O2", HALF32], 1_000);
}

#[test]
fn sanitizers_64_bit() {
    check("clang-19", &SANITIZERS, 200);
}

#[test]
fn sanitizers_32_bit() {
    check("gcc", &[&SANITIZERS[..], &[HALF32]].concat(), 200);
}

#[test]
fn a_wrong_constant_fails_the_vectors() {
    let source = with_a_wrong_constant(&shipped_source());
    for half in [&["-O1"][..], &["-O1", HALF32]] {
        let program = host_program("gcc", half, &source);
        let cases = published();
        let failed = program.run(&cases);
        assert!(failed.iter().filter(|f| f.starts_with("RFC 8032")).count() >= 15, "{half:?}: {failed:?}");
        assert!(failed.iter().any(|f| f.starts_with("Wycheproof")), "{half:?}");
        assert!(!program.run(&random(10)[..5]).is_empty(), "{half:?}");
    }
}

#[test]
fn a_truncated_or_prolonged_output_fails() {
    let cases = &published()[..1];
    assert!(support::failures(cases, &cases[0].expected).is_empty());
    assert!(!support::failures(cases, &cases[0].expected[1..]).is_empty());
    assert!(!support::failures(cases, &[&cases[0].expected[..], &[0]].concat()).is_empty());
}
