//! Claims as texts: which are the same, and which follows from which.

use super::claim::{entails, parts, Part};
use super::{check, Carried};
use santoku_ir::interp::Value;
use santoku_ir::spec_eval::SpecRun;
use santoku_ir::{Base, ContractKind, FuncId, Place, Program, SpecExpr};

#[test]
fn a_clause_that_grows_without_end_is_left_alone() {
    let mut text = String::from("x");
    for _ in 0..60 {
        text = format!("d({text})");
    }
    let p = compile(&format!("spec fn d(x: int) -> int = x + x\nfn f(x: int in 0..9) -> int\n  requires {text} >= 0\n{{\n  x\n}}\n"));
    assert_eq!(parts(&p, &p.func(find(&p, "f")).contracts[0].cond), None);
    assert_eq!(check(&p, find(&p, "f")).ensures.len(), 0);
}

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

/// What a clause says of values is what its parts say together, however it is written.
#[test]
fn a_clause_and_its_parts_agree_on_values() {
    let p = compile(
        "
spec fn sums(x: [int; 2]) -> int = sum(i in 0..<2) (sum(j in 0..<2) (x[i] * 3^j + x[j] * 2^i))
spec fn twice(u: int, v: int) -> int = u * v + u - (if u < v { v } else { u })
spec fn chain(u: int) -> int = twice(u, twice(u, u + 1))
spec fn all(x: [[int; 2]; 2]) -> bool = forall(k in 0..<2) twice(sums(x[k]), sums(x[k])) < 40 && chain(x[k][0]) >= 0
fn f(a: [int in 0..7; 2], b: [[int in 0..7; 2]; 2]) -> int
  requires twice(sums(a), sum(i in 0..<2) a[i] * sums(a)) < 90
  requires all(b)
  requires chain(sums(a)) % 3 == 1
  requires forall(i in 0..<2) sum(j in 0..<2) a[i] * a[j] < 30
{
  0
}
",
    );
    let f = p.func(find(&p, "f"));
    let (mut seen, mut held) = (0, 0);
    for n in 0..4096u32 {
        let digit = |k: u32| Value::int(i64::from(n >> (2 * k) & 3));
        let pair = |k: u32| Value::array(vec![digit(k), digit(k + 1)]);
        let values = [pair(0), Value::array(vec![pair(2), pair(4)])];
        for c in &f.contracts {
            let of = |at: &Place, under: &[usize]| {
                let Base::Local(id) = at.base else { return Value::Undef };
                let path = under.iter().copied().chain(super::claim::fixed_path(&at.projs).expect("fixed"));
                path.fold(values[id.0 as usize].clone(), |v, i| v.parts().expect("an aggregate")[i].clone())
            };
            let mut whole = |at: &Place| Ok(of(at, &[]));
            let said = SpecRun::new(&p, 100_000, &mut whole).truth(&c.cond).expect("a truth value");
            let together = parts(&p, &c.cond).expect("understood").iter().all(|part| {
                let Part::Of { local, path, claim } = part else { panic!("one value: {part:?}") };
                let mut at = |at: &Place| Ok(of(&Place { base: Base::Local(*local), projs: at.projs.clone() }, path));
                SpecRun::new(&p, 100_000, &mut at).truth(claim).expect("a truth value")
            });
            assert_eq!(said, together, "{} of {values:?}", c.text);
            seen += 1;
            held += u32::from(said);
        }
    }
    assert!(held > 100 && seen - held > 100, "{held} of {seen} hold");
}
