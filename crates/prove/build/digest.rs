//! The digest of what judges. Included by the build scripts of the crates that keep verdicts.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// A name for the text of all Rust files below folders, and of single files. Relative to the crate being built.
pub fn of(judges: &[&str]) -> String {
    let mut digest = Sha256::new();
    for judge in judges {
        println!("cargo:rerun-if-changed={judge}");
        let mut files = vec![];
        if Path::new(judge).is_dir() {
            collect(Path::new(judge), &mut files);
        } else {
            files.push(PathBuf::from(judge));
        }
        files.sort();
        for file in files {
            let text = std::fs::read(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            digest.update(format!("{} {}\n", file.display(), text.len()));
            digest.update(text);
        }
    }
    digest.finalize().iter().take(8).map(|b| format!("{b:02x}")).collect()
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
