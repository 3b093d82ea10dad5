//! The library's own contracts: every `ensures` and `requires` of the fields, powers and points is proved, without hints.

use santoku_ir::{FuncId, Program};
use santoku_prove::contracts::{check, cost};
use santoku_prove::obligation::Obligation;
use santoku_skips::seeds;

fn load(entry: &str, field: &str) -> Program {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lib");
    let mut read = |path: &str| std::fs::read_to_string(path).ok();
    let mut options = santoku_sema::Options::default();
    options.impls.insert("field.fe25519".into(), field.into());
    match santoku_sema::compile(&format!("{root}/{entry}.stk"), &[root.to_string()], &mut read, &options) {
        Ok(c) => c.program,
        Err(f) => panic!("{entry}: {:?}", f.diagnostics),
    }
}

fn obligations(p: &Program) -> Vec<Obligation> {
    let costs = cost::of_program(p);
    (0..p.funcs.len() as u32).flat_map(|i| check(p, FuncId(i), &costs)).collect()
}

/// Number of obligations, all of them proved.
fn proved(entry: &str, field: &str) -> usize {
    let p = load(entry, field);
    let all = obligations(&p);
    let open: Vec<String> =
        all.iter().filter(|o| !o.proved()).map(|o| format!("{}: {} {:?}", p.func(o.func).name, o.text, o.outcome)).collect();
    assert!(open.is_empty(), "{entry} with {field}:\n{}", open.join("\n"));
    all.len()
}

/// Every program of the library.
fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the library");
    let mut all: Vec<_> = entries.flatten().map(|e| e.path()).flat_map(|p| if p.is_dir() { files(&p) } else { vec![p] }).collect();
    all.retain(|p| p.extension().is_some_and(|x| x == "stk"));
    all.sort();
    all
}

/// Whatever is proved of the library was also run on some input to its end.
#[test]
fn no_function_is_proved_without_a_run() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lib");
    let (mut functions, mut unrun) = (0, std::collections::BTreeSet::new());
    // Units of curves are instances of one program, and have their turn.
    let all = seeds::alike(files(std::path::Path::new(root)), 11, |p| p.parent().is_some_and(|f| f.ends_with("ec")));
    for path in seeds::some(all, 3) {
        let path = path.to_str().expect("a name").to_string();
        let mut read = |path: &str| std::fs::read_to_string(path).ok();
        let compiled = santoku_sema::compile(&path, &[root.to_string()], &mut read, &santoku_sema::Options::default());
        let p = compiled.unwrap_or_else(|f| panic!("{path}: {:?}", f.diagnostics)).program;
        let report = santoku_prove::prove(&p, &santoku_prove::ProveOptions::default());
        assert_eq!((report.failed().count(), report.faults().count()), (0, 0), "{path}\n{}", report.table());
        functions += report.functions.len();
        unrun.extend(report.unrun().map(|f| f.name.clone()));
    }
    println!("tried: {functions} functions of the library, all run on inputs but {unrun:?}");
    assert!(functions > seeds::least(400, 3) && unrun.is_empty(), "{unrun:?}");
}

/// Specification functions recurse: as deep as the prover's own threads allow.
fn with_stack(f: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(256 << 20).spawn(f).expect("a thread").join().expect("no failure");
}

#[test]
fn the_field_in_three_radices() {
    with_stack(|| {
        for radix in ["radix51", "radix16", "radix25_5"] {
            let n = proved(&format!("field/fe25519_{radix}"), radix);
            assert!(n >= 17, "{radix}: only {n} obligations");
        }
    });
}

#[test]
fn fields_of_other_primes_near_a_power_of_two() {
    with_stack(|| {
        for field in ["fe1305_radix26", "fe1305_radix44", "fe2519_radix25_1", "fe2519_radix51", "fe41417_radix52", "fe5211_radix58"] {
            let n = proved(&format!("field/{field}"), "radix51");
            assert!(n >= 17, "{field}: only {n} obligations");
        }
    });
}

#[test]
fn inversion_by_an_addition_chain_and_point_formulas() {
    with_stack(|| {
        for radix in ["radix51", "radix16", "radix25_5"] {
            assert!(proved("field/fe25519_pow", radix) >= 8);
            assert!(proved("curve/ed25519", radix) >= 40);
        }
    });
}

#[test]
fn montgomery_arithmetic_below_its_modulus() {
    with_stack(|| assert!(proved("field/fep256_mont64", "radix51") >= 20));
}

#[test]
fn points_and_signatures_meet_what_the_field_requires() {
    with_stack(|| {
        assert!(proved("curve/p256", "radix51") >= 130);
    });
    // That the multiples of the base point lie on the curve is found by running all digits, which contracts alone do not.
    let report = santoku_prove::prove(&load("ecdsa/p256", "radix51"), &santoku_prove::ProveOptions::default());
    assert!(report.holds() && report.total() >= 1500, "{}", report.table());
}
