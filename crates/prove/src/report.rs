//! The whole proof of a program: safety, secrecy, meaning, joined function by function.
//!
//! Needs: a verified core program.  Keeps: every obligation of every function is counted, functions in the order of the
//! program, the same result for the same input whatever the number of threads (but for times).  Absent on purpose: files,
//! clocks other than for the times shown, rendering of diagnostics.

use crate::cache::{self, NoStore, Store};
use crate::contracts::{self, cost};
use crate::crosscheck::{self, Against, Crosscheck};
use crate::excuse::Excuses;
use crate::obligation::{Engine, Kind, Obligation, Outcome, Witness};
use crate::secrecy::{self, Timing};
use crate::trial::{self, Trial};
use crate::ranges;
use santoku_ir::{visit, Contract, ContractKind, Func, FuncId, Loc, Program, Stmt};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::Instant;

/// What the caller chooses.
pub struct ProveOptions<'a> {
    pub ranges: ranges::Options,
    pub timing: Timing,
    /// Results of earlier runs.
    pub store: &'a dyn Store,
    /// At least 1.
    pub threads: usize,
    /// Inputs tried to break a claim that was not proved.
    pub tries: u32,
}

impl Default for ProveOptions<'static> {
    fn default() -> Self {
        ProveOptions { ranges: ranges::Options::default(), timing: Timing::default(), store: &NoStore, threads: 2, tries: 200 }
    }
}

/// Stack of a proving thread: specification functions recurse.
const STACK_BYTES: usize = 256 << 20;

/// Result for one function.
#[derive(Clone, Debug)]
pub struct FunctionReport {
    pub func: FuncId,
    pub name: String,
    /// Taken from the cache.
    pub cached: bool,
    pub obligations: Vec<Obligation>,
    /// Contracts and assertions that say nothing, because no input gets to them.
    pub vacuous: Vec<Vacuous>,
    /// Inputs on which everything claimed of the function was run and held.
    pub inputs: u64,
}

/// A condition that holds for want of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vacuous {
    pub loc: Loc,
    pub text: String,
    pub why: Why,
}

/// Why nothing is asked of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// No input meets all `requires` of the function.
    Requires,
    /// The assertion is never reached.
    Unreached,
}

/// Result for a program.
#[derive(Clone, Debug)]
pub struct Report {
    pub functions: Vec<FunctionReport>,
    pub files: Vec<String>,
    /// Wall time of the run, in microseconds.
    pub micros: u64,
}

impl Report {
    pub fn total(&self) -> usize {
        self.functions.iter().map(|f| f.obligations.len()).sum()
    }
    /// Where the prover contradicts itself.
    pub fn faults(&self) -> impl Iterator<Item = &Obligation> {
        self.functions.iter().flat_map(|f| &f.obligations).filter(|o| o.fault())
    }
    /// Functions that were closed without a run of what was claimed on any input, though some input may meet what they require.
    pub fn unrun(&self) -> impl Iterator<Item = &FunctionReport> {
        self.functions.iter().filter(|f| f.inputs == 0 && f.obligations.iter().all(Obligation::proved) && f.vacuous.iter().all(|v| v.why != Why::Requires))
    }
    pub fn vacuous(&self) -> impl Iterator<Item = (FuncId, &Vacuous)> {
        self.functions.iter().flat_map(|f| f.vacuous.iter().map(|v| (f.func, v)))
    }
    pub fn failed(&self) -> impl Iterator<Item = &Obligation> {
        self.functions.iter().flat_map(|f| &f.obligations).filter(|o| !o.proved())
    }
    /// Everything proved, and at least one thing was there to prove.
    pub fn holds(&self) -> bool {
        self.total() > 0 && self.failed().next().is_none()
    }
}

/// Proves a program. Bodies of `test` blocks are not proved (they are run).
pub fn prove(p: &Program, opts: &ProveOptions<'_>) -> Report {
    let started = Instant::now();
    let tests: BTreeSet<FuncId> = p.tests.iter().map(|t| t.func).collect();
    let wanted: Vec<FuncId> = (0..p.funcs.len() as u32).map(FuncId).filter(|f| !tests.contains(f)).collect();
    let keys = cache::keys(p, &format!("{:?} {:?}", opts.ranges, opts.timing));
    let mut found: BTreeMap<FuncId, FunctionReport> = BTreeMap::new();
    for id in &wanted {
        let f = p.func(*id);
        if let Some((obligations, inputs)) = cache::recall(opts.store, &keys[id.0 as usize], *id, f.loc) {
            found.insert(*id, FunctionReport { func: *id, name: f.name.clone(), cached: true, obligations, vacuous: Vec::new(), inputs });
        }
    }
    let missing: Vec<FuncId> = wanted.iter().copied().filter(|f| !found.contains_key(f)).collect();
    if !missing.is_empty() {
        let mut settled = settle(p, &missing, opts);
        // Contracts recurse as deep here as in the proof.
        on_large_stack(|| check_on_inputs(p, &mut settled, opts.threads));
        for r in settled.functions {
            // What is vacuous is said on every run.
            if r.vacuous.is_empty() {
                cache::remember(opts.store, &keys[r.func.0 as usize], &r.obligations, r.inputs);
            }
            found.insert(r.func, r);
        }
    }
    Report { functions: found.into_values().collect(), files: p.files.clone(), micros: started.elapsed().as_micros() as u64 }
}

/// Runs on a thread with the stack of the proving ones, or here where none can be had.
fn on_large_stack(mut work: impl FnMut() + Send) {
    let started = std::thread::scope(|s| std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(s, &mut work).is_ok());
    if !started {
        work();
    }
}

/// All engines on the given functions: safety for the program as a whole beside the meaning of one function after another.
fn settle(p: &Program, ids: &[FuncId], opts: &ProveOptions<'_>) -> Settled {
    let costs = cost::of_program(p);
    let next = AtomicUsize::new(0);
    let meaning: Mutex<BTreeMap<FuncId, Vec<Obligation>>> = Mutex::new(BTreeMap::new());
    let contradicted: Mutex<Vec<(FuncId, contracts::Contradicted)>> = Mutex::default();
    let safety: Mutex<Vec<Obligation>> = Mutex::new(Vec::new());
    let claims: Mutex<Claims> = Mutex::default();
    let work = || {
        while let Some(id) = ids.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (mut found, contradictions) = contracts::check_with_contradictions(p, *id, &costs);
            lock(&contradicted).push((*id, contradictions));
            found.extend(secrecy::check(p, *id, &opts.timing));
            lock(&meaning).insert(*id, found);
        }
    };
    let all = || {
        let (ranges, found) = ranges::analyse(p, &opts.ranges);
        lock(&safety).extend(found);
        *lock(&claims) = Claims::of(p, &ranges);
        work();
    };
    std::thread::scope(|s| {
        let big = || std::thread::Builder::new().stack_size(STACK_BYTES);
        // A thread that cannot be had leaves its share to the others, and the last share to this one.
        if big().spawn_scoped(s, all).is_err() {
            all();
        }
        for _ in 1..opts.threads.max(1) {
            if big().spawn_scoped(s, work).is_err() {
                break;
            }
        }
    });
    let mut meaning = meaning.into_inner().unwrap_or_else(|e| e.into_inner());
    let mut safety_of: BTreeMap<FuncId, Vec<Obligation>> = BTreeMap::new();
    for o in safety.into_inner().unwrap_or_else(|e| e.into_inner()) {
        safety_of.entry(o.func).or_default().push(o);
    }
    let mut claims = claims.into_inner().unwrap_or_else(|e| e.into_inner());
    for (id, found) in contradicted.into_inner().unwrap_or_else(|e| e.into_inner()) {
        crosscheck::contradictions_written(&mut claims.written, id, &found);
    }
    let functions = ids
        .iter()
        .map(|id| {
            let safety = safety_of.remove(id).unwrap_or_default();
            let meaning = meaning.remove(id).unwrap_or_default();
            let mut vacuous = claims.vacuous.get(id).cloned().unwrap_or_default();
            let obligations = last_resorts(p, *id, join(safety, meaning), &mut vacuous, opts);
            FunctionReport { func: *id, name: p.func(*id).name.clone(), cached: false, obligations, vacuous, inputs: 0 }
        })
        .collect();
    Settled { functions, claims_written: claims.written }
}

/// Functions proved anew, and the program with what was found of it written into it.
struct Settled {
    functions: Vec<FunctionReport>,
    claims_written: Program,
}

/// What the range engine says besides its obligations.
#[derive(Default)]
struct Claims {
    written: Program,
    vacuous: BTreeMap<FuncId, Vec<Vacuous>>,
}

impl Claims {
    fn of(p: &Program, ranges: &ranges::Ranges) -> Claims {
        let vacuous = (0..p.funcs.len() as u32).map(FuncId).map(|id| (id, vacuous(p.func(id), ranges.dead(id)))).collect();
        Claims { written: crosscheck::claims_written(p, ranges), vacuous }
    }
}

fn vacuous(f: &Func, dead: &ranges::Dead) -> Vec<Vacuous> {
    if dead.entry {
        return vec![never_called(f)];
    }
    let (mut out, mut nr) = (Vec::new(), 0);
    visit::walk_stmts(&f.body, &mut |s| {
        if let (Stmt::Assert { text, loc, .. }, true) = (s, dead.unreached(nr)) {
            out.push(Vacuous { loc: *loc, text: text.clone(), why: Why::Unreached });
        }
        nr += 1;
    });
    out
}

fn never_called(f: &Func) -> Vacuous {
    let clauses: Vec<&Contract> = f.contracts.iter().filter(|c| c.kind == ContractKind::Requires).collect();
    let text: Vec<&str> = clauses.iter().map(|c| c.text.as_str()).collect();
    Vacuous { loc: clauses.last().map_or(f.loc, |c| c.loc), text: text.join(", "), why: Why::Requires }
}

/// Runs what was proved on inputs; what an input contradicts is a fault of ours. Where something is open, also in callees, runs count
/// up to what they break of it.
fn check_on_inputs(p: &Program, settled: &mut Settled, threads: usize) {
    let Settled { functions, claims_written } = settled;
    let ids: Vec<FuncId> = functions.iter().map(|r| r.func).collect();
    let mut excuses = Excuses::new(p, functions.iter().flat_map(|r| &r.obligations).filter(|o| !o.proved()));
    let runs = Crosscheck::new(p, claims_written);
    let mut near = near(&runs, &ids, &excuses, threads);
    let mut broken = BTreeSet::new();
    if near.iter().any(|found| found.against.is_some()) {
        // Once more, one after another: what a callee breaks excuses its callers.
        let mut one = runs.near();
        for (at, id) in ids.iter().enumerate() {
            near[at] = one.function(*id, &excuses);
            broken.extend(take_back(functions, at, near[at].against.take(), &mut excuses));
        }
    }
    let left: Vec<usize> = (0..ids.len()).filter(|at| near[*at].inputs == 0 && !broken.contains(at)).collect();
    functions.iter_mut().zip(&near).for_each(|(r, found)| r.inputs = found.inputs);
    let together = runs.together(&left.iter().map(|at| ids[*at]).collect::<Vec<_>>(), &excuses);
    for at in left {
        let found = match together.judged.get(&ids[at]) {
            Some(inputs) => crosscheck::Found { inputs: *inputs, against: None },
            None => runs.far(ids[at], &excuses),
        };
        functions[at].inputs = found.inputs;
        broken.extend(take_back(functions, at, found.against, &mut excuses));
    }
    // A run of the callee alone says it better.
    if let (Some((id, against)), true) = (together.against, broken.is_empty()) {
        let at = ids.iter().position(|own| *own == id).unwrap_or(0);
        take_back(functions, at, Some(against), &mut excuses);
    }
}

/// Short runs of every function, on several threads.
fn near(runs: &Crosscheck<'_>, ids: &[FuncId], excuses: &Excuses, threads: usize) -> Vec<crosscheck::Found> {
    let next = AtomicUsize::new(0);
    let found: Mutex<BTreeMap<usize, crosscheck::Found>> = Mutex::default();
    let work = || {
        let mut near = runs.near();
        while let Some((at, id)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, ids.get(at)?))) {
            let one = near.function(*id, excuses);
            lock(&found).insert(at, one);
        }
    };
    std::thread::scope(|s| {
        for _ in 1..threads.max(1) {
            if std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(s, work).is_err() {
                break;
            }
        }
        // Here, too, the stack is large.
        work();
    });
    found.into_inner().unwrap_or_else(|e| e.into_inner()).into_values().collect()
}

/// Takes back what an input to the function at `at` contradicts; gives `at`, if there is such an input.
fn take_back(functions: &mut [FunctionReport], at: usize, against: Option<Against>, excuses: &mut Excuses) -> Option<usize> {
    let a = against?;
    let blamed = if a.kind == Kind::Requires { at } else { functions.iter().position(|r| r.name == a.func).unwrap_or(at) };
    if let Some(o) = disproved(&mut functions[blamed], a) {
        excuses.add(o);
    }
    Some(at)
}

/// Takes back the obligation that an input contradicts.
fn disproved(r: &mut FunctionReport, a: Against) -> Option<&Obligation> {
    let dead = crosscheck::who_said_nobody(&a.witness.message);
    let same = |o: &Obligation| o.proved() && o.kind == a.kind;
    let find = |f: &dyn Fn(&Obligation) -> bool| r.obligations.iter().position(f);
    let at = match dead {
        // What a contradiction left open.
        Some(_) => find(&|o| !o.proved() && o.loc == a.loc).or_else(|| find(&|o| !o.proved() && o.kind == Kind::Ensures)).or_else(|| find(&|o| o.loc == a.loc)),
        None => find(&|o| same(o) && o.loc == a.loc).or_else(|| find(&same)),
    };
    let o = r.obligations.get_mut(at.unwrap_or(0))?;
    let engine = dead.or(o.engine()).unwrap_or(Engine::Syntactic);
    let reason = if dead.is_some() { "an input gets where none can" } else { "an input contradicts what was proved" };
    o.outcome = Outcome::Fault { engine, reason: reason.into(), witness: Some(a.witness) };
    Some(o)
}

fn lock<T>(m: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    m.lock().unwrap_or_else(|e| e.into_inner())
}

/// A clause that both lists judge is one obligation, proved if either proved it. One list may judge a clause several
/// times, at each visit of a call: there it is proved if every visit was.
fn join(safety: Vec<Obligation>, meaning: Vec<Obligation>) -> Vec<Obligation> {
    let mut out: Vec<Obligation> = Vec::new();
    let mut at: BTreeMap<ClauseKey, usize> = BTreeMap::new();
    for list in [safety, meaning] {
        let mut judged: BTreeMap<ClauseKey, Obligation> = BTreeMap::new();
        for o in list {
            let Some(key) = clause_key(&o) else {
                out.push(o);
                continue;
            };
            match judged.get_mut(&key) {
                Some(before) if before.proved() && !o.proved() => *before = o,
                Some(_) => {}
                None => {
                    judged.insert(key, o);
                }
            }
        }
        for (key, o) in judged {
            match at.get(&key) {
                Some(i) if out[*i].proved() || !o.proved() => {}
                Some(i) => out[*i] = o,
                None => {
                    at.insert(key, out.len());
                    out.push(o);
                }
            }
        }
    }
    out
}

type ClauseKey = (Kind, santoku_ir::Loc, u32, String);

/// What makes two obligations about contracts the same one; `None` for the others.
fn clause_key(o: &Obligation) -> Option<ClauseKey> {
    match o.kind {
        Kind::Ensures => Some((o.kind, santoku_ir::Loc::default(), o.nr, o.text.clone())),
        Kind::Requires => Some((o.kind, o.loc, o.nr, o.text.clone())),
        _ => None,
    }
}

/// For what is still open: all inputs if they are few, else a search for inputs that break it.
fn last_resorts(p: &Program, id: FuncId, mut obligations: Vec<Obligation>, vacuous: &mut Vec<Vacuous>, opts: &ProveOptions<'_>) -> Vec<Obligation> {
    let open = |o: &Obligation| !o.proved() && !o.fault() && o.kind != Kind::Secrecy && o.kind != Kind::Width;
    if !obligations.iter().any(open) {
        return obligations;
    }
    let close = |obligations: &mut Vec<Obligation>, engine| {
        obligations.iter_mut().filter(|o| open(o)).for_each(|o| o.outcome = Outcome::Proved { engine });
    };
    if vacuous.iter().any(|v| v.why == Why::Requires) {
        // Nobody can call it: nothing is asked of it, and that is said.
        close(&mut obligations, Engine::Relational);
        return obligations;
    }
    match trial::search(p, id, opts.tries) {
        Trial::Nothing => {}
        Trial::AllInputs(_) => close(&mut obligations, Engine::Exhaustive),
        Trial::NoInput => {
            vacuous.push(never_called(p.func(id)));
            close(&mut obligations, Engine::Exhaustive);
        }
        Trial::Broken(b) => {
            let shown = |o: &Obligation| o.kind == b.kind && (b.own || b.kind == Kind::Requires);
            let first = obligations.iter().position(|o| open(o) && shown(o)).or_else(|| obligations.iter().position(open));
            if let Some(o) = first.map(|i| &mut obligations[i]) {
                if let Outcome::Failed { witness, .. } = &mut o.outcome {
                    witness.get_or_insert(b.witness);
                }
            }
        }
    }
    obligations
}

/// Counts of one function or of all.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Counts {
    pub obligations: usize,
    pub proved: usize,
    pub failed: usize,
    /// Kind -> number of obligations.
    pub by_kind: BTreeMap<&'static str, usize>,
    /// Engine -> number of obligations it closed.
    pub by_engine: BTreeMap<&'static str, usize>,
    pub micros: u64,
}

impl Counts {
    fn add(&mut self, o: &Obligation) {
        self.obligations += 1;
        *self.by_kind.entry(o.kind.name()).or_default() += 1;
        match o.engine() {
            Some(e) => {
                self.proved += 1;
                *self.by_engine.entry(e.name()).or_default() += 1;
            }
            None => self.failed += 1,
        }
        self.micros += o.micros;
    }
}

#[derive(Serialize)]
struct JsonReport<'a> {
    prover: &'static str,
    holds: bool,
    total: Counts,
    wall_micros: u64,
    /// Closed without a run on any input.
    unrun: Vec<&'a str>,
    functions: Vec<JsonFunction<'a>>,
}

#[derive(Serialize)]
struct JsonFunction<'a> {
    function: &'a str,
    cached: bool,
    counts: Counts,
    /// Inputs on which all of it was run.
    inputs: u64,
    vacuous: Vec<&'a str>,
    failures: Vec<JsonFailure<'a>>,
}

#[derive(Serialize)]
struct JsonFailure<'a> {
    kind: &'static str,
    file: &'a str,
    line: u32,
    column: u32,
    claim: &'a str,
    reason: &'a str,
    witness: Vec<(&'a str, &'a str)>,
    witness_message: Option<&'a str>,
}

impl Report {
    pub fn counts(&self) -> Counts {
        let mut c = Counts::default();
        self.functions.iter().flat_map(|f| &f.obligations).for_each(|o| c.add(o));
        c
    }

    /// Machine-readable form. Field names are stable: `prover, holds, total, wall_micros, unrun[], functions[].{function, cached,
    /// counts, inputs, vacuous[], failures[]}`, counts `{obligations, proved, failed, by_kind, by_engine, micros}`, failures `{kind, file, line,
    /// column, claim, reason, witness, witness_message}`.
    pub fn json(&self) -> String {
        let functions = self
            .functions
            .iter()
            .map(|f| JsonFunction {
                function: &f.name,
                cached: f.cached,
                counts: f.counts(),
                inputs: f.inputs,
                vacuous: f.vacuous.iter().map(|v| v.text.as_str()).collect(),
                failures: self.failures(f),
            })
            .collect();
        let r = JsonReport {
            prover: cache::ENGINE_VERSION,
            holds: self.holds(),
            total: self.counts(),
            wall_micros: self.micros,
            unrun: self.unrun().map(|f| f.name.as_str()).collect(),
            functions,
        };
        serde_json::to_string_pretty(&r).unwrap_or_else(|e| format!("{{\"error\": \"{e}\"}}"))
    }

    fn failures<'a>(&'a self, f: &'a FunctionReport) -> Vec<JsonFailure<'a>> {
        f.obligations
            .iter()
            .filter_map(|o| match &o.outcome {
                Outcome::Proved { .. } => None,
                Outcome::Failed { reason, witness, .. } | Outcome::Fault { reason, witness, .. } => Some(JsonFailure {
                    kind: o.kind.name(),
                    file: self.files.get(o.loc.file as usize).map_or("", String::as_str),
                    line: o.loc.line,
                    column: o.loc.col,
                    claim: &o.text,
                    reason,
                    witness: inputs(witness.as_ref()),
                    witness_message: witness.as_ref().map(|w| w.message.as_str()),
                }),
            })
            .collect()
    }

    /// One row per function: obligations of every kind that occurs, what the engines closed, failures, time.
    pub fn table(&self) -> String {
        let total = self.counts();
        let kinds: Vec<&'static str> = Kind::ALL.iter().map(|k| k.name()).filter(|k| total.by_kind.contains_key(k)).collect();
        let mut head = vec!["function".to_string()];
        head.extend(kinds.iter().map(|k| k.to_string()));
        head.extend(["closed by", "open", "ms"].map(String::from));
        let row = |name: String, c: &Counts| {
            let mut r = vec![name];
            r.extend(kinds.iter().map(|k| c.by_kind.get(k).map_or("-".into(), usize::to_string)));
            r.push(engines(c));
            r.push(c.failed.to_string());
            r.push(format!("{}.{}", c.micros / 1000, c.micros / 100 % 10));
            r
        };
        let mut rows = vec![head];
        for f in &self.functions {
            let mark = if f.cached { " (cached)" } else { "" };
            rows.push(row(format!("{}{mark}", f.name), &f.counts()));
        }
        rows.push(row("total".into(), &total));
        align(&rows)
    }
}

fn inputs(w: Option<&Witness>) -> Vec<(&str, &str)> {
    w.map_or(Vec::new(), |w| w.inputs.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect())
}

impl FunctionReport {
    pub fn counts(&self) -> Counts {
        let mut c = Counts::default();
        self.obligations.iter().for_each(|o| c.add(o));
        c
    }
}

fn engines(c: &Counts) -> String {
    let parts: Vec<String> =
        Engine::ALL.iter().filter_map(|e| c.by_engine.get(e.name()).map(|n| format!("{} {n}", e.name()))).collect();
    if parts.is_empty() {
        "nothing".into()
    } else {
        parts.join(", ")
    }
}

fn align(rows: &[Vec<String>]) -> String {
    let width = |i: usize| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let mut out = String::new();
    for r in rows {
        for (i, cell) in r.iter().enumerate() {
            let pad = " ".repeat(widths[i] - cell.chars().count());
            // Names and lists of engines to the left, numbers to the right.
            let text = if i == 0 || i + 3 == r.len() { format!("{cell}{pad}") } else { format!("{pad}{cell}") };
            out.push_str(&text);
            out.push_str(if i + 1 == r.len() { "\n" } else { "  " });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use santoku_ir::build::FuncBuilder;
    use santoku_ir::{Expr, Place, Range, Ty};

    /// `x + add` for `x` in 0..9, said to stay in 0..9, with everything about it taken for proved.
    fn taken_for_proved(add: i64) -> (Program, Settled) {
        let mut p = Program::default();
        let empty = Program::default();
        let mut b = FuncBuilder::new(&empty, "f");
        let digit = Ty::Int(Some(Range::new(0, 9)));
        let (x, out) = (b.param("x", digit.clone()), b.ret("out", digit));
        let e = b.get(x) + Expr::int(add);
        b.assign(Place::local(out), e);
        p.add_func(b.finish());
        let (ranges, mut obligations) = ranges::analyse(&p, &ranges::Options::default());
        obligations.iter_mut().for_each(|o| o.outcome = Outcome::Proved { engine: Engine::Smt });
        let written = crosscheck::claims_written(&p, &ranges);
        let report = FunctionReport { func: FuncId(0), name: "f".into(), cached: false, obligations, vacuous: Vec::new(), inputs: 0 };
        (p, Settled { functions: vec![report], claims_written: written })
    }

    #[test]
    fn an_input_that_contradicts_a_proof_is_a_fault_of_ours() {
        let (p, mut right) = taken_for_proved(0);
        check_on_inputs(&p, &mut right, 1);
        assert!(right.functions[0].inputs > 10 && !right.functions[0].obligations.iter().any(Obligation::fault));
        let (p, mut wrong) = taken_for_proved(1);
        check_on_inputs(&p, &mut wrong, 2);
        let faults: Vec<&Obligation> = wrong.functions[0].obligations.iter().filter(|o| o.fault()).collect();
        let [Obligation { kind: Kind::Range, outcome: Outcome::Fault { engine: Engine::Smt, witness: Some(w), .. }, .. }] = &faults[..] else {
            panic!("{faults:?}")
        };
        assert_eq!(w.inputs, [("x".to_string(), "9".to_string())]);
        assert!(!wrong.functions[0].obligations.iter().all(Obligation::proved));
    }
}
