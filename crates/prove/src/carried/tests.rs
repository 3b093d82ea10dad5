//! Claims as texts: which are the same, and which follows from which.

use super::claim::{entails, parts, Part};
use super::{check, Carried};
use santoku_ir::{ContractKind, FuncId, Program, SpecExpr};

fn compile(text: &str) -> Program {
    let mut load = |path: &str| (path == "t.stk").then(|| text.to_string());
    match santoku_sema::compile("t.stk", &[], &mut load, &santoku_sema::Options::default()) {
        Ok(c) => c.program,
        Err(f) => panic!("{:?}", f.diagnostics),
    }
}

fn find(p: &Program, name: &str) -> FuncId {
    p.find(&format!("t.{name}")).expect("a function")
}

const NUMBERS: &str = "
spec fn value(x: [int; 4]) -> int = sum(i in 0..<4) x[i] * 2^(8*i)
spec fn other(y: [int; 4]) -> int = sum(k in 0..<4) y[k] * 2^(8*k)
spec fn wrong(y: [int; 4]) -> int = sum(k in 0..<4) y[k] * 2^(9*k)
spec fn both(p: [[int; 4]; 2]) -> bool = value(p[0]) < 100 && value(p[1]) < 100
fn f(a: [int in 0..255; 4], p: [[int in 0..255; 4]; 2]) -> int
  requires value(a) < 100
  requires other(p[1]) < 50 + 50
  requires wrong(a) < 100
  requires both(p)
  requires value(a) < value(p[0])
  requires value(a) < 99
{
  0
}
";

fn clauses(p: &Program) -> Vec<Vec<Part>> {
    let f = p.func(find(p, "f"));
    f.contracts.iter().filter(|c| c.kind == ContractKind::Requires).map(|c| parts(p, &c.cond).expect("understood")).collect()
}

fn only(parts: &[Part]) -> (&[usize], &SpecExpr) {
    match parts {
        [Part::Of { path, claim, .. }] => (path, claim),
        other => panic!("not one claim of one value: {other:?}"),
    }
}

#[test]
fn the_same_claim_in_other_words_of_other_places() {
    let p = compile(NUMBERS);
    let c = clauses(&p);
    let (at, plain) = only(&c[0]);
    assert!(at.is_empty());
    let (at, renamed) = only(&c[1]);
    assert_eq!((at, renamed), (&[1usize][..], plain));
    assert_ne!(only(&c[2]).1, plain, "other weights are another claim");
    let [Part::Of { path: x, claim: cx, .. }, Part::Of { path: y, claim: cy, .. }] = &c[3][..] else { panic!("two conjuncts") };
    assert_eq!((&x[..], &y[..], cx, cy), (&[0usize][..], &[1usize][..], plain, plain));
    assert_eq!(c[4], [Part::Relation]);
}

#[test]
fn a_closer_bound_entails_a_wider_one_only() {
    let p = compile(NUMBERS);
    let c = clauses(&p);
    let (wide, close) = (only(&c[0]).1, only(&c[5]).1);
    assert!(entails(close, wide) && entails(wide, wide));
    assert!(!entails(wide, close) && !entails(close, only(&c[2]).1));
}

#[test]
fn loops_branches_and_tables_are_followed_and_counted() {
    let p = compile(
        "
const TABLE: [[int in 0..255; 2]; 3] = [[1, 2], [3, 4], [5, 0]]
spec fn value(x: [int; 2]) -> int = x[0] + 256 * x[1]
@noinline
fn step(a: [int in 0..255; 2]) -> [int in 0..255; 2]
  requires value(a) < 2000
  ensures value(result) < 2000
{
  a
}
fn walk(n: public int in 0..9) -> public [int in 0..255; 2]
  ensures value(result) < 2000
{
  var t: public [[int in 0..255; 2]; 4]
  for i in 0..<4 { t[i] = TABLE[i % 3] }
  var r: public [int in 0..255; 2] = TABLE[0]
  @rolled for i in 0..<n {
    r = step(r)
    if r[0] == 3 { r = step(t[i % 4]) }
  }
  r
}
",
    );
    let Carried { requires, ensures } = check(&p, find(&p, "walk"));
    assert_eq!((requires.len(), ensures.len()), (2, 1));
    // The identity promises what it is given, nothing more.
    assert_eq!(check(&p, find(&p, "step")).ensures.len(), 1);
}
