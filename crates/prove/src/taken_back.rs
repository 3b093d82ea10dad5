//! What an input contradicts is not proved.
//!
//! Needs: functions with what was found of them.  Keeps: nothing is proved here; what was may be taken back.  Absent on purpose: proofs.
//! Trusted: nothing: a run that is left out proves nothing.

use crate::crosscheck::{self, Against, Crosscheck};
use crate::excuse::Excuses;
use crate::obligation::{Engine, Kind, Obligation, Outcome};
use crate::report::{FunctionReport, Settled};
use crate::threads;
use santoku_ir::{FuncId, Program};

/// Runs what was proved on inputs; what an input contradicts is a fault of ours. Where something is open, also in callees, runs count
/// up to what they break of it.
pub fn check_on_inputs(p: &Program, settled: &mut Settled, threads: usize) {
    let Settled { functions, claims_written } = settled;
    let ids: Vec<FuncId> = functions.iter().map(|r| r.func).collect();
    let mut excuses = Excuses::new(p, functions.iter().flat_map(|r| &r.obligations).filter(|o| !o.proved()));
    let runs = Crosscheck::new(p, claims_written);
    let mut near = threads::each(threads, &ids, || runs.near(), |near, id| near.function(*id, &excuses));
    let mut left: Vec<usize> = (0..ids.len()).filter(|at| near[*at].inputs == 0).collect();
    if near.iter().any(|found| found.against.is_some()) {
        // Once more, one after another: what a callee breaks excuses its callers.
        let mut one = runs.near();
        for (at, id) in ids.iter().enumerate() {
            near[at] = one.function(*id, &excuses);
            if let Some(against) = near[at].against.take() {
                take_back(functions, at, against, &mut excuses);
                left.retain(|other| *other != at);
            }
        }
    }
    functions.iter_mut().zip(&near).for_each(|(r, found)| r.inputs = found.inputs);
    let together = runs.together(&left.iter().map(|at| ids[*at]).collect::<Vec<_>>(), &excuses, threads);
    for at in left {
        if let Some(judged) = together.judged.get(&ids[at]) {
            functions[at].inputs = *judged;
            continue;
        }
        let found = runs.far(ids[at], &excuses);
        functions[at].inputs = found.inputs;
        if let Some(against) = found.against {
            take_back(functions, at, against, &mut excuses);
        }
    }
    for (id, against) in together.against {
        if let Some(at) = ids.iter().position(|own| *own == id) {
            take_back(functions, at, against, &mut excuses);
        }
    }
}

/// Takes back what an input to the function at `at` contradicts.
fn take_back(functions: &mut [FunctionReport], at: usize, against: Against, excuses: &mut Excuses) {
    let blamed = functions.iter().position(|r| r.name == against.func);
    excuses.add(disproved(&mut functions[blamed.unwrap_or(at)], against, blamed.is_none()));
}

/// Takes back the obligation that an input contradicts. `elsewhere`: it is of a function whose proof is older, and stands in the message.
fn disproved(r: &mut FunctionReport, a: Against, elsewhere: bool) -> &Obligation {
    let dead = crosscheck::who_said_nobody(&a.witness.message);
    let same = |o: &Obligation| o.proved() && o.kind == a.kind && a.clause.as_ref().is_none_or(|c| o.text.ends_with(c.as_str()));
    let find = |f: &dyn Fn(&Obligation) -> bool| r.obligations.iter().position(f);
    // Another run may have shown it.
    let known = || find(&|o| o.fault() && o.kind == a.kind && o.loc == a.loc);
    let at = match dead {
        _ if elsewhere => known(),
        // What a contradiction left open.
        Some(_) => find(&|o| !o.proved() && o.loc == a.loc).or_else(|| find(&|o| !o.proved() && o.kind == Kind::Ensures)).or_else(|| find(&|o| o.loc == a.loc)),
        None => find(&|o| same(o) && o.loc == a.loc).or_else(known).or_else(|| find(&same)),
    };
    let engine = dead.or(at.and_then(|at| r.obligations[at].engine())).unwrap_or(Engine::Syntactic);
    let reason = if dead.is_some() { "an input gets where none can" } else { "an input contradicts what was proved" };
    // Nobody was asked for what went wrong: that, too, is a fault of ours.
    let at = at.unwrap_or_else(|| {
        let text = a.witness.message.clone();
        let unasked = Outcome::Proved { engine };
        r.obligations.push(Obligation { func: r.func, kind: a.kind, loc: a.loc, nr: 0, text, outcome: unasked, micros: 0 });
        r.obligations.len() - 1
    });
    if !r.obligations[at].fault() {
        r.obligations[at].outcome = Outcome::Fault { engine, reason: reason.into(), witness: Some(a.witness) };
    }
    &r.obligations[at]
}
