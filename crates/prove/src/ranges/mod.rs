//! Safety: every exact integer in its range, every index in its array, every value defined.
//!
//! Needs: a verified core program.  Keeps: nothing between programs; a run is a function of the program and the
//! options.  Absent: secrecy, meaning (the algebra's), rendering.
//!
//! Engines in order: intervals; then, for functions with something left open, linear facts and case splits on
//! carries; then the solver, for what is still open. An obligation closed by either may rely on all others: at the first violation of an execution every
//! earlier obligation held, so the run that closed it was right about the state before it.

mod annotate;
mod cond;
mod contracts;
mod eval;
mod exec;
mod itv;
mod lin;
mod loops;
mod num;
mod place;
mod record;
mod run;
mod show;
mod split;
mod terms;
mod value;
mod witness;

pub use annotate::{annotate, annotate_with, check_annotations};
pub use contracts::is_simple;
pub use itv::Itv;
pub use num::Num;
pub use show::Show;
pub use value::{Abs, Sc};

use crate::obligation::{Engine, Kind, Obligation, Outcome};
use crate::smt::Slice;
use record::{Entry, Record, Sites};
use run::{Depth, Run, State};
use santoku_ir::{FuncId, LocalId, Program};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// How much work the safety prover may do. All limits are counts, so results do not depend on the machine.
#[derive(Clone, Debug)]
pub struct Options {
    /// Abstract steps per function and engine.
    pub steps: u64,
    /// Abstract steps per function for trying case splits.
    pub split_steps: u64,
    /// Accept intermediates wider than 128 bits where only their low bits are used.
    pub modular_width: bool,
    /// Run the relational engine also where intervals leave nothing open: narrower ranges, more time.
    pub eager: bool,
    /// Solver steps per query of the last engine; `None` leaves the solver out. Without `z3` on the machine it is
    /// left out too.
    pub smt: Option<u64>,
    /// Inputs tried per function with open obligations.
    pub witness_tries: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { steps: 5_000_000, split_steps: 3_000_000, modular_width: false, eager: false, smt: Some(1_000_000), witness_tries: 400 }
    }
}

/// What callers know of a function: its results for any arguments.
pub struct Summary {
    rets: Vec<Abs>,
    /// Narrower arguments may give narrower results.
    narrowable: bool,
    /// Cost of one run.
    steps: u64,
    special: RefCell<Vec<(Vec<Abs>, Vec<Abs>)>>,
}

/// Steps a callee may cost to be run again for the arguments of one call.
const SMALL_CALLEE: u64 = 20_000;
/// Solver queries per function.
const QUERIES: u32 = 8;
/// Steps a callee may cost to be run in place by a relational run.
const TINY_CALLEE: u64 = 2_000;
/// Depth of callees run in place.
const MAX_INLINED: u32 = 4;
/// Most combinations of public argument values that are run one by one.
const MAX_CASES: usize = 512;
/// Argument tuples remembered per callee.
const SPECIAL_CASES: usize = 32;

/// Facts about one function.
pub struct FuncRanges {
    sites: Vec<Option<Abs>>,
    locals: Vec<Abs>,
    rets: Vec<Abs>,
}

/// Proven values of every expression and local of a program, true whenever all obligations are.
pub struct Ranges {
    funcs: Vec<FuncRanges>,
}

impl Ranges {
    /// Values of expression number `site` of a function (order of [`santoku_ir::visit::walk_exprs`]); `None`
    /// when it has no exact integers or is never reached.
    pub fn site(&self, func: FuncId, site: usize) -> Option<&Abs> {
        self.funcs[func.0 as usize].sites.get(site)?.as_ref()
    }
    /// All values ever stored in a local (of types with exact integers).
    pub fn local(&self, func: FuncId, local: LocalId) -> &Abs {
        &self.funcs[func.0 as usize].locals[local.0 as usize]
    }
    /// Values of the results of a function.
    pub fn rets(&self, func: FuncId) -> &[Abs] {
        &self.funcs[func.0 as usize].rets
    }
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

struct Settled {
    ranges: FuncRanges,
    summary: Summary,
    obligations: Vec<Obligation>,
}

fn settle(p: &Program, id: FuncId, opts: &Options, sums: &[Summary], consts: &[Abs], wanted: bool) -> Settled {
    let start = Instant::now();
    let f = p.func(id);
    let sites = Sites::of(f);
    let mut plain = Run::new(p, f, opts, Depth::Intervals, sums, consts, &sites);
    let mut rets = plain.function(None);
    let (mut rec, steps) = (plain.rec, plain.steps);
    let (mut closed, mut solved, mut models) = (Vec::new(), Vec::new(), Vec::new());
    let by_case = if wanted && rec.open() > 0 { public_cases(p, f) } else { Vec::new() };
    if !by_case.is_empty() {
        let mut cased = Run::new(p, f, opts, Depth::Intervals, sums, consts, &sites);
        let results: Vec<Vec<Abs>> = by_case.iter().map(|args| cased.function(Some(args))).collect();
        if cased.rec.open() < rec.open() {
            let join = |a: Vec<Abs>, b: Vec<Abs>| a.iter().zip(&b).map(|(a, b)| a.join(b)).collect();
            rets = results.into_iter().reduce(join).unwrap_or(rets);
            closed = std::mem::replace(&mut rec, cased.rec).entries;
        }
    }
    if wanted && (rec.open() > 0 || opts.eager) {
        let mut scout = Run::new(p, f, opts, Depth::Relational, sums, consts, &sites);
        scout.mute = 1;
        scout.splits.search = true;
        scout.splits.steps = opts.split_steps;
        scout.function(None);
        let mut second = Run::new(p, f, opts, Depth::Relational, sums, consts, &sites);
        let plans = scout.splits.plans;
        second.splits.plans.clone_from(&plans);
        rets = second.function(None);
        if let (Some(limit), true) = (opts.smt, second.rec.open() > 0 && crate::smt::available()) {
            let mut third = Run::new(p, f, opts, Depth::Relational, sums, consts, &sites);
            third.splits.plans = plans;
            third.slice = Some(Slice::new(limit, QUERIES));
            third.function(None);
            models = third.slice.map(|s| s.models).unwrap_or_default();
            solved = third.rec.entries;
        }
        let before = std::mem::replace(&mut rec, second.rec).entries;
        closed = if closed.is_empty() { before } else { earliest(closed, &before) };
    }
    let ints = f.rets.iter().any(|r| value::has_ints(p, &f.local(*r).ty));
    let narrowable = ints && !(f.params.is_empty() && f.lens.is_empty());
    let summary = Summary { rets: rets.clone(), narrowable, steps, special: RefCell::default() };
    let mut obligations = if wanted { report(id, f.loc, [&closed, &rec.entries, &solved], start) } else { Vec::new() };
    if !obligations.iter().all(Obligation::proved) {
        for model in &models {
            witness::from_model(p, id, &mut |l, path| model.get(&(l, path.to_vec())).cloned(), &mut obligations);
        }
        witness::search(p, id, opts, &mut obligations);
    }
    let Record { exprs, locals, .. } = rec;
    Settled { ranges: FuncRanges { sites: exprs, locals, rets }, summary, obligations }
}

/// Arguments with every public parameter of few values fixed to each of them; empty when there are none, or
/// too many combinations.
fn public_cases(p: &Program, f: &santoku_ir::Func) -> Vec<Vec<Abs>> {
    let mut cases: Vec<Vec<Abs>> = vec![Vec::new()];
    let mut split = false;
    for id in f.lens.iter().chain(&f.params) {
        let (any, public) = (Abs::any(p, &f.local(*id).ty), f.local(*id).public);
        let values: Vec<Abs> = match &any {
            Abs::Sc(s) if public => match (s.itv.lo.small(), s.itv.hi.small()) {
                (Some(lo), Some(hi)) if (1..MAX_CASES as i128).contains(&hi.saturating_sub(lo)) => {
                    (lo..=hi).map(|v| Abs::scalar(Itv::point(v))).collect()
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let fits = !values.is_empty() && cases.len() * values.len() <= MAX_CASES;
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
fn report(func: FuncId, loc: santoku_ir::Loc, runs: [&[Entry]; 3], start: Instant) -> Vec<Obligation> {
    let [first, last, solved] = runs;
    let proved = |engine| Outcome::Proved { engine };
    let one = |e: &Entry, outcome| Obligation { func, kind: e.key.1, loc: e.loc, text: e.text.clone(), outcome, micros: 0 };
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
        text: "terminates on every input".into(),
        outcome: proved(Engine::Syntactic),
        micros: start.elapsed().as_micros() as u64,
    });
    out
}

fn failed(f: &record::Failure) -> Outcome {
    Outcome::Failed { reason: f.reason.clone(), witness: None, origin: f.origin.clone() }
}

impl Run<'_> {
    /// Runs the function on any arguments (or the given ones); gives its results.
    pub(crate) fn function(&mut self, args: Option<&[Abs]>) -> Vec<Abs> {
        let f = self.f;
        let locals: Vec<Abs> = f.locals.iter().map(|l| Abs::undefined(self.p, &l.ty)).collect();
        let mut st = State { versions: vec![0; locals.len()], locals, covers: Default::default(), dead: false };
        for (nr, id) in f.lens.iter().chain(&f.params).enumerate() {
            let any = Abs::any(self.p, &f.local(*id).ty);
            let v = args.and_then(|a| a.get(nr)).map_or_else(|| any.clone(), Abs::strip);
            st.locals[id.0 as usize] = self.input_terms(*id, &v);
            self.rec.locals[id.0 as usize] = v;
        }
        for id in &f.lens {
            if let (true, Abs::Sc(s)) = (self.relational(), &mut st.locals[id.0 as usize]) {
                let atom = self.atoms.fresh(s.itv.clone());
                s.fact = value::Fact::Lin(std::rc::Rc::new(lin::Lin::atom(atom)));
            }
        }
        self.assume_requires(&mut st);
        let entry = st.locals.clone();
        self.block(&mut st, &f.body);
        self.loc = f.loc;
        self.finish(&mut st, &entry)
    }

    fn finish(&mut self, st: &mut State, entry: &[Abs]) -> Vec<Abs> {
        let (f, at) = (self.f, self.func_addr());
        for (nr, id) in f.rets.iter().enumerate() {
            let place = santoku_ir::Place::local(*id);
            let ok = st.dead || st.locals[id.0 as usize].defined() || self.covered(st, &place, &[]);
            self.check(
                at,
                Kind::Defined,
                nr as u32,
                ok,
                |s| format!("result `{}` is written", s.local(*id)),
                |s| record::Failure { reason: format!("result `{}` may be left unwritten", s.local(*id)), origin: None },
            );
        }
        if !st.dead {
            self.ensures(st, entry);
        }
        f.rets
            .iter()
            .map(|id| {
                let any = Abs::any(self.p, &f.local(*id).ty);
                let own = &st.locals[id.0 as usize];
                any.zip(own, &mut |any, own| {
                    let met = any.itv.meet(&own.itv);
                    Sc::new(if met.is_empty() { any.itv.clone() } else { met })
                })
            })
            .collect()
    }

    /// Results of a callee for the arguments in `frame`: its summary; for small callees and narrow arguments
    /// those of a run of its own, in a relational run of its body in place.
    pub(crate) fn summary(&mut self, func: FuncId, frame: &mut Vec<Abs>) -> Vec<Abs> {
        let callee = self.p.func(func);
        let Some(sum) = self.sums.get(func.0 as usize) else {
            return callee.rets.iter().map(|r| Abs::any(self.p, &callee.local(*r).ty)).collect();
        };
        let ids = callee.lens.iter().chain(&callee.params);
        let mut any = ids.clone().map(|id| (id, Abs::any(self.p, &callee.local(*id).ty)));
        let usual = any.all(|(id, t)| frame[id.0 as usize].strip().covers(&t));
        let args: Vec<Abs> = ids.map(|id| frame[id.0 as usize].strip()).collect();
        if !sum.narrowable || sum.steps > SMALL_CALLEE || usual || !args.iter().all(Abs::defined) {
            return sum.rets.clone();
        }
        let sharpen = |rets: Vec<Abs>| -> Vec<Abs> {
            let meet = |a: &Sc, b: &Sc| Sc { itv: a.itv.meet(&b.itv), ..a.clone() };
            rets.iter().zip(&sum.rets).map(|(a, b)| a.zip(b, &mut |a, b| meet(a, b))).collect()
        };
        if self.relational() && self.inlined < MAX_INLINED && sum.steps <= TINY_CALLEE {
            return self.in_place(func, frame).map_or_else(|| sum.rets.clone(), sharpen);
        }
        if let Some((_, rets)) = sum.special.borrow().iter().find(|(a, _)| *a == args) {
            return rets.clone();
        }
        let sites = Sites::default();
        let mut run = Run::new(self.p, callee, self.opts, Depth::Intervals, self.sums, self.consts, &sites);
        run.mute = 1;
        let rets = sharpen(run.function(Some(&args)));
        self.steps += run.steps;
        let mut special = sum.special.borrow_mut();
        if special.len() < SPECIAL_CASES {
            special.push((args, rets.clone()));
        }
        rets
    }

    /// Runs a callee's body here, so that linear facts and case splits reach through it. `None`: no result.
    fn in_place(&mut self, func: FuncId, frame: &mut Vec<Abs>) -> Option<Vec<Abs>> {
        let callee = self.p.func(func);
        let (loc, modular) = (self.loc, std::mem::replace(&mut self.modular, false));
        self.inlined += 1;
        let dead = self.in_frame(func, frame, |run, st| {
            run.block(st, &callee.body);
            st.dead
        });
        self.inlined -= 1;
        (self.loc, self.modular) = (loc, modular);
        let rets: Vec<Abs> = callee.rets.iter().map(|id| frame[id.0 as usize].clone()).collect();
        (!dead && rets.iter().all(Abs::defined)).then_some(rets)
    }
}
