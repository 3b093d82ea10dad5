//! Targets that are compiled in.

use santoku_driver::built_in;

/// A choice keeps what it chooses wherever it is named; a machine chooses nothing outside of its library.
#[test]
fn choices_choose_and_machines_do_not() {
    let impls = |name: &str| built_in(name).expect("its file is right").expect("it is compiled in").impls;
    assert_eq!(impls("ckb-ecdsa").get("field.fep256").map(String::as_str), Some("sparse64"));
    assert!(impls("ckb").is_empty());
}
