//! Proved functions with one instruction changed: nothing that computes something else is proved.

mod support;

use santoku_elf::{load, Image};
use santoku_isa::Isa;
use santoku_workbench::matrix::{compile, configs, Compiler, Config, Level};
use santoku_workbench::matrix_units::{make, units, Made};
use santoku_workbench::mutants::{judge, Subject, Tally};
use santoku_workbench::mutate::Kind;
use santoku_workbench::parallel;
use std::collections::BTreeMap;
use support::tree;

/// Functions of `nacl.sign` that are proved in a moment: carries and products, bytes, loops of calls, selections.
const QUICK: [&str; 8] = [
    "field_fe25519_radix25_5_neg",
    "field_fe25519_radix25_5_to_bytes",
    "field_fe25519_radix51_neg",
    "field_fe25519_radix51_to_bytes",
    "field_sc25519_pack",
    "field_sc25519_fold",
    "field_sc25519_unpack32",
    "curve_ed25519_double",
];

fn made(name: &str) -> Made {
    let tree = tree();
    let all = units(&tree).expect("the tables are right");
    let unit = all.iter().find(|u| u.name == name).unwrap_or_else(|| panic!("no {name}"));
    make(&tree, unit).unwrap_or_else(|e| panic!("{e}"))
}

fn subject<'a>(made: &'a Made, image: &'a Image) -> Subject<'a> {
    let isa = if image.xlen == 32 { Isa::rv32imc() } else { Isa::rv64imc() };
    let symbols: BTreeMap<_, _> = made.names.iter().map(|(func, name)| (name.clone(), *func)).collect();
    Subject { image, isa, program: &made.program, symbols, secret_mul_leaks: false }
}

/// An object, or `None` with a printed reason where the compiler is missing.
fn object(made: &Made, config: &Config) -> Option<Image> {
    let folder = tempfile::tempdir().expect("scratch");
    match compile(config, &made.source, folder.path()) {
        Ok(bytes) => Some(load(&bytes).unwrap_or_else(|e| panic!("{}: {e}", config.name()))),
        Err(e) => {
            println!("skipped: {e}");
            None
        }
    }
}

/// Changes functions of some objects of both widths. `None` where there is no compiler at all.
fn tally(wanted: impl Fn(&Config) -> bool, functions: &[&str], each: usize) -> Option<Tally> {
    let (mut tally, mut objects) = (Tally::default(), 0);
    for (name, xlen) in [("nacl.sign@rv32", 32), ("nacl.sign@host64", 64)] {
        let made = made(name);
        for config in configs().iter().filter(|c| c.xlen == xlen && !c.bits && wanted(c)) {
            let Some(image) = object(&made, config) else { continue };
            objects += 1;
            let subject = subject(&made, &image);
            for symbol in functions.iter().filter(|s| image.function(s).is_some()) {
                let start = std::time::Instant::now();
                match judge(&subject, symbol, (each, 0x5a17 + tally.functions as u64), parallel::threads()) {
                    Ok(one) => {
                        println!("{} {symbol}, {:.1} s: {one}", config.name(), start.elapsed().as_secs_f64());
                        tally.add(one);
                    }
                    Err(e) => println!("{} {symbol}: {e}", config.name()),
                }
            }
        }
    }
    println!("{tally}\n{}", tally.equal.join("\n"));
    assert!(tally.accepted.is_empty(), "{:#?}", tally.accepted);
    assert!(tally.holds() || objects == 0);
    (objects > 0).then_some(tally)
}

#[test]
fn no_changed_instruction_passes() {
    let some = |c: &Config| c.march.ends_with("imc") && c.level == if c.compiler == Compiler::Gcc { Level::O2 } else { Level::Os };
    let Some(tally) = tally(some, &QUICK, 32) else { return };
    assert!(tally.functions >= 10 && tally.different >= 300, "{tally}");
    // With both compilers.
    assert!(tally.functions < 20 || tally.different >= 500, "{tally}");
    assert!(Kind::ALL.iter().all(|k| tally.kinds.contains_key(k)), "{:?}", tally.kinds);
    assert!(tally.equal.len() * 10 < tally.mutants, "most changes change something");
}

/// Minutes: every level and width, more functions, more changes.
#[test]
#[ignore]
fn no_changed_instruction_passes_at_any_level() {
    let more = ["field_fe25519_pow_square_times_5", "curve_ed25519_encode", "curve_ed25519_add_niels", "curve_ed25519_add_cached", "field_fe25519_radix51_mul", "field_fe25519_radix51_square", "field_fe25519_pow_chain"];
    let Some(tally) = tally(|c| c.march.ends_with("imc"), &[&QUICK[..], &more[..]].concat(), 40) else { return };
    assert!(tally.different >= 1500, "{tally}");
}

/// The judge is no yes-man: what is not proved, and code that does something else, is not changed but refused.
#[test]
fn only_proved_functions_are_changed() {
    let made = made("nacl.sign@rv32");
    let config = configs().into_iter().find(|c| c.march == "rv32imc" && c.compiler == Compiler::Gcc && c.level == Level::O1).expect("a row");
    let Some(image) = object(&made, &config) else { return };
    let ask = |image: &Image, symbol: &str| judge(&subject(&made, image), symbol, (1, 1), 1);
    assert!(ask(&image, "nowhere").is_err_and(|e| e.contains("no nowhere")));
    let f = image.function("field_sc25519_pack").expect("it is there").clone();
    let nop = [0x13, 0, 0, 0];
    let spoilt = (f.address..f.address + f.size).step_by(2).find_map(|pc| image.replaced(pc, &nop)).expect("a long instruction");
    let error = ask(&spoilt, "field_sc25519_pack").expect_err("refused");
    assert!(error.contains("is not proved"), "{error}");
}
