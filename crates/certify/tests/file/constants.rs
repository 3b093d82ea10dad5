//! What a proof read is in what it is kept under: constants behind the end of an object, behind pointers, in code; altered, moved,
//! under other names.

use crate::lists::{look_up_in, rows};
use crate::support::{image, judged, judged_with, made, object, of, Compiler, Dice, Made, Memory};
use santoku_certify::report::Status;
use santoku_certify::Options;
use santoku_skips::seeds;
use std::collections::BTreeSet;

const MAGIC: u32 = 0x1f2e_3d4c;
const SOURCE: &str = "@export(\"f\")\nfn f(x: u32) -> u32 { x + 0x1f2e3d4c }\n";
/// Every place where the constant may be read from: its name, C, whether that is proved, whether the proof is one of the hash.
const WAYS: [(&str, &str, bool, bool); 4] = [
    ("in the object that is named", "const uint32_t *a = A; HIDE(a); return x + a[0];", true, true),
    ("past the end of an object", "const uint32_t *a = B; HIDE(a); return x + a[1];", false, false),
    ("behind a pointer in a constant", "const uint32_t *const *t = T; HIDE(t); return x + *t[0];", true, false),
    ("in another function's code", "const uint32_t *a = (const uint32_t *)(uintptr_t)code; HIDE(a); return x + a[0];", false, false),
];

fn c(body: &str) -> String {
    format!(
        "#include <stdint.h>
#define HIDE(p) __asm__(\"\" : \"+r\"(p))
__attribute__((section(\".rodata.both\"))) static const uint32_t B[1] = {{5}};
__attribute__((section(\".rodata.both\"))) const uint32_t A[1] = {{0x1f2e3d4cu}};
const uint32_t *const T[2] = {{A, B}};
__asm__(\".section .text.code\\n.globl code\\n.type code,@function\\ncode: .word 0x1f2e3d4c\\n.size code, 4\\n.text\");
extern void code(void);
uint32_t f(uint32_t x) {{ {body} }}
"
    )
}

/// The object with every occurrence of the constant altered.
fn altered(object: &[u8]) -> Vec<u8> {
    let mut out = object.to_vec();
    let places: Vec<usize> = (0..out.len() - 4).filter(|k| out[*k..].starts_with(&MAGIC.to_le_bytes())).collect();
    assert!(!places.is_empty(), "the constant is in the file");
    places.into_iter().for_each(|k| out[k] ^= 4);
    out
}

#[test]
fn an_altered_constant_is_never_kept_and_never_found_in_a_list() {
    let made = made(SOURCE);
    let mut tried = 0;
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        for march in ["rv32imc", "rv64imc"] {
            for (what, body, proved, hashed) in WAYS {
                let Some(right) = object(compiler, march, "O2 -fno-data-sections", "unit.c", &c(body)) else { continue };
                let store = Memory::default();
                let ask = |object: &[u8]| judged_with(&made, object, &Options { only: Some("f".into()), ..Options::default() }, &store);
                let report = ask(&right);
                let f = of(&report, "f");
                assert_eq!((f.status == Status::Equal, f.hashed), (proved, hashed), "{what}: {compiler:?} {march}: {:?}", f.status);
                let list = rows(&report, march);
                assert_eq!(list.len(), usize::from(hashed), "{what}: {compiler:?} {march}");
                if proved {
                    assert!(of(&ask(&right), "f").work.cached, "{what}: the same file again");
                }
                let wrong = altered(&right);
                let f = ask(&wrong);
                let f = of(&f, "f");
                assert!(f.status != Status::Equal && !f.work.cached, "{what}: {compiler:?} {march}: {:?}", f.status);
                assert_eq!(look_up_in(&right, &list, "f").records.len(), usize::from(hashed), "{what}");
                assert!(look_up_in(&wrong, &list, "f").records.is_empty(), "{what}: {compiler:?} {march}: the list says proved of the altered one");
                tried += 1;
            }
        }
    }
    santoku_skips::checked(tried, "places that a constant is read from");
}

/// Every byte of a table, of whatever is behind pointers, and of every section: none may be altered unseen.
#[test]
fn every_byte_of_the_constants_counts() {
    let made = made("const T: [u32; 16] = [for i in 0..<16: 305419896 + 1234567 * i]\n@export(\"mixed\")\nfn mixed(x: [u32; 16]) -> [u32; 16] {\n  var r: [u32; 16]\n  for i in 0..<16 { r[i] = x[i] ^ T[i] }\n  r\n}\n");
    let words: Vec<String> = (0..16u32).map(|i| (305_419_896 + 1_234_567 * i).to_string()).collect();
    let table_in_c = format!(
        "#include <stdint.h>\nstatic const uint32_t T[16] = {{{}}};\nvoid mixed(uint32_t *r, const uint32_t *x)\n{{\n  const uint32_t *t = T;\n  __asm__(\"\" : \"+r\"(t));\n  for (int i = 0; i < 16; i++) r[i] = x[i] ^ t[i];\n}}\n",
        words.join(", ")
    );
    let mut changes = 0;
    for (compiler, march) in [(Compiler::Gcc, "rv32imc"), (Compiler::Clang, "rv64imc")] {
        let Some(right) = object(compiler, march, "Os", "unit.c", &table_in_c) else { continue };
        let store = Memory::default();
        let first = judged_with(&made, &right, &Options::default(), &store);
        assert!(of(&first, "mixed").status == Status::Equal && of(&first, "mixed").hashed, "{compiler:?}: {:?}", of(&first, "mixed"));
        let list = rows(&first, march);
        let table: Vec<u8> = (0..16u32).flat_map(|i| (305_419_896 + 1_234_567 * i).to_le_bytes()).collect();
        let at = (0..right.len() - 64).find(|k| right[*k..].starts_with(&table)).expect("the table");
        for k in 0..table.len() {
            let mut wrong = right.clone();
            wrong[at + k] ^= 1 << (k % 8);
            assert!(look_up_in(&wrong, &list, "mixed").records.is_empty(), "byte {k}");
            if k % 9 == 0 {
                let report = judged_with(&made, &wrong, &Options::default(), &store);
                assert!(matches!(of(&report, "mixed").status, Status::Refuted(_)), "byte {k}: {:?}", of(&report, "mixed").status);
            }
            changes += 1;
        }
    }
    santoku_skips::checked(changes, "bytes of constants altered, all seen");
}

/// A proof is one of any place: what lies before it may grow.
#[test]
fn a_proof_is_found_again_where_sections_have_moved() {
    let made = made(SOURCE);
    let mut tried = 0;
    for (_, body, proved, hashed) in WAYS.into_iter().filter(|w| w.2) {
        let moved = c(body).replace("#define", "const uint32_t before[3000] = {1};\nvoid other(void) { __asm__ volatile(\".space 5000\"); }\n#define");
        let both = (object(Compiler::Gcc, "rv32imc", "O2", "unit.c", &c(body)), object(Compiler::Gcc, "rv32imc", "O2", "unit.c", &moved));
        let (Some(here), Some(there)) = both else { continue };
        let store = Memory::default();
        let ask = |object: &[u8]| judged_with(&made, object, &Options { only: Some("f".into()), ..Options::default() }, &store);
        assert_eq!(of(&ask(&here), "f").status == Status::Equal, proved);
        // Another function without source is part of every key.
        let report = ask(&there);
        assert_eq!(of(&report, "f").status, Status::Equal);
        assert_eq!(of(&report, "f").hashed, hashed);
        let list = rows(&ask(&here), "rv32imc");
        assert_eq!(look_up_in(&there, &list, "f").records.len(), usize::from(hashed), "the hash is that of any place");
        tried += 1;
    }
    santoku_skips::checked(tried, "functions moved");
}

/// Code that does something with the number that an address is.
#[test]
fn what_depends_on_where_a_constant_lies_is_not_proved() {
    let made = made(SOURCE);
    let mut tried = 0;
    for body in [
        // Two constants of one section: how far apart they are is the linker's business.
        "const uint32_t *a = B; const uint32_t *t = (const uint32_t *)T; HIDE(a); HIDE(t); return x + *(const uint32_t *)((uintptr_t)t - ((uintptr_t)t - (uintptr_t)a) + 4);",
        "const uint32_t *a = A; HIDE(a); uintptr_t n = (uintptr_t)a; HIDE(n); return x + 0x1f2e3d4cu + (uint32_t)(n >> 28 & 1);",
        "const uint32_t *a = A; HIDE(a); return x + a[0] + (((uintptr_t)a >> 4 & 1) & ((uintptr_t)T >> 5 & 1));",
    ] {
        for compiler in [Compiler::Gcc, Compiler::Clang] {
            let Some(bytes) = object(compiler, "rv32imc", "O2", "unit.c", &c(body)) else { continue };
            let report = judged(&made, &bytes);
            assert!(of(&report, "f").status != Status::Equal, "{compiler:?}: {body}");
            tried += 1;
        }
    }
    santoku_skips::checked(tried, "functions that look at addresses");
}

const TWO: &str = "
@noinline
fn g(x: u32) -> u32 { x * 5 + 1 }
@noinline
fn h(x: u32) -> u32 { x * 3 + 7 }
@export(\"f\")
fn f(x: u32) -> u32 { g(h(x)) }
";

/// `f` by hand: its inner call goes to `h`, its outer one to whatever `aa` is another name of.
fn aliased(of: &str) -> String {
    format!(
        "#include <stdint.h>
__attribute__((noinline)) uint32_t unit_g(uint32_t x) {{ __asm__ volatile(\"\"); return x * 5 + 1; }}
__attribute__((noinline)) uint32_t unit_h(uint32_t x) {{ __asm__ volatile(\"\"); return x * 3 + 7; }}
uint32_t aa(uint32_t x) __attribute__((alias(\"unit_{of}\")));
uint32_t f(uint32_t x) {{ return aa(unit_h(x)); }}
"
    )
}

#[test]
fn a_call_is_of_the_function_that_stands_there_under_whatever_name() {
    let made = made(TWO);
    let store = Memory::default();
    // Calls stay as they are written: no tail calls, no inlining.
    let flags = "O1 -fno-optimize-sibling-calls -fno-ipa-cp -fno-ipa-ra";
    let Some(right) = object(Compiler::Gcc, "rv32im", flags, "unit.c", &aliased("g")) else { return };
    let report = judged_with(&made, &right, &Options::default(), &store);
    assert!(report.holds(), "{:?}", report.open().collect::<Vec<_>>());
    // One name each, although several stand at one address.
    let names: Vec<&str> = report.functions.iter().map(|f| f.symbol.as_str()).collect();
    assert!(names.contains(&"unit_g") && names.contains(&"unit_h"), "{names:?}");
    let list = rows(&report, "rv32im");
    let Some(wrong) = object(Compiler::Gcc, "rv32im", flags, "unit.c", &aliased("h")) else { return };
    let report = judged_with(&made, &wrong, &Options::default(), &store);
    assert!(of(&report, "f").status != Status::Equal && !of(&report, "f").work.cached, "{:?}", of(&report, "f"));
    assert!(look_up_in(&right, &list, "f").records.len() == 1 && look_up_in(&wrong, &list, "f").records.is_empty());
}

/// Two functions of the program that a linker made one.
#[test]
fn two_symbols_at_one_address_are_two_rows_with_two_names() {
    let made = made("@noinline\nfn g(x: u32) -> u32 { x * 5 + 1 }\n@noinline\nfn h(x: u32) -> u32 { 5 * x + 1 }\n@export(\"f\")\nfn f(x: u32) -> u32 { g(h(x)) }\n");
    let text = "#include <stdint.h>
__attribute__((noinline)) uint32_t unit_g(uint32_t x) { __asm__ volatile(\"\"); return x * 5 + 1; }
uint32_t unit_h(uint32_t x) __attribute__((alias(\"unit_g\")));
uint32_t f(uint32_t x) { return unit_g(unit_h(x)); }
";
    let Some(bytes) = object(Compiler::Gcc, "rv32im", "O1 -fno-optimize-sibling-calls -fno-ipa-cp", "unit.c", text) else { return };
    let report = judged(&made, &bytes);
    let rows: Vec<(&str, &str)> = report.functions.iter().map(|f| (f.symbol.as_str(), f.function.as_deref().unwrap_or("-"))).collect();
    let mut sorted = rows.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [("f", "unit.f"), ("unit_g", "unit.g"), ("unit_h", "unit.h")]);
}

/// Changed bytes anywhere in an object: no panic, no end of patience, and nothing kept that is not so.
#[test]
fn damaged_objects_are_judged_without_a_panic() {
    let right = made(crate::PROGRAM);
    damaged(&right, 60, 0);
}

#[test]
#[ignore = "long"]
fn soak_damaged_objects_are_judged_without_a_panic() {
    damaged(&made(crate::PROGRAM), seeds::count(2_000) as usize, seeds::first());
}

fn damaged(made: &Made, count: usize, seed: u64) {
    let (mut judged_objects, mut refused, mut equal) = (0, 0, 0);
    for (compiler, march) in [(Compiler::Gcc, "rv32imc"), (Compiler::Clang, "rv64imc")] {
        let Some(good) = object(compiler, march, "O2", "unit.c", &made.c) else { continue };
        let store = Memory::default();
        let report = judged_with(made, &good, &Options::default(), &store);
        assert!(report.holds());
        let list = rows(&report, march);
        let mut proved: BTreeSet<String> = report.functions.iter().map(|f| f.hash.clone()).collect();
        let mut dice = Dice::new(0x9e37_79b9_7f4a_7c15 ^ seed);
        let mut below = |n: usize| dice.below(n);
        for _ in 0..count {
            let mut bad = good.clone();
            let at = below(bad.len());
            bad[at] ^= 1 << below(8);
            let Ok(image) = santoku_elf::load(&bad) else {
                refused += 1;
                continue;
            };
            if image.xlen != self::image(&good).xlen {
                continue;
            }
            let again = judged_with(made, &bad, &Options::default(), &store);
            judged_objects += 1;
            let (kept, anew): (Vec<_>, Vec<_>) = again.functions.iter().filter(|f| f.status == Status::Equal).partition(|f| f.work.cached);
            for f in kept {
                // Kept, so the same hash: the very code that was proved, here or of an object damaged before in the same way.
                assert!(proved.contains(&f.hash), "{}", f.symbol);
                equal += 1;
            }
            proved.extend(anew.into_iter().map(|f| f.hash.clone()));
            santoku_certify::manifest::look_up(&image, &list);
        }
    }
    println!("tried: {refused} damaged objects refused, {equal} functions found again");
    assert!(equal > 0 || judged_objects == 0, "what is not touched is found again");
    santoku_skips::checked(judged_objects, "damaged objects judged");
}
