//! The pipeline: runs each pass and checks what it did.
//!
//! Needs: [`crate::TABLE`], the verifier, the equivalence checker, the range prover.  Keeps: nothing unchecked. A function
//! whose rewrite is shown to differ stops everything, as does a pass that changes what is declared; one whose rewrite the
//! checker cannot decide, or after which ranges cannot be proved again, goes back to what it was.
//! Absent: recovery from a wrong pass; that is our fault and is reported as such.
//! Trusted: c.

use crate::again::Again;
use crate::compact::compact;
use crate::derive_width::{Base, Checked, Open};
use crate::options::{Level, PassOptions};
use crate::table::{find, Pass, PIPELINE};
use crate::util::map_calls;
use santoku_ir::typing::without_ranges;
use santoku_ir::verify::verify;
use santoku_ir::visit::map_exprs;
use santoku_ir::{Func, FuncId, Program, Stmt};
use santoku_prove::equiv::{check, everywhere, Difference, Verdict};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What one pass did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepReport {
    pub pass: &'static str,
    /// Functions rewritten, in program order.
    pub changed: Vec<String>,
    /// Of those: proved equal.
    pub equal: usize,
    /// Of those: not decided and put back, with the reason.
    pub reverted: Vec<(String, String)>,
    /// Functions removed.
    pub removed: Vec<String>,
    /// Ranges written, and what they rest on: proved again.
    pub ranges: usize,
    /// Functions whose ranges rest on the engines of the prover, because the judge does not accept them, with what does not follow.
    pub believed: Vec<(String, String)>,
    /// Nodes of all term graphs of the step together.
    pub nodes: usize,
    /// Wall time of the pass and of its checks, in microseconds. Zero unless a clock is given.
    pub micros: u64,
}

/// The optimised program and what happened on the way.
#[derive(Clone, Debug)]
pub struct Optimised {
    pub program: Program,
    pub steps: Vec<StepReport>,
    /// What a second look at all passes together found.
    pub again: Again,
}

impl Optimised {
    /// Functions whose ranges rest on the engines of the prover, with the pass that wrote them and what the judge does not accept.
    pub fn believed(&self) -> impl Iterator<Item = (&'static str, &str, &str)> {
        believed(&self.steps)
    }
}

/// The same of the steps alone.
pub fn believed(steps: &[StepReport]) -> impl Iterator<Item = (&'static str, &str, &str)> {
    steps.iter().flat_map(|s| s.believed.iter().map(|(func, why)| (s.pass, func.as_str(), why.as_str())))
}

/// A pass did something wrong: an internal error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassFailure {
    pub pass: &'static str,
    /// The function concerned; empty when it is the whole program.
    pub func: String,
    pub reason: Reason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A name in `without` is no pass.
    UnknownPass(String),
    /// The verifier refuses the result.
    Malformed(String),
    /// The function computes something else.
    Differs(Box<Difference>),
    /// A root vanished or a signature changed.
    Interface(String),
    /// Something declared for the whole program changed.
    Declared(String),
    /// A range written by `derive-width` does not hold, or something it rests on.
    Range(String),
}

impl fmt::Display for PassFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Reason::UnknownPass(name) = &self.reason {
            return write!(f, "there is no pass `{name}`");
        }
        write!(f, "internal error: pass `{}`", self.pass)?;
        if !self.func.is_empty() {
            write!(f, " in `{}`", self.func)?;
        }
        match &self.reason {
            Reason::UnknownPass(_) => Ok(()),
            Reason::Malformed(text) => write!(f, " left a program the verifier refuses: {text}"),
            Reason::Interface(text) => write!(f, " changed the interface: {text}"),
            Reason::Declared(text) => write!(f, " changed what is declared: {text}"),
            Reason::Range(text) => write!(f, " wrote a range that does not hold: {text}"),
            Reason::Differs(d) => {
                write!(f, " changed `{}`\n  before: {}\n  after:  {}", d.result, d.before, d.after)?;
                let Some(w) = &d.witness else { return Ok(()) };
                write!(f, "\n  on")?;
                for (name, value) in &w.inputs {
                    write!(f, " {name} = {value};")?;
                }
                write!(f, "\n  before it gives {}\n  after it gives  {}", w.before, w.after)
            }
        }
    }
}

impl std::error::Error for PassFailure {}

/// Optimises a verified program at a level, leaving out the passes named in `without`. Every step is checked.
///
/// # Errors
/// [`Reason::UnknownPass`] for a name in `without` that is no pass; any other reason is a defect of ours.
pub fn optimise(
    program: &Program,
    level: Level,
    without: &BTreeSet<String>,
    options: &PassOptions,
) -> Result<Optimised, PassFailure> {
    optimise_with(program, level, without, options, &mut |_, _| {}, &|| 0)
}

/// [`optimise`], showing the program after each step to `watch` (for `--dump-after`) and timing steps by `clock`
/// (microseconds from any start). Where the passes start over, `watch` is given no name and the program before all of them.
pub fn optimise_with(
    program: &Program,
    level: Level,
    without: &BTreeSet<String>,
    options: &PassOptions,
    watch: &mut dyn FnMut(&'static str, &Program),
    clock: &dyn Fn() -> u64,
) -> Result<Optimised, PassFailure> {
    if let Some(name) = without.iter().find(|n| find(n).is_none()) {
        let reason = Reason::UnknownPass(name.clone());
        return Err(PassFailure { pass: "", func: String::new(), reason });
    }
    let options = PassOptions { level, ..options.clone() };
    let passes: Vec<&Pass> =
        PIPELINE.iter().filter_map(|n| find(n)).filter(|p| p.runs_at(level) && !without.contains(p.name)).collect();
    run_passes(program, &passes, &options, watch, clock)
}

/// Runs these passes, anew without some of their rewrites where ranges cannot be proved again with them.
pub(crate) fn run_passes(
    program: &Program,
    passes: &[&Pass],
    options: &PassOptions,
    watch: &mut dyn FnMut(&'static str, &Program),
    clock: &dyn Fn() -> u64,
) -> Result<Optimised, PassFailure> {
    let program = &crate::drop_asserts::without_ghost(program);
    let mut run = Run { start: program, passes, options, base: OnceCell::new(), leave: BTreeSet::new() };
    loop {
        match run.once(watch, clock) {
            Ok(done) => return Ok(done),
            Err(Stop::Failed(failure)) => return Err(*failure),
            Err(Stop::Open(pass, open)) => {
                if !run.blame(&open) {
                    let first = open.into_iter().next();
                    let (func, text) = first.map(|o| (o.func, o.text)).unwrap_or_default();
                    return Err(PassFailure { pass, func, reason: Reason::Range(text) });
                }
                watch("", program);
            }
        }
    }
}

/// All passes over one program, and what is known from earlier attempts.
pub(crate) struct Run<'a> {
    /// The program before all passes.
    pub start: &'a Program,
    pub passes: &'a [&'a Pass],
    pub options: &'a PassOptions,
    /// What is open from the start; computed when something is open at all.
    pub base: OnceCell<Base>,
    /// Rewrites to leave out: the position of the pass, the function.
    pub leave: BTreeSet<(usize, String)>,
}

/// Why a step did not come to its end.
pub(crate) enum Stop {
    Failed(Box<PassFailure>),
    /// This pass wrote ranges, and these do not hold.
    Open(&'static str, Vec<Open>),
}

impl Run<'_> {
    fn once(&self, watch: &mut dyn FnMut(&'static str, &Program), clock: &dyn Fn() -> u64) -> Result<Optimised, Stop> {
        let mut program = self.start.clone();
        let mut steps = Vec::new();
        // What is known from runs on all inputs needs no second look.
        let mut seen = self.start.clone();
        for (at, pass) in self.passes.iter().enumerate() {
            let start = clock();
            let (next, mut report) = self.step(at, &program)?;
            report.micros = clock().saturating_sub(start);
            program = next;
            if self.passes[..=at].iter().all(|p| p.on_all_inputs) {
                seen = program.clone();
            }
            steps.push(report);
            watch(pass.name, &program);
        }
        Ok(Optimised { again: crate::again::look(&seen, &program), program, steps })
    }

    /// One pass and its checks.
    pub fn step(&self, at: usize, before: &Program) -> Result<(Program, StepReport), Stop> {
        let pass = self.passes[at];
        let annotated = self.passes[..at].iter().any(|p| p.writes_ranges);
        let leave = |func: &str| self.leave.contains(&(at, func.to_string()));
        let checked = rewrite(pass, before, self.options, annotated, &leave);
        let (mut after, mut report) = checked.map_err(|e| Stop::Failed(Box::new(e)))?;
        if pass.writes_ranges {
            let Checked { held, believed, mut open } = crate::derive_width::check(&after);
            (report.ranges, report.believed) = (held, believed);
            // Facts that do not hold are not used; what made them so is not left in place either.
            open.extend(crate::derive_width::open_facts(before));
            if !open.is_empty() {
                let open = self.base().new_in(open);
                if !open.is_empty() {
                    return Err(Stop::Open(pass.name, open));
                }
            }
        }
        if pass.leaves_locals {
            for func in &mut after.funcs {
                let name = func.name.clone();
                let fail = |text| PassFailure { pass: pass.name, func: name, reason: Reason::Interface(text) };
                compact(func).map_err(|text| Stop::Failed(Box::new(fail(text))))?;
            }
        }
        Ok((after, report))
    }

    pub fn base(&self) -> &Base {
        self.base.get_or_init(|| Base::of(self.start))
    }
}

/// One pass on its own, as if nothing ran before it.
#[cfg(test)]
pub(crate) fn step(pass: &Pass, before: &Program, options: &PassOptions) -> Result<(Program, StepReport), PassFailure> {
    let run = Run { start: before, passes: &[pass], options, base: OnceCell::new(), leave: BTreeSet::new() };
    run.step(0, before).map_err(|stop| match stop {
        Stop::Failed(failure) => *failure,
        Stop::Open(pass, open) => {
            PassFailure { pass, func: open[0].func.clone(), reason: Reason::Range(open[0].text.clone()) }
        }
    })
}

/// Applies a pass and checks everything but ranges. `annotated`: these are written already. `leave`: functions to leave as
/// they are.
fn rewrite(
    pass: &Pass,
    before: &Program,
    options: &PassOptions,
    annotated: bool,
    leave: &dyn Fn(&str) -> bool,
) -> Result<(Program, StepReport), PassFailure> {
    let mut after = (pass.run)(before, options);
    let fail = |func: &str, reason: Reason| PassFailure { pass: pass.name, func: func.to_string(), reason };
    let mut report = StepReport {
        pass: pass.name,
        changed: Vec::new(),
        equal: 0,
        reverted: Vec::new(),
        removed: removed(before, &after),
        ranges: 0,
        believed: Vec::new(),
        nodes: 0,
        micros: 0,
    };
    if let Some(lost) = report.removed.iter().find(|n| crate::dead_functions::is_root(before, n, options)) {
        return Err(fail(lost, Reason::Interface("a root was removed".to_string())));
    }
    if let Some(new) = after.funcs.iter().find(|f| before.find(&f.name).is_none()) {
        return Err(fail(&new.name, Reason::Interface("a function appeared".to_string())));
    }
    crate::kept::program(before, &after).map_err(|text| fail("", Reason::Declared(text)))?;
    left_alone(before, &mut after, leave, &mut report);
    if pass.may_lose_assignment {
        put_back_unassigned(before, &mut after, &mut report);
    }
    if let Some(e) = verify(&after).into_iter().next() {
        return Err(fail(&e.func, Reason::Malformed(e.to_string())));
    }
    let expand = if pass.expands { inlined(before, &after) } else { BTreeSet::new() };
    let mut put_back = Vec::new();
    for at in 0..after.funcs.len() {
        let name = after.funcs[at].name.clone();
        let Some(old) = before.find(&name) else { continue };
        let old = before.func(old);
        if unchanged((before, old), (&after, &after.funcs[at])) {
            continue;
        }
        report.changed.push(name.clone());
        crate::kept::func(old, &after.funcs[at], pass.writes_ranges).map_err(|text| fail(&name, Reason::Interface(text)))?;
        let new = retarget(&after, &after.funcs[at], before);
        if pass.writes_ranges && new.as_ref().is_some_and(|new| ranges_added(old, new)) {
            report.equal += 1;
            continue;
        }
        let only_less = match &new {
            Some(new) if annotated => crate::erase::check(old, new),
            None if annotated => Err("a callee vanished after the ranges were written".to_string()),
            Some(_) | None => Ok(()),
        };
        if let Err(why) = only_less {
            put_back.push((at, why));
            continue;
        }
        let verdict = if pass.on_all_inputs { everywhere::check(before, &after, &name) } else { check(before, &after, &name, &expand) };
        match verdict {
            Verdict::Equal { nodes } => {
                report.equal += 1;
                report.nodes += nodes;
            }
            Verdict::Differ(d) if d.witness.is_some() => return Err(fail(&name, Reason::Differs(d))),
            Verdict::Differ(d) => put_back.push((at, format!("not shown equal: `{}` becomes `{}`", d.before, d.after))),
            Verdict::TooBig => put_back.push((at, "too big to check".to_string())),
            Verdict::Unknown(why) => put_back.push((at, why)),
        }
    }
    for (at, why) in put_back {
        let name = after.funcs[at].name.clone();
        let old = before.find(&name).and_then(|old| retarget(before, before.func(old), &after));
        let Some(body) = old else {
            return Err(fail(&name, Reason::Interface(format!("cannot be put back ({why})"))));
        };
        after.funcs[at] = body;
        report.reverted.push((name, why));
    }
    Ok((after, report))
}

/// Undoes what an earlier attempt showed to be in the way of ranges.
fn left_alone(before: &Program, after: &mut Program, leave: &dyn Fn(&str) -> bool, report: &mut StepReport) {
    for at in 0..after.funcs.len() {
        let name = after.funcs[at].name.clone();
        let Some(old) = before.find(&name).filter(|_| leave(&name)) else { continue };
        let Some(body) = retarget(before, before.func(old), after) else { continue };
        if after.funcs[at] != body {
            after.funcs[at] = body;
            report.reverted.push((name, "the ranges of what it makes cannot be proved again".to_string()));
        }
    }
}

/// A scalar must be seen to be assigned before it is read; of an array element the prover may know it where the verifier
/// does not. Functions that only so are refused keep their arrays.
fn put_back_unassigned(before: &Program, after: &mut Program, report: &mut StepReport) {
    let refused: BTreeSet<String> =
        verify(after).into_iter().filter(|e| e.code == "unassigned").map(|e| e.func).collect();
    for func in &mut after.funcs {
        let Some(old) = before.find(&func.name).filter(|_| refused.contains(&func.name)) else { continue };
        *func = before.func(old).clone();
        report.reverted.push((func.name.clone(), "an element is assigned on every path, but not visibly".to_string()));
    }
}

fn removed(before: &Program, after: &Program) -> Vec<String> {
    let kept: BTreeSet<&str> = after.funcs.iter().map(|f| f.name.as_str()).collect();
    before.funcs.iter().filter(|f| !kept.contains(f.name.as_str())).map(|f| f.name.clone()).collect()
}

/// The same text but for ranges. They compute nothing, so the function is equal, and none is too big for this to show it.
/// Nor do asserts and invariants of a function with results; as facts they are proved again together with the ranges.
fn ranges_added(old: &Func, new: &Func) -> bool {
    let bare = |f: &Func| {
        let mut f = f.clone();
        if !f.rets.is_empty() {
            crate::drop_asserts::strip(&mut f);
        }
        f.locals.iter_mut().for_each(|l| l.ty = without_ranges(&l.ty));
        map_exprs(&mut f.body, &mut |e| e.ty = without_ranges(&e.ty));
        f
    };
    bare(old) == bare(new)
}

/// The same text, callees compared by name.
fn unchanged((before, old): (&Program, &Func), (after, new): (&Program, &Func)) -> bool {
    retarget(after, new, before).is_some_and(|f| f == *old)
}

/// A function of one program with its calls renumbered for another; `None` when a callee is missing there.
fn retarget(from: &Program, func: &Func, to: &Program) -> Option<Func> {
    let mut map = BTreeMap::new();
    let mut missing = false;
    santoku_ir::visit::walk_stmts(&func.body, &mut |s| {
        if let Stmt::Call { func, .. } = s {
            match to.find(&from.func(*func).name) {
                Some(id) => drop(map.insert(*func, id)),
                None => missing = true,
            }
        }
    });
    if missing {
        return None;
    }
    let mut func = func.clone();
    map_calls(&mut func.body, &|id: FuncId| map[&id]);
    Some(func)
}

/// Functions that are called less often than before somewhere: their calls are executed by the check.
fn inlined(before: &Program, after: &Program) -> BTreeSet<String> {
    let mut fewer = BTreeSet::new();
    for new in &after.funcs {
        let Some(old) = before.find(&new.name) else { continue };
        let (was, is) = (calls(before, before.func(old)), calls(after, new));
        fewer.extend(was.into_iter().filter(|(name, n)| is.get(name).copied().unwrap_or(0) < *n).map(|(name, _)| name));
    }
    fewer
}

fn calls(program: &Program, func: &Func) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    santoku_ir::visit::walk_stmts(&func.body, &mut |s| {
        if let Stmt::Call { func, .. } = s {
            *counts.entry(program.func(*func).name.clone()).or_insert(0) += 1;
        }
    });
    counts
}
