//! Products of secrets on processors whose long multiplications take a time that depends on the operands: made in parts, and right.

mod support;

use santoku_backend_c::{Options, Products};
use santoku_ir::gen::{program_with, Config};
use santoku_skips::{installed, seeds};
use support::{annotated, build, call, differing, edges, random, Call, Mode, Subject, COMPILERS};

/// Words and integers whose products need 64 bits, and more.
fn config(seed: u64) -> Config {
    Config { words: vec![16, 32, 33, 48, 64], int_bits: 40 + 10 * (seed % 3) as u32, ..Config::default() }
}

/// Programs printed for such a processor, and how many products of theirs are made in parts.
fn subjects(seeds: std::ops::Range<u64>) -> (Vec<Subject>, usize) {
    let (mut made, mut parts) = (vec![], 0);
    for seed in seeds {
        let program = program_with(7000 + seed, &config(seed));
        let ranged = annotated(&program);
        let options = Options { widest: 64, products: Products::Parts, ..Options::new(format!("p{seed}"), None) };
        let Ok(s) = Subject::with(program, ranged, &options) else { continue };
        let text = s.text();
        let own = text.lines().filter(|l| l.starts_with("    ") && !l.contains("return stk_")).map(|l| l.matches("_MUL_WIDE(").count() + l.matches("_MUL_LOW(").count()).sum::<usize>();
        // Programs without such a product show nothing here.
        if own > 0 {
            parts += own;
            made.push(s);
        }
    }
    (made, parts)
}

fn calls(subjects: &[Subject]) -> Vec<Call> {
    let mut out = vec![];
    for (k, s) in subjects.iter().enumerate() {
        for (e, id) in s.entries.iter().enumerate() {
            let inputs = random(&s.program, *id, 6, k as u64).into_iter().chain(edges(&s.program, *id));
            out.extend(inputs.map(|(lens, args)| call(subjects, k, e, &lens, args)));
        }
    }
    out
}

#[test]
fn products_in_parts_are_what_the_interpreter_computes() {
    let (subjects, parts) = subjects(seeds::part(0..seeds::count(260), 2));
    let calls = calls(&subjects);
    assert!(parts > seeds::least(40, 2) && calls.len() > seeds::least(400, 2), "{parts} products in {} programs, {} calls", subjects.len(), calls.len());
    let mut ran = 0;
    for compiler in installed(&seeds::one(COMPILERS, 0)) {
        let program = build(compiler, &subjects, Mode::Strict).unwrap_or_else(|e| panic!("{e}"));
        let wrong = differing(&program, &calls).unwrap_or_else(|e| panic!("{compiler}: {e}"));
        let shown: Vec<&str> = wrong.iter().take(5).map(|c| c.what()).collect();
        assert!(wrong.is_empty(), "{compiler}: {} of {} calls differ: {shown:#?}", wrong.len(), calls.len());
        println!("tried: {compiler}: {parts} products in parts, {} programs, {} calls", subjects.len(), calls.len());
        ran += 1;
    }
    assert!(ran > 0, "no compiler");
}

/// Each line of the helpers matters to some result.
#[test]
fn a_wrong_part_is_seen() {
    let wrong = [
        ("ll = al * bl", "ll = al * bh"),
        ("(lh & 0xffffu) +", "(hl & 0xffffu) +"),
        ("+ (mid >> 16)", ""),
        ("(hl >> 16)", "(lh >> 16)"),
        ("al * bh + ah * bl", "al * bh"),
        ("(uint64_t)hi << 32", "(uint64_t)hi << 31"),
    ];
    let wrong = seeds::some(wrong, 3);
    for (from, to) in &wrong {
        let (mut spoiled, _) = subjects(0..110);
        let hit = spoiled.iter_mut().map(|s| usize::from(s.replace(from, to))).sum::<usize>();
        assert!(hit > 0, "{from}: no program has it");
        let calls = calls(&spoiled);
        let program = build("gcc", &spoiled, Mode::Lenient).unwrap_or_else(|e| panic!("{e}"));
        let found = differing(&program, &calls).unwrap_or_else(|e| panic!("{e}"));
        assert!(!found.is_empty(), "`{to}` for `{from}` is not seen in {hit} programs");
    }
    println!("tried: {} wrong helpers, all seen", wrong.len());
}
