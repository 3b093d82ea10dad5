//! A report in numbers: counts, a table, JSON.
//!
//! Needs: a report.  Keeps: names of fields in JSON.  Absent: proofs, and diagnostics for people (see `cli`).

use crate::cache;
use crate::obligation::{Engine, Kind, Obligation, Outcome, Witness};
use crate::report::{FunctionReport, Report};
use serde::Serialize;
use std::collections::BTreeMap;

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
    judge: JsonJudge<'a>,
    /// Closed without a run on any input.
    unrun: Vec<&'a str>,
    /// Public by their author's word: what callers do with these results is proved on that.
    declassified: Vec<&'a str>,
    functions: Vec<JsonFunction<'a>>,
}

#[derive(Serialize)]
struct JsonJudge<'a> {
    /// Functions whose safety the judge accepts.
    accepted: usize,
    /// Functions that are not accepted, and why; empty where something is open.
    refused: BTreeMap<&'a str, &'a str>,
    /// Clauses of contracts that the judge of meaning accepts, and all that were closed.
    clauses_accepted: usize,
    clauses: usize,
    /// Functions with clauses that rest on the engines, and these.
    resting: BTreeMap<&'a str, &'a [String]>,
}

#[derive(Serialize)]
struct JsonFunction<'a> {
    function: &'a str,
    cached: bool,
    counts: Counts,
    /// Runs of all of it.
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

    /// Machine-readable form. Field names are stable: `prover, holds, total, wall_micros, judge.{accepted, refused, clauses_accepted, clauses, resting}, unrun[], declassified[], functions[].{function, cached,
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
            judge: JsonJudge {
                accepted: self.accepted(),
                refused: self.refused().map(|(f, why)| (f.name.as_str(), why)).collect(),
                clauses_accepted: self.clauses().0,
                clauses: self.clauses().1,
                resting: self.resting().map(|(f, open)| (f.name.as_str(), open)).collect(),
            },
            unrun: self.unrun().map(|f| f.name.as_str()).collect(),
            declassified: self.declassified.iter().map(|(name, _)| name.as_str()).collect(),
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
