//! Bindings of the units in `dist/`: their C fits the headers, as a C compiler sees it.

use santoku_packages::{bindings, names, Language, Package};
use santoku_workbench::primitives::Tree;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What stubs take of OCaml's own header.
const MLVALUES: &str = "\
typedef long value;
#define Val_int(x) ((value)(((unsigned long)(x) << 1) + 1))
#define Val_unit Val_int(0)
#define Int_val(x) ((int)((x) >> 1))
#define String_val(x) ((const char *)(x))
#define Bytes_val(x) ((unsigned char *)(x))
unsigned long caml_string_length(value);
";

fn tree() -> Tree {
    Tree::find(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("inside the repository")
}

/// Whether gcc takes the stubs, with the header of the unit as `spoil` leaves it.
fn fits(stubs: &str, header: &Path, spoil: &dyn Fn(String) -> String) -> Result<(), String> {
    let dir = tempfile::tempdir().expect("scratch");
    std::fs::create_dir(dir.path().join("caml")).expect("a folder");
    std::fs::write(dir.path().join("caml/mlvalues.h"), MLVALUES).expect("written");
    let text = std::fs::read_to_string(header).expect("a header");
    std::fs::write(dir.path().join(header.file_name().expect("a name")), spoil(text)).expect("written");
    std::fs::write(dir.path().join("stubs.c"), stubs).expect("written");
    let out = Command::new("gcc").args(["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I."]).arg("stubs.c").current_dir(dir.path()).output().expect("gcc");
    if out.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&out.stderr).into_owned()) }
}

/// Whether Python reads both texts that are made of an interface, as `spoil` leaves them.
fn reads(abi: &String, spoil: &dyn Fn(String) -> String) -> bool {
    let texts = bindings(Language::Python, std::slice::from_ref(abi)).unwrap_or_else(|e| panic!("{e}"));
    texts.into_iter().all(|text| {
        let mut python = Command::new("python3").args(["-c", "import ast, sys; ast.parse(sys.stdin.read())"]).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("python3");
        python.stdin.take().expect("a pipe").write_all(spoil(text).as_bytes()).expect("written");
        python.wait().expect("it ends").success()
    })
}

/// Whether rustc takes a module.
fn compiles(text: &str) -> bool {
    let dir = tempfile::tempdir().expect("scratch");
    std::fs::write(dir.path().join("raw.rs"), text).expect("written");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition=2021", "--crate-type=lib", "--emit=metadata", "-D", "warnings", "-A", "unused_variables", "raw.rs"]).current_dir(dir.path());
    rustc.output().expect("rustc").status.success()
}

#[test]
fn python_does_not_read_everything() {
    let abi = std::fs::read_to_string(tree().root.join("dist/c/hash_sha256/hash_sha256.abi.json")).expect("an interface");
    assert!(reads(&abi, &|text| text) && !reads(&abi, &|text| text.replacen("def ", "def def ", 1).replacen("FFI()", "FFI(", 1)));
}

#[test]
fn stubs_fit_the_headers_of_the_library() {
    let tree = tree();
    let (mut compiled, mut refused) = (0, 0);
    for p in tree.shipped().expect("declared") {
        let folder = tree.root.join("dist/c").join(&p.unit);
        let abi = std::fs::read_to_string(folder.join(format!("{}.abi.json", p.unit))).expect("an interface");
        let header = folder.join(format!("{}.h", p.unit));
        match bindings(Language::Ocaml, std::slice::from_ref(&abi)) {
            Ok([module, stubs]) => {
                assert!(module.contains("[@@noalloc]") && stubs.contains("caml/mlvalues.h"), "{}", p.unit);
                fits(&stubs, &header, &|h| h).unwrap_or_else(|e| panic!("{}: {e}", p.unit));
                // A function with an argument more is not called as it was.
                let longer = |h: String| h.replacen("const uint8_t *", "int more, const uint8_t *", 1).replacen("const unsigned char *", "int more, const unsigned char *", 1);
                assert!(fits(&stubs, &header, &longer).is_err(), "{}: a header with an argument more", p.unit);
                let [rust, _] = bindings(Language::Rust, std::slice::from_ref(&abi)).unwrap_or_else(|e| panic!("{e}"));
                assert!(compiles(&rust), "{}: rustc does not take its module", p.unit);
                assert!(!compiles(&rust.replacen("pub fn ", "pub fn pub ", 1)));
                assert!(reads(&abi, &|text| text), "{}: Python does not read its module", p.unit);
                compiled += 1;
            }
            Err(e) => {
                println!("no bindings of {}: {e}", p.unit);
                refused += 1;
            }
        }
    }
    assert!(compiled > 10 && refused <= 3, "{compiled} compiled, {refused} refused");
    println!("tried: {compiled} units");
}

/// Every package is described by what there is, and another name is refused.
#[test]
fn packages_name_primitives_that_are_there() {
    let tree = tree();
    let all = names(&tree).unwrap_or_else(|e| panic!("{e}"));
    assert!(!all.is_empty());
    for name in &all {
        let package = Package::read(&tree, name).unwrap_or_else(|e| panic!("{e}"));
        assert!(!package.primitives.is_empty(), "{name}");
    }
    let none = Package::read(&tree, "cobol").expect_err("no such package");
    assert!(none.to_string().contains("there is no package `cobol`; there are: ") && none.to_string().contains(&all[0]), "{none}");
}
