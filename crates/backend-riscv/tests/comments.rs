//! Comments of assembly: they name lines of the source that are there and variables that stand on them, and change no instruction.

#[path = "../../lower/tests/support/library.rs"]
#[allow(dead_code)] // each test binary uses its part
mod library;

use library::built_with;
use santoku_backend_riscv::{emit, Options};
use santoku_driver::Built;
use santoku_lower::legalise::{legalise, Spread};
use santoku_lower::pass::{optimise, Choice, Costs};
use santoku_lower::{Machine, Module, Notes};
use santoku_passes::Level;
use std::collections::BTreeMap;
use std::path::Path;

fn lowered(made: &Built, words: &[u32]) -> Module {
    let lowered = legalise(&made.program, &Machine { words: words.to_vec(), big_endian: false }, Spread::default()).unwrap_or_else(|e| panic!("{e}"));
    optimise(&lowered, &Costs::default(), &Choice::default()).module
}

fn text(module: &Module, xlen: u32, fused: bool) -> String {
    let symbols = (0..module.funcs.len()).map(|k| format!("f{k}")).collect();
    emit(module, &Options { xlen, zba: fused, zbb: fused, symbols, latency: (!fused).then(Default::default), fused, short: false, tuned: Default::default() }).unwrap_or_else(|e| panic!("{e}")).text
}

/// Names that the front end and passes give, which stand nowhere.
const MADE: [&str; 5] = ["t", "part", "w", "v", "cond"];

/// Without comments.
fn instructions(text: &str) -> Vec<String> {
    text.lines().map(|l| l.split('#').next().unwrap_or_default().trim_end().to_string()).filter(|l| !l.is_empty()).collect()
}

/// File, line and variable of a comment: those in another file begin with its name.
fn place<'c>(comment: &'c str, here: &'c str) -> Option<(&'c str, usize, Option<&'c str>)> {
    let mut parts = comment.splitn(3, ':').map(str::trim);
    let first = parts.next()?;
    let (file, line) = match first.parse() {
        Ok(n) => (here, n),
        Err(_) => (first, parts.next()?.parse().ok()?),
    };
    let variable = parts.next().map(|v| v.split_once(" of ").filter(|(w, _)| w.starts_with("word ")).map_or(v, |(_, v)| v));
    Some((file, line, variable.map(|v| v.split(['$', '[', '.', ' ']).next().unwrap_or_default())))
}

/// Whether a line, from 1, is one of the function.
fn is_inside(source: &[String], line: usize, function: &str) -> bool {
    let head = source[..line.min(source.len())].iter().rev().take_while(|l| *l != "}").find(|l| l.starts_with("fn "));
    head.is_some_and(|l| l[3..].split(['(', '<']).next() == Some(function))
}

/// Comments with a variable, and how many of them name one that stands on their line, `off` lines further down.
fn named(text: &str, sources: &BTreeMap<String, Vec<String>>, off: usize) -> (usize, usize) {
    let (mut all, mut right, mut here) = (0, 0, String::new());
    for line in text.lines() {
        let Some((code, comment)) = line.split_once("# ") else { continue };
        if code.is_empty() {
            let file = comment.split_once('(').and_then(|(_, p)| p.split_once(", line")).map(|(f, _)| f);
            here = file.and_then(|f| Path::new(f).file_stem()).map(|s| s.to_string_lossy().into_owned()).unwrap_or(here);
            continue;
        }
        let (file, number, variable) = place(comment, &here).unwrap_or_else(|| panic!("{line}"));
        let source = sources.get(file).unwrap_or_else(|| panic!("no file {file}: {line}"));
        let Some(variable) = variable else {
            assert!((1..=source.len()).contains(&number), "{line}");
            continue;
        };
        let made = MADE.contains(&variable) || variable.trim_end_matches(|c: char| c.is_ascii_digit()) == "result";
        // `x$1_round` is the parameter `x` of a call of `round`, which stands there without its name; what was made in `round` is there.
        let function = comment.split_once('$').and_then(|(_, v)| v.split_once('_')).map(|(_, f)| f.split(['[', '.', ' ', ';', ',']).next().unwrap_or_default());
        let stands = source.get(number - 1 + off).is_some_and(|l| l.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == variable || Some(w) == function));
        let stands = stands || made && function.is_some_and(|f| is_inside(source, number + off, f));
        all += 1;
        right += usize::from(stands);
        assert!(stands || made || off > 0, "`{variable}` does not stand there: {line}");
    }
    (all, right)
}

/// Lines of all files of the library, by the files' names.
fn sources(folder: &Path, all: &mut BTreeMap<String, Vec<String>>) {
    for e in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = e.path();
        if path.is_dir() {
            sources(&path, all);
        } else if let (Some(stem), Ok(text)) = (path.file_stem(), std::fs::read_to_string(&path)) {
            all.insert(stem.to_string_lossy().into_owned(), text.lines().map(String::from).collect());
        }
    }
}

#[test]
fn comments_name_what_stands_on_their_line() {
    let mut lines = BTreeMap::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib"), &mut lines);
    let (mut all, mut right, mut shifted) = (0, 0, 0);
    for (path, target, words, fused) in [("lib/scalarmult/curve25519.stk", "e31", &[32][..], false), ("lib/hash/sha256.stk", "rv32", &[32], false), ("lib/ecdsa/p256.stk", "ckb", &[32, 64], true)] {
        let impls: &[(&str, &str)] = if fused { &[("field.fep256", "mont64")] } else { &[] };
        let made = built_with(path, target, Level::O2, impls).expect("it is built");
        let mut module = lowered(&made, words);
        let xlen = *words.last().expect("words");
        let told = text(&module, xlen, fused);
        let (n, good) = named(&told, &lines, 0);
        let (_, other) = named(&told, &lines, 1);
        (all, right, shifted) = (all + n, right + good, shifted + other);
        module.funcs.iter_mut().for_each(|f| f.notes = Notes::default());
        let bare = text(&module, xlen, fused);
        assert_eq!(instructions(&told), instructions(&bare), "{path}: comments change the code");
        assert!(named(&bare, &lines, 0).0 == 0, "{path}");
    }
    println!("tried: {all} comments with a variable, {right} on whose line it stands; {shifted} on the line behind it");
    // The line behind has the variable of a line where it is used next.
    assert!(all > 500 && 4 * right > 3 * all && shifted < right, "{all} {right} {shifted}");
}
