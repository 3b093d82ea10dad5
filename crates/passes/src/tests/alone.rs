//! Each pass on its own: what it must have done, and that the check agrees.

use super::samples::{program, same_behaviour, LIMBS};
use crate::run::step;
use crate::{find, Level, PassOptions};
use santoku_ir::visit::{walk_exprs, walk_stmts};
use santoku_ir::{ExprKind, Program, Stmt, Ty};

/// Runs passes in order with default options of a level; every change must be shown equal.
fn run(p: &Program, level: Level, names: &[&str]) -> Program {
    let options = PassOptions::new(level, 32);
    names.iter().fold(p.clone(), |p, name| {
        let pass = find(name).expect("a pass");
        let (next, report) = step(pass, &p, &options).unwrap_or_else(|e| panic!("{e}"));
        assert!(report.reverted.is_empty(), "{name}: {:?}", report.reverted);
        assert_eq!(report.changed.len(), report.equal);
        assert!(same_behaviour(&p, &next, 3) > 0);
        next
    })
}

fn count(p: &Program, func: &str, f: impl Fn(&Stmt) -> bool) -> usize {
    let mut n = 0;
    let id = p.find(func).expect("function");
    walk_stmts(&p.func(id).body, &mut |s| n += usize::from(f(s)));
    n
}

fn calls(p: &Program, func: &str) -> usize {
    count(p, func, |s| matches!(s, Stmt::Call { .. }))
}

fn loops(p: &Program, func: &str) -> usize {
    count(p, func, |s| matches!(s, Stmt::For { .. }))
}

fn statements(p: &Program, func: &str) -> usize {
    count(p, func, |_| true)
}

fn arrays(p: &Program, func: &str) -> usize {
    let f = p.func(p.find(func).expect("function"));
    f.locals.iter().filter(|l| l.kind == santoku_ir::LocalKind::Var && !l.ty.is_scalar()).count()
}

#[test]
fn inline_follows_marks_and_sizes() {
    let p = program();
    assert_eq!(calls(&p, "top.user"), 5);
    // Only what is marked, then also what is small, then everything.
    let marked = PassOptions { inline_size_max: 0, ..PassOptions::new(Level::O1, 32) };
    let (one, _) = step(find("inline").expect("pass"), &p, &marked).expect("valid");
    assert_eq!(calls(&one, "top.user"), 4);
    let all = PassOptions { inline_size_max: 10_000, ..PassOptions::new(Level::O3, 32) };
    let (none, report) = step(find("inline").expect("pass"), &p, &all).expect("valid");
    assert_eq!(calls(&none, "top.user"), 0);
    assert!(report.reverted.is_empty() && same_behaviour(&p, &none, 5) > 0);
}

/// A state that starts from a constant and takes secrets in later: what the first call computes is public, where it goes
/// is not.
#[test]
fn inline_does_not_build_public_values_where_secrets_are() {
    let text = r#"
fn permute(s: [u64; 4]) -> [u64; 4] {
  var a: [u64; 4] = s
  for i in 0..<3 {
    let t = a[0] ^ a[1]
    a[0] = a[1] + t
    a[2] = a[3] ^ u64(i)
    a[3] = t
  }
  a
}
fn counted(n: public int in 0..3) -> (public int in 0..9, [u64; 2]) { (n * 3, [u64(n), 2]) }
fn absorb(s: [u64; 4], m: u64) -> [u64; 4] {
  var a: [u64; 4] = s
  a[0] ^= m
  permute(a)
}
@export("sponge")
fn sponge(m: [u64; 3], n: public int in 0..3) -> (u64, public int in 0..9) {
  var s: [u64; 4] = permute([1, 2, 3, 4])
  for i in 0..<3 { s = absorb(s, m[i]) }
  s = permute([5, 6, 7, 8])
  s = absorb(s, m[0])
  let (k, y) = counted(n)
  var x = y
  x[0] ^= m[1]
  s = absorb(s, x[0])
  (s[0], k)
}
"#;
    let mut load = |path: &str| (path == "main.stk").then(|| text.to_string());
    let p = santoku_sema::compile("main.stk", &[], &mut load, &santoku_sema::Options::default());
    let p = p.unwrap_or_else(|f| panic!("{:#?}", f.diagnostics)).program;
    for level in Level::ALL {
        let all = PassOptions { inline_size_max: 10_000, ..PassOptions::new(level, 32) };
        let (q, report) = step(find("inline").expect("pass"), &p, &all).unwrap_or_else(|e| panic!("{e}"));
        assert!(report.reverted.is_empty() && same_behaviour(&p, &q, 5) > 0);
        assert_eq!(calls(&q, "main.sponge"), 0);
        let done = crate::optimise(&p, level, &Default::default(), &all).unwrap_or_else(|e| panic!("{e}"));
        assert!(same_behaviour(&p, &done.program, 5) > 0);
    }
}

#[test]
fn unroll_respects_its_budget() {
    let p = program();
    let options = |max| PassOptions { unroll_size_max: max, ..PassOptions::new(Level::O1, 32) };
    let tight = step(find("unroll").expect("pass"), &p, &options(40)).expect("valid").0;
    let wide = step(find("unroll").expect("pass"), &p, &options(10_000)).expect("valid").0;
    assert_eq!((loops(&p, "field.mul"), loops(&wide, "field.mul")), (3, 0));
    assert!(loops(&tight, "field.mul") > 0);
    // A run-time bound stays a loop.
    assert_eq!(loops(&wide, "bytes.mask"), 1);
}

#[test]
fn const_fold_drops_neutral_operands() {
    let p = program();
    let q = run(&p, Level::O1, &["const-fold"]);
    let zeros = |p: &Program| {
        let mut n = 0;
        let id = p.find("hash.mix").expect("there");
        walk_exprs(&p.func(id).body, &mut |e| n += usize::from(matches!(&e.kind, ExprKind::Const(v) if *v == 0.into())));
        n
    };
    assert!(zeros(&q) < zeros(&p));
}

#[test]
fn array_to_scalar_leaves_no_array_where_indices_are_fixed() {
    let p = run(&program(), Level::O3, &["unroll", "const-fold"]);
    let q = run(&p, Level::O3, &["array-to-scalar", "dead-code"]);
    assert!(arrays(&p, "hash.mix") > 0 && arrays(&q, "hash.mix") == 0);
    // The argument of a call stays an array.
    assert!(arrays(&q, "top.user") > 0);
}

#[test]
fn copies_and_what_nobody_reads_go() {
    let p = program();
    let q = run(&p, Level::O2, &["copy-prop", "dead-code"]);
    assert!(statements(&q, "hash.mix") < statements(&p, "hash.mix"));
    let names: Vec<&str> = q.func(q.find("hash.mix").expect("there")).locals.iter().map(|l| l.name.as_str()).collect();
    assert!(!names.contains(&"dead"), "{names:?}");
    // `old` is a copy of what `a` was: the copy must stay.
    assert!(names.contains(&"old"), "{names:?}");
}

#[test]
fn cse_names_what_is_computed_again() {
    let p = program();
    let q = run(&p, Level::O2, &["cse"]);
    let named = q.func(q.find("hash.mix").expect("there")).locals.iter().filter(|l| l.name == "common").count();
    assert!(named > 0);
}

#[test]
fn copy_free_builds_in_place() {
    let p = program();
    let q = run(&p, Level::O2, &["copy-free"]);
    assert!(statements(&q, "top.user") <= statements(&p, "top.user") - 3);
}

#[test]
fn the_first_carry_pass_joins_the_sum() {
    let p = program();
    let q = run(&p, Level::Os, &["loop-fusion"]);
    assert_eq!((loops(&p, "field.add"), loops(&q, "field.add")), (2, 1));
}

#[test]
fn the_first_row_initialises() {
    let p = program();
    let q = run(&p, Level::Os, &["first-row-init"]);
    let zeroed = |p: &Program| {
        let mut n = 0;
        walk_stmts(&p.func(p.find("field.mul").expect("there")).body, &mut |s| {
            if let Stmt::Assign { src: santoku_ir::Expr { kind: ExprKind::Repeat(_), ty: Ty::Array { len, .. } }, .. } = s {
                if let santoku_ir::Len::Const(k) = len {
                    n += k;
                }
            }
        });
        n
    };
    assert_eq!((zeroed(&p), zeroed(&q)), (2 * LIMBS - 1, LIMBS - 1));
}

#[test]
fn dead_functions_go_and_roots_stay() {
    let p = program();
    let q = run(&p, Level::O1, &["dead-functions"]);
    assert!(q.find("top.unused").is_none() && q.find("top.user").is_some() && q.find("top.test").is_some());
    let alone = PassOptions { keep_tests: false, ..PassOptions::new(Level::O1, 32) };
    let r = step(find("dead-functions").expect("pass"), &p, &alone).expect("valid").0;
    assert!(r.find("top.test").is_none() && r.tests.is_empty());
}

#[test]
fn every_exact_integer_gets_a_range() {
    let p = program();
    let q = run(&p, Level::O0, &["derive-width"]);
    let (mut bare, mut ranged) = (0, 0);
    for f in &q.funcs {
        walk_exprs(&f.body, &mut |e| match e.ty {
            Ty::Int(None) => bare += 1,
            Ty::Int(Some(_)) => ranged += 1,
            _ => {}
        });
    }
    assert!(bare == 0 && ranged > 50, "{bare} bare, {ranged} ranged");
}

#[test]
fn asserts_stay_in_tests_only() {
    let mut p = program();
    let mut builder = santoku_ir::build::FuncBuilder::new(&p, "x");
    let cond = santoku_ir::Expr::bool(true);
    builder.push(Stmt::assert(cond, "holds"));
    let extra = builder.finish().body;
    let id = p.find("hash.mix").expect("there");
    p.funcs[id.0 as usize].body.splice(0..0, extra);
    let q = run(&p, Level::O0, &["drop-asserts"]);
    let asserts = |p: &Program, f: &str| count(p, f, |s| matches!(s, Stmt::Assert { .. }));
    assert_eq!((asserts(&p, "hash.mix"), asserts(&q, "hash.mix"), asserts(&q, "top.test")), (1, 0, 1));
}
