//! The whole proof of a program: safety, secrecy, meaning, joined function by function.
//!
//! Needs: a verified core program.  Keeps: every obligation of every function is counted, functions in the order of the
//! program, the same result for the same input whatever the number of threads (but for times).  Absent on purpose: files,
//! clocks other than for the times shown, rendering of diagnostics.
//! Trusted: safe, field.

use crate::cache::{self, NoStore, Store};
use crate::contracts::{self, cost, ghost};
use crate::crosscheck;
use crate::judged::{self, Verdict};
use crate::key;
use crate::replay::{self, Judged};
use crate::obligation::{Engine, Kind, Obligation, Outcome};
use crate::secrecy::{self, Timing};
use crate::taken_back;
use crate::threads;
use crate::trial::{self, Trial};
use crate::ranges;
use santoku_ir::{visit, Contract, ContractKind, Func, FuncId, Program, Stmt};
use santoku_judge::Refusal;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use crate::report::{FunctionReport, Judgement, Report, Settled, Vacuous, Why};

/// What the caller chooses.
pub struct ProveOptions<'a> {
    pub ranges: ranges::Options,
    pub timing: Timing,
    /// Results of earlier runs.
    pub store: &'a dyn Store,
    /// At least 1.
    pub threads: usize,
    /// Inputs tried to break a claim that was not proved.
    pub tries: u32,
}

impl Default for ProveOptions<'static> {
    fn default() -> Self {
        ProveOptions { ranges: ranges::Options::default(), timing: Timing::default(), store: &NoStore, threads: 2, tries: 200 }
    }
}

/// Proves a program. Bodies of `test` blocks are not proved (they are run).
pub fn prove(p: &Program, opts: &ProveOptions<'_>) -> Report {
    let started = Instant::now();
    let tests: BTreeSet<FuncId> = p.tests.iter().map(|t| t.func).collect();
    let wanted: Vec<FuncId> = (0..p.funcs.len() as u32).map(FuncId).filter(|f| !tests.contains(f)).collect();
    let keys = key::keys(p, &format!("{} {:?} {:?}", cache::ENGINE_VERSION, opts.ranges, opts.timing));
    let mut found: BTreeMap<FuncId, FunctionReport> = BTreeMap::new();
    for id in &wanted {
        let f = p.func(*id);
        if let Some(kept) = cache::recall(opts.store, &keys[id.0 as usize], *id, f.loc) {
            let cache::Recalled { obligations, judgement, clauses, inputs } = kept;
            found.insert(*id, FunctionReport { func: *id, name: f.name.clone(), cached: true, obligations, vacuous: Vec::new(), judgement, clauses, inputs });
        }
    }
    let missing: Vec<FuncId> = wanted.iter().copied().filter(|f| !found.contains_key(f)).collect();
    if !missing.is_empty() {
        let mut settled = settle(p, &missing, opts);
        // What was proved and never run may be run by a new caller.
        let unrun: Vec<FuncId> = found.values().filter(|r| r.inputs == 0).map(|r| r.func).collect();
        settled.functions.extend(unrun.iter().filter_map(|id| found.remove(id)));
        settled.functions.sort_by_key(|r| r.func);
        // Contracts recurse as deep here as in the proof.
        threads::on_large_stack(|| taken_back::check_on_inputs(p, &mut settled, opts.threads));
        // What a fault is of is not known for sure: nothing that was proved beside it is kept.
        let sound = !settled.functions.iter().flat_map(|r| &r.obligations).any(Obligation::fault);
        for r in settled.functions {
            // What is vacuous is said on every run.
            if sound && r.vacuous.is_empty() {
                cache::remember(opts.store, &keys[r.func.0 as usize], &r);
            }
            found.insert(r.func, r);
        }
    }
    let declassified = wanted.iter().map(|id| p.func(*id)).filter(|f| f.declassifies).map(|f| (f.name.clone(), f.loc)).collect();
    Report { functions: found.into_values().collect(), declassified, files: p.files.clone(), micros: started.elapsed().as_micros() as u64 }
}

/// All engines on the given functions: safety for the program as a whole beside the meaning of one function after another.
fn settle(p: &Program, ids: &[FuncId], opts: &ProveOptions<'_>) -> Settled {
    let costs = cost::of_program(p);
    // Callers are what takes long: first, so that no thread is left with one at the end.
    let tasks: Vec<Task> = std::iter::once(Task::Safety).chain(ids.iter().rev().map(|id| Task::Meaning(*id))).collect();
    let made = threads::each(opts.threads, &tasks, || (), |(), task| match task {
        Task::Safety => {
            let (ranges, found) = ranges::analyse(p, &opts.ranges);
            let annotated = ranges::annotate_with(p, &ranges);
            let verdicts = judged::program_or(p, &annotated, &[&|| ranges::narrowed_with(annotated.clone(), &ranges), &|| ranges::annotate_by_summaries(p)]);
            Made::Safety(found, verdicts, Box::new(Claims::of(p, &ranges)))
        }
        Task::Meaning(id) => {
            let judged = contracts::concerns(p, *id).then(|| replay::judged(p, *id));
            let (mut found, contradicted) = contracts::check_with_contradictions(p, *id, &costs, judged.as_ref().is_some_and(replay::settles));
            found.extend(judged.iter().flat_map(|j| ghost::claims(p, *id, j)));
            found.extend(secrecy::check(p, *id, &opts.timing));
            Made::Meaning(*id, found, contradicted, judged)
        }
    });
    let (mut verdicts, mut claims) = (Vec::new(), Claims::default());
    let mut safety_of: BTreeMap<FuncId, Vec<Obligation>> = BTreeMap::new();
    let mut meaning_of: BTreeMap<FuncId, (Vec<Obligation>, bool)> = BTreeMap::new();
    let mut judged_of: BTreeMap<FuncId, Judged> = BTreeMap::new();
    for one in made {
        match one {
            Made::Safety(found, of_judge, of_all) => {
                (verdicts, claims) = (of_judge, *of_all);
                found.into_iter().for_each(|o| safety_of.entry(o.func).or_default().push(o));
            }
            Made::Meaning(id, found, contradicted, judged) => {
                meaning_of.insert(id, (found, contradicted.any()));
                judged.into_iter().for_each(|j| drop(judged_of.insert(id, j)));
                crosscheck::contradictions_written(&mut claims.written, id, &contradicted);
            }
        }
    }
    let functions = ids
        .iter()
        .map(|id| {
            let safety = safety_of.remove(id).unwrap_or_default();
            let (meaning, contradicted) = meaning_of.remove(id).unwrap_or_default();
            let mut vacuous = claims.vacuous.get(id).cloned().unwrap_or_default();
            let mut obligations = join(safety, meaning);
            // Where the algebra met a contradiction it is told, not used.
            if !contradicted {
                replay::close(p, judged_of.get(id), &mut obligations);
            }
            judged_of.get(id).into_iter().for_each(|j| ghost::waiting(j, &mut obligations));
            let obligations = last_resorts(p, *id, obligations, &mut vacuous, opts);
            let judgement = match verdicts.get_mut(id.0 as usize).and_then(Option::take) {
                Some(Ok(_)) => Judgement::Accepted,
                Some(Err(e)) => Judgement::Refused(why_refused(p.func(*id), &e)),
                None => Judgement::Refused("it was not judged".into()),
            };
            let clauses = replay::replayed(p, judged_of.get(id), &obligations);
            FunctionReport { func: *id, name: p.func(*id).name.clone(), cached: false, obligations, vacuous, judgement, clauses, inputs: 0 }
        })
        .collect();
    Settled { functions, claims_written: claims.written }
}

/// In words that do not change when the text around the function does.
fn why_refused(f: &Func, e: &Refusal) -> String {
    let inside = if e.func == f.name { String::new() } else { format!(", in `{}`", e.func) };
    match e.statement {
        Some(nr) => format!("{} (statement {nr}{inside})", e.what),
        None => format!("{}{inside}", e.what),
    }
}

/// What [`settle`] shares out among threads.
enum Task {
    /// Of the program as a whole.
    Safety,
    /// What the judge of meaning says to the clauses of one function, and the engines.
    Meaning(FuncId),
}

/// What one of them found.
enum Made {
    Safety(Vec<Obligation>, Vec<Option<Verdict>>, Box<Claims>),
    Meaning(FuncId, Vec<Obligation>, contracts::Contradicted, Option<Judged>),
}

/// What the range engine says besides its obligations.
#[derive(Default)]
struct Claims {
    written: Program,
    vacuous: BTreeMap<FuncId, Vec<Vacuous>>,
}

impl Claims {
    fn of(p: &Program, ranges: &ranges::Ranges) -> Claims {
        let vacuous = (0..p.funcs.len() as u32).map(FuncId).map(|id| (id, vacuous(p.func(id), ranges.dead(id)))).collect();
        Claims { written: crosscheck::claims_written(p, ranges), vacuous }
    }
}

fn vacuous(f: &Func, dead: &ranges::Dead) -> Vec<Vacuous> {
    if dead.entry {
        return vec![never_called(f)];
    }
    let (mut out, mut nr) = (Vec::new(), 0);
    visit::walk_stmts(&f.body, &mut |s| {
        if let (Stmt::Assert { text, loc, .. }, true) = (s, dead.unreached(nr)) {
            out.push(Vacuous { loc: *loc, text: text.clone(), why: Why::Unreached });
        }
        nr += 1;
    });
    out
}

fn never_called(f: &Func) -> Vacuous {
    let clauses: Vec<&Contract> = f.contracts.iter().filter(|c| c.kind == ContractKind::Requires).collect();
    let text: Vec<&str> = clauses.iter().map(|c| c.text.as_str()).collect();
    Vacuous { loc: clauses.last().map_or(f.loc, |c| c.loc), text: text.join(", "), why: Why::Requires }
}

/// A clause that both lists judge is one obligation, proved if either proved it. One list may judge a clause several
/// times, at each visit of a call: there it is proved if every visit was.
fn join(safety: Vec<Obligation>, meaning: Vec<Obligation>) -> Vec<Obligation> {
    let mut out: Vec<Obligation> = Vec::new();
    let mut at: BTreeMap<ClauseKey, usize> = BTreeMap::new();
    for list in [safety, meaning] {
        let mut judged: BTreeMap<ClauseKey, Obligation> = BTreeMap::new();
        for o in list {
            let Some(key) = clause_key(&o) else {
                out.push(o);
                continue;
            };
            match judged.get_mut(&key) {
                Some(before) if before.proved() && !o.proved() => *before = o,
                Some(_) => {}
                None => {
                    judged.insert(key, o);
                }
            }
        }
        for (key, o) in judged {
            match at.get(&key) {
                Some(i) if out[*i].proved() => {}
                Some(i) => out[*i] = told(&out[*i], o),
                None => {
                    at.insert(key, out.len());
                    out.push(o);
                }
            }
        }
    }
    out
}

/// The second judgement of a clause that the first leaves open. Its reason says more; what was found beside the first is kept.
fn told(first: &Obligation, mut second: Obligation) -> Obligation {
    if let (Outcome::Failed { witness: w, origin: o, .. }, Outcome::Failed { witness, origin, .. }) = (&first.outcome, &mut second.outcome) {
        *witness = witness.take().or_else(|| w.clone());
        *origin = origin.take().or_else(|| o.clone());
    }
    second
}

type ClauseKey = (Kind, santoku_ir::Loc, u32, String);

/// What makes two obligations about contracts the same one; `None` for the others.
fn clause_key(o: &Obligation) -> Option<ClauseKey> {
    match o.kind {
        Kind::Ensures => Some((o.kind, santoku_ir::Loc::default(), o.nr, o.text.clone())),
        Kind::Requires => Some((o.kind, o.loc, o.nr, o.text.clone())),
        _ => None,
    }
}

/// For what is still open: all inputs if they are few, else a search for inputs that break it.
fn last_resorts(p: &Program, id: FuncId, mut obligations: Vec<Obligation>, vacuous: &mut Vec<Vacuous>, opts: &ProveOptions<'_>) -> Vec<Obligation> {
    let open = |o: &Obligation| !o.proved() && !o.fault() && o.kind != Kind::Secrecy && o.kind != Kind::Width;
    if !obligations.iter().any(open) {
        return obligations;
    }
    let close = |obligations: &mut Vec<Obligation>, engine| {
        obligations.iter_mut().filter(|o| open(o)).for_each(|o| o.outcome = Outcome::Proved { engine });
    };
    if vacuous.iter().any(|v| v.why == Why::Requires) {
        // Nobody can call it: nothing is asked of it, and that is said.
        close(&mut obligations, Engine::Relational);
        return obligations;
    }
    match trial::search(p, id, opts.tries) {
        Trial::Nothing => {}
        Trial::AllInputs(_) => close(&mut obligations, Engine::Exhaustive),
        Trial::NoInput => {
            vacuous.push(never_called(p.func(id)));
            close(&mut obligations, Engine::Exhaustive);
        }
        Trial::Broken(b) => {
            let shown = |o: &Obligation| o.kind == b.kind && (b.own || b.kind == Kind::Requires);
            let first = obligations.iter().position(|o| open(o) && shown(o)).or_else(|| obligations.iter().position(open));
            if let Some(o) = first.map(|i| &mut obligations[i]) {
                if let Outcome::Failed { witness, .. } = &mut o.outcome {
                    witness.get_or_insert(b.witness);
                }
            }
        }
    }
    obligations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::obligation::Outcome;
    use crate::taken_back::check_on_inputs;
    use santoku_ir::build::FuncBuilder;
    use santoku_ir::{Expr, Place, Range, Ty};

    /// `x + add` for `x` in 0..9, said to stay in 0..9, with everything about it taken for proved.
    fn taken_for_proved(add: i64) -> (Program, Settled) {
        let mut p = Program::default();
        let empty = Program::default();
        let mut b = FuncBuilder::new(&empty, "f");
        let digit = Ty::Int(Some(Range::new(0, 9)));
        let (x, out) = (b.param("x", digit.clone()), b.ret("out", digit));
        let e = b.get(x) + Expr::int(add);
        b.assign(Place::local(out), e);
        p.add_func(b.finish());
        let (ranges, mut obligations) = ranges::analyse(&p, &ranges::Options::default());
        obligations.iter_mut().for_each(|o| o.outcome = Outcome::Proved { engine: Engine::Smt });
        let written = crosscheck::claims_written(&p, &ranges);
        let report = FunctionReport { func: FuncId(0), name: "f".into(), cached: false, obligations, vacuous: Vec::new(), judgement: Judgement::Accepted, clauses: crate::replay::Replayed::default(), inputs: 0 };
        (p, Settled { functions: vec![report], claims_written: written })
    }

    #[test]
    fn an_input_that_contradicts_a_proof_is_a_fault_of_ours() {
        let (p, mut right) = taken_for_proved(0);
        check_on_inputs(&p, &mut right, 1);
        assert!(right.functions[0].inputs > 10 && !right.functions[0].obligations.iter().any(Obligation::fault));
        let (p, mut wrong) = taken_for_proved(1);
        check_on_inputs(&p, &mut wrong, 2);
        let faults: Vec<&Obligation> = wrong.functions[0].obligations.iter().filter(|o| o.fault()).collect();
        let [Obligation { kind: Kind::Range, outcome: Outcome::Fault { engine: Engine::Smt, witness: Some(w), .. }, .. }] = &faults[..] else {
            panic!("{faults:?}")
        };
        assert_eq!(w.inputs, [("x".to_string(), "9".to_string())]);
        assert!(!wrong.functions[0].obligations.iter().all(Obligation::proved));
    }

    /// What `h` requires of `g` is false for what `f` alone gives to `g`, whose runs are long. Functions proved: these.
    fn called_wrong(ids: &[u32], threads: usize) -> Vec<Obligation> {
        let text = "fn h(x: u8) -> u8\n  requires x != 3\n  requires x < 100\n{ x }\nfn g(x: public u32) -> u8 {\n  var y: u8 = 0\n  for i in 0..<30000 { y = y + 1 }\n  if x == 77 { y = 200 } else { y = 5 }\n  h(y)\n}\nfn f(s: u8) -> u8 {\n  let a = g(77)\n  a ^ s\n}\n";
        let p = crate::fault_tests::compiled(text);
        let ids: Vec<FuncId> = ids.iter().copied().map(FuncId).collect();
        let mut all = settle(&p, &ids, &ProveOptions { threads, ..ProveOptions::default() });
        let close = |r: &mut FunctionReport| r.obligations.iter_mut().for_each(|o| o.outcome = Outcome::Proved { engine: Engine::Algebra });
        all.functions.iter_mut().for_each(close);
        check_on_inputs(&p, &mut all, threads);
        all.functions.into_iter().flat_map(|r| r.obligations).filter(Obligation::fault).collect()
    }

    #[test]
    fn what_a_call_does_not_meet_is_held_against_the_caller() {
        for threads in [1, 2] {
            let faults = called_wrong(&[0, 1, 2], threads);
            let [o] = &faults[..] else { panic!("{faults:?}") };
            assert_eq!((o.func, o.kind, o.loc.line, o.text.as_str()), (FuncId(1), Kind::Requires, 9, "t.h requires x < 100"), "{o:?}");
        }
    }

    /// `g` and `h` were proved before.
    #[test]
    fn what_is_wrong_with_an_older_proof_is_told_of_the_new_caller() {
        let faults = called_wrong(&[2], 1);
        let [o] = &faults[..] else { panic!("{faults:?}") };
        assert!(o.func == FuncId(2) && o.text.contains("`t.h`"), "{o:?}");
    }
}
