//! The judge of meaning: whether a function keeps what its `ensures` say, and what it calls gets what their `requires` ask.
//!
//! It executes the function once, on polynomials over its inputs: a remainder is what it divides less a multiple of the quotient, a
//! quotient is an atom with the equation that makes it one, a call is its callee's contract. A clause becomes a question about polynomials.
//! Finding an answer is a [`Search`], which may be wrong; the answer is a proof that is checked step by step.
//!
//! Needs: a program that `santoku_judge` accepts, so that every value is in its range and written before it is read.  Keeps: a clause is
//! answered with yes only if it holds on every execution that meets the function's `requires`, provided that callees keep theirs.
//! Absent on purpose: safety, secrecy, and any search.
//! Trusted: field.

pub mod atoms;
pub mod codes;
mod extent;
mod forms;
pub mod found;
pub mod ghost;
pub mod goal;
pub mod poly;
pub mod proof;
pub mod outside;
pub mod rounds;
pub mod run;
mod prop;
mod spec;
pub mod state;
pub mod twins;
pub mod value;
pub mod words;

pub use found::{Clauses, Moment, Stop};
pub use proof::Search;

use santoku_ir::spec_words::of_bits;
use santoku_ir::{visit, Func, FuncId, Program, Stmt};

/// Judges the clauses of a function and those of its callees.
///
/// # Errors
/// What stopped the execution; nothing is known of the function's clauses then.
pub fn check(p: &Program, id: FuncId, search: &dyn Search) -> Result<Clauses, Stop> {
    let (found, stopped) = claims(p, id, search);
    stopped.map_or(Ok(found), Err)
}

/// The same, and what was found of the function's claims before the execution stopped.
pub fn claims(p: &Program, id: FuncId, search: &dyn Search) -> (Clauses, Option<Stop>) {
    let (f, of_words) = (p.func(id), |f: &Func| f.contracts.iter().any(|c| of_bits(p, &c.cond)));
    let (ghost, mut by_callees) = (ghost::in_body(&f.body), !of_words(f));
    visit::walk_stmts(&f.body, &mut |s| by_callees |= matches!(s, Stmt::Call { func, .. } if of_words(p.func(*func))));
    if ghost {
        let first = judged(p, id, search, Mode { bits: true, ..Mode::default() });
        if first.1.is_none() && first.0.holds() {
            return first;
        }
        let cut = judged(p, id, search, Mode { bits: true, cuts: true, ..Mode::default() });
        return if cut.0.held() > first.0.held() { cut } else { first };
    }
    let in_words = || judged(p, id, search, Mode { words: true, ..Mode::default() });
    if !by_callees {
        return in_words();
    }
    // Where lengths are known, callees are run in place: by far the fastest where it succeeds.
    let in_place = (of_words(f) && f.lens.is_empty()).then(in_words).filter(|found| found.1.is_none());
    if let Some(found) = in_place.as_ref().filter(|found| found.0.holds()) {
        return found.clone();
    }
    let mut found = judged(p, id, search, Mode::default());
    if found.1.as_ref().is_some_and(Stop::is_too_long) {
        let named = judged(p, id, search, Mode { names: true, ..Mode::default() });
        if named.1.is_none() {
            return named;
        }
    }
    if found.1.is_some() || found.0.holds() {
        return in_place.filter(|_| found.1.is_some()).unwrap_or(found);
    }
    let again = judged(p, id, search, Mode { bits: true, ..Mode::default() });
    found = (found.0.or(again.0), again.1);
    in_place.into_iter().fold(found, |found, (clauses, _)| (found.0.or(clauses), found.1))
}

/// How a function is executed; what is found is so in each.
#[derive(Default)]
struct Mode {
    words: bool,
    bits: bool,
    cuts: bool,
    names: bool,
}

fn judged(p: &Program, id: FuncId, search: &dyn Search, mode: Mode) -> (Clauses, Option<Stop>) {
    let mut run = state::Run::new(p, id, search);
    (run.words, run.bits, run.cuts, run.names) = (mode.words, mode.bits, mode.cuts, mode.names);
    run.atoms.of_words = mode.words;
    if !mode.words {
        run.spoken_of = extent::spoken_of(p, run.f);
    }
    let stopped = run.function().err();
    let mut found = run.found;
    if found.claims.values().any(|held| !held) {
        found.ensures.values_mut().chain(found.requires.values_mut()).for_each(|held| *held = false);
    }
    (found, stopped)
}
