//! Embeds the files of `tuned/` as a table of `(target, text)`, sorted by target.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let folder = Path::new(&root).join("../../tuned");
    println!("cargo:rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(&folder).expect("the source tree has a folder `tuned`").flatten().map(|e| e.path());
    let mut files: Vec<_> = entries.filter(|p| p.extension().is_some_and(|e| e == "toml")).collect();
    files.sort();
    let mut table = String::from("const BUILT_IN: &[(&str, &str)] = &[\n");
    for file in files {
        let name = file.file_stem().and_then(|s| s.to_str()).expect("targets have plain names");
        let _ = writeln!(table, "    ({name:?}, include_str!({:?})),", file.display().to_string());
    }
    table.push_str("];\n");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("targets.rs"), table).expect("the build folder is writable");
}
