//! The engines over one function, one after another, and what they leave to report.

use crate::obligation::{Engine, Kind, Obligation, Outcome};
use crate::smt::{self, Model, Slice};
use super::found::{Dead, FuncRanges, Options, Ranges, Summary};
use crate::itv::Itv;
use super::record::{self, Entry, Record, Sites};
use super::run::{Depth, Run, Visit};
use super::value::{has_ints, Abs};
use super::witness;
use santoku_ir::{visit, ContractKind, Func, FuncId, Loc, LocalId, Program, Stmt, Ty};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Instant;

/// What the runs over one function give.
pub struct Settled {
    pub ranges: FuncRanges,
    pub summary: Summary,
    pub obligations: Vec<Obligation>,
}

/// One function and all its runs need.
struct Job<'a> {
    p: &'a Program,
    f: &'a Func,
    opts: &'a Options,
    sums: &'a [Summary],
    consts: &'a [Abs],
    sites: &'a Sites,
}

/// The best run so far: its notes and results, and what weaker runs left open.
struct Best {
    rec: Record,
    rets: Vec<Abs>,
    weaker: Vec<Entry>,
    solved: Vec<Entry>,
    models: Vec<Model>,
    dead: Dead,
}

/// The statements a run was at.
struct Seen {
    visited: HashSet<usize>,
    contradicted: BTreeSet<Visit>,
}

impl Seen {
    fn of(run: &Run) -> Seen {
        Seen { visited: run.visited.clone(), contradicted: run.visits.contradicted().cloned().collect() }
    }
}

/// Runs the engines over one function. `wanted`: its obligations are reported (tests are executed instead).
pub fn settle(p: &Program, id: FuncId, opts: &Options, sums: &[Summary], consts: &[Abs], wanted: bool) -> Settled {
    let start = Instant::now();
    let f = p.func(id);
    // What others asked of its callees is no matter here: a proof depends on what its key is made of alone.
    sums.iter().for_each(|s| s.special.borrow_mut().clear());
    let sites = Sites::of(f);
    let job = Job { p, f, opts, sums, consts, sites: &sites };
    let mut plain = job.run(Depth::Intervals, false);
    let rets = plain.function(None);
    let steps = plain.steps;
    let plain_seen = Seen::of(&plain);
    let mut best = Best { rec: plain.rec, rets, weaker: Vec::new(), solved: Vec::new(), models: Vec::new(), dead: Dead::default() };
    job.unreached(&plain_seen, &mut best.dead);
    if wanted {
        best.dead.entry = job.never_entered();
        job.engines(&mut best);
    }
    let mut obligations = Vec::new();
    if wanted {
        obligations = report(id, f.loc, [&best.weaker, &best.rec.entries, &best.solved], start);
        for model in &best.models {
            witness::from_model(p, id, &mut |l, path| model.get(&(l, path.to_vec())).cloned(), &mut obligations);
        }
        witness::search(p, id, opts, &mut obligations);
    }
    let Record { exprs, locals, .. } = best.rec;
    let summary = job.summary(&best.rets, steps);
    Settled { ranges: FuncRanges { sites: exprs, locals, rets: best.rets, dead: best.dead }, summary, obligations }
}

impl<'a> Job<'a> {
    fn run(&self, depth: Depth, narrow: bool) -> Run<'a> {
        let mut run = Run::new(self.p, self.f, self.opts, depth, self.sums, self.consts, self.sites);
        run.narrow = narrow;
        run
    }

    fn never_entered(&self) -> bool {
        let requires = self.f.contracts.iter().any(|c| c.kind == ContractKind::Requires);
        requires && self.run(Depth::Relational, false).never_entered()
    }

    /// Notes the statements that a run did not get to, or got to with contradictory hypotheses.
    fn unreached(&self, seen: &Seen, dead: &mut Dead) {
        let mut all: HashMap<usize, (usize, Option<LocalId>)> = HashMap::new();
        let mut nr = 0;
        visit::walk_stmts(&self.f.body, &mut |s| {
            let at = record::addr(s);
            all.insert(at, (nr, if let Stmt::For { var, .. } = s { Some(*var) } else { None }));
            if !seen.visited.contains(&at) {
                dead.statements.insert(nr);
            }
            nr += 1;
        });
        for (at, rounds) in &seen.contradicted {
            let counter = |(at, i): &(usize, i128)| all.get(at)?.1.map(|var| (var, *i));
            if let (Some((nr, _)), Some(rounds)) = (all.get(at), rounds.iter().map(counter).collect::<Option<Vec<_>>>()) {
                dead.contradicted.entry(*nr).or_default().insert(rounds);
            }
        }
    }

    /// The stronger engines, each while something is open.
    fn engines(&self, best: &mut Best) {
        let cased = best.rec.open() > 0 && self.by_cases(best);
        if best.rec.open() > 0 {
            self.narrowed(best);
        }
        // Values one by one say more than forms: an eager run leaves them as they are.
        if best.rec.open() > 0 || self.opts.eager && !cased {
            self.relational(best);
        }
    }

    /// Intervals again, once per value of the small public parameters; whether that closed anything.
    fn by_cases(&self, best: &mut Best) -> bool {
        let cases = public_cases(self.p, self.f, self.opts.limits.public_cases);
        if cases.is_empty() {
            return false;
        }
        let mut run = self.run(Depth::Intervals, false);
        let results: Vec<Vec<Abs>> = cases.iter().map(|args| run.function(Some(args))).collect();
        if run.rec.open() >= best.rec.open() {
            return false;
        }
        self.unreached(&Seen::of(&run), &mut best.dead);
        let join = |a: Vec<Abs>, b: Vec<Abs>| a.iter().zip(&b).map(|(a, b)| a.join(b)).collect();
        if let Some(rets) = results.into_iter().reduce(join) {
            best.rets = rets;
        }
        best.weaker = std::mem::replace(&mut best.rec, run.rec).entries;
        true
    }

    /// Intervals again, with callees run for the ranges of their arguments. Kept only where it closes all.
    fn narrowed(&self, best: &mut Best) {
        let mut run = self.run(Depth::Intervals, true);
        let rets = run.function(None);
        if run.rec.open() == 0 {
            self.unreached(&Seen::of(&run), &mut best.dead);
            (best.rec, best.rets) = (run.rec, rets);
            best.weaker.clear();
        }
    }

    /// Linear facts and case splits: a silent run finds the splits, a second replays them. Then the solver.
    fn relational(&self, best: &mut Best) {
        let mut scout = self.run(Depth::Relational, true);
        scout.mute = 1;
        scout.splits.search = true;
        scout.splits.steps = self.opts.split_steps;
        scout.function(None);
        let plans = scout.splits.plans;
        let mut run = self.run(Depth::Relational, true);
        run.splits.plans.clone_from(&plans);
        best.rets = run.function(None);
        self.unreached(&Seen::of(&run), &mut best.dead);
        let before = std::mem::replace(&mut best.rec, run.rec).entries;
        best.weaker =
            if best.weaker.is_empty() { before } else { earliest(std::mem::take(&mut best.weaker), &before) };
        if let (Some(limit), true) = (self.opts.smt, best.rec.open() > 0 && smt::available()) {
            let mut run = self.run(Depth::Relational, true);
            run.splits.plans = plans;
            run.slice = Some(Slice::new(limit, self.opts.limits.queries));
            run.function(None);
            self.unreached(&Seen::of(&run), &mut best.dead);
            best.models = run.slice.map(|s| s.models).unwrap_or_default();
            best.solved = run.rec.entries;
        }
    }

    fn summary(&self, rets: &[Abs], steps: u64) -> Summary {
        let (p, f) = (self.p, self.f);
        let ints = f.rets.iter().any(|r| has_ints(p, &f.local(*r).ty));
        let narrowable = ints && !(f.params.is_empty() && f.lens.is_empty());
        let undeclared = narrowable && f.rets.iter().any(|r| undeclared(p, &f.local(*r).ty));
        Summary { rets: rets.to_vec(), narrowable, undeclared, steps, special: RefCell::default() }
    }
}

/// Arguments with every public parameter of few values fixed to each of them; empty when there are none, or
/// too many combinations.
fn public_cases(p: &Program, f: &Func, most: usize) -> Vec<Vec<Abs>> {
    let mut cases: Vec<Vec<Abs>> = vec![Vec::new()];
    let mut split = false;
    for id in f.lens.iter().chain(&f.params) {
        let (any, public) = (Abs::any(p, &f.local(*id).ty), f.local(*id).public);
        let values: Vec<Abs> = match &any {
            Abs::Sc(s) if public => match (s.itv().lo.small(), s.itv().hi.small()) {
                (Some(lo), Some(hi)) if (1..most as i128).contains(&hi.saturating_sub(lo)) => {
                    (lo..=hi).map(|v| Abs::scalar(Itv::point(v))).collect()
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let fits = !values.is_empty() && cases.len() * values.len() <= most;
        split |= fits;
        let values = if fits { values } else { vec![any] };
        cases = cases.iter().flat_map(|c| values.iter().map(|v| [&c[..], std::slice::from_ref(v)].concat())).collect();
    }
    if split { cases } else { Vec::new() }
}

/// `first`, less the failures that a later run no longer had.
fn earliest(mut first: Vec<Entry>, later: &[Entry]) -> Vec<Entry> {
    let open: BTreeSet<&record::Key> = later.iter().filter(|e| e.failure.is_some()).map(|e| &e.key).collect();
    for e in first.iter_mut().filter(|e| !open.contains(&e.key)) {
        e.closed_by_case |= e.failure.take().is_some();
    }
    first
}

/// Obligations of the runs by intervals, linear facts and solver (later ones may be missing): each belongs to the
/// first engine that closed it. What a stronger run no longer meets cannot happen.
fn report(func: FuncId, loc: Loc, runs: [&[Entry]; 3], start: Instant) -> Vec<Obligation> {
    let [first, last, solved] = runs;
    let proved = |engine| Outcome::Proved { engine };
    let one = |e: &Entry, outcome| Obligation { func, kind: e.key.1, loc: e.loc, nr: e.key.2, text: e.text.clone(), outcome, micros: 0 };
    let index = |es: &'_ [Entry]| -> BTreeMap<record::Key, Option<record::Failure>> {
        es.iter().map(|e| (e.key, e.failure.clone())).collect()
    };
    let (later, by_solver) = (index(last), index(solved));
    let ends = |e: &Entry, f: &record::Failure| match by_solver.get(&e.key) {
        None | Some(None) if !solved.is_empty() => proved(Engine::Smt),
        _ => failed(f),
    };
    let mut out = Vec::new();
    for e in first {
        out.push(one(e, match (&e.failure, later.get(&e.key)) {
            (None, _) if e.closed_by_case => proved(Engine::Relational),
            (None, _) => proved(Engine::Intervals),
            (Some(_), None | Some(None)) => proved(Engine::Relational),
            (Some(_), Some(Some(f))) => ends(e, f),
        }));
    }
    let seen: BTreeSet<&record::Key> = first.iter().map(|e| &e.key).collect();
    for e in last.iter().filter(|e| !seen.contains(&e.key)) {
        let engine = if first.is_empty() { Engine::Intervals } else { Engine::Relational };
        out.push(one(e, e.failure.as_ref().map_or(proved(engine), |f| ends(e, f))));
    }
    out.push(Obligation {
        func,
        kind: Kind::Total,
        loc,
        nr: 0,
        text: "terminates on every input".into(),
        outcome: proved(Engine::Syntactic),
        micros: start.elapsed().as_micros() as u64,
    });
    out
}

fn failed(f: &record::Failure) -> Outcome {
    Outcome::Failed { reason: f.reason.clone(), witness: None, origin: f.origin.clone() }
}

/// Settles every safety obligation of every function but the bodies of tests (those are executed).
pub fn analyse(p: &Program, opts: &Options) -> (Ranges, Vec<Obligation>) {
    let consts: Vec<Abs> = p.consts.iter().map(|c| Abs::of_const(&c.value)).collect();
    let tests: BTreeSet<FuncId> = p.tests.iter().map(|t| t.func).collect();
    let (mut funcs, mut sums, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for nr in 0..p.funcs.len() {
        let id = FuncId(nr as u32);
        let settled = settle(p, id, opts, &sums, &consts, !tests.contains(&id));
        sums.push(settled.summary);
        funcs.push(settled.ranges);
        all.extend(settled.obligations);
    }
    (Ranges { funcs }, all)
}

/// Whether some exact integer inside has no declared range.
fn undeclared(p: &Program, ty: &Ty) -> bool {
    match ty {
        Ty::Word(_) | Ty::Bool => false,
        Ty::Int(r) => r.is_none(),
        Ty::Array { elem, ranges, .. } => ranges.is_none() && undeclared(p, elem),
        Ty::Struct(id) => p.structs[id.0 as usize].fields.iter().any(|(_, t)| undeclared(p, t)),
    }
}
