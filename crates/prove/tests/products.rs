//! The widest product of a secret: what decides which processors a generated file refuses.

use santoku_prove::products::widest_secret_product;

fn widest(text: &str) -> Option<u32> {
    let mut load = |path: &str| (path == "t.stk").then(|| text.to_string());
    match santoku_sema::compile("t.stk", &[], &mut load, &santoku_sema::Options::default()) {
        Ok(c) => widest_secret_product(&c.program),
        Err(f) => panic!("{:?}", f.diagnostics),
    }
}

#[test]
fn words_count_with_their_width() {
    assert_eq!(widest("fn f(a: u32, b: u32) -> u32 { a * b }"), Some(32));
    assert_eq!(widest("fn f(a: u64, b: public u64) -> u64 { a * b }"), Some(64));
    assert_eq!(widest("fn g(a: u64) -> u64 { a * 3 }\nfn f(a: u16) -> u16 { a * a }"), Some(64));
}

#[test]
fn an_integer_without_a_range_counts_as_the_widest() {
    assert_eq!(widest("fn f(a: int in 0..9, b: int in 0..9) -> int in 0..81 { a * b }"), Some(128));
}

#[test]
fn public_values_and_shifts_are_no_products_of_secrets() {
    assert_eq!(widest("fn f(a: public u64, b: public u64) -> u64 { a * b }"), None);
    assert_eq!(widest("fn f(a: u64) -> u64 { a * 8 }"), None);
    assert_eq!(widest("fn f(a: u64) -> u64 { a + a }"), None);
}

#[test]
fn what_a_secret_flowed_into_is_secret() {
    assert_eq!(widest("fn f(a: u32, b: public u32) -> u32 { var t: u32 = b\nt ^= a\nt * b }"), Some(32));
}

#[test]
fn what_only_public_values_go_into_needs_nothing_of_the_processor() {
    let text = |public: &str| format!("fn g(a: u64, b: u64) -> u64 {{ a * b }}\n@export(\"h\")\nfn h(a: {public}u64, b: public u64) -> u64 {{ g(a, b) }}");
    assert_eq!(widest(&text("public ")), None);
    assert_eq!(widest(&text("")), Some(64));
}
