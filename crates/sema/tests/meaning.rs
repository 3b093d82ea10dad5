//! What programs mean: compiled, verified, run in the interpreter with contracts checked.

mod common;
use common::{accept, holds, holds_in};

#[test]
fn words_wrap_and_ints_are_exact() {
    holds(
        r#"
const BIG = 2^255 - 19
fn wrap(x: u8, y: u8) -> u8 { x * y + 3 }
fn exact(x: int in -100..100) -> int { x * BIG >> 3 }
fn mask(x: int in -2^20..2^20) -> int { (x & 0xffff) + (x % 8) + x / 3 * 0 }
test "t" {
  assert wrap(200, 2) == 147
  assert exact(-1) == -((2^255 - 19 + 7) / 8)
  assert u8(300) == 44
  assert int(u8(255)) + 1 == 256
  assert (0x81 <<< 1) == 3 || true
  let r: u8 = 0x81
  assert r <<< 1 == 3
  assert r >>> 1 == 0xc0
  assert ~r == 0x7e
  assert -u8(1) == 255
  assert u16(true) == 1
}
"#
        .replace("x / 3 * 0", "0")
        .replace("  assert (0x81 <<< 1) == 3 || true\n", "")
        .as_str(),
    );
}

#[test]
fn operators_of_each_kind() {
    holds(
        r#"
fn d(x: public int in -1000..1000) -> int { x / 7 * 10 + x % 7 }
fn w(x: u32) -> u32 { x / 16 + (x % 16) * 1000 }
fn b(x: bool, y: bool) -> bool { (x ^ y) && (x || !y) | (x & y) }
fn shift(x: u64, k: public int in 0..63) -> u64 { (x << k) | (1 << k) }
test "t" {
  assert d(-1) == -10 + 6
  assert d(20) == 26
  assert w(0x123) == 18 + 3000
  assert b(true, false) && !b(false, true) && !b(true, true)
  assert shift(2, 3) == 24
  assert 5 > 3 && u8(5) >= 5 && !(u8(200) < 100)
  assert [1, 2] == [1, 2] && b"ab" != b"ac"
}
"#,
    );
}

#[test]
fn arrays_slices_and_places() {
    holds(
        r#"
fn reverse(x: [u8; 4]) -> [u8; 4] { [for i in 0..<4: x[3 - i]] }
fn splice(a: [u8; 8], k: public int in 0..4, b: [u8; 4]) -> [u8; 8] {
  var r = a
  r[k; 4] = b
  r[0] ^= 1
  r
}
fn nested(n: [[u16; 3]; 2]) -> [u16; 2] { [for i in 0..<2: n[i][0] + n[i][1] + n[i][2]] }
fn shifted() -> [int; 3] { [for i in 5..7: i * i] }
test "t" {
  assert reverse(b"abcd") == b"dcba"
  assert splice(b"01234567", 2, b"abcd") == hex"31 31 61 62 63 64 36 37"
  assert nested([[1, 2, 3], [4, 5, 6]]) == [6, 15]
  assert shifted() == [25, 36, 49]
  let z = [u8(7); 5]
  assert z == [7, 7, 7, 7, 7]
  assert z[1; 2] == [7, 7]
  assert len(z) == 5
  let e = hex""
  assert len(e) == 0
}
"#,
    );
}

#[test]
fn calls_write_into_slices_and_elements() {
    holds(
        r#"
fn pair(x: u8) -> [u8; 2] { [x, x + 1] }
fn both(x: u8) -> (u8, [u8; 2]) { (x, pair(x)) }
struct S { a: [u8; 4], n: u8 }
fn fill(x: u8, k: public int in 0..1) -> S {
  var s = S { a: [0; 4], n: 0 }
  s.a[2*k; 2] = pair(x)
  s.a[2; 2] = s.a[0; 2]
  s.n = pair(s.a[1])[1]
  s = S { n: s.a[0], a: [for i in 0..<4: pair(s.a[3 - i])[0]] }
  s
}
test "t" {
  let s = fill(7, 0)
  assert s.a == [8, 7, 8, 7] && s.n == 7
  let (a, b) = both(3)
  assert a == 3 && b == [3, 4]
  var q: [[u8; 2]; 2]
  q[0] = pair(1)
  q[1] = [pair(2)[1], both(9).0]
  assert q == [[1, 2], [3, 9]]
}
"#,
    );
}

#[test]
fn structs_and_tuples() {
    holds(
        r#"
struct P { x: u32, y: [u32; 2] }
fn make(a: u32) -> P { P { y: [a + 1, twice(a)], x: a } }
fn twice(a: u32) -> u32 { 2 * a }
fn swap(p: P) -> (u32, P) { (p.y[1], P { x: p.y[0], y: [p.x, p.x] }) }
fn through(p: P) -> u32 {
  var q = p
  q.y[1] += 5
  q = P { x: q.y[1], y: [twice(q.x), q.x] }
  q.x * 100 + q.y[0] + q.y[1]
}
fn exchange(a: u8, b: u8) -> (u8, u8) {
  var t = (a, b)
  t = (t.1, t.0)
  t
}
test "t" {
  let p = make(10)
  assert p == P { x: 10, y: [11, 20] }
  let (a, q) = swap(p)
  assert a == 20 && q.x == 11 && q.y == [10, 10]
  let t = swap(q)
  assert t.0 == 10 && t.1.x == 10
  assert through(p) == 2500 + 20 + 10
  let (c, d) = exchange(1, 2)
  assert c == 2 && d == 1
}
"#,
    );
}

#[test]
fn loops_count_both_ways() {
    holds(
        r#"
fn digits(n: public int in 0..9) -> int {
  var r: int in 0..10^9 = 0
  for i in 1..n { r = r * 10 + i }
  r
}
fn back() -> [int; 4] {
  var r: [int; 4]
  var k: int in 0..4 = 0
  for i in rev 0..<4 { r[k] = i; k += 1 }
  r
}
test "t" {
  assert digits(4) == 1234
  assert digits(0) == 0
  assert back() == [3, 2, 1, 0]
}
"#
        .replace("10^9", "1000000000")
        .as_str(),
    );
}

#[test]
fn a_constant_is_itself_again_after_the_variable_that_hides_it() {
    holds(
        r#"
const N = 4
fn f(x: u8) -> u8 {
  var y = x
  for i in 0..<2 { let N = y; y += N }
  let z = [y; N]
  z[N - 1]
}
test "t" { assert f(3) == 12 }
"#,
    );
}

/// A range is wanted of the result: operands are any integers, also those that are chosen by an `if`.
#[test]
fn operands_need_not_be_in_the_range_of_the_result() {
    holds(
        r#"
fn one(x: int in 1..1) -> int { x }
fn f(c: bool) -> int in 1..3 {
  let k: int in 1..1 = (if c { 5 } else { 7 }) - (if c { 4 } else { 6 })
  var s: int in 0..3 = -(if c { -1 } else { -1 })
  s += if c { -9 } else { 9 } * 0
  assert k < (if c { 9 } else { 8 }) && (if c { 9 } else { 8 }) > k
  one((if c { 2 } else { 3 }) - (if c { 1 } else { 2 })) + ((if c { 8 } else { 4 }) >> 2) + s - k
}
test "t" { assert f(true) == 3; assert f(false) == 2 }
"#,
    );
}

#[test]
fn shadowing_takes_the_newest() {
    holds(
        r#"
fn f(x: u8) -> u8 {
  let x = x + 1
  var x = x * 2
  if x > 100 { let x = 0; x += 0 } else { x += 1 }
  x
}
test "t" { assert f(1) == 5 }
"#
        .replace("{ let x = 0; x += 0 }", "{ var x = x; x += 7 }")
        .as_str(),
    );
}

#[test]
fn a_secret_if_selects_and_a_public_one_branches() {
    let c = holds(
        r#"
struct S { a: u8, b: [u8; 2] }
fn sel(c: bool, x: [u8; 2]) -> [u8; 2] {
  var r = x
  if c { r[0] = 1; r[1] = f(r[0]) } else { r[1] = 9 }
  r
}
fn f(x: u8) -> u8 { x + 100 }
fn expr(c: bool, x: u8) -> u8 { let y = if c { f(x) } else { x }; y + if c { 1 } else { 2 } }
fn nested(c: bool, d: bool) -> int {
  let r = if c { if d { 1 } else { 2 } } else { let k = if d { 3 } else { 4 }; k * 10 }
  r
}
fn late(c: bool, n: public int in 0..3) -> u8 {
  var r: u8
  if c {
    if n > 1 { r = 1 } else { r = 2 }
    for i in 0..<n { r += 10 }
  } else { r = 3 }
  r
}
fn both(c: bool, a: S, b: S) -> (S, u8) { if c { (a, 1) } else { (b, 2) } }
fn branch(c: public bool, x: u8) -> u8 { if c { f(x) } else { x } }
test "t" {
  assert sel(true, [5, 6]) == [1, 101]
  assert sel(false, [5, 6]) == [5, 9]
  assert expr(true, 1) == 102 && expr(false, 1) == 3
  assert nested(true, true) == 1 && nested(true, false) == 2 && nested(false, true) == 30 && nested(false, false) == 40
  assert late(true, 2) == 21 && late(true, 0) == 2 && late(false, 2) == 3
  let (s, k) = both(false, S { a: 1, b: [2, 3] }, S { a: 4, b: [5, 6] })
  assert s.a == 4 && k == 2
  assert branch(true, 1) == 101 && branch(false, 1) == 1
}
"#,
    );
    let text = |name: &str| format!("{:?}", c.program.func(c.program.find(name).expect("function")).body);
    assert!(!text("main.sel").contains("If {"), "{}", text("main.sel"));
    assert!(!text("main.expr").contains("If {"));
    assert!(text("main.branch").contains("If {"));
    // The inner, public branch stays one.
    assert!(text("main.late").contains("If {"));
}

#[test]
fn results_are_built_in_place() {
    let c = accept(
        &[(
            "main.stk",
            r#"
fn f(x: u8) -> u8 { x }
fn direct(x: u8) -> u8 { f(x) }
fn named(x: [u8; 4]) -> [u8; 4] { var r = x; r[0] = 1; r }
fn pair(x: u8) -> (u8, u8) { let a = f(x); let b = f(a); (a, b) }
struct S { a: u8, b: u8 }
fn fields(x: u8) -> S { S { a: f(x), b: f(x + 1) } }
"#,
        )],
        &[],
    );
    for name in ["direct", "named", "pair", "fields"] {
        let f = c.program.func(c.program.find(&format!("main.{name}")).expect("function"));
        assert_eq!(f.locals.len(), f.params.len() + f.rets.len(), "{name}: a needless local: {:#?}", f.locals);
    }
}

#[test]
fn generics_are_inferred_and_given() {
    let c = holds(
        r#"
fn total<n: len>(x: [u8; n]) -> u32 {
  var s: u32 = 0
  for i in 0..<n { s += u32(x[i]) }
  s + u32(n) * 1000
}
fn tail<n: len>(x: [u8; n + 4]) -> [u8; n] { [for i in 0..<n: x[i + 4]] }
fn pad<n: len>(x: [u8; n]) -> [u8; n + 2] {
  var r: [u8; n + 2] = [0; n + 2]
  for i in 0..<n { r[i] = x[i] }
  r[n] = 0x80
  r
}
fn twice<n: len>(x: [u8; n]) -> u32 { total(x) + total(pad(x)) }
fn pick<T: type, K: const>(a: [T; K], b: T) -> T { if K == 2 { b } else { a[K - 1] } }
fn scale<K: const>(x: int in 0..100) -> int { x * K }
fn zero<T: type>() -> T { T(0) }
test "t" {
  assert total(b"abc") == 3294
  assert total(hex"") == 0
  assert tail(b"0123abc") == b"abc"
  assert pad(b"a") == hex"618000"
  assert twice(b"a") == 1097 + 97 + 128 + 3000
  assert pick([u16(1), 2, 3], 9) == 3
  assert pick([u8(1), 2], 9) == 9
  assert scale::<3>(7) == 21 && scale::<2^10>(1) == 1024
  assert zero::<u8>() == 0 && zero::<u16>() == 0
}
"#,
    );
    let names: Vec<&str> = c.program.funcs.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names.iter().filter(|n| n.starts_with("main.total")).count(), 1, "{names:?}");
    assert!(names.contains(&"main.pick$u16$3") && names.contains(&"main.pick$u8$2") && names.contains(&"main.scale$3"));
}

#[test]
fn constants_of_every_kind() {
    holds(
        r#"
const N = 4
const P = 2^(8*N) - 5
const K: [u32; N] = [for i in 0..<N: u32(i * i)]
const T = [[1, 2], [3, 4]]
const S: Pt = Pt { x: 7, y: K[3] }
struct Pt { x: u8, y: u32 }
const FLAG = P > 2^31 && !(N == 5)
const TEXT = b"abc"
const W: u8 = 250 + 5
const PER: [int in 0..2^i; i < 3] = [0, 2, 4]
fn limbs(m: [int in 0..2^32; 4]) -> [int; 4] { [for i in 0..<4: m[i] + ((P >> (8*i)) & 0xff) + 2^i] }
test "t" {
  assert K == [0, 1, 4, 9] && T[1][0] == 3 && S.y == 9 && FLAG
  assert TEXT[1] == 98 && W + 1 == 0
  assert PER[2] == 4
  var r: int in 0..1000 = 0
  for i in 0..<2 { for j in 0..<2 { r = r * 5 + T[i][j] } }
  assert r == ((1 * 5 + 2) * 5 + 3) * 5 + 4
  assert limbs([0, 0, 0, 0]) == [0xfb + 1, 0xff + 2, 0xff + 4, 0xff + 8]
}
"#,
    );
}

/// A table computed from a table takes time linear in its length: copying it per element would not end.
#[test]
fn large_tables_follow_from_tables() {
    holds(
        "const K = [for i in 0..<2^16: i * i]\nconst M: [u32; 2^16] = [for i in 0..<2^16: u32(K[i])]\n\
         fn f(i: public int in 0..9) -> int { K[i] + int(M[i]) }\ntest \"t\" { assert f(3) == 18 }\n",
    );
}

#[test]
fn publicness_is_the_greatest_solution() {
    let c = accept(
        &[(
            "main.stk",
            r#"
fn f(t: [u8; 4], n: public int in 0..3, s: u8) -> (u8, int) {
  var i: int in 0..100 = n
  var x = s
  for k in 0..<3 { i = (i + 1) & 3; x ^= t[i] }
  (x, i)
}
fn g(t: [u8; 4], s: u8) -> u8 { let (a, i) = f(t, 2, s); a ^ t[i & 3] }
"#,
        )],
        &[],
    );
    let f = c.program.func(c.program.find("main.f").expect("f"));
    assert_eq!(f.rets.iter().map(|r| f.local(*r).public).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn contracts_are_checked_when_run() {
    let source = |ensures: &str| {
        format!(
            r#"
const P = 97
spec fn value(x: [int; 2]) -> int = sum(i in 0..<2) x[i] * 10^i
spec fn fact(n: int) -> int = if n <= 1 {{ 1 }} else {{ let m = n - 1; n * fact(m) }}
fn add(a: [int in 0..50; 2], b: [int in 0..50; 2]) -> [int; 2]
  requires forall(i in 0..<2) a[i] >= 0
  ensures {ensures}
  ensures fact(5) == 120 && len(result) == 2 ==> true
{{ [for i in 0..<2: a[i] + b[i]] }}
test "t" {{ assert add([1, 2], [3, 4]) == [4, 6] }}
"#
        )
    };
    holds(&source("value(result) ≡ value(a) + value(b) mod P"));
    let wrong = accept(&[("main.stk", &source("value(result) ≡ value(a) - value(b) mod P"))], &[]);
    let mut run = santoku_ir::interp::Interp::with_options(&wrong.program, santoku_ir::interp::Options::checked());
    assert!(run.run_test(&wrong.program.tests[0]).is_err());
}

#[test]
fn a_table_is_scanned_or_where_public_read() {
    let c = holds(
        r#"
table s: u4 -> u4 = [6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2]
table odd: u3 -> u1 = [0, 1, 0, 1, 0, 1, 0, 1]
const S3 = s(3)
fn word(x: u4) -> u4 { s(x) }
fn columns(x: [u16; 4]) -> [u16; 4] { s(x) }
fn bit(x: u3) -> u1 { odd(x) }
fn open(x: public u4) -> public u4 { s(x) }
fn rounds() -> public u4 {
  var r: u4 = 0
  for i in 0..<3 { r = r ^ s(u4(i)) }
  r
}
test "t" {
  assert s(0) == 6 && S3 == 10 && word(15) == 2 && word(8) == 11 && open(15) == 2 && rounds() == 6 ^ 5 ^ 12
  assert bit(5) == 1 && bit(4) == 0
  // Column i holds the number i: the results are the table.
  let r = columns([0xaaaa, 0xcccc, 0xf0f0, 0xff00])
  for i in 0..<16 {
    let v = ((r[0] >> i) & 1) + 2 * ((r[1] >> i) & 1) + 4 * ((r[2] >> i) & 1) + 8 * ((r[3] >> i) & 1)
    assert v == EXPECTED[i]
  }
}
const EXPECTED: [u16; 16] = [6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2]
"#,
    );
    // Where the word is secret no index depends on it: every index of the function is a counter.
    let entry = |name: &str| c.program.func(c.program.find(name).unwrap_or_else(|| panic!("{name}")));
    let indices = |name: &str| {
        let (f, mut all) = (entry(name), vec![]);
        santoku_ir::visit::walk_places(&f.body, &mut |p, _| {
            santoku_ir::visit::place_exprs(p, &mut |e| all.extend(santoku_ir::visit::expr_locals(e).into_iter().map(|id| f.local(id).kind)));
        });
        all
    };
    use santoku_ir::LocalKind::{Counter, Param};
    for name in ["main.s", "main.s$u16", "main.odd"] {
        assert!(indices(name).iter().all(|k| *k == Counter) && !indices(name).is_empty(), "{name}");
        assert!(santoku_ir::table::of(&c.program, entry(name)).is_some(), "{name}");
    }
    assert_eq!(indices("main.s$public"), [Param]);
    // Both calls with public words read it, and no other.
    let calls = |caller: &str, callee: &str| {
        let (mut n, id) = (0, c.program.find(callee));
        santoku_ir::visit::walk_stmts(&entry(caller).body, &mut |s| n += usize::from(matches!(s, santoku_ir::Stmt::Call { func, .. } if Some(*func) == id)));
        n
    };
    for (caller, callee) in [("main.open", "main.s$public"), ("main.rounds", "main.s$public"), ("main.word", "main.s"), ("main.columns", "main.s$u16")] {
        assert_eq!(calls(caller, callee), 1, "{caller}");
    }
}

#[test]
fn a_permutation_moves_bits_and_words() {
    let c = holds(
        r#"
const perm = 3
perm up: u4 -> u4 = [perm, 0, 1, 2]
perm some: u3 -> u5 = [for j in 0..<5: (j * j + 1) % 3]
const UP9 = up(0b1001)
fn word(x: u4) -> u4 { up(x) }
fn open(x: public u4) -> public u4 { up(x) }
fn spread(x: u3) -> u5 { some(x) }
fn words(x: [u16; 3]) -> [u16; 5] { some(x) }
test "t" {
  assert UP9 == 0b0011 && word(0b1001) == 0b0011 && word(0b0110) == 0b1100 && up(1) == 2
  let n = open(3)
  for i in 0..<int(open(3)) { assert n == 6 }
  // Bits 1, 2, 2, 1, 2 of the input.
  assert spread(0b010) == 0b01001 && spread(0b100) == 0b10110 && spread(1) == 0
  assert words([7, 8, 9]) == [8, 9, 9, 8, 9]
}
"#,
    );
    let f = c.program.func(c.program.find("main.up").expect("up"));
    assert_eq!(santoku_ir::perm::of(&c.program, f).expect("a permutation").from, [3, 0, 1, 2]);
}

const INTERFACE: &str = r#"
const P = 101
spec fn twice(x: int) -> int = 2 * x
interface fe {
  default a
  type Fe
  spec fn value(x: Fe) -> int
  fn double(x: Fe) -> Fe
    ensures value(result) ≡ twice(value(x)) mod P
  fn from(x: int in 0..50) -> Fe
    ensures value(result) == x
}
test "of every implementation" { assert double(from(7)) == from(14) }
"#;
const IMPL_A: &str = r#"
implements field.fe as a
type Fe = int in 0..1000
const SIZE = 1
spec fn value(x: Fe) -> int = x
fn double(y: Fe) -> Fe { if 2 * y >= P { 2 * y - P } else { 2 * y } }
fn from(x: int in 0..50) -> Fe { x }
"#;
const IMPL_B: &str = r#"
implements field.fe as b
struct Fe { lo: int in 0..9, hi: int in 0..100 }
const SIZE = 2
spec fn value(x: Fe) -> int = x.lo + 10 * x.hi
fn double(x: Fe) -> Fe { let v = 2 * x.lo; Fe { lo: v % 10, hi: (2 * x.hi + v / 10) & 63 } }
fn from(x: int in 0..50) -> Fe { Fe { lo: x % 10, hi: x / 10 } }
"#;

#[test]
fn an_interface_has_several_implementations() {
    let b = IMPL_B.replace("v % 10", "if v >= 10 { v - 10 } else { v }").replace("v / 10", "if v >= 10 { 1 } else { 0 }");
    let b = b.replace(
        "{ Fe { lo: x % 10, hi: x / 10 } }",
        "{ var h: int in 0..100 = 0; var l: int in 0..50 = x; for i in 0..<5 { if l >= 10 { l -= 10; h += 1 } }; Fe { lo: l, hi: h } }",
    );
    let main = r#"
use field.fe as F
fn quad(x: F::Fe) -> F::Fe { F::double(F::double(x)) }
fn p() -> int { F::P + F::SIZE }
test "t" { assert quad(F::from(3)) == F::from(12); assert p() == SIZE }
"#;
    let files = |size: &str| -> Vec<(&'static str, String)> {
        vec![
            ("lib/main.stk", main.replace("== SIZE", size)),
            ("lib/field/fe.stk", INTERFACE.to_string()),
            ("lib/field/fe_a.stk", IMPL_A.to_string()),
            ("lib/field/fe_b.stk", b.clone()),
        ]
    };
    for (variant, size) in [(None, "== 102"), (Some(("field.fe", "b")), "== 103"), (Some(("fe", "b")), "== 103")] {
        let files = files(size);
        let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (*p, t.as_str())).collect();
        let c = holds_in(&files, &variant.into_iter().collect::<Vec<_>>());
        let double = c.program.funcs.iter().find(|f| f.name.ends_with(".double")).expect("double");
        assert_eq!(double.contracts.len(), 1, "the contract is inherited");
    }
    // The interface as entry: its tests run on the chosen implementation.
    let files: Vec<(&str, &str)> = vec![("lib/field/fe.stk", INTERFACE), ("lib/field/fe_a.stk", IMPL_A)];
    let c = holds_in(&files, &[]);
    assert_eq!(c.program.tests.len(), 1);
}

#[test]
fn imports_look_beside_the_file_and_below_the_root() {
    holds_in(
        &[
            ("lib/a/main.stk", "use b.util\nuse near as N\ntest \"t\" { assert util::one() + N::two() == 3 }"),
            ("lib/b/util.stk", "use c\nfn one() -> u8 { c::K }"),
            ("lib/b/c.stk", "const K: u8 = 1\ntest \"not mine\" { assert false }"),
            ("lib/a/near.stk", "fn two() -> u8 { 2 }"),
        ],
        &[],
    );
}

#[test]
fn exports_and_attributes_arrive() {
    let c = accept(
        &[(
            "main.stk",
            "/// Adds one.\n@inline @export(\"add_one\")\nfn f(x: u8) -> u8 { var r = x; @unroll for i in 0..<1 { r += 1 }\n r }\n",
        )],
        &[],
    );
    let exported: Vec<&santoku_ir::Func> = c.program.funcs.iter().filter(|f| f.export.is_some()).collect();
    let [f] = exported[..] else { panic!("one is exported: {exported:?}") };
    assert_eq!(f.export.as_deref(), Some("add_one"));
    assert_eq!((f.inline, f.doc.trim()), (santoku_ir::Inline::Always, "Adds one."));
    assert!(format!("{:?}", f.body).contains("unroll: Always"));
}

#[test]
fn the_same_text_gives_the_same_program() {
    let source = "const K: [u8; 20] = [for i in 0..<20: u8(i)]\nfn f(x: u8) -> u8 { x ^ K[3] }\nfn g<T: type>(x: T) -> T { x }\nfn h(x: u8) -> u8 { g(f(x)) }";
    let (a, b) = (accept(&[("main.stk", source)], &[]), accept(&[("main.stk", source)], &[]));
    assert_eq!(a.program, b.program);
}

/// In a contract a value of a declared type is the integer it stands for: in arithmetic, comparisons, congruences, arguments,
/// through structs, arrays, tuples and constants. Indices and equality of two such values keep the value itself.
#[test]
fn types_say_what_their_values_stand_for() {
    let c = holds(
        "const P = 101\n\
         type Fe = [int in 0..9; 2] means value(self) mod P\n\
         struct Point { x: Fe, y: Fe }\n\
         const TWO: Fe = [2, 0]\n\
         const ROWS: [Fe; 2] = [[1, 0], [3, 1]]\n\
         spec fn value(x: Fe) -> int = x[0] + 10 * x[1]\n\
         spec fn square(x: int) -> int = x * x\n\
         spec fn total(p: Point) -> int = p.x + p.y\n\
         fn same(x: Fe) -> Fe\n\
           ensures result == x\n\
           ensures result ≡ x + 101\n\
           ensures result < 100 && x == value(x) && result >= 0\n\
           ensures result[0] == x[0]\n\
           ensures square(result) ≡ x * x mod 7\n\
         { x }\n\
         fn two(x: Fe, p: Point) -> (Fe, public int)\n\
           ensures result.0 ≡ TWO && result.1 == 5 && result.0 == 2\n\
           ensures total(p) ≡ p.x + p.y && result.0 + ROWS[1] ≡ 15\n\
           ensures (if x == 3 { x } else { p.x }) * 1 ≡ (if x == 3 { 3 } else { p.x * 1 })\n\
         { (TWO, 5) }\n\
         fn rows(p: [Fe; 2]) -> [Fe; 2] ensures forall(i in 0..<2) result[i] ≡ p[i] { p }\n\
         test \"t\" {\n\
           assert same([3, 4])[1] == 4\n\
           let (a, b) = two([3, 0], Point { x: [1, 2], y: [9, 9] })\n\
           assert a == [2, 0] && b == 5\n\
           assert rows(ROWS)[1] == ROWS[1]\n\
         }",
    );
    let same = c.program.funcs.iter().find(|f| f.name.ends_with("same")).expect("same");
    let text = format!("{:?}", same.contracts[1].cond);
    assert!(text.contains("Congruent") && text.contains("101"), "{text}");
}
