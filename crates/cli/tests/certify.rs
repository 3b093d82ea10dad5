//! `santoku certify`: exit codes, reports, lists of hashes, and bad input of every kind.

mod support;
use expect_test::{expect, Expect};
use std::process::Command;
use support::{Run, Sandbox};

const PROGRAM: &[u8] = b"@export(\"choose\")\nfn choose(x: u32, y: u32, s: bool) -> u32 { if s { x } else { y } }\n";
const RIGHT: &str = "#include <stdint.h>\nuint32_t choose(uint32_t x, uint32_t y, uint32_t s)\n{\n  return y ^ ((x ^ y) & -s);\n}\n";
const LEAK: &str =
    "#include <stdint.h>\nuint32_t choose(uint32_t x, uint32_t y, uint32_t s)\n{\n  if (s) { __asm__ volatile(\"\"); return x; }\n  return y;\n}\n";

/// A folder with the program and an object of this C; `None`, with a printed reason, where there is no compiler.
fn compiled(text: &str) -> Option<Sandbox> {
    let sandbox = Sandbox::new(&[("f.stk", PROGRAM), ("f.c", text.as_bytes())]);
    let gcc = std::env::var("SANTOKU_RV32_GCC").unwrap_or_else(|_| "riscv64-unknown-elf-gcc".into());
    let mut cc = Command::new(&gcc);
    cc.args(["-march=rv32im", "-mabi=ilp32", "-O1", "-g", "-ffreestanding", "-ffunction-sections", "-c", "f.c", "-o", "f.o"]);
    match cc.current_dir(sandbox.path("")).output() {
        Ok(done) => assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr)),
        Err(e) => {
            santoku_skips::skip("certify", format!("`{gcc}` does not run here: {e}"));
            return None;
        }
    }
    Some(sandbox)
}

fn certify(sandbox: &Sandbox, more: &[&str]) -> Run {
    sandbox.run(&[&["certify", "f.o", "--entry", "f.stk"], more].concat())
}

fn refused(run: &Run, want: Expect) {
    want.assert_eq(&run.stderr);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
}

#[test]
fn right_code_is_proved() {
    let Some(sandbox) = compiled(RIGHT) else { return };
    // The code does not clear the register with the argument that it does not return.
    let run = certify(&sandbox, &[]);
    assert_eq!((run.code, run.stdout.contains("choose LEAVES A SECRET, perhaps: register `a")), (1, true), "{}", run.stdout);
    let value: serde_json::Value = serde_json::from_str(&certify(&sandbox, &["--json"]).stdout).unwrap();
    assert_eq!((&value["holds"], &value["leaves_nothing"], &value["residues"][0]["left"]), (&true.into(), &false.into(), &"remains".into()));
    let run = certify(&sandbox, &["--allow-residue", "--no-cache"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    assert!(run.stdout.contains("1 of 1 functions proved for rv32imc"), "{}", run.stdout);
    assert!(!run.stdout.contains(" kept "));
    assert!(certify(&sandbox, &["--allow-residue"]).stdout.contains(" kept "), "a second run finds the proof");
    assert!(!certify(&sandbox, &["--no-cache"]).stdout.contains(" kept "));
    let json = certify(&sandbox, &["--json", "--march", "rv32im", "--function", "choose"]);
    let value: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((json.code, &value["holds"], &value["isa"]), (0, &true.into(), &"rv32im".into()));
    assert!(value["leaves_nothing"].is_null() && value["residues"].as_array().is_some_and(Vec::is_empty), "not asked of one function");
    assert_eq!(value["functions"][0]["status"]["verdict"], "equal");
    assert_eq!(value["functions"][0]["hash"].as_str().map(str::len), Some(64));
    assert!(value["assumed"].as_array().is_some_and(|a| a.len() > 5));
    assert_eq!((&value["entry"], value["program"].as_str().map(str::len)), (&"f.stk".into(), Some(64)));
    assert!(twice(&json.stdout).is_empty(), "{:?}", twice(&json.stdout));
    assert_eq!(twice("{\"a\": [{\"b\": 1, \"c\": {\"b\": 2}, \"b\": 3}], \"d\": 0, \"a\": 1}"), ["b", "a"]);
}

/// Names that one object of a JSON text has twice: most readers keep the last and say nothing.
fn twice(json: &str) -> Vec<String> {
    struct Seen<'a>(&'a mut Vec<String>);
    impl<'de> serde::de::DeserializeSeed<'de> for Seen<'_> {
        type Value = ();
        fn deserialize<D: serde::Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
            d.deserialize_any(self)
        }
    }
    impl<'de> serde::de::Visitor<'de> for Seen<'_> {
        type Value = ();
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("JSON")
        }
        fn visit_bool<E>(self, _: bool) -> Result<(), E> {
            Ok(())
        }
        fn visit_i64<E>(self, _: i64) -> Result<(), E> {
            Ok(())
        }
        fn visit_u64<E>(self, _: u64) -> Result<(), E> {
            Ok(())
        }
        fn visit_f64<E>(self, _: f64) -> Result<(), E> {
            Ok(())
        }
        fn visit_str<E>(self, _: &str) -> Result<(), E> {
            Ok(())
        }
        fn visit_unit<E>(self) -> Result<(), E> {
            Ok(())
        }
        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut all: A) -> Result<(), A::Error> {
            while all.next_element_seed(Seen(self.0))?.is_some() {}
            Ok(())
        }
        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut all: A) -> Result<(), A::Error> {
            let mut names = std::collections::BTreeSet::new();
            while let Some(name) = all.next_key::<String>()? {
                all.next_value_seed(Seen(self.0))?;
                if !names.insert(name.clone()) {
                    self.0.push(name);
                }
            }
            Ok(())
        }
    }
    let mut found = vec![];
    serde::de::DeserializeSeed::deserialize(Seen(&mut found), &mut serde_json::Deserializer::from_str(json)).expect("JSON");
    found
}

#[test]
fn wrong_code_is_refuted() {
    let Some(sandbox) = compiled(&RIGHT.replace("-s", "(s - 1)")) else { return };
    let run = certify(&sandbox, &[]);
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("choose: refuted") && run.stdout.contains("the result in a0: the code gives"), "{}", run.stdout);
    assert!(run.stdout.contains("0 of 1 functions proved"));
}

#[test]
fn a_leak_is_told_with_file_and_line_and_two_inputs() {
    let Some(sandbox) = compiled(LEAK) else { return };
    let run = certify(&sandbox, &[]);
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("secret leak") && run.stdout.contains("f.c:4 ("), "{}", run.stdout);
    let shown = "  two inputs that differ in secrets alone show it:\n    s = 0: the branch is not taken\n    s = 1: the branch is taken\n    in both x = ";
    assert!(run.stdout.contains(shown), "{}", run.stdout);
    let json: serde_json::Value = serde_json::from_str(&certify(&sandbox, &["--json"]).stdout).unwrap();
    let status = &json["functions"][0]["status"];
    assert_eq!((&status["verdict"], &status["evidence"]["secrets"]), (&"leak".into(), &serde_json::json!([["s", "0", "1"]])));
    assert_eq!(status["evidence"]["second"], "the branch is taken");
    // Right code has nothing to show.
    let Some(sandbox) = compiled(RIGHT) else { return };
    assert!(!certify(&sandbox, &["--json"]).stdout.contains("evidence"));
}

#[test]
fn a_program_that_is_not_proved_is_compared_with_nothing() {
    let Some(sandbox) = compiled(RIGHT) else { return };
    sandbox.write("f.stk", "@export(\"choose\")\nfn choose(x: u32, y: u32, s: bool) -> u32\n  ensures result == x\n{ if s { x } else { y } }\n");
    let run = certify(&sandbox, &[]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{}", run.stderr);
    assert!(run.stderr.contains("nothing is compared"), "{}", run.stderr);
}

#[test]
fn hashes_are_looked_up() {
    let Some(sandbox) = compiled(RIGHT) else { return };
    let json = certify(&sandbox, &["--json"]);
    let value: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let hash = value["functions"][0]["hash"].as_str().unwrap();
    let list = |rows: &[(&str, &str)]| {
        let origin = "\"primitive\":\"p\",\"target\":\"t\",\"march\":\"rv32im\",\"xlen\":32,\"compiler\":\"cc 7\",\"flags\":[\"-O1\"]";
        let row = |(symbol, hash): &(&str, &str)| {
            format!("{{{origin},\"program\":\"{hash}\",\"symbol\":\"{symbol}\",\"function\":\"f.{symbol}\",\"hash\":\"{hash}\",\"shared\":[],\"calls\":[],\"inside\":[]}}")
        };
        let rows_text: Vec<String> = rows.iter().map(row).collect();
        let programs: std::collections::BTreeSet<&str> = rows.iter().map(|r| r.1).collect();
        let objects: Vec<String> = programs.iter().map(|p| format!("{{{origin},\"text\":\"{p}\",\"program\":\"{p}\"}}")).collect();
        format!("{{\"files\":[],\"objects\":[{}],\"functions\":[{}]}}", objects.join(","), rows_text.join(","))
    };
    let record = list(&[("choose", hash)]);
    sandbox.write("list.json", &record);
    let run = sandbox.run(&["certify", "--match", "f.o", "--manifest", "list.json"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    assert!(run.stdout.contains("proved   choose") && run.stdout.contains("cc 7 -O1"), "{}", run.stdout);
    assert!(run.stdout.contains("assumed: `memcpy`, `memmove` and `memset` of the C library do what the standard says"), "{}", run.stdout);
    let json = sandbox.run(&["certify", "--match", "f.o", "--manifest", "list.json", "--json"]).stdout;
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(value["assumed"][0].as_str().is_some_and(|a| a.contains("`memmove`")) && twice(&json).is_empty(), "{json}");
    sandbox.write("list.json", list(&[("choose", &"0".repeat(64))]));
    let run = sandbox.run(&["certify", "--match", "f.o", "--manifest", "list.json"]);
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("unknown  choose") && run.stdout.contains("0 of 1 functions"), "{}", run.stdout);
    // One of two functions of the list that are in the file: not all own functions are proved.
    sandbox.write("two.c", RIGHT.to_string() + "uint32_t other(uint32_t x) { return x + 1; }\n");
    let gcc = std::env::var("SANTOKU_RV32_GCC").unwrap_or_else(|_| "riscv64-unknown-elf-gcc".into());
    let args = ["-march=rv32im", "-mabi=ilp32", "-O1", "-g", "-ffreestanding", "-ffunction-sections", "-c", "two.c", "-o", "two.o"];
    assert!(Command::new(&gcc).args(args).current_dir(sandbox.path("")).status().expect("it ran before").success());
    let ask = |more: &[&str]| sandbox.run(&[&["certify", "--match", "two.o", "--manifest", "list.json"], more].concat());
    sandbox.write("list.json", list(&[("choose", hash), ("other", &"0".repeat(64))]));
    let run = ask(&[]);
    assert!(run.code == 1 && run.stdout.contains("1 of 2 functions that have the name of one in the list are proved"), "{}", run.stdout);
    // Those that are asked for, and no others.
    assert_eq!(ask(&["--function", "choose"]).code, 0);
    assert_eq!(ask(&["--function", "choose", "--function", "other"]).code, 1);
    let run = ask(&["--function", "choose", "--function", "nowhere"]);
    assert!(run.code == 1 && run.stdout.contains("not there: nowhere"), "{}", run.stdout);
    let json: serde_json::Value = serde_json::from_str(&ask(&["--json"]).stdout).unwrap();
    assert_eq!((&json["holds"], &json["matched"]), (&false.into(), &1.into()));
    // What is not in the list, a firmware's own code, is no concern of it.
    sandbox.write("list.json", list(&[("choose", hash)]));
    assert_eq!((ask(&[]).code, ask(&["--function", "other"]).code), (0, 1));
    // The list that came with the command is well formed.
    assert_eq!(sandbox.run(&["certify", "--match", "f.o"]).code, 1);
    sandbox.write("list.json", "[{}]");
    let run = sandbox.run(&["certify", "--match", "f.o", "--manifest", "list.json"]);
    assert!(run.code == 2 && run.stderr.contains("error[bad-manifest]: `list.json` is no list of certified hashes"), "{}", run.stderr);
}

#[test]
fn files_that_are_no_objects_are_refused() {
    let sandbox = Sandbox::new(&[("f.stk", PROGRAM), ("f.o", b"not at all")]);
    let run = certify(&sandbox, &[]);
    assert!(run.code == 2 && run.stderr.contains("error[not-elf]: `f.o` is no ELF file"), "{}", run.stderr);
    assert!(run.stderr.contains("= try:") && run.stdout.is_empty());
    refused(&sandbox.run(&["certify", "nowhere.o", "--entry", "f.stk"]), expect![[r#"
        error[missing-file]: there is no file `nowhere.o`
         |
         = try: check the path; it is taken from the current folder

        1 error
    "#]]);
    // An ELF file of another machine: this very program, unless it runs on RISC-V.
    if !cfg!(target_arch = "riscv64") {
        let run = sandbox.run(&["certify", env!("CARGO_BIN_EXE_santoku"), "--entry", "f.stk"]);
        assert!(run.code == 2 && run.stderr.contains("error[wrong-machine]"), "{}", run.stderr);
    }
}

#[test]
fn objects_that_do_not_fit_are_refused() {
    let Some(sandbox) = compiled(RIGHT) else { return };
    refused(&certify(&sandbox, &["--march", "rv64imc"]), expect![[r#"
        error[wrong-machine]: `f.o` is not for rv64imc
         |
         = why: the file is for registers of 32 bits
         = try: leave `--march` out to take the width from the file

        1 error
    "#]]);
    let run = certify(&sandbox, &["--march", "armv7"]);
    assert!(run.code == 2 && run.stderr.contains("error[bad-option]"), "{}", run.stderr);
    refused(&certify(&sandbox, &["--function", "chose"]), expect![[r#"
        error[nothing-to-certify]: `f.o` holds no function `chose` of `f.stk`
         |
         = note: functions of the file: choose
         = note: functions of the program: choose
         = try: compare with the program that the C was made from, with the same `--target` and `-O`

        1 error
    "#]]);
    sandbox.write("f.stk", "@export(\"other\")\nfn other(x: u32) -> u32 { x }\n");
    let run = certify(&sandbox, &[]);
    assert!(run.code == 2 && run.stderr.contains("error[nothing-to-certify]: `f.o` holds no function of `f.stk`"), "{}", run.stderr);
    let mut short = std::fs::read(sandbox.path("f.o")).unwrap();
    short.truncate(short.len() / 2);
    sandbox.write("f.o", short);
    let run = certify(&sandbox, &[]);
    assert!(run.code == 2 && run.stderr.contains("error[bad-object]: `f.o` cannot be certified"), "{}", run.stderr);
    assert!(run.stderr.contains("= where:") && run.stderr.contains("= why:") && run.stderr.contains("= try:"), "{}", run.stderr);
}
