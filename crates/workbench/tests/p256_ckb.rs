//! The shipped P-256 verification in CKB-VM and on this machine's compilers: every published vector, and a spoiled twin.

mod support;

use santoku_target::Level;
use santoku_workbench::p256::{compiler, figures, program, vectors, VmProgram};
use santoku_workbench::BenchError;
use std::process::Command;
use support::tree;

const UNIT: &str = "p256_ecdsa_verify";

fn text(extension: &str) -> String {
    let path = tree().root.join(santoku_workbench::dist::folder(UNIT)).join(format!("{UNIT}.{extension}"));
    std::fs::read_to_string(path).expect("the shipped file is there")
}

fn build(source: &str, name: Option<&str>) -> VmProgram {
    let cross = compiler(&tree(), name).unwrap_or_else(|e| panic!("{e}"));
    program(UNIT, source, &text("h"), &cross, Level::O3).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn all_vectors_are_judged_rightly_in_the_vm_within_the_promised_cycles() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 241);
    let run = figures(&build(&text("c"), None), &vectors, Level::O3).unwrap_or_else(|e| panic!("{e}"));
    println!("CKB-VM: {} vectors, {} accepted; valid {} cycles, invalid {}", run.vectors, run.accepted, run.valid, run.invalid);
    assert!(run.accepted > 100 && run.accepted < run.vectors);
    for cycles in [run.valid, run.invalid, run.spread[2]] {
        assert!((400_000..=1_600_000).contains(&cycles), "{cycles} cycles");
    }
    assert_eq!(run.profile.run.cycles, run.valid, "profiling costs nothing");
}

#[test]
fn gcc_agrees_on_a_part_of_the_vectors() {
    let some: Vec<_> = vectors().into_iter().step_by(6).collect();
    let run = figures(&build(&text("c"), Some("riscv-gcc")), &some, Level::O3).unwrap_or_else(|e| panic!("{e}"));
    assert!(run.accepted > 20 && run.accepted < some.len());
}

#[test]
fn a_wrong_constant_is_a_wrong_result() {
    let source = text("c");
    // The lowest limb of the group order (FIPS 186-4, D.1.2.3), wherever it is used.
    let order = "f3b9cac2fc632551";
    let spoiled = source.replace(order, "f3b9cac2fc632553");
    assert_ne!(source, spoiled, "the constant is in the file");
    let found = figures(&build(&spoiled, None), &vectors(), Level::O3);
    assert!(matches!(found, Err(BenchError::WrongResult { .. })), "{:?}", found.map(|r| r.valid));
}

#[test]
fn the_shipped_file_compiles_without_a_warning() {
    let folder = tree().root.join(santoku_workbench::dist::folder(UNIT));
    let scratch = tempfile::tempdir().expect("scratch folder");
    for compiler in ["gcc", "clang-19"] {
        let mut cc = Command::new(compiler);
        cc.args(["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-c", "-o"]).arg(scratch.path().join("o.o"));
        let out = cc.arg(folder.join(format!("{UNIT}.c"))).output().expect("the compiler runs");
        assert!(out.status.success(), "{compiler}: {}", String::from_utf8_lossy(&out.stderr));
    }
}
