//! Embeds the pages of `docs/diagnostics/` as a table of `(code, text)`, sorted by code.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
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
    let out = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("pages.rs"), table).expect("the build folder is writable");
}
