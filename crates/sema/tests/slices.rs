//! Slices of run-time length: where they may stand, what they are, what is refused.

mod common;
use common::{accept, holds, refusal};

/// Functions that the programs below call.
const ADD: &str = "
fn add<m: len>(x: [u8; m]) -> u8 {
  var s: u8 = 0
  for i in 0..<m { s += x[i] }
  s
}
fn first<m: len>(x: [u8; m]) -> u8
  requires m > 0
{ x[0] }
";

#[test]
fn a_slice_is_an_argument_a_name_a_value_and_a_place() {
    holds(&format!(
        r#"{ADD}
struct S {{ buf: [u8; 8], n: u8 }}
const T: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8]
fn field(s: S, k: public int in 0..8) -> u8 {{ add(s.buf[0; k]) }}
fn row(t: [[u8; 4]; 2], r: public int in 0..1, k: public int in 0..4) -> u8 {{
  let own = t[r][4 - k; k]
  add(own) + add(own[0; k])
}}
fn constant(k: public int in 0..8) -> u8 {{ add(T[k; 8 - k]) }}
fn reversed(a: [u8; 8]) -> [u8; 8] {{ [for i in 0..<8: a[7 - i]] }}
fn of_call(a: [u8; 8], k: public int in 0..8) -> u8 {{ add(reversed(a)[0; k]) }}
fn inner<n: len>(x: [u8; n + 4]) -> (u8, u8) {{
  let body = x[2; n]
  var l: u8 = 0
  for i in 0..<len(body) {{ l += 1 }}
  (add(body) + add(x[n + 2; 2]), l)
}}
fn words<n: len>(x: [u8; n + 4]) -> u32 {{
  let v = x[1; n + 3]
  if n > 0 {{ le32(v, 0) ^ le32(v, n - 1) }} else {{ 0 }}
}}
fn parts<n: len>(x: [u8; n + 4]) -> [u8; 2] {{
  let v = x[1; n + 3]
  v[1; 2]
}}
fn stored<n: len>(x: [u8; n]) -> [u8; n + 3] {{
  var r: [u8; n + 3] = [9; n + 3]
  r[1; n] = x
  r[0; n] = x[0; n]
  r
}}
fn moved<n: len>(x: [u8; n + 2]) -> [u8; n + 2] {{
  var r = x
  r[2; n] = r[0; n]
  r
}}
fn tail<n: len>(x: [u8; n + 2]) -> [u8; n] {{ x[2; n] }}
fn changing(x: [u8; 8], k: public int in 0..3) -> u8 {{
  var v = x
  var at: public int = k
  let s = add(v[at; 5])
  at = at + 1
  v[at; 4] = [0; 4]
  s + add(v[at; 8 - at])
}}
fn equal(x: [u8; 8], k: public int in 0..4) -> [u8; 8] {{
  var r = x
  r[0; 2 * k] = x[8 - 2 * k; 2 * k]
  r
}}
fn by_itself(x: public [u8; 8], k: public int in 0..4) -> [u8; 8] {{
  var r: public [u8; 8] = x
  r[int(r[0]); k] = x[4 + int(r[0]); k]
  r
}}
test "t" {{
  assert by_itself(hex"0001020304050607", 3) == hex"0405060304050607"
  let a: [u8; 8] = [for i in 0..<8: u8(i)]
  assert field(S {{ buf: a, n: 1 }}, 3) == 3
  assert row([[1, 2, 3, 4], [5, 6, 7, 8]], 1, 3) == 42
  assert constant(6) == 15
  assert of_call(a, 2) == 13
  let (s, l) = inner(a)
  assert s == 2 + 3 + 4 + 5 + 6 + 7
  assert l == 4
  assert words(hex"00010203040506") == 0x04030201 ^ 0x06050403
  assert parts(a) == hex"0203"
  assert stored(hex"0102") == hex"0102020909"
  assert moved(hex"01020304") == hex"01020102"
  assert tail(hex"01020304") == hex"0304"
  assert changing(a, 2) == 2 + 3 + 4 + 5 + 6 + 7
  assert equal(a, 2) == hex"0405060704050607"
}}
"#
    ));
}

/// What is proved of slices is in `driver`, with programs at random; here is that contracts are kept when they run.
#[test]
fn contracts_speak_of_slices() {
    holds(
        r#"
spec fn total(m: [int; 1], i: int) -> int = if i == 0 { 0 } else { total(m, i - 1) + m[i - 1] }
spec fn behind(m: [int; 1], k: int) -> int = total(m[k; len(m) - k], len(m) - k)
fn add<m: len>(x: [u8; m]) -> u32
  ensures result == total(x, len(x)) % 2^32
  ensures result == total(x[0; m], m) % 2^32
{
  var s: u32 = 0
  for i in 0..<m
    invariant s ≡ total(x, i) mod 2^32
  { s += u32(x[i]) }
  s
}
fn two<n: len>(x: [u8; n + 2]) -> u32
  ensures result == behind(x, 2) % 2^32
  ensures n > 0 ==> x[2; n][0] <= 255
{ add(x[2; n]) }
fn same<n: len>(x: [u8; n + 2]) -> [u8; n]
  ensures result == x[1; n]
  ensures x[1; n] == result
  ensures len(x[1; n]) == n
{ x[1; n] }
test "t" {
  assert two(hex"ff01020304") == 9
  assert two(hex"ff01") == 0
  assert same(hex"01020304") == hex"0203"
  assert total(hex"0102", 2) == 3
}
"#,
    );
}

#[test]
fn a_function_is_lowered_once_for_each_kind_of_array() {
    let c = accept(
        &[("main.stk", &format!("{ADD}fn a<n: len>(x: [u8; n]) -> u8 {{ add(x[0; n]) + add(x[0; n]) }}\nfn b<n: len>(y: [u8; n]) -> u8 {{ add(y[0; n]) + add(y) }}\nfn c(z: [u8; 9], k: public int in 0..9) -> u8 {{ add(z[0; k]) }}\n@export(\"d\")\nfn d<n: len>(x: [u8; n]) -> u8 {{ add(x) }}\nfn e<n: len>(x: [u8; n]) -> u8 {{ d(x[0; n]) }}"))],
        &[],
    );
    let of = |name: &str| c.program.funcs.iter().filter(|f| f.name.starts_with(name)).collect::<Vec<_>>();
    assert_eq!(of("main.add").len(), 3, "whole, of a length, of a constant");
    // What is exported is the function of whole arrays.
    assert_eq!(of("main.d").iter().filter(|f| f.export.is_some()).count(), 1);
    assert_eq!(of("main.d").len(), 2);
}

#[test]
fn refusals_name_a_place() {
    let mut wrong = vec![];
    for (text, message) in [
        ("fn f(x: [u8; 8], k: int in 0..8) -> u8 { add(x[0; k]) }", "secret-index 10:51 index depends on a secret"),
        ("fn f(x: [u8; 8], k: int in 0..8) -> u8 { add(x[k; 3]) }", "secret-index 10:48 index depends on a secret"),
        ("fn f(x: [u8; 8], k: public u8) -> u8 { add(x[0; k]) }", "type-mismatch 10:49 expected int, found u8"),
        ("fn f(x: u8, k: public int in 0..8) -> u8 { add(x[0; k]) }", "type-mismatch 10:50 u8 cannot be indexed"),
        ("fn f(x: [u16; 8], k: public int in 0..8) -> u8 { add(x[0; k]) }", "type-mismatch 10:54 expected [u8; n], found [u16; n]"),
        ("fn f(x: [u8; 8], k: public int in 0..8) -> u8 { let y: [u8; 8] = x[0; k]\n y[0] }", "type-mismatch 10:66 the lengths of two arrays are not seen to be equal"),
        ("fn f(x: [u8; 8], k: public int in 0..8) -> u8 { var y = x[0; k]\n 1 }", "bad-length 10:57 an array of this length has no place"),
        ("fn f(x: [u8; 8], k: public int in 0..8) -> u8 { var y = x\n let z = y[0; k]\n 1 }", "bad-length 11:10 an array of this length has no place"),
        ("fn g<n: len>(x: [u8; n]) -> [u8; n] { x }\nfn f(x: [u8; 8], k: public int in 0..8) -> u8 { let y = g(x[0; k])\n 1 }", "bad-length 11:53 an array of this length has no place"),
        ("fn f(x: [u8; 8], k: public int in 0..8) -> u8 { x[0; k] = x[1; k]\n 1 }", "assign-to-immutable 10:49 `x` cannot be assigned to"),
        ("fn f<n: len>(x: [u8; n]) -> u8 { let y = x[0; n]\n y[0; n] = x\n 1 }", "assign-to-immutable 11:2 `y` cannot be assigned to"),
        ("fn f(x: [u8; 8], k: public int in 0..8) -> u8 { var y = x\n y[0; k] ^= x[1; k]\n 1 }", "not-a-place 11:2 a slice of run-time length is assigned as a whole"),
        ("fn f<n: len>(x: [u8; n + 2]) -> u8 { var y = x\n y[0; n] = x[0; n + 1]\n 1 }", "type-mismatch 11:12 expected [u8; n], found [u8; n + 1]"),
        ("fn f(x: [u8; 8], k: public int in 0..4) -> u8 { var y = x\n y[0; k] = x[0; k + k]\n 1 }", "type-mismatch 11:12 the lengths of two arrays are not seen to be equal"),
        ("fn g<m: len>(x: [u8; m], y: [u8; m]) -> u8 { 1 }\nfn f<n: len>(x: [u8; n + 2]) -> u8 { g(x[0; n], x[0; n + 1]) }", "type-mismatch 11:49 expected [u8; n], found [u8; n + 1]"),
        ("fn f<n: len>(x: [u8; n]) -> u8\n  ensures result == x[0; n] + 1\n{ 1 }", "bad-specification 11:21 this form cannot stand in a specification"),
    ] {
        let found = refusal(&[("main.stk", &format!("{ADD}{text}"))], &[]);
        if found != [message] {
            wrong.push(format!("{text}\n  {found:?}\n  {message}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
