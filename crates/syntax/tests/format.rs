//! The formatter keeps the tree and the comments, keeps to its columns, and is a fixed point of itself.

use santoku_diag::FileId;
use santoku_syntax::{format, parse};
use std::path::{Path, PathBuf};

#[path = "support/shape.rs"]
mod support;
use support::checked;

#[test]
fn the_reference_sample() {
    let text = include_str!("samples/reference.stk");
    expect_test::expect_file!["samples/reference.formatted.stk"].assert_eq(&checked(text));
}

#[test]
fn ugly_input() {
    let text = include_str!("samples/ugly.stk");
    let out = checked(text);
    expect_test::expect_file!["samples/ugly.formatted.stk"].assert_eq(&out);
    for line in out.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

/// A list of names that fits stays on its line, although the braces behind it are broken.
#[test]
fn what_follows_a_list_may_break_before_and_after_it_is_broken() {
    let once = checked(
        "fn f() -> u8 {\n  let (p, q) = if S { a: (hex\"00 ff\")+(x[2^(16*i)]), b: a_long_name_of_a_value ==> [for i in 0..<4: r.f], c: x } {\n\
         x\n } else { y }\n  p\n}\n",
    );
    assert!(once.contains("let (p, q) = if S {\n"), "{once}");
}

/// The type of a result is not broken where the parameters can be; comments in it stay.
#[test]
fn a_short_array_type_stays_whole() {
    let once = checked("fn a_function_of_messages<n: len in 32..2^31 - 1>(m: [u8; n], nonce: [u8; 24], pk: [u8; 32], k: [u8; 32]) -> [u8; n] {\n  m\n}\n");
    assert!(once.contains("\n  m: [u8; n],\n") && once.contains("\n) -> [u8; n] {\n"), "{once}");
    let commented = checked("fn f(m: [u8; // bytes\n 4]) -> [u8;\n // as many\n 4] {\n  m\n}\n");
    assert!(commented.contains("// bytes") && commented.contains("// as many"), "{commented}");
}

#[test]
fn a_file_with_errors_is_not_formatted() {
    assert!(format(FileId(0), "fn f( {\n").is_err());
}

fn stk_files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && !matches!(entry.file_name().to_str(), Some("target" | ".git")) {
            stk_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "stk") {
            out.push(path);
        }
    }
}

#[test]
fn every_program_of_the_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    stk_files(&root, &mut files);
    files.sort();
    let mut formatted = 0;
    for f in &files {
        // Programs that must be refused may be no programs at all.
        let Ok(text) = std::fs::read_to_string(f) else { continue };
        if parse(FileId(0), &text).1.is_empty() {
            checked(&text);
            formatted += 1;
        }
    }
    assert!(formatted > 0);
}
