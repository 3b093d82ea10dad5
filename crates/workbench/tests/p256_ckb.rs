//! The shipped verification on P-256 in CKB-VM: every published vector, and a spoiled twin.

mod support;

use santoku_lab::bench::Subject;
use santoku_target::Level;
use santoku_workbench::dist::folder;
use santoku_workbench::table::{Bench, Vectors};
use santoku_workbench::BenchError;
use std::process::Command;
use std::sync::OnceLock;
use support::{shipped_unit, tree};

const NAME: &str = "ecdsa.p256";
const UNIT: &str = "p256_ecdsa_verify";

fn bench() -> &'static Bench {
    static BENCH: OnceLock<Bench> = OnceLock::new();
    BENCH.get_or_init(|| support::bench(NAME, "ckb"))
}

/// Cycles of the workloads, and of the vectors that are taken.
fn measured(text: String, compiler: Option<&str>, take: &dyn Fn(usize) -> bool) -> Result<(Vec<u64>, Vectors), BenchError> {
    let subject = bench().subject(&tree(), "shipped", text)?;
    let (line, mut built) = bench().line(&Subject { level: Level::O3, compiler: compiler.map(str::to_string), ..subject })?;
    let vectors = bench().vectors("verify-valid", built.as_mut(), take)?;
    Ok((line.measures.iter().map(|m| m.cycles).collect(), vectors))
}

#[test]
fn all_vectors_are_judged_rightly_in_the_vm_within_the_promised_cycles() {
    let (cycles, vectors) = measured(shipped_unit(UNIT), None, &|_| true).unwrap_or_else(|e| panic!("{e}"));
    println!("CKB-VM: {} vectors, {} accepted; {cycles:?} cycles", vectors.ran, vectors.accepted);
    assert_eq!(vectors.ran, 241);
    assert!(vectors.accepted > 100 && vectors.accepted < vectors.ran);
    for n in cycles.into_iter().chain([vectors.spread[2]]) {
        assert!((400_000..=1_600_000).contains(&n), "{n} cycles");
    }
}

#[test]
fn gcc_agrees_on_a_part_of_the_vectors() {
    let (_, vectors) = measured(shipped_unit(UNIT), Some("riscv-gcc"), &|n| n % 6 == 0).unwrap_or_else(|e| panic!("{e}"));
    assert!(vectors.accepted > 20 && vectors.accepted < vectors.ran);
}

#[test]
fn a_wrong_constant_is_a_wrong_result() {
    let source = shipped_unit(UNIT);
    // The lowest limb of the group order (FIPS 186-4, D.1.2.3), wherever it is used.
    let spoiled = source.replace("f3b9cac2fc632551", "f3b9cac2fc632553");
    assert_ne!(source, spoiled, "the constant is in the file");
    let found = measured(spoiled, None, &|_| true);
    assert!(matches!(found, Err(BenchError::WrongResult { .. })), "{:?}", found.map(|r| r.0));
}

#[test]
fn shipped_files_compile_without_a_warning() {
    let scratch = tempfile::tempdir().expect("scratch folder");
    let mut compiled = 0;
    for unit in tree().shipped().expect("declared").into_iter().map(|p| p.unit) {
        for compiler in ["gcc", "clang-19"] {
            let mut cc = Command::new(compiler);
            cc.args(["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-c", "-o"]).arg(scratch.path().join("o.o"));
            let out = cc.arg(tree().root.join(folder(&unit)).join(format!("{unit}.c"))).output().expect("the compiler runs");
            assert!(out.status.success(), "{compiler}: {}", String::from_utf8_lossy(&out.stderr));
            compiled += 1;
        }
    }
    assert!(compiled >= 12, "{compiled}");
}
