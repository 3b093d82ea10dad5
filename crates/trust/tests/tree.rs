//! The ledger of this very tree, and of trees that are wrong.

use santoku_trust::{ledger, read, Claim, Source};
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn sources() -> Vec<Source> {
    read(&Path::new(ROOT).join("crates")).expect("the tree is there")
}

fn ours() -> Vec<Claim> {
    let lock = std::fs::read_to_string(Path::new(ROOT).join("Cargo.lock")).expect("there is a lock file");
    ledger(&sources(), &lock).unwrap_or_else(|e| panic!("{e:#?}"))
}

/// Rows `| claim | figure |` of the table of believed lines.
fn written(page: &str) -> Vec<(String, usize)> {
    let text = std::fs::read_to_string(Path::new(ROOT).join(page)).expect("the page is there");
    let (_, table) = text.split_once("<!-- trust -->").unwrap_or_else(|| panic!("{page} has no table of believed lines"));
    let rows = table.lines().skip(1).take_while(|l| l.starts_with('|')).skip(2);
    let row = |l: &str| {
        let cells: Vec<&str> = l.split('|').map(str::trim).collect();
        (cells[1].trim_matches('`').to_string(), cells[2].replace(',', "").parse().unwrap_or_else(|_| panic!("{page}: no figure in `{l}`")))
    };
    rows.map(row).collect()
}

/// What must be written down: the total, rounded up to hundreds, so that growth is seen and small change is not.
fn figure(lines: usize) -> usize {
    lines.div_ceil(100) * 100
}

#[test]
fn the_figures_written_down_are_those_of_the_tree() {
    let wanted: Vec<(String, usize)> = ours().iter().map(|c| (c.name.clone(), figure(c.lines))).collect();
    for page in ["SOUNDNESS.md", "README.md"] {
        assert_eq!(written(page), wanted, "{page} does not say what `santoku trust` counts, rounded up to hundreds");
    }
}

#[test]
fn a_hundred_lines_more_are_seen() {
    let before = ours();
    let mut more = sources();
    let judge = more.iter_mut().find(|s| s.path == "judge/src/lib.rs").expect("the judge is there");
    judge.text.push_str(&"const X: u8 = 0;\n".repeat(100));
    let after = ledger(&more, "").expect("marks are as they were");
    for (a, b) in before.iter().zip(&after) {
        let judged = a.components.iter().any(|c| c.name == "judge");
        assert_eq!(b.lines, a.lines + if judged { 100 } else { 0 }, "{}", a.name);
        assert_eq!(figure(a.lines) != figure(b.lines), judged);
        assert_eq!(a.components.iter().zip(&b.components).filter(|(x, y)| x.digest != y.digest).count(), usize::from(judged));
    }
    assert!(before.iter().filter(|c| c.components.iter().any(|c| c.name == "judge")).count() >= 4);
}

#[test]
fn what_says_nothing_of_itself_is_refused() {
    let edit = |path: &str, from: &str, to: &str| {
        let mut all = sources();
        let s = all.iter_mut().find(|s| s.path == path).unwrap_or_else(|| panic!("{path}"));
        assert!(s.text.contains(from), "{path}: {from}");
        s.text = s.text.replacen(from, to, 1);
        ledger(&all, "").err().unwrap_or_else(|| panic!("{path} is not refused"))
    };
    let wrong = edit("judge/src/lib.rs", "//! Trusted: safe", "//! Trusted: saef");
    assert_eq!(wrong, ["judge/src/lib.rs: `saef` is no claim"]);
    let silent = edit("ir/src/lib.rs", "//! Trusted: ", "//! Believed: ");
    assert!(silent.iter().any(|w| w.contains("uses `ir`")), "{silent:?}");
    let twice = edit("isa/src/lib.rs", "//! Trusted: ", "//! Trusted: leaks.\n//! Trusted: ");
    assert_eq!(twice, ["isa/src/lib.rs: `twice` is no claim"]);
    let no_reason = edit("certify/src/guess.rs", "//! Trusted: nothing: what", "//! Trusted: nothing.\n//! what");
    assert_eq!(no_reason, ["certify/src/guess.rs: `nothing` is no claim"]);
}

#[test]
fn tests_and_their_helpers_do_not_count() {
    let files: Vec<String> = ours().into_iter().flat_map(|c| c.components).flat_map(|c| c.files).map(|f| f.0).collect();
    assert!(files.len() > 200);
    assert!(files.iter().all(|f| !f.contains("test")), "{:?}", files.iter().filter(|f| f.contains("test")).collect::<Vec<_>>());
    assert!(files.iter().all(|f| !f.starts_with("prove/src/ranges")), "the range engines are not believed");
}
