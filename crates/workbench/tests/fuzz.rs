//! The fuzz targets: they build and find nothing in what is shipped, and find an opener that does not look at authenticators.

mod support;

use santoku_skips::{checked, installed};
use std::path::Path;
use std::process::{Command, Output};
use support::tree;

const RUNS: usize = 6000;

/// `tools/fuzz.sh` with files of ours below `dist`.
fn fuzz(dist: &Path, out: &Path) -> Output {
    let mut script = Command::new("bash");
    script.current_dir(tree().root).arg("tools/fuzz.sh").env("RUNS", RUNS.to_string()).env("DIST", dist).env("OUT", out);
    script.output().expect("bash")
}

#[test]
fn fuzz_targets_find_nothing_in_what_is_shipped() {
    if installed(&["clang-19"]).is_empty() {
        return;
    }
    let out = tempfile::tempdir().expect("scratch folder");
    let done = fuzz(&tree().root.join("dist/c"), out.path());
    let said = String::from_utf8_lossy(&done.stdout).to_string();
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    let targets = said.matches(&format!("Done {RUNS} runs, no finding")).count();
    assert!(targets > 0, "{said}");
    checked(targets * RUNS, "inputs of fuzz targets");
}

#[test]
fn fuzz_targets_find_an_opener_that_looks_at_nothing() {
    if installed(&["clang-19"]).is_empty() {
        return;
    }
    let folder = tempfile::tempdir().expect("scratch folder");
    let (dist, out) = (folder.path().join("c"), folder.path().join("out"));
    let copied = Command::new("cp").arg("-r").arg(tree().root.join("dist/c")).arg(&dist).status().expect("cp");
    assert!(copied.success());
    let nacl = dist.join("nacl/nacl.c");
    let text = std::fs::read_to_string(&nacl).expect("shipped");
    let check = "if (!santoku_secretbox_authentic(";
    assert!(text.contains(check));
    std::fs::write(&nacl, text.replace(check, "if (0 && !santoku_secretbox_authentic(")).expect("written");
    let done = fuzz(&dist, &out);
    assert!(!done.status.success(), "a box that nobody sealed is opened, and it is not found");
    assert!(String::from_utf8_lossy(&done.stderr).contains("failed: fuzz target openers"), "{}", String::from_utf8_lossy(&done.stderr));
    checked(1, "wrong openers found");
}
