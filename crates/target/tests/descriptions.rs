//! The shipped descriptions, and that nothing else knows what they say.

use santoku_target::{built_in, compilers, machine_names, names, schedule, vectors, Compilers, Executor, Fault, Target, DEFAULT_TARGET};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn all() -> Vec<Target> {
    names().into_iter().map(|n| built_in(n).unwrap_or_else(|e| panic!("{e}")).unwrap_or_else(|| panic!("{n}"))).collect()
}

#[test]
fn every_file_describes_a_target() {
    let names = names();
    for expected in [DEFAULT_TARGET, "rv32", "rv32-spark", "host64", "ckb", "cortex-m0", "cortex-m3", "s390x", "aarch64", "rv64im"] {
        assert!(names.contains(&expected), "{expected} is not in {names:?}");
    }
    for target in all() {
        assert!(names.contains(&target.name.as_str()) && machine_names().any(|m| m == target.machine), "{}", target.name);
    }
    assert_eq!(built_in("z80"), Ok(None));
    assert_eq!(built_in("compilers"), Ok(None), "the file of compilers is no target");
}

#[test]
fn what_descriptions_name_is_there() {
    let known = compilers().expect("right").0;
    let (mut used, mut seen) = (BTreeSet::new(), 0);
    for target in all() {
        for c in &target.compilers {
            assert!(known.contains_key(&c.name), "{}: no compiler `{}`", target.name, c.name);
            used.insert(c.name.clone());
        }
        let certify = target.certify.clone().unwrap_or_default();
        for on in &certify.on {
            let other = built_in(on).expect("right").unwrap_or_else(|| panic!("{}: certified on `{on}`", target.name));
            assert!(other.certify.is_some_and(|c| !c.isas.is_empty()), "{}: `{on}` has no instruction set with a model", target.name);
        }
        let run = target.run.as_ref().unwrap_or_else(|| panic!("{}: how is it run?", target.name));
        assert_eq!(matches!(run.on, Executor::E31 | Executor::CkbVm | Executor::Rv64Vm), !target.costs.is_empty(), "{}: costs", target.name);
        seen += 1;
    }
    assert!(seen >= 13);
    let unused: Vec<&String> = known.keys().filter(|k| !used.contains(*k)).collect();
    assert!(unused.is_empty(), "no target uses {unused:?}");
}

#[test]
fn a_file_that_is_not_wholly_understood_is_refused() {
    let good = "word_bits = 32\nwidest = 64\n[impl]\na = \"b\"\n[variable_time]\nmul = 64\n[[isa]]\nname = \"i\"\nflags = []\n\
                [[compiler]]\nname = \"c\"\nlevels = [\"O2\"]\n[run]\nmachine = \"m\"\non = \"emulator\"\nisa = \"i\"\ncommand = [\"e\"]\n\
                [[vector]]\nname = \"v\"\nregister_bits = 64\n";
    let target = Target::parse("t", "t.toml", good).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((target.products(), target.variable_time.mul), (32, Some(64)));
    let mut tried = 0;
    for (from, to) in [
        ("word_bits = 32\n", ""),
        ("word_bits = 32", "word_bits = 31"),
        ("word_bits = 32", "word_bits = \"32\""),
        ("widest = 64", "widest = 32"),
        ("widest = 64", "widest = 64\nwide = 1"),
        ("[impl]", "[impls]"),
        ("\"b\"", "51"),
        ("mul", "mull"),
        ("mul = 64", "mul = 0"),
        ("mul = 64", "mul = 129"),
        ("[variable_time]", "[variable_time"),
        ("isa = \"i\"", "isa = \"j\""),
        ("on = \"emulator\"", "on = \"guess\""),
        ("on = \"emulator\"", "on = \"native\""),
        ("command = [\"e\"]\n", ""),
        ("[\"O2\"]", "[\"O4\"]"),
        ("levels = [\"O2\"]\n", ""),
        ("register_bits = 64", "register_bits = 65"),
        ("register_bits = 64", "register_bits = 64\nlike = \"w\""),
        ("[[vector]]", "[[vector]]\nname = \"v\"\nregister_bits = 64\n[[vector]]"),
        ("[[compiler]]", "[[compiler]]\nname = \"c\"\nlevels = []\n[[compiler]]"),
    ] {
        let text = good.replace(from, to);
        assert_ne!(text, good);
        assert!(Target::parse("t", "t.toml", &text).is_err(), "{to}");
        tried += 1;
    }
    println!("tried: {tried} wrong descriptions, all refused");
}

#[test]
fn choices_name_a_machine() {
    let mut machine = |name: &str| built_in(name);
    let text = "machine = \"rv32\"\n[impl]\na = \"b\"\n";
    let chosen = Target::choose("mine", "mine.toml", text, &mut machine).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((chosen.name.as_str(), chosen.machine.as_str(), chosen.impls.len(), chosen.word_bits), ("mine", "rv32", 1, 32));
    for wrong in ["machine = \"z80\"\n", "[impl]\n", "machine = \"rv32\"\nword_bits = 32\n", "machine = 1\n"] {
        assert!(Target::choose("mine", "mine.toml", wrong, &mut machine).is_err(), "{wrong}");
    }
    let mut broken = |_: &str| Err(Fault { reason: "unreadable".into(), at: None });
    assert_eq!(Target::choose("mine", "mine.toml", text, &mut broken).map_err(|e| e.reason), Err("unreadable".into()));
}

const SCHEDULE: &str = "machine = \"rv32\"\n\n[schedule.\"a.f\"]\ninstructions = 9\nbefore = [[1, 2], [8, -3]]\nspill = [[0, 1]]\n";

#[test]
fn orders_that_were_found_are_read_and_written() {
    let mut machine = |name: &str| built_in(name);
    let read = |text: &str, machine: &mut dyn FnMut(&str) -> Result<Option<Target>, Fault>| Target::choose("mine", "mine.toml", text, machine);
    let chosen = read(SCHEDULE, &mut machine).unwrap_or_else(|e| panic!("{e}"));
    let found = &chosen.schedules["a.f"];
    assert_eq!((found.instructions, found.before.as_slice(), found.spill.as_slice(), found.behind.len()), (9, &[(1, 2), (8, -3)][..], &[(0, 1)][..], 0));
    // What is written is read again, what stands before it stays, and nothing is written of a function that is as it was.
    let mut all = chosen.schedules.clone();
    all.insert("b.g".into(), Default::default());
    let text = schedule::replaced(&format!("# why\nmachine = \"rv32\"\n\n[impl]\na = \"b\"\n{}", &SCHEDULE["machine = \"rv32\"\n".len()..].replace("a.f", "old")), &all);
    let again = read(&text, &mut machine).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((again.schedules, again.impls.len()), (chosen.schedules, 1), "{text}");
    assert!(text.starts_with("# why\n") && schedule::replaced(&text, &Default::default()).ends_with("a = \"b\"\n"));
    let mut tried = 0;
    for (from, to) in [("[8, -3]", "[1, -3]"), ("[8, -3]", "[-8, 3]"), ("[8, -3]", "[8]"), ("instructions = 9\n", ""), ("spill", "spills"), ("[0, 1]", "[0, 1.5]"), ("[schedule", "[schedules")] {
        let wrong = SCHEDULE.replace(from, to);
        assert!(wrong != SCHEDULE && read(&wrong, &mut machine).is_err(), "{to}");
        tried += 1;
    }
    println!("tried: {tried} wrong orders, all refused");
}

#[test]
fn compilers_are_refused_that_are_not_wholly_described() {
    let good = "[c]\nfamily = \"gcc\"\ncommand = \"cc\"\npackages = [\"p\"]\nversion = \"12\"\n";
    let all = Compilers::parse(good).expect("right");
    assert!(all.0["c"].is_pinned("cc (Debian 12.2.0-14) 12.2.0") && !all.0["c"].is_pinned("cc 1.2.0") && !all.0["c"].is_pinned(""));
    for (from, to) in [("family = \"gcc\"\n", ""), ("command", "commands"), ("\"12\"", "12"), ("[c]", "[c")] {
        assert!(Compilers::parse(&good.replace(from, to)).is_err(), "{to}");
    }
}

/// Operations that kernels use of every unit with lanes; a new unit must supply them.
#[test]
fn vector_units_have_the_operations_of_the_guide() {
    let guide = std::fs::read_to_string(root().join("docs/targets.md")).expect("the guide is there");
    let word = |s: &str| s.split('(').next().unwrap_or_default().to_string();
    let mut seen = 0;
    for unit in vectors().expect("right") {
        let own: BTreeSet<String> = unit.operations.keys().map(|k| word(k)).collect();
        let bits: &[u32] = if unit.lanes { &[8, 16, 32, 64] } else { &[64] };
        let names = if unit.lanes { &["SET", "ADD", "SUB", "MUL", "SHL", "SHR", "ROTL", "SHLV", "SHRV", "ROTLV", "UNPACKLO", "UNPACKHI"][..] } else { &["SET", "SHL", "SHR"] };
        let sized = names.iter().flat_map(|n| bits.iter().map(move |b| format!("{n}{b}")));
        for wanted in sized.chain(["XOR", "AND", "OR", "NOT"].map(String::from)) {
            assert!(own.contains(&wanted), "{}: no {wanted}", unit.name);
        }
        for name in names {
            assert!(guide.contains(&format!("`{name}")), "docs/targets.md does not say what `{name}` is");
        }
        assert!(unit.preamble(&[]).contains("#define V_XOR(a, b)"));
        assert_eq!(unit.ternary.is_some(), unit.preamble(&[0x96]).contains("V_LUT_96(a, b, c) _mm"), "{}", unit.name);
        seen += 1;
    }
    assert!(seen >= 4);
}

/// Every field of a description is in the porting guide.
#[test]
fn the_guide_names_every_field() {
    let guide = std::fs::read_to_string(root().join("docs/targets.md")).expect("the guide is there");
    let mut fields = 0;
    for file in ["target.rs", "run.rs", "schedule.rs", "vector.rs", "compiler.rs"] {
        let text = std::fs::read_to_string(root().join("crates/target/src").join(file)).expect("a source");
        let structs = text.split("Deserialize)]").skip(1).filter(|s| s.contains("pub struct"));
        for part in structs {
            let body = part.split("\n}").next().unwrap_or_default();
            let mut skip = false;
            let mut renamed = None;
            for line in body.lines().map(str::trim) {
                skip |= line.starts_with("#[serde(skip)]");
                renamed = line.split("rename = \"").nth(1).and_then(|r| r.split('"').next()).map(str::to_string).or(renamed);
                let Some(name) = line.trim_start_matches("pub ").split_once(": ").map(|(n, _)| n).filter(|n| n.chars().all(|c| c.is_ascii_lowercase() || c == '_')) else { continue };
                if !std::mem::take(&mut skip) {
                    let name = renamed.take().unwrap_or_else(|| name.to_string());
                    assert!(guide.contains(&format!("`{name}`")), "docs/targets.md does not name `{name}` of {file}");
                    fields += 1;
                }
                renamed = None;
            }
        }
    }
    assert!(fields > 40, "{fields} fields");
}

/// No code names a compiler or chooses an instruction set by itself: tests apart, which try what no description has.
#[test]
fn no_other_place_knows_compilers_and_instruction_sets() {
    let mut words: BTreeSet<String> = ["-march=", "-mabi=", "-mcpu="].map(String::from).into();
    words.extend(compilers().expect("right").0.values().map(|c| c.command()).filter(|c| c != "gcc"));
    words.extend(all().iter().flat_map(|t| t.isas.iter()).map(|i| format!("\"{}\"", i.name)).filter(|n| n != "\"host\""));
    let mut sources = vec![];
    gather(&root().join("crates"), &mut sources);
    gather(&root().join("tools"), &mut sources);
    let (mut lines, mut found) = (0, vec![]);
    for path in &sources {
        let text = std::fs::read_to_string(path).expect("a source");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in code.lines().filter(|l| !l.trim_start().starts_with("//")) {
            lines += 1;
            found.extend(words.iter().filter(|w| line.contains(w.as_str())).map(|w| format!("{}: {w}", path.display())));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    assert!(lines > 50_000, "{lines} lines");
    println!("tried: {} words in {lines} lines of {} files", words.len(), sources.len());
}

fn gather(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let test = name == "tests" || name == "tests.rs" || name.ends_with("_tests.rs");
        if path.is_dir() && !test && name != "examples" {
            gather(&path, out);
        } else if path.is_file() && !test && [".rs", ".sh"].iter().any(|e| name.ends_with(e)) {
            out.push(path);
        }
    }
}
