//! What the commands print when all is well, and when tests or proofs fail.

mod support;
use expect_test::expect;
use support::Sandbox;

const TESTS: &[u8] = b"fn f(x: u8) -> u8 { x + 1 }\ntest \"wraps\" { assert f(255) == 0 }\ntest \"wrong\" { assert f(1) == 3 }\n";

#[test]
fn test_counts_and_fails_with_1() {
    let run = Sandbox::new(&[("main.stk", TESTS)]).run(&["test", "main.stk"]);
    expect![[r#"
        ok    main.stk: wraps
        FAIL  main.stk: wrong
        1 passed, 1 failed
    "#]].assert_eq(&run.stdout);
    expect![[r#"
        error[run-assert]: an assertion does not hold
         --> main.stk:3:16
          |
        3 | test "wrong" { assert f(1) == 3 }
          |                ^^^^^^^^^^^^^^^^ assertion failed: f(1) == 3
          |
          = function: main.test$1
          = value: t = 0x2
          = try: one of the two sides is wrong: the values are above
    "#]].assert_eq(&run.stderr);
    assert_eq!(run.code, 1);
}

#[test]
fn test_passes_with_0_and_only_selects() {
    let run = Sandbox::new(&[("d/main.stk", TESTS)]).run(&["test", "d", "--only", "wraps"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "ok    d/main.stk: wraps\n1 passed, 0 failed\n"));
}

#[test]
fn no_test_at_all_is_a_failure() {
    let run = Sandbox::new(&[("main.stk", b"const A = 1\n")]).run(&["test", "main.stk"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, "0 passed, 0 failed\n"));
}

#[test]
fn run_prints_results() {
    let s = Sandbox::new(&[("main.stk", b"fn f<n: len>(x: [u8; n], y: int in -9..9) -> ([u8; n], int) { (x, y * 2) }\n")]);
    let run = s.run(&["run", "main.stk::f", "hex:00ff10", "-4"]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "hex\"00ff10\"\n-8\n", ""));
}

#[test]
fn check_says_what_was_checked() {
    let run = Sandbox::new(&[("main.stk", TESTS)]).run(&["check", "main.stk"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "main.stk: 1 functions, 2 tests, 1 files\n"));
}

#[test]
fn fmt_checks_without_writing_and_then_writes() {
    let s = Sandbox::new(&[("a.stk", b"const  A=1\n"), ("b.stk", b"const B = 1\n")]);
    let check = s.run(&["fmt", "--check", "a.stk", "b.stk"]);
    assert_eq!((check.code, check.stdout.as_str()), (1, "a.stk\n"));
    assert_eq!(s.read("a.stk"), "const  A=1\n");
    assert_eq!(s.run(&["fmt", "."]).code, 0);
    assert_eq!(s.read("a.stk"), "const A = 1\n");
    assert_eq!(s.run(&["fmt", "--check", "a.stk", "b.stk"]).code, 0);
}

#[test]
fn fmt_of_standard_input() {
    let s = Sandbox::new(&[]);
    let run = s.run_with(&["fmt", "-"], "const  A=1\n");
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "const A = 1\n", ""));
    assert_eq!(s.run_with(&["fmt", "--check", "-"], "const  A=1\n").code, 1);
    assert_eq!(s.run_with(&["fmt", "--check", "-"], "const A = 1\n").code, 0);
    let wrong = s.run_with(&["fmt", "-"], "const = 1\n");
    assert!(wrong.code == 2 && wrong.stdout.is_empty() && wrong.stderr.contains("<stdin>:1"), "{}", wrong.stderr);
    assert!(s.listing().is_empty());
}

#[test]
fn check_takes_files_and_folders_and_goes_on_behind_errors() {
    let s = Sandbox::new(&[("a.stk", TESTS), ("d/b.stk", b"fn f( {\n"), ("d/c.stk", b"const C = 1\n")]);
    let run = s.run(&["check", "a.stk", "d"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, "a.stk: 1 functions, 2 tests, 1 files\nd/c.stk: 0 functions, 0 tests, 1 files\n"));
    assert!(run.stderr.contains("d/b.stk:1"), "{}", run.stderr);
    s.remove("d/b.stk");
    assert_eq!(s.run(&["check", "."]).code, 0);
    let empty = Sandbox::new(&[("d/x.txt", b"")]);
    let run = empty.run(&["check", "d"]);
    assert!(run.code == 2 && run.stderr.contains("error[missing-file]: no `.stk` file is in d"), "{}", run.stderr);
}

/// A program outside of every library has the one that is inside of the command, and a file of its own comes first.
#[test]
fn the_library_is_inside_of_the_command() {
    let text = "use hash.sha256 as H\n\n@export(\"twice\")\nfn twice(m: [u8; 32]) -> [u8; 32] { H::hash(H::hash(m)) }\n\ntest \"FIPS 180-4\" {\n  assert H::hash(b\"abc\") == hex\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"\n}\n";
    let s = Sandbox::new(&[("main.stk", text.as_bytes())]);
    for args in [&["check", "main.stk"][..], &["test", "main.stk"], &["build", "main.stk", "--target", "rv32", "-o", "out"]] {
        let run = s.run(args);
        assert_eq!(run.code, 0, "{args:?}: {}{}", run.stdout, run.stderr);
    }
    assert!(s.read("out/main.c").contains("hash_sha256_compress"));
    // Interfaces are served by the target's implementations, from there too.
    s.write("field.stk", "use field.fe25519 as F\n\n@export(\"sum\")\nfn plus(a: F::Fe, b: F::Fe) -> F::Fe { F::add(a, b) }\n");
    let run = s.run(&["check", "field.stk", "--target", "rv32"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    // Its own file hides that of the library.
    s.write("lib/hash/sha256.stk", "fn hash(m: [u8; 32]) -> [u8; 32] { m }\n");
    let run = s.run(&["test", "main.stk"]);
    assert!(run.code != 0, "{}", run.stdout);
    // With `--lib` there is no other root; a message says where it was looked for.
    s.write("own/x.stk", "const X = 1\n");
    let run = s.run(&["check", "field.stk", "--lib", "own"]);
    assert!(run.code == 2 && run.stderr.contains("paths tried: field/fe25519.stk, own/field/fe25519.stk") && run.stderr.contains("`--lib DIR`"), "{}", run.stderr);
}

#[test]
fn completions_name_every_command() {
    let s = Sandbox::new(&[]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = s.run(&["completions", shell]);
        assert!(run.code == 0 && ["certify", "prove", "completions"].iter().all(|c| run.stdout.contains(c)), "{shell}: {}", run.stderr);
    }
    assert_eq!(s.run(&["completions", "dos"]).code, 2);
}

const OPEN: &[u8] = b"@export(\"f\")\nfn f(x: int in 0..9) -> int in 0..9 {\n  x + 1\n}\n";

#[test]
fn an_open_proof_is_shown_and_fails_with_1() {
    let s = Sandbox::new(&[("main.stk", OPEN)]);
    let run = s.run(&["prove", "main.stk"]);
    assert_eq!(run.code, 1);
    expect![[r#"
        error[range]: an integer may leave its range
         --> main.stk:3:3
          |
        3 |   x + 1
          |   ^^^^^ `result` may leave its range: 1..10 is not inside 0..9
          |
          = claim: `x + 1` fits `result`
          = function: main.f
          = declared: int in 0..9
          = found: x + 1 in 1..10
          = operand: x in 0..9
          = witness: x = 9
          = result: result would be 10, outside 0..9 in main.f
          = try: the witness leaves the range: narrow what flows in, or widen the declared range
          = more: `santoku explain proof range`

        1 error
    "#]].assert_eq(&run.stderr);
    // It is not built either, unless asked for in so many words, and then the result says so.
    let build = s.run(&["build", "main.stk", "-o", "out"]);
    assert_eq!(build.code, 1);
    assert_eq!(s.listing(), ["main.stk"]);
    assert_eq!(s.run(&["build", "main.stk", "-o", "out", "--allow-unproved"]).code, 0);
    assert!(s.read("out/main.c").contains("NOT PROVED"));
}

#[test]
fn prove_prints_stable_json() {
    let s = Sandbox::new(&[("main.stk", b"fn f(x: int in 0..9) -> int in 0..10 { x + 1 }\n")]);
    let run = s.run(&["prove", "main.stk", "--json", "--no-cache"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for field in ["\"holds\": true", "\"obligations\": ", "\"programs\": ", "\"program\": \"main.stk\"", "\"by_engine\"", "\"function\": \"main.f\""] {
        assert!(run.stdout.contains(field), "{field} is not in {}", run.stdout);
    }
}

/// A clause that all inputs show, and no rule of the judge; beside it two that it finds again.
#[test]
fn a_clause_that_rests_on_the_engines_is_named() {
    let right = "fn twice(x: int in 0..9) -> int in 0..18\n  ensures result == 2 * x\n{ x + x }\n";
    let even = "fn even(x: int in 0..9) -> int in 0..1\n  ensures result == 0\n  ensures result <= 1\n{ (x * (x + 1)) & 1 }\n";
    let s = Sandbox::new(&[("right.stk", right.as_bytes()), ("both.stk", format!("{right}{even}").as_bytes())]);
    let last = |run: &support::Run| run.stdout.lines().last().map(str::to_string);
    let run = s.run(&["prove", "both.stk"]);
    assert!(run.stderr.contains("note: both.even rests on the engines of the prover in `result == 0`: "), "{}", run.stderr);
    assert!(!run.stderr.contains("both.twice") && !run.stderr.contains("result <= 1"), "{}", run.stderr);
    assert_eq!((run.code, last(&run).as_deref()), (0, Some("the judge of meaning accepts 2 of 3 clauses of contracts")));
    let run = s.run(&["prove", "both.stk", "--json"]);
    assert!(run.stdout.contains("\"clauses\": 3") && run.stdout.contains("\"clauses_accepted\": 2"), "{}", run.stdout);
    let run = s.run(&["prove", "right.stk"]);
    assert_eq!((run.stderr.as_str(), last(&run).as_deref()), ("", Some("the judge of meaning accepts 1 of 1 clauses of contracts")));
}

#[test]
fn secrecy_is_judged_by_the_timing_of_the_target() {
    // Long products of the Cortex-M3 take a time that depends on their operands, and are made of short ones. Where short ones do, too, or what
    // is longer than the rule for parts reaches, nothing helps.
    let s = Sandbox::new(&[
        ("targets/slow.toml", b"word_bits = 32\nwidest = 64\n[variable_time]\nmul = 32\n"),
        ("targets/wide.toml", b"word_bits = 64\nwidest = 128\n[variable_time]\nmul = 64\n"),
        ("lib/long.stk", b"@export(\"f\")\nfn f(x: u64, y: u64) -> u64 {\n  x * y\n}\n"),
        ("lib/short.stk", b"@export(\"f\")\nfn f(x: u32, y: u32) -> u32 {\n  x * y\n}\n"),
        ("lib/public.stk", b"@export(\"f\")\nfn f(x: public u64, y: public u64) -> u64 {\n  x * y\n}\n"),
    ]);
    let run = s.run(&["prove", "lib/long.stk", "--target", "slow"]);
    expect![[r#"
        error[secrecy]: a secret steers time or addresses
         --> lib/long.stk:3:3
          |
        3 |   x * y
          |   ^^^^^ the target computes it in a time that depends on a secret
          |
          = claim: the operands of Mul are public
          = function: long.f
          = try: compute it with narrower words, whose time is fixed there, or build for another target
          = more: `santoku explain secrecy`

        1 error
    "#]].assert_eq(&run.stderr);
    assert_eq!(run.code, 1);
    for (file, target, code) in [
        ("long.stk", "rv32", 0),
        ("long.stk", "portable", 0),
        ("long.stk", "cortex-m3", 0),
        ("short.stk", "cortex-m3", 0),
        ("public.stk", "cortex-m3", 0),
        ("long.stk", "slow", 1),
        ("short.stk", "slow", 1),
        ("public.stk", "slow", 0),
        ("long.stk", "wide", 1),
        ("short.stk", "wide", 0),
    ] {
        // The cache is shared: a proof for one target is none for the other.
        let file = &format!("lib/{file}");
        assert_eq!(s.run(&["prove", file, "--target", target]).code, code, "{file} {target}");
        assert_eq!(s.run(&["build", file, "--target", target, "-o", "out"]).code, code, "{file} {target}");
    }
}

#[test]
fn a_proof_of_nothing_is_no_success() {
    let run = Sandbox::new(&[("main.stk", b"const A = 1\n")]).run(&["prove", "main.stk"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, "0 obligations, 0 proved, 0 open\n"));
}

#[test]
fn passes_are_listed_in_order() {
    let run = Sandbox::new(&[]).run(&["passes"]);
    assert_eq!(run.code, 0);
    let (stages, decisions) = run.stdout.split_once("\n\n").expect("two lists");
    let names: Vec<&str> = stages.lines().skip(1).filter_map(|l| l.split_whitespace().nth(1)).collect();
    assert_eq!(names.first(), Some(&"load"));
    assert_eq!(names.last(), Some(&"c-judge"));
    assert!(names.contains(&"derive-width"));
    let (decisions, laid_out) = decisions.split_once("\n\n").expect("a line about layouts");
    assert_eq!(laid_out, "`columns` to `interleave` run with `--layout`.\n");
    assert!(names.contains(&"columns") && names.contains(&"interleave"));
    let decided: Vec<&str> = decisions.lines().skip(1).filter_map(|l| l.split_whitespace().next()).collect();
    assert!(decided.len() > 3 && decided.iter().all(|n| n.starts_with("c-")), "{decided:?}");
    // Each is something that a build can leave out.
    let s = Sandbox::new(&[("p.stk", b"@export(\"p_f\")\nfn f(x: u32) -> u32 { x + 1 }\n")]);
    for name in decided {
        assert_eq!(s.run(&["build", &s.path("p.stk"), "--without", name, "-o", &s.path("out")]).code, 0, "{name}");
    }
    let asm = s.run(&["build", &s.path("p.stk"), "--target", "rv32", "--emit", "asm", "--without", "c-blocks", "-o", &s.path("asm")]);
    assert!(asm.code == 2 && asm.stderr.contains("a decision of the C printer"), "{}", asm.stderr);
}

#[test]
fn trust_adds_up_what_is_believed() {
    let s = Sandbox::new(&[]);
    let json: serde_json::Value = serde_json::from_str(&s.run(&["trust", "--json"]).stdout).expect("JSON");
    let lines = |v: &serde_json::Value| v["lines"].as_u64().expect("a number");
    let claims = json["claims"].as_array().expect("a list");
    assert_eq!(claims.len(), 8);
    let table = s.run(&["trust"]).stdout;
    for claim in claims {
        let parts = claim["components"].as_array().expect("a list");
        assert!(parts.len() >= 2 && lines(claim) > 0, "{claim}");
        assert_eq!(parts.iter().map(lines).sum::<u64>(), lines(claim), "{}", claim["name"]);
        for part in parts {
            let files = part["files"].as_array().expect("a list");
            assert_eq!(files.iter().map(|f| f[1].as_u64().expect("a number")).sum::<u64>(), lines(part));
            let row = table.lines().find(|l| l.contains(&part["digest"].as_str().expect("a text")[..16])).expect("a row");
            assert!(row.split_whitespace().any(|w| w == lines(part).to_string()), "{row}");
        }
    }
    assert!(s.run(&["trust", "--files"]).stdout.contains(" judge/src/"));
}

#[test]
fn explain_prints_the_page_of_every_code() {
    let s = Sandbox::new(&[]);
    let run = s.run(&["explain", "secret-index"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, include_str!("../../../docs/diagnostics/secret-index.md")));
    let all = s.run(&["explain"]);
    // And how to get a proof.
    assert_eq!(all.stdout.lines().count(), santoku_diag::CODES.len() + 1);
}

#[test]
fn dumps_are_written_beside_the_result() {
    let s = Sandbox::new(&[("main.stk", b"@export(\"f\")\nfn f(x: u8) -> u8 { x + 1 }\n")]);
    let run = s.run(&["build", "main.stk", "-o", "out", "--dump-after", "const-fold", "--without", "cse"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let dumps = s.listing().iter().filter(|n| n.ends_with(".ir")).count();
    assert!(dumps >= 2, "const-fold runs more than once: {:?}", s.listing());
    assert!(s.read("out/main.after-const-fold.1.ir").contains("main.f"));
    assert!(s.read("out/main.c").contains("--without cse"));
}

#[test]
fn a_change_that_is_put_back_is_told() {
    // Exactly one of the two branches is taken: the prover sees it, a scalar in place of `a[0]` would not show it.
    let split = "@export(\"f\")\nfn f(n: public int in 0..7, x: u8) -> u8 {\n  var a: [u8; 2]\n  if n < 4 { a[0] = x }\n  if n >= 4 { a[0] = x + 1 }\n  a[1] = x\n  a[0] + a[1]\n}\n";
    let s = Sandbox::new(&[("main.stk", split.as_bytes())]);
    let run = s.run(&["build", "main.stk", "-o", "out"]);
    expect![[r#"
        put back: array-to-scalar in main.f: an element is assigned on every path, but not visibly
    "#]].assert_eq(&run.stderr);
    assert_eq!((run.code, run.stdout.as_str()), (0, "out/main.c\nout/main.h\n"));
    let without = s.run(&["build", "main.stk", "-o", "out", "--without", "array-to-scalar"]);
    assert_eq!((without.code, without.stderr.as_str()), (0, ""));
}

#[test]
fn what_the_second_look_cannot_follow_is_trusted_and_told() {
    // Every round doubles the terms of what is chosen; of three rounds they are few enough.
    let rounds = |n: u32| format!("@export(\"f\")\nfn f(c: [u8; 14]) -> int in 0..2^40 {{\n  var t: int in 0..2^40 = 1\n  for i in 0..<{n} {{ t = if c[i] == 0 {{ t * 3 + i }} else {{ t }} }}\n  t\n}}\n");
    let build = |n| Sandbox::new(&[("main.stk", rounds(n).as_bytes())]).run(&["build", "main.stk", "-O2", "-o", "out", "--verbose"]);
    let (few, many) = (build(3), build(14));
    assert_eq!((few.code, many.code), (0, 0), "{}{}", few.stderr, many.stderr);
    assert!(few.stdout.contains("second look: 1 of 1 functions compute what the source does, 1 scalars compared\n"), "{}", few.stdout);
    assert!(many.stdout.contains("second look: 0 of 1 functions compute what the source does, 0 scalars compared\n"), "{}", many.stdout);
    // A branch on a public byte, or a selection by it, in a loop: the C is the program either way.
    assert!(few.stdout.contains("read back: 1 functions of the C, ") && many.stdout.contains("read back: 1 functions of the C, "), "{}", few.stdout);
    assert_eq!(few.stderr, "");
    expect![[r#"
        note: what the passes made of `main.f` is trusted to the term graph; the judge cannot follow it: a polynomial that is too long
    "#]].assert_eq(&many.stderr);
}
