//! Names the engine by its content: proofs are kept only as long as nothing that judges has changed.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// What judges: this crate, the machine model, the reader of object files, the meaning of the source, the way to the solver.
const JUDGES: [&str; 5] = ["src", "../isa/src", "../elf/src", "../ir/src", "../prove/src/smt"];

fn main() {
    let mut digest = Sha256::new();
    for folder in JUDGES {
        println!("cargo:rerun-if-changed={folder}");
        let mut files = vec![];
        collect(Path::new(folder), &mut files);
        files.sort();
        for file in files {
            let text = std::fs::read(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            digest.update(format!("{} {}\n", file.display(), text.len()));
            digest.update(text);
        }
    }
    let name: String = digest.finalize().iter().take(8).map(|b| format!("{b:02x}")).collect();
    println!("cargo:rustc-env=SANTOKU_CERTIFY_ENGINE={name}");
}

/// Rust files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}
