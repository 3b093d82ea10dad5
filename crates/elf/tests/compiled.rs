//! What compilers make is read as it is, and relocated as the linker does it.

mod common;

use common::{ways, Folder, Way, SAMPLE};
use santoku_elf::{load, Access, Image};
use std::collections::BTreeMap;

const GLOBALS: [&str; 4] = ["calls", "constants", "jumps", "tail"];
const EXTERNALS: [&str; 3] = ["memcpy", "memset", "outside"];

fn object(way: &Way, source: &str) -> (Folder, Image) {
    let folder = Folder::new();
    let image = load(&folder.compile(way, source)).unwrap_or_else(|e| panic!("{}: {e}", way.name()));
    (folder, image)
}

#[test]
fn functions_data_externals_and_lines_are_found() {
    for way in ways() {
        let (_folder, image) = object(&way, SAMPLE);
        let name = way.name();
        assert_eq!((image.xlen, image.compressed, image.linked), (way.xlen, way.march.ends_with('c'), false), "{name}");
        assert_eq!(image.line_fault, None, "{name}");
        for global in GLOBALS {
            let f = image.function(global).unwrap_or_else(|| panic!("{name}: no {global}"));
            assert!(!f.local && f.size > 8 && image.function_at(f.address + 2) == Some(f));
            let first = SAMPLE.lines().position(|l| l.contains(&format!(" {global}("))).expect("there") as u32 + 1;
            let (file, line) = image.line(f.address).expect("a line");
            assert!(file.ends_with("sample.c") && line.abs_diff(first) <= 1, "{name}: {global} at {file}:{line}");
        }
        assert!(image.function("local").is_some_and(|f| f.local), "{name}");
        let mut found: Vec<&str> = vec![];
        for f in &image.functions {
            let mut pc = f.address;
            while pc < f.address + f.size {
                let word = image.fetch(pc).unwrap_or_else(|| panic!("{name}: no code at {pc:#x}"));
                found.extend(image.external_at(pc));
                pc += if word & 3 == 3 { 4 } else { 2 };
            }
            assert_eq!(pc, f.address + f.size, "{name}: {}", f.name);
        }
        found.sort();
        found.dedup();
        assert_eq!(found, EXTERNALS, "{name}");
        let table = image.data.iter().find(|d| d.name == "table").expect("table");
        let words: Vec<u8> = (0..8).filter_map(|k| image.read_only(table.address + k)).collect();
        assert_eq!(words, [1, 0, 0, 0, 2, 0, 0, 0], "{name}");
        let counter = image.data.iter().find(|d| d.name == "counter").expect("counter");
        assert!(counter.writable && image.read_only(counter.address).is_none(), "{name}");
        assert!(image.function_at(0).is_none() && image.line(0).is_none() && image.fetch(counter.address).is_none());
    }
}

/// A script that puts every section where we did.
fn same_places(image: &Image) -> String {
    let mut text = String::from("SECTIONS {\n");
    for s in &image.sections {
        text += &format!("  {n} {a:#x} : {{ *({n}) }}\n", n = s.name, a = s.address);
    }
    text + "  /DISCARD/ : { *(.comment) *(.eh_frame) }\n}\n"
}

#[test]
fn relocated_bytes_are_those_of_the_linker() {
    let mut compared = 0;
    for way in ways() {
        let (folder, image) = object(&way, SAMPLE);
        let mut flags: Vec<String> = image.externals().map(|(at, name)| format!("--defsym={name}={at:#x}")).collect();
        flags.push("--no-relax".into());
        let linked = load(&folder.link(&way, &same_places(&image), &flags)).expect("image");
        for s in image.sections.iter().filter(|s| s.access != Access::Writable) {
            let bytes = |i: &Image| (0..s.size).map(|k| i.read_only(s.address + k)).collect::<Option<Vec<u8>>>();
            assert_eq!(linked.section_of(s.address), Some(s.name.as_str()), "{}", way.name());
            let (ours, theirs) = (bytes(&image).expect("constant"), bytes(&linked).expect("constant"));
            let first = ours.iter().zip(&theirs).position(|(a, b)| a != b);
            assert_eq!(first, None, "{}: section {}", way.name(), s.name);
            compared += ours.len();
        }
    }
    println!("{compared} bytes as the linker makes them");
    assert!(compared > 15_000);
}

/// A table of jumps holds addresses; constants of one section may be reached from a label for all of them.
fn keeps_hash(way: &Way, function: &str) -> bool {
    let together = !way.flags.contains(&"-fdata-sections");
    function != "jumps" && !(together && ["local", "constants"].contains(&function))
}

const SCRIPT: &str = "SECTIONS {
  .text 0x20400000 : { *(.text .text.*) }
  .rodata : { *(.rodata .rodata.* .srodata .srodata.*) }
  .data 0x60000000 : { *(.data .data.* .sdata .sdata.*) }
  .bss : { *(.bss .bss.* .sbss .sbss.*) }
  /DISCARD/ : { *(.comment) *(.eh_frame) }
}";

fn hashes(image: &Image) -> BTreeMap<String, [u8; 32]> {
    image.functions.iter().map(|f| (f.name.clone(), image.code_hash(f))).collect()
}


/// Functions are called by name, so the image must have these under their names.
fn with_outside(source: &str) -> String {
    let memory = "void *memcpy(void *a, const void *b, size n) { return b ? a : (void *)n; }
void *memset(void *a, int c, size n) { return c ? a : (void *)n; }
void outside(u32 *p) { p[0] = 1; }\n";
    source.replace("void *memcpy(void *, const void *, size);\n", "").replace("void *memset(void *, int, size);\n", "").replace("void outside(u32 *);", memory)
}

#[test]
fn hashes_survive_linking() {
    let (mut same, mut total) = (0, 0);
    for way in ways() {
        let folder = Folder::new();
        let image = load(&folder.compile(&way, &with_outside(SAMPLE))).expect("object");
        let flags = if way.xlen == 64 && way.flags.contains(&"-mcmodel=medlow") { "0x10000" } else { "0x20400000" };
        let linked = load(&folder.link(&way, &SCRIPT.replace("0x20400000", flags), &["--no-relax".into()])).expect("image");
        assert!(linked.linked);
        let (a, b) = (hashes(&image), hashes(&linked));
        assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>(), "{}", way.name());
        for (name, hash) in &a {
            let equal = b[name] == *hash;
            total += 1;
            same += usize::from(equal);
            assert!(equal || !keeps_hash(&way, name), "{}: {name} changed", way.name());
        }
    }
    println!("{same} of {total} functions have the hash of their object after linking");
    assert!(same * 10 > total * 8);
}

#[test]
fn hashes_tell_meanings_apart() {
    let changes = [
        ("one instruction", "sum += local", "sum -= local", "calls"),
        ("one constant of a table", "29, 31, 37", "29, 31, 39", "local"),
        ("the callee", "memset(p, 0, 400)", "memcpy(p, 0, 400)", "tail"),
        ("a wide constant", "0x9e3779b97f4a7c15", "0x9e3779b97f4a7c17", "constants"),
        ("a variable", "+ counter;", "+ scratch[0];", "local"),
    ];
    let mut told = 0;
    let some: Vec<Way> = ways().into_iter().step_by(3).collect();
    for way in &some {
        let way = way.clone();
        let (_folder, image) = object(&way, SAMPLE);
        let before = hashes(&image);
        for (what, from, to, function) in changes {
            assert!(SAMPLE.contains(from));
            let (_folder, changed) = object(&way, &SAMPLE.replace(from, to));
            assert_ne!(hashes(&changed)[function], before[function], "{}: {what}", way.name());
            told += 1;
        }
        let (_folder, moved) = object(&way, &SAMPLE.replace("u32 jumps", "u32 filler(u32 *a) { outside(a); return *a + 5; }\nu32 jumps"));
        for name in ["calls", "constants", "local", "tail"].into_iter().filter(|n| keeps_hash(&way, n)) {
            assert_eq!(hashes(&moved)[name], before[name], "{}: {name} only moved", way.name());
        }
    }
    assert_eq!(told, some.len() * changes.len());
}
