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
mod explain;
pub mod expr;
pub mod ghost;
pub mod goal;
pub mod props;
pub mod run;
pub mod spec;
pub mod state;
pub mod words;

use crate::carried::{self, Carried};
use crate::equiv;
use crate::obligation::{clauses, Engine, Kind, Obligation, Outcome};
pub use run::Contradicted;
use run::{Exec, TERMS_UNFOLDED_MAX};
use santoku_ir::{ContractKind, FuncId, Program, Stmt};

/// What linear programs may cost where nothing depends on them.
const WORK_SETTLED: u64 = 400_000;
/// Sample inputs carried along each symbolic run.
const SAMPLES: usize = 6;

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

/// All obligations of kinds `ensures` and `requires` of one function. `costs` comes from [`cost::of_program`].
pub fn check(p: &Program, id: FuncId, costs: &[u64]) -> Vec<Obligation> {
    check_with_contradictions(p, id, costs, false).0
}

/// [`check`], and where it met contradictions. `settled`: another look has shown every clause, so this one is not worth much.
pub fn check_with_contradictions(p: &Program, id: FuncId, costs: &[u64], settled: bool) -> (Vec<Obligation>, Contradicted) {
    if !concerns(p, id) {
        return Default::default();
    }
    let carried = carried::check(p, id);
    let without_arithmetic = all_open(p, id, &carried, "not looked at");
    if without_arithmetic.iter().all(Obligation::proved) {
        return (without_arithmetic, Contradicted::default());
    }
    // By what callees say of words the judge is done; as terms they would be written out once more.
    let of_words = if settled && calls_contracts(p, id) { Default::default() } else { equiv::clauses::check(p, id) };
    if !of_words.is_empty() {
        return with_words(p, id, costs, (&carried, &of_words), settled);
    }
    by_algebra(p, id, costs, &carried, settled)
}

/// Clauses about words are decided as graphs; the others of the function, if there are any, as before.
fn with_words(p: &Program, id: FuncId, costs: &[u64], (carried, words): (&Carried, &equiv::clauses::Found), settled: bool) -> (Vec<Obligation>, Contradicted) {
    let own = |o: &Obligation| if o.kind == Kind::Ensures { words.get(&(o.nr as usize)) } else { None };
    let open = all_open(p, id, carried, "");
    let only_words = open.iter().all(|o| o.proved() || own(o).is_some());
    let (found, contradicted) = if only_words { (open, Contradicted::default()) } else { by_algebra(p, id, costs, carried, settled) };
    let settled = found.into_iter().map(|o| match own(&o) {
        Some(Ok(())) => Obligation { outcome: Outcome::Proved { engine: Engine::Equivalence }, ..o },
        Some(Err(why)) => Obligation { outcome: call::failed(why.clone()), ..o },
        None => o,
    });
    (settled.collect(), contradicted)
}

fn by_algebra(p: &Program, id: FuncId, costs: &[u64], carried: &Carried, settled: bool) -> (Vec<Obligation>, Contradicted) {
    let (by_contracts, mut contradicted) = attempt(p, id, costs, carried, if settled { Effort::Settled } else { Effort::Contracts });
    if settled || by_contracts.iter().all(|o| o.proved() || o.kind == Kind::Requires) || !calls_contracts(p, id) {
        return (by_contracts, contradicted);
    }
    // What the callees promise is not enough: look at what they do.
    let (unfolded, more) = attempt(p, id, costs, carried, Effort::Unfolded);
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

/// What a run is worth.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effort {
    /// Little: nothing depends on it.
    Settled,
    /// By what callees promise.
    Contracts,
    /// By what callees do.
    Unfolded,
}

fn attempt(p: &Program, id: FuncId, costs: &[u64], carried: &Carried, effort: Effort) -> (Vec<Obligation>, Contradicted) {
    let unfold = effort == Effort::Unfolded;
    let mut ex = Exec::new(p, id, costs, carried, SAMPLES, 0x5eed + u64::from(id.0));
    ex.unfold = unfold;
    if unfold {
        ex.terms_max = TERMS_UNFOLDED_MAX;
    }
    if effort == Effort::Settled {
        ex.atoms.limit_work(WORK_SETTLED);
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
