//! The text is read back and compared with the program: a wrong text is refused. Words of the text of random programs are exchanged, one at a
//! time; what is accepted all the same is compiled, and computes what the interpreter does.

mod support;

use santoku_backend_c::{emit_in_pieces, Options};
use santoku_c_judge::compare;
use santoku_ir::gen::{program_with, Config};
use santoku_ir::Program;
use santoku_num::SplitMix64;
use santoku_passes::{optimise, Level, PassOptions};
use santoku_skips::installed;
use std::collections::{BTreeMap, BTreeSet};
use support::{build, call, differing, edges, exported, random, Call, Mode, Subject};

const LEVELS: [Level; 4] = [Level::O0, Level::O1, Level::O2, Level::Os];

/// What stands in the place of a word, and the kind of mistake that is.
const EXCHANGED: [(&str, &str, &str); 26] = [
    ("+", "-", "sum"),
    ("-", "+", "sum"),
    ("*", "+", "product"),
    ("/", "%", "product"),
    ("&", "|", "bits"),
    ("|", "&", "bits"),
    ("^", "|", "bits"),
    ("~", "-", "bits"),
    ("<<", ">>", "shift"),
    (">>", "<<", "shift"),
    ("<", "<=", "order"),
    (">", ">=", "order"),
    ("<=", "<", "order"),
    (">=", ">", "order"),
    ("==", "!=", "order"),
    ("|=", "=", "gathering"),
    ("uint8_t", "uint16_t", "type"),
    ("uint16_t", "uint8_t", "type"),
    ("uint32_t", "uint8_t", "type"),
    ("uint64_t", "uint32_t", "type"),
    ("int8_t", "int16_t", "type"),
    ("int16_t", "int8_t", "type"),
    ("int32_t", "uint32_t", "type"),
    ("int64_t", "int32_t", "type"),
    ("memmove", "memset", "copy"),
    ("else", "", "branch"),
];

/// Words with their places, comments left out.
fn words(text: &str) -> Vec<(usize, &str)> {
    let (mut out, mut at) = (vec![], 0);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let n = if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |k| k + 2)
        } else if c.is_ascii_alphanumeric() || c == '_' {
            let n = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            out.push((at, &rest[..n]));
            n
        } else if c.is_whitespace() {
            1
        } else {
            let two = EXCHANGED.iter().map(|e| e.0).chain(["++", "--", "->"]).filter(|m| m.len() == 2).any(|m| rest.starts_with(m));
            out.push((at, &rest[..if two { 2 } else { 1 }]));
            if two { 2 } else { 1 }
        };
        at += n;
    }
    out
}

/// The text with one mistake, which is of this kind.
fn spoiled(text: &str, rng: &mut SplitMix64) -> Option<(&'static str, String)> {
    let open = text.find("\n{\n")? + 3;
    if rng.below(6) == 0 {
        return moved(text, open, rng);
    }
    let all: Vec<(usize, &str)> = words(text).into_iter().filter(|w| w.0 >= open).collect();
    let (at, word) = all[rng.below(all.len() as u64) as usize];
    let exchange = |with: &str| format!("{}{with}{}", &text[..at], &text[at + word.len()..]);
    if let Some((_, with, kind)) = EXCHANGED.iter().find(|e| e.0 == word) {
        return Some((kind, exchange(with)));
    }
    if let Ok(n) = word.trim_end_matches('u').parse::<u64>() {
        let unsigned = if word.ends_with('u') { "u" } else { "" };
        return Some(("number", exchange(&format!("{}{unsigned}", if rng.below(2) == 0 { n + 1 } else { n.saturating_sub(1) }))));
    }
    let known = ["uint", "int", "stk_", "for", "if", "sizeof", "STK_", "UINT", "INT", "0x"];
    if !word.starts_with(|c: char| c.is_ascii_alphabetic()) || known.iter().any(|k| word.starts_with(k)) {
        return None;
    }
    let names: BTreeSet<&str> = all.iter().map(|w| w.1).filter(|w| w.starts_with(|c: char| c.is_ascii_lowercase()) && !known.iter().any(|k| w.starts_with(k))).collect();
    let other = names.into_iter().filter(|n| *n != word).collect::<Vec<_>>();
    Some(("name", exchange(other.get(rng.below(other.len().max(1) as u64) as usize)?)))
}

/// A statement left out, done twice, or exchanged with the next.
fn moved(text: &str, open: usize, rng: &mut SplitMix64) -> Option<(&'static str, String)> {
    let first = text[..open].lines().count();
    let mut lines: Vec<&str> = text.lines().collect();
    let statement = |l: &str| l.ends_with(';') && !l.contains(" /*");
    let places: Vec<usize> = (first..lines.len()).filter(|k| statement(lines[*k])).collect();
    let at = *places.get(rng.below(places.len().max(1) as u64) as usize)?;
    let kind = match rng.below(3) {
        0 => {
            lines.remove(at);
            "left out"
        }
        1 => {
            lines.insert(at, lines[at]);
            "twice"
        }
        _ if statement(lines.get(at + 1)?) => {
            lines.swap(at, at + 1);
            "order"
        }
        _ => return None,
    };
    Some((kind, lines.join("\n") + "\n"))
}

#[derive(Default)]
struct Count {
    refused: BTreeMap<&'static str, usize>,
    accepted: BTreeMap<&'static str, usize>,
}

/// Spoiled texts of a program that are accepted.
fn accepted(seed: u64, each: u64, count: &mut Count, out: &mut Vec<Subject>) {
    let program = program_with(seed, &if seed % 3 == 0 { Config::plain() } else { Config::default() });
    let level = LEVELS[(seed % 4) as usize];
    let annotated = optimise(&program, level, &BTreeSet::new(), &PassOptions::new(level, 64)).unwrap_or_else(|e| panic!("{seed}: {e}")).program;
    let mut rng = SplitMix64::new(seed);
    for k in 0..each {
        let mut made: Program = annotated.clone();
        let options = Options::new(format!("p{seed}n{k}"), None);
        exported(&mut made, &options.unit);
        let Ok((printed, mut pieces)) = emit_in_pieces(&made, &options) else { return };
        let at = rng.below(pieces.functions.len() as u64) as usize;
        let sound = pieces.functions[at].text.clone();
        let Some((kind, wrong)) = spoiled(&sound, &mut rng).filter(|w| w.1 != sound) else { continue };
        pieces.functions[at].text.clone_from(&wrong);
        match compare(&made, &pieces) {
            Err(_) => *count.refused.entry(kind).or_default() += 1,
            Ok(_) => {
                *count.accepted.entry(kind).or_default() += 1;
                let source = printed.source.replace(&sound, &wrong);
                assert_ne!(source, printed.source, "the function stands in the unit");
                out.push(Subject::of(program.clone(), &printed.header, &source, &options));
            }
        }
    }
}

#[test]
fn a_wrong_text_is_refused_or_is_the_same_program() {
    let seeds = std::env::var("SANTOKU_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let (mut count, mut subjects) = (Count::default(), vec![]);
    for seed in 0..seeds {
        accepted(seed, 60, &mut count, &mut subjects);
    }
    let mut calls: Vec<Call> = vec![];
    for (k, s) in subjects.iter().enumerate() {
        for (e, id) in s.entries.iter().enumerate() {
            let inputs = random(&s.program, *id, 8, k as u64).into_iter().chain(edges(&s.program, *id));
            calls.extend(inputs.map(|(lens, args)| call(&subjects, k, e, &lens, args)));
        }
    }
    let refused: usize = count.refused.values().sum();
    println!("{refused} refused: {:?}; {} accepted: {:?}", count.refused, subjects.len(), count.accepted);
    let mut ran = 0;
    for compiler in installed(&["gcc"]) {
        let program = build(compiler, &subjects, Mode::Lenient).unwrap_or_else(|e| panic!("{e}"));
        let wrong = differing(&program, &calls).unwrap_or_else(|e| panic!("{compiler}: {e}"));
        let shown: Vec<&str> = wrong.iter().take(5).map(|c| c.what()).collect();
        let text = wrong.first().map_or(String::new(), |c| subjects[c.subject()].text());
        assert!(wrong.is_empty(), "{compiler}: {} of {} calls of accepted texts differ: {shown:#?}\n{text}", wrong.len(), calls.len());
        ran += 1;
    }
    assert!(ran > 0, "no compiler");
    assert!(refused > 15 * seeds as usize && count.refused.len() >= 10, "{refused} refused");
    assert!(subjects.len() * 4 < refused, "{} accepted", subjects.len());
}
