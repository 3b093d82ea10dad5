//! Functions and modules with parameters, checked where they are written though nothing uses them.

mod common;
use common::{accept, refusal};
use std::path::{Path, PathBuf};

/// A fault in a function that nothing calls, and its message.
const FAULTS: &[(&str, &str)] = &[
    ("fn f<N: const>(x: [u8; N]) -> u8 { y }", "unknown-name 1:36 `y` is not defined"),
    ("fn f<N: const>(x: [u8; N]) -> u8 { g(x) }", "unknown-name 1:36 `g` is not defined"),
    ("fn f<N: const>(x: [u8; N]) -> u8 { M::g(x) }", "unknown-module 1:36 no module `M` here"),
    ("fn f<N: const>(x: [u8; N]) -> Nope { x[0] }", "unknown-name 1:31 `Nope` is not defined"),
    ("fn f<T: type>(x: T) -> T requires y == 1 { x }", "unknown-name 1:35 `y` is not defined"),
    // On a side that no sample takes.
    ("fn f<N: const>(x: [u8; N]) -> u8 { if N == 1000003 { y } else { x[0] } }", "unknown-name 1:54 `y` is not defined"),
    ("fn g(x: u8) -> u8 { x }\nfn f<N: const>(x: u8) -> u8 { g(x, x) }", "wrong-arguments 2:31 `g` takes 1 arguments, 2 given"),
    ("struct S { a: u8 }\nfn f<N: const>(x: S) -> u8 { x.b }", "unknown-field 2:32 no field `b`"),
    ("struct S { a: u8, b: u8 }\nfn f<N: const>(x: u8) -> S { S { a: x } }", "missing-field 2:30 field `b` is missing"),
    ("fn f<N: const>(x: u8) -> u8 { var y: u8; if N == N { y += x }\n y }", "unset-variable 1:54 a variable is read before it has a value"),
    ("fn f<N: const>(x: u8) -> u16 { x }", "type-mismatch 1:32 expected u16, found u8"),
    ("fn f<N: const>(x: u8, y: u16) -> u8 { x + y }", "type-mismatch 1:43 operands of different types: u8 and u16"),
    ("fn f<T: type>(x: T, b: bool) -> T { if b + b { x } else { x } }", "bad-operator 1:40 this operation does not exist on bool"),
    ("fn f<N: const>(x: [u8; N]) -> u8 { x = x; x[0] }", "assign-to-immutable 1:36 `x` cannot be assigned to"),
    ("fn f<N: const>(x: [u8; N]) -> u8 { let y = x[0] }", "missing-result 1:49 the body has no result"),
    ("fn f<N: const>(x: u8) -> u8 { f::<N>(x) }", "recursive-function 1:31 `main.f` calls itself"),
    ("fn f<N: const>(t: [u8; N], i: int in 0..N-1) -> u8 { t[i] }", "secret-index 1:56 index depends on a secret"),
    ("fn f<N: const>(x: u8, n: int in 0..7) -> u8 { x >> n }", "secret-shift 1:52 shift count depends on a secret"),
    ("fn f<N: const>(n: int in 0..N) -> int { var y: int in 0..9 = 0; for i in 0..<n { y = 1 }\n y }", "secret-bound 1:78 loop bound depends on a secret"),
    ("fn g(x: public u8) -> u8 { x }\nfn f<T: type>(x: u8, y: T) -> u8 { g(x) }", "secret-argument 2:38 secret passed as a public argument"),
    ("fn f<N: const>(x: [u8; N + 4]) -> u32 { le33(x, 0) }", "unknown-name 1:41 `le33` is not defined"),
    ("fn f<N: const>(x: [u8; N + 4]) -> u32 { le32(x) }", "wrong-arguments 1:41 `le32` takes 2 arguments, 1 given"),
    // With arrays that only large values allow.
    ("fn f<N: const>(x: [u8; N - 100]) -> u8 { let y: u16 = x[0]; 1 }", "type-mismatch 1:55 expected u16, found u8"),
];

#[test]
fn generic_functions_are_checked_where_they_are_written() {
    let mut wrong = Vec::new();
    for (source, wanted) in FAULTS {
        let found = refusal(&[("main.stk", source)], &[]);
        if found != [*wanted] {
            wrong.push(format!("{source}\n  wanted {wanted}\n  found  {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong for some values alone is no fault of the function.
#[test]
fn what_depends_on_a_value_is_left_to_the_instances() {
    for source in [
        "fn f<N: const>(x: [u8; N]) -> u8 { x[3] }",
        "fn f<N: const>(x: [u8; N]) -> [u8; 8] { x }",
        "fn f<N: const>(x: u8) -> u8 { x >> N }",
        "fn f<K: const>(x: [u8; K - 300]) -> u8 { x[0] }",
        "fn f<T: type>(x: T, y: T) -> T { x ^ y }",
        "fn f<T: type>(x: T) -> T { x[0] }",
        "fn f<N: const>(x: [u8; N]) -> u8 { if N == 3 { x[2] } else { x[0] } }",
        "fn f<N: const>(x: u8) -> int in 0..N { N }",
        "fn f<N: const>(x: [u8; N + 4]) -> [u32; N] { [for i in 0..<N: le32(x, i)] }",
        "fn f<N: const>(x: [u8; N + 8]) -> [u8; N + 8] { var r = x; be64(r, 1) ^= 7; r }",
        "const K = [1, 2, 3]\nfn f<N: const>(x: u8) -> int in 0..9 { K[N] }",
        "fn f<A: const, B: const>(x: [u8; A], y: [u8; B]) -> u8 { var r: u8 = 0; for i in 0..<A { r ^= x[i] }\n for i in 0..<B { r ^= y[i] }\n r }",
    ] {
        let c = accept(&[("main.stk", source)], &[]);
        assert!(c.program.funcs.is_empty(), "a sample is in the program: {source}");
    }
}

/// Also the literals and structures of samples stay outside.
#[test]
fn samples_leave_nothing_behind() {
    let used = "fn g(x: u8) -> u8 { x }\n";
    let generic = "fn f<N: const>(x: u8) -> [u8; 64] { let t: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]; let y = g(t[3]); [y ^ x; 64] }\n";
    let plain = accept(&[("main.stk", used)], &[]);
    let both = accept(&[("main.stk", &format!("{used}{generic}"))], &[]);
    assert_eq!((plain.program.funcs.len(), plain.program.consts.len()), (both.program.funcs.len(), both.program.consts.len()));
}

#[test]
fn a_module_with_parameters_has_its_names_checked_without_an_example() {
    let found = refusal(&[("main.stk", "module<P: const>\nfn f(x: u8) -> u8 { y }\nconst Q = P + R\nspec fn s(x: int) -> int = x + z\n")], &[]);
    assert_eq!(found, ["unknown-name 2:21 `y` is not defined", "unknown-name 3:15 `R` is not defined", "unknown-name 4:32 `z` is not defined"]);
    accept(&[("main.stk", "module<P: const, T: type>\nfn f(x: T) -> int in 0..P { P }\nspec fn s(x: int) -> int = sum(i in 0..<P) x * i\n")], &[]);
}

fn programs(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            programs(&path, out);
        } else if path.extension().is_some_and(|e| e == "stk") {
            out.push(path);
        }
    }
}

#[test]
fn every_generic_function_of_the_library_passes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    programs(&root.join("lib"), &mut all);
    let mut generic = 0;
    for path in &all {
        let text = std::fs::read_to_string(path).expect("a file");
        generic += text.lines().filter(|l| l.starts_with("fn ") && (l.contains(": const") || l.contains(": type"))).count();
        let name = path.strip_prefix(&root).expect("below the root").display().to_string();
        let mut load = |p: &str| std::fs::read_to_string(root.join(p)).ok();
        if let Err(f) = santoku_sema::compile(&name, &["lib".to_string()], &mut load, &santoku_sema::Options::default()) {
            panic!("{name}: {}", common::brief_all(&f.diagnostics, &f.sources));
        }
    }
    assert!(all.len() > 40 && generic > 5, "{} files, {generic} generic functions", all.len());
}
