//! Functions with another convention than the source's: found by trying what the source allows a compiler to do, and proved.
//!
//! Needs: [`crate::guess`], comparisons.  Keeps: a convention is taken only where the function is equal under it; who calls the
//! function is compared anew.  Absent: functions that other files can call, and such whose address is taken: these are
//! called as the psABI says.

use crate::entered::entered;
use crate::function::Verdict;
use crate::guess::Facts;
use crate::reach::callers;
use crate::results::Results;
use crate::settle::settle;
use crate::source::convention::Convention;
use crate::subject::{Job, Subject, World};
use santoku_ir::FuncId;
use std::collections::{BTreeMap, BTreeSet};

type Known = BTreeMap<FuncId, BTreeSet<u64>>;

/// Functions that may have another convention, and which.
fn suspects(subject: &Subject, results: &Results) -> BTreeMap<u64, (FuncId, Vec<Convention>)> {
    let (facts, taken, callers) = (Facts::of(subject.program), entered(subject, results).by_address, callers(subject));
    let failing: BTreeSet<u64> = results.done.iter().filter(|(_, d)| d.found.verdict != Verdict::Equal).map(|(j, _)| j.address).collect();
    let mut found = BTreeMap::new();
    for f in subject.image.functions.iter().filter(|f| f.local && !taken.contains(&f.address)) {
        let funcs = subject.functions_of(f);
        let (Some(func), 1) = (funcs.first(), funcs.len()) else { continue };
        // A caller may fail for what the function does not read, and itself no longer gets.
        let from = callers.get(&f.address);
        let called = from.is_some_and(|all| all.iter().any(|a| failing.contains(a)));
        if !(failing.contains(&f.address) || called) {
            continue;
        }
        let conventions = facts.conventions(subject.program, *func);
        if !conventions.is_empty() {
            found.insert(f.address, (*func, conventions));
        }
    }
    found
}

/// Tries other conventions for functions that are not equal under the source's, or whose callers are not. Gives the subject
/// with those that hold; `results` then are those under them.
pub(crate) fn adapt<'a>(subject: &Subject<'a>, known: &Known, results: &mut Results, world: &World) -> Subject<'a> {
    let suspects = suspects(subject, results);
    let mut trial = subject.with(BTreeMap::new());
    let mut open: BTreeSet<u64> = suspects.keys().copied().collect();
    let most = suspects.values().map(|(_, all)| all.len()).max().unwrap_or(0);
    for round in 0..most {
        for address in &open {
            match suspects.get(address).and_then(|(_, all)| all.get(round)) {
                Some(convention) => trial.conventions.insert(*address, convention.clone()),
                None => trial.conventions.remove(address),
            };
        }
        let tried: Vec<u64> = open.iter().copied().filter(|a| trial.conventions.contains_key(a)).collect();
        let jobs: BTreeSet<Job> = tried.iter().map(|a| Job { address: *a, func: suspects[a].0, shared: vec![] }).collect();
        let mut seen = results.clone();
        settle(&trial, known, jobs.clone(), &mut seen, world);
        let equal = |job: &&Job| seen.done.get(*job).is_some_and(|d| d.found.verdict == Verdict::Equal);
        let holds: Vec<u64> = jobs.iter().filter(equal).map(|j| j.address).collect();
        holds.iter().for_each(|a| {
            open.remove(a);
        });
        if open.is_empty() || tried.is_empty() {
            break;
        }
    }
    open.iter().for_each(|a| {
        trial.conventions.remove(a);
    });
    if trial.conventions.is_empty() {
        return subject.with(BTreeMap::new());
    }
    let new = under(&trial, known, results, &suspects.keys().copied().collect(), world);
    if new.sound(known).len() < results.sound(known).len() {
        return subject.with(BTreeMap::new());
    }
    *results = new;
    trial
}

/// The results under the conventions of `trial`: all that has one, and all that calls what was tried, is compared anew.
fn under(trial: &Subject, known: &Known, results: &Results, tried: &BTreeSet<u64>, world: &World) -> Results {
    let callers = callers(trial);
    let (mut anew, mut open): (BTreeSet<u64>, Vec<u64>) = (trial.conventions.keys().copied().collect(), tried.iter().copied().collect());
    // Through code without source, too.
    let mut through = BTreeSet::new();
    while let Some(at) = open.pop() {
        for caller in callers.get(&at).into_iter().flatten() {
            let inside = trial.image.function_at(*caller).is_some_and(|f| trial.functions_of(f).is_empty());
            match inside {
                true if through.insert(*caller) => open.push(*caller),
                true => {}
                false => {
                    anew.insert(*caller);
                }
            }
        }
    }
    let mut new = results.clone();
    let jobs: BTreeSet<Job> = results.done.keys().filter(|j| anew.contains(&j.address)).cloned().collect();
    new.done.retain(|job, _| !jobs.contains(job));
    settle(trial, known, jobs, &mut new, world);
    new
}
