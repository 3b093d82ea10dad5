//! `--json`: one object on standard output for every command, whatever happens.

mod support;
use serde_json::Value;
use support::Sandbox;

const PROGRAM: &[u8] = b"@export(\"f\")\nfn f(x: u8) -> u8 { x + 1 }\ntest \"wraps\" { assert f(255) == 0 }\n";

fn json(s: &Sandbox, args: &[&str]) -> (i32, Value) {
    let run = s.run(&[&["--json"], args].concat());
    let value: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}: {}{}", run.stdout, run.stderr));
    assert_eq!(value["exit"], run.code, "{args:?}");
    assert!(value["messages"].is_array(), "{args:?}");
    (run.code, value)
}

/// Every command of the help, with the field that has its result.
#[test]
fn every_command_gives_its_result() {
    let s = Sandbox::new(&[("main.stk", PROGRAM), ("ugly.stk", b"const  A=1\n")]);
    let cases: &[(&[&str], &str)] = &[
        (&["new", "fresh"], "files"),
        (&["fmt", "ugly.stk"], "changed"),
        (&["check", "main.stk"], "programs"),
        (&["run", "main.stk::f", "4"], "results"),
        (&["test", "main.stk"], "tests"),
        (&["prove", "main.stk"], "programs"),
        (&["build", "main.stk"], "files"),
        (&["build", "main.stk", "--target", "rv32", "-o", "rv"], "steps"),
        (&["cache"], "results"),
        (&["passes"], "stages"),
        (&["trust"], "claims"),
        (&["explain"], "codes"),
        (&["explain", "range"], "page"),
        (&["explain", "proof"], "page"),
        (&["explain", "proof", "cut"], "section"),
        (&["completions", "bash"], "script"),
        (&["lab", "bench", "main.stk::f", "--machine", "host", "--levels", "O2", "--no-layouts"], "figures"),
    ];
    for (args, field) in cases {
        let (code, value) = json(&s, args);
        assert!(code == 0 && !value[field].is_null(), "{args:?}: {value:#}");
    }
    // Commands that need the tree or an object are tested where they have one: here they refuse in the same form.
    let elsewhere = ["certify", "dist", "lab", "package"];
    let help = s.run(&["--help"]).stdout;
    let commands: Vec<&str> = help.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| !l.is_empty()).filter_map(|l| l.split_whitespace().next()).collect();
    assert!(commands.len() >= 15, "{help}");
    for command in commands {
        let here = cases.iter().any(|(args, _)| args[0] == command);
        assert!(here || elsewhere.contains(&command) || command == "lsp", "`{command} --json` is not tested");
    }
    for args in [&["dist"][..], &["certify", "none.o", "--entry", "main.stk"], &["lab", "table", "nacl.sign"], &["package", "ocaml"]] {
        let (code, value) = json(&s, args);
        assert!(code == 2 && value["messages"][0]["severity"] == "error", "{args:?}: {value:#}");
    }
}

#[test]
fn standard_input_is_formatted() {
    let s = Sandbox::new(&[]);
    let run = s.run_with(&["fmt", "-", "--json"], "const  A=1\n");
    let value: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&value["text"], &value["changed"]), (&"const A = 1\n".into(), &true.into()));
}

/// A message has its code, its place and its way out; text is for people, on standard error.
#[test]
fn messages_have_places() {
    let s = Sandbox::new(&[("main.stk", "test \"ü\" { assert y == 1 }\n".as_bytes())]);
    let (code, value) = json(&s, &["check", "main.stk"]);
    let m = &value["messages"][0];
    assert_eq!((code, m["severity"].as_str(), m["code"].as_str()), (2, Some("error"), Some("unknown-name")), "{value:#}");
    let place = &m["place"];
    assert_eq!((&place["file"], &place["line"], &place["column"], &place["end_column"]), (&"main.stk".into(), &1.into(), &19.into(), &20.into()), "{m:#}");
    assert!(m["help"].is_string());
    // What is open is a message, too, and a failed test is one.
    s.write("open.stk", "@export(\"f\")\nfn f(x: int in 0..9) -> int in 0..9 { x + 1 }\ntest \"no\" { assert f(1) == 3 }\n");
    let (code, value) = json(&s, &["prove", "open.stk"]);
    assert_eq!((code, &value["holds"], value["messages"][0]["code"].as_str()), (1, &false.into(), Some("range")), "{value:#}");
    let (code, value) = json(&s, &["test", "open.stk"]);
    assert_eq!((code, &value["failed"], value["messages"][0]["code"].as_str()), (1, &1.into(), Some("run-assert")), "{value:#}");
    let (code, value) = json(&s, &["build", "open.stk"]);
    assert!(code == 1 && value["files"].is_null() && !value["messages"].as_array().unwrap().is_empty());
}
