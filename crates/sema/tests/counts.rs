//! Shift counts and indices: exact integers shifted by counters, and secrets where a public value is needed.

mod common;
use common::{accept, holds, refusal};

/// `body` gives four parts of `x` in one loop form each; all mean the same.
#[test]
fn exact_integers_are_shifted_by_counters_in_every_form_of_loop() {
    let forms = [
        "var r: [int in 0..2^64; 4] = [0; 4]\n for i in 0..<4 { r[i] = (x >> (16*i)) & 0xffff }\n r",
        "var r: [int in 0..2^64; 4] = [0; 4]\n @unroll for i in 0..<4 { r[i] = (x >> (16*i)) & 0xffff }\n r",
        "var r: [int in 0..2^64; 4] = [0; 4]\n @rolled for i in 0..<4 { r[i] = (x >> (16*i)) & 0xffff }\n r",
        "var r: [int in 0..2^64; 4] = [0; 4]\n for i in rev 0..<4 { let k = 16*i; r[i] = (x >> k) & 0xffff }\n r",
        "[for i in 0..<4: (x >> (16*i)) & 0xffff]",
        "[for i in 1..4: (x >> (16*i - 16)) & 0xffff]",
        "var r: [int in 0..2^64; 4] = [0; 4]\n for i in 0..<2 { for j in 0..<2 { r[2*i + j] = (x >> (32*i + 16*j)) & 0xffff } }\n r",
        "var r: [int in 0..2^64; 4] = [0; 4]\n for i in 0..<2 { let k = 32*i; for j in 0..<2 { let m = k + 16*j; r[2*i + j] = (x >> m) & 0xffff } }\n r",
        "var r: [int in 0..2^64; 4] = [0; 4]\n for i in 0..<4 { r[i] = ((x + 0) >> K[i]) & 0xffff }\n r",
        "var r: [int in 0..2^64; 4] = [x; 4]\n for i in 0..<4 { r[i] >>= 16*i; r[i] &= 0xffff }\n r",
    ];
    for body in forms {
        let text = format!(
            "const K = [0, 16, 32, 48]\nfn f(x: int in 0..2^64-1) -> [int in 0..2^64; 4] {{\n {body}\n}}\ntest \"t\" {{ let r = f(0x0004000300020001); for i in 0..<4 {{ assert r[i] == i + 1 }} }}\n"
        );
        holds(&text);
    }
    holds("fn f(x: int in -9..9) -> int { var r: int = 0\n for i in 0..<3 { for j in 0..<2 { r += x << (i + j) } }\n r }\ntest \"t\" { assert f(-3) == -63 }");
    holds("fn f(x: u8) -> int { var r: int = 0\n for i in 0..<3 { let k = i + 1; r += 1 << k }\n r }\ntest \"t\" { assert f(0) == 14 }");
    holds("fn f(x: int in -9..9) -> int { var r: int = 0\n for i in 0..<3 { r += x >> i }\n r }\ntest \"t\" { assert f(-5) == -10 }");
}

#[test]
fn counts_that_may_be_negative_are_refused() {
    let found = refusal(&[("main.stk", "fn f(x: int in 0..9) -> int { var r: int = 0\n for i in 0..<3 { r += x >> (i - 1) }\n r }")], &[]);
    assert_eq!(found, ["bad-shift 2:29 shift count out of range"]);
}

/// The message's way out is taken from it and leads to a program that is accepted.
#[test]
fn the_advice_for_other_counts_works() {
    let source = |body: &str| format!("fn f(x: int in 0..2^60-1, n: public int in 0..63) -> int {{\n var r: int = 0\n {body}\n r }}");
    let Err(f) = common::build(&[("main.stk", &source("r = x >> n"))], &[]) else { panic!("accepted") };
    let help = f.diagnostics[0].help.clone().unwrap_or_default();
    let code: Vec<&str> = help.split('`').skip(1).step_by(2).collect();
    assert_eq!(code.len(), 2, "{help}");
    accept(&[("main.stk", &source(&format!("r = {}", code[0])))], &[]);
    accept(&[("main.stk", &source(code[1]))], &[]);
    // A shift to the left, or of what may be negative, is no shift of a word.
    for body in ["r = x << n", "r = (x - 9) >> n"] {
        let Err(f) = common::build(&[("main.stk", &source(body))], &[]) else { panic!("accepted") };
        let help = f.diagnostics[0].help.clone().unwrap_or_default();
        let code: Vec<&str> = help.split('`').skip(1).step_by(2).collect();
        assert_eq!(code.len(), 1, "{help}");
        accept(&[("main.stk", &source(code[0]))], &[]);
    }
}

/// Where a public value is needed, with `@` for a secret of any type; code and place of the one message.
const NEEDS: &[(&str, &str)] = &[
    ("t[@]", "secret-index"),
    ("t[@; 2][0]", "secret-index"),
    ("x >> @", "secret-shift"),
    ("x << @", "secret-shift"),
    ("x >>> @", "secret-shift"),
    ("x <<< @", "secret-shift"),
    ("u8(int(x) >> @)", "secret-shift"),
    ("u8(int(x) << @)", "secret-shift"),
    ("[for i in 0..<@: x][0]", "secret-bound"),
];

#[test]
fn the_first_message_about_a_secret_is_that_it_is_secret() {
    let secrets = [("s", ""), ("k", "let k = s\n "), ("v.a", "let v = V { a: s }\n "), ("p.a", ""), ("b[1]", "let b = [s, s]\n ")];
    let mut wrong = Vec::new();
    for ty in ["u32", "u8", "bool", "int in 0..3"] {
        for (secret, before) in secrets {
            for (form, code) in NEEDS {
                let body = form.replace('@', secret);
                let text = format!("struct V {{ a: {ty} }}\nfn f(t: [u8; 8], x: u8, s: {ty}, p: V) -> u8 {{\n {before}{body}\n}}");
                let found = refusal(&[("main.stk", &text)], &[]);
                if found.len() != 1 || !found[0].starts_with(code) {
                    wrong.push(format!("{ty}: {before}{body}: {found:?}"));
                }
            }
            let text = format!("struct V {{ a: {ty} }}\nfn f(t: [u8; 8], x: u8, s: {ty}, p: V) -> u8 {{\n {before}var y = x\n for i in 0..<{secret} {{ y += 1 }}\n y\n}}");
            let found = refusal(&[("main.stk", &text)], &[]);
            if found.len() != 1 || !found[0].starts_with("secret-bound") {
                wrong.push(format!("{ty}: for .. {secret}: {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A public word needs a conversion, and no more.
#[test]
fn public_words_are_converted() {
    let found = refusal(&[("main.stk", "fn f(t: [u8; 4], i: public u8) -> u8 { t[i] }")], &[]);
    assert_eq!(found, ["type-mismatch 1:42 expected int, found u8"]);
    accept(&[("main.stk", "fn f(t: [u8; 4], i: public u8) -> u8 { t[int(i) & 3] }")], &[]);
}
