//! Programs of the library through our own back end: every function of the object is proved equal to its source, by the certifier that judges
//! compilers.

#[path = "../../lower/tests/support/library.rs"]
mod library;

use library::{built, programs};
use santoku_backend_riscv::{emit, Options};
use santoku_certify::report::FileReport;
use santoku_certify::{certify, isa_of, Options as Judging, World};
use santoku_driver::{Built, Store};
use santoku_lower::legalise::legalise;
use santoku_lower::Machine;
use santoku_passes::Level;
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
    let lowered: santoku_lower::legalise::Lowered = legalise(&made.program, &Machine { words: words.to_vec(), big_endian: false }).unwrap_or_else(|e| panic!("{e}"));
    santoku_lower::verify(&lowered.module).unwrap_or_else(|p| panic!("{p}"));
    let mut symbols = vec![String::new(); lowered.module.funcs.len()];
    for (id, k) in &lowered.funcs {
        symbols[*k as usize] = made.names.get(id).cloned().unwrap_or_else(|| format!("f{k}"));
    }
    let xlen = *words.last().expect("words");
    emit(&lowered.module, &Options { xlen, zbb: false, symbols }).unwrap_or_else(|e| panic!("{e}"))
}

fn judged(made: &Built, text: &str, march: &str, abi: &str) -> FileReport {
    let dir = tempfile::tempdir().expect("scratch folder");
    let (source, object) = (dir.path().join("unit.s"), dir.path().join("unit.o"));
    std::fs::write(&source, text).expect("written");
    if let Some(keep) = std::env::var_os("SANTOKU_KEEP") {
        std::fs::write(keep, text).expect("written");
    }
    let out = Command::new("riscv64-unknown-elf-as").args([&format!("-march={march}"), &format!("-mabi={abi}"), "-o"]).arg(&object).arg(&source).output().expect("an assembler");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let image = santoku_elf::load(&std::fs::read(&object).expect("an object")).expect("an object");
    let symbols = made.names.iter().map(|(func, name)| (name.clone(), *func)).collect();
    let isa = isa_of(march).expect("a model");
    certify(&image, isa, &made.program, symbols, &Judging::default(), &World { store: &Nothing, clock: &|| 0, tell: &|_, _, _| {} })
}

#[test]
fn what_our_back_end_makes_is_proved() {
    let (mut objects, mut functions, mut bytes) = (0, 0, 0);
    let only = std::env::var("SANTOKU_ONLY").ok();
    for path in programs().iter().filter(|p| only.as_ref().is_none_or(|o| p.contains(o.as_str()))) {
        for (target, words, march, abi) in TARGETS {
            let Some(made) = built(path, target, Level::O2) else { continue };
            let report = judged(&made, &assembly(&made, words), march, abi);
            let open: Vec<_> = report.open().map(|f| (&f.symbol, f.status.word(), f.status.reason())).collect();
            println!("{path} for {target}: {} of {} functions proved, {} bytes", report.totals.proved, report.totals.functions, report.functions.iter().map(|f| f.bytes).sum::<u64>());
            if only.is_none() { assert!(report.holds(), "{path} for {target}: {open:#?}"); } else { println!("{open:#?}"); }
            objects += 1;
            functions += report.totals.proved;
            bytes += report.functions.iter().map(|f| f.bytes).sum::<u64>();
        }
    }
    println!("tried: {objects} objects, {functions} functions proved, {bytes} bytes");
    assert!(objects >= 8 && functions >= 100, "{objects} {functions}");
}
