//! The prover against random programs and what is false of them by one: nothing false is proved.
//!
//! The programs have few inputs, so what is true of them is known from running all; each engine is asked by itself, without
//! the trial of inputs that would hide what it gets wrong, and then all together.

mod annotations;
mod ast;
mod carries;
mod cases;
mod claim;
mod express;
mod free;
mod grow;
mod judge;
mod leaks;
mod pairs;
mod run;
mod shrink;
mod tiny;

use claim::{Claim, KINDS};
use judge::Ask;
use santoku_ir::gen::Rng;
use santoku_prove::obligation::{Engine, Obligation, Origin, Outcome};
use santoku_skips::seeds;
use std::collections::BTreeMap;

/// Threads of one test; specification functions recurse.
const STACK_BYTES: usize = 64 << 20;

#[derive(Default)]
struct Tally {
    /// Per kind: lies tried, truths tried, truths proved.
    by_kind: BTreeMap<&'static str, [usize; 3]>,
    programs: usize,
    /// Engines that closed the true ones.
    engines: BTreeMap<&'static str, usize>,
    /// Texts that the front end refused, lies most of them.
    refused: usize,
    found: Vec<String>,
}

impl Tally {
    fn sum(&self, at: usize) -> usize {
        self.by_kind.values().map(|c| c[at]).sum()
    }
    fn add(&mut self, o: Tally) {
        for (k, c) in o.by_kind {
            let own = self.by_kind.entry(k).or_default();
            (0..3).for_each(|i| own[i] += c[i]);
        }
        self.programs += o.programs;
        o.engines.into_iter().for_each(|(e, n)| *self.engines.entry(e).or_default() += n);
        self.refused += o.refused;
        self.found.extend(o.found);
    }
    /// `what`: the first word of the sum.
    fn show(&self, what: &str) {
        for (k, [lies, truths, proved]) in &self.by_kind {
            println!("  {k:18} {lies:7} false claims; {proved} of {truths} true ones proved");
        }
        let (lies, truths, proved) = (self.sum(0), self.sum(1), self.sum(2));
        println!("{what}: {} programs: {lies} false claims tried, {} proved; {proved} of {truths} true ones proved; {} refused by the front end; {:?}", self.programs, self.found.len(), self.refused, self.engines);
        self.found.iter().take(3).for_each(|f| println!("{f}"));
    }
}

/// How an obligation list is made: the prover, or a twin of it.
type Prover = fn(&santoku_ir::Program, Ask) -> Vec<Obligation>;

/// Which engines, one truth in how many lies, and who proves.
#[derive(Clone, Copy)]
struct Plan {
    ask: Ask,
    truths: u64,
    prover: Prover,
    /// First word of what is printed.
    what: &'static str,
}

fn plan(ask: Ask, truths: u64) -> Plan {
    Plan { ask, truths, prover: judge::obligations, what: "tried" }
}

/// `f` on parts of the seeds at once.
fn in_parts<T: Send>(seeds: std::ops::Range<u64>, f: impl Fn(std::ops::Range<u64>) -> T + Sync) -> Vec<T> {
    let cores = std::thread::available_parallelism().map_or(2, |n| n.get() as u64);
    let step = (seeds.end - seeds.start).div_ceil(cores).max(1);
    std::thread::scope(|s| {
        let part = |from: u64| {
            let (to, f) = ((from + step).min(seeds.end), &f);
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(s, move || f(from..to)).expect("a thread")
        };
        let all: Vec<_> = seeds.clone().step_by(step as usize).map(part).collect();
        all.into_iter().map(|t| t.join().unwrap_or_else(|e| std::panic::resume_unwind(e))).collect()
    })
}

fn attack(seeds: std::ops::Range<u64>, plan: Plan) -> Tally {
    let mut all = Tally::default();
    in_parts(seeds, |seeds| {
        let mut t = Tally::default();
        for seed in seeds {
            let plan = Plan { ask: plan.ask.of(seed), ..plan };
            let mut rng = Rng::new(seed.wrapping_mul(0x9e37_79b9) ^ 0x00a7_7ac4);
            let Some(mut g) = grow::program(&mut rng) else { continue };
            t.programs += 1;
            for kind in KINDS {
                if g.rng.one_in(2) {
                    if let Some(c) = claim::make(&mut g, kind) {
                        let with_truth = g.rng.one_in(plan.truths);
                        judge_claim(seed, &c, plan, with_truth, &mut t);
                    }
                }
            }
        }
        t
    })
    .into_iter()
    .for_each(|t| all.add(t));
    all.show(plan.what);
    all
}

fn judge_claim(seed: u64, c: &Claim, plan: Plan, with_truth: bool, t: &mut Tally) {
    let text = c.lie.text();
    let Ok(p) = judge::compile(&text) else {
        t.refused += 1;
        return;
    };
    let args = judge::args(&c.lie, c.input);
    let Some(fault) = judge::fault(&p, args.clone()) else {
        // Inside a secret `if` only what is selected flows into the place, and the front end may know more to be public.
        assert!(matches!(c.kind, "inner local" | "table"), "seed {seed}: the lie about {} holds for {args:?}\n{text}", c.kind);
        return;
    };
    let all = (plan.prover)(&p, plan.ask);
    let count = t.by_kind.entry(c.kind).or_default();
    count[0] += 1;
    if let Some(engines) = judge::fooled(&p, &text, &fault, &all) {
        let small = shrink::smallest(c.lie.clone(), &|q| believed(q, c.input, plan));
        let (kind, ask) = (c.kind, plan.ask);
        t.found.push(format!("// seed {seed}, {kind}, {ask:?}: {engines:?} proved what {args:?} breaks: {fault}\n{}", small.text()));
    }
    if with_truth {
        let text = c.truth.text();
        let q = judge::compile(&text).unwrap_or_else(|e| panic!("seed {seed}: a true {} is refused: {e}\n{text}", c.kind));
        if let Some(f) = judge::fault(&q, judge::args(&c.truth, c.input)) {
            panic!("seed {seed}: the truth about {} fails: {f}\n{text}", c.kind);
        }
        let count = t.by_kind.entry(c.kind).or_default();
        count[1] += 1;
        // What breaks the lie is judged in the truth at the same place.
        if let Some(engines) = judge::fooled(&q, &text, &fault, &(plan.prover)(&q, plan.ask)) {
            count[2] += 1;
            engines.iter().for_each(|e| *t.engines.entry(e.name()).or_default() += 1);
        }
    }
}

/// Whether a program's last function breaks on an input and the prover believes it does not.
fn believed(p: &ast::Prog, input: usize, plan: Plan) -> bool {
    let text = p.text();
    let Ok(core) = judge::compile(&text) else { return false };
    let Some(fault) = judge::fault(&core, judge::args(p, input)) else { return false };
    judge::fooled(&core, &text, &fault, &(plan.prover)(&core, plan.ask)).is_some()
}

/// Nothing false is proved, at least so many were tried, every kind among them, and the engines are not idle: this share of
/// the true twins is proved.
fn sound(t: &Tally, least: usize, percent: usize) {
    assert!(t.found.is_empty(), "{} false claims proved", t.found.len());
    assert!(t.sum(0) >= least, "only {} false claims tried", t.sum(0));
    assert!(t.by_kind.len() == KINDS.len() || least < 800 && t.by_kind.len() + 2 >= KINDS.len());
    let (truths, proved) = (t.sum(1), t.sum(2));
    assert!(truths > 0 && proved * 100 >= truths * percent, "{proved} of {truths} true claims proved");
}

#[test]
fn no_false_claim_is_proved() {
    sound(&attack(seeds::part(0..720, 4), plan(Ask::Own, 12)), seeds::least(4400, 4), 80);
}

#[test]
fn linear_facts_everywhere_prove_no_false_claim() {
    sound(&attack(100_000..100_120, plan(Ask::Eager, 12)), 700, 80);
}

#[test]
fn the_solver_proves_no_false_claim() {
    sound(&attack(200_000..200_060, plan(Ask::Solver, 12)), 340, 80);
}

#[test]
fn all_engines_together_prove_no_false_claim() {
    sound(&attack(300_000..300_040, plan(Ask::All, 12)), 220, 80);
}

/// Budgets that end anywhere leave more open and prove nothing more.
#[test]
fn budgets_that_end_prove_no_false_claim() {
    sound(&attack(600_000..600_240, plan(Ask::Short(0), 12)), 1400, 30);
}

/// Nor does the judge accept one, whoever found the ranges.
#[test]
fn the_judge_accepts_no_false_claim() {
    sound(&attack(seeds::part(700_000..700_720, 20), plan(Ask::Judge, 12)), seeds::least(4400, 20), 40);
    assert!(free(seeds::part(0..300, 15), free::lengths, Ask::Judge).broken > seeds::least(250, 15));
    assert!(free(seeds::part(0..400, 10), free::written, Ask::Judge).broken > seeds::least(120, 10));
    assert!(free(seeds::part(0..1500, 50), carries::program, Ask::Judge).broken > seeds::least(300, 50));
    tiny(seeds::part(0..320, 10), Ask::Judge);
}

/// Nor does the judge of meaning accept a false clause, asked of everything, whether an engine closed it or not.
#[test]
fn the_judge_of_meaning_accepts_no_false_clause() {
    sound(&attack(seeds::part(800_000..800_720, 3), plan(Ask::Meaning, 12)), seeds::least(4400, 3), 25);
    tiny(seeds::part(0..320, 3), Ask::Meaning);
}

/// Ranges are what the judge goes by: wrong ones are refused.
#[test]
fn the_judge_accepts_no_false_range() {
    assert!(false_ranges(0..400) > 1000);
}

#[test]
#[ignore = "long"]
fn soak_the_judge_accepts_nothing_false() {
    let (from, n) = (seeds::first(), seeds::count(40_000));
    let t = attack(from..from + n, plan(Ask::Judge, 20));
    assert!(t.found.is_empty() && t.sum(0) > 0, "{} false claims accepted", t.found.len());
    free(from..from + n, free::lengths, Ask::Judge);
    free(from..from + n / 4, free::written, Ask::Judge);
    free(from..from + 2 * n, carries::program, Ask::Judge);
    tiny(from..from + n / 4, Ask::Judge);
    false_ranges(from..from + n / 2);
}

#[test]
#[ignore = "long"]
fn soak_the_judge_of_meaning_accepts_nothing_false() {
    let (from, n) = (seeds::first(), seeds::count(40_000));
    let t = attack(from..from + n, plan(Ask::Meaning, 20));
    assert!(t.found.is_empty() && t.sum(0) > 0, "{} false clauses accepted", t.found.len());
    tiny(from..from + n / 4, Ask::Meaning);
}

fn false_ranges(seeds: std::ops::Range<u64>) -> usize {
    let parts = in_parts(seeds, |seeds| {
        let mut t = annotations::Tried::default();
        seeds.for_each(|seed| annotations::attack(seed, &mut t));
        t
    });
    let sum = |f: fn(&annotations::Tried) -> usize| parts.iter().map(f).sum::<usize>();
    let found: Vec<&String> = parts.iter().flat_map(|t| &t.found).collect();
    println!(
        "tried: {} programs: {} ranges that an input leaves, {} accepted; {} narrowed ranges that no input left, {} accepted; {} of {} functions as found accepted",
        sum(|t| t.programs), sum(|t| t.false_ones), found.len(), sum(|t| t.kept[0]), sum(|t| t.kept[1]), sum(|t| t.functions[1]), sum(|t| t.functions[0])
    );
    found.iter().take(3).for_each(|f| println!("{f}"));
    assert!(found.is_empty(), "{} false ranges accepted", found.len());
    sum(|t| t.false_ones)
}

#[test]
fn no_case_of_a_split_is_left_out() {
    assert!(free(seeds::part(0..1500, 30), carries::program, Ask::Short(0)).broken > seeds::least(300, 30));
    assert!(free(seeds::part(0..300, 12), carries::program, Ask::Own).broken > seeds::least(60, 12));
}

fn cases(seeds: std::ops::Range<u64>) -> usize {
    let parts = in_parts(seeds, |seeds| {
        let mut t = cases::Cases::default();
        cases::attack(seeds, &mut t);
        t
    });
    let sum = |f: fn(&cases::Cases) -> usize| parts.iter().map(f).sum::<usize>();
    let found: Vec<&String> = parts.iter().flat_map(|t| &t.found).collect();
    let (tried, truths, proved) = (sum(|t| t.tried), sum(|t| t.truths[0]), sum(|t| t.truths[1]));
    println!("tried: {} programs: {tried} false ranges tried, {} proved; {proved} of {truths} true ones proved", sum(|t| t.programs), found.len());
    found.iter().take(5).for_each(|f| println!("{f}"));
    assert!(found.is_empty(), "{} false ranges proved", found.len());
    assert!(truths > 0 && proved * 2 > truths, "{proved} of {truths} true ranges proved");
    tried
}

/// Nor where callees are run in place in one case and not in another.
#[test]
fn no_case_is_left_out_where_a_budget_ends() {
    assert!(cases(0..400) > 1000);
}

/// A prover that believes everything is caught at every claim.
#[test]
fn a_prover_that_lies_is_caught() {
    fn credulous(p: &santoku_ir::Program, ask: Ask) -> Vec<Obligation> {
        let mut all = judge::obligations(p, ask);
        for o in &mut all {
            o.outcome = Outcome::Proved { engine: Engine::Intervals };
        }
        all
    }
    let t = attack(0..12, Plan { prover: credulous, what: "a prover that lies", ..plan(Ask::Own, 1000) });
    assert!(t.sum(0) > 40 && t.found.len() == t.sum(0), "{} of {} lies caught", t.found.len(), t.sum(0));
}

/// Nor is being wrong by one too little to be seen.
#[test]
fn a_prover_that_is_off_by_one_is_caught() {
    fn generous(p: &santoku_ir::Program, ask: Ask) -> Vec<Obligation> {
        let mut all = judge::obligations(p, ask);
        for o in &mut all {
            if let Outcome::Failed { origin: Some(Origin { found: (Some(lo), Some(hi)), wanted: Some((least, most)), .. }), .. } = &o.outcome {
                if *lo >= least - 1 && *hi <= most + 1 {
                    o.outcome = Outcome::Proved { engine: Engine::Intervals };
                }
            }
        }
        all
    }
    let t = attack(0..20, Plan { prover: generous, what: "a prover off by one", ..plan(Ask::Own, 1000) });
    assert!(t.found.len() > 10, "{} of {} lies caught", t.found.len(), t.sum(0));
}

#[test]
#[ignore = "long"]
fn soak_no_false_claim_is_proved() {
    let (from, n) = (seeds::first(), seeds::count(40_000));
    let part = |count: u64, ask: Ask| attack(from..from + count, plan(ask, 20));
    let (own, eager, solver, whole) = (part(n * 3 / 4, Ask::Own), part(n / 5, Ask::Eager), part(n / 40, Ask::Solver), part(n / 40, Ask::All));
    let tried: usize = [&own, &eager, &solver, &whole].iter().map(|t| t.sum(0)).sum();
    println!("tried: {tried} false claims tried");
    for t in [&own, &eager, &solver, &whole] {
        assert!(t.found.is_empty(), "{} false claims proved", t.found.len());
        assert!(t.sum(0) > 0);
    }
    assert!(tried >= 5 * n as usize, "only {tried}");
}

fn free(seeds: std::ops::Range<u64>, make: fn(&mut Rng) -> String, ask: Ask) -> free::Free {
    let mut all = free::Free::default();
    for t in in_parts(seeds, |seeds| {
        let mut t = free::Free::default();
        free::attack(seeds, make, ask, &mut t);
        t
    }) {
        all.programs += t.programs;
        all.refused += t.refused;
        all.broken += t.broken;
        (0..2).for_each(|i| all.whole[i] += t.whole[i]);
        all.found.extend(t.found);
    }
    println!(
        "tried: {} programs: {} obligations that an input breaks, {} of them proved; {} of {} that no input broke proved whole; {} refused by the front end",
        all.programs, all.broken, all.found.len(), all.whole[1], all.whole[0], all.refused
    );
    all.found.iter().take(5).for_each(|f| println!("{f}"));
    assert!(all.found.is_empty(), "{} broken obligations proved", all.found.len());
    assert!(all.broken > 0 && all.whole[1] > 0);
    all
}

#[test]
fn nothing_false_of_run_time_lengths_is_proved() {
    assert!(free(0..300, free::lengths, Ask::Own).broken > 250);
    assert!(free(5000..5030, free::lengths, Ask::Solver).broken > 20);
}

#[test]
fn no_claim_travels_with_a_value_that_breaks_it() {
    assert!(free(0..400, free::claims, Ask::Own).broken > 100);
}

#[test]
fn nothing_unwritten_is_proved_written() {
    assert!(free(0..200, free::written, Ask::Own).broken > 60);
}

#[test]
#[ignore = "long"]
fn soak_budgets_that_end() {
    let (from, n) = (seeds::first(), seeds::count(40_000));
    let t = attack(from..from + n / 4, plan(Ask::Short(0), 20));
    assert!(t.found.is_empty() && t.sum(0) > 0, "{} false claims proved", t.found.len());
    free(from..from + 4 * n, carries::program, Ask::Short(0));
    cases(from..from + 2 * n);
}

#[test]
#[ignore = "long"]
fn soak_lengths_and_claims_that_travel() {
    let (from, n) = (seeds::first(), seeds::count(40_000));
    free(from..from + n, free::lengths, Ask::Own);
    free(from..from + n / 20, free::lengths, Ask::Solver);
    free(from..from + n, free::claims, Ask::Own);
    free(from..from + n / 4, free::written, Ask::Own);
    free(from..from + (n / 400).max(40), free::written_long, Ask::Own);
}

fn leak(seeds: std::ops::Range<u64>) -> usize {
    let parts = in_parts(seeds, |seeds| {
        let mut t = leaks::Leaks::default();
        leaks::attack(seeds, &mut t);
        t
    });
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    parts.iter().flat_map(|t| &t.by_kind).for_each(|(k, n)| *kinds.entry(k.clone()).or_default() += n);
    let accepted: Vec<&String> = parts.iter().flat_map(|t| &t.accepted).collect();
    let (tried, unclear) = (parts.iter().map(|t| t.tried).sum::<usize>(), parts.iter().map(|t| t.unclear).sum::<usize>());
    println!("tried: {tried} leaks tried, {} accepted; {unclear} right twins refused; {kinds:?}", accepted.len());
    accepted.iter().take(5).for_each(|a| println!("{a}"));
    assert!(accepted.is_empty(), "{} leaks accepted", accepted.len());
    assert!(kinds.len() == leaks::WAYS.len() + leaks::ENDS.len() && unclear * 20 < tried);
    tried
}

fn tiny(seeds: std::ops::Range<u64>, ask: Ask) -> Tally {
    let parts = in_parts(seeds, |seeds| {
        let mut t = tiny::Tiny::default();
        tiny::attack(seeds, ask, &mut t);
        t
    });
    let mut all = Tally::default();
    for t in parts {
        all.add(Tally { by_kind: t.by_kind, programs: t.programs, found: t.found, ..Tally::default() });
    }
    all.show("tried");
    assert!(all.found.is_empty(), "{} false bounds proved", all.found.len());
    all
}

/// Nor of lengths known at run time, of structs that are written and handed on, of helpers and of what loops keep.
#[test]
fn nothing_false_of_lengths_structs_helpers_and_invariants_is_proved() {
    let own = tiny(0..320, Ask::Own);
    assert!(own.by_kind.len() == tiny::KINDS.len() && own.by_kind.values().all(|c| c[0] >= 8), "{:?}", own.by_kind);
    assert!(own.sum(1) > 20 && own.sum(2) * 3 > own.sum(1), "{:?}", own.by_kind);
    assert!(tiny(1000..1060, Ask::All).sum(0) > 30);
}

#[test]
#[ignore = "long"]
fn soak_lengths_structs_helpers_and_invariants() {
    let n = seeds::count(40_000);
    tiny(100_000..100_000 + n / 4, Ask::Own);
    tiny(200_000..200_000 + n / 40, Ask::Solver);
    tiny(300_000..300_000 + n / 10, Ask::All);
}

#[test]
fn no_secret_steers() {
    assert!(leak(0..300) > 600);
}

#[test]
#[ignore = "long"]
fn soak_no_secret_steers() {
    leak(seeds::first()..seeds::first() + seeds::count(20_000));
}

fn pairs(seeds: std::ops::Range<u64>) -> usize {
    let parts = in_parts(seeds, |seeds| {
        let mut t = pairs::Pairs::default();
        pairs::attack(seeds, &mut t);
        t
    });
    let sum = |f: fn(&pairs::Pairs) -> usize| parts.iter().map(f).sum::<usize>();
    let found: Vec<&String> = parts.iter().flat_map(|t| &t.found).collect();
    println!("tried: {} pairs that some input tells apart, {} found equal; {} of {} that none does found equal", sum(|t| t.differ), found.len(), sum(|t| t.same[1]), sum(|t| t.same[0]));
    found.iter().take(5).for_each(|f| println!("{f}"));
    assert!(found.is_empty(), "{} different programs found equal", found.len());
    assert!(sum(|t| t.same[1]) > 0);
    sum(|t| t.differ)
}

#[test]
fn different_programs_are_not_equal() {
    assert!(pairs(0..250) > 100);
}

#[test]
#[ignore = "long"]
fn soak_different_programs_are_not_equal() {
    pairs(seeds::first()..seeds::first() + seeds::count(40_000));
}
