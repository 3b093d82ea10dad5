//! What an input may break without any engine being wrong: what is open, and what comes after it.
//!
//! Needs: the obligations that are open.  Keeps: an obligation that an engine closed may rely on every other one; the first that breaks
//! in a run is the one to look at, and it is excused if an open obligation may be the one that broke.  Absent: runs.

use crate::obligation::{Kind, Obligation};
use santoku_ir::interp::{Fault, FaultKind};
use santoku_ir::{visit, ContractKind, Func, FuncId, Ghost, Loc, Program, Stmt};
use std::collections::BTreeMap;

/// What the assertions say that were put where no input gets.
pub const NOBODY: &str = "no input gets here";
pub const NOBODY_BY_SOLVER: &str = "no input gets here, or what the solver is told contradicts itself";
pub const NOBODY_BY_ALGEBRA: &str = "no input gets here, or what the algebra knows contradicts itself";

/// The open obligations of a program, by the name of their function.
#[derive(Default)]
pub struct Excuses {
    open: BTreeMap<String, Vec<(Kind, Loc)>>,
    entries: BTreeMap<String, Loc>,
    /// Lemmas that a function rests on: no run gets into them.
    lemmas: BTreeMap<String, Vec<String>>,
    names: Vec<String>,
}

/// The lemmas that a function calls.
pub fn lemmas(f: &Func) -> Vec<FuncId> {
    let mut all = Vec::new();
    visit::walk_stmts(&f.body, &mut |s| {
        if let Stmt::Ghost { what: Ghost::Lemma(g, _), .. } = s {
            all.push(*g);
        }
    });
    all
}

impl Excuses {
    pub fn new<'o>(p: &Program, open: impl Iterator<Item = &'o Obligation>) -> Excuses {
        let mut all = Excuses { names: p.funcs.iter().map(|f| f.name.clone()).collect(), ..Excuses::default() };
        for f in &p.funcs {
            all.entries.insert(f.name.clone(), f.loc);
            all.lemmas.insert(f.name.clone(), lemmas(f).into_iter().map(|g| p.func(g).name.clone()).collect());
        }
        open.for_each(|o| all.add(o));
        all
    }

    /// One more that is open.
    pub fn add(&mut self, o: &Obligation) {
        if let Some(name) = self.names.get(o.func.0 as usize) {
            self.open.entry(name.clone()).or_default().push((o.kind, o.loc));
        }
    }

    /// Nothing is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether what went wrong in a run of `id` may be an open obligation.
    pub fn explain(&self, id: FuncId, fault: &Fault) -> bool {
        let (Some(kind), Some(own)) = (kind_of(&fault.kind), self.names.get(id.0 as usize)) else { return false };
        let at = if fault.func.is_empty() { own } else { &fault.func };
        match &fault.kind {
            // Written before the statement: nothing open there comes first.
            FaultKind::Assertion { text } if [NOBODY, NOBODY_BY_SOLVER, NOBODY_BY_ALGEBRA].contains(&text.as_str()) => false,
            FaultKind::RangeLeft { place, .. } if place == "an expression" => self.any(at, |(_, loc)| *loc == fault.loc),
            // What a call hands over is the caller's.
            _ if at != own && (kind == Kind::Requires || self.entries.get(at) == Some(&fault.loc)) => {
                let handed = |f: &String| self.any(f, |(k, _)| *k == kind || matches!(k, Kind::Range | Kind::Index | Kind::Requires));
                handed(fault.call.as_ref().map_or(at, |(caller, _)| caller)) || handed(at)
            }
            _ => self.any(at, |(k, loc)| *k == kind || *loc == fault.loc) || self.by_lemma(at),
        }
    }

    /// Whether something is open in a lemma that a function rests on; lemmas do not go round in circles.
    fn by_lemma(&self, func: &str) -> bool {
        self.lemmas.get(func).is_some_and(|all| all.iter().any(|l| self.open.contains_key(l) || self.by_lemma(l)))
    }

    fn any(&self, func: &str, f: impl Fn(&(Kind, Loc)) -> bool) -> bool {
        self.open.get(func).is_some_and(|all| all.iter().any(f))
    }
}

/// The kind of obligation that rules a fault out; none for the end of a budget.
pub fn kind_of(fault: &FaultKind) -> Option<Kind> {
    Some(match fault {
        FaultKind::OutOfSteps | FaultKind::IntTooLarge | FaultKind::Internal { .. } | FaultKind::BadArgument { .. } => return None,
        FaultKind::RangeLeft { .. } => Kind::Range,
        FaultKind::IndexOutOfBounds { .. } | FaultKind::SliceOutOfBounds { .. } | FaultKind::Length { .. } => Kind::Index,
        FaultKind::ShiftCount { .. } => Kind::Shift,
        FaultKind::Assertion { .. } | FaultKind::Invariant { .. } => Kind::Assert,
        FaultKind::Undefined { .. } => Kind::Defined,
        FaultKind::Contract { kind: ContractKind::Requires, .. } => Kind::Requires,
        FaultKind::Contract { kind: ContractKind::Ensures, .. } => Kind::Ensures,
    })
}
