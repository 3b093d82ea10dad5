//! The matrix: every implementation of the library is in it, every object is made and read, and value barriers matter.

mod support;

use santoku_elf::{load, Function, Image};
use santoku_workbench::compile::front;
use santoku_workbench::matrix::{compile, configs, without_barriers, Config, Level};
use santoku_workbench::matrix_units::{make, units, Made};
use santoku_workbench::parallel;
use std::collections::BTreeSet;
use support::tree;

/// All that our code may call beyond itself: compilers make calls of their own to the first three; key pairs need the last.
const EXTERNALS: [&str; 4] = ["memcpy", "memmove", "memset", "randombytes"];

/// Modules that are proved, and that no shipped program uses yet (of those that `tuned/` chooses, assembly is made, as of recovery).
const NOT_SHIPPED: [&str; 75] = [
    "auth/hmac_keyed",
    "curve/base_comb",
    "curve/base_comb_teeth4",
    "curve/base_comb_teeth6",
    "curve/base_window_w10",
    "curve/comb",
    "curve/p224",
    "curve/p384",
    "curve/p521",
    "curve/public_scalars_halved",
    "curve/signed_digits",
    "curve/weierstrass_secret",
    "curve/windows",
    "ec/brainpoolp256r1",
    "ec/brainpoolp320r1",
    "ec/brainpoolp384r1",
    "ec/brainpoolp512r1",
    "ec/ed25519",
    "ec/p224",
    "ec/p256",
    "ec/p384",
    "ec/p521",
    "ec/secp256k1",
    "ec/sm2p256v1",
    "ec/unit",
    "ecdsa/encoded",
    "ecdsa/nonce",
    "ecdsa/p256_der",
    "ecdsa/recover",
    "ecdsa/secp256k1_der",
    "ecdsa/secp256k1_recover",
    "ecdsa/sign",
    "field/fe1305",
    "field/fe1305_radix26",
    "field/fe1305_radix44",
    "field/fe2519",
    "field/fe2519_radix25_1",
    "field/fe2519_radix51",
    "field/fe41417",
    "field/fe41417_radix52",
    "field/fe5211",
    "field/fe5211_radix58",
    "field/fep224",
    "field/fep224_mont32",
    "field/fep224_mont64",
    "field/fep256_reduction",
    "field/fep256_sparse64",
    "field/fep384",
    "field/fep384_mont32",
    "field/fep384_mont64",
    "field/fep521",
    "field/fep521_mont32",
    "field/fep521_mont64",
    "field/fesecp256k1_folded64",
    "field/fesecp256k1_mont32",
    "field/inversion_steps",
    "field/products_halves",
    "field/root",
    "field/secret_fep256",
    "field/secret_fep256_montgomery",
    "field/secret_fep256_sparse64",
    "field/secret_fesecp256k1",
    "field/secret_fesecp256k1_folded64",
    "field/secret_fesecp256k1_montgomery",
    "field/secret_inverse",
    "field/word",
    "field/word_w32",
    "field/word_w64",
    "hash/keccak",
    "hash/keccak_spec",
    "hash/sha3",
    "hash/sha3_spec",
    "hash/sponge",
    "integer/products",
    "integer/safegcd",
];

#[test]
fn every_source_of_the_library_is_in_some_unit() {
    let tree = tree();
    let mut read: BTreeSet<String> = BTreeSet::new();
    for unit in units(&tree).expect("the tables are right") {
        let checked = front(&tree, &unit.primitive.entry, unit.target(&tree).expect("a target")).unwrap_or_else(|e| panic!("{}: {e}", unit.name));
        read.extend(checked.sources.names());
    }
    let (mut files, mut unread) = (0, BTreeSet::new());
    for folder in std::fs::read_dir(tree.root.join("lib")).expect("lib").flatten().filter(|e| e.path().is_dir()) {
        for file in std::fs::read_dir(folder.path()).expect("folder").flatten().filter(|f| f.path().extension().is_some_and(|e| e == "stk")) {
            let path = file.path().strip_prefix(&tree.root).expect("inside").to_string_lossy().into_owned();
            files += 1;
            if !read.contains(&path) {
                unread.insert(path);
            }
        }
    }
    let known: BTreeSet<String> = NOT_SHIPPED.iter().map(|stem| format!("lib/{stem}.stk")).collect();
    assert_eq!(unread, known, "units read {read:?}");
    assert!(files > 25);
}

fn check(image: &Image, made: &Made, what: &str) -> usize {
    let exported = made.program.funcs.iter().filter_map(|f| f.export.as_deref());
    let api = made.source.contains("crypto_sign_open");
    let missing: Vec<&str> = exported.filter(|name| !api && image.function(name).is_none()).collect();
    assert!(missing.is_empty(), "{what}: no {missing:?}");
    assert!(!api || image.function("crypto_sign").is_some(), "{what}");
    for (_, name) in image.externals() {
        assert!(EXTERNALS.contains(&name), "{what} calls {name}");
    }
    let with_lines = image.functions.iter().filter(|f| image.line(f.address).is_some()).count();
    assert_eq!(with_lines, image.functions.len(), "{what}: functions without lines");
    image.functions.len()
}

/// Rows compiled and functions in them.
fn rows(wanted: impl Fn(&Config) -> bool) -> (usize, usize) {
    let tree = tree();
    let folder = tempfile::tempdir().expect("scratch");
    let units = units(&tree).expect("the tables are right");
    let made = parallel::map(&units, parallel::threads(), |u| make(&tree, u)).unwrap_or_else(|e| panic!("{e}"));
    let mut jobs = vec![];
    for (unit, made) in units.iter().zip(&made) {
        jobs.extend(configs().expect("described").into_iter().filter(|c| unit.wants(c) && wanted(c)).map(|c| (unit, made, c)));
    }
    let counts = parallel::map(&jobs, parallel::threads(), |(unit, made, config)| {
        let object = compile(config, &made.source, &folder.path().join(&unit.name))?;
        let what = format!("{} {}", unit.name, config.name());
        Ok::<_, santoku_workbench::BenchError>(check(&load(&object).unwrap_or_else(|e| panic!("{what}: {e}")), made, &what))
    });
    let counts = counts.unwrap_or_else(|e| panic!("{e}"));
    (counts.len(), counts.iter().sum())
}

#[test]
fn one_level_of_every_unit_compiles_and_is_read() {
    let of = santoku_skips::seeds::one(["gcc", "clang"], 0);
    let (rows, functions) = rows(|c| c.level == Level::Os && of.contains(&c.compiler.family.as_str()) && (c.march.ends_with("mc") || c.march.contains("_zb")));
    println!("{rows} objects, {functions} functions");
    assert!(rows >= santoku_skips::seeds::least(20, 2) && functions > santoku_skips::seeds::least(400, 2));
}

/// Minutes; the whole table.
#[test]
#[ignore]
fn the_whole_matrix_compiles_and_is_read() {
    let (rows, functions) = rows(|_| true);
    println!("{rows} objects, {functions} functions");
    assert!(rows >= 160 && functions > 3000);
}

/// Conditional branches of a function.
fn branches(image: &Image, function: &Function) -> usize {
    let (mut pc, mut count) = (function.address, 0);
    while pc < function.address + function.size {
        let word = image.fetch(pc).expect("code");
        count += usize::from(word & 0x7f == 0x63 || (word >> 16 == 0 && matches!(word & 0xe003, 0xc001 | 0xe001)));
        pc += if word & 3 == 3 { 4 } else { 2 };
    }
    count
}

/// Without barriers clang turns masks of secret conditions into branches: the scalar's digit in a lookup, the borrow of the last subtraction modulo L.
#[test]
fn barriers_keep_clang_from_branching_on_secrets() {
    let tree = tree();
    let folder = tempfile::tempdir().expect("scratch");
    let all = units(&tree).expect("the tables are right");
    let cases = [("nacl.sign@rv32", "curve_ed25519_comb_term", 16), ("nacl.sign@rv32", "field_sc25519_reduce", 1)];
    for (name, function, least) in cases {
        let unit = all.iter().find(|u| u.name == name).expect("a unit");
        let made = make(&tree, unit).unwrap_or_else(|e| panic!("{e}"));
        let bare = without_barriers(&made.source).expect("there are barriers");
        let config = configs().expect("described").into_iter().find(|c| c.compiler.family == "clang" && c.level == Level::O2 && unit.wants(c)).expect("a row");
        let count = |text: &str| {
            let image = load(&compile(&config, text, folder.path()).unwrap_or_else(|e| panic!("{e}"))).expect("object");
            branches(&image, image.function(function).unwrap_or_else(|| panic!("no {function}")))
        };
        let (with, without) = (count(&made.source), count(&bare));
        println!("{name} {function}: {with} branches, {without} without barriers");
        assert!(without >= with + least, "{name} {function}: {with} and {without}");
    }
}
