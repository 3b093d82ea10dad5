//! The real case: clang turns masks of secrets into branches unless the C hides them. The same check finds the branch without
//! value barriers, with two inputs that show it, and none with them.

mod support;

use santoku_certify::report::{FunctionReport, Status};
use santoku_certify::{certify, isa_of, Options, World};
use santoku_driver::Store;
use santoku_elf::load;
use santoku_workbench::matrix::{compile, compiler_version, configs, without_barriers, Config, Level};
use santoku_workbench::matrix_units::{make, units, Made};
use support::tree;

struct Nothing;

impl Store for Nothing {
    fn get(&self, _: &str) -> Option<String> {
        None
    }
    fn put(&self, _: &str, _: &str) {}
}

/// What is said of one function of the object made from this C.
fn judged(made: &Made, config: &Config, text: &str, function: &str) -> FunctionReport {
    let folder = tempfile::tempdir().expect("scratch");
    let object = compile(config, text, folder.path()).unwrap_or_else(|e| panic!("{e}"));
    let image = load(&object).expect("an object");
    let symbols = made.names.iter().map(|(func, name)| (name.clone(), *func)).collect();
    let options = Options { only: Some(function.into()), ..Options::default() };
    let world = World { store: &Nothing, clock: &|| 0, tell: &|_, _, _| {} };
    let report = certify(&image, isa_of(&config.march).expect("a model"), &made.program, symbols, &options, &world);
    report.functions.into_iter().find(|f| f.symbol == function).unwrap_or_else(|| panic!("no {function}"))
}

#[test]
fn the_branch_that_clang_makes_of_a_mask_is_shown_and_barriers_prevent_it() {
    let config = configs().expect("described").into_iter().find(|c| c.march == "rv32imc" && c.compiler.family == "clang" && c.level == Level::O2).expect("a row");
    if let Err(e) = compiler_version(&config) {
        santoku_skips::skip("branches that clang makes", e);
        return;
    }
    let all = units(&tree()).expect("the tables are right");
    let unit = all.iter().find(|u| u.name == "nacl.sign@rv32").expect("a unit");
    let made = make(&tree(), unit).unwrap_or_else(|e| panic!("{e}"));
    let bare = without_barriers(&made.source).expect("there are barriers");
    let mut cases = 0;
    // The lookup in the table of multiples, and the masked final subtraction modulo the order of the group.
    for function in ["curve_ed25519_comb_term", "field_sc25519_reduce"] {
        let found = judged(&made, &config, &bare, function);
        let Status::Leak { what, site, evidence, .. } = &found.status else { panic!("{function}: {:?}", found.status) };
        println!("{function}: {}", found.status.reason().unwrap_or_default());
        println!("{evidence:#?}");
        assert_eq!(what, "a branch depends on a secret");
        assert!(site.instruction.starts_with('b') && site.line.as_ref().is_some_and(|(file, line)| file.ends_with("unit.c") && *line > 1), "{site:?}");
        let shown = evidence;
        assert!(!shown.secrets.is_empty() && shown.secrets.iter().all(|(_, first, second)| first != second));
        let mut seen = [shown.first.as_str(), shown.second.as_str()];
        seen.sort_unstable();
        assert_eq!(seen, ["the branch is not taken", "the branch is taken"]);
        let hidden = judged(&made, &config, &made.source, function);
        assert!(!matches!(hidden.status, Status::Leak { .. }), "{function}: {:?}", hidden.status.reason());
        cases += 1;
    }
    assert_eq!(cases, 2);
}
