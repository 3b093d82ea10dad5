//! Meaning: a function's `ensures`, and the `requires` of what it calls.
//!
//! Needs: the core, and that the safety engines show separately that every value stays in its declared range (they do,
//! in the same report; a function is proved only if both agree).  Keeps: every obligation of these two kinds appears
//! in the result, proved or failed.  Absent on purpose: ranges, secrecy, I/O.
//!
//! One function at a time: parameters become atoms, the body is executed symbolically, calls stand for their callees'
//! contracts (which are obligations of the callee), and each clause becomes a goal for `algebra`.
//! Trusted: engines.

pub mod call;
pub mod cost;
pub mod exec;
pub mod expr;
pub mod ghost;
pub mod goal;
pub mod spec;
pub mod state;
pub mod words;

use crate::carried::{self, Carried};
use crate::obligation::{clauses, Engine, Kind, Obligation, Outcome};
use exec::Exec;
use expr::Stop;
use santoku_ir::{ContractKind, FuncId, Loc, Program, Stmt};
use std::collections::{BTreeMap, BTreeSet};

/// Sample inputs carried along each symbolic run.
const SAMPLES: usize = 6;

impl Stop {
    /// The reason in words.
    pub fn reason(&self) -> String {
        match self {
            Stop::Unsupported(s) => s.clone(),
            Stop::TooLarge => "the polynomials grew beyond the budget".into(),
            Stop::Internal(s) => format!("internal error in pass prove: {s}"),
        }
    }
}

/// Whether a function has obligations of this module at all.
pub fn concerns(p: &Program, id: FuncId) -> bool {
    let f = p.func(id);
    if f.contracts.iter().any(|c| c.kind == ContractKind::Ensures) {
        return true;
    }
    let mut found = false;
    santoku_ir::visit::walk_stmts(&f.body, &mut |s| {
        if let Stmt::Call { func, .. } = s {
            found |= p.func(*func).contracts.iter().any(|c| c.kind == ContractKind::Requires);
        }
        found |= matches!(s, Stmt::Ghost { .. });
    });
    found
}

/// Where what is known contradicts itself: no input gets there, or the prover is wrong. Nothing was proved from it.
#[derive(Clone, Debug, Default)]
pub struct Contradicted {
    /// At the end of the function.
    pub end: bool,
    /// Clauses of callees at calls: how often judged, how often with a contradiction.
    calls: BTreeMap<(Loc, FuncId, usize), [u32; 2]>,
}

impl Contradicted {
    fn call(&mut self, at: (Loc, FuncId, usize), contradiction: bool) {
        let [all, bad] = self.calls.entry(at).or_default();
        *all += 1;
        *bad += u32::from(contradiction);
    }
    /// Calls that no execution gets to, whatever the round of a loop.
    pub fn calls(&self) -> BTreeSet<(Loc, FuncId)> {
        self.calls.iter().filter(|(_, [all, bad])| all == bad).map(|((loc, callee, _), _)| (*loc, *callee)).collect()
    }
    fn any(&self) -> bool {
        self.end || self.calls.values().any(|[_, bad]| *bad > 0)
    }
    fn join(&mut self, other: Contradicted) {
        self.end |= other.end;
        other.calls.into_iter().for_each(|(at, n)| {
            self.calls.entry(at).or_insert(n);
        });
    }
}

/// All obligations of kinds `ensures` and `requires` of one function. `costs` comes from [`cost::of_program`].
pub fn check(p: &Program, id: FuncId, costs: &[u64]) -> Vec<Obligation> {
    check_with_contradictions(p, id, costs).0
}

/// [`check`], and where it met contradictions.
pub fn check_with_contradictions(p: &Program, id: FuncId, costs: &[u64]) -> (Vec<Obligation>, Contradicted) {
    if !concerns(p, id) {
        return Default::default();
    }
    let carried = carried::check(p, id);
    let mut without_arithmetic = all_open(p, id, &carried, "not looked at");
    if ghost::has(p, id) {
        without_arithmetic = ghost::settled(p, id, without_arithmetic);
    }
    if without_arithmetic.iter().all(Obligation::proved) {
        return (without_arithmetic, Contradicted::default());
    }
    let asked = |o: &&Obligation| !o.proved() && o.kind != Kind::Assert;
    if ghost::has(p, id) && without_arithmetic.iter().filter(asked).count() == 0 {
        return (without_arithmetic, Contradicted::default());
    }
    let (engines, contradicted) = by_engines(p, id, costs, &carried);
    (with_claims(without_arithmetic, engines), contradicted)
}

/// What the engines leave open may be closed already, and the claims of ghost text are none of theirs.
fn with_claims(first: Vec<Obligation>, engines: Vec<Obligation>) -> Vec<Obligation> {
    let same = |a: &Obligation, b: &Obligation| a.kind == b.kind && a.nr == b.nr && a.loc == b.loc && a.text == b.text;
    let (claims, first): (Vec<_>, Vec<_>) = first.into_iter().partition(|o| o.kind == Kind::Assert);
    let better = |o: Obligation| if o.proved() { o } else { first.iter().find(|f| f.proved() && same(f, &o)).cloned().unwrap_or(o) };
    engines.into_iter().map(better).chain(claims).collect()
}

fn by_engines(p: &Program, id: FuncId, costs: &[u64], carried: &Carried) -> (Vec<Obligation>, Contradicted) {
    let (by_contracts, mut contradicted) = attempt(p, id, costs, carried, false);
    if by_contracts.iter().all(|o| o.proved() || o.kind == Kind::Requires) || !calls_contracts(p, id) {
        return (by_contracts, contradicted);
    }
    // What the callees promise is not enough: look at what they do.
    let (unfolded, more) = attempt(p, id, costs, carried, true);
    contradicted.join(more);
    let better = |a: Obligation| {
        let same = |b: &&Obligation| a.kind == Kind::Ensures && b.kind == Kind::Ensures && b.nr == a.nr && b.proved();
        match unfolded.iter().find(same) {
            Some(b) if !a.proved() => b.clone(),
            _ => a,
        }
    };
    (by_contracts.into_iter().map(better).collect(), contradicted)
}

fn attempt(p: &Program, id: FuncId, costs: &[u64], carried: &Carried, unfold: bool) -> (Vec<Obligation>, Contradicted) {
    let mut ex = Exec::new(p, id, costs, carried, SAMPLES, 0x5eed + u64::from(id.0));
    ex.unfold = unfold;
    if unfold {
        ex.terms_max = exec::TERMS_UNFOLDED_MAX;
    }
    let entry = ex.frame.vals.clone();
    ex.assume_requires(&entry);
    let done = ex.block(&p.func(id).body).map(|()| ex.check_ensures(&entry));
    if let Some(reason) = &ex.atoms.fault {
        return (at_fault(all_open(p, id, carried, ""), reason), Contradicted::default());
    }
    let obligations = match done {
        Ok(()) if ex.contradicted.any() => ex.obligations.into_iter().map(contradicted).collect(),
        Ok(()) => ex.obligations,
        Err(stop) => all_open(p, id, carried, &format!("symbolic execution stopped: {}", stop.reason())),
    };
    (obligations, ex.contradicted)
}

/// Samples contradict a step of the algebra: what it would have closed is open, by a fault of ours.
fn at_fault(obligations: Vec<Obligation>, reason: &str) -> Vec<Obligation> {
    let fault = |o: Obligation| match o.outcome {
        Outcome::Proved { .. } => o,
        _ => Obligation { outcome: Outcome::Fault { engine: Engine::Algebra, reason: reason.to_string(), witness: None }, ..o },
    };
    obligations.into_iter().map(fault).collect()
}

/// Says of an open obligation that a refutation was found and not used.
fn contradicted(o: Obligation) -> Obligation {
    match o.outcome {
        Outcome::Failed { reason, witness, origin } => {
            let reason = format!("{reason}; what is known here contradicts itself: no input meets the `requires`, or the prover is wrong");
            Obligation { outcome: Outcome::Failed { reason, witness, origin }, ..o }
        }
        _ => o,
    }
}

fn calls_contracts(p: &Program, id: FuncId) -> bool {
    let mut found = false;
    santoku_ir::visit::walk_stmts(&p.func(id).body, &mut |s| {
        if let Stmt::Call { func, .. } = s {
            found |= !p.func(*func).contracts.is_empty();
        }
    });
    found
}

/// Every clause, and every call that requires something, without symbolic execution: what is not carried is open.
fn all_open(p: &Program, id: FuncId, carried: &Carried, reason: &str) -> Vec<Obligation> {
    let f = p.func(id);
    let outcome = |met: bool| if met { call::carried() } else { call::failed(reason.to_string()) };
    let mut out = Vec::new();
    for (i, _) in clauses(f, ContractKind::Ensures) {
        out.push(call::ensures(id, f, i, outcome(carried.ensures.contains(&i)), 0));
    }
    santoku_ir::visit::walk_stmts(&f.body, &mut |s| {
        let Stmt::Call { func, loc, .. } = s else { return };
        let callee = p.func(*func);
        for (i, _) in clauses(callee, ContractKind::Requires) {
            out.push(call::requires(id, callee, i, *loc, outcome(carried.requires.contains(&(*loc, *func, i))), 0));
        }
    });
    out
}
