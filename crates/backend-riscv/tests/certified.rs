//! Programs of the library through our own back end: every function of the object is proved equal to its source, by the certifier that judges
//! compilers.

#[path = "../../lower/tests/support/library.rs"]
mod library;

use library::{built, programs};
use santoku_backend_riscv::{emit, Latency, Options};
use santoku_certify::report::FileReport;
use santoku_certify::{certify, isa_of, Options as Judging, World};
use santoku_driver::{Built, Store};
use santoku_lower::legalise::legalise;
use santoku_lower::Machine;
use santoku_passes::Level;
use santoku_skips::installed;
use santoku_skips::seeds::{one, some};
use std::process::Command;

/// Target, words of the machine, instruction set and convention.
const TARGETS: [(&str, &[u32], &str, &str); 2] = [("rv32", &[32], "rv32imc", "ilp32"), ("rv64im", &[32, 64], "rv64imc", "lp64")];

struct Nothing;

impl Store for Nothing {
    fn get(&self, _: &str) -> Option<String> {
        None
    }
    fn put(&self, _: &str, _: &str) {}
}

fn assembly(made: &Built, words: &[u32]) -> String {
    let lowered = legalise(&made.program, &Machine { words: words.to_vec(), big_endian: false }).unwrap_or_else(|e| panic!("{e}"));
    santoku_lower::verify(&lowered.module).unwrap_or_else(|p| panic!("{p}"));
    let mut symbols = vec![String::new(); lowered.module.funcs.len()];
    for (id, k) in &lowered.funcs {
        symbols[*k as usize] = made.names.get(id).cloned().unwrap_or_else(|| format!("f{k}"));
    }
    let xlen = *words.last().expect("words");
    emit(&lowered.module, &Options { xlen, zbb: false, symbols, latency: Latency::default() }).unwrap_or_else(|e| panic!("{e}"))
}

/// `None`: there is no assembler here.
fn judged(made: &Built, text: &str, march: &str, abi: &str) -> Option<FileReport> {
    if installed(&["riscv64-unknown-elf-as"]).is_empty() {
        return None;
    }
    let dir = tempfile::tempdir().expect("scratch folder");
    let (source, object) = (dir.path().join("unit.s"), dir.path().join("unit.o"));
    std::fs::write(&source, text).expect("written");
    let out = Command::new("riscv64-unknown-elf-as").args([&format!("-march={march}"), &format!("-mabi={abi}"), "-o"]).arg(&object).arg(&source).output().expect("an assembler");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let image = santoku_elf::load(&std::fs::read(&object).expect("an object")).expect("an object");
    let symbols = made.names.iter().map(|(func, name)| (name.clone(), *func)).collect();
    let isa = isa_of(march).expect("a model");
    Some(certify(&image, isa, &made.program, symbols, &Judging::default(), &World { store: &Nothing, clock: &|| 0, tell: &|_, _, _| {} }))
}

/// What the certifier does not follow in any compiler's code: arrays of run-time length that a loop writes, and what rests on functions with them.
fn is_known(reason: &str) -> bool {
    reason.contains("run-time length") || reason.contains("rests on")
}

#[test]
fn what_our_back_end_makes_is_proved() {
    let (mut objects, mut functions, mut bytes, mut open) = (0, 0, 0, 0);
    // `SANTOKU_ONLY` names programs for a look at them alone.
    let only = std::env::var("SANTOKU_ONLY").ok();
    let paths = match &only {
        Some(part) => programs().into_iter().filter(|p| p.contains(part.as_str())).collect(),
        None => some(programs(), 4),
    };
    for (k, path) in paths.iter().enumerate() {
        for (target, words, march, abi) in one(TARGETS, k) {
            let Some(made) = built(path, target, Level::O2) else { continue };
            let Some(report) = judged(&made, &assembly(&made, words), march, abi) else { return };
            let left: Vec<_> = report.open().map(|f| (&f.symbol, f.status.reason().unwrap_or_default())).collect();
            let size = report.functions.iter().map(|f| f.bytes).sum::<u64>();
            println!("{path} for {target}: {} of {} functions proved, {size} bytes", report.totals.proved, report.totals.functions);
            assert!(left.iter().all(|(_, why)| is_known(why)) && report.totals.proved > 0, "{path} for {target}: {left:#?}");
            objects += 1;
            functions += report.totals.proved;
            open += left.len();
            bytes += size;
        }
    }
    println!("tried: {objects} objects, {functions} functions proved, {bytes} bytes; {open} open for arrays of run-time length");
    assert!(objects >= 1 && functions >= 1, "{objects} {functions}");
}

/// The same judge refuses code of ours with one instruction changed.
#[test]
fn a_wrong_instruction_is_not_proved() {
    let path = programs().into_iter().find(|p| p.contains("hash/")).expect("a hash");
    let made = built(&path, "rv32", Level::O2).expect("it is built");
    let text = assembly(&made, &[32]);
    let changes = [("\tadd ", "\tsub "), ("\txor ", "\tor "), ("\tslli ", "\tsrli "), ("\tsw ", "\tsh "), ("\tbltu ", "\tbgeu "), ("\tand ", "\tor ")];
    let mut refused = 0;
    for (k, (from, to)) in changes.iter().enumerate() {
        // Somewhere in the middle: the first may belong to a frame.
        let places: Vec<usize> = text.match_indices(from).map(|(at, _)| at).collect();
        let Some(at) = places.get(places.len() / 2 + k % 2) else { continue };
        let spoiled = format!("{}{to}{}", &text[..*at], &text[at + from.len()..]);
        let Some(report) = judged(&made, &spoiled, "rv32im", "ilp32") else { return };
        assert!(!report.holds(), "`{from}` -> `{to}` at {at} is accepted");
        refused += 1;
    }
    println!("{refused} changed instructions, all refused");
    assert!(refused >= 5, "{refused}");
}
