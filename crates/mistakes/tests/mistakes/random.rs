//! Lies about random programs, believed because of some mistake.

use crate::ask::{self, Way};
use crate::claim::{Claim, KINDS};
use crate::{ast, claims, in_parts, shrink};
use santoku_ir::interp::Fault;
use santoku_ir::Program;
use santoku_mistakes::mistake;
use santoku_skips::seeds;
use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Default)]
struct Tally {
    programs: usize,
    lies: usize,
    /// Lies with a mistake that could have changed what the engines say of them.
    tried: usize,
    /// By mistake: lies that were believed.
    believed: BTreeMap<usize, usize>,
    accepted: Vec<String>,
}

/// What the engines and the judge say of a lie, if it is one.
#[derive(Clone, Copy, PartialEq)]
struct Said {
    /// Something that the ranges are asked about.
    asked: bool,
    fooled: bool,
    accepted: bool,
}

/// Who decides: the judge, or a twin of it.
type Judge = fn(&Program, &Program, &Fault) -> bool;

fn said(p: &ast::Prog, input: usize, way: Way, made: Option<usize>, judge: Judge) -> Option<Said> {
    let text = p.text();
    let core = crate::judge::compile(&text).ok()?;
    let fault = crate::judge::fault(&core, crate::judge::args(p, input))?;
    let (all, annotated) = ask::engines(&core, way, made);
    let asked = !crate::judge::broken(&core, &text, &fault, &all).is_empty();
    let fooled = ask::fooled(&core, &text, &fault, &all);
    Some(Said { asked, fooled, accepted: judge(&core, &annotated, &fault) })
}

fn lie(seed: u64, c: &Claim, way: Way, judge: Judge, t: &mut Tally) {
    // Congruences are the algebra's.
    let (before, met) = mistake::noted(|| said(&c.lie, c.input, way, None, ask::accepted));
    let Some(before) = before.filter(|s| s.asked) else { return };
    t.lies += 1;
    assert!(!before.fooled && !before.accepted, "seed {seed}: believed without any mistake\n{}", c.lie.text());
    for nr in met {
        t.tried += 1;
        let Some(now) = said(&c.lie, c.input, way, Some(nr), judge) else { continue };
        if now.fooled {
            *t.believed.entry(nr).or_default() += 1;
        }
        if now.accepted {
            let small = shrink::smallest(c.lie.clone(), &|q| said(q, c.input, way, Some(nr), judge).is_some_and(|s| s.accepted));
            t.accepted.push(format!("// seed {seed}, {way:?}, {}, mistake {nr}\n{}", c.kind, small.text()));
        }
    }
}

fn part(seeds: Range<u64>, judge: Judge) -> Tally {
    let mut t = Tally::default();
    t.programs = claims(seeds, 0x3157_a6e5, (&KINDS, 4), |seed, c, rng| {
        let way = if rng.one_in(2) { Way::Own } else { Way::Eager };
        lie(seed, c, way, judge, &mut t);
    });
    t
}

fn attack(seeds: Range<u64>, judge: Judge) -> Tally {
    let mut all = Tally::default();
    for t in in_parts(seeds, 10, |seeds| part(seeds, judge)) {
        all.programs += t.programs;
        all.lies += t.lies;
        all.tried += t.tried;
        t.believed.into_iter().for_each(|(nr, n)| *all.believed.entry(nr).or_default() += n);
        all.accepted.extend(t.accepted);
    }
    all
}

/// Nothing is accepted; how many lies were believed.
fn sound(t: &Tally) -> usize {
    let believed = t.believed.values().sum();
    println!(
        "tried: {} programs, {} lies about them, {} times with a mistake on the way: {believed} believed because of {} mistakes, {} accepted by the judge",
        t.programs, t.lies, t.tried, t.believed.len(), t.accepted.len()
    );
    t.accepted.iter().take(5).for_each(|a| println!("{a}"));
    assert!(t.accepted.is_empty(), "{} lies accepted", t.accepted.len());
    believed
}

#[test]
fn the_judge_refuses_what_random_programs_make_of_the_mistakes() {
    assert!(sound(&attack(seeds::part(0..200, 12), ask::accepted)) > seeds::least(1000, 12));
}

/// A judge that believes the engines is caught.
#[test]
fn a_judge_that_believes_is_caught() {
    let t = attack(0..3, |_, _, _| true);
    let believed: usize = t.believed.values().sum();
    assert!(believed > 0 && t.accepted.len() >= believed, "{believed} lies believed, {} accepted", t.accepted.len());
}

#[test]
#[ignore = "long"]
fn soak_the_judge_among_mistakes() {
    let (from, n) = (seeds::first(), seeds::count(20_000));
    assert!(sound(&attack(from..from + n / 4, ask::accepted)) > 0);
}
