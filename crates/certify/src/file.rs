//! A whole file: which functions are compared, with which objects coinciding, and what follows from the answers.
//!
//! Needs: [`crate::function`], a store, a clock.  Keeps: a function counts as equal only if every function it calls is
//! proved for the way in which it calls it; the same report whatever the number of threads (times apart).  Absent: files.
//! Trusted: bytes, leaks, certifier.

use crate::adapt::adapt;
use crate::function::Verdict;
use crate::machine::Code;
use crate::reach::callers;
use crate::report::FileReport;
use crate::residue::handed_to;
use crate::results::Results;
use crate::settle::{move_into_callers, settle};
use crate::subject::{Done, Job, Options, Subject, World};
use crate::tried::is_wrong;
use crate::verdict::{self, entries_above};
use santoku_elf::Image;
use santoku_ir::{FuncId, Program};
use santoku_isa::Isa;
use std::collections::{BTreeMap, BTreeSet};

/// Compares every function of a file with the program. `symbols`: the C name of functions of the program.
pub fn certify(image: &Image, isa: Isa, program: &Program, symbols: BTreeMap<String, FuncId>, options: &Options, world: &World) -> FileReport {
    let subject = Subject { image, isa, program, symbols, conventions: BTreeMap::new(), options };
    let known = subject.known();
    let mut results = Results::default();
    let start = image.functions.iter().flat_map(|f| subject.functions_of(f).into_iter().map(move |func| (f, func)));
    let start = start.filter(|(f, func)| subject.wanted(f, *func));
    let open = start.map(|(f, func)| Job { address: f.address, func, shared: vec![] }).collect();
    settle(&subject, &known, open, &mut results, world);
    let (subject, moved) = adapted(subject, &known, &mut results, world);
    let mut open = BTreeSet::new();
    let handed_to = handed_to(&subject);
    for job in results.sound(&known) {
        if job.shared.is_empty() && (handed_to.contains(&job.address) || image.function_at(job.address).is_some_and(|f| !f.local)) {
            open.extend(coinciding(program, job.func).into_iter().map(|pair| Job { shared: vec![pair], ..job.clone() }));
        }
    }
    settle(&subject.without(&moved), &known, open, &mut results, world);
    results.wrong = wrong_entries(&subject, &results);
    verdict::report(&subject, &known, &results, &moved)
}

/// What to do of functions whose convention the compiler changed: they are executed inside their callers where that proves all,
/// and otherwise proved under the convention that they have.
fn adapted<'a>(
    subject: Subject<'a>,
    known: &BTreeMap<FuncId, BTreeSet<u64>>,
    results: &mut Results,
    world: &World,
) -> (Subject<'a>, BTreeSet<u64>) {
    let whole = |results: &Results, moved: &BTreeSet<u64>| {
        let sound = results.sound(known);
        results.done.keys().all(|j| sound.contains(j) || moved.contains(&j.address))
    };
    let mut inside = results.clone();
    let moved = move_into_callers(&subject, known, &mut inside, world);
    if whole(&inside, &moved) {
        *results = inside;
        return (subject, moved);
    }
    let changed = adapt(&subject, known, results, world);
    if changed.conventions.is_empty() {
        *results = inside;
        return (subject, moved);
    }
    let moved = move_into_callers(&changed, known, results, world);
    (changed, moved)
}

/// Static functions that differ from the source, or do not get what it gives them, may be called in another way than it says. Whoever runs
/// them and can be called from outside is run to see.
fn wrong_entries(subject: &Subject, results: &Results) -> BTreeSet<u64> {
    let callers = callers(subject);
    let local = |address: u64| subject.image.function_at(address).is_some_and(|f| f.local);
    let doubtful = |(job, done): &(&Job, &Done)| match done.found.verdict {
        Verdict::Differs(_) => local(job.address),
        Verdict::Halted(_) => done.found.stopped_at().is_some_and(local),
        _ => false,
    };
    let from = |address: u64| entries_above(subject, &callers, address).into_iter().chain(Some(address).filter(|a| !local(*a)));
    let entries: BTreeSet<u64> = results.done.iter().filter(doubtful).flat_map(|(j, _)| from(j.address)).collect();
    let mut code = Code::new(subject.image, subject.isa, subject.program, subject.symbols.clone());
    (code.secret_mul_leaks, code.ckb_vm) = (subject.options.secret_mul_leaks, subject.options.ckb_vm);
    let of = |address: u64| results.done.keys().find(move |j| j.address == address && j.shared.is_empty());
    entries.into_iter().filter(|a| of(*a).is_some_and(|j| is_wrong(subject.image, &code, (j.func, j.address, &j.shared)))).collect()
}

/// The pairs of a result and a parameter that a C caller may give the same object.
fn coinciding(program: &Program, func: FuncId) -> Vec<(usize, usize)> {
    let f = program.func(func);
    let mut pairs = vec![];
    for (r, result) in f.rets.iter().enumerate() {
        for (p, param) in f.params.iter().enumerate() {
            let (a, b) = (&f.local(*result).ty, &f.local(*param).ty);
            if !a.is_scalar() && a.same_shape(b) {
                pairs.push((r, p));
            }
        }
    }
    pairs
}
