//! Proofs are kept under a digest of the sources that judge: every crate of ours that the prover is built from is in it.

use santoku_prove::cache::{ENGINE_VERSION, JUDGES};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Crates of ours that `folder`'s manifest names under `[dependencies]`, and theirs, as folders beside it.
fn crates_used(folder: &Path, found: &mut BTreeSet<String>) {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
    let own = manifest.split("\n[").find(|s| s.starts_with("dependencies]")).unwrap_or_default();
    for line in own.lines().filter_map(|l| l.strip_prefix("santoku-")) {
        let name: String = line.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let folder = folder.join("..").join(&name);
        assert!(folder.is_dir(), "{} is no crate", folder.display());
        if found.insert(name) {
            crates_used(&folder, found);
        }
    }
}

/// What judges and is not in the list.
fn missing(judges: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    crates_used(&PathBuf::from(env!("CARGO_MANIFEST_DIR")), &mut used);
    assert!(used.contains("ir"), "the prover uses at least the core: {used:?}");
    let listed: BTreeSet<&str> = judges.split(' ').collect();
    let mut wanted: BTreeSet<String> = used.iter().map(|c| format!("../{c}/src")).collect();
    wanted.extend(["src".to_string(), "../../Cargo.lock".to_string()]);
    wanted.into_iter().filter(|w| !listed.contains(w.as_str())).collect()
}

#[test]
fn every_folder_that_judges_is_in_the_digest() {
    assert_eq!(missing(JUDGES), BTreeSet::new());
    for judge in JUDGES.split(' ') {
        assert!(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(judge).exists(), "{judge}");
    }
    let digest = ENGINE_VERSION.strip_prefix("santoku-prove ").expect("a name and a digest");
    assert!(digest.len() == 16 && digest.chars().all(|c| c.is_ascii_hexdigit()), "{digest}");
}

#[test]
fn a_folder_left_out_is_noticed() {
    assert_eq!(missing("src ../judge/src ../meaning/src ../num/src ../../Cargo.lock"), BTreeSet::from(["../ir/src".to_string()]));
    assert_eq!(missing("../judge/src ../meaning/src ../ir/src ../num/src ../../Cargo.lock"), BTreeSet::from(["src".to_string()]));
}
