//! Programs of the library, built for a target.

use santoku_driver::{build, check, BuildOptions, Built, Request};
use santoku_passes::Level;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the tree").to_path_buf()
}

/// Paths of files of the library that export a function. Units of curves are instances of one program, and have their turn.
pub fn programs() -> Vec<String> {
    let mut all = vec![];
    below(&root().join("lib"), &mut all);
    santoku_skips::seeds::alike(all, 11, |p| is_curve(p))
}

pub fn is_curve(path: &str) -> bool {
    path.starts_with("lib/ec/")
}

fn below(folder: &Path, all: &mut Vec<String>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()).collect();
    entries.sort();
    for p in entries {
        if p.is_dir() {
            below(&p, all);
        } else if p.extension().is_some_and(|e| e == "stk") && std::fs::read_to_string(&p).expect("text").contains("@export(") {
            all.push(p.strip_prefix(root()).expect("below the root").display().to_string());
        }
    }
}

/// What becomes of a program for a target; none where the target has not what it needs.
#[allow(dead_code)] // each test binary uses its part
pub fn built(path: &str, target: &str, level: Level) -> Option<Built> {
    built_with(path, target, level, &[])
}

/// The same with these implementations of interfaces.
pub fn built_with(path: &str, target: &str, level: Level, impls: &[(&str, &str)]) -> Option<Built> {
    let target = santoku_driver::built_in(target).expect("its file is right").expect("it is compiled in");
    let mut load = |path: &str| Ok(std::fs::read_to_string(root().join(path)).ok());
    let impls = target.impls.clone().into_iter().chain(impls.iter().map(|(a, b)| (a.to_string(), b.to_string()))).collect();
    let request = Request { roots: vec!["lib".into()], impls, ..Request::new(path, target) };
    let checked = check(&request, &mut load).ok()?;
    let options = BuildOptions { level, without: Default::default(), dump_after: None, unit: "unit".into(), provenance: String::new(), keep_secrets: true };
    build(&checked, &options, &|| 0).ok()
}

