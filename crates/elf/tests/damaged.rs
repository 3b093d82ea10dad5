//! Files that are damaged, of another sort, or not ELF: refused with a place, a reason and a way out, never a panic, never for long.

mod common;

use common::{ways, Folder, Way, SAMPLE};
use santoku_elf::{load, ErrorKind, Image};
use santoku_skips::seeds;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// More than reading and asking takes on a slow machine.
const LONGEST: Duration = Duration::from_secs(20);

/// One way for each compiler and width.
fn four() -> Vec<Way> {
    let wanted = |w: &Way| ["rv32imc", "rv64im"].contains(&w.march) && w.flags.contains(&"-fdata-sections") && w.flags.contains(&"-mcmodel=medany");
    let four: Vec<Way> = ways().into_iter().filter(wanted).collect();
    assert_eq!(four.len(), 4);
    four
}

/// Asks everything of an image.
fn ask(image: &Image) -> usize {
    let mut answers = 0;
    for f in image.functions.iter().filter(|f| f.size < 1 << 16) {
        answers += if f.size < 1 << 12 { image.code_hashes(f).len() } else { usize::from(image.code_hash(f) != [0; 32]) };
        for pc in (0..f.size).map(|k| f.address.wrapping_add(k)) {
            answers += usize::from(image.fetch(pc).is_some()) + usize::from(image.line(pc).is_some());
            answers += usize::from(image.external_at(pc).is_some());
        }
    }
    for d in &image.data {
        answers += usize::from(image.read_only(d.address).is_some()) + usize::from(image.section_of(d.address).is_some());
    }
    answers
}

#[derive(Default)]
struct Count {
    read: usize,
    refused: BTreeMap<ErrorKind, usize>,
}

impl Count {
    fn one(&mut self, bytes: &[u8], asked: bool) {
        let start = Instant::now();
        match load(bytes) {
            Ok(image) => {
                self.read += 1;
                if asked {
                    ask(&image);
                }
            }
            Err(e) => {
                assert!(!e.place.is_empty() && !e.reason.is_empty() && !e.way_out.is_empty(), "{e:?}");
                *self.refused.entry(e.kind).or_default() += 1;
            }
        }
        assert!(start.elapsed() < LONGEST, "{:?} for {} bytes", start.elapsed(), bytes.len());
    }
}

/// A fixed sequence of numbers (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

fn files() -> Vec<Vec<u8>> {
    let mut all = vec![];
    for way in four() {
        let folder = Folder::new();
        all.push(folder.compile(&way, SAMPLE));
        let flags = ["--defsym=memcpy=0", "--defsym=memset=0", "--defsym=outside=0"].map(String::from);
        all.push(folder.link(&way, "SECTIONS { .text 0x10000 : { *(.text .text.*) } }", &flags));
    }
    all
}

/// Up to three bytes of a file changed at random, so many times.
fn bytes_changed(file: &[u8], times: u64, numbers: &mut Numbers, count: &mut Count) {
    for _ in 0..times {
        let mut bad = file.to_vec();
        for _ in 0..=numbers.below(3) {
            let at = numbers.below(bad.len());
            bad[at] = if numbers.below(2) == 0 { 0xff } else { bad[at] ^ 1 << numbers.below(8) };
        }
        count.one(&bad, numbers.below(8) == 0);
    }
}

#[test]
#[ignore = "long"]
fn soak_damaged_files_never_panic() {
    let mut count = Count::default();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15 ^ seeds::first());
    for file in files() {
        bytes_changed(&file, seeds::count(50_000), &mut numbers, &mut count);
    }
    println!("tried: damaged files: {} read, refused {:?}", count.read, count.refused);
    assert!(!count.refused.is_empty());
}

#[test]
fn damaged_files_never_panic() {
    let mut count = Count::default();
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    for file in files() {
        assert!(ask(&load(&file).expect("undamaged")) > 100);
        for at in 0..64 {
            for value in [0u8, 0xff, file[at] ^ 1, file[at] ^ 0x80] {
                let mut bad = file.clone();
                bad[at] = value;
                count.one(&bad, true);
            }
        }
        bytes_changed(&file, 1500, &mut numbers, &mut count);
        for _ in 0..300 {
            count.one(&file[..numbers.below(file.len())], true);
        }
        for end in 0..70 {
            count.one(&file[..end], true);
        }
    }
    println!("tried: damaged files: {} read, refused {:?}", count.read, count.refused);
    assert!(count.refused.values().sum::<usize>() > 2000 && count.refused.len() == 4);
}

/// Section headers are where every structure hangs; each of their bytes is set to several values.
#[test]
fn damaged_section_headers_never_panic() {
    let mut count = Count::default();
    for file in files() {
        let wide = file[4] == 2;
        let word = |at: usize, n: usize| file[at..at + n].iter().rev().fold(0usize, |v, b| v << 8 | *b as usize);
        let (table, size, number) = if wide { (word(0x28, 8), 64, word(0x3c, 2)) } else { (word(0x20, 4), 40, word(0x30, 2)) };
        assert!(number > 5 && table + size * number <= file.len());
        for at in table..table + size * number {
            for value in [0xff, file[at].wrapping_add(1)] {
                let mut bad = file.clone();
                bad[at] = value;
                count.one(&bad, at % 16 == 0);
            }
        }
    }
    println!("tried: damaged section headers: {} read, refused {:?}", count.read, count.refused);
    assert!(count.refused.values().sum::<usize>() > 3000);
}

/// A linker passes over a file whose names it cannot read, and takes what they mean from another.
#[test]
fn names_are_read_from_tables_of_strings_alone() {
    let mut tables = 0;
    for file in files() {
        let wide = file[4] == 2;
        let word = |at: usize, n: usize| file[at..at + n].iter().rev().fold(0usize, |v, b| v << 8 | *b as usize);
        let (table, size, number) = if wide { (word(0x28, 8), 64, word(0x3c, 2)) } else { (word(0x20, 4), 40, word(0x30, 2)) };
        for header in (0..number).map(|n| table + size * n).filter(|at| word(at + 4, 4) == 3) {
            let end = if wide { word(header + 0x18, 8) + word(header + 0x20, 8) } else { word(header + 0x10, 4) + word(header + 0x14, 4) };
            for (at, value) in [(header + 4, 1), (header + 7, 0x70), (end - 1, b'x')] {
                let mut bad = file.clone();
                bad[at] = value;
                let error = load(&bad).expect_err("refused").to_string();
                assert!(error.contains("no table of strings"), "{error}");
                tables += 1;
            }
        }
    }
    println!("tried: {tables} damaged tables of strings, all refused");
    assert!(tables >= 3 * files().len(), "{tables}");
}

#[test]
fn other_files_are_refused_by_kind() {
    let way = &four()[0];
    let folder = Folder::new();
    let object = folder.compile(way, SAMPLE);
    let kind = |bytes: &[u8]| load(bytes).expect_err("refused").kind;
    let with = |at: usize, value: u8| {
        let mut bad = object.clone();
        bad[at] = value;
        bad
    };
    assert_eq!(kind(b""), ErrorKind::NotElf);
    assert_eq!(kind(b"int main(void) { return 0; }"), ErrorKind::NotElf);
    assert_eq!(kind(&with(5, 2)), ErrorKind::NotRiscv);
    assert_eq!(kind(&with(18, 62)), ErrorKind::NotRiscv);
    assert_eq!(kind(&with(16, 3)), ErrorKind::Unsupported);
    assert_eq!(kind(&with(36, 9)), ErrorKind::Unsupported);
    assert_eq!(kind(&object[..object.len() / 2]), ErrorKind::Corrupt);
}

#[test]
fn code_for_shared_libraries_is_refused() {
    for way in four() {
        let pic = Way { flags: way.flags.iter().copied().chain(["-fPIC"]).collect(), ..way };
        let error = load(&Folder::new().compile(&pic, SAMPLE)).expect_err("position-independent");
        assert_eq!(error.kind, ErrorKind::Unsupported);
        assert!(error.reason.contains("R_RISCV_GOT_HI20") && error.way_out.contains("-fno-pic"), "{error}");
    }
}
