//! Programs that once misled the judge of meaning by itself, or that it did not come to an end with. The engines have no say here.

use santoku_ir::FuncId;
use santoku_meaning::Clauses;
use santoku_prove::clauses::Finder;
use std::time::{Duration, Instant};

/// What the judge says of the last function. `Err`: it gave up.
fn judged(source: &str) -> Result<Clauses, String> {
    let source = source.to_string();
    let work = move || {
        let mut read = |path: &str| (path == "main.stk").then(|| source.clone());
        let p = santoku_sema::compile("main.stk", &[], &mut read, &santoku_sema::Options::default()).unwrap_or_else(|f| panic!("{:?}", f.diagnostics)).program;
        santoku_meaning::check(&p, FuncId(p.funcs.len() as u32 - 1), &Finder).map_err(|stop| stop.0)
    };
    std::thread::Builder::new().stack_size(256 << 20).spawn(work).expect("a thread").join().expect("no panic")
}

/// A callee that is run in place learns something in a round that may not be, and then takes too much.
fn callee(rounds: u32, h: &str, call: &str) -> String {
    format!("{h}\nfn g(n: public int in 0..5) -> u8 {{\n  var y: u8 = 0\n  for i in 0..<n {{\n    y = {call}\n    for k in 0..<{rounds} {{ for m in 0..<3 {{ y = y ^ 1 }} }}\n  }}\n  y\n}}\nfn f(n: public int in 0..5) -> u8\n  ensures n >= 1\n  ensures n >= 0\n{{ g(n) }}\n")
}

#[test]
fn facts_of_a_round_end_with_it_whatever_stops_it() {
    let mut given_up = 0;
    for rounds in [1, 200, 2_000] {
        for (h, call) in [
            ("fn h(d: public int in 0..4) -> u8\n  ensures d >= 0\n{ 0 }", "h(n - 1 - i)"),
            ("fn h(i: public int in 0..4, n: public int in 0..5) -> u8\n  requires i < n\n  ensures i < n\n{ 0 }", "h(i, n)"),
        ] {
            let found = judged(&callee(rounds, h, call)).expect("judged");
            assert_eq!(found.ensures.into_iter().collect::<Vec<_>>(), [(0, false), (1, true)], "{rounds} rounds, {call}");
            given_up += 1;
        }
    }
    assert_eq!(given_up, 6);
}

#[test]
fn what_takes_too_much_is_given_up_in_time() {
    let nested = |n: usize| format!("spec fn s(n: int) -> int = if n == 0 {{ 0 }} else {{ {}s(n - 1){} }}\nfn f(x: u8) -> u8\n  ensures s(2400) >= 0\n{{ x }}\n", "1 + (".repeat(n), ")".repeat(n));
    let product = |n: u32| format!("fn f(x: [int in 0..9; {n}]) -> u8\n  ensures (sum(i in 0..<{n}) x[i]) * (sum(i in 0..<{n}) x[i]) >= 0\n{{ 0 }}\n");
    let programs = [
        ("expressions inside one another", nested(60)),
        ("`forall` in `forall`", "fn f(x: u8) -> u8\n  ensures forall(i in 0..<60000) forall(j in 0..<60000) i * j >= 0\n{ x }\n".into()),
        ("a recursion that branches", "spec fn fib(n: int) -> int = if n <= 1 { 1 } else { fib(n - 1) + fib(n - 2) }\nfn f(x: u8) -> u8\n  ensures fib(60) >= 0\n{ x }\n".into()),
        ("squares of squares", "spec fn sq(x: int, n: int) -> int = if n == 0 { x } else { sq(x * x, n - 1) }\nfn f(x: u8) -> u8\n  ensures sq(3, 40) >= 0\n{ x }\n".into()),
        ("a long product", product(6_000)),
        ("bounds of squares of squares", "fn f(x: u8) -> u8\n  ensures result <= 254\n{\n  var y = int(x)\n  for i in 0..<40 { y = y * y }\n  u8(y)\n}\n".into()),
        ("constants of squares of squares", "fn f(x: u8) -> u8\n  ensures result <= 254\n{\n  var y: int = 3\n  for i in 0..<40 { y = y * y }\n  u8(y)\n}\n".into()),
        ("empty rounds", "fn f(x: u8) -> u8\n  ensures result <= 254\n{\n  for i in 0..<300000 { for k in 0..<16000000 { } }\n  x\n}\n".into()),
    ];
    for (what, source) in programs {
        let start = Instant::now();
        let found = judged(&source);
        let took = start.elapsed();
        println!("tried: {what}: {found:?}, {took:?}");
        assert!(found.map_or(true, |c| c.ensures.get(&0) == Some(&false)), "{what}");
        assert!(took < Duration::from_secs(60), "{what}: {took:?}");
    }
    // Beside each what is smaller, and right.
    for source in [nested(3), product(20), "fn f(x: u8) -> u8\n  ensures result <= 255\n{\n  for i in 0..<300 { for k in 0..<160 { } }\n  x\n}\n".into()] {
        assert_eq!(judged(&source).expect("judged").ensures.get(&0), Some(&true), "{source}");
    }
}
