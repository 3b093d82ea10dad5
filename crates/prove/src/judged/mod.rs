//! What the range engines found, before the judge.
//!
//! Needs: a program with the ranges found for it written into it.  Keeps: nothing is accepted here; a function is accepted by
//! `santoku_judge::Judge` or not at all.  Absent on purpose: trust. Plans and proofs are guesses, and a wrong one is refused.

mod plans;
mod search;

pub use search::Elimination;

use santoku_ir::{visit, FuncId, Program, Stmt};
use santoku_judge::{Claims, Judge, Plan, Refusal};
use std::collections::BTreeSet;

/// The verdict on a function, and the plan it was accepted by.
pub type Verdict = Result<Plan, Refusal>;

/// Judges every function but the bodies of tests, callees first. `None`: a test.
pub fn program(annotated: &Program, modular: bool) -> Vec<Option<Verdict>> {
    let judge = Judge::of(annotated, modular);
    let tests: BTreeSet<FuncId> = annotated.tests.iter().map(|t| t.func).collect();
    let mut claims: Vec<Option<Claims>> = Vec::with_capacity(annotated.funcs.len());
    let mut out = Vec::with_capacity(annotated.funcs.len());
    let mut closer = BTreeSet::new();
    for id in (0..annotated.funcs.len() as u32).map(FuncId) {
        let ask = |claims: &[Option<Claims>]| plans::accepted(&judge, id, claims);
        let found = (!tests.contains(&id)).then(|| ask(&claims).or_else(|first| {
            // Callees may be known too roughly: those it calls, then what they call, and so on.
            let (mut layer, mut last) = (callees(annotated, &[id]), first);
            while !layer.is_empty() {
                let new: Vec<FuncId> = layer.iter().copied().filter(|c| closer.insert(*c)).collect();
                if new.iter().fold(false, |any, c| look_closer(&judge, *c, &mut claims) || any) {
                    match ask(&claims) {
                        Err(e) => last = e,
                        accepted => return accepted,
                    }
                }
                layer = callees(annotated, &layer);
            }
            plans::accepted_by_cases(&judge, id, &claims).ok_or(last)
        }));
        let (claim, verdict) = match found {
            None => (None, None),
            Some(Ok((plan, claims))) => (Some(claims), Some(Ok(plan))),
            Some(Err(e)) => (None, Some(Err(e))),
        };
        claims.push(claim);
        out.push(verdict);
    }
    out
}

/// What these call, in the order of the program.
fn callees(p: &Program, of: &[FuncId]) -> Vec<FuncId> {
    let mut out = BTreeSet::new();
    for id in of {
        visit::walk_stmts(&p.func(*id).body, &mut |s| {
            if let Stmt::Call { func, .. } = s {
                out.insert(*func);
            }
        });
    }
    out.into_iter().collect()
}

/// Adds to what is known of a function what a closer look finds; whether that is more.
fn look_closer(judge: &Judge, id: FuncId, claims: &mut [Option<Claims>]) -> bool {
    let more = plans::closer(judge, id, claims);
    let (Some(own), Some(more)) = (&mut claims[id.0 as usize], more) else { return false };
    let both = own.and(&more);
    let new = !both.says_what(own);
    *own = both;
    new
}
