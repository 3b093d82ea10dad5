//! Embeds the files of `targets/` and `tuned/` as tables of `(name, text)`, sorted by name.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let mut table = String::new();
    for (folder, name) in [("targets", "MACHINES"), ("tuned", "CHOICES")] {
        let folder = Path::new(&root).join("../..").join(folder);
        println!("cargo:rerun-if-changed={}", folder.display());
        let entries = fs::read_dir(&folder).expect("the source tree has this folder").flatten().map(|e| e.path());
        let mut files: Vec<_> = entries.filter(|p| p.extension().is_some_and(|e| e == "toml")).collect();
        files.sort();
        let _ = writeln!(table, "const {name}: &[(&str, &str)] = &[");
        for file in files {
            let stem = file.file_stem().and_then(|s| s.to_str()).expect("descriptions have plain names");
            let _ = writeln!(table, "    ({stem:?}, include_str!({:?})),", file.display().to_string());
        }
        table.push_str("];\n");
    }
    let out = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("files.rs"), table).expect("the build folder is writable");
}
