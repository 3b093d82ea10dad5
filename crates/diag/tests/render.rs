//! The whole text of rendered messages.

use expect_test::{expect, Expect};
use santoku_diag::render::{render, render_all, Colour};
use santoku_diag::{Diagnostic, FileId, Sources, Span};

const CARRY: &str = "// carry\nfn carry(x: Fe) -> Fe {\n  var r = x\n  for i in 0..15 {\n    r[i+1] += r[i] >> 16\n  }\n  r\n}\n";

fn sources() -> Sources {
    let mut s = Sources::default();
    s.add("lib/field/fe25519.stk", CARRY);
    s.add("lib/other.stk", "type Limb = int in 0..2^16-1\n");
    s
}

fn span(file: u32, text: &str, part: &str) -> Span {
    let start = text.find(part).unwrap() as u32;
    Span { file: FileId(file), start, end: start + part.len() as u32 }
}

fn check(d: Diagnostic, want: Expect) {
    want.assert_eq(&render(&d, &sources(), Colour::Plain));
}

#[test]
fn a_message_names_fault_place_reason_and_way_out() {
    check(
        Diagnostic::error("range", "limb may leave its type")
            .at(span(0, CARRY, "r[i] >> 16"), "0 .. 2^21, so the sum can reach 2^47")
            .note("declared: int in 0..2^16-1 (fe25519.stk:12)")
            .note("witness: r[3] = 0x7fffffffffff")
            .note("a note without a name")
            .help("another carry pass before line 44, or widen `Limb`"),
        expect![[r#"
            error[range]: limb may leave its type
             --> lib/field/fe25519.stk:5:15
              |
            5 |     r[i+1] += r[i] >> 16
              |               ^^^^^^^^^^ 0 .. 2^21, so the sum can reach 2^47
              |
              = declared: int in 0..2^16-1 (fe25519.stk:12)
              = witness: r[3] = 0x7fffffffffff
              = note: a note without a name
              = try: another carry pass before line 44, or widen `Limb`
        "#]],
    );
}

#[test]
fn places_in_two_files() {
    check(
        Diagnostic::warning("range", "limb may leave its type")
            .at(span(0, CARRY, "r[i+1]"), "this limb")
            .also(span(0, CARRY, "x: Fe"), "comes from here")
            .also(Span { file: FileId(1), start: 0, end: 4 }, "declared here"),
        expect![[r#"
            warning[range]: limb may leave its type
             --> lib/field/fe25519.stk:5:5
              |
            2 | fn carry(x: Fe) -> Fe {
              |          ----- comes from here
            ...
            5 |     r[i+1] += r[i] >> 16
              |     ^^^^^^ this limb
              |
             ::: lib/other.stk:1:1
              |
            1 | type Limb = int in 0..2^16-1
              | ---- declared here
        "#]],
    );
}

#[test]
fn a_message_without_a_place() {
    check(Diagnostic::error("missing-file", "no file `x.stk`").help("check the path"), expect![[r#"
        error[missing-file]: no file `x.stk`
         |
         = try: check the path
    "#]]);
}

#[test]
fn a_place_at_the_end_of_the_file() {
    let end = CARRY.len() as u32;
    check(Diagnostic::error("syntax", "unexpected end").at(Span { file: FileId(0), start: end, end }, "here"), expect![[r#"
        error[syntax]: unexpected end
         --> lib/field/fe25519.stk:9:1
          |
        9 |
          | ^ here
    "#]]);
}

#[test]
fn spans_outside_the_text_still_render() {
    check(Diagnostic::error("syntax", "far").at(Span { file: FileId(0), start: 9_999, end: 3 }, "here"), expect![[r#"
        error[syntax]: far
         --> lib/field/fe25519.stk:9:1
          |
        9 |
          | ^ here
    "#]]);
    check(Diagnostic::error("syntax", "nowhere").at(Span { file: FileId(77), start: 1, end: 3 }, "here"), expect![[r#"
        error[syntax]: nowhere
    "#]]);
}

#[test]
fn a_line_of_megabytes_shows_its_place_only() {
    let mut s = Sources::default();
    let f = s.add("long.stk", "(".repeat(3 << 20));
    let d = Diagnostic::error("nesting-too-deep", "too deep").at(Span { file: f, start: 100, end: 101 }, "here");
    expect![[r#"
        error[nesting-too-deep]: too deep
        --> long.stk:1:101
    "#]].assert_eq(&render(&d, &s, Colour::Plain));
}

#[test]
fn characters_of_several_bytes_keep_the_marks_in_place() {
    let mut s = Sources::default();
    let text = "  ensures a ≡ b mod ≡\n";
    let f = s.add("u.stk", text);
    let start = text.rfind('≡').unwrap() as u32;
    // The end of the span cuts a character: it is rounded down.
    let d = Diagnostic::error("syntax", "expected an expression").at(Span { file: f, start, end: start + 4 }, "here");
    expect![[r#"
        error[syntax]: expected an expression
         --> u.stk:1:21
          |
        1 |   ensures a ≡ b mod ≡
          |                     ^ here
    "#]].assert_eq(&render(&d, &s, Colour::Plain));
}

#[test]
fn colour_adds_escapes_and_nothing_else() {
    let d = Diagnostic::error("range", "t").at(span(0, CARRY, "r[i] >> 16"), "l").help("h");
    let plain = render(&d, &sources(), Colour::Plain);
    let ansi = render(&d, &sources(), Colour::Ansi);
    assert!(ansi.contains("\u{1b}["));
    let mut stripped = String::new();
    let mut rest = ansi.as_str();
    while let Some(i) = rest.find('\u{1b}') {
        stripped += &rest[..i];
        rest = &rest[i + rest[i..].find('m').unwrap() + 1..];
    }
    assert_eq!(stripped + rest, plain);
}

#[test]
fn several_messages_are_counted() {
    let d = Diagnostic::error("missing-file", "no file `x.stk`");
    expect![[r#"
        error[missing-file]: no file `x.stk`

        warning[w]: only a warning

        error[missing-file]: no file `x.stk`

        2 errors
    "#]].assert_eq(&render_all(&[d.clone(), Diagnostic::warning("w", "only a warning"), d], &sources(), Colour::Plain));
}
