//! Lies about random programs in clauses of contracts, believed because of some mistake.

use crate::false_clauses::{self, Clause};
use crate::claim::Claim;
use crate::{ast, claims, in_parts, ranges, shrink};
use santoku_ir::Program;
use santoku_mistakes::mistake;
use santoku_skips::seeds;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

const KINDS: [&str; 6] = ["ensures bound", "ensures not", "ensures congruent", "ensures equal", "ensures limbs", "requires"];

#[derive(Default)]
struct Tally {
    programs: usize,
    lies: usize,
    /// Lies with a mistake that the engines or the finder could have made there.
    tried: usize,
    /// By mistake: lies that the engines proved, and lies for which the judge was handed proofs that are none.
    believed: BTreeMap<usize, usize>,
    handed: BTreeMap<usize, usize>,
    accepted: Vec<String>,
}

impl Tally {
    fn add(&mut self, o: Tally) {
        self.programs += o.programs;
        self.lies += o.lies;
        self.tried += o.tried;
        o.believed.into_iter().for_each(|(nr, n)| *self.believed.entry(nr).or_default() += n);
        o.handed.into_iter().for_each(|(nr, n)| *self.handed.entry(nr).or_default() += n);
        self.accepted.extend(o.accepted);
    }
}

/// Who decides with a mistake made: the judge of meaning, or a twin of it. The second: how many proofs it was handed in vain.
type Judge = fn(&Program, &Clause, Option<usize>) -> (bool, usize);

fn judge(p: &Program, c: &Clause, made: Option<usize>) -> (bool, usize) {
    let judged = false_clauses::judged(p, c.of, made);
    (false_clauses::accepted(c, &judged), judged.refused)
}

/// A program of which an input breaks a clause.
fn lie_of(p: &ast::Prog, input: usize) -> Option<(Program, Clause)> {
    let core = crate::judge::compile(&p.text()).ok()?;
    let fault = crate::judge::fault(&core, crate::judge::args(p, input))?;
    let c = false_clauses::broken(&core, &fault)?;
    Some((core, c))
}

fn lie(seed: u64, claim: &Claim, judge: Judge, t: &mut Tally) {
    let Some((p, c)) = lie_of(&claim.lie, claim.input) else { return };
    t.lies += 1;
    let about_contracts = |met: BTreeSet<usize>| met.into_iter().filter(|nr| *nr >= ranges()).collect::<BTreeSet<_>>();
    let (open, met) = mistake::noted(|| false_clauses::open(&c, &false_clauses::engines(&p, c.of, None, true)));
    let by_engines = about_contracts(met);
    let (accepted, met) = mistake::noted(|| self::judge(&p, &c, None).0);
    assert!(open && !accepted, "seed {seed}: believed without any mistake\n{}", claim.lie.text());
    let by_finder = about_contracts(met);
    for nr in by_engines.union(&by_finder) {
        t.tried += 1;
        if by_engines.contains(nr) && !false_clauses::open(&c, &false_clauses::engines(&p, c.of, Some(*nr), true)) {
            *t.believed.entry(*nr).or_default() += 1;
        }
        if !by_finder.contains(nr) {
            continue;
        }
        let (accepted, handed) = judge(&p, &c, Some(*nr));
        if handed > 0 {
            *t.handed.entry(*nr).or_default() += 1;
        }
        if accepted {
            let again = |q: &ast::Prog| lie_of(q, claim.input).is_some_and(|(p, c)| judge(&p, &c, Some(*nr)).0);
            let small = shrink::smallest(claim.lie.clone(), &again);
            t.accepted.push(format!("// seed {seed}, {}, mistake {nr}\n{}", claim.kind, small.text()));
        }
    }
}

fn part(seeds: Range<u64>, judge: Judge) -> Tally {
    let mut t = Tally::default();
    t.programs = claims(seeds, 0x4d65_616e, (&KINDS, 2), |seed, c, _| lie(seed, c, judge, &mut t));
    t
}

fn attack(seeds: Range<u64>, judge: Judge) -> Tally {
    let mut all = Tally::default();
    in_parts(seeds, 5, |seeds| part(seeds, judge)).into_iter().for_each(|t| all.add(t));
    all
}

/// Nothing is accepted; how many lies were proved, and how many wrong proofs handed to the judge.
fn sound(t: &Tally) -> (usize, usize) {
    let (believed, handed) = (t.believed.values().sum(), t.handed.values().sum());
    println!(
        "tried: {} programs, {} false clauses of them, {} times with a mistake on the way: {believed} proved because of {} mistakes, {handed} times wrong proofs handed because of {}, {} accepted by the judge of meaning",
        t.programs, t.lies, t.tried, t.believed.len(), t.handed.len(), t.accepted.len()
    );
    t.accepted.iter().take(5).for_each(|a| println!("{a}"));
    assert!(t.accepted.is_empty(), "{} lies accepted", t.accepted.len());
    (believed, handed)
}

#[test]
fn the_judge_of_meaning_refuses_what_random_programs_make_of_the_mistakes() {
    let (believed, handed) = sound(&attack(seeds::part(0..100, 16), judge));
    assert!(believed > seeds::least(150, 16) && handed > seeds::least(80, 16), "{believed} lies proved, {handed} times wrong proofs handed");
}

/// A judge that believes its finder is caught.
#[test]
fn a_judge_of_meaning_that_believes_is_caught() {
    let believes: Judge = |p, c, made| {
        let (accepted, handed) = judge(p, c, made);
        (accepted || handed > 0, handed)
    };
    let t = attack(0..2, believes);
    assert!(!t.accepted.is_empty(), "{} lies", t.lies);
}

#[test]
#[ignore = "long"]
fn soak_the_judge_of_meaning_among_mistakes() {
    let (from, n) = (seeds::first(), seeds::count(20_000));
    assert!(sound(&attack(from..from + n / 4, judge)).0 > 0);
}
