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

/// Its table of jumps holds addresses, which mean what lies there: its hash is of its file alone.
fn is_of_its_file(function: &str) -> bool {
    function == "jumps"
}

/// A table of jumps holds addresses; constants of one section may be reached from a label for all of them.
fn keeps_hash(way: &Way, function: &str) -> bool {
    let together = !way.flags.contains(&"-fdata-sections");
    !is_of_its_file(function) && !(together && ["local", "constants"].contains(&function))
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
    let memory = "#define FAR __attribute__((noinline))
FAR void *memcpy(void *a, const void *b, size n) { return b ? a : (void *)n; }
FAR void *memset(void *a, int c, size n) { return c ? a : (void *)n; }
FAR void outside(u32 *p) { p[0] = 1; }\n";
    source.replace("void *memcpy(void *, const void *, size);\n", "").replace("void *memset(void *, int, size);\n", "").replace("void outside(u32 *);", memory)
}

/// The object and the image linked from it, with shortened calls or not.
fn linked(way: &Way, flags: &[String]) -> (Image, Vec<u8>) {
    let folder = Folder::new();
    let image = load(&folder.compile(way, &with_outside(SAMPLE))).expect("object");
    let low = way.xlen == 64 && way.flags.contains(&"-mcmodel=medlow");
    let script = if low { SCRIPT.replace("0x20400000", "0x400000") } else { SCRIPT.to_string() };
    (image, folder.link(way, &script, flags))
}

#[test]
fn hashes_survive_linking() {
    let (mut same, mut total, mut shortened) = (0, 0, 0);
    for way in ways() {
        for flags in [vec![], vec!["--no-relax".to_string()]] {
            let (object, elf) = linked(&way, &flags);
            let image = load(&elf).expect("image");
            assert!(image.linked);
            for f in object.functions.iter().filter(|f| !is_of_its_file(&f.name)) {
                let there = image.function(&f.name).unwrap_or_else(|| panic!("{}: no {}", way.name(), f.name));
                let equal = image.code_hashes(there).contains(&object.code_hash(f));
                total += 1;
                same += usize::from(equal);
                shortened += usize::from(equal && there.size < f.size);
                assert!(equal || !keeps_hash(&way, &f.name), "{} {flags:?}: {} changed", way.name(), f.name);
            }
            assert!(object.functions.iter().all(|f| object.code_hashes(f) == [object.code_hash(f)]));
        }
    }
    println!("{same} of {total} functions have the hash of their object after linking, {shortened} of them shortened");
    assert!(same * 10 > total * 8 && shortened > 50);
}

/// No bit of a linked function can change without its hash.
#[test]
fn patched_images_are_noticed() {
    let wanted = |w: &Way| w.march == "rv32imc" && w.flags.contains(&"-fdata-sections");
    let (mut noticed, mut refused) = (0, 0);
    for way in ways().into_iter().filter(wanted) {
        let (object, elf) = linked(&way, &[]);
        let image = load(&elf).expect("image");
        for name in ["calls", "constants", "tail", "local"] {
            let (f, original) = (image.function(name).expect("there"), object.code_hash(object.function(name).expect("there")));
            let code: Vec<u8> = (0..f.size).filter_map(|k| image.read_only(f.address + k)).collect();
            let at = elf.windows(code.len()).position(|w| w == code).expect("in the file");
            for bit in 0..code.len() * 8 {
                let mut bad = elf.clone();
                bad[at + bit / 8] ^= 1 << (bit % 8);
                match load(&bad) {
                    Ok(bad) => {
                        let hashes = bad.code_hashes(bad.function(name).expect("there"));
                        assert!(!hashes.contains(&original), "{}: {name} with bit {bit} changed", way.name());
                        noticed += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
        }
    }
    println!("tried: {noticed} patched functions noticed, {refused} files refused");
    assert!(noticed > 5000);
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

/// A replaced instruction is read and hashed; what means something only with its other half is not replaced, nor is what is no code.
#[test]
fn single_instructions_are_replaced() {
    for way in ways() {
        let (_folder, image) = object(&way, SAMPLE);
        let name = way.name();
        let (nop, short): (&[u8], &[u8]) = (&[0x13, 0, 0, 0], &[1, 0]);
        let (mut replaced, mut refused) = (0, 0);
        for f in &image.functions {
            let mut pc = f.address;
            while pc < f.address + f.size {
                let word = image.fetch(pc).expect("code");
                let (right, wrong) = if word & 3 == 3 { (nop, short) } else { (short, nop) };
                assert!(image.replaced(pc, wrong).is_none(), "{name}: another length at {pc:#x}");
                match image.replaced(pc, right) {
                    Some(new) => {
                        let bits = right.iter().rev().fold(0, |v, b| v << 8 | u32::from(*b));
                        assert_eq!(new.fetch(pc), Some(bits), "{name}");
                        assert!(word == bits || new.code_hash(f) != image.code_hash(f), "{name}: {pc:#x}");
                        let others = image.functions.iter().filter(|g| g.address != f.address && keeps_hash(&way, &g.name));
                        assert!(others.into_iter().all(|g| new.code_hash(g) == image.code_hash(g)), "{name}: {pc:#x}");
                        replaced += 1;
                    }
                    None => refused += 1,
                }
                assert!(image.external_at(pc).is_none() || image.replaced(pc, right).is_none(), "{name}: half of a call at {pc:#x}");
                pc += if word & 3 == 3 { 4 } else { 2 };
            }
        }
        assert!(replaced > 20 && refused > 5, "{name}: {replaced} {refused}");
        let data = image.data.first().expect("a variable").address;
        assert!(image.replaced(data, nop).is_none() && image.replaced(0, nop).is_none(), "{name}");
    }
}
