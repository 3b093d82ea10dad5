//! Results by content.
//!
//! Needs: somewhere to keep texts, given by the caller, and [keys](crate::key).  Keeps: only functions with every obligation proved are
//! remembered, so a failure is always shown afresh.  Absent on purpose: files.

use crate::obligation::{Engine, Kind, Obligation, Outcome};
use crate::replay::Replayed;
use crate::report::{FunctionReport, Judgement};
use santoku_ir::{FuncId, Loc};
use serde::{Deserialize, Serialize};

/// Changes with every change to what judges: a digest of its sources, made when this is built.
pub const ENGINE_VERSION: &str = concat!("santoku-prove ", env!("SANTOKU_PROVE_ENGINE"));

/// What that digest is of, relative to this crate.
pub const JUDGES: &str = env!("SANTOKU_PROVE_JUDGES");

/// Keeps texts under keys of 64 hexadecimal digits. A lost or damaged text costs time, never soundness of a later run
/// as long as nobody else writes there.
pub trait Store: Sync {
    fn get(&self, key: &str) -> Option<String>;
    fn put(&self, key: &str, text: &str);
}

/// Keeps nothing.
pub struct NoStore;

impl Store for NoStore {
    fn get(&self, _: &str) -> Option<String> {
        None
    }
    fn put(&self, _: &str, _: &str) {}
}

#[derive(Serialize, Deserialize)]
struct Kept {
    /// Guards against a text under the wrong key.
    key: String,
    obligations: Vec<KeptOne>,
    judgement: Judgement,
    clauses: Replayed,
    /// Inputs on which all of it was run.
    inputs: u64,
}

#[derive(Serialize, Deserialize)]
struct KeptOne {
    kind: String,
    engine: String,
    text: String,
    micros: u64,
}

/// What is remembered of a function.
pub struct Recalled {
    /// All proved; places are the function's own.
    pub obligations: Vec<Obligation>,
    pub judgement: Judgement,
    pub clauses: Replayed,
    pub inputs: u64,
}

/// What was remembered under a key.
pub fn recall(store: &dyn Store, key: &str, func: FuncId, loc: Loc) -> Option<Recalled> {
    let kept: Kept = serde_json::from_str(&store.get(key)?).ok()?;
    if kept.key != key {
        return None;
    }
    let obligations: Option<Vec<Obligation>> = kept
        .obligations
        .into_iter()
        .map(|o| {
            let kind = Kind::ALL.into_iter().find(|k| k.name() == o.kind)?;
            let engine = Engine::ALL.into_iter().find(|e| e.name() == o.engine)?;
            Some(Obligation { func, kind, loc, nr: 0, text: o.text, outcome: Outcome::Proved { engine }, micros: o.micros })
        })
        .collect();
    Some(Recalled { obligations: obligations?, judgement: kept.judgement, clauses: kept.clauses, inputs: kept.inputs })
}

/// Remembers a function if everything about it is proved.
pub fn remember(store: &dyn Store, key: &str, of: &FunctionReport) {
    let all: Option<Vec<KeptOne>> = of
        .obligations
        .iter()
        .map(|o| {
            let engine = o.engine()?.name().to_string();
            Some(KeptOne { kind: o.kind.name().to_string(), engine, text: o.text.clone(), micros: o.micros })
        })
        .collect();
    let Some(obligations) = all.filter(|a| !a.is_empty()) else { return };
    if let Ok(text) = serde_json::to_string(&Kept { key: key.to_string(), obligations, judgement: of.judgement.clone(), clauses: of.clauses.clone(), inputs: of.inputs }) {
        store.put(key, &text);
    }
}
