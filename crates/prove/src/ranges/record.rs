//! What one run over a function notes down: obligations, and the values seen at each place in the text.

use super::value::Abs;
use crate::obligation::{Kind, Origin};
use santoku_ir::{visit, Expr, Func, Loc};
use std::collections::HashMap;

/// Identifies an obligation: the address of the piece of syntax it belongs to (the program is borrowed for the
/// whole run, so addresses are stable and unique), its kind, and a number where there are several.
pub type Key = (usize, Kind, u32);

/// Address of a piece of syntax.
pub fn addr<T>(t: &T) -> usize {
    std::ptr::from_ref(t) as usize
}

/// Why an obligation is open, from its first failing visit.
#[derive(Clone, Debug)]
pub struct Failure {
    pub reason: String,
    pub origin: Option<Origin>,
}

/// One obligation over all visits of its place in the text.
#[derive(Clone, Debug)]
pub struct Entry {
    pub key: Key,
    pub loc: Loc,
    pub text: String,
    pub failure: Option<Failure>,
    /// Open at first, closed by running the values of the public parameters one by one.
    pub closed_by_case: bool,
}

/// Numbers the expressions of a function: outer before inner, in source order.
#[derive(Debug, Default)]
pub struct Sites {
    index: HashMap<usize, u32>,
}

impl Sites {
    pub fn of(func: &Func) -> Sites {
        let mut index = HashMap::new();
        visit::walk_exprs(&func.body, &mut |e| {
            let n = index.len() as u32;
            index.insert(addr(e), n);
        });
        Sites { index }
    }
    pub fn get(&self, e: &Expr) -> Option<usize> {
        self.index.get(&addr(e)).map(|n| *n as usize)
    }
    pub fn len(&self) -> usize {
        self.index.len()
    }
}

/// The notes of one run.
#[derive(Debug, Default)]
pub struct Record {
    pub entries: Vec<Entry>,
    index: HashMap<Key, usize>,
    /// Per expression number, all values seen; only for types with exact integers.
    pub exprs: Vec<Option<Abs>>,
    /// Per local, all values written.
    pub locals: Vec<Abs>,
}

impl Record {
    pub fn new(sites: usize, locals: Vec<Abs>) -> Record {
        Record { exprs: vec![None; sites], locals, ..Record::default() }
    }
    /// Notes one visit. `text` is called on the first visit only, `failure` on the first failing one.
    pub fn visit(&mut self, key: Key, loc: Loc, text: impl FnOnce() -> String, failure: Option<impl FnOnce() -> Failure>) {
        let at = *self.index.entry(key).or_insert_with(|| {
            self.entries.push(Entry { key, loc, text: text(), failure: None, closed_by_case: false });
            self.entries.len() - 1
        });
        if let (Some(failure), None) = (failure, &self.entries[at].failure) {
            self.entries[at].failure = Some(failure());
        }
    }
    pub fn expr(&mut self, site: usize, value: &Abs) {
        let slot = &mut self.exprs[site];
        match slot {
            Some(old) if old.covers(value) => {}
            Some(old) => *old = old.join(value),
            None => *slot = Some(value.strip()),
        }
    }
    pub fn open(&self) -> usize {
        self.entries.iter().filter(|e| e.failure.is_some()).count()
    }
}
