//! Embeds the pages of `docs/diagnostics/` as a table of `(code, text)`, sorted by code, the library, and what is believed for each claim.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("library.rs"), library(&Path::new(&root).join("../../lib"))).expect("the build folder is writable");
    fs::write(Path::new(&out).join("trust.json"), trust(&Path::new(&root).join("../.."))).expect("the build folder is writable");
    let folder = Path::new(&root).join("../../docs/diagnostics");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut pages: Vec<_> = fs::read_dir(&folder)
        .map(|entries| entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "md")).collect())
        .unwrap_or_default();
    pages.sort();
    let mut table = String::from("/// Every page: code and text.\npub const PAGES: &[(&str, &str)] = &[\n");
    for page in pages {
        let code = page.file_stem().and_then(|s| s.to_str()).expect("pages have plain names");
        if code == "README" {
            continue;
        }
        let _ = writeln!(table, "    ({code:?}, include_str!({:?})),", page.display().to_string());
    }
    table.push_str("];\n");
    fs::write(Path::new(&out).join("pages.rs"), table).expect("the build folder is writable");
}

/// The programs of `lib/` as a table of path and text, sorted by path.
fn library(lib: &Path) -> String {
    println!("cargo:rerun-if-changed={}", lib.display());
    let (mut all, mut open) = (vec![], vec![lib.to_path_buf()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("the library is there").flatten().map(|e| e.path()) {
            if entry.is_dir() {
                open.push(entry);
            } else if entry.extension().is_some_and(|e| e == "stk") {
                let name = entry.strip_prefix(lib).expect("below it").components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
                all.push((name, entry.display().to_string()));
            }
        }
    }
    all.sort();
    let rows: String = all.iter().map(|(name, path)| format!("    ({name:?}, include_str!({path:?})),\n")).collect();
    format!("/// Every program: path and text.\nconst LIBRARY: &[(&str, &str)] = &[\n{rows}];\n")
}

/// The claims of these very sources, as JSON.
fn trust(root: &Path) -> String {
    let (crates, lock) = (root.join("crates"), root.join("Cargo.lock"));
    println!("cargo:rerun-if-changed={}", crates.display());
    println!("cargo:rerun-if-changed={}", lock.display());
    let sources = santoku_trust::read(&crates).expect("the sources are there");
    let lock = fs::read_to_string(lock).expect("there is a lock file");
    let claims = santoku_trust::ledger(&sources, &lock).unwrap_or_else(|e| panic!("what is believed is not clear: {e:#?}"));
    serde_json::to_string(&claims).expect("claims are plain data")
}
