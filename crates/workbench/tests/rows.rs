//! The rows of the library: nothing else knows a primitive, and what is derived of them is right.

mod support;

use santoku_workbench::interface::functions;
use santoku_workbench::primitives::{Primitive, Tree};
use santoku_workbench::subject::ours;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::{on_big_stack, tree};

fn gather(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let test = name == "tests" || name == "tests.rs" || name.ends_with("_tests.rs");
        if path.is_dir() && !test && name != "examples" {
            gather(&path, out);
        } else if path.is_file() && !test && name.ends_with(".rs") {
            out.push(path);
        }
    }
}

/// Names of everything in the table: primitives, ciphers, units, functions.
fn names(tree: &Tree) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for p in tree.primitives().expect("declared") {
        names.extend([p.name.clone(), p.unit.clone(), p.entry.clone()]);
        names.extend(p.functions.iter().map(|f| f.name.clone()));
        names.extend(p.workloads.iter().map(|w| w.function.clone()));
    }
    for c in tree.ciphers().expect("declared") {
        names.extend([c.name.clone(), c.entry.clone(), c.function.clone()]);
    }
    names
}

/// What a line of code says outside of comments.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// Whether a line has the name as a word of its own.
fn says(line: &str, name: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '_';
    line.match_indices(name).any(|(at, _)| !line[..at].ends_with(inner) && !line[at + name.len()..].starts_with(inner))
}

/// Adding a primitive takes no line of Rust but vectors: no code names one that is there.
#[test]
fn no_primitive_has_a_line_of_rust_outside_of_vectors() {
    let tree = tree();
    let names = names(&tree);
    let mut sources = vec![];
    for entry in std::fs::read_dir(tree.root.join("crates")).expect("crates").flatten().filter(|e| e.file_name() != "vectors") {
        gather(&entry.path().join("src"), &mut sources);
    }
    let (mut lines, mut found) = (0, vec![]);
    for path in &sources {
        let text = std::fs::read_to_string(path).expect("a source");
        for line in text.split("#[cfg(test)]").next().unwrap_or_default().lines().map(code) {
            lines += 1;
            found.extend(names.iter().filter(|n| says(line, n)).map(|n| format!("{}: {n}", path.display())));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    assert!(names.len() > 25 && lines > 50_000, "{} names, {lines} lines", names.len());
    // The search would find one.
    assert!(names.iter().any(|n| says(code("    prefix: \"crypto_sign\","), n)) && code("// crypto_sign").is_empty());
    assert!(says("in/nacl.c", "nacl") && !says("tweetnacl", "nacl") && !says("nacl_names", "nacl"));
    println!("tried: {} names in {lines} lines of {} files", names.len(), sources.len());
}

fn ran(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"))
}

fn good(out: &Output, what: &str) {
    assert!(out.status.success(), "{what}:\n{}", String::from_utf8_lossy(&out.stderr));
}

fn shipped(p: &Primitive, extension: &str) -> PathBuf {
    tree().root.join("dist/c").join(&p.unit).join(format!("{}.{extension}", p.unit))
}

/// Interfaces that are declared, and those that the compiler tells, are those of the headers: C compares the two.
#[test]
fn declared_interfaces_are_those_of_the_headers() {
    let tree = tree();
    let scratch = tempfile::tempdir().expect("scratch");
    let mut compared = 0;
    for p in tree.shipped().expect("declared") {
        let target = p.targets.last().expect("a target");
        let exported = match p.functions.is_empty() {
            true => on_big_stack(|| ours(&tree, &p, target, santoku_target::Level::O2, &BTreeSet::new()).unwrap_or_else(|e| panic!("{e}"))).exported,
            false => vec![],
        };
        let all = functions(&p, &exported).unwrap_or_else(|e| panic!("{e}"));
        let declare = |text: &str| {
            let file = scratch.path().join("declared.c");
            std::fs::write(&file, format!("#include \"{}\"\n{text};\n", shipped(&p, "h").display())).expect("written");
            ran(Command::new("gcc").args(["-std=gnu99", "-Wall", "-Werror", "-c", "-o", "/dev/null"]).arg(&file))
        };
        let header = std::fs::read_to_string(shipped(&p, "h")).expect("a header");
        for f in &all {
            good(&declare(&f.declaration), &f.name);
            // Something else is refused, or the comparison says nothing.
            let other = f.declaration.replacen("unsigned char", "unsigned short", 1);
            assert!(other != f.declaration && !declare(&other).status.success(), "{}", f.name);
            compared += 1;
        }
        let in_header = header.matches(");\n").count() - header.matches("extern void").count();
        assert_eq!(in_header, all.len(), "{}: functions of the header", p.name);
    }
    assert!(compared >= 13, "{compared}");
    println!("tried: {compared} declarations against headers");
}

/// The declarations for Rust compile, and a program that uses them gets right results.
#[test]
fn rust_calls_the_library_through_its_declarations() {
    let tree = tree();
    let scratch = tempfile::tempdir().expect("scratch");
    let mut compiled = 0;
    for p in tree.shipped().expect("declared") {
        let source = tree.root.join("dist/rust").join(format!("{}.rs", p.unit));
        let out = ran(Command::new("rustc").args(["--edition=2021", "--crate-type=lib", "-D", "warnings", "-o"]).arg(scratch.path().join("lib.rlib")).arg(&source));
        good(&out, &p.unit);
        compiled += 1;
    }
    let hash = tree.primitive("hash.sha256").expect("declared");
    let object = scratch.path().join("hash.o");
    good(&ran(Command::new("gcc").args(["-O2", "-c", "-o"]).arg(&object).arg(shipped(&hash, "c"))), "hash");
    let text = format!(
        "#[path = {:?}]\nmod c;\nfn main() {{\n    let mut d = [0u8; 32];\n    unsafe {{ c::santoku_sha256(d.as_mut_ptr(), 3, b\"abc\".as_ptr()) }};\n    for b in d {{ print!(\"{{b:02x}}\") }}\n}}\n",
        tree.root.join("dist/rust/hash_sha256.rs")
    );
    let (main, program) = (scratch.path().join("main.rs"), scratch.path().join("main"));
    std::fs::write(&main, text).expect("written");
    good(&ran(Command::new("rustc").args(["--edition=2021", "-o"]).arg(&program).arg(&main).arg("-C").arg(format!("link-arg={}", object.display()))), "main");
    let out = ran(&mut Command::new(&program));
    good(&out, "the program");
    // FIPS 180-4, example of one block.
    assert_eq!(String::from_utf8_lossy(&out.stdout), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert!(compiled >= 6);
}

/// Every field of a row is in the guide.
#[test]
fn the_guide_names_every_field() {
    let root = tree().root;
    let guide = std::fs::read_to_string(root.join("docs/primitives.md")).expect("the guide is there");
    let source = |name: &str| std::fs::read_to_string(root.join("crates/workbench/src").join(name)).expect("a source");
    let ends = |text: String, mark: &str| text.split(mark).next().map(str::to_string).expect("the types");
    let text = ends(source("row.rs"), "/// Lower-case words.") + &ends(source("interface_row.rs"), "#[cfg(test)]");
    let mut fields = 0;
    let mut renamed = None;
    for line in text.lines().map(str::trim) {
        renamed = line.split("rename = \"").nth(1).and_then(|r| r.split('"').next()).map(str::to_string).or(renamed);
        let Some((name, _)) = line.trim_start_matches("pub ").split_once(": ").filter(|(n, _)| n.chars().all(|c| c.is_ascii_lowercase() || c == '_')) else { continue };
        let name = renamed.take().unwrap_or_else(|| name.to_string());
        let named = [format!("`{name}`"), format!(".{name}]]`")].iter().any(|n| guide.contains(n.as_str()));
        assert!(named, "docs/primitives.md does not name `{name}`");
        fields += 1;
    }
    assert!(fields > 50, "{fields} fields");
}

/// Rows that describe nothing that can be made or measured are refused, with the reason.
#[test]
fn wrong_rows_are_refused() {
    let good = "[[primitive]]\nname = \"a.b\"\ntitle = \"T\"\nentry = \"lib/a.stk\"\nunit = \"a_b\"\ntargets = [\"rv32\"]\n\
                [[primitive.workload]]\noperation = \"run\"\nfunction = \"f\"\ninputs.m = \"00ff\"\n\
                [[primitive.table]]\nmachine = \"e31\"\ntargets = [\"rv32\"]\nreference = \"r\"\n\
                [[primitive.rival]]\nname = \"r\"\nmachines = [\"e31\"]\nlevel = \"O2\"\n";
    let folder = tempfile::tempdir().expect("scratch");
    std::fs::create_dir_all(folder.path().join("lib")).expect("a folder");
    let tree = Tree { root: folder.path().to_path_buf() };
    let read = |text: &str| {
        std::fs::write(folder.path().join("lib/primitives.toml"), text).expect("written");
        tree.primitives().map_err(|e| e.to_string())
    };
    read(good).unwrap_or_else(|e| panic!("{e}"));
    let mut tried = 0;
    for (from, to, why) in [
        ("a.b", "A.b", "lower-case words"),
        ("lib/a.stk", "../a.stk", "not a path below"),
        ("\"T\"", "\"*/\"", "comment of C"),
        ("unit = \"a_b\"", "unit = \"a-b\"", "is not of lower-case letters"),
        ("targets = [\"rv32\"]\n[[primitive.w", "targets = []\n[[primitive.w", "at least one target"),
        ("00ff", "0ff", "not hexadecimal"),
        ("00ff", "zz", "not hexadecimal"),
        ("\"run\"", "\"Run\"", "the operation"),
        ("reference = \"r\"", "reference = \"s\"", "has no rival"),
        ("reference = \"r\"", "vectors = \"other\"", "has no workload"),
        ("machines = [\"e31\"]", "machines = [\"host\"]", "has no rival"),
        ("\"O2\"", "\"O9\"", "unknown variant"),
        ("operation =", "operations =", "unknown field"),
        ("[[primitive.table]]\n", "[[primitive.workload]]\noperation = \"run\"\nfunction = \"f\"\ninputs = {}\n[[primitive.table]]\n", "two workloads"),
        ("[[primitive.rival]]", "[[primitive.table]]\nmachine = \"e31\"\ntargets = [\"rv32\"]\n[[primitive.rival]]", "two tables"),
    ] {
        assert!(good.contains(from), "{from}");
        let said = read(&good.replacen(from, to, 1)).expect_err(to);
        assert!(said.contains(why), "{to}: {said}");
        tried += 1;
    }
    assert_eq!(tried, 15);
}
