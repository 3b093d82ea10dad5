//! Codes, their registry and their pages are the same set.

use santoku_diag::CODES;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(dir: &Path, out: &mut Vec<String>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("codes.rs") {
            out.push(std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// The text of `crates/*/src`, tests apart.
fn all_sources() -> Vec<String> {
    let mut out = Vec::new();
    let mut crates: Vec<PathBuf> = std::fs::read_dir(root().join("crates")).unwrap().flatten().map(|e| e.path().join("src")).collect();
    crates.sort();
    for dir in crates.iter().filter(|d| d.is_dir()) {
        sources(dir, &mut out);
    }
    out
}

/// The literals that stand directly behind `Diagnostic::error(` and `Diagnostic::warning(`.
fn used_codes(text: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for opener in ["Diagnostic::error(", "Diagnostic::warning("] {
        for (i, _) in text.match_indices(opener) {
            let rest = text[i + opener.len()..].trim_start();
            if let Some(code) = rest.strip_prefix('"').and_then(|r| r.split('"').next()) {
                out.insert(code.to_string());
            }
        }
    }
    out
}

#[test]
fn every_code_used_is_registered() {
    let registered: BTreeSet<&str> = CODES.iter().map(|c| c.0).collect();
    let used: BTreeSet<String> = all_sources().iter().flat_map(|t| used_codes(t)).collect();
    assert!(used.len() > 50, "the scan found only {used:?}");
    let missing: Vec<&String> = used.iter().filter(|c| !registered.contains(c.as_str())).collect();
    assert!(missing.is_empty(), "not in crates/diag/src/codes.rs: {missing:?}");
}

#[test]
fn the_scan_sees_codes_on_the_next_line() {
    let found = used_codes("Diagnostic::error(\n   \"a-b\", x); Diagnostic::warning(\"c\", y); Diagnostic::error(code, z)");
    assert_eq!(found, BTreeSet::from(["a-b".to_string(), "c".to_string()]));
}

#[test]
fn every_registered_code_is_used() {
    let texts = all_sources();
    let unused: Vec<&str> = CODES.iter().map(|c| c.0).filter(|c| !texts.iter().any(|t| t.contains(&format!("\"{c}\"")))).collect();
    assert!(unused.is_empty(), "registered, and nowhere used: {unused:?}");
}

#[test]
fn codes_are_sorted_once_each_and_in_kebab_case() {
    assert!(CODES.windows(2).all(|w| w[0].0 < w[1].0));
    for (code, summary) in CODES {
        assert!(code.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'), "{code}");
        assert!(summary.len() > 10 && !summary.ends_with('.'), "{code}: {summary}");
    }
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let folder = root().join("docs/diagnostics");
    for (code, _) in CODES {
        let page = std::fs::read_to_string(folder.join(format!("{code}.md"))).unwrap_or_else(|e| panic!("{code}.md: {e}"));
        assert!(page.starts_with(&format!("# {code}\n")), "{code}.md does not begin with its code");
        for part in ["\n## Example\n", "\n## The way out\n", "\n```"] {
            assert!(page.contains(part), "{code}.md has no {part:?}");
        }
        let words = page.split_whitespace().count();
        assert!(words >= 30, "{code}.md has only {words} words");
    }
    for entry in std::fs::read_dir(&folder).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let code = name.strip_suffix(".md").unwrap_or_else(|| panic!("{name} is no page"));
        assert!(CODES.iter().any(|c| c.0 == code), "{name} is the page of no code");
    }
}
