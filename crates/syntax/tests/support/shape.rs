//! What the formatter must keep.

use santoku_diag::FileId;
use santoku_syntax::{format, parse};

/// The tree as text, without its spans.
pub fn shape(text: &str) -> String {
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

/// Comments in order; the programs tested have no `//` inside strings.
pub fn comments(text: &str) -> Vec<String> {
    let code = text.lines().filter_map(|l| l.find("//").map(|i| l[i..].trim_end().to_string()));
    code.collect()
}

/// Formats, checks everything that must hold of the result, and returns it.
pub fn checked(text: &str) -> String {
    let once = format(FileId(0), text).unwrap_or_else(|e| panic!("{e:#?}\n{text}"));
    assert_eq!(shape(&once), shape(text), "the tree changed:\n{text}\n---\n{once}");
    assert_eq!(comments(&once), comments(text), "comments changed:\n{text}\n---\n{once}");
    let twice = format(FileId(0), &once).unwrap();
    assert_eq!(once, twice, "not a fixed point:\n{text}");
    once
}
