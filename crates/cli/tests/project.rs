//! Projects: `santoku new`, `santoku.toml`, and what commands take from it.

mod support;
use support::Sandbox;

fn made() -> Sandbox {
    let s = Sandbox::new(&[]);
    let run = s.run(&["new", "carry"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    s
}

/// From nothing to C, with no file named, from any folder of the project.
#[test]
fn a_new_project_is_proved_tested_and_builds() {
    let s = made();
    assert_eq!(s.listing(), ["carry/.gitignore", "carry/README.md", "carry/lib/carry.stk", "carry/santoku.toml"]);
    for folder in ["carry", "carry/lib"] {
        let run = |args: &[&str]| s.run_in(folder, args);
        assert_eq!(run(&["fmt", "--check"]).stdout, "");
        let check = run(&["check"]);
        assert_eq!(check.stdout.lines().count(), 2, "one for each target: {}", check.stdout);
        assert_eq!(run(&["test"]).stdout.lines().last(), Some("2 passed, 0 failed"));
        let prove = run(&["prove"]);
        assert!(prove.code == 0 && prove.stdout.contains("carry.stk for host64") && prove.stdout.contains("carry.stk for rv32"), "{}{}", prove.stdout, prove.stderr);
        assert!(prove.stdout.contains("the judge accepts 2 of 2 functions as safe") && prove.stderr.is_empty(), "{}", prove.stdout);
    }
    assert_eq!(s.run_in("carry", &["build", "lib/carry.stk"]).stdout, "build/carry/carry.c\nbuild/carry/carry.h\n");
    let c = s.read("carry/build/carry/carry.c");
    assert!(c.contains("from lib/carry.stk (carry 0.1.0)") && c.contains("--target host64"), "{c}");
    // What its README says is so.
    for line in s.read("carry/README.md").lines().filter(|l| l.starts_with("santoku ")) {
        let command = line.split(" #").next().unwrap().split_whitespace().skip(1).collect::<Vec<_>>();
        let more: &[&str] = if command[0] == "lab" { &["--machine", "host", "--levels", "O2"] } else { &[] };
        let run = s.run_in("carry", &[&command[..], more].concat());
        assert_eq!(run.code, 0, "{line}: {}", run.stderr);
    }
}

#[test]
fn a_new_project_spoils_nothing() {
    let s = made();
    let before = s.listing();
    let again = s.run(&["new", "carry"]);
    assert!(again.code == 2 && again.stderr.contains("error[already-there]"), "{}", again.stderr);
    for name in ["Carry", "9", "a-b", "..", ""] {
        assert_eq!(s.run(&["new", name]).code, 2, "{name}");
    }
    assert_eq!(s.run(&["new", "other", "--targets", "host64,vax"]).code, 2);
    assert_eq!(s.listing(), before);
    // An empty folder may be there, and folders above need not.
    assert_eq!(s.run(&["new", "deep/er/one", "--targets", "rv32"]).code, 0);
    assert!(s.read("deep/er/one/santoku.toml").contains("targets = [\"rv32\"]"));
}

#[test]
fn the_library_of_a_project_lies_where_its_file_says() {
    let s = Sandbox::new(&[
        ("p/santoku.toml", b"[project]\nname = \"p\"\nversion = \"1.2.3\"\nlibrary = \"src\"\ntargets = [\"rv32\"]\n[impl]\n\"field.fe25519\" = \"radix16\"\n"),
        ("p/src/a/one.stk", b"const ONE = 1\n"),
        ("p/src/b/two.stk", b"use a.one as O\nuse field.fe25519 as F\n@export(\"two\")\nfn two(x: F::Fe) -> int { let y: F::Fe = F::add(x, x)\n y[0] + O::ONE }\n"),
    ]);
    let run = s.run_in("p", &["check", "--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["programs"][1]["program"], "src/b/two.stk");
    assert_eq!(json["programs"][1]["target"], "rv32");
    let c = |more: &[&str]| {
        let run = s.run_in("p", &[&["build", "src/b/two.stk", "--allow-unproved", "-o", "out"], more].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        s.read("p/out/b_two.h")
    };
    // Sixteen limbs by the project's choice, five by the option.
    assert!(c(&[]).contains("[16]"), "{}", c(&[]));
    assert!(c(&["--impl", "field.fe25519=radix51", "--target", "host64"]).contains("[5]"));
}

/// Each wrong manifest is refused at its place; nothing of it is guessed.
#[test]
fn wrong_manifests_are_refused() {
    let good = "[project]\nname = \"p\"\nversion = \"1.2.3\"\n";
    let cases = [
        ("", "missing field `project`"),
        ("[project\n", "santoku.toml:1"),
        ("[project]\nname = \"p\"\n", "missing field `version`"),
        ("[project]\nname = \"P\"\nversion = \"1.2.3\"\n", "santoku.toml:2:8"),
        ("[project]\nname = \"p\"\nversion = \"1.2\"\n", "santoku.toml:3:11"),
        ("[project]\nname = \"p\"\nversion = \"1.2.3\"\ntarget = \"rv32\"\n", "unknown field `target`"),
        ("[project]\nname = \"p\"\nversion = \"1.2.3\"\nlibrary = \"none\"\n", "there is no folder `none`"),
        ("[project]\nname = \"p\"\nversion = \"1.2.3\"\nlibrary = \"../lib\"\n", "inside the project"),
        ("[project]\nname = \"p\"\nversion = \"1.2.3\"\nlibrary = \"/\"\n", "inside the project"),
        ("[project]\nname = \"p\"\nversion = \"1.2.3\"\n[imp]\n", "unknown field `imp`"),
    ];
    for (text, says) in cases {
        let s = Sandbox::new(&[("santoku.toml", text.as_bytes()), ("lib/a.stk", b"const A = 1\n")]);
        let run = s.run(&["check"]);
        assert!(run.code == 2 && run.stderr.contains("error[bad-project]") && run.stderr.contains(says), "{text:?}: {}", run.stderr);
    }
    let s = Sandbox::new(&[("santoku.toml", good.as_bytes()), ("lib/a.stk", b"const A = 1\n")]);
    assert_eq!(s.run(&["check"]).code, 0);
    s.write("santoku.toml", format!("{good}targets = [\"vax\"]\n"));
    assert!(s.run(&["check"]).stderr.contains("error[unknown-target]"));
    s.write("santoku.toml", format!("{good}[impl]\n\"field.fe25519\" = \"radix7\"\n"));
    assert!(s.run(&["check"]).stderr.contains("error[unknown-implementation]"));
}

#[test]
fn without_a_project_a_file_has_to_be_named() {
    let s = Sandbox::new(&[("a.stk", b"const A = 1\n")]);
    for command in ["check", "prove", "test", "fmt"] {
        let run = s.run(&[command]);
        assert!(run.code == 2 && run.stderr.contains("error[no-project]"), "{command}: {}", run.stderr);
    }
}

#[test]
fn the_cache_is_shown_bounded_and_cleared() {
    let s = made();
    let results = |args: &[&str]| {
        let run = s.run(&[&["cache", "--json"], args].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        (json["results"].as_u64().unwrap(), json["bytes"].as_u64().unwrap(), json["limit"].as_u64().unwrap())
    };
    assert_eq!(results(&[]).0, 0);
    assert_eq!(s.run_in("carry", &["prove"]).code, 0);
    let (count, bytes, limit) = results(&[]);
    assert!(count >= 1 && bytes > 100 && limit == 2 << 30, "{count} {bytes} {limit}");
    let (less, fewer, limit) = results(&["--limit", &(bytes - 1).to_string()]);
    assert!(less < count && fewer < bytes && limit == bytes - 1);
    assert_eq!(results(&["--limit", "1G"]).2, 1 << 30);
    assert_eq!(results(&["--clear"]).0, 0);
    assert_eq!(s.run(&["cache", "--clear", "--limit", "1"]).code, 2);
    // A proof is made again, and is the same.
    assert_eq!(s.run_in("carry", &["prove"]).code, 0);
    assert_eq!(results(&[]).0, count);
}
