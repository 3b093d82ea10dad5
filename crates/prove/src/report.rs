//! The whole proof of a program: safety, secrecy, meaning, joined function by function.
//!
//! Needs: a verified core program.  Keeps: every obligation of every function is counted, functions in the order of the
//! program, the same result for the same input whatever the number of threads (but for times).  Absent on purpose: files,
//! clocks other than for the times shown, rendering of diagnostics.

use crate::cache::{self, NoStore, Store};
use crate::contracts::{self, cost};
use crate::obligation::{Engine, Kind, Obligation, Outcome, Witness};
use crate::secrecy::{self, Timing};
use crate::trial::{self, Trial};
use crate::ranges;
use santoku_ir::{FuncId, Program};
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
        if let Some(obligations) = cache::recall(opts.store, &keys[id.0 as usize], *id, f.loc) {
            found.insert(*id, FunctionReport { func: *id, name: f.name.clone(), cached: true, obligations });
        }
    }
    let missing: Vec<FuncId> = wanted.iter().copied().filter(|f| !found.contains_key(f)).collect();
    if !missing.is_empty() {
        for r in settle(p, &missing, opts) {
            cache::remember(opts.store, &keys[r.func.0 as usize], &r.obligations);
            found.insert(r.func, r);
        }
    }
    Report { functions: found.into_values().collect(), files: p.files.clone(), micros: started.elapsed().as_micros() as u64 }
}

/// All engines on the given functions: safety for the program as a whole beside the meaning of one function after another.
fn settle(p: &Program, ids: &[FuncId], opts: &ProveOptions<'_>) -> Vec<FunctionReport> {
    let costs = cost::of_program(p);
    let next = AtomicUsize::new(0);
    let meaning: Mutex<BTreeMap<FuncId, Vec<Obligation>>> = Mutex::new(BTreeMap::new());
    let safety: Mutex<Vec<Obligation>> = Mutex::new(Vec::new());
    let work = || {
        while let Some(id) = ids.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut found = contracts::check(p, *id, &costs);
            found.extend(secrecy::check(p, *id, &opts.timing));
            lock(&meaning).insert(*id, found);
        }
    };
    let all = || {
        let found = ranges::analyse(p, &opts.ranges).1;
        lock(&safety).extend(found);
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
    ids.iter()
        .map(|id| {
            let safety = safety_of.remove(id).unwrap_or_default();
            let meaning = meaning.remove(id).unwrap_or_default();
            let obligations = last_resorts(p, *id, join(safety, meaning), opts);
            FunctionReport { func: *id, name: p.func(*id).name.clone(), cached: false, obligations }
        })
        .collect()
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
fn last_resorts(p: &Program, id: FuncId, mut obligations: Vec<Obligation>, opts: &ProveOptions<'_>) -> Vec<Obligation> {
    let open = |o: &Obligation| !o.proved() && o.kind != Kind::Secrecy && o.kind != Kind::Width;
    if !obligations.iter().any(open) {
        return obligations;
    }
    match trial::search(p, id, opts.tries) {
        Trial::Nothing => {}
        Trial::AllInputs(_) => {
            for o in obligations.iter_mut().filter(|o| open(o)) {
                o.outcome = Outcome::Proved { engine: Engine::Exhaustive };
            }
        }
        Trial::Broken(w, kind) => {
            let first = obligations.iter().position(|o| open(o) && Some(o.kind) == kind).or_else(|| obligations.iter().position(open));
            if let Some(o) = first.map(|i| &mut obligations[i]) {
                if let Outcome::Failed { witness, .. } = &mut o.outcome {
                    witness.get_or_insert(*w);
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
    functions: Vec<JsonFunction<'a>>,
}

#[derive(Serialize)]
struct JsonFunction<'a> {
    function: &'a str,
    cached: bool,
    counts: Counts,
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

    /// Machine-readable form. Field names are stable: `prover, holds, total, wall_micros, functions[].{function, cached,
    /// counts, failures[]}`, counts `{obligations, proved, failed, by_kind, by_engine, micros}`, failures `{kind, file, line,
    /// column, claim, reason, witness, witness_message}`.
    pub fn json(&self) -> String {
        let functions = self
            .functions
            .iter()
            .map(|f| JsonFunction { function: &f.name, cached: f.cached, counts: f.counts(), failures: self.failures(f) })
            .collect();
        let r = JsonReport {
            prover: cache::ENGINE_VERSION,
            holds: self.holds(),
            total: self.counts(),
            wall_micros: self.micros,
            functions,
        };
        serde_json::to_string_pretty(&r).unwrap_or_else(|e| format!("{{\"error\": \"{e}\"}}"))
    }

    fn failures<'a>(&'a self, f: &'a FunctionReport) -> Vec<JsonFailure<'a>> {
        f.obligations
            .iter()
            .filter_map(|o| match &o.outcome {
                Outcome::Proved { .. } => None,
                Outcome::Failed { reason, witness, .. } => Some(JsonFailure {
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
