//! Comparisons are kept under a digest of the sources that judge: every crate of ours that they are made by is in it, and of the prover
//! what the way to the solver needs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const JUDGES: &str = env!("SANTOKU_CERTIFY_JUDGES");

fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Crates of ours that `folder`'s manifest names under `[dependencies]`, and theirs; of the prover only what is used counts.
fn crates_used(folder: &Path, found: &mut BTreeSet<String>) {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
    let own = manifest.split("\n[").find(|s| s.starts_with("dependencies]")).unwrap_or_default();
    for line in own.lines().filter_map(|l| l.strip_prefix("santoku-")) {
        let name: String = line.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let folder = folder.join("..").join(&name);
        assert!(folder.is_dir(), "{} is no crate", folder.display());
        if name != "prove" && found.insert(format!("../{name}/src")) {
            crates_used(&folder, found);
        }
    }
}

/// The text of a Rust file, or of all below a folder.
fn text(path: &Path) -> String {
    if path.is_file() {
        return std::fs::read_to_string(path).expect("a source");
    }
    let entries = std::fs::read_dir(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    entries.flatten().map(|e| e.path()).filter(|p| p.is_dir() || p.extension().is_some_and(|x| x == "rs")).map(|p| text(&p)).collect()
}

/// Modules that a text names after `prefix`.
fn modules(text: &str, prefix: &str) -> BTreeSet<String> {
    let name = |rest: &str| rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect::<String>();
    text.split(prefix).skip(1).map(name).filter(|n| !n.is_empty()).collect()
}

/// The prover's modules that comparisons use, and those that these use.
fn modules_used() -> BTreeSet<String> {
    let prover = here().join("../prove/src");
    let mut todo: Vec<String> = modules(&text(&here().join("src")), "santoku_prove::").into_iter().collect();
    let mut found = BTreeSet::new();
    while let Some(module) = todo.pop() {
        let folder = prover.join(&module);
        let path = if folder.is_dir() { folder } else { prover.join(format!("{module}.rs")) };
        // It keeps texts and judges nothing.
        if module != "cache" && found.insert(module) {
            todo.extend(modules(&text(&path), "crate::"));
        }
    }
    let path = |m: String| if prover.join(&m).is_dir() { format!("../prove/src/{m}") } else { format!("../prove/src/{m}.rs") };
    found.into_iter().map(path).collect()
}

/// What judges and is not in the list.
fn missing(judges: &str) -> BTreeSet<String> {
    let mut wanted = modules_used();
    assert!(wanted.contains("../prove/src/smt") && wanted.contains("../prove/src/itv.rs"), "{wanted:?}");
    crates_used(&here(), &mut wanted);
    wanted.extend(["src".to_string(), "../../Cargo.lock".to_string()]);
    let listed: BTreeSet<&str> = judges.split(' ').collect();
    wanted.into_iter().filter(|w| !listed.contains(w.as_str())).collect()
}

#[test]
fn every_folder_that_judges_is_in_the_digest() {
    assert_eq!(missing(JUDGES), BTreeSet::new());
    for judge in JUDGES.split(' ') {
        assert!(here().join(judge).exists(), "{judge}");
    }
    let digest = env!("SANTOKU_CERTIFY_ENGINE");
    assert!(digest.len() == 16 && digest.chars().all(|c| c.is_ascii_hexdigit()), "{digest}");
}

#[test]
fn a_folder_left_out_is_noticed() {
    for judge in JUDGES.split(' ') {
        let less: Vec<&str> = JUDGES.split(' ').filter(|j| *j != judge).collect();
        assert_eq!(missing(&less.join(" ")), BTreeSet::from([judge.to_string()]));
    }
}
