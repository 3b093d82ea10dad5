//! Modules in files: what they compute, and what the verifier or the reader says of those in `files/refused`.
//!
//! A line `#! run "f" 1 2 -> 3` calls a function with words and compares its results; `#! fault "f" 1: text` is a call that ends with
//! a message that contains the text; `#! refused: text` is what a module of `refused` is refused with.
//! Modules of `files/passes` have the result of a pass behind a line `#! after NAME`, or of all for `#! after passes`.
//! `UPDATE_EXPECT=1` writes the results and messages that are found into the files.

mod support;

use santoku_isa::{Word, Words};
use santoku_lower::exec::{Exec, Held};
use santoku_lower::legalise::Lowered;
use santoku_lower::pass::{optimise, Choice, Costs, TABLE};
use santoku_lower::{text, verify, Module};
use std::path::{Path, PathBuf};

fn files(folder: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(folder);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "low")).collect();
    paths.sort();
    paths.into_iter().map(|p| (p.clone(), std::fs::read_to_string(p).expect("text"))).collect()
}

/// `"f" 1 2` called: its results.
fn called(module: &Module, call: &str) -> Result<Vec<u128>, String> {
    let mut words = call.split_whitespace();
    let name = words.next().expect("a name").trim_matches('"');
    let index = module.funcs.iter().position(|f| f.name == name).unwrap_or_else(|| panic!("no function {name}"));
    let f = &module.funcs[index];
    let args = f.params.iter().zip(words).map(|(p, n)| Held::Word(Word::new(n.parse().expect("a number"), p.ty.bits().expect("a word"))));
    let results = Exec::new(module, Words).call(index as u32, args.collect())?;
    Ok(results.into_iter().map(|r| match r {
        Held::Word(w) => w.bits,
        Held::Ptr(_) => panic!("an address is returned"),
    }).collect())
}

/// What a file's directive ought to be.
fn told(module: &Module, line: &str) -> Option<String> {
    if let Some(rest) = line.strip_prefix("#! run ") {
        let call = rest.split(" ->").next().expect("a call");
        let found = called(module, call).map_or_else(|why| format!("fault: {why}"), |all| all.iter().map(u128::to_string).collect::<Vec<_>>().join(" "));
        return Some(format!("#! run {call} -> {found}"));
    }
    let call = line.strip_prefix("#! fault ")?.split(':').next().expect("a call");
    let found = called(module, call).map_or_else(|why| why, |all| format!("no fault: {all:?}"));
    Some(format!("#! fault {call}: {found}"))
}

/// Compares a file with what it should be, or writes that.
fn same(path: &Path, found: &str, wanted: &str) {
    if found != wanted && std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, wanted).expect("written");
        return;
    }
    assert_eq!(found, wanted, "{}", path.display());
}

#[test]
fn modules_compute_what_their_files_say() {
    let mut checked = 0;
    for (path, content) in files("") {
        let module = text::parse(&content).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        support::sound(&module).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let lines: Vec<String> = content.lines().map(|l| told(&module, l).unwrap_or_else(|| l.to_string())).collect();
        let directives = lines.iter().filter(|l| l.starts_with("#!")).count();
        assert!(directives > 0, "{} says nothing", path.display());
        same(&path, &content, &(lines.join("\n") + "\n"));
        checked += directives;
    }
    println!("{checked} calls compared");
    assert!(checked >= 20, "{checked}");
}

#[test]
fn modules_that_are_wrong_are_refused_with_the_reason() {
    let mut checked = 0;
    for (path, content) in files("refused") {
        let why = match text::parse(&content) {
            Err(e) => e.to_string(),
            Ok(module) => verify(&module).err().map_or_else(|| panic!("{} is accepted", path.display()), |p| p.to_string()),
        };
        let lines = content.lines().map(|l| if l.starts_with("#! refused:") { format!("#! refused: {why}") } else { l.to_string() });
        let wanted = lines.collect::<Vec<_>>().join("\n") + "\n";
        assert!(wanted.contains(&why), "{} has no `#! refused:`", path.display());
        same(&path, &content, &wanted);
        checked += 1;
    }
    println!("{checked} modules refused");
    assert!(checked >= 20, "{checked}");
}

#[test]
fn passes_make_what_their_files_say() {
    let (mut checked, mut named) = (0, std::collections::BTreeSet::new());
    for (path, content) in files("passes") {
        let (before, _) = content.split_once("#! after ").unwrap_or_else(|| panic!("{} names no pass", path.display()));
        let pass = content[before.len() + 9..].lines().next().expect("a name").trim().to_string();
        let module = text::parse(before).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        support::sound(&module).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let others = |name: &str| TABLE.iter().map(|p| p.name.to_string()).filter(|n| pass != "passes" && n != name).collect();
        assert!(pass == "passes" || TABLE.iter().any(|p| p.name == pass), "{}: there is no pass `{pass}`", path.display());
        let choice = Choice { without: others(&pass), last: None };
        let lowered = Lowered { module, funcs: std::collections::BTreeMap::new() };
        let made = optimise(&lowered, &Costs::default(), &choice).module;
        support::sound(&made).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let wanted: String = text::print(&made).lines().map(|l| if l.is_empty() { "#\n".to_string() } else { format!("# {l}\n") }).collect();
        same(&path, &content, &format!("{before}#! after {pass}\n{wanted}"));
        named.insert(pass);
        checked += 1;
    }
    println!("{checked} rewrites compared, of {named:?}");
    assert!(checked >= 4 && TABLE.iter().all(|p| named.contains(p.name)), "{checked} files, of {named:?}");
}
