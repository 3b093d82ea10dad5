//! Proved functions with one instruction changed: nothing that computes something else is proved.

mod support;

use santoku_elf::{load, Image};
use santoku_isa::Isa;
use santoku_lab::record::Stamp;
use santoku_skips::seeds;
use santoku_workbench::matrix::{compile, compiler_version, configs, Config, Level};
use santoku_workbench::matrix_units::{make, units};
use santoku_workbench::mutants::{judge, Counts, Subject, Tally};
use santoku_workbench::mutants_job::{compressed, quick, run, total, write_record, Row, Wish, SYMBOLS};
use santoku_workbench::mutate::Kind;
use santoku_workbench::primitives::Tree;
use support::tree;

const ONE: Counts = Counts { instructions: 1, objects: 0, symbols: 0 };

/// At most so many changes of a function, a few symbols for each relocation.
fn counts(instructions: usize, objects: usize) -> Counts {
    Counts { instructions, objects, symbols: SYMBOLS }
}

/// Whether both compilers are here; prints what is missing.
fn compilers() -> bool {
    let missing = |c: &Config| compiler_version(c).err().inspect(|e| santoku_skips::skip("changed objects", e)).is_some();
    !["gcc", "clang"].into_iter().any(|family| configs().expect("described").iter().find(|c| c.compiler.family == family).is_some_and(missing))
}

/// The functions that rows name, and these.
fn with(more: &[&'static str]) -> Vec<&'static str> {
    let named = quick(&tree()).unwrap_or_else(|e| panic!("{e}")).into_iter().map(|f| &*f.leak());
    named.chain(more.iter().copied()).collect()
}

/// Rows and their sum: nothing wrong passed.
fn asked(wish: &Wish) -> (Vec<Row>, Tally) {
    let rows = run(&tree(), wish, &|what| println!("{what}")).unwrap_or_else(|e| panic!("{e}"));
    let sum = total(&rows);
    println!("tried: {sum}\n{}", sum.equal.join("\n"));
    assert!(sum.accepted.is_empty(), "{:#?}", sum.accepted);
    assert!(sum.holds());
    (rows, sum)
}

#[test]
fn no_changed_instruction_passes() {
    if !compilers() {
        return;
    }
    let some = |c: &Config| c.march.ends_with("imc") && c.level == if c.compiler.family == "gcc" { Level::O2 } else { Level::Os };
    let (rows, sum) = asked(&Wish { functions: &with(&[]), each: if seeds::whole() { counts(160, 500) } else { counts(14, 42) }, config: &some, seed: seeds::turn() });
    println!("{:?}\n{:?}", sum.kinds, sum.verdicts);
    assert!(rows.len() >= 20 && sum.mutants >= seeds::least(5_000, 12) && sum.different >= seeds::least(4_000, 12), "{sum}");
    let of_objects = [Kind::CallRegister, Kind::Addend, Kind::Symbol, Kind::Aliased, Kind::Moved];
    assert!(Kind::ALL.iter().chain(&of_objects).all(|k| sum.kinds.contains_key(k)), "{:?}", sum.kinds);
    assert!(sum.equal.len() * 10 < sum.mutants, "most changes change something");
    let folder = tempfile::tempdir().expect("scratch");
    let stamp = Stamp { date: "2026-01-31".into(), commit: "abc".into() };
    let path = write_record(&Tree { root: folder.path().to_path_buf() }, &rows, &stamp).unwrap_or_else(|e| panic!("{e}"));
    let text = std::fs::read_to_string(folder.path().join(path)).expect("a record");
    let record: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(record["total"]["mutants"], serde_json::json!(sum.mutants));
    assert_eq!(record["rows"].as_array().map(Vec::len), Some(rows.len()));
}

/// Minutes: every level, more functions, more changes.
#[test]
#[ignore]
fn no_changed_instruction_passes_at_any_level() {
    if !compilers() {
        return;
    }
    let more = [
        "field_fe25519_pow_square_times_5",
        "field_fe25519_pow_chain",
        "curve_ed25519_add_niels",
        "curve_ed25519_add_cached",
        "curve_ed25519_encode",
        "field_fe25519_radix51_mul",
        "field_fe25519_radix51_square",
    ];
    let (_, sum) = asked(&Wish { functions: &with(&more), each: counts(40, 0), config: &compressed(&Level::ALL), seed: 0 });
    assert!(sum.different >= 3000, "{sum}");
}

/// Functions of calls alone and more of everything, with another seed for every round that `SANTOKU_SEEDS` asks for.
#[test]
#[ignore]
fn soak_no_changed_object_passes() {
    if !compilers() {
        return;
    }
    let calls = ["curve_ed25519_double", "curve_ed25519_add_niels", "curve_ed25519_add_cached", "curve_ed25519_encode", "field_fe25519_pow_chain"];
    let rounds = seeds::count(1);
    for seed in 1..=rounds {
        let wish = Wish { functions: &with(&calls), each: counts(200, 2000), config: &compressed(&Level::ALL), seed: seeds::first() + seed };
        let (_, sum) = asked(&wish);
        assert!(sum.mutants >= 5_000, "{sum}");
    }
}

/// Every register, every symbol of the object and every addend in every call and address of functions of calls.
#[test]
#[ignore]
fn soak_no_call_of_another_symbol_passes() {
    if !compilers() {
        return;
    }
    let calls = ["curve_ed25519_double", "curve_ed25519_add_niels", "curve_ed25519_encode", "field_fe25519_pow_chain"];
    let all = Counts { instructions: 0, objects: usize::MAX, symbols: usize::MAX };
    let some = |c: &Config| c.march.ends_with("imc") && c.level == if c.compiler.family == "gcc" { Level::O2 } else { Level::Os };
    let (_, sum) = asked(&Wish { functions: &calls, each: all, config: &some, seed: 0 });
    assert!(sum.kinds.get(&Kind::Symbol).is_some_and(|n| *n >= 5_000), "{:?}", sum.kinds);
}

/// The judge is no yes-man: code that is not proved is not changed but refused.
#[test]
fn only_proved_functions_are_changed() {
    let tree = tree();
    let all = units(&tree).expect("the tables are right");
    let unit = all.iter().find(|u| u.name == "nacl.sign@rv32").expect("a unit");
    let made = make(&tree, unit).unwrap_or_else(|e| panic!("{e}"));
    let config = configs().expect("described").into_iter().find(|c| c.march == "rv32imc" && c.compiler.family == "gcc" && c.level == Level::O1).expect("a row");
    let folder = tempfile::tempdir().expect("scratch");
    let object = match compile(&config, &made.source, folder.path()) {
        Ok(bytes) => bytes,
        Err(e) => return santoku_skips::skip("questions about functions", e),
    };
    let image = load(&object).expect("an object");
    let ask = |image: &Image, symbol: &str| {
        let symbols = made.names.iter().map(|(func, name)| (name.clone(), *func)).collect();
        let subject = Subject { object: &object, image, isa: Isa::rv32imc(), program: &made.program, symbols, secret_mul_leaks: false };
        judge(&subject, symbol, (ONE, 1), 1)
    };
    assert!(ask(&image, "nowhere").is_err_and(|e| e.contains("no nowhere")));
    let f = image.function("field_sc25519_pack").expect("it is there").clone();
    let nop = [0x13, 0, 0, 0];
    let spoilt = (f.address..f.address + f.size).step_by(2).find_map(|pc| image.replaced(pc, &nop)).expect("a long instruction");
    let error = ask(&spoilt, "field_sc25519_pack").expect_err("refused");
    assert!(error.contains("is not proved"), "{error}");
    let none = run(&tree, &Wish { functions: &["nowhere"], each: ONE, config: &|c| c.name() == config.name(), seed: 0 }, &|_| {});
    assert!(none.is_err_and(|e| e.to_string().contains("nowhere")));
}
