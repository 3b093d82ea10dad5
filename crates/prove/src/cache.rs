//! Results by content. A function's key is the SHA-256 of its core text without places, of everything it refers to
//! (types, constants, specification functions), of the keys of its callees, of the options and of the sources of what judges.
//!
//! Needs: somewhere to keep texts, given by the caller.  Keeps: only functions with every obligation proved are
//! remembered, so a failure is always shown afresh.  Absent on purpose: files.

use crate::obligation::{Engine, Kind, Obligation, Outcome};
use santoku_ir::{visit, Base, ExprKind, Func, FuncId, Loc, Program, SpecExpr, SpecId, Stmt, Ty};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

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

/// Keys of all functions, callees first.
pub fn keys(p: &Program, options: &str) -> Vec<String> {
    let mut keys: Vec<String> = Vec::with_capacity(p.funcs.len());
    let consts: Vec<[u8; 32]> = p.consts.iter().map(|c| hash(&format!("{:?} {:?}", c.ty, c.value))).collect();
    for f in &p.funcs {
        let mut h = Sha256::new();
        h.update(ENGINE_VERSION);
        h.update(options);
        let bare = without_places(f);
        h.update(format!("{bare:?}"));
        let specs = specs_of(p, f);
        for c in consts_of(p, f, &specs) {
            h.update(consts.get(c as usize).copied().unwrap_or_default());
        }
        for s in structs_of(p, f) {
            h.update(format!("{:?}", p.structs.get(s as usize).map(|d| &d.fields)));
        }
        for s in specs {
            h.update(format!("{:?}", p.specs.get(s.0 as usize).map(|d| &d.body)));
        }
        visit::walk_stmts(&f.body, &mut |s| {
            if let Stmt::Call { func, .. } = s {
                h.update(keys.get(func.0 as usize).map_or("", String::as_str));
            }
        });
        keys.push(hex(&h.finalize()));
    }
    keys
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn without_places(f: &Func) -> Func {
    let mut f = f.clone();
    let none = Loc::default();
    f.loc = none;
    f.doc.clear();
    f.locals.iter_mut().for_each(|l| l.loc = none);
    f.contracts.iter_mut().for_each(|c| c.loc = none);
    fn strip(body: &mut [Stmt]) {
        for s in body {
            match s {
                Stmt::Assign { loc, .. }
                | Stmt::Call { loc, .. }
                | Stmt::For { loc, .. }
                | Stmt::If { loc, .. }
                | Stmt::Assert { loc, .. } => *loc = Loc::default(),
            }
            visit::blocks_mut(s).into_iter().for_each(|b| strip(b));
        }
    }
    strip(&mut f.body);
    f
}

fn consts_of(p: &Program, f: &Func, specs: &BTreeSet<SpecId>) -> BTreeSet<u32> {
    let mut out = BTreeSet::new();
    visit::walk_exprs(&f.body, &mut |e| {
        if let ExprKind::Read(p) = &e.kind {
            if let Base::Const(c) = p.base {
                out.insert(c.0);
            }
        }
    });
    let bodies = specs.iter().filter_map(|s| p.specs.get(s.0 as usize)).map(|s| &s.body);
    for cond in f.contracts.iter().map(|c| &c.cond).chain(bodies) {
        visit::walk_spec(cond, &mut |e| {
            if let SpecExpr::Place(p) = e {
                if let Base::Const(c) = p.base {
                    out.insert(c.0);
                }
            }
        });
    }
    out
}

fn structs_of(p: &Program, f: &Func) -> BTreeSet<u32> {
    let mut out = BTreeSet::new();
    let mut todo: Vec<Ty> = f.locals.iter().map(|l| l.ty.clone()).collect();
    while let Some(t) = todo.pop() {
        match t {
            Ty::Array { elem, .. } => todo.push(*elem),
            Ty::Struct(s) => {
                if out.insert(s.0) {
                    todo.extend(p.structs.get(s.0 as usize).into_iter().flat_map(|d| d.fields.iter().map(|x| x.1.clone())));
                }
            }
            Ty::Word(_) | Ty::Int(_) | Ty::Bool => {}
        }
    }
    out
}

fn specs_of(p: &Program, f: &Func) -> BTreeSet<SpecId> {
    let mut out: BTreeSet<SpecId> = BTreeSet::new();
    let mut todo: Vec<&SpecExpr> = f.contracts.iter().map(|c| &c.cond).collect();
    while let Some(e) = todo.pop() {
        visit::walk_spec(e, &mut |x| {
            if let SpecExpr::Call(id, _) = x {
                if out.insert(*id) {
                    todo.extend(p.specs.get(id.0 as usize).map(|s| &s.body));
                }
            }
        });
    }
    out
}

/// The remembered obligations of a function, all proved, and on how many inputs they were run; places are the function's own.
pub fn recall(store: &dyn Store, key: &str, func: FuncId, loc: Loc) -> Option<(Vec<Obligation>, u64)> {
    let kept: Kept = serde_json::from_str(&store.get(key)?).ok()?;
    if kept.key != key {
        return None;
    }
    let inputs = kept.inputs;
    let obligations: Option<Vec<Obligation>> = kept
        .obligations
        .into_iter()
        .map(|o| {
            let kind = Kind::ALL.into_iter().find(|k| k.name() == o.kind)?;
            let engine = Engine::ALL.into_iter().find(|e| e.name() == o.engine)?;
            Some(Obligation { func, kind, loc, nr: 0, text: o.text, outcome: Outcome::Proved { engine }, micros: o.micros })
        })
        .collect();
    Some((obligations?, inputs))
}

/// Remembers a function if everything about it is proved.
pub fn remember(store: &dyn Store, key: &str, obligations: &[Obligation], inputs: u64) {
    let all: Option<Vec<KeptOne>> = obligations
        .iter()
        .map(|o| {
            let engine = o.engine()?.name().to_string();
            Some(KeptOne { kind: o.kind.name().to_string(), engine, text: o.text.clone(), micros: o.micros })
        })
        .collect();
    let Some(obligations) = all.filter(|a| !a.is_empty()) else { return };
    if let Ok(text) = serde_json::to_string(&Kept { key: key.to_string(), obligations, inputs }) {
        store.put(key, &text);
    }
}
