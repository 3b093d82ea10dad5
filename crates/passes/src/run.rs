//! The pipeline: runs each pass and checks what it did.
//!
//! Needs: [`crate::TABLE`], the verifier, the equivalence checker.  Keeps: nothing unchecked. A function whose rewrite is
//! shown to differ stops everything; one whose rewrite the checker cannot decide goes back to what it was.
//! Absent: recovery from a wrong pass; that is our fault and is reported as such.

use crate::options::{Level, PassOptions};
use crate::table::{find, Pass, PIPELINE};
use crate::util::map_calls;
use santoku_ir::typing::without_ranges;
use santoku_ir::verify::verify;
use santoku_ir::visit::map_exprs;
use santoku_ir::{Func, FuncId, LocalId, Program, Stmt, Ty};
use santoku_prove::equiv::{check, Difference, Verdict};
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
    /// Ranges written and proved again.
    pub ranges: usize,
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
    /// A range written by `derive-width` does not hold.
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
/// (microseconds from any start).
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
    let mut program = program.clone();
    let mut steps = Vec::new();
    for pass in PIPELINE.iter().filter_map(|n| find(n)).filter(|p| p.runs_at(level) && !without.contains(p.name)) {
        let start = clock();
        let (next, mut report) = step(pass, &program, &options)?;
        report.micros = clock().saturating_sub(start);
        program = next;
        steps.push(report);
        watch(pass.name, &program);
    }
    Ok(Optimised { program, steps })
}

/// One pass and its checks.
pub(crate) fn step(pass: &Pass, before: &Program, options: &PassOptions) -> Result<(Program, StepReport), PassFailure> {
    let mut after = (pass.run)(before, options);
    let fail = |func: &str, reason: Reason| PassFailure { pass: pass.name, func: func.to_string(), reason };
    let mut report = StepReport {
        pass: pass.name,
        changed: Vec::new(),
        equal: 0,
        reverted: Vec::new(),
        removed: removed(before, &after),
        ranges: 0,
        nodes: 0,
        micros: 0,
    };
    if let Some(lost) = report.removed.iter().find(|n| crate::dead_functions::is_root(before, n, options)) {
        return Err(fail(lost, Reason::Interface("a root was removed".to_string())));
    }
    if pass.may_lose_assignment {
        put_back_unassigned(before, &mut after, &mut report);
    }
    if let Some(e) = verify(&after).into_iter().next() {
        return Err(fail(&e.func, Reason::Malformed(e.to_string())));
    }
    let expand = if pass.expands { inlined(before, &after) } else { BTreeSet::new() };
    let to_old: BTreeMap<&str, usize> = before.funcs.iter().enumerate().map(|(i, f)| (f.name.as_str(), i)).collect();
    let mut put_back = Vec::new();
    for at in 0..after.funcs.len() {
        let name = after.funcs[at].name.clone();
        let Some(&old) = to_old.get(name.as_str()) else {
            return Err(fail(&name, Reason::Interface("a function appeared".to_string())));
        };
        let old = &before.funcs[old];
        if unchanged((before, old), (&after, &after.funcs[at])) {
            continue;
        }
        report.changed.push(name.clone());
        same_interface(old, &after.funcs[at]).map_err(|text| fail(&name, Reason::Interface(text)))?;
        if pass.writes_ranges && retarget(&after, &after.funcs[at], before).is_some_and(|new| ranges_added(old, &new)) {
            report.equal += 1;
            continue;
        }
        match check(before, &after, &name, &expand) {
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
        let old = &before.funcs[to_old[name.as_str()]];
        let Some(body) = retarget(before, old, &after) else {
            return Err(fail(&name, Reason::Interface(format!("cannot be put back ({why})"))));
        };
        after.funcs[at] = body;
        report.reverted.push((name, why));
    }
    if pass.writes_ranges {
        report.ranges = crate::derive_width::check(&after).map_err(|(func, text)| fail(&func, Reason::Range(text)))?;
    }
    Ok((after, report))
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

/// What callers and provers see of a function must not change; only missing ranges may be filled in.
fn same_interface(old: &Func, new: &Func) -> Result<(), String> {
    let same = |xs: &[LocalId], ys: &[LocalId]| {
        xs.len() == ys.len()
            && xs.iter().zip(ys).all(|(x, y)| {
                let (x, y) = (old.local(*x), new.local(*y));
                x.name == y.name && x.public == y.public && x.kind == y.kind && refines(&x.ty, &y.ty)
            })
    };
    let part = if old.export != new.export {
        "export name"
    } else if !same(&old.lens, &new.lens) {
        "lengths"
    } else if !same(&old.params, &new.params) {
        "parameters"
    } else if !same(&old.rets, &new.rets) {
        "results"
    } else if old.contracts.len() != new.contracts.len() {
        "contracts"
    } else {
        return Ok(());
    };
    Err(format!("{part} changed"))
}

/// The same shape, and every declared range as it was.
fn refines(old: &Ty, new: &Ty) -> bool {
    match (old, new) {
        (Ty::Int(None), Ty::Int(_)) => true,
        (Ty::Array { elem: a, ranges: None, .. }, Ty::Array { elem: b, .. }) => old.same_shape(new) && refines(a, b),
        _ => old == new,
    }
}

/// The same text but for ranges. They compute nothing, so the function is equal, and none is too big for this to show it.
fn ranges_added(old: &Func, new: &Func) -> bool {
    let bare = |f: &Func| {
        let mut f = f.clone();
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
