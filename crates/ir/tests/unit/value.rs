//! Of `interp`.

use santoku_ir::interp::*;

#[test]
fn bytes_round_trip_and_nothing_else_is_bytes() {
    let bytes = [0u8, 1, 255];
    assert_eq!(Value::from_bytes(&bytes).to_bytes().as_deref(), Some(&bytes[..]));
    assert_eq!(Value::words(&[256u32]).to_bytes(), None);
    assert_eq!(Value::ints([1, 2]).to_bytes(), None);
    assert_eq!(Value::structure(vec![Value::word(1u8)]).to_bytes(), None);
}

#[test]
fn display_is_short_and_readable() {
    let v = Value::structure(vec![Value::words(&[1u8, 255]), Value::int(-3), Value::Bool(true)]);
    assert_eq!(v.to_string(), "{[0x1, 0xff], -3, true}");
    assert!(Value::words(&[0u8; 100]).to_string().ends_with("0x0, ... 36 more]"));
}
