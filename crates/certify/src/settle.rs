//! All comparisons that are left to do, on several threads, and the functions that are moved into their callers.
//! Trusted: bytes, leaks, certifier.

use crate::function::{self, Found, Verdict};
use crate::judged::judged;
use crate::key::{self, Keys};
use crate::machine::{Code, Halt, Why};
use crate::reach::runs;
use crate::results::Results;
use crate::subject::{Done, Job, Subject, World};
use crate::tried::try_out;
use santoku_elf::Function;
use santoku_ir::FuncId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Stack of a working thread: terms are walked recursively.
const STACK_BYTES: usize = 512 << 20;

/// Runs these comparisons and all that they demand of the functions they call.
pub(crate) fn settle(subject: &Subject, known: &BTreeMap<FuncId, BTreeSet<u64>>, mut open: BTreeSet<Job>, results: &mut Results, world: &World) {
    let mut finished = 0;
    while !open.is_empty() {
        let jobs: Vec<Job> = std::mem::take(&mut open).into_iter().collect();
        let total = finished + jobs.len();
        let done = run(subject, &jobs, (finished, total), world);
        finished = total;
        for (job, done) in jobs.into_iter().zip(done) {
            if done.found.verdict == Verdict::Equal {
                for (func, shared) in &done.found.calls {
                    let at = known.get(func).into_iter().flatten();
                    open.extend(at.map(|address| Job { address: *address, func: *func, shared: shared.clone() }));
                }
            }
            results.done.insert(job, done);
        }
        open.retain(|job| !results.done.contains_key(job));
    }
}

/// Compilers may change the signature of a function that nobody else can call. Such functions are executed inside their
/// callers instead, where that proves the callers. Gives the addresses of those functions.
pub(crate) fn move_into_callers(subject: &Subject, known: &BTreeMap<FuncId, BTreeSet<u64>>, results: &mut Results, world: &World) -> BTreeSet<u64> {
    let mut moved = BTreeSet::new();
    for _ in 0..MOVES {
        let local = |address: u64| subject.image.function_at(address).is_some_and(|f| f.local);
        // Where a call was not understood it is the function called that has another convention.
        let changed = |(job, done): (&Job, &Done)| match done.found.refused {
            Some(callee) => Some(callee).filter(|_| looks_changed(&done.found.verdict)),
            None => looks_changed(&done.found.verdict).then_some(job.address),
        };
        let failing: BTreeSet<u64> = results.done.iter().filter_map(changed).filter(|a| local(*a)).collect();
        let sound = results.sound(known);
        let open: BTreeSet<Job> = results.done.keys().filter(|j| !sound.contains(*j) && !failing.contains(&j.address)).cloned().collect();
        let new: BTreeSet<u64> = failing.difference(&moved).copied().collect();
        if new.is_empty() || open.is_empty() {
            break;
        }
        let mut trial = results.clone();
        let all = moved.union(&new).copied().collect();
        settle(&subject.without(&all), known, open, &mut trial, world);
        if trial.sound(known).len() <= sound.len() {
            break;
        }
        *results = trial;
        moved = all;
    }
    moved
}

/// What a comparison with the convention of the source says of code that keeps another: other values on the sample inputs, or
/// registers without meaning taken for addresses. What is merely not shown equal would not be shown inside its callers either.
fn looks_changed(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Differs(_) => true,
        Verdict::NotProved(d) => d.witness.is_some(),
        Verdict::Halted(halt) => matches!(halt.why, Why::Memory(_) | Why::Convention(_) | Why::Secret(..)),
        Verdict::Equal | Verdict::Source(_) => false,
    }
}

/// Runs comparisons on several threads; results in order of the jobs.
fn run(subject: &Subject, jobs: &[Job], (finished, total): (usize, usize), world: &World) -> Vec<Done> {
    let Subject { image, isa, program, symbols, conventions, options } = subject;
    let keys = Keys::new(image, isa, program, (symbols, conventions), options);
    let (next, ended) = (AtomicUsize::new(0), AtomicUsize::new(finished));
    let slots: Vec<Mutex<Option<Done>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let worker = || {
        let mut code = Code::new(image, *isa, program, symbols.clone());
        code.secret_mul_leaks = options.secret_mul_leaks;
        code.conventions.clone_from(conventions);
        code.ckb_vm = options.ckb_vm;
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (Some(job), Some(slot)) = (jobs.get(at), slots.get(at)) else { return };
            let symbol = image.function_at(job.address);
            let done = one(subject, &code, job, symbol, &keys, world);
            (world.tell)(ended.fetch_add(1, Ordering::Relaxed) + 1, total, symbol.map_or("", |f| &f.name));
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        }
    };
    std::thread::scope(|scope| {
        let builder = || std::thread::Builder::new().stack_size(STACK_BYTES);
        let threads = options.threads.clamp(1, jobs.len().max(1));
        let started: Vec<_> = (0..threads).filter_map(|_| builder().spawn_scoped(scope, worker).ok()).collect();
        if started.is_empty() {
            worker();
        }
    });
    let lost = || Done { found: failed("the comparison ended without a result"), micros: 0, cached: false, evidence: None };
    slots.into_iter().map(|s| s.into_inner().unwrap_or_else(PoisonError::into_inner).unwrap_or_else(lost)).collect()
}

fn one(subject: &Subject, code: &Code, job: &Job, symbol: Option<&Function>, keys: &Keys, world: &World) -> Done {
    let start = (world.clock)();
    let image = subject.image;
    let (own, called) = &runs(subject, job.address);
    if let Some(why) = symbol.and_then(|f| subject.doubt(f, job.func)) {
        let found = Found::without_comparison(Verdict::Halted(Halt { pc: job.address, why: Why::Unsupported(why) }));
        return Done { found, micros: 0, cached: false, evidence: None };
    }
    let hash = symbol.map(|f| image.code_hash(f)).unwrap_or_default();
    let loose = symbol.map(|f| image.loose_in(f)).unwrap_or_default();
    let key = keys.key((&hash, &loose), job.func, (&job.shared, &code.convention_at(job.address)), called);
    // Proofs that rest on more than the hashes are of this very file.
    let keys = [key::of_file(&key, image), key];
    if let Some(found) = keys.iter().find_map(|k| key::recall(world.store, k, code.program)) {
        return Done { found, micros: (world.clock)().saturating_sub(start), cached: true, evidence: None };
    }
    // A defect of the prover in one function leaves the others their results.
    let compare = || function::compare(code, job.func, job.address, &job.shared, &|f| called.contains(&f));
    code.image.take();
    let mut found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(compare)).unwrap_or_else(|_| failed("the prover failed"));
    if found.verdict == Verdict::Equal {
        let ask = || judged(code, job.func, job.address, &job.shared, called, &found);
        let judged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(ask)).unwrap_or_else(|_| Some("the judge failed".into()));
        found.judged = judged;
        found.hashed = key::hashed(image, own, &code.image.take());
        key::remember(world.store, &keys[usize::from(found.hashed)], code.program, &found);
    }
    let (found, evidence) = try_out(image, code, (job.func, job.address, &job.shared), found);
    Done { found, micros: (world.clock)().saturating_sub(start), cached: false, evidence }
}

fn failed(reason: &str) -> Found {
    Found::without_comparison(Verdict::Source(reason.into()))
}

/// How often functions that cannot be proved alone are moved into their callers.
const MOVES: usize = 3;
