//! `santoku package` on a tree of one small primitive: proved, made; nothing is made of what is not proved.

mod support;
use support::Sandbox;

const ROW: &[u8] = b"[[primitive]]\nname = \"toy.mix\"\ntitle = \"Mixing\"\nentry = \"lib/toy/mix.stk\"\nunit = \"toy_mix\"\ntargets = [\"host64\", \"rv32\"]\nship = false\n";
const MIX: &[u8] = b"@export(\"toy_mix\")\nfn mix<n: len in 0..100>(key: [u8; 4], m: [u8; n]) -> [u8; 4] {\n  var r = key\n  for i in 0..<n { r[i % 4] = r[i % 4] ^ m[i] }\n  r\n}\n";
const MACHINE: &[u8] = b"word_bits = 32\nwidest = 64\n";
const OCAML: &[u8] = b"language = \"ocaml\"\nprimitives = [\"toy.mix\"]\ncode = \"lib\"\nvectors = \"vectors.txt\"\n";
const PYTHON: &[u8] = b"language = \"python\"\nprimitives = [\"toy.mix\"]\ncode = \"src/toy\"\nvectors = \"vectors.txt\"\n";

fn tree(program: &[u8], description: &[u8]) -> Sandbox {
    Sandbox::new(&[
        ("lib/primitives.toml", ROW),
        ("lib/toy/mix.stk", program),
        ("targets/host64.toml", MACHINE),
        ("targets/rv32.toml", MACHINE),
        ("packages/p/package.toml", description),
        ("packages/p/csrc/own.c", b"int own;\n"),
        ("packages/p/README.md", b"A toy.\n"),
    ])
}

/// Files of a folder of the package.
fn made(s: &Sandbox) -> Vec<String> {
    s.listing().into_iter().filter(|f| f.starts_with("build/packages")).collect()
}

#[test]
fn a_package_has_c_bindings_and_what_is_written_by_hand() {
    for (description, binding, other) in [(OCAML, "lib/raw.ml", "lib/santoku_stubs.c"), (PYTHON, "src/toy/_raw.py", "build_raw.py")] {
        let s = tree(MIX, description);
        let run = s.run(&["package", "p"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        assert!(run.stdout.contains("toy.mix for rv32: ") && run.stdout.contains(" 0 open") && run.stdout.contains("7 files in "), "{}", run.stdout);
        let read = |name: &str| s.read(&format!("build/packages/p/{name}"));
        assert!(read(binding).contains("mix") && read(other).contains("toy_mix"), "{:?}", made(&s));
        assert_eq!(read("README.md"), "A toy.\n");
        assert!(!made(&s).iter().any(|f| f.ends_with("package.toml")));
        // Elsewhere, too.
        assert_eq!(s.run(&["package", "p", "-o", "other"]).code, 0);
        assert_eq!(s.read(&format!("other/{binding}")), read(binding));
    }
}

#[test]
fn nothing_is_made_of_what_is_not_proved_or_not_described() {
    let wrong = std::str::from_utf8(MIX).expect("text").replace("i % 4] ^", "i % 5] ^");
    let s = tree(wrong.as_bytes(), OCAML);
    let run = s.run(&["package", "p"]);
    assert!(run.code == 1 && run.stderr.contains("not made, because it is not proved"), "{}", run.stderr);
    assert!(made(&s).is_empty());
    for (description, told) in [
        (b"language = \"ocaml\"\n".to_vec(), "missing field `primitives`"),
        ([OCAML, b"licence = 1\n"].concat(), "unknown field `licence`"),
        (String::from_utf8_lossy(OCAML).replace("toy.mix", "toy.max").into_bytes(), "toy.max"),
        ([OCAML, b"also = [\"LICENCE\"]\n"].concat(), "LICENCE"),
    ] {
        let s = tree(MIX, &description);
        let run = s.run(&["package", "p"]);
        assert!(run.code == 2 && run.stderr.contains(told), "{told}: {} {}", run.code, run.stderr);
        assert!(made(&s).is_empty());
    }
    let s = tree(MIX, OCAML);
    let run = s.run(&["package", "q"]);
    assert!(run.code == 2 && run.stderr.contains("there is no package `q`") && run.stderr.contains("there are: p"), "{}", run.stderr);
}
