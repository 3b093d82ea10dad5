//! What the range engines found, before the judge.
//!
//! Needs: a program with the ranges found for it written into it.  Keeps: nothing is accepted here; a function is accepted by
//! `santoku_judge::Judge` or not at all.  Absent on purpose: trust. Plans and proofs are guesses, and a wrong one is refused.
//! Trusted: safe, field, c, bytes, leaks, certifier.

mod plans;
mod search;

pub use search::Elimination;

use plans::Planner;
use santoku_ir::{visit, FuncId, Program, Ty};
use santoku_judge::{Claims, Refusal};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// The verdict on a function: how many obligations were asked and hold, or what does not follow.
pub type Verdict = Result<u64, Refusal>;

/// Judges every function of `source` but the bodies of tests, callees first, by the ranges that `annotated` adds to it. `None`: a test.
/// A verdict depends on the function and what it calls alone, not on other functions.
pub fn program(source: &Program, annotated: &Program, modular: bool) -> Vec<Option<Verdict>> {
    each(source, annotated, &[], modular)
}

/// The same, where what is refused is asked again with other ranges of variables, one set after the other: what a loop begins with and
/// its callees give may be less than what is declared, and may be more than what was found for the arguments at hand.
pub fn program_or(source: &Program, annotated: &Program, others: &[&dyn Fn() -> Program]) -> Vec<Option<Verdict>> {
    each(source, annotated, others, false)
}

fn each(source: &Program, annotated: &Program, others: &[&dyn Fn() -> Program], modular: bool) -> Vec<Option<Verdict>> {
    let tests: BTreeSet<FuncId> = annotated.tests.iter().map(|t| t.func).collect();
    // Made where the first function is refused.
    let programs: Vec<OnceCell<Program>> = others.iter().map(|_| OnceCell::new()).collect();
    let planners: Vec<OnceCell<Planner>> = others.iter().map(|_| OnceCell::new()).collect();
    let other = |at: usize| others.get(at).map(|make| planners[at].get_or_init(|| Planner::of(source, programs[at].get_or_init(make), modular)));
    let mut all = Judged { planner: Planner::of(source, annotated, modular), other: &other, claims: Vec::new(), closer: BTreeMap::new() };
    let ids = (0..annotated.funcs.len() as u32).map(FuncId);
    ids.map(|id| {
        let found = (!tests.contains(&id)).then(|| all.function(id));
        all.claims.push(found.as_ref().and_then(|f| f.as_ref().ok()).cloned());
        found.map(|f| f.map(|claims| claims.asked()))
    })
    .collect()
}

/// A program before the judge, and what was accepted of it so far.
struct Judged<'a> {
    planner: Planner<'a>,
    other: &'a dyn Fn(usize) -> Option<&'a Planner<'a>>,
    claims: Vec<Option<Claims>>,
    /// What a closer look found of functions for which a caller asked for one.
    closer: BTreeMap<FuncId, Option<Claims>>,
}

impl Judged<'_> {
    fn function(&mut self, id: FuncId) -> Result<Claims, Refusal> {
        self.planner.by_itself(id, &self.claims).or_else(|_| {
            // Callees may be known too roughly.
            let known = self.look_closer(id);
            let more = self.below(id).iter().any(|c| !same(&known[c.0 as usize], &self.claims[c.0 as usize]));
            let found = self.planner.with_callees(id, more, &known);
            let mut others = (0..).map_while(|at| (self.other)(at));
            found.or_else(|e| others.find_map(|n| n.by_itself(id, &known).or_else(|_| n.with_callees(id, more, &known)).ok()).ok_or(e))
        })
    }

    /// What is known of all functions, with what a closer look finds of those below this one. What a function of long loops gives
    /// is mostly clear from its callees, so they come first; the lowest are looked at by running what they call.
    fn look_closer(&mut self, id: FuncId) -> Vec<Option<Claims>> {
        let mut known = self.claims.clone();
        for below in self.below(id) {
            if !self.closer.contains_key(&below) {
                let seen = self.look_closer(below);
                let more_below = self.below(below).iter().any(|c| !same(&seen[c.0 as usize], &self.claims[c.0 as usize]));
                let found = self.planner.closer(below, more_below, &seen);
                let own = self.claims[below.0 as usize].clone();
                self.closer.insert(below, own.map(|own| found.map_or_else(|| own.clone(), |f| own.and(&f))));
            }
            known[below.0 as usize] = self.closer[&below].clone();
        }
        known
    }

    /// All that a function calls, through others too, as far as they give integers back.
    fn below(&self, id: FuncId) -> BTreeSet<FuncId> {
        let (mut all, mut todo) = (BTreeSet::new(), vec![id]);
        while let Some(id) = todo.pop() {
            todo.extend(callees(self.planner.program(), id).into_iter().filter(|c| all.insert(*c)));
        }
        all
    }
}

fn same(a: &Option<Claims>, b: &Option<Claims>) -> bool {
    a.is_none() == b.is_none() && a.as_ref().zip(b.as_ref()).is_none_or(|(a, b)| a.says_what(b))
}

/// What it calls that gives integers back.
fn callees(p: &Program, of: FuncId) -> BTreeSet<FuncId> {
    let mut out = visit::callees(p.func(of));
    out.retain(|f| p.func(*f).rets.iter().any(|r| has_integers(p, &p.func(*f).local(*r).ty)));
    out
}

fn has_integers(p: &Program, ty: &Ty) -> bool {
    match ty {
        Ty::Word(_) | Ty::Bool => false,
        Ty::Int(_) => true,
        Ty::Array { elem, .. } => has_integers(p, elem),
        Ty::Struct(id) => p.structs[id.0 as usize].fields.iter().any(|(_, t)| has_integers(p, t)),
    }
}
