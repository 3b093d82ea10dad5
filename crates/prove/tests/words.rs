//! Specifications of words: what is shown, what is refused, and that the judge of meaning agrees.

use santoku_ir::{FuncId, Program};
use santoku_prove::clauses::Finder;
use santoku_prove::equiv::clauses;
use santoku_skips::seeds;

const CODE: &str = include_str!("../../../lib/hash/sha512.stk");
const SPEC: &str = include_str!("../../../lib/hash/sha512_spec.stk");

fn compiled(main: &str, spec: &str) -> Program {
    let mut read = |path: &str| match path {
        "main.stk" => Some(main.to_string()),
        "hash/sha512_spec.stk" => Some(spec.to_string()),
        _ => None,
    };
    santoku_sema::compile("main.stk", &[], &mut read, &santoku_sema::Options::default()).unwrap_or_else(|f| panic!("{:?}", f.diagnostics)).program
}

/// What the term graph says of the clauses of a function, and whether the judge accepts its first.
fn asked(main: &str, spec: &str, func: &str) -> (Vec<Result<(), String>>, bool) {
    let (main, spec, func) = (main.to_string(), spec.to_string(), func.to_string());
    let work = move || {
        let p = compiled(&main, &spec);
        let id = (0..p.funcs.len() as u32).map(FuncId).find(|id| p.func(*id).name == func).expect("the function");
        let judged = santoku_meaning::check(&p, id, &Finder);
        println!("the judge: {judged:?}");
        let judged = judged.is_ok_and(|c| c.ensures.get(&0) == Some(&true));
        (clauses::check(&p, id).into_values().collect(), judged)
    };
    std::thread::Builder::new().stack_size(256 << 20).spawn(work).expect("a thread").join().expect("no panic")
}

/// The functions of SHA-512 that say what they are, callees first.
const FUNCTIONS: [&str; 7] = ["main.big_sigma0", "main.big_sigma1", "main.small_sigma0", "main.small_sigma1", "main.ch", "main.maj", "main.compress"];

/// Of all of them, what is not shown, and whether the judge accepts all.
fn asked_of_all(main: &str, spec: &str) -> (Vec<String>, bool) {
    let all: Vec<(Vec<Result<(), String>>, bool)> = FUNCTIONS.iter().map(|f| asked(main, spec, f)).collect();
    let open = all.iter().flat_map(|(found, _)| found.iter().filter_map(|f| f.clone().err())).collect();
    (open, all.iter().all(|(_, judged)| *judged))
}

fn replaced(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replace(from, to)
}

#[test]
fn the_compression_function_is_its_specification() {
    assert_eq!(asked(CODE, SPEC, "main.compress").0, [Ok(())]);
}

#[test]
fn wrong_specifications_are_refused_and_the_place_is_named() {
    let wrong = [
        ("one rotation", "rotr(14, x) ^ rotr(18, x)", "rotr(14, x) ^ rotr(17, x)", "rotr("),
        ("a shift", "rotr(8, x) ^ shr(7, x)", "rotr(8, x) ^ shr(6, x)", "lower_sigma0"),
        ("one constant", "_ - 1; 80] = [for i in 0..<80: cube_root(prime(i)", "_ - 1; 80] = [for i in 0..<80: cube_root(prime(if i == 63 { 64 } else { i })", "round"),
        ("variables swapped", "[(T1 + T2) % 2^64, v[0], v[1], v[2],", "[(T1 + T2) % 2^64, v[0], v[2], v[1],", "round"),
        ("t - 14", "lower_sigma0(w(block, t - 15))", "lower_sigma0(w(block, t - 14))", "w(.., 16)"),
        ("no sum at the end", "(v[i] + h[i]) % 2^64", "v[i]", ""),
        ("a choice the other way", "(x & y) ^ (not(x) & z)", "(x & z) ^ (not(x) & y)", "ch("),
        ("bytes in the other order", "2^(56 - 8*j)", "2^(8*j)", "word(.., 0)"),
        ("one round less", "rounds(h, block, 80)", "rounds(h, block, 79)", ""),
    ];
    for (what, from, to, named) in seeds::some(wrong, 6) {
        let (from, to) = (from.replace("_ -", "2^64 -"), to.replace("_ -", "2^64 -"));
        let (found, judged) = asked_of_all(CODE, &replaced(SPEC, &from, &to));
        println!("{what}: {found:?}");
        let [why] = &found[..] else { panic!("{what}: {found:?}") };
        assert!(why.contains(named) && !judged, "{what}: {why}, {judged}");
    }
}

#[test]
fn wrong_code_is_refused() {
    let wrong = [
        ("one rotation", "((((x >>> 5) ^ x) >>> 6) ^ x) >>> 28", "((((x >>> 5) ^ x) >>> 7) ^ x) >>> 28"),
        ("a choice the other way", "z ^ (x & (y ^ z))", "y ^ (x & (y ^ z))"),
        ("a majority", "y ^ ((x ^ y) & (y ^ z))", "x ^ ((x ^ y) & (y ^ z))"),
        ("one constant", "0x5fcb6fab3ad6faec", "0x5fcb6fab3ad6faed"),
        ("the ring", "w[(i + 9) % 16]", "w[(i + 8) % 16]"),
        ("one input", "  [for i in 0..<8: h[i] + s[i]]", "  [for i in 0..<8: if h[0] == 0x0123456789abcdef { h[i] } else { h[i] + s[i] }]"),
        ("one bit", "  [for i in 0..<8: h[i] + s[i]]", "  [for i in 0..<8: (h[i] | 1) + s[i]]"),
    ];
    for (what, from, to) in seeds::some(wrong, 3) {
        let (found, judged) = asked_of_all(&replaced(CODE, from, to), SPEC);
        println!("{what}: {found:?}");
        assert!(found.len() == 1 && !judged, "{what}: {found:?}, {judged}");
    }
}

#[test]
fn code_may_be_written_otherwise() {
    let right = [
        ("rotations side by side", "((((x >>> 5) ^ x) >>> 6) ^ x) >>> 28", "(x >>> 39) ^ ((x >>> 28) ^ (x >>> 34))"),
        ("a choice by selection of bits", "z ^ (x & (y ^ z))", "(~x & z) ^ (y & x)"),
        ("a majority of three conjunctions", "y ^ ((x ^ y) & (y ^ z))", "(y & z) ^ ((x & y) ^ (x & z))"),
        ("another order of sums", "s[7] + x", "x + s[7]"),
    ];
    for (what, from, to) in right {
        let (found, judged) = asked_of_all(&replaced(CODE, from, to), SPEC);
        println!("{what}: {found:?}");
        assert!(found.is_empty() && judged, "{what}: {found:?}, {judged}");
    }
}

const SMALL: &str = "spec fn mixed(x: int, y: int) -> int = (x ^ y) % 2^4 * 2^4 + (x | y) / 2^4\n";

/// Each function with whether its clause holds.
#[test]
fn words_of_eight_bits() {
    let cases = [
        ("fn f(x: u8, y: u8) -> u8\n  ensures result == mixed(x, y)\n{ ((x ^ y) << 4) | ((x | y) >> 4) }\n", true),
        ("fn f(x: u8, y: u8) -> u8\n  ensures result == mixed(x, y)\n{ ((x ^ y) << 4) | ((x & y) >> 4) }\n", false),
        // Above 2^8 the integer is not the word.
        ("fn f(x: u8, y: u8) -> u8\n  ensures result == (x ^ y) + 1\n{ (x ^ y) + 1 }\n", false),
        ("fn f(x: u8, y: u8) -> u8\n  ensures result == ((x ^ y) + 1) % 2^8\n{ (x ^ y) + 1 }\n", true),
        ("fn f(x: u8, y: u8) -> u8\n  ensures result == ((x ^ y) + 1) % 2^9\n{ (x ^ y) + 1 }\n", false),
        // A negative integer has no bits.
        ("fn f(x: u8, y: u8) -> u8\n  ensures result == ((x - y) ^ 0) % 2^8\n{ x - y }\n", false),
        ("fn f(x: u8, y: u8) -> u8\n  ensures result == (((x - y) % 2^8) ^ 0)\n{ x - y }\n", true),
        ("fn f(x: u8) -> u8\n  ensures result == (2^8 - 1 - x ^ 255)\n{ ~x ^ 255 }\n", true),
        ("fn f(x: u8) -> u8\n  ensures result == (2^8 - 2 - x ^ 255)\n{ ~x ^ 255 }\n", false),
        ("fn f(x: u16) -> u8\n  ensures result == (x / 2^3 % 2^8 ^ 1)\n{ u8(x >> 3) ^ 1 }\n", true),
        ("fn f(x: u16) -> u8\n  ensures result == (x / 2^9 ^ 1)\n{ u8(x >> 9) ^ 1 }\n", true),
        ("fn f(x: u16) -> u8\n  ensures result == (x / 2^7 ^ 1)\n{ u8(x >> 7) ^ 1 }\n", false),
        ("fn g(x: u8) -> u8\n  ensures result == (x ^ 3)\n{ x ^ 3 }\nfn f(x: u8) -> u8\n  ensures result == ((x ^ 3) ^ 5)\n{ g(x) ^ 5 }\n", true),
        ("fn f(x: u8) -> [u8; 2]\n  ensures result == [x ^ 1, x | 1]\n{ [x ^ 1, x | 1] }\n", true),
        ("fn f(x: u8) -> [u8; 2]\n  ensures result == [x ^ 1, x | 1]\n{ [x | 1, x ^ 1] }\n", false),
    ];
    for (text, holds) in cases {
        let (found, judged) = asked(&format!("{SMALL}{text}"), "", "main.f");
        assert_eq!(found[0].is_ok(), holds, "{text}{found:?}");
        assert!(holds || !judged, "{text}");
        println!("{holds} {judged} {text}");
    }
}
