//! Whatever the text, the parser answers; and what it accepts, the formatter keeps.

use proptest::prelude::*;
use santoku_diag::FileId;
use santoku_syntax::{format, parse};

#[path = "support/shape.rs"]
mod support;
use support::{checked, shape};

/// Pieces a program is made of, good and bad ones.
const PIECES: &[&str] = &[
    "fn", "f", "(", ")", "{", "}", "[", "]", "<", ">", "x", ":", "u8", "->", "\n", "\n", ";", ",", "let", "var", "=", "+", "-", "*", "^",
    "2^", "2^255 - 19", "for i in 0..<4", "if", "else", "..", "..<", "int in 0..3", "::", "::<", ".", "0", "1", "0xff", "hex\"00\"", "b\"a\"", "\"t\"",
    "test", "spec fn", "interface", "implements a.b as c", "use a.b as c", "const", "type", "struct S { a: u8 }", "table", "requires", "ensures",
    "invariant", "assert", "sum(i in 0..3)", "forall(", "≡", "===", "mod", "==>", "&&", "||", "<<", ">>>", "<<=", "+=", "!", "~", "@inline", "@",
    "// c\n", "/// d\n", "/*", "*/", "true", "public", "len", "é", "\t", "\r\n", "\\", "\"", "'", "#", "rev", "x.0", "S { a: 1 }", "default",
];

fn soup() -> impl Strategy<Value = String> {
    let piece = (proptest::sample::select(PIECES), any::<bool>()).prop_map(|(p, space)| format!("{p}{}", if space { " " } else { "" }));
    proptest::collection::vec(piece, 0..60).prop_map(|v| v.concat())
}

/// A well-formed expression, with freedom of layout.
fn expr() -> impl Strategy<Value = String> {
    let name = proptest::sample::select(&["x", "y", "M::k", "a_long_name_of_a_value", "r.f", "t.0"][..]).prop_map(String::from);
    let literal = proptest::sample::select(&["0", "0xff_ff", "2^255", "2^(16*i)", "true", "hex\"00 ff\"", "b\"a/b\""][..]).prop_map(String::from);
    let leaf = prop_oneof![name, literal];
    leaf.prop_recursive(6, 64, 4, |inner| {
        let op = proptest::sample::select(&["+", "-", "*", "/", "%", "<<", ">>>", "&", "^", "|", "&&", "||", "==>"][..]);
        let gap = proptest::sample::select(&[" ", "  ", "\n", " // note\n", "\n// own line\n\n"][..]);
        let tight = proptest::sample::select(&["+", "-", "*"][..]);
        prop_oneof![
            (inner.clone(), op, gap.clone(), inner.clone()).prop_map(|(a, op, gap, b)| format!("{a} {op}{gap}{b}")),
            (inner.clone(), tight, inner.clone()).prop_map(|(a, op, b)| format!("({a}){op}({b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(({a}) == ({b}))")),
            (inner.clone(), gap.clone()).prop_map(|(a, gap)| format!("({gap}{a}{gap})")),
            (inner.clone(), gap.clone(), inner.clone()).prop_map(|(a, gap, b)| format!("f::<3>({a},{gap}{b})")),
            (inner.clone(), gap.clone(), inner.clone()).prop_map(|(a, gap, b)| format!("[{a} {gap}, {b},{gap}]")),
            (inner.clone(), inner.clone()).prop_map(|(a, n)| format!("[{a} ; {n}]")),
            inner.clone().prop_map(|a| format!("[for i in 0 ..< 4: {a}]")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(c, a, b)| format!("(if {c} {{ {a} }} else {{\n{b} }})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("S {{ a : {a} , b: {b} }}")),
            inner.clone().prop_map(|a| format!("x[{a}]")),
            inner.clone().prop_map(|a| format!("u32({a})")),
            inner.prop_map(|a| format!("-({a})")),
        ]
    })
}

fn statement() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        expr().prop_map(|e| format!("let a = {e}")),
        expr().prop_map(|e| format!("x[1; 2] <<<= {e}")),
        (expr(), expr(), expr()).prop_map(|(c, a, b)| format!("let (p, q) = if {c} {{ {a} }} else if x {{\n{b} }} else {{ y }}")),
        expr().prop_map(|e| format!("assert {e} // why")),
        Just("var t: [int; 16]".to_string()),
        Just("// only a comment".to_string()),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let body = proptest::collection::vec((inner, proptest::sample::select(&["\n", "\n\n\n", " // end\n"][..])), 0..4);
        let body = body.prop_map(|v| v.into_iter().map(|(s, end)| if s.contains("//") { s + "\n" } else { s + end }).collect::<String>());
        prop_oneof![
            body.clone().prop_map(|b| format!("for i in rev 0..<n {{\n{b}}}")),
            (expr(), body.clone()).prop_map(|(e, b)| format!("@unroll for i in 0..3\n invariant {e}\n{{ {b}}}")),
            (expr(), body.clone(), body.clone()).prop_map(|(c, a, b)| format!("if {c} {{\n{a}}} else if y {{ {b}}} else {{ x = 1; y = 2 }}")),
        ]
    })
}

fn program() -> impl Strategy<Value = String> {
    let function = (proptest::collection::vec(statement(), 0..5), expr(), expr()).prop_map(|(body, clause, result)| {
        let body: String = body.into_iter().map(|s| s + "\n").collect();
        format!("/// doc\n@inline fn f<n: len>(x: [u8; n],y: public int in 0..7) -> (u8, u8)\nensures {clause}\n{{\n{body}({result})\n}}\n\n\n")
    });
    let item = prop_oneof![
        expr().prop_map(|e| format!("const K: [u8; 3] = {e}\n")),
        expr().prop_map(|e| format!("spec fn s(x: int) -> int = {e}\n// tail\n")),
        function,
    ];
    proptest::collection::vec(item, 1..4).prop_map(|v| v.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_answered(text in "\\PC{0,200}") {
        let _ = parse(FileId(0), &text);
        let _ = format(FileId(0), &text);
    }

    #[test]
    fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(FileId(0), &String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn token_soup_is_answered_and_what_is_accepted_formats(text in soup()) {
        let (_, errors) = parse(FileId(0), &text);
        for d in &errors {
            prop_assert!(d.primary.is_some(), "{d:?}");
        }
        if errors.is_empty() {
            checked(&text);
        } else {
            prop_assert!(format(FileId(0), &text).is_err());
        }
    }

    #[test]
    fn a_cut_program_is_answered(text in program(), at in any::<prop::sample::Index>()) {
        let mut at = at.index(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let _ = parse(FileId(0), &text[..at]);
        let _ = parse(FileId(0), &text[at..]);
    }

    #[test]
    fn generated_programs_parse_and_format(text in program()) {
        prop_assert!(!shape(&text).is_empty());
        checked(&text);
    }
}

#[test]
#[ignore = "minutes; `make soak` runs it"]
fn soak_programs_parse_and_format() {
    let cases = 30_000;
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let formatted = |text: String| {
        checked(&text);
        Ok(())
    };
    proptest::test_runner::TestRunner::new(config).run(&program(), formatted).unwrap();
    println!("tried {cases} generated programs: the formatter keeps them, and is a fixed point of itself");
}

#[test]
fn a_megabyte_of_anything_is_answered_in_linear_time() {
    let n = 1 << 20;
    let start = std::time::Instant::now();
    for piece in ["(", "{", "fn ", "x ", "\n", "[1, ", "1 + ", "\"", "hex\"0", "// c\n", "}", "é", "2^", "fn f() -> u8 { 1 }\n", "if x { y } else "] {
        let text = piece.repeat(n / piece.len());
        let _ = parse(FileId(0), &text);
        let _ = format(FileId(0), &text);
    }
    // Generous: a debug build on a busy machine; anything quadratic takes hours.
    assert!(start.elapsed().as_secs() < 120);
}
