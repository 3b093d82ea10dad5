//! The formatter keeps the tree and the comments, keeps to its columns, and is a fixed point of itself.

use santoku_diag::FileId;
use santoku_syntax::{format, parse};
use std::path::{Path, PathBuf};

/// The tree as text, without its spans.
fn shape(text: &str) -> String {
    let (file, errors) = parse(FileId(0), text);
    assert!(errors.is_empty(), "{errors:#?}\n{text}");
    let debug = format!("{file:?}");
    let mut out = String::new();
    let mut rest = debug.as_str();
    while let Some(i) = rest.find("Span {") {
        out += &rest[..i];
        // `Span { file: FileId(0), start: 1, end: 2 }`
        rest = &rest[i + rest[i..].find('}').unwrap() + 1..];
    }
    out + rest
}

fn comments(text: &str) -> Vec<String> {
    let code = text.lines().filter_map(|l| l.find("//").map(|i| l[i..].trim_end().to_string()));
    code.collect()
}

/// Formats, checks everything that must hold of the result, and returns it.
fn checked(text: &str) -> String {
    let once = format(FileId(0), text).unwrap_or_else(|e| panic!("{e:#?}\n{text}"));
    assert_eq!(shape(&once), shape(text), "the tree changed:\n{text}\n---\n{once}");
    assert_eq!(comments(&once), comments(text), "comments changed:\n{text}\n---\n{once}");
    let twice = format(FileId(0), &once).unwrap();
    assert_eq!(once, twice, "not a fixed point:\n{text}");
    once
}

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
