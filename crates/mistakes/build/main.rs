//! Copies the prover's sources, with every mistake of the table behind a switch of its own.

mod splice;
#[path = "../table.rs"]
mod table;

use splice::Wrong;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

const PROVER: &str = "../prove/src";

fn main() {
    for at in ["build", "table.rs", "mistakes.toml", PROVER] {
        println!("cargo:rerun-if-changed={at}");
    }
    // The copy proves nothing that is kept.
    println!("cargo:rustc-env=SANTOKU_PROVE_ENGINE=mistaken");
    println!("cargo:rustc-env=SANTOKU_PROVE_JUDGES=none");
    let table: table::Table = toml::from_str(&fs::read_to_string("mistakes.toml").expect("mistakes.toml")).expect("a table of mistakes");
    let mut by_file: BTreeMap<PathBuf, Vec<Wrong>> = BTreeMap::new();
    for (nr, m) in table.mistake.iter().enumerate() {
        for e in &m.edits {
            let wrong = Wrong { nr, what: &m.what, right: &e.right, wrong: &e.wrong };
            by_file.entry(Path::new(PROVER).join(&e.file)).or_default().push(wrong);
        }
    }
    let to = PathBuf::from(env::var("OUT_DIR").expect("an output folder")).join("prove");
    if to.exists() {
        fs::remove_dir_all(&to).expect("the old copy");
    }
    copy(Path::new(PROVER), &to, &mut by_file);
    assert!(by_file.is_empty(), "no such files: {:?}", by_file.keys());
}

fn copy(from: &Path, to: &Path, wrong: &mut BTreeMap<PathBuf, Vec<Wrong>>) {
    fs::create_dir_all(to).expect("a folder");
    let mut all: Vec<PathBuf> = fs::read_dir(from).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    all.sort();
    for path in all {
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target, wrong);
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source");
        let mut text = splice::spliced(&path, &text, &wrong.remove(&path).unwrap_or_default());
        if target.ends_with("prove/lib.rs") {
            // Included by another file, which has a head of its own.
            text = text.lines().filter(|l| !l.starts_with("//!")).collect::<Vec<_>>().join("\n");
        }
        fs::write(&target, text).expect("a copy");
    }
}
