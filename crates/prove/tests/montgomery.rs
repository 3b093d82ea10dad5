//! One text of Montgomery arithmetic for many moduli and two word sizes: whatever is asked of it is proved and judged; texts that are
//! wrong in one place are not.

use santoku_prove::report::{Judgement, Report};
use santoku_prove::{prove, ProveOptions};
use santoku_skips::seeds;
use std::time::Instant;

const TEXT: &str = include_str!("data/montgomery_words.stk");

/// Name, modulus, bits of the modulus, and -1 divided by it modulo 2^64.
const MODULI: [(&str, &str, u32, u64); 14] = [
    ("secp256k1 p", "2^256 - 2^32 - 977", 256, 0xd838091dd2253531),
    ("secp256k1 n", "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 256, 0x4b0dff665588b13f),
    ("2^256 - 189", "2^256 - 189", 256, 0xa53fa94fea53fa95),
    ("P-224", "2^224 - 2^96 + 1", 224, 0xffffffffffffffff),
    ("P-256 p", "2^256 - 2^224 + 2^192 + 2^96 - 1", 256, 0x1),
    ("P-256 n", "0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", 256, 0xccd1c8aaee00bc4f),
    ("P-384 p", "2^384 - 2^128 - 2^96 + 2^32 - 1", 384, 0x100000001),
    ("P-384 n", "0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973", 384, 0x6ed46089e88fdc45),
    ("P-521 p", "2^521 - 1", 521, 0x1),
    ("P-521 n", "0x1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409", 521, 0x1d2f5ccd79a995c7),
    ("2^255 - 19", "2^255 - 19", 255, 0x86bca1af286bca1b),
    ("brainpoolP256r1", "0xa9fb57dba1eea9bc3e660a909d838d726e3bf623d52620282013481d1f6e5377", 256, 0xc6a75590cefd89b9),
    ("just above 2^255", "2^255 + 0x5e3f9aa77213 * 2^64 + 0xa1", 256, 0x65c393e032e1c9f),
    ("2^130 - 5", "2^130 - 5", 130, 0xcccccccccccccccd),
];

/// The whole text for one modulus: every function called once.
fn program((_, modulus, bits, ni): (&str, &str, u32, u64), w: u32) -> String {
    let (l, n, d) = (bits.div_ceil(w), bits.div_ceil(8), bits.div_ceil(4));
    let ni = if w == 64 { ni } else { ni & 0xffff_ffff };
    let below = |names: &[&str]| names.iter().map(|x| format!("  requires F::number({x}, {l}, {w}) < P\n")).collect::<String>();
    let f = |name: &str, params: &str, ret: &str, names: &[&str], call: &str| format!("@export(\"{name}\")\nfn {name}({params}) -> {ret}\n{}{{\n  F::{call}\n}}\n", below(names));
    let two = "a: Fe, b: Fe";
    let calls = [
        f("add", two, "Fe", &["a", "b"], &format!("add::<P, {l}, {w}>(a, b)")),
        f("sub", two, "Fe", &["a", "b"], &format!("sub::<P, {l}, {w}>(a, b)")),
        f("negate", "a: Fe", "Fe", &["a"], &format!("negate::<P, {l}, {w}>(a)")),
        f("mul", two, "Fe", &["a", "b"], &format!("mul::<P, {l}, {w}, NI>(a, b)")),
        f("square", "a: Fe", "Fe", &["a"], &format!("square::<P, {l}, {w}, NI>(a)")),
        f("half", "a: Fe", "Fe", &["a"], &format!("half::<P, {l}, {w}>(a)")),
        f("inverted", "a: Fe", "Fe", &["a"], &format!("pow::<P, {l}, {w}, NI, P - 2, {d}>(a)")),
        f("below", "a: Fe", "bool", &[], &format!("is_below::<P, {l}, {w}>(a)")),
        f("zero", "a: Fe", "bool", &[], &format!("is_zero::<{l}, {w}>(a)")),
        f("from_bytes", &format!("s: [u8; {n}]"), "Fe", &[], &format!("from_bytes_be::<{l}, {w}, {n}>(s)")),
        f("to_bytes", "a: Fe", &format!("[u8; {n}]"), &["a"], &format!("to_bytes_be::<{l}, {w}, {n}>(a)")),
    ];
    format!("use field.montgomery_words as F\nconst P = {modulus}\nconst NI = {ni}\ntype Fe = [int in 0..2^{w} - 1; {l}]\n{}", calls.concat())
}

fn proved(main: String, text: String) -> Report {
    let work = move || {
        let mut read = |path: &str| match path {
            "main.stk" => Some(main.clone()),
            "lib/field/montgomery_words.stk" => Some(text.clone()),
            _ => None,
        };
        let done = santoku_sema::compile("main.stk", &["lib".to_string()], &mut read, &santoku_sema::Options::default());
        prove(&done.unwrap_or_else(|f| panic!("{:?}", f.diagnostics)).program, &ProveOptions::default())
    };
    std::thread::Builder::new().stack_size(256 << 20).spawn(work).expect("a thread").join().expect("no panic")
}

#[test]
fn any_odd_modulus_that_fits() {
    for of in seeds::some(MODULI, 2) {
        for w in [32, 64] {
            let start = Instant::now();
            let report = proved(program(of, w), TEXT.to_string());
            println!("tried: {} in words of {w} bits: {} obligations, {:?} clauses, {:?}", of.0, report.total(), report.clauses(), start.elapsed());
            let open: Vec<_> = report.functions.iter().flat_map(|f| f.obligations.iter().filter(|o| !o.proved()).map(|o| (f.name.clone(), o.text.clone()))).collect();
            assert!(report.holds(), "{} in {w}: {open:?}", of.0);
            assert_eq!((report.faults().count(), report.vacuous().count()), (0, 0), "{}", of.0);
            assert!(report.functions.iter().all(|f| f.judgement == Judgement::Accepted), "{}", of.0);
            assert_eq!((report.clauses(), report.functions.len()), ((41, 41), 23), "{} in {w}", of.0);
        }
    }
}

/// Each is wrong in one place. Where the modulus says so it is for that modulus.
const WRONG: [(&str, &str, &str, &str); 13] = [
    ("no last subtraction", "2^255 - 19", "  reduce_once::<M, L, W>(t, top)\n", "  t\n"),
    ("a subtraction where none is due", "2^255 - 19", "if top + borrow < 0 { t } else { d }", "if top + borrow < -1 { t } else { d }"),
    ("the carry out of the words is dropped", "secp256k1 p", "  reduce_once::<M, L, W>(t, top)\n", "  reduce_once::<M, L, W>(t, 0)\n"),
    ("one more than twice the modulus", "P-256 p", "* top < 2 * M", "* top <= 2 * M"),
    ("a result that is one too large", "P-256 n", "  ensures number(result, L, W) < M\n{\n  var t: [int in 0..<2^W; L] = [0; L]", "  ensures number(result, L, W) < M - 1\n{\n  var t: [int in 0..<2^W; L] = [0; L]"),
    ("a carry is left out of a product", "secp256k1 n", "let w = top + c", "let w = c"),
    ("a limb of the modulus twice", "2^256 - 189", "let v = t[j] + m * ((M >> (W*j))", "let v = t[j] + m * ((M >> (W*(j - 1)))"),
    ("a difference that is not put right", "P-384 n", "let m = if less { (M >> (W*j)) & (2^W - 1) } else { 0 }", "let m = 0"),
    ("the highest carry of a half", "P-384 p", "(t[j] >> 1) + (carry << (W - 1))", "(t[j] >> 1)"),
    ("twice the half of something else", "P-521 p", "2 * number(result, L, W) ≡ number(a, L, W) mod M", "2 * number(result, L, W) ≡ number(a, L, W) + 1 mod M"),
    ("bytes of what need not fit", "P-521 n", "  requires number(a, L, W) < 2^(8*N)\n", ""),
    ("zero is one", "P-224", "ensures result == (number(a, L, W) == 0)", "ensures result == (number(a, L, W) <= 1)"),
    ("bytes the other way round", "2^130 - 5", "s[N - 1 - W/8*j - k]", "s[W/8*j + k]"),
];

fn of(name: &str) -> (&str, &str, u32, u64) {
    *MODULI.iter().find(|m| m.0 == name).expect("a modulus")
}

#[test]
fn what_is_wrong_in_one_place_is_refused() {
    for (what, modulus, right, wrong) in seeds::some(WRONG, 2) {
        assert_eq!(TEXT.matches(right).count(), 1, "{what}: what it replaces");
        let report = proved(program(of(modulus), 64), TEXT.replace(right, wrong));
        assert!(!report.holds() && report.faults().count() == 0, "{what} is proved");
    }
}

#[test]
fn numbers_that_do_not_go_together_are_refused() {
    let (name, modulus, bits, ni) = of("secp256k1 n");
    for (what, modulus, ni) in [
        ("another inverse", modulus, ni + 2),
        ("the inverse of the modulus itself", modulus, ni.wrapping_neg()),
        ("no inverse", modulus, 0),
        ("an even modulus", "2^256 - 2^32 - 978", 0xd838091dd2253531),
        ("an even modulus with a power of two in it", "2^256 - 2^64", 1),
    ] {
        let report = proved(program((name, modulus, bits, ni), 64), TEXT.to_string());
        let open: Vec<&str> = report.failed().map(|o| o.text.as_str()).collect();
        assert!(open.iter().any(|t| t.contains("number(result, L, W) * 2^(W*L)")), "{what}: {open:?}");
    }
}
