//! The timing model against the Rocket RTL, on the micro-tests of `santoku_lab::calibration`.
//!
//! `tests/data/e31-micro-<isa>.tsv` holds what the RTL of `lab/rtl` printed: name of the test, cycles.

use santoku_lab::calibration::{build, micro_program, micro_tests, refill_program, refill_tests, run_on_model};
use santoku_lab::harness::{Level, Code, Toolchain};
use santoku_lab::rv32::{Config, Timing};

const RTL: [(Code, &str); 2] = [
    (Code::Plain, include_str!("data/e31-micro-rv32im.tsv")),
    (Code::Compressed, include_str!("data/e31-micro-rv32imc.tsv")),
];
/// Tests known to differ, and by how much: (instruction set, name, RTL, model).
/// All have compressed transfers that share a fetch word, or are entered in its middle.
const KNOWN_DIFFERENCES: [(Code, &str, u64, u64); 6] = [
    (Code::Compressed, "alternating branch", 156, 166),
    (Code::Compressed, "alternating branch, aligned", 158, 164),
    (Code::Compressed, "branch every third time", 133, 150),
    (Code::Compressed, "40 taken branches, mul", 257, 238),
    (Code::Compressed, "nested calls", 28, 18),
    (Code::Compressed, "indirect jump", 8, 5),
];
/// Code that is executed once.
const REFILLS: &str = include_str!("data/e31-refill.tsv");
const TOLERANCE: f64 = 0.005;

/// Test names with the RTL's figures, in order.
fn recorded(table: &str) -> Vec<(String, u64)> {
    let row = |line: &str| {
        let (name, cycles) = line.split_once('\t').expect("two columns");
        (name.to_string(), cycles.parse().expect("a number"))
    };
    table.lines().map(row).collect()
}

fn on_model(march: Code, timing: Timing) -> Vec<u64> {
    let toolchain = Toolchain::find().expect("the cross compiler is installed");
    let (elf, _) = build(&toolchain, &micro_program(&micro_tests()), march, Level::O2).expect("micro-tests build");
    run_on_model(&elf, &Config { timing: Some(timing), ..Config::default() }).expect("micro-tests run")
}

/// Tests in which the model and the RTL differ.
fn differences(march: Code, table: &str, timing: Timing) -> Vec<(String, u64, u64)> {
    let rtl = recorded(table);
    let model = on_model(march, timing);
    assert_eq!(rtl.len(), model.len());
    rtl.into_iter().zip(model).filter(|((_, r), m)| r != m).map(|((name, r), m)| (name, r, m)).collect()
}

#[test]
fn the_recorded_figures_are_of_these_tests() {
    let names: Vec<String> = micro_tests().into_iter().map(|t| t.name).collect();
    assert!(names.len() >= 170);
    for (march, table) in RTL {
        let recorded: Vec<String> = recorded(table).into_iter().map(|(name, _)| name).collect();
        assert_eq!(recorded, names, "{march:?}");
    }
}

#[test]
fn the_model_agrees_with_the_rtl() {
    for (march, table) in RTL {
        let known: Vec<_> = KNOWN_DIFFERENCES
            .iter()
            .filter(|d| d.0 == march)
            .map(|&(_, name, rtl, model)| (name.to_string(), rtl, model))
            .collect();
        assert_eq!(differences(march, table, Timing::e31().expect("described")), known, "{march:?}");
        let rtl: u64 = recorded(table).iter().map(|(_, cycles)| cycles).sum();
        let model: u64 = on_model(march, Timing::e31().expect("described")).iter().sum();
        assert!((model as f64 / rtl as f64 - 1.0).abs() < TOLERANCE, "{march:?}: RTL {rtl}, model {model}");
    }
}

fn refills_on_model(timing: Timing) -> Vec<(String, u64)> {
    let toolchain = Toolchain::find().expect("the cross compiler is installed");
    let (elf, _) = build(&toolchain, &refill_program(), Code::Plain, Level::O2).expect("refills build");
    let cycles = run_on_model(&elf, &Config { timing: Some(timing), ..Config::default() }).expect("refills run");
    refill_tests().into_iter().zip(cycles).collect()
}

#[test]
fn a_line_that_is_fetched_costs_what_it_costs_on_the_rtl() {
    let e31 = Timing::e31().expect("described");
    assert!(refill_tests().len() >= 7);
    assert_eq!(refills_on_model(e31), recorded(REFILLS));
    assert_ne!(refills_on_model(Timing { refill_core: e31.refill_core + 1, ..e31 }), recorded(REFILLS));
}

#[test]
fn every_timing_parameter_matters() {
    let e31 = Timing::e31().expect("described");
    let perturbed = [
        ("load_word", Timing { load_word: e31.load_word + 1, ..e31 }),
        ("load_narrow", Timing { load_narrow: e31.load_narrow - 1, ..e31 }),
        ("csr", Timing { csr: e31.csr + 1, ..e31 }),
        ("multiply", Timing { multiply: e31.multiply + 1, ..e31 }),
        ("long_result", Timing { long_result: e31.long_result - 1, ..e31 }),
        ("store_hold", Timing { store_hold: e31.store_hold + 1, ..e31 }),
        ("replay", Timing { replay: e31.replay - 1, ..e31 }),
        ("mispredict", Timing { mispredict: e31.mispredict + 1, ..e31 }),
        ("redirect", Timing { redirect: e31.redirect + 1, ..e31 }),
    ];
    for (name, timing) in perturbed {
        let (march, table) = RTL[1];
        let more = differences(march, table, timing).len();
        assert!(more > KNOWN_DIFFERENCES.len(), "the micro-tests do not notice another `{name}`");
    }
}
