//! The source's side of a loop: one round from an unknown state.
//!
//! Needs: the source executor.  Keeps: after the loop its results are unknowns that stand for what the last round leaves; with
//! no round, the state is as it was.  Absent: arrays of run-time length changed in a loop.

use super::relation::When;
use crate::source::layout::{object, Unit};
use crate::source::{Site, Source, State, Stop, Value};
use crate::term::{Everywhere, Terms, Var, T};
use num_bigint::BigInt;
use santoku_ir::visit::walk_stmts;
use santoku_ir::{Base, Local, LocalId, Stmt};
use std::collections::BTreeSet;

/// Rounds between those of two samples, where all have the same number.
const STRIDE: usize = 37;

/// One loop of the source, cut at its head.
#[derive(Clone, Debug)]
pub struct Cut {
    pub name: String,
    pub lo: T,
    pub hi: T,
    /// Position of the round: `lo` in the first, `hi - 1` in the last, in loops that count down too.
    pub at: T,
    /// At least one round takes place.
    pub some: T,
    /// Not negative in a round.
    pub facts: Vec<T>,
    pub carried: Vec<Carried>,
    /// The number of rounds is always the same.
    pub constant: bool,
}

/// One scalar that rounds may change.
#[derive(Clone, Debug)]
pub struct Carried {
    pub name: String,
    /// The local it is part of.
    pub local: String,
    pub unit: Unit,
    /// It is a local by itself, not part of one.
    pub alone: bool,
    /// Before the loop.
    pub before: T,
    /// After the first round.
    pub first: Option<T>,
    /// At the head of round `at`, and at its end.
    pub head: T,
    pub next: T,
    /// After the last round, and after the loop whether or not there was one.
    pub end: T,
    pub after: T,
}

impl Carried {
    pub(crate) fn at(&self, when: When) -> T {
        match when {
            When::Head => self.head,
            When::Next => self.next,
            When::End => self.end,
            When::After => self.after,
        }
    }
}

impl Cut {
    /// The loop in words.
    pub(crate) fn show(&self, terms: &Terms) -> String {
        format!("a loop over `{}` from {} up to {}", self.name, terms.show(self.lo, 2), terms.show(self.hi, 2))
    }
}

/// Executes the first rounds of a loop of a constant number of them; gives the rest of the loop.
///
/// # Errors
/// Whatever stops the execution.
pub fn peel<'a>(source: &mut Source<'a>, site: &Site<'a>, state: &mut State, rounds: u64) -> Result<Site<'a>, Stop> {
    let mut rest = site.clone();
    for _ in 0..rounds {
        let last = source.terms.sub(rest.hi, Terms::ONE);
        source.round(site, if site.rev { last } else { rest.lo }, state)?;
        if site.rev { rest.hi = last } else { rest.lo = source.terms.add(rest.lo, Terms::ONE) }
    }
    Ok(rest)
}

/// Cuts a loop; afterwards `state` is the state behind it. `None`: it has no round ever.
///
/// # Errors
/// Whatever stops the execution.
pub fn cut<'a>(source: &mut Source<'a>, site: &Site<'a>, state: &mut State, number: usize) -> Result<Option<Cut>, Stop> {
    let f = source.program.func(site.func);
    let (lo, _) = source.terms.range(site.lo);
    let (_, hi) = source.terms.range(site.hi);
    let last: BigInt = hi - 1;
    if last < lo {
        return Ok(None);
    }
    let clip = |v: BigInt| v.max(lo.clone()).min(last.clone());
    let constant = source.terms.as_const(site.lo).is_some() && source.terms.as_const(site.hi).is_some();
    let rounds: BigInt = &last - &lo + 1;
    let values = (0..source.terms.samples()).map(|n| match constant {
        true => &lo + BigInt::from(n * STRIDE) % &rounds,
        false => clip(source.terms.sample(site.lo, n).clone()),
    });
    let values = values.collect();
    let name = format!("{}@{number}", f.local(site.var).name);
    let at = source.terms.var(Var { name, lo: lo.clone(), hi: last.clone(), public: true, values });
    let some = source.terms.lt(site.lo, site.hi);
    let path = source.terms.and(state.path, some, 1);

    let mut head = State { locals: state.locals.clone(), path };
    let mut end = state.locals.clone();
    let mut carried: Vec<Carried> = vec![];
    let mut spans = vec![];
    for id in assigned(site.body) {
        let k = id.0 as usize;
        let local = f.local(id);
        let units = carry(source, local, &state.locals[k], &format!("{number}.{k}"))?;
        head.locals[k] = Value::build(source.program, &local.ty, &mut units.iter().map(|c| c.head))?;
        end[k] = Value::build(source.program, &local.ty, &mut units.iter().map(|c| c.end))?;
        spans.push((k, carried.len()..carried.len() + units.len()));
        carried.extend(units);
    }

    // A round from what is known, for the guesses alone.
    let calls = source.calls.len();
    let mut trial = State { locals: state.locals.clone(), path };
    let first = counter(source.terms, site, site.lo);
    let tried = source.round(site, first, &mut trial);
    source.calls.truncate(calls);

    let now = counter(source.terms, site, at);
    source.round(site, now, &mut head)?;
    for (k, span) in spans {
        if matches!(head.locals[k], Value::Undef) {
            // A counter of a loop inside.
            end[k] = Value::Undef;
            continue;
        }
        let next = head.locals[k].flat(source.terms)?;
        let first = if tried.is_ok() { trial.locals[k].flat(source.terms).ok() } else { None };
        for (n, c) in carried[span].iter_mut().enumerate() {
            c.next = next[n];
            if let Some(here) = Everywhere::at(path) {
                source.note(here, c.next, &c.unit.lo, &c.unit.hi)?;
            }
            c.first = first.as_ref().map(|f| f[n]);
            if c.unit.public && !source.terms.public(c.next) {
                return Err(Stop::Unsupported(format!("`{}`, which is public, becomes secret in a loop", c.name)));
            }
            c.after = source.terms.ite(some, c.end, c.before);
        }
    }
    let ended = State { locals: end, path };
    let none = source.terms.not_bit(some);
    if source.terms.and(state.path, none, 1) == Terms::ZERO {
        state.locals = ended.locals;
        carried.iter_mut().for_each(|c| c.after = c.end);
    } else {
        source.join(none, state, &ended)?;
    }
    let gap = source.terms.sub(site.hi, at);
    let left = source.terms.sub(gap, Terms::ONE);
    let done = source.terms.sub(at, site.lo);
    Ok(Some(Cut { name: f.local(site.var).name.clone(), lo: site.lo, hi: site.hi, at, some, facts: vec![left, done], carried, constant }))
}

/// The scalars of a local that rounds may change, with unknowns for their values at the head and after the last round.
/// `tag` tells the local apart from all others.
fn carry(source: &mut Source<'_>, local: &Local, value: &Value, tag: &str) -> Result<Vec<Carried>, Stop> {
    let object = object(source.program, &local.ty, local.public)?;
    let other = |what: &str| Stop::Unsupported(format!("`{}`, {what} in a loop", local.name));
    if object.repeat.is_some() {
        return Err(other("an array of run-time length, changed"));
    }
    let terms = &mut *source.terms;
    let mut before = vec![];
    match value {
        Value::Undef => before.extend((0..object.units.len()).map(|u| unset(terms, tag, u))),
        value => scalars(terms, value, &mut before, tag)?,
    }
    if object.units.len() != before.len() {
        return Err(other("changed"));
    }
    let public = |(u, t): (&Unit, &T)| !u.public || terms.public(*t);
    if !matches!(value, Value::Undef) && !object.units.iter().zip(&before).all(public) {
        return Err(other("public and yet secret before,"));
    }
    let mut carried = vec![];
    let alone = before.len() == 1;
    for (u, (unit, before)) in object.units.into_iter().zip(before).enumerate() {
        let near = |n| terms.sample(before, n).clone().max(unit.lo.clone()).min(unit.hi.clone());
        let values: Vec<BigInt> = (0..terms.samples()).map(near).collect();
        let name = format!("{}[{u}]@{tag}", local.name);
        let mut var = |name: String| {
            terms.var(Var { name, lo: unit.lo.clone(), hi: unit.hi.clone(), public: unit.public, values: values.clone() })
        };
        let (head, end) = (var(name.clone()), var(format!("{name}'")));
        carried.push(Carried { name, local: local.name.clone(), unit, alone, before, first: None, head, next: head, end, after: end });
    }
    Ok(carried)
}

/// The scalars of a value; what was never assigned may be anything.
fn scalars(terms: &mut Terms, value: &Value, out: &mut Vec<T>, tag: &str) -> Result<(), Stop> {
    match value {
        Value::Scalar(t) => out.push(*t),
        Value::Undef => out.push(unset(terms, tag, out.len())),
        Value::Parts(parts) => parts.iter().try_for_each(|p| scalars(terms, p, out, tag))?,
        Value::Run(_) => return Err(Stop::Unsupported("an array of run-time length changed in a loop".into())),
    }
    Ok(())
}

/// A scalar that was never assigned: different from every other value, and no secret.
fn unset(terms: &mut Terms, tag: &str, unit: usize) -> T {
    let values = (0..terms.samples()).map(|n| BigInt::from((unit * 7 + n * 13) % 256)).collect();
    terms.var(Var { name: format!("unset {unit} @{tag}"), lo: BigInt::ZERO, hi: 255.into(), public: true, values })
}

/// The loop's counter at a position.
fn counter(terms: &mut Terms, site: &Site<'_>, at: T) -> T {
    if !site.rev {
        return at;
    }
    let both = terms.add(site.lo, site.hi);
    let top = terms.sub(both, Terms::ONE);
    terms.sub(top, at)
}

fn assigned(body: &[Stmt]) -> BTreeSet<LocalId> {
    let mut found = BTreeSet::new();
    walk_stmts(body, &mut |s| {
        let places = match s {
            Stmt::Assign { dst, .. } => std::slice::from_ref(dst),
            Stmt::Call { dsts, .. } => dsts.as_slice(),
            Stmt::For { var, .. } => {
                found.insert(*var);
                &[]
            }
            Stmt::If { .. } | Stmt::Assert { .. } => &[],
        };
        found.extend(places.iter().filter_map(|p| match p.base {
            Base::Local(id) => Some(id),
            Base::Const(_) => None,
        }));
    });
    found
}
