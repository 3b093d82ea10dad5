//! What ARCHITECTURE.md says, where a test can see it: the list of crates and their arrows, and which files lean on each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn read(path: impl AsRef<Path>) -> String {
    let full = Path::new(ROOT).join(path);
    std::fs::read_to_string(&full).unwrap_or_else(|e| panic!("{}: {e}", full.display()))
}

fn crates() -> Vec<String> {
    let mut all: Vec<String> = std::fs::read_dir(Path::new(ROOT).join("crates")).expect("crates").flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    all.sort();
    assert!(all.len() > 20, "{all:?}");
    all
}

/// Crates of ours that a crate is built of, tests apart.
fn needs(name: &str) -> BTreeSet<String> {
    let manifest = read(format!("crates/{name}/Cargo.toml"));
    let section = manifest.split("\n[dependencies]").nth(1).map(|s| s.split("\n[").next().unwrap_or_default()).unwrap_or_default();
    section.lines().filter_map(|l| l.strip_prefix("santoku-")).map(|l| l.split(['.', ' ', '=']).next().unwrap_or_default().to_string()).collect()
}

#[test]
fn the_page_has_every_crate_once_and_no_other() {
    let page = read("ARCHITECTURE.md");
    let rows: Vec<&str> = page.lines().filter_map(|l| l.strip_prefix("| `")?.split('`').next()).collect();
    let all = crates();
    for name in &all {
        assert_eq!(rows.iter().filter(|r| *r == name).count(), 1, "the table of ARCHITECTURE.md and `{name}`");
        let drawing = page.split("```").nth(1).expect("a drawing");
        let drawn = drawing.split(|c: char| !(c.is_alphanumeric() || c == '-')).any(|w| w == name);
        assert!(drawn || name == "diag" || name == "lab", "`{name}` is not in the drawing");
    }
    assert_eq!(rows.len(), all.len(), "{rows:?}");
}

#[test]
fn arrows_point_as_the_page_says() {
    let only = |name: &str, wanted: &[&str]| assert_eq!(needs(name), wanted.iter().map(|w| w.to_string()).collect(), "{name}");
    only("num", &[]);
    only("target", &[]);
    only("diag", &[]);
    only("circuit", &[]);
    only("ir", &["num"]);
    only("lab", &["target"]);
    // What judges is built of nothing that finds.
    for judge in ["judge", "meaning", "bytes"] {
        let all = reached(judge);
        assert!(["prove", "certify", "passes", "sema", "lab"].iter().all(|n| !all.contains(*n)), "{judge}: {all:?}");
    }
    for name in crates() {
        assert!(!reached(&name).contains(&name), "{name} needs itself");
        let above = ["cli", "workbench"];
        assert!(above.contains(&name.as_str()) || needs(&name).iter().all(|n| !above.contains(&n.as_str())), "{name} needs what stands above it");
    }
}

fn reached(name: &str) -> BTreeSet<String> {
    let (mut all, mut open) = (BTreeSet::new(), vec![name.to_string()]);
    while let Some(next) = open.pop() {
        open.extend(needs(&next).into_iter().filter(|n| all.insert(n.clone())));
    }
    all
}

/// Code of a file without tests and comments.
fn code(text: &str) -> String {
    text.split("#[cfg(test)]").next().unwrap_or_default().lines().map(|l| l.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Files of a crate by the paths of their modules.
fn modules(name: &str) -> BTreeMap<Vec<String>, String> {
    let src = Path::new(ROOT).join("crates").join(name).join("src");
    let (mut found, mut open) = (BTreeMap::new(), vec![src.clone()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, file) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_dir() {
                open.extend((file != "tests").then_some(path));
            } else if file.ends_with(".rs") && !file.ends_with("tests.rs") {
                found.insert(module(&src, &path), code(&std::fs::read_to_string(&path).expect("a source")));
            }
        }
    }
    found
}

fn module(src: &Path, path: &Path) -> Vec<String> {
    let relative: PathBuf = path.strip_prefix(src).expect("below").with_extension("");
    let mut parts: Vec<String> = relative.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|l| ["mod", "lib", "main"].contains(&l.as_str())) {
        parts.pop();
    }
    parts
}

/// Paths of modules that a file names by `crate::`, `super::`, `self::`.
fn named(own: &[String], text: &str) -> Vec<Vec<String>> {
    let mut all = vec![];
    for base in ["crate::", "super::", "self::"] {
        for (at, _) in text.match_indices(base) {
            if text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let mut from: Vec<String> = match base {
                "crate::" => vec![],
                "self::" => own.to_vec(),
                _ => own[..own.len().saturating_sub(1)].to_vec(),
            };
            let mut rest = &text[at + base.len()..];
            while let Some(up) = rest.strip_prefix("super::") {
                from.pop();
                rest = up;
            }
            heads(rest, &from, &mut all);
        }
    }
    all
}

/// `a::b`, or every branch of `a::{b, c::d}`, behind `from`.
fn heads(rest: &str, from: &[String], out: &mut Vec<Vec<String>>) {
    let mut path = from.to_vec();
    let mut rest = rest;
    loop {
        if let Some(group) = rest.strip_prefix('{') {
            let (mut depth, mut start) = (0, 0);
            for (k, c) in group.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => {
                        heads(group[start..k].trim(), &path, out);
                        return;
                    }
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        heads(group[start..k].trim(), &path, out);
                        start = k + 1;
                    }
                    _ => {}
                }
            }
            return;
        }
        let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if word.is_empty() {
            break;
        }
        rest = &rest[word.len()..];
        path.push(word);
        match rest.strip_prefix("::") {
            Some(next) => rest = next,
            None => break,
        }
    }
    out.push(path);
}

/// Files that need each other, directly or through others.
fn circles(files: &BTreeMap<Vec<String>, String>) -> Vec<BTreeSet<Vec<String>>> {
    let resolve = |path: &[String]| (1..=path.len()).rev().map(|n| path[..n].to_vec()).find(|p| files.contains_key(p));
    let edges: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> =
        files.iter().map(|(own, text)| (own, named(own, text).iter().filter_map(|p| resolve(p)).filter(|p| p != own).collect())).collect();
    let reach = |from: &Vec<String>| {
        let (mut all, mut open): (BTreeSet<Vec<String>>, Vec<Vec<String>>) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(next) = open.pop() {
            open.extend(edges[&next].iter().filter(|n| all.insert((*n).clone())).cloned());
        }
        all
    };
    let reached: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> = files.keys().map(|f| (f, reach(f))).collect();
    let mut out: Vec<BTreeSet<Vec<String>>> = vec![];
    for file in files.keys().filter(|f| reached[f].contains(*f)) {
        let circle: BTreeSet<Vec<String>> = reached[file].iter().filter(|g| reached[g].contains(file)).cloned().collect();
        if !out.contains(&circle) {
            out.push(circle);
        }
    }
    out
}

/// Circles that are left to undo, as crate and number of files: no others, and none that grows.
const LEFT: [(&str, usize); 8] = [("backend-c", 7), ("certify", 2), ("certify", 24), ("elf", 5), ("meaning", 11), ("prove", 4), ("prove", 4), ("sema", 11)];

#[test]
fn files_that_lean_on_each_other_become_fewer() {
    let (mut found, mut files, mut shown) = (vec![], 0, vec![]);
    for name in crates() {
        let modules = modules(&name);
        files += modules.len();
        for circle in circles(&modules) {
            shown.push(format!("{name}: {}", circle.iter().map(|m| m.join("/")).collect::<Vec<_>>().join(", ")));
            found.push((name.clone(), circle.len()));
        }
    }
    found.sort();
    let left: Vec<(String, usize)> = LEFT.iter().map(|(c, n)| (c.to_string(), *n)).collect();
    assert_eq!(found, left, "{shown:#?}");
    assert!(files > 300, "{files} files");
    println!("tried: {files} files, {} circles", found.len());
}

#[test]
fn a_circle_is_seen() {
    let file = |path: &str, text: &str| (path.split('/').map(str::to_string).collect::<Vec<_>>(), text.to_string());
    let none: BTreeMap<_, _> = [file("a", "use crate::b::X;"), file("b", "use crate::{c::{Y, Z}, d};"), file("c", ""), file("d/e", "use super::super::c::Y;")].into();
    assert!(circles(&none).is_empty());
    let mut some = none.clone();
    some.insert(vec!["c".into()], "fn f() { crate::a::g() }".into());
    let found = circles(&some);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].len(), 3, "{found:?}");
    some.insert(vec!["c".into()], "// crate::a::g()\n#[cfg(test)]\nmod tests { use crate::a; }".split("//").next().unwrap_or_default().into());
    assert!(circles(&some).is_empty());
}

/// Clocks, surroundings and files are read by the crates that the page names, and by nothing else.
#[test]
fn all_other_crates_are_functions_of_their_input() {
    let may = ["cli", "workbench", "lab"];
    let words = ["Instant::now", "SystemTime", "env::var(", "env::var_os(", "thread_rng", "RandomState"];
    // What a run takes is told beside results, or ends a question to the solver; no result depends on it otherwise.
    let known = [("prove", "Instant::now"), ("certify", "Instant::now"), ("target", "env::var("), ("skips", "env::var_os("), ("skips", "env::var("), ("trust", "SystemTime")];
    let (mut found, mut looked) = (vec![], 0);
    for name in crates().into_iter().filter(|n| !may.contains(&n.as_str())) {
        for (path, text) in modules(&name) {
            looked += 1;
            let here = words.iter().filter(|w| text.contains(**w) && !known.contains(&(name.as_str(), w)));
            found.extend(here.map(|w| format!("{name}/{}: {w}", path.join("/"))));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    assert!(looked > 200, "{looked}");
}
