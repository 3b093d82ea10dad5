//! Clauses that only a look at single bits shows: AES in words of bits beside FIPS 197, and what is refused.

use santoku_ir::{FuncId, Program};
use santoku_prove::equiv::clauses;
use santoku_skips::checked;
use std::path::PathBuf;

const CODE: &str = "cipher/aes.stk";
const SPEC: &str = "cipher/aes_spec.stk";
const MAIN: &str = "use cipher.aes as A\n\
    @export(\"e\")\nfn e(b: [A::Block; A::BLOCKS], k: [u8; 16]) -> [A::Block; A::BLOCKS] { A::encrypt::<10>(b, A::schedule::<1>(k)) }\n\
    @export(\"d\")\nfn d(b: [A::Block; A::BLOCKS], k: [u8; 32]) -> [A::Block; A::BLOCKS] { A::encrypt::<14>(b, A::schedule::<2>(k)) }\n";

/// AES for a number of blocks at once, with a text in one file replaced.
fn compiled(blocks: &str, (file, from, to): (&str, &str, &str)) -> Program {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../lib");
    let mut read = |path: &str| {
        if path == "main.stk" {
            return Some(MAIN.to_string());
        }
        let path = path.strip_prefix("lib/")?;
        let text = std::fs::read_to_string(root.join(path)).ok()?;
        if path != file || from.is_empty() {
            return Some(text);
        }
        assert_eq!(text.matches(from).count(), 1, "{from}");
        Some(text.replace(from, to))
    };
    let options = santoku_sema::Options { impls: [("cipher.aes_words".to_string(), blocks.to_string())].into() };
    santoku_sema::compile("main.stk", &["lib".into()], &mut read, &options).unwrap_or_else(|f| panic!("{:?}", f.diagnostics)).program
}

/// The functions of AES with clauses that are not shown, of how many.
fn open(p: Program) -> (Vec<String>, usize) {
    let work = move || {
        let of = |id: FuncId| clauses::check(&p, id).into_values().map(move |r| (id, r)).collect::<Vec<_>>();
        let all: Vec<_> = (0..p.funcs.len() as u32).map(FuncId).filter(|id| p.func(*id).name.starts_with("cipher.aes.")).flat_map(of).collect();
        let name = |id: FuncId| p.func(id).name.trim_start_matches("cipher.aes.").split('$').next().unwrap_or_default().to_string();
        let mut open: Vec<String> = all.iter().filter(|(_, r)| r.is_err()).map(|(id, _)| name(*id)).collect();
        open.sort();
        open.dedup();
        (open, all.len())
    };
    std::thread::Builder::new().stack_size(256 << 20).spawn(work).expect("a thread").join().expect("no panic")
}

#[test]
fn aes_is_the_cipher_of_the_standard() {
    let mut shown = 0;
    for blocks in ["two", "four"] {
        let (open, all) = open(compiled(blocks, ("", "", "")));
        assert!(open.is_empty(), "{blocks}: {open:?}");
        shown += all;
    }
    assert!(shown >= 16, "{shown}");
    checked(shown, "clauses of AES");
}

/// One thing wrong in the code or the specification: exactly the functions that do it are refused, and those that are described by what is wrong.
#[test]
fn what_is_not_aes_is_refused() {
    let wrong: [(&str, &str, &str, &str, &[&str]); 10] = [
        ("a constant of the S-box", CODE, "folded(b ^ 2 * b ^ 4 * b ^ 8 * b ^ 16 * b) ^ 0x63", "folded(b ^ 2 * b ^ 4 * b ^ 8 * b ^ 16 * b) ^ 0x62", &["sub_bytes"]),
        ("the field of the S-box", CODE, "2 * a ^ 0x11b", "2 * a ^ 0x11d", &["sub_bytes", "schedule"]),
        ("a mask of a row", CODE, "columns(r, 0, 3 - r)", "columns(r, 0, 3)", &["rounds"]),
        ("a carry of the columns", CODE, "pair[2] ^ over ^ rest[3]", "pair[2] ^ rest[3]", &["mix_columns"]),
        ("a key that is not added", CODE, "w[0] ^ t", "w[0]", &["schedule"]),
        ("a word that is not turned", CODE, "sub_word(w[r - 1][3] >>> 8)", "sub_word(w[r - 1][3])", &["schedule"]),
        ("the order of the last steps", CODE, "  add_round_key(shift_rows(sub_bytes(s)), keys[n])", "  add_round_key(mix_columns(shift_rows(sub_bytes(s))), keys[n])", &["rounds"]),
        ("a round less", CODE, "for r in 1..<n {", "for r in 2..<n {", &["rounds"]),
        ("a mask of the transposition", CODE, "(2^(16 * BLOCKS) - 1) / (2^2^k + 1)", "(2^(16 * BLOCKS) - 1) / (2^2^k + 1) - 1", &["encrypt", "schedule"]),
        ("{03} in the standard", SPEC, "product(s[4*c + (r + 1) % 4], 3, 2)", "product(s[4*c + (r + 1) % 4], 1, 2)", &["mix_columns"]),
    ];
    let mut refused = 0;
    // What the clause of shift_rows says is arithmetic; here its caller looks into it.
    for (what, file, from, to, functions) in wrong {
        let (open, _) = open(compiled("two", (file, from, to)));
        for f in functions {
            assert!(open.iter().any(|o| o == f), "{what}: {f} is accepted; open are {open:?}");
        }
        assert!(open.len() <= functions.len() + 1, "{what}: {open:?}");
        refused += 1;
    }
    checked(refused, "programs that are not AES");
}
