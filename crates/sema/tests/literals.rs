//! Values written out: what gives them their type, and where constants may come from.

mod common;
use common::{holds, refusal};

#[test]
fn an_array_written_out_takes_the_element_type_of_its_parameter() {
    holds(
        r#"
fn total<n: len>(x: [u8; n]) -> u8 {
  var s: u8 = 0
  for i in 0..<n { s += x[i] }
  s
}
fn zeroes<n: len>(x: [u8; n]) -> u8 { total([0; n]) + total([for i in 0..<n: x[i]]) }
fn wide<k: const, T: type>(x: [T; k]) -> T { x[k - 1] }
test "t" {
  assert total([1, 2, 250, 4]) == 1
  assert total([7; 4]) == 28
  assert total([for i in 0..<5: 2 * i]) == 20
  assert total([]) == 0
  assert zeroes([1, 2, 3]) == 6
  assert wide([u16(1), 2]) == 2
}
"#,
    );
}

#[test]
fn a_table_is_any_constant_array() {
    holds(
        r#"
const fn square(i: int) -> int = i * i % 17 % 16
const ROWS: [u4; 16] = [for i in 0..<16: 15 - i]
table squares: u4 -> u4 = [for i in 0..<16: square(i)]
table down: u4 -> u4 = ROWS
test "t" {
  assert squares(7) == 15
  assert squares(3) == 9
  assert down(3) == 12
}
"#,
    );
}

#[test]
fn what_does_not_fit_is_refused_where_it_stands() {
    for (text, message) in [
        ("fn f<n: len>(x: [u8; n]) -> u8 { 1 }\nfn g(x: u8) -> u8 { f([1, 256]) }", "out-of-range 2:27 256 does not fit u8"),
        ("fn f<n: len>(x: [u8; n]) -> u8 { 1 }\nfn g(x: u16) -> u8 { f([x, 1]) }", "type-mismatch 2:25 expected u8, found u16"),
        ("table t: u2 -> u2 = [0, 1, 2]\nfn f(x: u2) -> u2 { t(x) }", "bad-table 1:7 this table is not a total map on small words"),
        ("table t: u2 -> u2 = [0, 1, 2, 4]\nfn f(x: u2) -> u2 { t(x) }", "out-of-range 1:31 4 does not fit u2"),
        ("table t: u2 -> u2 = [for i in 0..<4: i + 1]\nfn f(x: u2) -> u2 { t(x) }", "out-of-range 1:21 4 does not fit u2"),
        ("table t: u2 -> u2 = 7\nfn f(x: u2) -> u2 { t(x) }", "bad-table 1:21 this table is not a total map on small words"),
    ] {
        assert_eq!(refusal(&[("main.stk", text)], &[]), [message], "{text}");
    }
}
