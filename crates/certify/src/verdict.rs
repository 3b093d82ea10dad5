//! From the answers of single comparisons to what is said of each function.
//!
//! Needs: comparisons.  Keeps: what rests on something unproved is not proved.  Absent: proofs.
//! Trusted: bytes, leaks, certifier.

use crate::entered::{entered, Entered};
use crate::function::{Difference, Verdict};
use crate::hash::hash_of;
use crate::isa::isa_name;
use crate::key::{program_hash, ENGINE_VERSION};
use crate::machine::{Halt, Leak, Why};
use crate::reach::{callers, Callers};
use crate::report::{Differing, FileReport, FunctionReport, Inside, Rest, SharedReport, Site, Status, Totals, WithoutSymbol, Witness, Work, ASSUMED};
use crate::residue::residues;
use crate::results::{Known, Results};
use crate::shared::Shared;
use crate::subject::{Done, Job, Subject};
use santoku_bytes::closed::Judged;
use santoku_elf::Function;
use santoku_ir::visit::callees;
use santoku_ir::{FuncId, Program};
use std::collections::{BTreeMap, BTreeSet};

/// Functions that other files can call, have a source, and run the code at an address.
pub(crate) fn entries_above(subject: &Subject, callers: &Callers, address: u64) -> BTreeSet<u64> {
    let (mut seen, mut open, mut found) = (BTreeSet::from([address]), vec![address], BTreeSet::new());
    while let Some(at) = open.pop() {
        for caller in callers.get(&at).into_iter().flatten().filter(|c| seen.insert(**c)) {
            open.push(*caller);
            let entry = subject.image.function_at(*caller).filter(|f| !f.local && !subject.functions_of(f).is_empty());
            found.extend(entry.map(|f| f.address));
        }
    }
    found
}

/// Puts the report together. `moved`: functions executed inside their callers.
pub(crate) fn report(subject: &Subject, known: &Known, results: &Results, moved: &BTreeSet<u64>) -> FileReport {
    let sound = results.sound(known);
    let view = View { subject, known, results, sound: &sound, moved, callers: callers(subject), entered: entered(subject, results), judged: results.judged(known) };
    let runs = view.runs();
    let mut functions = vec![];
    for f in &subject.image.functions {
        let known = subject.functions_of(f);
        if known.is_empty() {
            let callers = runs.get(&f.address).cloned().unwrap_or_default();
            let status = if callers.is_empty() { Status::NoSource } else { Status::Inside { callers } };
            functions.push(view.bare(f, None, status));
        }
        functions.extend(known.into_iter().filter_map(|func| view.function(f, func, runs.get(&f.address))));
    }
    functions.extend(view.without_code());
    let residues = if subject.options.only.is_none() { residues(subject, &mut functions) } else { vec![] };
    let totals = Totals::of(&functions);
    FileReport {
        engine: ENGINE_VERSION.to_string(),
        program: program_hash(subject.program),
        isa: isa_name(&subject.isa) + if subject.options.ckb_vm { " as CKB-VM executes it" } else { "" },
        linked: subject.image.linked,
        functions,
        without_symbol: view.without_symbol(),
        totals,
        residues,
        assumed: ASSUMED.map(String::from).to_vec(),
    }
}

struct View<'a> {
    subject: &'a Subject<'a>,
    known: &'a Known,
    results: &'a Results,
    sound: &'a BTreeSet<Job>,
    moved: &'a BTreeSet<u64>,
    callers: Callers,
    entered: Entered,
    judged: BTreeSet<Judged>,
}

impl View<'_> {
    fn bare(&self, f: &Function, func: Option<FuncId>, status: Status) -> FunctionReport {
        FunctionReport {
            symbol: func.and_then(|id| self.symbol_of(f, id)).unwrap_or(&f.name).clone(),
            entry: f.name.clone(),
            function: func.map(|id| self.subject.program.func(id).name.clone()),
            address: f.address,
            bytes: f.size,
            hash: hash_of(self.subject.image, f),
            local: f.local,
            status,
            hashed: false,
            work: Work::default(),
            convention: func.map_or(vec![], |id| self.subject.convention_at(f.address).told(self.subject.program.func(id))),
            calls: vec![],
            inside: vec![],
            believed: None,
            shared: vec![],
        }
    }

    /// Functions of the program whose name is in the file, and whose code is not: whoever calls them runs whatever lies there.
    fn without_code(&self) -> Vec<FunctionReport> {
        let named = self.subject.image.without_code.iter().filter_map(|f| Some((f, *self.subject.symbols.get(&f.name)?)));
        let wanted = named.filter(|(f, func)| self.subject.wanted(f, *func));
        let site = |f: &Function| Site { pc: f.address, instruction: "no instruction".into(), line: None };
        let status = |f: &Function| Status::NotFollowed { reason: format!("the file defines `{}`, and has no code there", f.name), site: site(f) };
        wanted.map(|(f, func)| self.bare(f, Some(func), status(f))).collect()
    }

    /// The symbol at an address that stands for a function.
    fn symbol_of<'f>(&self, f: &'f Function, func: FuncId) -> Option<&'f String> {
        std::iter::once(&f.name).chain(&f.aliases).find(|n| self.subject.symbols.get(*n) == Some(&func))
    }

    /// `None`: it was not asked for.
    fn function(&self, f: &Function, func: FuncId, callers: Option<&Vec<String>>) -> Option<FunctionReport> {
        let own = Job { address: f.address, func, shared: vec![] };
        let of_it = |job: &&Job| job.address == f.address && job.func == func;
        let jobs: Vec<&Job> = self.results.done.keys().filter(of_it).collect();
        // Asked for only in the ways in which it is called.
        let main = jobs.iter().find(|j| ***j == own).or(jobs.first())?;
        let done = self.results.done.get(*main)?;
        let mut status = self.status(main, done);
        if let Some(callers) = callers.filter(|_| !status.holds() && self.moved.contains(&f.address)) {
            status = Status::Inside { callers: callers.clone() };
        }
        let mut out = self.bare(f, Some(func), status);
        out.work = work(done);
        out.hashed = done.found.hashed;
        out.calls = self.rests(done);
        out.inside = self.inside_of(f.address);
        out.believed = jobs.iter().filter(|j| self.sound.contains(**j)).find_map(|j| self.believed(j));
        for job in jobs.iter().filter(|j| !j.shared.is_empty()) {
            if let Some(done) = self.results.done.get(*job) {
                let pairs = pairs(self.subject.program, func, &job.shared);
                out.shared.push(SharedReport { pairs, status: self.status(job, done), hashed: done.found.hashed, work: work(done), calls: self.rests(done) });
            }
        }
        Some(out)
    }

    /// Why the certifier is believed for a comparison.
    fn believed(&self, job: &Job) -> Option<String> {
        if self.judged.contains(&(job.address, (job.func, job.shared.clone()))) {
            return None;
        }
        let own = self.results.done.get(job).and_then(|d| d.found.judged.clone());
        own.or_else(|| Some("what it calls is not accepted".into()))
    }

    fn rests(&self, done: &Done) -> Vec<Rest> {
        done.found.calls.iter().map(|(g, shared)| self.rest(*g, shared)).collect()
    }

    fn rest(&self, func: FuncId, shared: &Shared) -> Rest {
        let program = self.subject.program;
        Rest { function: program.func(func).name.clone(), shared: pairs(program, func, shared) }
    }

    fn status(&self, job: &Job, done: &Done) -> Status {
        let status = self.judged(job, done);
        let local = self.subject.image.function_at(job.address).is_some_and(|f| f.local);
        let doubtful = match &status {
            // Nobody else calls it, and all that calls it may be right: wrong values have to be seen from outside.
            Status::Refuted(_) => !self.wrong_outside(job.address),
            // No convention of its own changes that.
            Status::Broken { .. } if matches!(&done.found.verdict, Verdict::Halted(Halt { why: Why::Platform(_), .. })) => false,
            Status::Broken { .. } | Status::Leak { .. } => self.called_otherwise(job),
            _ => false,
        };
        let stopped = matches!(status, Status::Broken { .. }) && self.stopped_by(job, done);
        match status.reason() {
            Some(reason) if local && doubtful || stopped => Status::OtherConvention { reason },
            _ => status,
        }
    }

    /// The code was followed to a call of a static function that does not get what the source gives it, while nobody was shown to give it
    /// that and no wrong value was seen from outside.
    fn stopped_by(&self, job: &Job, done: &Done) -> bool {
        let image = self.subject.image;
        let Some(callee) = done.found.stopped_at().and_then(|at| image.function_at(at)).filter(|f| f.local) else { return false };
        let known = self.subject.functions_of(callee);
        let as_source = known.iter().any(|func| self.called_as_source(callee.address, *func));
        !known.is_empty() && !as_source && !self.results.wrong.contains(&job.address) && !self.wrong_outside(job.address)
    }

    /// A function that others can call, and that runs this one, gives wrong values.
    fn wrong_outside(&self, address: u64) -> bool {
        let differs = |a: u64| self.results.done.iter().any(|(j, d)| j.address == a && matches!(d.found.verdict, Verdict::Differs(_)));
        entries_above(self.subject, &self.callers, address).into_iter().any(|a| self.results.wrong.contains(&a) || differs(a))
    }

    /// Callers were compared, and none was shown to call it as the source does.
    fn called_otherwise(&self, job: &Job) -> bool {
        let Some(from) = self.callers.get(&job.address) else { return false };
        self.results.done.keys().any(|j| from.contains(&j.address)) && !self.called_as_source(job.address, job.func)
    }

    /// A caller is equal, and it makes the call.
    fn called_as_source(&self, address: u64, func: FuncId) -> bool {
        let Some(from) = self.callers.get(&address) else { return false };
        let equal = |(j, d): (&Job, &Done)| from.contains(&j.address) && d.found.verdict == Verdict::Equal && d.found.calls.iter().any(|(g, _)| *g == func);
        self.results.done.iter().any(equal)
    }

    /// Every call of a function in the file stands in code that was compared, or that runs inside such code alone.
    fn calls_are_known(&self, address: u64, func: FuncId) -> bool {
        let (mut seen, mut open) = (BTreeSet::from([address]), vec![address]);
        while let Some(at) = open.pop() {
            let Some(from) = self.callers.get(&at).filter(|c| !c.is_empty()) else { return false };
            for caller in from {
                let equal = |(j, d): (&Job, &Done)| j.address == *caller && d.found.verdict == Verdict::Equal && d.found.calls.iter().any(|(g, _)| *g == func);
                if self.is_inside(*caller) {
                    if seen.insert(*caller) {
                        open.push(*caller);
                    }
                } else if !self.results.done.iter().any(equal) {
                    return false;
                }
            }
        }
        true
    }

    fn judged(&self, job: &Job, done: &Done) -> Status {
        match &done.found.verdict {
            Verdict::Equal if self.sound.contains(job) => {
                // What is proved where an argument is always the same says nothing of calls that were not looked at.
                let convention = self.subject.convention_at(job.address);
                let facts = convention.has_facts() && (self.entered.any.contains(&job.address) || !self.calls_are_known(job.address, job.func));
                if facts || !convention.is_source() && self.entered.by_address.contains(&job.address) {
                    return Status::OtherConvention { reason: "it is equal under a convention that not all of its calls were shown to keep".into() };
                }
                Status::Equal
            }
            Verdict::Equal => match self.results.unproved(job, self.known, self.sound) {
                Some((func, shared)) => Status::RestsOn { callee: self.rest(func, &shared) },
                None => Status::SourceNotFollowed { reason: "rests on itself".into() },
            },
            Verdict::Differs(d) => Status::Refuted(differing(d)),
            Verdict::NotProved(d) => Status::NotProved(differing(d)),
            Verdict::Halted(halt) => self.halted(halt, done),
            Verdict::Source(reason) => Status::SourceNotFollowed { reason: reason.clone() },
        }
    }

    fn halted(&self, Halt { pc, why }: &Halt, done: &Done) -> Status {
        let Subject { image, isa, .. } = self.subject;
        let decoded = image.word(*pc).and_then(|word| santoku_isa::decode(isa, word));
        let instruction = decoded.map_or_else(|| "not an instruction".to_string(), |i| i.to_string());
        let site = Site { pc: *pc, instruction, line: image.line(*pc) };
        match why {
            // Called a leak only where two runs show it: a term may mention a secret that decides nothing.
            Why::Secret(leak, term) => {
                let Some(evidence) = done.evidence.clone() else {
                    return Status::NotFollowed { reason: format!("{why}; no two inputs that show it were found"), site };
                };
                let what = match leak {
                    Leak::Branch => "a branch depends on a secret",
                    Leak::Address => "an address depends on a secret",
                    Leak::Time => "an operation of variable time works on a secret",
                };
                Status::Leak { what: what.into(), site, term: term.clone(), evidence }
            }
            Why::Memory(reason) | Why::Convention(reason) | Why::Platform(reason) => Status::Broken { reason: reason.clone(), site },
            Why::Unsupported(_) | Why::Loop { .. } | Why::TooBig => Status::NotFollowed { reason: why.to_string(), site },
        }
    }

    /// No function of the program is taken to stand for the code at an address.
    fn is_inside(&self, address: u64) -> bool {
        let unknown = |f: &Function| self.subject.functions_of(f).is_empty();
        self.moved.contains(&address) || self.subject.image.function_at(address).is_some_and(unknown)
    }

    /// Functions that are executed inside others, with those: only where all of them are proved.
    fn runs(&self) -> BTreeMap<u64, Vec<String>> {
        let inside = self.callers.keys().copied().filter(|a| self.is_inside(*a));
        inside.filter_map(|a| Some((a, self.proved_callers(a)?))).collect()
    }

    /// What a function runs that has no proof of its own.
    fn inside_of(&self, address: u64) -> Vec<Inside> {
        let (mut seen, mut open) = (BTreeSet::new(), vec![address]);
        while let Some(at) = open.pop() {
            let called = self.callers.iter().filter(|(to, from)| from.contains(&at) && self.is_inside(**to));
            open.extend(called.map(|(to, _)| *to).filter(|to| seen.insert(*to)));
        }
        let image = self.subject.image;
        let all = seen.into_iter().filter(|a| *a != address).filter_map(|a| image.function_at(a));
        all.map(|f| Inside { symbol: f.name.clone(), hash: hash_of(image, f) }).collect()
    }

    /// The proved functions that run the code at an address; `None` if others call it too.
    fn proved_callers(&self, address: u64) -> Option<Vec<String>> {
        let (mut seen, mut open) = (BTreeSet::from([address]), vec![address]);
        let mut names = BTreeSet::new();
        while let Some(at) = open.pop() {
            // Whoever else enters it does so in a way that was not looked at.
            if self.entered.any.contains(&at) {
                return None;
            }
            let from = self.callers.get(&at).filter(|c| !c.is_empty())?;
            for caller in from {
                if self.is_inside(*caller) {
                    if seen.insert(*caller) {
                        open.push(*caller);
                    }
                    continue;
                }
                let f = self.subject.image.function_at(*caller)?;
                let proved = |func: &FuncId| self.sound.contains(&Job { address: *caller, func: *func, shared: vec![] });
                if !self.subject.functions_of(f).iter().all(proved) {
                    return None;
                }
                names.insert(f.name.clone());
            }
        }
        Some(names.into_iter().collect())
    }

    fn without_symbol(&self) -> Vec<WithoutSymbol> {
        let program = self.subject.program;
        let here: BTreeSet<FuncId> = self.results.done.keys().map(|j| j.func).collect();
        let mut inside = BTreeSet::new();
        let mut open: Vec<FuncId> = here.iter().copied().collect();
        while let Some(f) = open.pop() {
            for callee in callees(program.func(f)) {
                if !self.known.contains_key(&callee) && inside.insert(callee) {
                    open.push(callee);
                }
            }
        }
        let named: BTreeSet<FuncId> = self.subject.image.without_code.iter().filter_map(|f| self.subject.symbols.get(&f.name).copied()).collect();
        let all = (0..program.funcs.len() as u32).map(FuncId).filter(|f| !self.known.contains_key(f) && !named.contains(f));
        let one = |f: FuncId| WithoutSymbol { function: program.func(f).name.clone(), inlined: inside.contains(&f), exported: program.func(f).export.is_some() };
        all.map(one).collect()
    }
}

fn work(done: &Done) -> Work {
    let f = &done.found;
    Work { instructions: f.steps, stack: f.stack, terms: f.terms, compared: f.compared, asked: f.asked, settled: f.settled, micros: done.micros, cached: done.cached }
}

fn pairs(program: &Program, func: FuncId, shared: &Shared) -> Vec<(String, String)> {
    let f = program.func(func);
    let name = |id: &santoku_ir::LocalId| f.local(*id).name.clone();
    shared.iter().filter_map(|(r, p)| Some((name(f.rets.get(*r)?), name(f.params.get(*p)?)))).collect()
}

fn differing(d: &Difference) -> Differing {
    let witness = d.witness.clone().map(|(inputs, machine, source)| Witness { inputs, machine, source });
    Differing { what: d.what.clone(), machine: d.machine.clone(), source: d.source.clone(), witness }
}
