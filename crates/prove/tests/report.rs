//! The report: counts, JSON, cache, engines of last resort, and secrecy judged without the front end.

use santoku_ir::build::FuncBuilder;
use santoku_ir::{BinOp, Expr, FuncId, Len, Place, Program, Range, Stmt, Ty};
use santoku_prove::cache::Store;
use santoku_prove::obligation::{Engine, Kind, Outcome};
use santoku_prove::secrecy::{self, Timing};
use santoku_prove::{prove, ProveOptions, Report};
use std::collections::BTreeMap;
use std::sync::Mutex;

fn source(text: &str) -> Program {
    let mut load = |path: &str| (path == "t.stk").then(|| text.to_string());
    match santoku_sema::compile("t.stk", &[], &mut load, &santoku_sema::Options::default()) {
        Ok(c) => c.program,
        Err(f) => panic!("{:?}", f.diagnostics),
    }
}

const TWO: &str = "spec fn twice(x: int) -> int = 2 * x
fn double(x: int in 0..100) -> int in 0..200
  ensures result == twice(x)
{ x + x }
fn quadruple(x: int in 0..50) -> int in 0..200
  ensures result == 4 * x
{ double(double(x)) }
";

#[derive(Default)]
struct Shelf(Mutex<BTreeMap<String, String>>);

impl Store for Shelf {
    fn get(&self, key: &str) -> Option<String> {
        self.0.lock().expect("unpoisoned").get(key).cloned()
    }
    fn put(&self, key: &str, text: &str) {
        self.0.lock().expect("unpoisoned").insert(key.into(), text.into());
    }
}

fn cached(r: &Report) -> Vec<bool> {
    r.functions.iter().map(|f| f.cached).collect()
}

#[test]
fn counts_and_json() {
    let r = prove(&source(TWO), &ProveOptions::default());
    assert!(r.holds());
    let c = r.counts();
    assert_eq!(c.obligations, c.proved);
    assert_eq!(c.obligations, c.by_kind.values().sum::<usize>());
    assert_eq!(c.by_kind["ensures"], 2);
    let v: serde_json::Value = serde_json::from_str(&r.json()).expect("JSON");
    assert_eq!(v["holds"], true);
    assert_eq!(v["total"]["obligations"], c.obligations);
    assert_eq!(v["functions"][0]["function"], r.functions[0].name);
    assert!(r.table().lines().count() == r.functions.len() + 2);
}

#[test]
fn nothing_to_prove_is_no_success() {
    let r = prove(&Program::default(), &ProveOptions::default());
    assert_eq!(r.total(), 0);
    assert!(!r.holds());
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let p = source(TWO);
    let plain = |threads| {
        let r = prove(&p, &ProveOptions { threads, ..ProveOptions::default() });
        let of = |o: &santoku_prove::obligation::Obligation| (o.func, o.kind, o.text.clone(), o.outcome.clone());
        r.functions.iter().flat_map(|f| f.obligations.iter().map(of).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    assert_eq!(plain(1), plain(3));
}

#[test]
fn the_cache_answers_for_what_did_not_change() {
    let shelf = Shelf::default();
    let run = |text: &str| prove(&source(text), &ProveOptions { store: &shelf, ..ProveOptions::default() });
    let first = run(TWO);
    assert_eq!(cached(&first), [false, false]);
    let again = run(TWO);
    assert_eq!(cached(&again), [true, true]);
    assert_eq!(first.counts().by_engine, again.counts().by_engine);
    // A line more above changes no key; another body changes the function and its callers; a wrong one is refused.
    assert_eq!(cached(&run(&format!("\n{TWO}"))), [true, true]);
    assert_eq!(cached(&run(&TWO.replace("x + x", "2 * x"))), [false, false]);
    assert_eq!(cached(&run(&TWO.replace("4 * x\n", "4 * x + 0\n"))), [true, false]);
    assert!(!run(&TWO.replace("= 2 * x", "= 3 * x")).holds());
    assert!(!run(&TWO.replace("= 2 * x", "= 3 * x")).holds(), "failures are not remembered");
}

/// `x * (x + 1)` is even: all inputs tell, no single step does.
const EVEN: &str = "fn even(x: int in 0..9) -> int in 0..9\n{ x + (x * (x + 1) & 1) * 100 }
fn plain(x: int in 0..9) -> int in 1..10\n{ even(x) + 1 }
";

/// All inputs tell that the product is even, no rule of the judge does; the second clause it finds again.
const PRODUCT: &str = "fn product(x: int in 0..9) -> int in 0..90
  ensures result % 2 == 0
  ensures result == x * x + x
{ x * (x + 1) }
";

#[test]
fn a_clause_that_rests_on_the_engines_is_named() {
    let shelf = Shelf::default();
    for cached_before in [false, true] {
        let r = prove(&source(PRODUCT), &ProveOptions { store: &shelf, ..ProveOptions::default() });
        assert!(r.holds());
        assert_eq!((cached(&r), r.clauses()), (vec![cached_before], (1, 2)));
        let resting: Vec<(&str, &[String])> = r.resting().map(|(f, open)| (f.name.as_str(), open)).collect();
        assert_eq!(resting, [("t.product", &["`result % 2 == 0`: not found again by the judge's rules".to_string()][..])]);
        let v: serde_json::Value = serde_json::from_str(&r.json()).expect("JSON");
        assert_eq!((&v["judge"]["clauses_accepted"], &v["judge"]["clauses"]), (&1.into(), &2.into()));
    }
    // What is open is told first, and counts for nothing.
    let wrong = prove(&source(&PRODUCT.replace("% 2 == 0", "% 4 == 0")), &ProveOptions::default());
    assert_eq!((wrong.holds(), wrong.clauses(), wrong.resting().count()), (false, (1, 1), 0));
}

#[test]
fn what_the_judge_cannot_follow_is_told_with_the_function() {
    let shelf = Shelf::default();
    let run = |text: &str| prove(&source(text), &ProveOptions { store: &shelf, ..ProveOptions::default() });
    for cached_before in [false, true] {
        let r = run(EVEN);
        assert!(r.holds());
        assert_eq!(cached(&r), [cached_before; 2]);
        // The caller is judged as well: nothing is known of a callee that is not accepted.
        let refused: Vec<(&str, &str)> = r.refused().map(|(f, why)| (f.name.as_str(), why)).collect();
        assert_eq!((r.accepted(), refused.len(), refused[0]), (0, 2, ("t.even", "0..109 is stored where 0..9 is declared (statement 0)")), "{refused:?}");
        let v: serde_json::Value = serde_json::from_str(&r.json()).expect("JSON");
        assert_eq!((&v["judge"]["accepted"], v["judge"]["refused"]["t.even"].as_str()), (&0.into(), Some(refused[0].1)));
    }
    let r = run(TWO);
    assert_eq!((r.accepted(), r.refused().count()), (2, 0));
    // What is open is told first.
    assert_eq!(run(&TWO.replace("0..200", "0..199")).refused().count(), 0);
}

#[test]
fn a_damaged_store_costs_only_time() {
    let shelf = Shelf::default();
    let p = source(TWO);
    let opts = ProveOptions { store: &shelf, ..ProveOptions::default() };
    assert!(prove(&p, &opts).holds());
    let texts: Vec<String> = shelf.0.lock().expect("unpoisoned").values().cloned().collect();
    for (i, text) in shelf.0.lock().expect("unpoisoned").values_mut().enumerate() {
        // Another function's result under this key, or no JSON at all.
        *text = if i == 0 { texts[1].clone() } else { "{".into() };
    }
    let r = prove(&p, &opts);
    assert!(r.holds());
    assert_eq!(cached(&r), [false, false]);
}

#[test]
fn few_inputs_are_all_tried() {
    let text = "spec fn bit(x: int, i: int) -> int = x / 2^i % 2
fn gray(x: u8) -> u8
  ensures bit(result, 0) == (bit(x, 0) + bit(x, 1)) % 2
  ensures bit(result, 7) == bit(x, 7)
{ x ^ (x >> 1) }
";
    let text = text.replace("x / 2^i % 2", "if i == 0 { x % 2 } else { if i == 1 { x / 2 % 2 } else { x / 128 } }");
    let r = prove(&source(&text), &ProveOptions::default());
    assert!(r.holds(), "{:?}", r.failed().collect::<Vec<_>>());
    assert!(r.counts().by_engine.contains_key(Engine::Exhaustive.name()), "{:?}", r.counts());
    let wrong = prove(&source(&text.replace("x >> 1", "x >> 2")), &ProveOptions::default());
    let seen = wrong.failed().any(|o| matches!(&o.outcome, Outcome::Failed { witness: Some(w), .. } if w.inputs[0].0 == "x"));
    assert!(seen, "no witness: {:?}", wrong.failed().collect::<Vec<_>>());
}

/// `t[i]` of a table, the index secret or public; `x % 3`; a branch on a condition.
fn leaky(public: bool) -> (Program, FuncId) {
    let mut p = Program::default();
    let shape = p.clone();
    let mut b = FuncBuilder::new(&shape, "leaky");
    let small = Ty::Int(Some(Range::new(0, 3)));
    let t = b.param("t", Ty::Array { elem: Box::new(Ty::Word(8)), len: Len::Const(4), ranges: None });
    let i = b.local(santoku_ir::LocalKind::Param, "i", small.clone(), public);
    let r = b.ret("r", Ty::Word(8));
    let s = b.var("s", small);
    let read = b.read(Place::local(t).index(b.get(i)));
    b.assign(Place::local(r), read);
    let rest = Expr::bin(BinOp::Mod, b.get(i), Expr::int(3));
    b.assign(Place::local(s), rest);
    let cond = Expr::cmp(santoku_ir::CmpOp::Lt, b.get(s), Expr::int(1));
    b.push(Stmt::if_else(cond, vec![], vec![]));
    let f = b.finish();
    let id = p.add_func(f);
    (p, id)
}

#[test]
fn secrecy_is_judged_on_the_core_alone() {
    let judge = |public, timing: &Timing| {
        let (p, id) = leaky(public);
        let all = secrecy::check(&p, id, timing);
        assert!(all.iter().all(|o| o.kind == Kind::Secrecy));
        (all.len(), all.iter().filter(|o| !o.proved()).count())
    };
    let plain = Timing::default();
    assert_eq!(judge(true, &plain), (3, 0));
    // Index, remainder, branch: each of the three shows the secret, the last by way of a variable.
    assert_eq!(judge(false, &plain), (3, 3));
    let slow = Timing { variable_time: vec![(BinOp::Mod, 8)] };
    assert_eq!(judge(true, &slow).1, 0);
}

/// What a function declassifies is public for its callers, and for nobody else; who it was is in the report.
#[test]
fn a_declassified_verdict_may_steer_its_callers() {
    let text = "@declassify\nfn same(a: u8, b: u8) -> public bool { a == b }\nfn f(a: u8, b: u8) -> u8 {\n  var r = a\n  if same(a, b) { r = 1 }\n  r\n}\n";
    let p = source(text);
    let report = prove(&p, &ProveOptions::default());
    assert!(report.holds(), "{}", report.table());
    let told: Vec<(&str, u32)> = report.declassified.iter().map(|(name, loc)| (name.as_str(), loc.line)).collect();
    assert_eq!(told, [("t.same", 2)]);
    let json: serde_json::Value = serde_json::from_str(&report.json()).expect("JSON");
    assert_eq!(json["declassified"][0], "t.same");
    // Without the word of its author, the branch is refused.
    let mut without = p.clone();
    without.funcs.iter_mut().for_each(|f| f.declassifies = false);
    assert!(prove(&without, &ProveOptions::default()).failed().any(|o| o.kind == Kind::Secrecy));
    // In its own body the result is as secret as before.
    let mut inside = p.clone();
    let f = inside.funcs.iter_mut().find(|f| f.declassifies).expect("it is there");
    let cond = Expr::read(Place::local(f.rets[0]), &Ty::Bool);
    f.body.push(Stmt::if_else(cond, vec![], vec![]));
    assert!(prove(&inside, &ProveOptions::default()).failed().any(|o| o.kind == Kind::Secrecy));
}

/// The clause that excludes an input may be too long to be judged in every run; what goes wrong then shows nothing.
#[test]
fn an_input_that_a_long_clause_excludes_is_no_fault_of_ours() {
    let last = "forall(i in 0..<3000) i < 2999 || t[i] < 5";
    let program = |clause: &str| {
        source(&format!(
            "@noinline fn g(x: u8) -> u8\n  requires x < 5\n{{ x }}\nfn f(t: [u8; 3000]) -> u8\n  requires {clause}\n{{ g(t[2999]) }}\n"
        ))
    };
    let right = prove(&program(last), &ProveOptions::default());
    assert_eq!(right.faults().count(), 0, "{}", right.table());
    let wrong = prove(&program("forall(i in 0..<3000) i < 2999 || t[i] < 6"), &ProveOptions::default());
    assert!(!wrong.holds());
}
