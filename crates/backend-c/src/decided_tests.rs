//! Each decision of the printer: left out, the text is another and still right; made wrongly, it is refused.

use crate::alias::InPlace;
use crate::decisions::{Decisions, DECISIONS};
use crate::{emit, EmitError, Options};
use santoku_ir::gen::{program_with, Config};
use santoku_ir::visit::{read_locals, written_locals};
use santoku_ir::{Base, ExprKind, Func, LocalId, LocalKind, Place, Program, Stmt};
use santoku_passes::{optimise, Level, PassOptions};
use std::collections::{BTreeMap, BTreeSet};

const LEVELS: [Level; 4] = [Level::O0, Level::O1, Level::O2, Level::Os];
const SEEDS: u64 = 48;
/// The last number of a program.
const LAST: u64 = SEEDS + 1;

/// Variables that become results, of which some may be one object with their result.
const MERGED: &str = include_str!("../tests/support/merged.ir");

/// `handed` gives its callee an array of wider elements than it needs, and `grown` gets one of narrower elements.
const HANDED: &str = "fn handed noinline {
  param a: [int -26632..26632; 8]
  ret r: [int -3329..3329; 8]
  var w: [int; 8]
  counter i: public int
  body {
    for i#3 in 0 ..< 8 { w#2[i#3] = (a#0[i#3] & 15) }
    call (r#1) = narrowed#f0(w#2)
  }
}
fn grown noinline {
  param a: [int -26632..26632; 8]
  ret r: [int -26632..26632; 8]
  var v: [int; 8]
  body {
    call (v#2) = smaller#f2(a#0)
    v#2[0] = a#0[0]
    r#1 = v#2
  }
}
";

/// A carry, and what a shift by fewer bits leaves of a sum. Needs 128 bits where the carry is not found by a comparison.
const SUMMED: &str = "fn summed {
  param a: [int 0..18446744073709551615; 2]
  ret r: [int 0..18446744073709551615; 3]
  body {
    r#1 = [((a#0[0] + a#0[1]) & 18446744073709551615), ((a#0[0] + a#0[1]) >> 64), ((a#0[0] + a#0[1]) >> 8)]
  }
}
";

/// Random programs as the passes leave them, the last two written by hand, and the options for their C.
fn program(seed: u64) -> (Program, Options) {
    let by_hand = |text: &str| made(santoku_ir::text::parse(&format!("santoku-ir 1\n{text}")).unwrap_or_else(|e| panic!("{e}")), seed);
    match seed {
        SEEDS => return by_hand(&format!("{MERGED}{HANDED}")),
        LAST => return by_hand(SUMMED),
        _ => {}
    }
    let config = match seed % 3 {
        0 => Config::plain(),
        1 => Config { words: vec![1, 7, 8, 24, 33, 64], ..Config::default() },
        _ => Config::default(),
    };
    made(program_with(seed, &config), seed)
}

fn made(mut p: Program, seed: u64) -> (Program, Options) {
    for f in &mut p.funcs {
        f.export = Some(format!("exported_{}", f.name));
    }
    let (level, bits) = (LEVELS[(seed / 3 % 4) as usize], if seed % 2 == 0 { 32 } else { 64 });
    let made = optimise(&p, level, &BTreeSet::new(), &PassOptions::new(level, bits)).unwrap_or_else(|e| panic!("{seed}: {e}")).program;
    (made, Options { widest: 2 * bits, ..Options::new("unit", None) })
}

/// How many texts were printed, how many of them are others than the usual ones, and how many were refused.
fn tried(decisions: Decisions) -> (usize, usize, usize) {
    let (mut printed, mut others, mut refused) = (0, 0, 0);
    for seed in 0..=LAST {
        let (p, usual) = program(seed);
        let Ok(before) = emit(&p, &usual) else { continue };
        match emit(&p, &Options { decisions, ..usual }) {
            Ok(after) => {
                printed += 1;
                others += usize::from(after.source != before.source);
            }
            Err(EmitError::Misprinted(_)) => refused += 1,
            // Wider than the machine has, or storage that was not needed.
            Err(EmitError::TooWide { .. } | EmitError::Storage { .. }) => {}
            Err(e) => panic!("{seed}: {e}"),
        }
    }
    (printed, others, refused)
}

#[test]
fn each_decision_can_be_left_out() {
    let least = SEEDS as usize / 2;
    for d in DECISIONS {
        let (printed, others, refused) = tried(Decisions::without(&BTreeSet::from([d.name.to_string()])).0);
        println!("tried: without {}: {printed} texts, {others} of them others than before", d.name);
        assert!(printed > least && others > 0 && refused == 0, "{}: {printed} {others} {refused}", d.name);
    }
    let all = DECISIONS.iter().map(|d| d.name.to_string()).collect();
    let (printed, others, refused) = tried(Decisions::without(&all).0);
    assert!(printed > least && others > least / 2 && refused == 0, "without all: {printed} {others} {refused}");
}

/// Loops over groups of two elements: a round that reads its group before it writes it; one that writes where it reads again; rounds that write what
/// later ones read.
const GROUPED: &str = "fn swapped noinline {
  param a: [u8; 8]
  ret r: [u8; 8]
  var t: u8
  var u: u8
  counter i: public int
  body {
    for i#4 in 0 ..< 4 {
      t#2 = a#0[(2 * i#4)]
      u#3 = a#0[((2 * i#4) + 1)]
      r#1[(2 * i#4)] = u#3
      r#1[((2 * i#4) + 1)] = t#2
    }
  }
}
fn overwritten noinline {
  param a: [u8; 8]
  ret r: [u8; 8]
  counter i: public int
  body {
    for i#2 in 0 ..< 4 {
      r#1[(2 * i#2)] = a#0[((2 * i#2) + 1)]
      r#1[((2 * i#2) + 1)] = a#0[(2 * i#2)]
    }
  }
}
fn ahead noinline {
  param a: [u8; 8]
  ret r: [u8; 8]
  counter i: public int
  body {
    r#1[0] = 0u8
    r#1[1] = 0u8
    for i#2 in 0 ..< 3 {
      r#1[((2 * i#2) + 2)] = a#0[(2 * i#2)]
      r#1[((2 * i#2) + 3)] = a#0[((2 * i#2) + 1)]
    }
  }
}
";

#[test]
fn a_result_lies_on_an_argument_where_rounds_have_groups_of_their_own() {
    let functions: Vec<String> = GROUPED.split("fn ").skip(1).map(|f| format!("santoku-ir 1\nfn {f}")).collect();
    for (text, in_place) in functions.iter().zip([true, false, false]) {
        // Level 0 leaves the loops.
        let (p, usual) = made(santoku_ir::text::parse(text).unwrap_or_else(|e| panic!("{e}")), 0);
        let restricted = |text: &str| text.contains("uint8_t *restrict r");
        let made = emit(&p, &usual).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(restricted(&made.source), !in_place, "{}", made.source);
        let decisions = Decisions { in_place: |f, _| InPlace::careless(f), ..Decisions::default() };
        let careless = emit(&p, &Options { decisions, ..usual });
        assert_eq!(matches!(careless, Err(EmitError::Misprinted(_))), !in_place, "{text}");
    }
}

/// What is copied to a result at last, whatever the result was before.
fn copied_at_last(f: &Func) -> Option<(LocalId, LocalId)> {
    let Stmt::Assign { dst: Place { base: Base::Local(ret), .. }, src, .. } = f.body.last()? else { return None };
    let ExprKind::Read(Place { base: Base::Local(var), projs }) = &src.kind else { return None };
    (projs.is_empty() && f.local(*var).kind == LocalKind::Var).then_some((*var, *ret))
}

/// Into the first loop that has a use, whatever is used behind it.
fn into_loops(f: &Func) -> BTreeMap<Vec<(usize, u8)>, Vec<LocalId>> {
    let mut out = crate::scope::place_locals(f);
    let head = out.remove(&vec![]).unwrap_or_default();
    for id in head {
        let uses = |s: &Stmt| read_locals(std::slice::from_ref(s)).contains(&id) || written_locals(std::slice::from_ref(s)).contains(&id);
        let users: Vec<usize> = f.body.iter().enumerate().filter(|(_, s)| uses(s)).map(|(k, _)| k).collect();
        let path = match users[..] {
            [k, ..] if matches!(&f.body[k], Stmt::For { var, .. } if *var != id) => vec![(k, 0)],
            _ => vec![],
        };
        out.entry(path).or_default().push(id);
    }
    out
}

#[test]
fn wrong_decisions_are_refused() {
    let all = Decisions::default();
    let wrong = [
        ("c-in-place", Decisions { in_place: |f, _| InPlace::careless(f), ..all }),
        ("c-one-object", Decisions { one_object: copied_at_last, ..all }),
        ("c-callee-types", Decisions { adopts: |have, want, _| want.bits < have.bits, ..all }),
        ("c-blocks", Decisions { blocks: into_loops, ..all }),
        ("c-carries", Decisions { carries: |_| true, ..all }),
        ("c-low-bits", Decisions { low_bits: |_| Some(32), ..all }),
    ];
    assert!(DECISIONS.iter().map(|d| d.name).eq(wrong.iter().map(|w| w.0)), "a decision has no twin");
    for (name, decisions) in wrong {
        let (printed, others, refused) = tried(decisions);
        println!("tried: {name} made wrongly: {refused} texts refused, {others} of {printed} others that compute the same");
        assert!(refused > 0, "{name}: {printed} {others}");
    }
}

#[test]
fn each_decision_has_a_section_of_the_page() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/c-text.md")).expect("the page");
    let sections: Vec<&str> = page.split("\n## ").skip(1).collect();
    assert!(sections.iter().map(|s| s.lines().next().unwrap_or_default()).eq(DECISIONS.iter().map(|d| d.name)));
    for s in sections {
        assert!(s.contains("Left out,") && s.contains("*Wrong twin.*"), "{s}");
    }
}
