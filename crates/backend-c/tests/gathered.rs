//! Comparisons of whole arrays, which C gathers in a number: long ones, those of run-time length and nested ones are read back, and texts that
//! gather less, or look too early, are refused.

mod support;

use santoku_c_judge::{compare, Pieces};
use santoku_ir::Program;
use support::in_pieces;

/// A comparison of two arrays of this type.
fn made(ty: &str) -> (Program, Pieces) {
    in_pieces(&format!(
        "santoku-ir 1\nfn f export \"f\" {{\n  len n: public int 0..99\n  param x: {ty}\n  param y: {ty}\n  ret same: bool\n  body {{\n    same#3 = (x#1 == y#2)\n  }}\n}}\n"
    ))
}

#[test]
fn arrays_of_all_shapes_are_compared() {
    for ty in ["[u8; 3]", "[u8; 32]", "[u8; 33]", "[u8; 163]", "[u64; 40]", "[u8; n#0]", "[u32; n#0 + 40]", "[[u8; 3]; 40]", "[[u8; 40]; 3]", "[[u8; 40]; 41]"] {
        let (p, pieces) = made(ty);
        assert!(pieces.functions[0].text.contains("diff |="), "{ty} is not compared by gathering:\n{}", pieces.functions[0].text);
        compare(&p, &pieces).unwrap_or_else(|e| panic!("{ty}: {e}"));
    }
}

#[test]
fn texts_that_gather_something_else_are_refused() {
    let line = "diff |= (uint64_t)x[k] ^ (uint64_t)y[k];";
    let cases: [(&str, &str); 10] = [
        ("uint64_t diff = 0;", "uint64_t diff = 1;"),
        ("uint64_t diff = 0;", "uint64_t diff;"),
        ("k = 0;", "k = 1;"),
        ("k++", "k += 2"),
        (line, "diff = (uint64_t)x[k] ^ (uint64_t)y[k];"),
        (line, "diff |= (uint64_t)x[k] ^ (uint64_t)x[k];"),
        (line, "diff = 0; diff |= (uint64_t)x[k] ^ (uint64_t)y[k];"),
        (line, "diff |= (uint64_t)x[k] ^ (uint64_t)y[k]; diff = 0;"),
        (line, "if (k < 5) { diff |= (uint64_t)x[k] ^ (uint64_t)y[k]; }"),
        (line, "same = stk_eq_u64(diff, UINT64_C(0)); diff |= (uint64_t)x[k] ^ (uint64_t)y[k];"),
    ];
    let mut tried = 0;
    for ty in ["[u8; 7]", "[u8; 163]", "[u8; n#0]"] {
        for (from, to) in cases {
            let (p, mut pieces) = made(ty);
            let text = &mut pieces.functions[0].text;
            assert!(text.contains(from), "{ty}: no `{from}` in\n{text}");
            *text = text.replacen(from, to, 1);
            assert!(compare(&p, &pieces).is_err(), "{ty}: `{to}` for `{from}` is not seen");
            tried += 1;
        }
    }
    assert_eq!(tried, 30);
}
