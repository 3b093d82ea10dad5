//! Compilers and flags outside the matrix: nearly everything is proved, and nothing right is called wrong.

mod support;

use santoku_certify::report::Status;
use santoku_certify::{certify, isa_of, Options, World};
use santoku_driver::Store;
use santoku_elf::load;
use santoku_lab::harness::{STDINT, STRING};
use santoku_workbench::matrix_units::{make, units};
use santoku_workbench::parallel;
use std::process::Command;
use support::tree;

struct Nothing;

impl Store for Nothing {
    fn get(&self, _: &str) -> Option<String> {
        None
    }
    fn put(&self, _: &str, _: &str) {}
}

/// Debian 12 has all of them (`tools/setup.sh soak`).
const WAYS: [(&str, &str); 11] = [
    ("clang-14", "-O2"),
    ("clang-14", "-O3"),
    ("clang-14", "-Oz"),
    ("clang-16", "-O2"),
    ("clang-16", "-O3"),
    ("clang-16", "-Oz"),
    ("riscv64-unknown-elf-gcc", "-O2 -funroll-loops"),
    ("riscv64-unknown-elf-gcc", "-O0"),
    ("riscv64-unknown-elf-gcc", "-Og"),
    ("riscv64-unknown-elf-gcc", "-O2 -fno-inline"),
    ("clang-19", "-Oz"),
];

/// A unit for each width, with its architecture.
const UNITS: [(&str, &str, &str); 2] = [("nacl.sign@rv32", "rv32imc", "ilp32"), ("nacl.sign@host64", "rv64imc", "lp64")];

/// Of a hundred functions, so many are proved.
const SHARE: usize = 95;

fn object(compiler: &str, flags: &str, (march, mabi): (&str, &str), source: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("scratch");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("scratch");
    write("unit.c", source);
    write("string.h", STRING);
    let mut cc = Command::new(compiler);
    if compiler.starts_with("clang") {
        cc.arg(format!("--target=riscv{}-unknown-elf", &march[2..4]));
    } else {
        write("stdint.h", STDINT);
    }
    cc.args([format!("-march={march}"), format!("-mabi={mabi}")]).args(flags.split(' '));
    cc.args(["-g", "-ffunction-sections", "-fdata-sections", "-fno-pic", "-isystem", ".", "-c", "unit.c", "-o", "unit.o"]);
    let done = cc.current_dir(folder.path()).output().unwrap_or_else(|e| panic!("{compiler}: {e}; tools/setup.sh soak installs it"));
    assert!(done.status.success(), "{compiler} {flags}: {}", String::from_utf8_lossy(&done.stderr));
    std::fs::read(folder.path().join("unit.o")).expect("an object")
}

#[test]
#[ignore = "long"]
fn soak_compilers_outside_the_matrix() {
    let all = units(&tree()).expect("the tables are right");
    let (mut objects, mut alarms, mut few) = (0, vec![], vec![]);
    for (name, march, mabi) in UNITS {
        let unit = all.iter().find(|u| u.name == name).expect("a unit");
        let made = make(&tree(), unit).unwrap_or_else(|e| panic!("{e}"));
        let secret_mul_leaks = !santoku_driver::timing(&unit.target(&tree()).expect("a target")).variable_time.is_empty();
        for (compiler, flags) in WAYS {
            let what = format!("{name} {march} {compiler} {flags}");
            let image = load(&object(compiler, flags, (march, mabi), &made.source)).unwrap_or_else(|e| panic!("{what}: {e}"));
            let symbols = made.names.iter().map(|(func, name)| (name.clone(), *func)).collect();
            let options = Options { secret_mul_leaks, ckb_vm: false, only: None, threads: parallel::threads() };
            let world = World { store: &Nothing, clock: &|| 0, tell: &|_, _, _| {} };
            let report = certify(&image, isa_of(march).expect("a model"), &made.program, symbols, &options, &world);
            let (proved, functions) = (report.totals.proved, report.totals.functions);
            println!("tried: {what}: {proved} of {functions} proved");
            for f in report.open() {
                println!("  {}: {}: {}", f.symbol, f.status.word(), f.status.reason().unwrap_or_default());
                if matches!(f.status, Status::Refuted(_) | Status::Leak { .. } | Status::Broken { .. }) {
                    alarms.push(format!("{what}: {}: {}", f.symbol, f.status.word()));
                }
            }
            if functions < 40 || 100 * proved < SHARE * functions {
                few.push(format!("{what}: {proved} of {functions}"));
            }
            objects += 1;
        }
    }
    println!("{objects} objects, {} alarms", alarms.len());
    assert_eq!(objects, WAYS.len() * UNITS.len());
    assert!(alarms.is_empty() && few.is_empty(), "{alarms:?} {few:?}");
}
