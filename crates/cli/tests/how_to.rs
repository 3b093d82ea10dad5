//! `docs/how-to-get-a-proof.md`: every program on it does what its section says, and every message of `prove` names something to read.

mod support;
use support::Sandbox;

/// Sections: name, and the fenced blocks as `(words behind the backticks, text)`.
fn sections() -> Vec<(String, Vec<(String, String)>)> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-to-get-a-proof.md")).expect("the page");
    let each = page.split("\n## ").skip(1).map(|s| {
        let (name, body) = s.split_once(':').expect("a section has a name");
        let blocks = body.split("```").skip(1).step_by(2).map(|b| b.split_once('\n').expect("a fence"));
        (name.to_string(), blocks.map(|(info, text)| (info.to_string(), text.to_string())).collect())
    });
    each.collect()
}

#[test]
fn the_failing_program_has_the_message_and_the_repaired_one_proves() {
    let all = sections();
    assert!(all.len() >= 8);
    for (name, blocks) in all {
        let [(failing, before), (text, message), (proved, after)] = &blocks[..] else { panic!("{name}: {} blocks", blocks.len()) };
        assert_eq!((failing.as_str(), text.as_str(), proved.as_str()), ("stk failing", "text", "stk proved"), "{name}");
        let s = Sandbox::new(&[("main.stk", before.as_bytes())]);
        let run = s.run(&["prove", "--no-cache", "main.stk"]);
        assert!(run.code == 1 || run.code == 2, "{name}: {}", run.stderr);
        // Long messages are broken into lines.
        let flat = |t: &str| t.split_whitespace().filter(|w| *w != "|").collect::<Vec<_>>().join(" ");
        for line in message.lines() {
            assert!(flat(&run.stderr).contains(&flat(line)), "{name}: no `{line}` in\n{}", run.stderr);
        }
        let s = Sandbox::new(&[("main.stk", after.as_bytes())]);
        let run = s.run(&["prove", "--no-cache", "main.stk"]);
        assert_eq!(run.code, 0, "{name}: {}", run.stderr);
    }
}

#[test]
fn sections_can_be_printed_one_by_one() {
    let s = Sandbox::new(&[]);
    let whole = s.run(&["explain", "proof"]);
    assert_eq!(whole.code, 0);
    for (name, _) in sections() {
        let one = s.run(&["explain", "proof", &name]);
        assert!(one.code == 0 && one.stdout.starts_with(&format!("## {name}: ")) && whole.stdout.contains(one.stdout.trim_end()), "{name}");
    }
    let none = s.run(&["explain", "proof", "nothing"]);
    assert!(none.code == 2 && none.stderr.contains("sections: range, carry"), "{}", none.stderr);
}

/// One program for every code of `prove` that a program alone can provoke.
const OPEN: &[&str] = &[
    "fn f(x: int in 0..9) -> int in 0..9 { x + 1 }",
    "fn f(x: [u8; 4], i: public int in 0..4) -> u8 { x[i] }",
    "fn f(x: u8, i: public int in 0..8) -> u8 { x >> i }",
    "fn f(x: int in 0..9) -> int in 0..9 { assert x < 9\n x }",
    "fn g(x: int in 0..9) -> int in 0..9 requires x < 5 { x }\nfn f(x: int in 0..9) -> int in 0..9 { g(x) }",
    "fn f(x: int in 0..9) -> int in 0..9 ensures result == x + 1 { x }",
    "fn f(x: int in 0..2^100) -> int in 0..9 { (x * x) & 7 }",
    "fn f(x: [u8; 4], n: public int in 0..4) -> u8 { var y: [u8; 4]\n for i in 0..<n { y[i] = x[i] }\n y[0] ^ y[1] ^ y[2] ^ y[3] }",
];

#[test]
fn every_open_obligation_names_something_to_read_and_promises_no_witness_in_vain() {
    for program in OPEN {
        let s = Sandbox::new(&[("main.stk", program.as_bytes())]);
        let run = s.run(&["prove", "--no-cache", "main.stk"]);
        assert_eq!(run.code, 1, "{program}: {}", run.stderr);
        for message in run.stderr.split("error[").skip(1) {
            let more = message.lines().find_map(|l| l.trim().strip_prefix("= more: `santoku ")).unwrap_or_else(|| panic!("nothing to read: {message}"));
            let args: Vec<&str> = more.trim_end_matches('`').split(' ').collect();
            assert_eq!(s.run(&args).code, 0, "{more}");
            assert!(!message.contains("the witness") || message.contains("= witness:"), "{message}");
        }
    }
}

#[test]
fn a_test_of_zero_is_a_case_of_the_proof() {
    let text = "fn neg(a: int in 0..2^61-1) -> int in 0..2^61-1\n  requires a < 2^61-1\n  ensures result ≡ -a mod 2^61-1\n{ if a == 0 { 0 } else { 2^61 - 1 - a } }\n";
    let run = Sandbox::new(&[("main.stk", text.as_bytes())]).run(&["prove", "--no-cache", "main.stk"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    // Not for any other multiple.
    let wrong = text.replace("{ 0 }", "{ 5 }");
    let run = Sandbox::new(&[("main.stk", wrong.as_bytes())]).run(&["prove", "--no-cache", "main.stk"]);
    assert_eq!(run.code, 1);
}

/// Specifications that nobody can evaluate: what is said, and that it is said soon.
const HUGE: &[&str] = &[
    "spec fn leaves(n: int, at: int) -> int = if n == 0 { at } else { leaves(n - 1, 2 * at) + leaves(n - 1, 2 * at + 1) }\nfn f(x: int in 0..5) -> int in 0..10\n  ensures result == leaves(60, 0) % 2\n{ x }\n",
    "fn f(x: [int in 0..5; 10]) -> int in 0..10\n  ensures forall(i in 0..<60000) forall(j in 0..<60000) i + j + result >= 0\n{ x[0] }\n",
    "fn f(x: [int in 0..5; 10]) -> int in 0..10\n  ensures forall(i in 0..<4000) forall(j in 0..<4000) i + j + result >= 0\n{ x[0] }\n",
    "spec fn s(x: int) -> int = sum(i in 0..<60000) sum(j in 0..<60000) i * j * x\nfn f(x: int in 0..65000) -> int in 0..65000\n  ensures s(x) == s(result)\n{ x + 0 }\n",
    "spec fn leaves(n: int, at: int) -> int = if n == 0 { at } else { leaves(n - 1, 2 * at) + leaves(n - 1, 2 * at + 1) }\nfn f(x: int in 0..500) -> int in 0..10\n  ensures leaves(60, x) >= result\n{ 3 }\n",
];

#[test]
fn a_specification_too_large_to_evaluate_is_said_to_be() {
    for program in HUGE {
        let started = std::time::Instant::now();
        let run = Sandbox::new(&[("main.stk", program.as_bytes())]).run(&["prove", "--no-cache", "main.stk"]);
        assert_eq!(run.code, 1, "{program}");
        assert!(run.stderr.contains("not decided: the specification is too large to evaluate"), "{program}: {}", run.stderr);
        // Some seconds, with room for machines that do other things.
        assert!(started.elapsed().as_secs() < 120, "{program}: {:?}", started.elapsed());
    }
}

#[test]
fn tests_say_what_they_did_not_judge() {
    let text = "spec fn leaves(n: int, at: int) -> int = if n == 0 { at } else { leaves(n - 1, 2 * at) + leaves(n - 1, 2 * at + 1) }\nfn f(x: int in 0..500) -> int in 0..10\n  requires leaves(90, x) >= 0\n{ 3 }\ntest \"t\" { var r: int = 0\n for i in 0..<5 { let y = f(i)\n r += y }\n assert r == 15 }\n";
    let run = Sandbox::new(&[("main.stk", text.as_bytes())]).run(&["test", "main.stk"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "ok    main.stk: t\n1 passed, 0 failed\n"));
    assert!(run.stderr.contains("not decided: 5 times a clause of a contract was too large to evaluate"), "{}", run.stderr);
}
