//! Lines of the shipped C that calls of its functions reach, by gcov: all of them, or those that no caller can reach, listed with the reason.

mod support;

use santoku_skips::{checked, installed};
use std::collections::BTreeMap;
use std::process::Command;
use support::{c_file, shipped_file, CALLED};


/// What functions do for arguments that their callers never give, which no proof of them may rest on: function, what its lines say, and why.
const UNREACHED: [(&str, &str, &str); 5] = [
    ("onetimeauth_poly1305_rest", "if (start == n) {", "it is called for what is left behind whole blocks, which is something"),
    ("onetimeauth_poly1305_rest", "last[0] = UINT32_C(1);", "as above"),
    ("onetimeauth_poly1305_rest", "last[15] = ", "what is left is shorter than a block"),
    ("aead_chacha20poly1305_filled", "last[15] = ", "as above"),
    ("onetimeauth_ghash_filled", "last[15] = ", "as above"),
];

/// Of one file: lines reached and all, branches taken and all, and each line that is not reached, with its function.
#[derive(Default)]
struct Covered {
    lines: (usize, usize),
    branches: (usize, usize),
    missing: Vec<(String, String)>,
}

/// Runs `c/memcheck.c` with messages of every length below 1,300 bytes and looks at gcov's counts.
fn covered(told: &[&str]) -> BTreeMap<&'static str, Covered> {
    let dir = tempfile::tempdir().expect("scratch folder");
    let ok = |cc: &mut Command| {
        let out = cc.current_dir(dir.path()).output().unwrap_or_else(|e| panic!("{cc:?}: {e}"));
        assert!(out.status.success(), "{cc:?}:\n{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).to_string()
    };
    for unit in CALLED {
        std::fs::write(dir.path().join(format!("{unit}.c")), shipped_file(unit, "c")).expect("written");
        std::fs::write(dir.path().join(format!("{unit}.h")), shipped_file(unit, "h")).expect("written");
        ok(Command::new("gcc").args(["--coverage", "-O0", "-std=gnu99"]).args(told).args(["-c", &format!("{unit}.c")]));
    }
    let objects: Vec<String> = CALLED.iter().map(|u| format!("{u}.o")).collect();
    ok(Command::new("gcc").args(["--coverage", "-O0", "-std=gnu99", "-DEVERY_LENGTH", "-I.", "-o", "program"]).arg(c_file("memcheck.c")).args(&objects));
    ok(&mut Command::new("./program"));
    let mut all = BTreeMap::new();
    for unit in CALLED {
        let json = ok(Command::new("gcov").args(["--branch-probabilities", "--json-format", "--stdout", &format!("{unit}.gcda")]));
        let text = std::fs::read_to_string(dir.path().join(format!("{unit}.c"))).expect("it is there");
        let text: Vec<&str> = text.lines().collect();
        let report: serde_json::Value = json.lines().find_map(|l| serde_json::from_str(l).ok()).expect("gcov's report");
        let mut of = Covered::default();
        for file in report["files"].as_array().expect("files").iter().filter(|f| f["file"] == format!("{unit}.c")) {
            for line in file["lines"].as_array().expect("lines") {
                let reached = line["count"].as_u64() != Some(0);
                of.lines = (of.lines.0 + usize::from(reached), of.lines.1 + 1);
                for branch in line["branches"].as_array().expect("branches") {
                    of.branches = (of.branches.0 + usize::from(branch["count"].as_u64() != Some(0)), of.branches.1 + 1);
                }
                if !reached {
                    let number = line["line_number"].as_u64().expect("a number") as usize;
                    of.missing.push((line["function_name"].as_str().unwrap_or_default().to_string(), text[number - 1].trim().to_string()));
                }
            }
        }
        all.insert(unit, of);
    }
    all
}

#[test]
fn every_line_is_reached() {
    if installed(&["gcov"]).is_empty() {
        return;
    }
    let (mut reached, mut used) = (0, [false; UNREACHED.len()]);
    // With vectors, without, with 32-bit limbs, and the smallest form.
    for told in [&[][..], &["-DSTK_NO_VECTORS"], &["-DSANTOKU_32BIT"], &["-DSANTOKU_SMALL"]] {
        for (unit, of) in covered(told) {
            println!("{unit} {told:?}: {} of {} lines, {} of {} branches", of.lines.0, of.lines.1, of.branches.0, of.branches.1);
            assert!(of.lines.1 > 100, "{unit}: nothing was looked at");
            for (function, line) in &of.missing {
                let known = UNREACHED.iter().position(|(f, l, _)| function.starts_with(f) && line.starts_with(l));
                used[known.unwrap_or_else(|| panic!("{unit} {told:?}: `{line}` of `{function}` is not reached"))] = true;
            }
            reached += of.lines.0;
        }
    }
    assert!(used.iter().all(|u| *u), "lines that are said not to be reached are, or are gone: {used:?}");
    checked(reached, "lines reached");
}
