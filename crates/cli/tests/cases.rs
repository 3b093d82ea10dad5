//! Tests with cases in files, in the interpreter and as C.

mod support;
use serde_json::{json, Value};
use support::Sandbox;

const PROGRAM: &str = r#"use hash.sha256 as H
use scalarmult.curve25519 as X

test "Wycheproof, X25519" from "x25519.json" (k: [u8; 32] = "private", u: [u8; 32] = "public", shared: [u8; 32]) {
  assert X::x25519(k, u) == shared
}

test "CAVP, SHA-256" from "kat/sha256.rsp" <n: len>(m: [u8; n] = "Msg", d: [u8; 32] = "MD") {
  assert H::hash(m) == d
}
"#;

/// Cases of RFC 7748, 5.2 and one with a key that is too short, in Wycheproof's form.
fn x25519() -> String {
    let case = |id: u32, private: &str, public: &str, shared: &str| json!({ "tcId": id, "comment": "RFC 7748", "private": private, "public": public, "shared": shared, "result": "valid" });
    json!({ "algorithm": "XDH", "testGroups": [{ "curve": "curve25519", "tests": [
        case(1, "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4", "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c", "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"),
        case(2, "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d", "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493", "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"),
        case(3, "a546", "e6db", "c3da"),
    ] }] })
    .to_string()
}

const SHA256: &str = "# CAVS 11.0\n\n[L = 32]\n\nLen = 0\nMsg = 00\nMD = e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n\nLen = 24\nMsg = 616263\nMD = ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n";

fn sandbox() -> Sandbox {
    let s = Sandbox::new(&[("main.stk", PROGRAM.as_bytes()), ("kat/sha256.rsp", SHA256.as_bytes())]);
    s.write("x25519.json", x25519());
    s
}

/// The same files in the interpreter, natively and on RISC-V.
#[test]
fn cases_of_files_run_everywhere() {
    let s = sandbox();
    for (on, name) in [(None, ""), (Some("c"), "on host64, "), (Some("rv32"), "on rv32, ")] {
        let more: Vec<&str> = on.iter().flat_map(|on| ["--on", on]).collect();
        let run = s.run(&[&["test", "main.stk"], &more[..]].concat());
        let wanted = format!(
            "ok    main.stk: Wycheproof, X25519 ({name}2 cases, 1 left out: `private` is not 32 long: 1)\nok    main.stk: CAVP, SHA-256 ({name}2 cases)\n2 passed, 0 failed\n"
        );
        assert_eq!((run.code, run.stdout), (0, wanted), "{on:?}: {}", run.stderr);
    }
}

/// One wrong digit is found, and the case is named.
#[test]
fn a_wrong_case_fails_and_is_named() {
    let s = sandbox();
    s.write("x25519.json", x25519().replace("c3da55", "c3da56"));
    for on in [&[][..], &["--on", "c"], &["--on", "rv32"]] {
        let run = s.run(&[&["test", "main.stk", "--only", "X25519", "--json"], on].concat());
        let value: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((run.code, &value["tests"][0]["failed_cases"], &value["tests"][0]["cases"]), (1, &1.into(), &2.into()), "{on:?}: {value:#}");
        assert!(run.stderr.contains("case: tcId 1, RFC 7748") && run.stderr.contains("--> main.stk:5"), "{}", run.stderr);
    }
}

#[test]
fn files_that_do_not_fit_are_refused() {
    let test = |params: &str| format!("test \"t\" from \"t.json\" {params} {{ assert true }}\n");
    let cases = [
        ("(a: [u8; 1])", "", "missing-file", "t.json"),
        ("(a: [u8; 1])", "{", "bad-vectors", "not JSON"),
        ("(a: [u8; 1])", "[{\"b\": \"00\"}]", "bad-vectors", "case 1: it has no field `a`; there are: b"),
        ("(a: [u8; 1])", "[{\"a\": \"0\"}]", "bad-vectors", "`a` is not a string of hexadecimal pairs"),
        ("(a: [u8; 1])", "[{\"a\": \"0000\"}]", "bad-vectors", "no case fits the parameters of the test (1: `a` is not 1 long)"),
        ("<n: len>(a: [u8; n], b: [u8; n])", "[{\"a\": \"00\", \"b\": \"\"}]", "bad-vectors", "arrays of length `n` differ in length"),
        ("<n: len in 0..3>(a: [u8; n])", "[{\"a\": \"00000000\"}]", "bad-vectors", "the length `n` is outside its range"),
        ("(a: bool)", "[{\"a\": \"acceptable\"}]", "bad-vectors", "either way is right"),
        ("(a: bool)", "[{\"a\": \"perhaps\"}]", "bad-vectors", "`a` is not a truth value"),
        ("(a: int in 0..9)", "[{\"a\": 10}]", "bad-vectors", "`a` is outside 0..9"),
        ("(a: u8)", "[{\"a\": 1.5}]", "bad-vectors", "no field `a`"),
        ("(a: int)", "[{\"a\": 1}]", "missing-range", ""),
        ("<n: const>(a: [u8; 1])", "[{\"a\": \"00\"}]", "cannot-infer", ""),
        ("(a: u8, a: u8)", "[{\"a\": 1}]", "duplicate-name", ""),
        ("(a: u8 = 3)", "[{\"a\": 1}]", "syntax", ""),
    ];
    for (params, file, code, says) in cases {
        let s = Sandbox::new(&[("main.stk", test(params).as_bytes())]);
        if !file.is_empty() {
            s.write("t.json", file);
        }
        for on in [&[][..], &["--on", "c"]] {
            let run = s.run(&[&["test", "main.stk"], on].concat());
            assert!(run.code == 2 && run.stderr.contains(&format!("error[{code}]")) && run.stderr.contains(says), "{params} {file}: {}", run.stderr);
        }
    }
}

/// Values of every kind come in, with names of their own.
#[test]
fn values_of_every_kind() {
    let program = "test \"all\" from \"t.json\" <n: len>(w: u32, h: u16 = \"hex\", i: int in -9..9, b: bool, bytes: [u8; 2], more: [u8; n], list: [u32; 3], inner: u8 = \"group.x\") {\n  assert w == 70000\n  assert h == 0x1f00\n  assert i == -4\n  assert b\n  assert bytes == hex\"00ff\"\n  assert len(more) == 3\n  assert more[2] == 7\n  assert list[1] == 70001\n  assert inner == 200\n}\n";
    let file = json!([{ "w": 70000, "hex": "1f00", "i": -4, "b": true, "bytes": "00ff", "more": "000007", "list": [1, 70001, 3], "group": { "x": 200 } }]).to_string();
    let s = Sandbox::new(&[("main.stk", program.as_bytes()), ("t.json", file.as_bytes())]);
    for on in [&[][..], &["--on", "c"], &["--on", "rv32"], &["--on", "rv64"]] {
        let run = s.run(&[&["test", "main.stk"], on].concat());
        assert_eq!((run.code, run.stdout.contains("1 cases)") || run.stdout.contains("1 cases")), (0, true), "{on:?}: {}{}", run.stdout, run.stderr);
    }
    // Formatted, it is the same test, and stays as it is.
    assert_eq!(s.run(&["fmt", "main.stk"]).code, 0);
    assert!(s.read("main.stk").starts_with("test \"all\" from \"t.json\" <n: len>("), "{}", s.read("main.stk"));
    assert_eq!(s.run(&["fmt", "--check", "main.stk"]).stdout, "");
    assert_eq!(s.run(&["test", "main.stk"]).code, 0);
}

/// Assertions in loops and branches, the first that fails, and ghost text, which no C has.
#[test]
fn assertions_are_numbered_as_c() {
    let program = "fn f(x: u8) -> u8 { x + 1 }\ntest \"loop\" { for i in 0..<5 { if i == 3 { assert f(u8(i)) == 5 } else { assert f(u8(i)) == u8(i + 1) } } }\ntest \"good\" { assert f(255) == 0 }\ntest \"ghost\" { assert 2^200 > 0 ==> 1 ≡ 8 mod 7 }\n";
    let s = Sandbox::new(&[("main.stk", program.as_bytes())]);
    let run = s.run(&["test", "main.stk", "--on", "c"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, "FAIL  main.stk: loop (on host64)\nok    main.stk: good (on host64)\nskip  main.stk: ghost (on host64, it has no assertion but ghost text)\n1 passed, 1 failed\n"), "{}", run.stderr);
    assert!(run.stderr.contains("assertion failed: f(u8(i)) == 5"), "{}", run.stderr);
    // Nothing but ghost text: nothing was tested.
    assert_eq!(s.run(&["test", "main.stk", "--on", "c", "--only", "ghost"]).code, 1);
    let wrong = s.run(&["test", "main.stk", "--on", "vax"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("error[unknown-target]"), "{}", wrong.stderr);
    assert_eq!(s.run(&["test", "main.stk", "--on", "c", "--target", "rv32"]).code, 2);
}
