//! `santoku lab`: what it prints in the source tree, and what it refuses.

mod support;
use expect_test::expect;
use std::process::Command;
use support::{Run, Sandbox};

/// In the source tree.
fn lab(args: &[&str]) -> Run {
    let out = Command::new(env!("CARGO_BIN_EXE_santoku")).arg("lab").args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    Run::of(out)
}

#[test]
fn a_profile_lists_functions_by_their_own_cycles() {
    let run = lab(&["profile", "ecdsa.p256"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = run.stdout.lines().collect();
    let cells = |line: &str| line.split('|').map(|c| c.trim().to_string()).filter(|c| !c.is_empty()).collect::<Vec<_>>();
    assert_eq!(cells(lines[0]), ["function", "calls", "self", "share", "with callees"]);
    assert_eq!(cells(lines[2])[0], "field_fep256_mont64_mul", "multiplication takes most");
    let own: Vec<u64> = lines[2..lines.len() - 1].iter().map(|l| cells(l)[2].parse().unwrap()).collect();
    assert!(own.len() > 5 && own.is_sorted_by(|a, b| a >= b), "{own:?}");
    let total: u64 = lines.last().and_then(|l| l.strip_suffix(" cycles")).unwrap().parse().unwrap();
    assert!(own.iter().sum::<u64>() <= total);
}

#[test]
fn a_profile_as_json_has_these_fields() {
    let s = Sandbox::new(&[]);
    let picture = s.path("flames.svg");
    let run = lab(&["profile", "ecdsa.p256", "--json", "-o", &picture]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let rows: Vec<std::collections::BTreeMap<String, serde_json::Value>> = serde_json::from_str(&run.stdout).unwrap();
    assert!(rows.len() > 5);
    for row in &rows {
        assert_eq!(row.keys().collect::<Vec<_>>(), ["calls", "function", "inclusive_cycles", "self_cycles"]);
    }
    assert!(s.read("flames.svg").contains("field_fep256_mont64_mul"));
}

#[test]
fn programs_of_the_matrix_are_listed_one_a_line() {
    let run = lab(&["certify", "--list"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let names: std::collections::BTreeSet<&str> = run.stdout.lines().collect();
    assert_eq!(names.len(), run.stdout.lines().count(), "each once");
    for name in ["nacl.sign@rv32", "nacl.sign@host64", "ecdsa.p256@ckb", "cipher.chacha20@portable"] {
        assert!(names.contains(name), "{names:?}");
    }
    assert_eq!(lab(&["certify", "nacl.sign", "--list"]).code, 2, "a name chooses nothing here");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let refused = |args: &[&str], want: expect_test::Expect| {
        let run = lab(args);
        want.assert_eq(&run.stderr);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    };
    refused(&["table", "nacl.box"], expect![[r#"
        error[bad-option]: there is no table `nacl.box`
         |
         = try: there are: nacl.sign (e31, host), ecdsa.p256 (ckb), cipher.rectangle (host), cipher.chacha20 (host)

        1 error
    "#]]);
    refused(&["table", "ecdsa.p256", "--machine", "e31"], expect![[r#"
        error[bad-option]: there is no table `ecdsa.p256 on e31`
         |
         = try: there are: nacl.sign (e31, host), ecdsa.p256 (ckb), cipher.rectangle (host), cipher.chacha20 (host)

        1 error
    "#]]);
    refused(&["table", "nacl.sign", "--levels", "O2,O9"], expect![[r#"
        error[bad-option]: `O9` is no level
         |
         = try: levels: O0, O1, O2, O3, Os; separate them by commas

        1 error
    "#]]);
    refused(&["ablate", "nacl.sign", "--target", "z80"], expect![[r#"
        error[unknown-target]: there is no target `z80`
         |
         = targets: aarch64, ckb, cortex-m0, cortex-m3, cortex-m4, host64, portable, portable64, powerpc, rv32, rv32-spark, rv64, rv64im, s390x
         = try: choose one of these, or write a file `targets/<target>.toml`

        1 error
    "#]]);
    refused(&["ablate", "ecdsa.p256"], expect![[r#"
        error[bad-option]: there is no ablation `ecdsa.p256 on e31`
         |
         = try: there are: nacl.sign on e31

        1 error
    "#]]);
    refused(&["profile", "cipher.chacha20"], expect![[r#"
        error[bad-option]: there is no profile `cipher.chacha20`
         |
         = try: there are: nacl.sign on e31, ecdsa.p256 on ckb

        1 error
    "#]]);
    let outside = Sandbox::new(&[]).run(&["lab", "table", "nacl.sign"]);
    expect![[r#"
        error[missing-file]: there is no file `lib/primitives.toml`
         |
         = try: this command works inside the source tree of the library

        1 error
    "#]].assert_eq(&outside.stderr);
    assert_eq!(outside.code, 2);
}
