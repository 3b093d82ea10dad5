//! What contradicts itself where an input gets is a fault of ours; where none gets it is nothing.

use crate::cache::{NoStore, Store};
use crate::obligation::{Engine, Obligation, Outcome};
use crate::ranges::{Limits, Options};
use crate::{prove, ProveOptions, Report};
use santoku_ir::Program;

pub(crate) fn compiled(text: &str) -> Program {
    let mut load = |path: &str| (path == "t.stk").then(|| text.to_string());
    match santoku_sema::compile("t.stk", &[], &mut load, &santoku_sema::Options::default()) {
        Ok(c) => c.program,
        Err(f) => panic!("{:?}\n{text}", f.diagnostics),
    }
}

/// By the prover, or by its twin that keeps the solver's term of what a word wrapped.
fn proved(text: &str, twin: bool) -> Report {
    proved_with(text, twin, 1, &NoStore)
}

fn proved_with(text: &str, twin: bool, threads: usize, store: &dyn Store) -> Report {
    let limits = Limits { wrapped_keeps_term: twin, ..Limits::default() };
    prove(&compiled(text), &ProveOptions { ranges: Options { limits, ..Options::default() }, threads, store, ..ProveOptions::default() })
}

fn faults(r: &Report) -> Vec<&Obligation> {
    r.faults().collect()
}

const NEGATED: &str = "fn f(t: [u8; 4]) -> u8 {\n  var k: u7 = 1\n  t[int(-k)]\n}\n";
const WRITTEN: &str = "fn f(w: u8) -> [u8; 4] {\n  var r: [u8; 4] = [w, 0, 0, 0]\n  var v: u7 = 2\n  r[int(u7(1 - v))] = 0\n  r\n}\n";
const RETURNED: &str = "fn f(w: u8) -> int in 128..128 {\n  var k: u7 = 1\n  int(-k)\n}\n";

#[test]
fn a_query_that_contradicts_itself_where_an_input_gets_is_a_fault() {
    for text in [NEGATED, WRITTEN, RETURNED] {
        let right = proved(text, false);
        assert!(faults(&right).is_empty() && !right.holds(), "{text}{}", right.table());
        let wrong = proved(text, true);
        let found = faults(&wrong);
        assert!(matches!(found[..], [Obligation { outcome: Outcome::Fault { engine: Engine::Smt, witness: Some(_), .. }, .. }]), "{text}{found:?}");
    }
}

#[test]
fn it_is_one_in_the_only_round_that_meets_it() {
    let text = "fn f(t: [u8; 4]) -> u8 {\n  var s: u8 = 0\n  for i in 0..<4 {\n    var k: u7 = u7(i)\n    if i == 2 { s = s + t[int(-k)] }\n    s = s + t[int(k)]\n  }\n  s\n}\n";
    assert!(faults(&proved(text, false)).is_empty());
    assert_eq!(faults(&proved(text, true)).len(), 1);
}

#[test]
fn it_is_one_whatever_else_is_open() {
    let open = NEGATED.replace("  var k", "  let z: int in 0..3 = int(t[0])\n  var k");
    let r = proved(&open, true);
    assert_eq!(faults(&r).len(), 1, "{}", r.table());
    assert!(r.failed().count() > 1);
}

/// `x * x - x * x` is 0, which intervals do not see: the solver says that nothing is above it.
#[test]
fn a_contradiction_where_no_input_gets_is_none() {
    let one = "const T: [u8; 4] = [1, 2, 3, 4]\nfn f(x: public int in 0..10, s: u64) -> u64 {\n  var r: u64 = s\n  let y = x * x - x * x\n  if y > 0 { r = u64(T[y + 2]) }\n  r\n}\n";
    let round = "const T: [u8; 4] = [1, 2, 3, 4]\nfn f(x: public int in 0..600, s: u64) -> u64 {\n  var r: u64 = s\n  @unroll for i in 0..<3 {\n    let y = x * x - x * x + i\n    if y > 0 { r = r + u64(T[y]) }\n  }\n  r\n}\n";
    for text in [one, round] {
        let r = proved(text, false);
        assert!(faults(&r).is_empty(), "{text}{:?}", faults(&r));
    }
    // The second prover errs in round 2 alone, in which the statement is reached.
    let met = round.replace("x * x - x * x + i", "x * x - x * x + int(-u7(i))");
    assert!(faults(&proved(&met, false)).is_empty());
}

#[test]
fn a_clause_that_excludes_every_input_is_no_fault() {
    let text = "fn f(x: int in 0..9, y: int in 0..9) -> int in 0..5\n  requires x < y\n  requires y < x\n{ x + y }\n";
    let r = proved(text, false);
    assert!(faults(&r).is_empty() && r.unrun().count() == 0);
    assert!(r.vacuous().count() > 0);
}

/// The range found for `y` relies on what is open before it; the run ends there.
#[test]
fn what_follows_from_something_open_is_no_fault() {
    let text = "fn f(x: int in 0..9) -> int in 0..9 {\n  let y: int in 0..4 = x\n  let z: int in 0..5 = y + 1\n  z + z - 1\n}\n";
    let r = proved(text, false);
    assert!(faults(&r).is_empty() && !r.holds(), "{:?}", faults(&r));
}

#[test]
fn a_long_loop_is_run_to_its_end() {
    let text = "fn f(x: u8) -> u8 {\n  var s: u8 = x\n  for i in 0..<30000 { s = s + 1 }\n  s\n}\n";
    let r = proved(text, false);
    assert!(r.holds() && r.functions[0].inputs > 0, "{}", r.json());
}

/// Runs of `f` alone end soon; `f` calls `g` three times, and each run of `g` is long.
fn long(condition: &str, k: u32) -> String {
    let g = format!("fn g(t: [u8; 4], x: public u32) -> u8 {{\n  var s: u8 = 0\n  for i in 0..<30000 {{ s = s + 1 }}\n  if {condition} {{\n    var k: u7 = {k}\n    s = s + t[int(-k)]\n  }}\n  s\n}}\n");
    g + "fn f(t: [u8; 4]) -> u8 {\n  let a = g(t, 5)\n  let b = g(t, 9)\n  g([a, b, 1, 2], 77)\n}\n"
}

#[test]
fn what_a_long_run_of_a_caller_judged_is_not_run_again() {
    let r = proved(&long("x == 3", 0), false);
    assert!(r.holds(), "{}", r.table());
    assert_eq!(r.functions.iter().map(|f| (f.name.as_str(), f.inputs)).collect::<Vec<_>>(), [("t.g", 3), ("t.f", 1)]);
}

/// Clauses of callees are judged as far as a budget goes; what goes wrong behind them after millions of steps is told all the same.
#[test]
fn a_contradiction_behind_clauses_that_were_not_judged_is_told() {
    let text = "fn h(y: u8) -> u8\n  requires y < 256\n{ y ^ 3 }\nfn f(t: [u8; 4]) -> u8 {\n  var s: u8 = t[1]\n  for i in 0..<300000 { s = h(s) }\n  var k: u7 = 1\n  t[int(-k)] ^ s\n}\n";
    let r = proved(text, true);
    assert!(matches!(faults(&r)[..], [Obligation { func: santoku_ir::FuncId(1), outcome: Outcome::Fault { engine: Engine::Smt, .. }, .. }]), "{}", r.json());
}

/// Keeps what it is given.
#[derive(Default)]
struct Kept(std::sync::Mutex<std::collections::BTreeMap<String, String>>);

impl Store for Kept {
    fn get(&self, key: &str) -> Option<String> {
        self.0.lock().unwrap().get(key).cloned()
    }
    fn put(&self, key: &str, value: &str) {
        self.0.lock().unwrap().insert(key.into(), value.into());
    }
}

/// The second proof would not run the caller that alone shows it.
#[test]
fn a_fault_is_one_again_when_the_proof_is_repeated() {
    let store = Kept::default();
    let again = |text: &str, twin: bool| proved_with(text, twin, 1, &store);
    let text = long("x == 77", 1);
    for _ in 0..3 {
        assert_eq!(faults(&again(&text, true)).len(), 1);
    }
    assert!(store.0.lock().unwrap().is_empty());
    let right = long("x == 3", 0);
    assert!(again(&right, false).functions.iter().all(|f| !f.cached) && again(&right, false).functions.iter().all(|f| f.cached));
}

/// A proof that no run stands beside is run once there is a caller that does it.
#[test]
fn what_was_never_run_is_run_by_a_new_caller() {
    let alone = "fn f(x: u32) -> u32\n  requires x == 123456789\n{ x }\n";
    let caller = "fn g(s: u8) -> u32 {\n  var y: u8 = s\n  for i in 0..<30000 { y = y + 1 }\n  f(123456789) ^ u32(y)\n}\n";
    let both = format!("{alone}{caller}");
    let store = Kept::default();
    let runs = |text: &str, store: &dyn Store| proved_with(text, false, 1, store).functions.iter().map(|f| (f.cached, f.inputs)).collect::<Vec<_>>();
    assert_eq!(runs(&both, &NoStore), [(false, 1), (false, 1)]);
    assert_eq!(runs(alone, &store), [(false, 0)]);
    assert_eq!(runs(&both, &store), [(true, 1), (false, 1)]);
    assert_eq!(runs(&both, &store), [(true, 1), (true, 1)]);
}

/// However many others ask for its callees' results first, and are remembered.
#[test]
fn a_proof_does_not_depend_on_other_functions() {
    let steps: String = (0..2500).map(|k| format!("  let a{} = a{k} + 1\n", k + 1)).collect();
    let callee = format!("fn g(x: int in 0..1000000) -> int {{\n  let a0 = x\n{steps}  a2500\n}}\n");
    let others: String = (0..40).map(|k| format!("fn s{k}(x: int in 0..{k}) -> int {{ g(x) }}\n")).collect();
    let own = "fn f(x: int in 0..100000) -> int in 2500..102500 { g(x) }\n";
    assert!(proved(&format!("{callee}{own}"), false).holds());
    assert!(proved(&format!("{callee}{others}{own}"), false).holds());
}

/// The same on any number of threads: faults in several functions, found by short runs and by long ones.
#[test]
fn the_result_is_the_same_on_any_number_of_threads() {
    let mut text = long("x == 77", 1);
    for (name, k) in [("a", 1), ("b", 0), ("c", 1)] {
        text += &format!("fn {name}(t: [u8; 4]) -> u8 {{\n  var k: u7 = {k}\n  t[int(-k)]\n}}\n");
    }
    text += "fn d(t: [u8; 4]) -> u8 { a(t) + b(t) + c(t) }\n";
    let told = |threads: usize| {
        let r = proved_with(&text, true, threads, &NoStore);
        let all = |f: &crate::report::FunctionReport| (f.name.clone(), f.inputs, f.obligations.iter().map(|o| o.outcome.clone()).collect::<Vec<_>>());
        r.functions.iter().map(all).collect::<Vec<_>>()
    };
    let one = told(1);
    assert_eq!(one.iter().filter(|(_, _, all)| all.iter().any(|o| matches!(o, Outcome::Fault { .. }))).count(), 3, "{one:?}");
    for threads in [2, 3, 8] {
        assert_eq!(told(threads), one);
    }
}

/// Once where every run of `g` shows it, once where only those that `f` makes do.
#[test]
fn a_contradiction_in_a_long_run_is_held_against_the_function_it_is_in() {
    for condition in ["x == x", "x == 77"] {
        let text = long(condition, 1);
        assert!(faults(&proved(&text, false)).is_empty());
        let r = proved(&text, true);
        assert!(matches!(faults(&r)[..], [Obligation { func: santoku_ir::FuncId(0), outcome: Outcome::Fault { engine: Engine::Smt, witness: Some(_), .. }, .. }]), "{condition}: {:?}", faults(&r));
    }
}

#[test]
fn a_function_that_no_run_reaches_the_end_of_is_named() {
    let text = "fn f(x: u8) -> u8 {\n  var s: u8 = x\n  for i in 0..<10000 { for j in 0..<10000 { s = s + 1 } }\n  s\n}\nfn g(x: [u8; 40]) -> u8\n  requires forall(i in 0..<40) x[i] == 7 * i % 64\n{ x[0] }\n";
    let r = proved(text, false);
    assert!(r.holds(), "{}", r.table());
    let names: Vec<&str> = r.unrun().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["t.f", "t.g"]);
    assert!(r.json().contains("\"unrun\": [\n    \"t.f\",\n    \"t.g\"\n  ]"), "{}", r.json());
}

/// `forall` over a condition whose truth is unknown: no number is made of its infinite bounds.
#[test]
fn an_unknown_truth_value_is_0_or_1() {
    let text = "fn f(ok: [bool; 8], k: public int in 0..7, x: [int in 0..9; 64]) -> int in 0..10\n  requires forall(i in 0..<64) (ok[k] || x[i] < 5)\n{ x[0] + 1 }\n";
    assert!(proved(text, false).holds());
}

/// A value out of its range is open; what follows from the range and from the value is no fault.
#[test]
fn behind_an_open_range_the_algebra_does_not_contradict_itself() {
    let text = "fn h(p: int in 0..8, q: public int in 0..2) -> public [int; 3]\n  requires p - p * 2 <= 4\n{\n  [q * q, 1023 * q, q >> 6]\n}\nfn f(b: public bool) -> public int {\n  var v: public int in -8..4 = -8\n  v = -(3 + v)\n  let w: public [int; 3] = h(v * 1, v - v)\n  let c: public bool = (w[0] << 4) <= 0\n  let d: public bool = (v >> 0) <= 1\n  0\n}\n";
    let p = compiled(text);
    let costs = crate::contracts::cost::of_program(&p);
    let all: Vec<Obligation> = (0..2).flat_map(|f| crate::contracts::check(&p, santoku_ir::FuncId(f), &costs)).collect();
    assert!(!all.is_empty() && !all.iter().any(Obligation::fault), "{all:?}");
    assert!(!proved(text, false).holds());
}
