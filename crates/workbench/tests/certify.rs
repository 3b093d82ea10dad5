//! What is kept of certified objects: tables, records, the list of proved hashes.

mod support;

use santoku_certify::manifest::parse;
use santoku_certify::{certify, isa_of, Options, World};
use santoku_driver::{build, check, BuildOptions, Request, Store};
use santoku_lab::record::Stamp;
use santoku_workbench::certify::{cell, faultless, holds, run, text, write_records, Cell, Outside, Wish};
use santoku_workbench::claims::{again, chosen, kept, manifest, program_faults, text_faults, Again, MANIFEST};
use santoku_workbench::matrix::{compile, compiler_version, configs, Level};
use santoku_workbench::compile::Checks;
use santoku_workbench::matrix_units::{units, Made};
use santoku_workbench::primitives::Tree;
use santoku_workbench::BenchError;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use support::tree;

struct Nothing;

impl Store for Nothing {
    fn get(&self, _: &str) -> Option<String> {
        None
    }
    fn put(&self, _: &str, _: &str) {}
}

const PROGRAM: &str = "@export(\"choose\")\nfn choose(x: u32, y: u32, s: bool) -> u32 { if s { x } else { y } }\n";

/// A small program, and its C with a change.
fn small(spoil: impl Fn(String) -> String) -> (Made, String) {
    let target = santoku_driver::built_in("portable").expect("its file is right").expect("it is compiled in");
    let mut load = |path: &str| Ok((path == "unit.stk").then(|| PROGRAM.to_string()));
    let checked = check(&Request::new("unit.stk", target), &mut load).unwrap_or_else(|f| panic!("{f:?}"));
    let options = BuildOptions {
        level: santoku_passes::Level::O2,
        without: Default::default(),
        dump_after: None,
        unit: "unit".into(),
        provenance: String::new(),
        keep_secrets: true,
    };
    let built = build(&checked, &options, &|| 0).unwrap_or_else(|f| panic!("{f:?}"));
    let file = |name: &str| built.files.iter().find(|(n, _)| n == name).map(|(_, t)| t.clone()).expect("a file");
    let source = file("unit.c").replace("#include \"unit.h\"", &file("unit.h"));
    let c = spoil(source.clone());
    (Made { program: built.program, names: built.names, source, checks: Checks::default() }, c)
}

/// The small program in the place of the first unit's, compiled at these levels; `spoil` changes the C.
fn cells(levels: &[Level], spoil: impl Fn(String) -> String) -> Option<Vec<Cell>> {
    let (built, c) = small(spoil);
    let unit = units(&tree()).expect("the tables are right").into_iter().next().expect("a unit");
    let folder = tempfile::tempdir().expect("scratch");
    let mut cells = vec![];
    for config in configs().expect("described").into_iter().filter(|x| x.march == "rv32imc" && x.compiler.family == "gcc" && levels.contains(&x.level)) {
        let Ok(compiler) = compiler_version(&config) else {
            santoku_skips::skip("lists and tables", "there is no gcc for RISC-V here");
            return None;
        };
        let object = compile(&config, &c, folder.path()).unwrap_or_else(|e| panic!("{e}"));
        let image = santoku_elf::load(&object).expect("an object");
        let symbols = built.names.iter().map(|(func, name)| (name.clone(), *func)).collect();
        let world = World { store: &Nothing, clock: &|| 0, tell: &|_, _, _| {} };
        let isa = isa_of(&config.march).expect("a model");
        let report = certify(&image, isa, &built.program, symbols, &Options::default(), &world);
        cells.push(Cell { unit: unit.clone(), config, compiler, report, text: "0".repeat(64), micros: 1_500_000 });
    }
    assert_eq!(cells.len(), levels.len());
    Some(cells)
}

fn wrong(c: String) -> String {
    let text = c.replace("return result;", "return result + 1u;");
    assert_ne!(text, c);
    text
}

#[test]
fn tables_tell_counts_and_reasons() {
    let Some(good) = cells(&[Level::O1, Level::Os], |c| c) else { return };
    assert!(holds(&good) && !holds(&[]) && faultless(&good) && !faultless(&[]));
    let table = text(&good);
    assert!(table.contains("gcc O1") && table.contains("gcc Os") && table.matches("1/1").count() == 2, "{table}");
    assert!(table.ends_with("2 of 2 functions proved in 2 objects, 3.0 s\n"), "{table}");
    let Some(bad) = cells(&[Level::O1], wrong) else { return };
    assert!(!holds(&bad) && !faultless(&bad));
    let table = text(&bad);
    assert!(table.contains("0/1") && table.contains("rv32imc gcc O1: choose: refuted: the result in a0"), "{table}");
}

#[test]
fn records_are_whole_and_never_overwritten() {
    let Some(cells) = cells(&[Level::O1], wrong) else { return };
    let folder = tempfile::tempdir().expect("scratch");
    let tree = Tree { root: folder.path().to_path_buf() };
    let stamp = Stamp { date: "2026-01-31".into(), commit: "abc".into() };
    let first = write_records(&tree, &cells, &stamp).unwrap_or_else(|e| panic!("{e}"));
    let second = write_records(&tree, &cells, &stamp).unwrap_or_else(|e| panic!("{e}"));
    let name = &cells[0].unit.primitive.name;
    assert_eq!(first, [std::path::PathBuf::from(format!("lab/runs/2026-01-31-certify.{name}.json"))]);
    assert_eq!(second, [std::path::PathBuf::from(format!("lab/runs/2026-01-31-certify.{name}-2.json"))]);
    let text = std::fs::read_to_string(folder.path().join(&first[0])).expect("a record");
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let row = &value["rows"][0];
    assert_eq!((&row["functions"], &row["proved"], &row["level"]), (&1.into(), &0.into(), &"O1".into()));
    assert_eq!((&row["open"][0]["symbol"], &row["open"][0]["verdict"]), (&"choose".into(), &"refuted".into()));
    assert!(row["micros"] == 1_500_000 && row["flags"].as_array().is_some_and(|f| !f.is_empty()) && value["commit"] == "abc");
}

#[test]
fn the_list_has_what_is_proved_and_loses_what_is_no_more() {
    let Some(good) = cells(&[Level::O1, Level::Os], |c| c) else { return };
    let folder = tempfile::tempdir().expect("scratch");
    let tree = Tree { root: folder.path().to_path_buf() };
    std::fs::create_dir_all(folder.path().join("dist")).expect("scratch");
    let list = manifest(&tree, &good).unwrap_or_else(|e| panic!("{e}"));
    let records = parse(&list).expect("a list").functions;
    assert_eq!(records.len(), 2);
    assert!(records.iter().all(|r| r.symbol == "choose" && r.march == "rv32imc" && r.hash.len() == 64 && !r.compiler.is_empty()));
    std::fs::write(folder.path().join(MANIFEST), &list).expect("scratch");
    assert_eq!(manifest(&tree, &good).unwrap_or_else(|e| panic!("{e}")), list, "again the same");
    // At one level the function is not proved any more: its record goes, the other stays.
    let Some(bad) = cells(&[Level::O1], wrong) else { return };
    let less = parse(&manifest(&tree, &bad).unwrap_or_else(|e| panic!("{e}"))).expect("a list").functions;
    assert_eq!(less.len(), 1);
    assert!(less[0].flags.contains(&"-Os".to_string()));
    std::fs::write(folder.path().join(MANIFEST), "{}").expect("scratch");
    assert!(matches!(manifest(&tree, &good), Err(BenchError::Declaration { .. })));
}

/// Keeps texts, and counts those that are put.
#[derive(Default)]
struct Memory(Mutex<BTreeMap<String, String>>);

impl Store for Memory {
    fn get(&self, key: &str) -> Option<String> {
        self.0.lock().expect("one thread at a time").get(key).cloned()
    }
    fn put(&self, key: &str, text: &str) {
        self.0.lock().expect("one thread at a time").insert(key.into(), text.into());
    }
}

/// What was judged is not judged again, proved or not, unless that is wished for.
#[test]
fn a_run_that_was_broken_off_goes_on() {
    let unit = units(&tree()).expect("the tables are right").into_iter().next().expect("a unit");
    let config = configs().expect("described").into_iter().find(|c| c.march == "rv32imc" && c.compiler.family == "gcc").expect("a row");
    for spoil in [|c| c, wrong] {
        let folder = tempfile::tempdir().expect("scratch");
        let (made, c) = small(spoil);
        let object = match compile(&config, &c, folder.path()) {
            Ok(object) => object,
            Err(e) => return santoku_skips::skip("runs that go on", e),
        };
        let store = Memory::default();
        let compared = AtomicUsize::new(0);
        let go = |again: bool| {
            let tell = |_: &str| {
                compared.fetch_add(1, Ordering::Relaxed);
            };
            let outside = Outside { store: &store, clock: &|| 0, tell: &tell, judged: &|_| {} };
            let wish = Wish { again, ..Wish::default() };
            let cell = cell(&tree(), &unit, (&config, "cc 1".into()), &made, &object, (&wish, &outside)).unwrap_or_else(|e| panic!("{e}"));
            (serde_json::to_string(&cell.report).expect("JSON"), compared.swap(0, Ordering::Relaxed))
        };
        let (first, work) = go(false);
        assert!(work > 0);
        assert_eq!(go(false), (first, 0));
        assert!(go(true).1 > 0);
        // What is kept under another key says nothing.
        let spoilt = |(k, v): (&String, &String)| (k.clone(), v.replace(k.as_str(), "0"));
        let kept: BTreeMap<String, String> = store.0.lock().expect("idle").iter().map(spoilt).collect();
        *store.0.lock().expect("idle") = kept;
        assert!(go(false).1 > 0);
    }
}

#[test]
fn a_wish_for_nothing_is_refused() {
    let outside = Outside { store: &Nothing, clock: &|| 0, tell: &|_| {}, judged: &|_| {} };
    let ask = |wish: Wish| run(&tree(), &wish, &outside).err().map(|e| e.to_string()).expect("refused");
    assert!(ask(Wish { name: Some("nacl.sing".into()), ..Wish::default() }).contains("nacl.sign@rv32"));
    let none = ask(Wish { name: Some("nacl.sign@rv32".into()), march: Some("rv64im".into()), ..Wish::default() });
    assert!(none.contains("rv32imc gcc O2"), "{none}");
}

/// The list that is shipped says of which files it is, and every file, every object and every theorem of it is asked about.
#[test]
fn what_is_claimed_is_of_the_files_that_are_shipped() {
    let tree = tree();
    let list = kept(&tree).unwrap_or_else(|e| panic!("{e}")).expect("there is a list");
    let faults = text_faults(&tree, &list).unwrap_or_else(|e| panic!("{e}"));
    assert!(faults.is_empty(), "run `santoku lab certify --listed --write-manifest`: {faults:#?}");
    let told = |list: &santoku_certify::manifest::List, what: &str| {
        let faults = text_faults(&tree, list).unwrap_or_else(|e| panic!("{e}"));
        assert!(faults.iter().any(|f| f.contains(what)), "{what}: {faults:?}");
    };
    let mut other = list.clone();
    other.files[0].sha256 = "0".repeat(64);
    told(&other, &list.files[0].path);
    let mut other = list.clone();
    let gone = other.files.pop().expect("a file");
    told(&other, &gone.path);
    let at = |target: &str| list.objects.iter().position(|o| o.primitive == "nacl.sign" && o.target == target).expect("a shipped object");
    // C, and assembly of ours.
    for shipped in [at("rv32"), at("e31+assembly")] {
        let mut other = list.clone();
        other.objects[shipped].text = "0".repeat(64);
        told(&other, "another text than `dist` has");
        let mut other = list.clone();
        other.objects.remove(shipped);
        told(&other, "not certified");
    }
    let mut other = list.clone();
    other.functions.clear();
    told(&other, "nothing is certified");
    // The programs of one unit, and of one whose source has changed since.
    let mut one = list.clone();
    one.objects.retain(|o| o.primitive == "hash.sha256");
    assert!(one.objects.len() > 10 && program_faults(&tree, &one).unwrap_or_else(|e| panic!("{e}")).is_empty());
    one.objects[3].program = "0".repeat(64);
    let faults = program_faults(&tree, &one).unwrap_or_else(|e| panic!("{e}"));
    assert!(matches!(&faults[..], [f] if f.contains("another program")), "{faults:?}");
    // Every object has its turn.
    let turns: std::collections::BTreeSet<String> = (0..list.objects.len() as u64).flat_map(|t| chosen(&list, t)).map(|o| o.name()).collect();
    let names: std::collections::BTreeSet<String> = list.objects.iter().map(|o| o.name()).collect();
    assert!(turns == names && chosen(&list, 5).len() == 2, "one of each width, in turn all");
}

/// Two small objects, one of each width, put into the list and certified again; and with a theorem too few, too many and another.
#[test]
fn a_theorem_that_disappears_is_named() {
    let tree = tree();
    let store = Memory::default();
    let outside = Outside { store: &store, clock: &|| 0, tell: &|_| {}, judged: &|_| {} };
    let mut certified = 0;
    for march in ["rv32imc", "rv64imc"] {
        let wish = Wish {
            name: Some("cipher.rectangle".into()),
            compiler: Some("gcc".into()),
            levels: vec![Level::O2],
            march: Some(march.into()),
            ..Wish::default()
        };
        let cells = match run(&tree, &wish, &outside) {
            Ok(cells) => cells,
            Err(e @ BenchError::Lab { .. }) => {
                santoku_skips::skip("theorems that disappear", e);
                continue;
            }
            Err(e) => panic!("{e}"),
        };
        let list = parse(&manifest(&tree, &cells).unwrap_or_else(|e| panic!("{e}"))).expect("a list");
        let small = |o: &&santoku_certify::manifest::Object| {
            o.primitive == "cipher.rectangle" && o.march == march && o.compiler.contains("gcc") && o.flags.contains(&"-O2".to_string())
        };
        let o = list.objects.iter().find(small).expect("a cipher").clone();
        let ask = |list: &santoku_certify::manifest::List, o| again(&tree, list, o, &outside).unwrap_or_else(|e| panic!("{e}"));
        match ask(&list, &o) {
            // Two functions, and those around them that clear the stack.
            Again::Holds(n) => assert!(n == 4, "{n}"),
            Again::Skipped(why) => {
                santoku_skips::skip(o.name(), why);
                continue;
            }
            Again::Faults(faults) => panic!("{faults:?}"),
        }
        let named = |list, o, what: &str| {
            let Again::Faults(faults) = ask(list, o) else { panic!("{what}: nothing is told") };
            assert!(faults.iter().any(|f| f.contains(what)), "{what}: {faults:?}");
        };
        // A theorem of the list that is not proved (any more).
        let mut more = list.clone();
        let mut r = more.functions.iter().find(|r| o.has(r)).expect("a function").clone();
        r.symbol = "rectangle_decrypt".into();
        more.functions.push(r);
        named(&more, &o, "`rectangle_decrypt` is no longer proved");
        let mut less = list.clone();
        let at = less.functions.iter().position(|r| o.has(r)).expect("a function");
        let gone = less.functions.remove(at);
        named(&less, &o, &format!("`{}` is proved, and not in the list", gone.symbol));
        let mut other = list.clone();
        other.functions[at].hash = "1".repeat(64);
        named(&other, &o, &format!("`{}` is proved, but of other code", gone.symbol));
        let text = santoku_certify::manifest::Object { text: "0".repeat(64), ..o.clone() };
        named(&list, &text, "another text or program");
        certified += 1;
    }
    santoku_skips::checked(certified, "objects certified again");
}
