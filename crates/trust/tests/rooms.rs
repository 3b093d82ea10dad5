//! What ARCHITECTURE.md says, where a test can see it: the list of crates and their arrows, and which files lean on each other.

use santoku_trust::Source;
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
fn what_stands_behind_a_test_is_code() {
    let text = "use crate::a;\n#[cfg(test)]\nmod tests;\nuse crate::b; // not crate::c\n#[cfg(test)]\nmod more {\n    use crate::d;\n}\nuse crate::e;\n";
    assert_eq!(code(text), "use crate::a;\nuse crate::b; \nuse crate::e;");
}

#[test]
fn arrows_point_as_the_page_says() {
    let only = |name: &str, wanted: &[&str]| assert_eq!(needs(name), wanted.iter().map(|w| w.to_string()).collect(), "{name}");
    only("num", &[]);
    only("target", &[]);
    only("diag", &[]);
    only("circuit", &[]);
    only("ir", &["num"]);
    only("lab", &["num", "target"]);
    // What judges is built of nothing that finds.
    for judge in ["judge", "meaning", "bytes"] {
        let all = reached(judge);
        assert!(["prove", "certify", "passes", "sema", "lab"].iter().all(|n| !all.contains(*n)), "{judge}: {all:?}");
    }
    for name in crates() {
        assert!(!reached(&name).contains(&name), "{name} needs itself");
        // From below: each may need what stands before it.
        let above = ["workbench", "packages", "cli"];
        let at = |n: &str| above.iter().position(|a| *a == n);
        assert!(needs(&name).iter().all(|n| at(n) < at(&name) || at(n).is_none()), "{name} needs what stands above it");
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
    santoku_trust::code(text).map(|l| l.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn sources() -> Vec<Source> {
    santoku_trust::read(&Path::new(ROOT).join("crates")).expect("the tree is there")
}

/// Files of a crate by the paths of their modules.
fn modules(name: &str, sources: &[Source]) -> BTreeMap<Vec<String>, String> {
    sources.iter().filter(|s| s.of_crate() == name && s.is_code()).map(|s| (module(&s.path), code(&s.text))).collect()
}

/// `[a, b]` of `crate/src/a/b.rs`.
fn module(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = path.trim_end_matches(".rs").split('/').skip(2).map(str::to_string).collect();
    if parts.last().is_some_and(|l| ["mod", "lib", "main"].contains(&l.as_str())) {
        parts.pop();
    }
    parts
}

/// Modules right below one.
fn below<'a>(own: &'a [String], files: &'a BTreeMap<Vec<String>, String>) -> impl Iterator<Item = &'a Vec<String>> {
    files.keys().filter(|f| f.len() == own.len() + 1 && f.starts_with(own))
}

/// Paths of modules that a file names by `crate::`, `super::`, `self::`, or by a module right below it.
fn named(own: &[String], text: &str, files: &BTreeMap<Vec<String>, String>) -> Vec<Vec<String>> {
    let mut all = vec![];
    for child in below(own, files) {
        let head = format!("{}::", child[own.len()]);
        for (at, _) in text.match_indices(&head).filter(|(at, _)| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '.')) {
            heads(&text[at..], own, &mut all);
        }
    }
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

/// Names that files hand on of modules right below them, and where these are.
fn handed_on(files: &BTreeMap<Vec<String>, String>) -> BTreeMap<Vec<String>, Vec<String>> {
    let mut all = BTreeMap::new();
    for (own, text) in files {
        for part in text.split("use ").skip(1) {
            let mut paths = vec![];
            heads(part.strip_prefix("self::").unwrap_or(part).split(';').next().unwrap_or_default(), own, &mut paths);
            let from_below = paths.into_iter().filter(|p| p.len() > own.len() + 1 && files.contains_key(&p[..=own.len()]));
            all.extend(from_below.map(|p| ([own.as_slice(), &p[p.len() - 1..]].concat(), p)).filter(|(name, _)| !files.contains_key(name)));
        }
    }
    all
}

/// What every file takes of which others.
type Edges = BTreeMap<Vec<String>, BTreeMap<Vec<String>, BTreeSet<String>>>;

fn edges(files: &BTreeMap<Vec<String>, String>) -> Edges {
    let handed = handed_on(files);
    let resolve = |path: &[String]| {
        let mut path = path.to_vec();
        loop {
            let file = (0..=path.len()).rev().find(|n| files.contains_key(&path[..*n]))?;
            // What a file hands on stands elsewhere.
            match path.get(..=file).and_then(|name| handed.get(name)) {
                Some(there) => path = there.clone(),
                None => return Some((path[..file].to_vec(), path[file..].join("::"))),
            }
        }
    };
    let mut all = Edges::new();
    for (own, text) in files {
        let to = all.entry(own.clone()).or_default();
        for (file, name) in named(own, text, files).iter().filter_map(|p| resolve(p)).filter(|(f, _)| f != own) {
            to.entry(file).or_default().insert(name);
        }
    }
    all
}

/// Files that need each other, directly or through others.
fn circles(edges: &Edges) -> Vec<BTreeSet<Vec<String>>> {
    let reach = |from: &Vec<String>| {
        let (mut all, mut open): (BTreeSet<Vec<String>>, Vec<Vec<String>>) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(next) = open.pop() {
            open.extend(edges[&next].keys().filter(|n| all.insert((*n).clone())).cloned());
        }
        all
    };
    let reached: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> = edges.keys().map(|f| (f, reach(f))).collect();
    let mut out: Vec<BTreeSet<Vec<String>>> = vec![];
    for file in edges.keys().filter(|f| reached[f].contains(*f)) {
        let circle: BTreeSet<Vec<String>> = reached[file].iter().filter(|g| reached[g].contains(file)).cloned().collect();
        if !out.contains(&circle) {
            out.push(circle);
        }
    }
    out
}

#[test]
fn no_files_lean_on_each_other() {
    let (mut found, mut files, sources) = (vec![], 0, sources());
    for name in crates() {
        let edges = edges(&modules(&name, &sources));
        files += edges.len();
        for circle in circles(&edges) {
            found.push(format!("{name}: {} files", circle.len()));
            for (from, to) in circle.iter().flat_map(|f| edges[f].iter().map(move |t| (f, t))).filter(|(_, (t, _))| circle.contains(*t)) {
                found.push(format!("  {} takes of {}: {}", from.join("/"), to.0.join("/"), to.1.iter().cloned().collect::<Vec<_>>().join(", ")));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(files > 300, "{files} files");
    println!("tried: {files} files");
}

/// A manifest that leaves the tests inside of a crate's files out, though there are some.
fn leaves_tests_out(manifest: &str, texts: &[&str]) -> bool {
    let lib = manifest.split("\n[lib]").nth(1).and_then(|s| s.split("\n[").next()).unwrap_or_default();
    lib.lines().any(|l| l == "test = false") && texts.iter().any(|t| t.contains("#[cfg(test)]"))
}

#[test]
fn tests_inside_of_files_are_run() {
    let (sources, mut crates_read) = (sources(), 0);
    for name in crates() {
        let texts: Vec<&str> = sources.iter().filter(|s| s.path.starts_with(&format!("{name}/src/"))).map(|s| s.text.as_str()).collect();
        assert!(!texts.is_empty(), "{name}");
        crates_read += 1;
        // `crates/mistakes` compiles these, with the copy that it makes of them.
        assert!(name == "prove" || !leaves_tests_out(&read(format!("crates/{name}/Cargo.toml")), &texts), "{name}: `test = false`, and tests in its files");
    }
    assert!(crates_read > 20, "{crates_read}");
    let without = "[package]\nname = \"a\"\n\n[lib]\ntest = false\n\n[dependencies]\n";
    assert!(leaves_tests_out(without, &["fn f() {}\n#[cfg(test)]\nmod tests {}"]) && !leaves_tests_out(without, &["fn f() {}"]));
    assert!(!leaves_tests_out("[package]\n\n[lib]\ndoctest = false\n", &["#[cfg(test)]"]));
}

#[test]
fn a_circle_is_seen() {
    let file = |path: &str, text: &str| (path.split('/').map(str::to_string).collect::<Vec<_>>(), text.to_string());
    let none: BTreeMap<_, _> = [file("a", "use crate::b::X;"), file("b", "use crate::{c::{Y, Z}, d};"), file("c", ""), file("d/e", "use super::super::c::Y;")].into();
    assert!(circles(&edges(&none)).is_empty());
    let mut some = none.clone();
    some.insert(vec!["c".into()], "fn f() { crate::a::g() }".into());
    let found = circles(&edges(&some));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].len(), 3, "{found:?}");
    // A file and one below it, which takes what stands there, and one that takes what it hands on.
    let parts = [file("d", "mod e; pub use e::Y; pub struct X;"), file("d/e", "use super::X;")];
    assert_eq!(circles(&edges(&parts.clone().into())).len(), 1);
    let parts = [file("d", "mod e; mod f; pub use e::Y;"), file("d/e", ""), file("d/f", "use super::Y;")];
    assert!(circles(&edges(&parts.into())).is_empty());
    let root = [(vec![], "mod a; fn f() { a::g() } struct X;".to_string()), file("a", "use crate::X;")];
    assert_eq!(circles(&edges(&root.into())).len(), 1);
    some.insert(vec!["c".into()], "// crate::a::g()\n#[cfg(test)]\nmod tests { use crate::a; }".split("//").next().unwrap_or_default().into());
    assert!(circles(&edges(&some)).is_empty());
}

/// Clocks, surroundings and files are read by the crates that the page names, and by nothing else.
#[test]
fn all_other_crates_are_functions_of_their_input() {
    let may = ["cli", "workbench", "lab"];
    let words = ["Instant::now", "SystemTime", "env::var(", "env::var_os(", "thread_rng", "RandomState"];
    // What a run takes is told beside results, or ends a question to the solver; no result depends on it otherwise.
    let known = [("prove", "Instant::now"), ("certify", "Instant::now"), ("target", "env::var("), ("skips", "env::var_os("), ("skips", "env::var("), ("trust", "SystemTime")];
    let (mut found, mut looked, sources) = (vec![], 0, sources());
    for name in crates().into_iter().filter(|n| !may.contains(&n.as_str())) {
        for (path, text) in modules(&name, &sources) {
            looked += 1;
            let here = words.iter().filter(|w| text.contains(**w) && !known.contains(&(name.as_str(), w)));
            found.extend(here.map(|w| format!("{name}/{}: {w}", path.join("/"))));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    assert!(looked > 200, "{looked}");
}

/// Lines of a script in which a command may end before what writes to it: under `pipefail` that is a failure, now and then.
fn closed_early(text: &str) -> Vec<&str> {
    let early = |l: &str| l.split('|').skip(1).map(str::trim_start).any(|c| c.starts_with("head ") || c.starts_with("grep ") && c.split(' ').nth(1).is_some_and(|o| o.starts_with('-') && o.contains(['q', 'm'])));
    text.lines().filter(|l| text.contains("pipefail") && !l.trim_start().starts_with('#') && early(l)).collect()
}

#[test]
fn no_script_closes_a_pipe_early() {
    let scripts = std::fs::read_dir(Path::new(ROOT).join("tools")).expect("scripts").flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "sh"));
    let all: Vec<(PathBuf, String)> = scripts.map(|p| (p.clone(), read(&p))).collect();
    assert!(all.len() > 5, "{}", all.len());
    for (path, text) in &all {
        assert!(closed_early(text).is_empty(), "{}: {:?}", path.display(), closed_early(text));
    }
    for wrong in ["sort -rn | head -10", "all | grep -qxF x || exit", "a | b | grep -m 1 c"] {
        assert_eq!(closed_early(&format!("set -o pipefail\n{wrong}\n")), [wrong]);
    }
    assert!(closed_early("set -o pipefail\nsort | sed -n 1,10p\ngrep -q x file | cat\n").is_empty());
}

/// What stands behind the tests inside a file is neither counted nor seen by the tests above.
fn behind_tests(text: &str) -> &str {
    let tests = text.split_once("\n#[cfg(test)]\nmod tests {").map_or("", |(_, tests)| tests);
    tests.split_once("\n}\n").map_or("", |(_, rest)| rest.trim())
}

#[test]
fn tests_inside_a_file_end_it() {
    let sources: Vec<Source> = sources().into_iter().filter(|s| s.path.ends_with(".rs")).collect();
    for s in &sources {
        assert!(behind_tests(&s.text).is_empty(), "{}: {}", s.path, behind_tests(&s.text));
    }
    assert!(sources.len() > 400, "{}", sources.len());
    assert_eq!(behind_tests("fn f() {}\n\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n\nfn g() {}\n"), "fn g() {}");
}
