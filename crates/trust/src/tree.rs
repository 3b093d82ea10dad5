//! The sources of a tree.

use std::io;
use std::path::Path;

/// A Rust file or a manifest.
#[derive(Clone, Debug)]
pub struct Source {
    /// Below `crates/`, with `/`.
    pub path: String,
    pub text: String,
}

impl Source {
    pub fn of_crate(&self) -> &str {
        self.path.split('/').next().unwrap_or_default()
    }

    /// Whether it is part of what is shipped: no manifest, no test.
    pub fn is_code(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let test = self.path.contains("/tests/") || name == "tests.rs" || name.ends_with("_tests.rs");
        self.path.ends_with(".rs") && self.path.contains("/src/") && !test
    }
}

/// Every Rust file below the `src` of each crate, and its manifest, in order of path.
///
/// # Errors
/// What cannot be read.
pub fn read(crates: &Path) -> io::Result<Vec<Source>> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(crates)? {
        let path = entry?.path();
        if path.join("Cargo.toml").is_file() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            out.push(Source { path: format!("{name}/Cargo.toml"), text: std::fs::read_to_string(path.join("Cargo.toml"))? });
            below(&path.join("src"), &format!("{name}/src"), &mut out)?;
        }
    }
    out.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(out)
}

fn below(folder: &Path, shown: &str, out: &mut Vec<Source>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let shown = format!("{shown}/{}", path.file_name().unwrap_or_default().to_string_lossy());
        if path.is_dir() {
            below(&path, &shown, out)?;
        } else if shown.ends_with(".rs") {
            out.push(Source { path: shown, text: std::fs::read_to_string(&path)? });
        }
    }
    Ok(())
}
