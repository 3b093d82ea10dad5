//! What is known at run time only: steps of loops, words in bytes, bounds of lengths.

mod common;
use common::{accept, build, holds, refusal};
use santoku_ir::{ExprKind, LocalKind, Stmt, Ty};

#[test]
fn loops_with_a_step_visit_every_so_manyth_value() {
    holds(
        r#"
fn visited<n: len>(x: [u8; n], lo: public int in 0..9) -> u64 {
  var s: u64 = 0
  for i in lo..<n step 3 { s = 10 * s + u64(i) }
  s
}
fn down<n: len>(x: [u8; n]) -> u64 {
  var s: u64 = 0
  for i in rev 1..<n step 3 { s = 10 * s + u64(i) }
  s
}
fn constant(x: u64) -> u64 {
  var s = x
  for i in 2..8 step 3 { s = 10 * s + u64(i) }
  for i in rev 2..7 step 3 { s = 10 * s + u64(i) }
  for step in 0..<4 step 2 { s = 10 * s + u64(step) }
  s
}
fn changed(x: [u8; 9]) -> u64 {
  var s: u64 = 0
  for i in 0..<int(len(x)) step 1 { s += u64(x[i]) }
  s
}
fn powers(x: int in 0..1) -> int {
  var s = 0
  for i in 0..<64 step 16 { s = s + x * 2^i }
  s
}
test "t" {
  assert visited([0; 9], 0) == 36
  assert visited([0; 8], 0) == 36
  assert visited([0; 7], 0) == 36
  assert visited([0; 6], 0) == 3
  assert visited([0; 6], 5) == 5
  assert visited([0; 6], 6) == 0
  assert visited([0; 2], 9) == 0
  assert down([0; 8]) == 741
  assert down([0; 7]) == 41
  assert down([0; 1]) == 0
  assert constant(0) == 25852 * 100 + 2
  assert changed([3; 9]) == 27
  assert powers(1) == 1 + 2^16 + 2^32 + 2^48
}
"#,
    );
}

#[test]
fn the_lower_bound_is_computed_once() {
    holds(
        r#"
fn f(x: [u8; 20]) -> [u8; 20] {
  var r = x
  var from: int in 0..4 = 4
  for i in from..<20 step 5 {
    from = 0
    r[i] = 1
  }
  r
}
test "t" {
  let r = f([0; 20])
  assert [r[0], r[4], r[5], r[9], r[14], r[18], r[19]] == [0, 1, 0, 1, 1, 0, 1]
}
"#,
    );
}

#[test]
fn an_invariant_of_a_stepped_loop_speaks_of_its_variable() {
    holds(
        r#"
fn f(x: u8) -> int {
  var s: int in 0..100 = 0
  for i in 4..<20 step 4
    invariant s == i - 4
  {
    s = s + 4
  }
  s
}
test "t" { assert f(0) == 16 }
"#,
    );
}

#[test]
fn words_are_read_and_written_in_both_orders() {
    holds(
        r#"
const B: [u8; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
fn loads(b: [u8; 9], i: public int in 0..1) -> (u16, u32, u64, u16, u32, u64) {
  (le16(b, i), le32(b, i), le64(b, i), be16(b, i), be32(b, i), be64(b, i))
}
fn stores(w: u64, i: public int in 0..2) -> [u8; 10] {
  var b: [u8; 10] = [0; 10]
  le64(b, i) = w
  b
}
fn some(w: u32) -> [u8; 16] {
  var b: [u8; 16] = [0xff; 16]
  le16(b, 0) = u16(w)
  be16(b, 2) = u16(w)
  le32(b, 4) = w
  be32(b, 8) = w
  le32(b, 12) ^= le32(b, 4)
  be32(b, 12) += 1
  b
}
fn turned(b: [u8; 8]) -> [u8; 8] {
  var r = b
  le64(r, 0) = be64(r, 0)
  r
}
test "t" {
  assert stores(0x0807060504030201, 1) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 0]
  assert some(0x01020304) == hex"0403 0304 04030201 01020304 fbfcfdff"
  assert turned([1, 2, 3, 4, 5, 6, 7, 8]) == [8, 7, 6, 5, 4, 3, 2, 1]
}
"#,
    );
    // A function of that name is that function.
    holds("fn le32(x: u8) -> u8 { x + 1 }\ntest \"t\" { assert le32(3) == 4 }");
}

#[test]
fn bounds_of_a_length_are_those_of_its_parameter() {
    let c = accept(&[("main.stk", "fn f<n: len in 2..<10>(x: [u8; n]) -> u8 { x[1] }\ntest \"t\" { assert f([1, 2]) == 2 }")], &[]);
    let f = c.program.funcs.iter().find(|f| f.name.ends_with('f')).expect("f");
    let Ty::Int(Some(r)) = &f.local(f.lens[0]).ty else { panic!("no range") };
    assert_eq!((r.lo.clone(), r.hi.clone()), (2.into(), 9.into()));
    assert_eq!(f.local(f.lens[0]).kind, LocalKind::Len);
}

#[test]
fn an_implementation_takes_every_length_that_its_interface_does() {
    let interface = "interface a {\n  default one\n  fn f<n: len in 1..8>(x: [u8; n]) -> u8\n}";
    let of = |bounds: &str| format!("implements a as one\nfn f<n: len{bounds}>(x: [u8; n]) -> u8 {{ x[0] }}");
    let user = "use a\nfn g(x: [u8; 4]) -> u8 { a::f(x) }";
    for (bounds, fits) in [("", true), (" in 1..8", true), (" in 0..9", true), (" in 2..8", false), (" in 1..7", false)] {
        let own = of(bounds);
        let files = [("main.stk", user), ("a.stk", interface), ("a_one.stk", own.as_str())];
        assert_eq!(build(&files, &[]).is_ok(), fits, "{bounds}");
    }
}

#[test]
fn refusals_name_a_place() {
    for (text, message) in [
        ("fn f(x: [u8; 8]) -> u8 { for i in 0..<8 step 0 { }\n 1 }", "bad-step 1:46 the step of a loop is no positive constant"),
        ("fn f(x: [u8; 8]) -> u8 { for i in 0..<8 step -2 { }\n 1 }", "bad-step 1:46 the step of a loop is no positive constant"),
        ("fn f(x: [u8; 8], s: public int in 1..2) -> u8 { for i in 0..<8 step s { }\n 1 }", "not-constant 1:69 a compile-time constant is needed here"),
        ("fn f(x: [u8; 8]) -> u32 { le32(x, 5) }", "index-out-of-range 1:35 index 8 outside an array of 8"),
        ("fn f(x: [u16; 8]) -> u32 { le32(x, 0) }", "type-mismatch 1:33 expected bytes, found [u16; 8]"),
        ("fn f(x: [u8; 8]) -> u32 { le32(x) }", "wrong-arguments 1:27 `le32` takes 2 arguments, 1 given"),
        ("fn f(x: [u8; 8]) -> u8 { le32(x, 0) = 1\n 1 }", "assign-to-immutable 1:31 `x` cannot be assigned to"),
        ("fn f(x: [u8; 8]) -> u8 { var y = x\n le32(y, 0) = u64(1)\n 1 }", "type-mismatch 2:15 expected u32, found u64"),
        ("fn f(x: [u8; 8], k: u8) -> u32 { le32(x, int(k & 3)) }", "secret-index 1:42 index depends on a secret"),
        ("fn f<n: len in 5..2>(x: [u8; n]) -> u8 { 1 }\nfn g(x: [u8; 3]) -> u8 { f(x) }", "empty-range 1:16 empty range 5..2"),
        ("fn f<n: len in -1..2>(x: [u8; n]) -> u8 { 1 }\nfn g(x: [u8; 3]) -> u8 { f(x) }", "bad-length 1:16 no array has a length of this range"),
    ] {
        assert_eq!(refusal(&[("main.stk", text)], &[]), [message], "{text}");
    }
}

#[test]
fn a_stepped_loop_is_a_counted_loop() {
    let c = accept(&[("main.stk", "fn f<n: len>(x: [u8; n]) -> u8 { var s: u8 = 0\n for i in rev 0..<n step 16 { s ^= x[i] }\n s }\nfn g(x: [u8; 3]) -> u8 { f(x) }")], &[]);
    let f = c.program.funcs.iter().find(|f| !f.lens.is_empty()).expect("f");
    let found = f.body.iter().any(|s| matches!(s, Stmt::For { lo, hi, rev: true, .. } if matches!(&lo.kind, ExprKind::Const(v) if *v == 0.into()) && matches!(hi.kind, ExprKind::Bin(..))));
    assert!(found, "{:?}", f.body);
}
