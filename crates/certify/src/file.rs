//! A whole file: which functions are compared, with which objects coinciding, and what follows from the answers.
//!
//! Needs: [`crate::function`], a store, a clock.  Keeps: a function counts as equal only if every function it calls is
//! proved for the way in which it calls it; the same report whatever the number of threads (times apart).  Absent: files.
//! Trusted: bytes, leaks, certifier.

use crate::adapt::adapt;
use crate::function::{self, Found, Verdict};
use crate::judged::judged;
use crate::key::{self, hex, Keys};
use crate::leak::Evidence;
use crate::machine::{Code, Halt, Why};
use crate::reach::{callers, runs};
use crate::report::FileReport;
use crate::shared::Shared;
use crate::source::convention::Convention;
use crate::tried::{is_wrong, try_out};
use crate::verdict::{self, entries_above, Results};
use santoku_elf::{Function, Image};
use santoku_ir::{FuncId, Program};
use santoku_isa::Isa;
use santoku_prove::cache::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Stack of a working thread: terms are walked recursively.
const STACK_BYTES: usize = 512 << 20;
/// How often functions that cannot be proved alone are moved into their callers.
const MOVES: usize = 3;

/// How a file is certified.
#[derive(Clone, Debug)]
pub struct Options {
    /// Multiplications of secrets count as a leak.
    pub secret_mul_leaks: bool,
    /// The processor is CKB-VM: some groups of instructions are one, with another result.
    pub ckb_vm: bool,
    /// Only this function, by symbol or by name in the program, and what it calls.
    pub only: Option<String>,
    /// At least 1.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { secret_mul_leaks: false, ckb_vm: false, only: None, threads: 2 }
    }
}

/// What the work needs from outside.
pub struct World<'a> {
    pub store: &'a dyn Store,
    /// Microseconds since some moment.
    pub clock: &'a (dyn Fn() -> u64 + Sync),
    /// Told of every finished comparison: how many are done, how many are known of, the symbol.
    pub tell: &'a (dyn Fn(usize, usize, &str) + Sync),
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Job {
    pub address: u64,
    pub func: FuncId,
    pub shared: Shared,
}

/// Its result.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub found: Found,
    pub micros: u64,
    pub cached: bool,
    /// Two inputs that show a leak.
    pub evidence: Option<Evidence>,
}

/// A file and a program, with the symbols that stand for functions.
pub(crate) struct Subject<'a> {
    pub image: &'a Image,
    pub isa: Isa,
    pub program: &'a Program,
    pub symbols: BTreeMap<String, FuncId>,
    /// Functions that are not called as the source says, by address.
    pub conventions: BTreeMap<u64, Convention>,
    pub options: &'a Options,
}

impl<'a> Subject<'a> {
    /// The functions of the program that a symbol stands for: more than one where equal functions were folded.
    pub fn functions_of(&self, f: &Function) -> BTreeSet<FuncId> {
        std::iter::once(&f.name).chain(&f.aliases).filter_map(|n| self.symbols.get(n).copied()).collect()
    }

    /// All functions with source, and where they are.
    pub fn known(&self) -> BTreeMap<FuncId, BTreeSet<u64>> {
        let mut all: BTreeMap<FuncId, BTreeSet<u64>> = BTreeMap::new();
        for f in &self.image.functions {
            for func in self.functions_of(f) {
                all.entry(func).or_default().insert(f.address);
            }
        }
        all
    }

    /// Why the code at a function's symbol is not for certain what is called by the name.
    fn doubt(&self, f: &Function, func: FuncId) -> Option<String> {
        if !self.isa.takes_at(f.address) {
            return Some("it begins where a processor without 16-bit instructions takes none".into());
        }
        let names = || std::iter::once(&f.name).chain(&f.aliases).filter(|n| self.symbols.get(*n) == Some(&func));
        let doubts: Vec<&str> = names().filter_map(|n| f.doubt(n)).collect();
        doubts.first().filter(|_| doubts.len() == names().count()).map(ToString::to_string)
    }

    fn without(&self, addresses: &BTreeSet<u64>) -> Subject<'a> {
        let gone = |name: &str| self.image.function(name).is_some_and(|f| addresses.contains(&f.address));
        let symbols = self.symbols.iter().filter(|(name, _)| !gone(name)).map(|(n, f)| (n.clone(), *f)).collect();
        Subject { symbols, conventions: self.conventions.clone(), ..*self }
    }

    /// How the function at an address is called.
    pub fn convention_at(&self, address: u64) -> Convention {
        self.conventions.get(&address).cloned().unwrap_or_default()
    }

    /// The same with these conventions.
    pub fn with(&self, conventions: BTreeMap<u64, Convention>) -> Subject<'a> {
        Subject { symbols: self.symbols.clone(), conventions, ..*self }
    }

    pub fn wanted(&self, f: &Function, func: FuncId) -> bool {
        let Some(only) = &self.options.only else { return true };
        f.name == *only || f.aliases.contains(only) || self.program.func(func).name == *only
    }
}

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
    for job in results.sound(&known) {
        if job.shared.is_empty() && image.function_at(job.address).is_some_and(|f| !f.local) {
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
fn move_into_callers(subject: &Subject, known: &BTreeMap<FuncId, BTreeSet<u64>>, results: &mut Results, world: &World) -> BTreeSet<u64> {
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

/// Hash of a function as text.
pub(crate) fn hash_of(image: &Image, f: &Function) -> String {
    hex(&image.code_hash(f))
}
