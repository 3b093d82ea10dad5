//! Copies the sources of the prover and of its numbers, with every mistake of the tables behind a switch of its own.

mod splice;
#[path = "../table.rs"]
mod table;

use splice::Wrong;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

const PROVER: &str = "../prove/src";
const NUMBERS: &str = "../num/src";
/// Where the algebra leaves out to compare what it found with sample inputs: these tests can, for a wrong rule would be seen there before the
/// judge is asked.
const UNCOMPARED: (&str, &str) = ("algebra/atoms.rs", "!self.samples_count || self.fault.is_some()");
/// What else the tests ask for: the list of what is believed of clauses, after every engine.
const ASKED: (&str, &str) = ("prove/whole.rs", "\nfn join(");

fn main() {
    for at in ["build", "table.rs", "mistakes", PROVER, NUMBERS] {
        println!("cargo:rerun-if-changed={at}");
    }
    // The copy proves nothing that is kept.
    println!("cargo:rustc-env=SANTOKU_PROVE_ENGINE=mistaken");
    println!("cargo:rustc-env=SANTOKU_PROVE_JUDGES=none");
    let all: Vec<table::Mistake> = table::TABLES.iter().flat_map(|at| read::<table::Table>(at).mistake).collect();
    let numbers = read::<table::Numbers>(table::NUMBERS).mistake;
    let mut by_file: BTreeMap<PathBuf, Vec<Wrong>> = BTreeMap::new();
    let mut add = |file: PathBuf, wrong| by_file.entry(file).or_default().push(wrong);
    for (nr, m) in all.iter().enumerate() {
        for e in &m.edits {
            add(Path::new(PROVER).join(&e.file), Wrong { when: format!("made({nr})"), what: &m.what, right: &e.right, wrong: &e.wrong });
        }
    }
    for (nr, m) in numbers.iter().enumerate() {
        add(Path::new(NUMBERS).join(&m.file), Wrong { when: format!("made({})", all.len() + nr), what: &m.what, right: &m.right, wrong: &m.wrong });
    }
    let (file, right) = UNCOMPARED;
    add(Path::new(PROVER).join(file), Wrong { when: "blind()".into(), what: "samples are not compared", right, wrong: "true" });
    let to = PathBuf::from(env::var("OUT_DIR").expect("an output folder")).join("prove");
    if to.exists() {
        fs::remove_dir_all(&to).expect("the old copy");
    }
    copy(Path::new(PROVER), &to, &mut by_file);
    copy(Path::new(NUMBERS), &to.join("numbers"), &mut by_file);
    assert!(by_file.is_empty(), "no such files: {:?}", by_file.keys());
    numbers_inside(&to);
}

fn read<T: serde::de::DeserializeOwned>(at: &str) -> T {
    toml::from_str(&fs::read_to_string(at).expect(at)).unwrap_or_else(|e| panic!("{at}: {e}"))
}

/// The copied numbers as a module of the copied prover, which goes on with the real ones: the judges are to understand it.
fn numbers_inside(to: &Path) {
    let folder = to.join("numbers");
    for entry in fs::read_dir(&folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a copy").replace("use crate::", "use crate::numbers::");
        fs::write(&path, text).expect("a copy");
    }
    fs::rename(folder.join("lib.rs"), folder.join("mod.rs")).expect("the root of the numbers");
    let root = to.join("lib.rs");
    let text = fs::read_to_string(&root).expect("the root of the copy");
    fs::write(&root, format!("pub mod numbers;\n{text}")).expect("the root of the copy");
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
        if target.ends_with(ASKED.0) {
            assert!(text.contains(ASKED.1), "{}: no `{}`", path.display(), ASKED.1.trim());
            text = text.replace(ASKED.1, &ASKED.1.replace("fn", "pub fn"));
        }
        fs::write(&target, text).expect("a copy");
    }
}
