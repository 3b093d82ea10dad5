//! The shipped C under valgrind's memcheck, with all secrets marked as undefined: no branch and no address depends on one, as gcc and clang compile
//! it for this machine. (For RISC-V, `santoku certify` proves it.)

mod support;

use santoku_skips::{checked, installed, seeds};
use std::process::Command;
use support::{c_file, shipped_file, shipped_unit, CALLED};

const COMPILERS: [&str; 2] = ["gcc", "clang-19"];
const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];

/// The C of a unit in which verdicts are marked as defined: those that are declassified, and those of `crypto_verify_*`, which are what these functions
/// give; without optimisation, the C around them makes 0 or -1 of a verdict by a branch.
fn with_verdicts(unit: &str) -> String {
    let shown = shown_by(shown_by(shipped_unit(unit), " auth_same_"), " santoku_verify_");
    format!("#include <valgrind/memcheck.h>\n{shown}")
}

/// The text in which functions whose names begin so show the verdict that they give.
fn shown_by(mut text: String, prefix: &str) -> String {
    let mut from = 0;
    while let Some(at) = text[from..].find(prefix).map(|k| from + k) {
        from = at + 1;
        let word = text[from..].split('(').next().unwrap_or_default().to_string();
        let declassifies = word.starts_with("auth_same_is_same_") || word == "auth_same_verdict" || word.starts_with("santoku_verify_");
        let line = text[from..].split('\n').next().unwrap_or_default();
        if declassifies && !line.ends_with(';') && line.ends_with(')') {
            let end = from + text[from..].find("\n}\n").expect("the end of a function");
            let at = from + text[from..end].rfind("return ").expect("it gives a verdict");
            let value = text[at + "return ".len()..end].trim_end_matches(';').to_string();
            text.replace_range(at..end, &format!("{{ uint32_t seen = {value}; (void)VALGRIND_MAKE_MEM_DEFINED(&seen, sizeof seen); return seen; }}"));
        }
    }
    text
}

/// What memcheck says, and what the program does: `Ok` with the number of calls.
fn run(compiler: &str, level: &str, told: &[&str], spoil: &dyn Fn(String) -> String) -> Result<usize, String> {
    let dir = tempfile::tempdir().expect("scratch folder");
    let mut cc = Command::new(compiler);
    cc.args(["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-gdwarf-4", level]).args(told).arg("-o").arg(dir.path().join("program"));
    for unit in CALLED {
        let c = dir.path().join(format!("{unit}.c"));
        std::fs::write(&c, spoil(with_verdicts(unit))).expect("written");
        std::fs::write(dir.path().join(format!("{unit}.h")), shipped_file(unit, "h")).expect("written");
        cc.arg(c);
    }
    let made = cc.arg("-I").arg(dir.path()).arg(c_file("memcheck.c")).output().unwrap_or_else(|e| panic!("{compiler}: {e}"));
    assert!(made.status.success(), "{cc:?}:\n{}", String::from_utf8_lossy(&made.stderr));
    let ran = Command::new("valgrind").args(["-q", "--error-exitcode=99", "--track-origins=no"]).arg(dir.path().join("program")).output().expect("valgrind");
    let said = String::from_utf8_lossy(&ran.stderr).to_string();
    match ran.status.code() {
        Some(0) => Ok(String::from_utf8_lossy(&ran.stdout).trim().parse().expect("a number of calls")),
        Some(99) => Err(said),
        other => panic!("{compiler} {level}: {other:?}: {said}{}", String::from_utf8_lossy(&ran.stdout)),
    }
}

#[test]
fn no_branch_or_address_depends_on_a_secret() {
    if installed(&["valgrind"]).is_empty() {
        return;
    }
    let mut calls = 0;
    for (k, compiler) in COMPILERS.into_iter().enumerate() {
        for level in seeds::one(LEVELS, 2 * k) {
            calls += run(compiler, level, &[], &|text| text).unwrap_or_else(|e| panic!("{compiler} {level}:\n{e}"));
        }
    }
    checked(calls, "calls with undefined secrets");
}

/// A comparison that ends at the first difference, and a secret index: found.
#[test]
fn a_branch_and_an_index_are_found() {
    if installed(&["valgrind"]).is_empty() {
        return;
    }
    let loop_of = "diff |= (uint64_t)a[k] ^ (uint64_t)b[k];";
    let early = |text: String| text.replace(loop_of, "if (a[k] != b[k]) return 0;\n                diff |= (uint64_t)a[k] ^ (uint64_t)b[k];");
    assert!(with_verdicts("nacl").contains(loop_of));
    let found = run("gcc", "-O1", &[], &early).expect_err("an early end is a branch on a secret");
    assert!(found.contains("Conditional jump or move depends on uninitialised value"), "{found}");
    let found = run("gcc", "-O1", &["-DTWIN_INDEX"], &|text| text).expect_err("an index is an address");
    assert!(found.contains("Use of uninitialised value"), "{found}");
    checked(2, "leaks found");
}
