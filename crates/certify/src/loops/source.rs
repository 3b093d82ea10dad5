//! The source's side of a loop: one round from an unknown state.
//!
//! Needs: the source executor.  Keeps: after the loop its results are unknowns that stand for what the last round leaves; with
//! no round, the state is as it was; arrays of run-time length by their numbers.  Absent: what an array holds in a round, beyond that.

use crate::source::layout::{object, Object, Unit};
use crate::source::{RunArray, Site, Source, State, Stop, Value};
use crate::term::{Array, Everywhere, OutSpec, Terms, Var, Written, T};
use num_bigint::BigInt;
use num_traits::Zero;
use santoku_ir::visit::walk_stmts;
use santoku_ir::{Base, Local, LocalId, Stmt};
use std::collections::BTreeSet;

/// Rounds between those of two samples, where all have the same number.
const STRIDE: usize = 37;

/// Which of the values of a carried scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Head,
    Next,
    End,
    After,
}

/// One loop of the source, cut at its head.
#[derive(Clone, Debug)]
pub struct Cut {
    pub name: String,
    pub lo: T,
    pub hi: T,
    /// Position of the lap: `lo` in the first, `hi - 1` in the last, in loops that count down too. A lap is one round, or two.
    pub at: T,
    /// The source comes to the loop: what it says of ranges holds there.
    pub path: T,
    /// At least one lap takes place, where the source comes to the loop.
    pub some: T,
    /// A bit that is 0 where the loop is entered, and therefore in every lap.
    pub zero: Option<T>,
    /// Rounds in a lap, and in all laps.
    pub each: u32,
    pub rounds: T,
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
    /// An array of run-time length: the terms are its numbers, `unit` that of an element's first scalar.
    pub is_array: bool,
    /// Before the first lap.
    pub before: T,
    /// After the first lap.
    pub first: Option<T>,
    /// At the head of lap `at`, and at its end.
    pub head: T,
    pub next: T,
    /// After the last lap, and after the loop whether or not there was one.
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
    /// What is not negative in the lap at a position.
    pub(crate) fn facts(&self, terms: &mut Terms, at: T) -> Vec<T> {
        let gap = terms.sub(self.hi, at);
        let done = terms.sub(at, self.lo);
        let mut facts = vec![terms.sub(gap, Terms::ONE), done];
        if self.each > 1 {
            let laps = terms.add(done, Terms::ONE);
            let taken = terms.scale(laps, &BigInt::from(self.each));
            facts.push(terms.sub(self.rounds, taken));
        }
        facts.extend(self.entered(terms));
        facts
    }

    /// What is not negative where the loop is entered.
    pub(crate) fn entered(&self, terms: &mut Terms) -> Vec<T> {
        self.zero.into_iter().flat_map(|zero| [zero, terms.neg(zero)]).collect()
    }

    /// The loop in words.
    pub(crate) fn show(&self, terms: &Terms) -> String {
        format!("a loop over `{}` from {} up to {}", self.name, terms.show(self.lo, 2), terms.show(self.hi, 2))
    }
}

/// Whether a loop never has a second round: it is a choice, and many compilers write no loop.
pub fn once_at_most(source: &mut Source, site: &Site) -> bool {
    let second = source.terms.add(site.lo, Terms::ONE);
    let more = source.terms.lt(second, site.hi);
    source.terms.as_const(more).is_some_and(|more| more.is_zero())
}

/// Executes such a loop.
///
/// # Errors
/// Whatever stops the execution.
pub fn choose<'a>(source: &mut Source<'a>, site: &Site<'a>, state: &mut State) -> Result<(), Stop> {
    let some = source.terms.lt(site.lo, site.hi);
    let mut taken = State { locals: state.locals.clone(), path: source.terms.and(state.path, some, 1) };
    source.round(site, site.lo, &mut taken)?;
    let none = source.terms.not_bit(some);
    source.join(none, state, &taken)
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

/// How the rounds of a loop are taken together.
struct Laps<'s, 'a> {
    site: &'s Site<'a>,
    /// [`Cut::path`]
    path: T,
    /// Position of the first round of the lap at `lo`.
    first: T,
    /// Rounds in a lap, and in all laps.
    each: u32,
    rounds: T,
    lo: T,
    hi: T,
    /// No lap takes place, where the path is taken.
    none: T,
    /// [`Cut::zero`]
    zero: Option<T>,
}

impl<'a> Laps<'_, 'a> {
    /// Executes the rounds of the lap at a position.
    fn take(&self, source: &mut Source<'a>, at: T, state: &mut State) -> Result<(), Stop> {
        let laps = source.terms.sub(at, self.lo);
        let rounds = source.terms.scale(laps, &BigInt::from(self.each));
        let mut position = source.terms.add(self.first, rounds);
        for _ in 0..self.each {
            let now = counter(source.terms, self.site, position);
            source.round(self.site, now, state)?;
            position = source.terms.add(position, Terms::ONE);
        }
        Ok(())
    }
}

/// Cuts a loop; afterwards `state` is the state behind it. `None`: it has no round ever.
///
/// # Errors
/// Whatever stops the execution.
pub fn cut<'a>(source: &mut Source<'a>, site: &Site<'a>, state: &mut State, number: usize) -> Result<Option<Cut>, Stop> {
    let some = source.terms.lt(site.lo, site.hi);
    let (none, rounds) = (source.terms.not_bit(some), source.terms.sub(site.hi, site.lo));
    let (path, lo, hi) = (state.path, site.lo, site.hi);
    cut_laps(source, &Laps { site, path, first: lo, each: 1, rounds, lo, hi, none, zero: None }, state, number)
}

/// As [`cut`], in the way in which compilers unroll a loop by two: an even number of rounds is taken in pairs; of an odd one the first
/// round is taken before the pairs. A cut for each.
///
/// # Errors
/// Whatever stops the execution.
pub fn cut_in_pairs<'a>(source: &mut Source<'a>, site: &Site<'a>, state: &mut State, number: usize) -> Result<Vec<Cut>, Stop> {
    let some = source.terms.lt(site.lo, site.hi);
    let path = source.terms.and(state.path, some, 1);
    let count = source.terms.sub(site.hi, site.lo);
    let pairs = source.terms.div2k(count, 1);
    let rounds = source.terms.scale(pairs, &BigInt::from(2));
    let odd = source.terms.sub(count, rounds);
    let even = source.terms.not_bit(odd);

    let mut in_pairs = State { locals: state.locals.clone(), path: source.terms.and(path, even, 1) };
    let (lo, hi) = (Terms::ZERO, pairs);
    let laps = Laps { site, path: state.path, first: site.lo, each: 2, rounds: count, lo, hi, none: Terms::ZERO, zero: Some(odd) };
    let mut cuts: Vec<Cut> = cut_laps(source, &laps, &mut in_pairs, number)?.into_iter().collect();

    let mut peeled = State { locals: state.locals.clone(), path: source.terms.and(path, odd, 1) };
    let now = counter(source.terms, site, site.lo);
    source.round(site, now, &mut peeled)?;
    let two = source.terms.int(2);
    let (second, rest) = (source.terms.add(site.lo, Terms::ONE), source.terms.sub(count, Terms::ONE));
    let alone = source.terms.lt(count, two);
    let laps = Laps { site, path: state.path, first: second, each: 2, rounds: rest, lo, hi, none: alone, zero: Some(even) };
    cuts.extend(cut_laps(source, &laps, &mut peeled, number + 1)?);

    source.join(odd, &mut peeled, &in_pairs)?;
    let none = source.terms.not_bit(some);
    source.join(none, state, &peeled)?;
    Ok(cuts)
}

fn cut_laps<'a>(source: &mut Source<'a>, laps: &Laps<'_, 'a>, state: &mut State, number: usize) -> Result<Option<Cut>, Stop> {
    let f = source.program.func(laps.site.func);
    let (lo, _) = source.terms.range(laps.lo);
    let (_, hi) = source.terms.range(laps.hi);
    let last: BigInt = hi - 1;
    if last < lo {
        return Ok(None);
    }
    let clip = |v: BigInt| v.max(lo.clone()).min(last.clone());
    let constant = source.terms.as_const(laps.lo).is_some() && source.terms.as_const(laps.hi).is_some();
    let rounds: BigInt = &last - &lo + 1;
    let values = (0..source.terms.samples()).map(|n| match constant {
        true => &lo + BigInt::from(n * STRIDE) % &rounds,
        false => clip(source.terms.sample(laps.lo, n).clone()),
    });
    let values = values.collect();
    let var = &f.local(laps.site.var).name;
    let at = source.terms.var(Var { name: format!("{var}@{number}"), lo: lo.clone(), hi: last.clone(), public: true, values });
    let some = source.terms.not_bit(laps.none);
    let path = source.terms.and(state.path, some, 1);

    let mut head = State { locals: state.locals.clone(), path };
    let mut end = state.locals.clone();
    let mut carried: Vec<Carried> = vec![];
    let mut spans = vec![];
    for id in assigned(laps.site.body) {
        let k = id.0 as usize;
        let local = f.local(id);
        let units = carry(source, local, &state.locals[k], &format!("{number}.{k}"))?;
        head.locals[k] = built(source, local, &state.locals[k], &units, When::Head)?;
        end[k] = built(source, local, &state.locals[k], &units, When::End)?;
        spans.push((k, carried.len()..carried.len() + units.len()));
        carried.extend(units);
    }

    // A lap from what is known, for the guesses alone.
    let calls = source.calls.len();
    let mut trial = State { locals: state.locals.clone(), path };
    let tried = laps.take(source, laps.lo, &mut trial);
    source.calls.truncate(calls);

    laps.take(source, at, &mut head)?;
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
            if let Some(here) = Everywhere::at(path).filter(|_| !c.is_array) {
                source.note(here, c.next, &c.unit.lo, &c.unit.hi)?;
            }
            c.first = first.as_ref().map(|f| f[n]);
            let public = if c.is_array { source.is_array_public(c.next) } else { source.terms.public(c.next) };
            if c.unit.public && !public {
                return Err(Stop::Unsupported(format!("`{}`, which is public, becomes secret in a loop", c.name)));
            }
            c.after = match c.is_array {
                true => source.terms.either_array(laps.none, c.before, c.end),
                false => source.terms.ite(laps.none, c.before, c.end),
            };
        }
    }
    let ended = State { locals: end, path };
    if source.terms.and(state.path, laps.none, 1) == Terms::ZERO {
        state.locals = ended.locals;
        carried.iter_mut().for_each(|c| c.after = c.end);
    } else {
        source.join(laps.none, state, &ended)?;
    }
    let Laps { lo, hi, each, rounds, zero, .. } = *laps;
    Ok(Some(Cut { name: var.clone(), lo, hi, at, path: laps.path, some, zero, each, rounds, carried, constant }))
}

/// The scalars of a local that rounds may change, with unknowns for their values at the head and after the last round.
/// `tag` tells the local apart from all others.
fn carry(source: &mut Source<'_>, local: &Local, value: &Value, tag: &str) -> Result<Vec<Carried>, Stop> {
    let object = object(source.program, &local.ty, local.public)?;
    let other = |what: &str| Stop::Unsupported(format!("`{}`, {what} in a loop", local.name));
    if let (Some(_), Value::Run(run)) = (&object.repeat, value) {
        return carry_array(source, local, (object, run), tag);
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
        carried.push(Carried { name, local: local.name.clone(), unit, alone, is_array: false, before, first: None, head, next: head, end, after: end });
    }
    Ok(carried)
}

/// An array of run-time length: any at the head, and any after the last round.
fn carry_array(source: &mut Source<'_>, local: &Local, (object, run): (Object, &RunArray), tag: &str) -> Result<Vec<Carried>, Stop> {
    let other = |what: &str| Stop::Unsupported(format!("`{}`, {what} in a loop", local.name));
    let before = run.content.number(source.terms).ok_or_else(|| other("an array that is not set before, changed"))?;
    let unit = object.units.first().cloned().ok_or_else(|| other("an array of nothing, changed"))?;
    if object.units.iter().any(|u| u.public) && !source.is_array_public(before) {
        return Err(other("public and yet secret before,"));
    }
    let element: Vec<OutSpec> = object.units.into_iter().map(|u| OutSpec { lo: u.lo, hi: u.hi, public: u.public }).collect();
    let name = format!("{}@{tag}", local.name);
    let head = source.terms.array(Array::Any(name.clone()), &element);
    let end = source.terms.array(Array::Any(format!("{name}'")), &element);
    let local = local.name.clone();
    Ok(vec![Carried { name, local, unit, alone: true, is_array: true, before, first: None, head, next: head, end, after: end }])
}

/// What a local is at a point of the loop.
fn built(source: &Source<'_>, local: &Local, before: &Value, units: &[Carried], when: When) -> Result<Value, Stop> {
    match (before, units) {
        (Value::Run(run), [c]) if c.is_array => Ok(Value::run(Written::of(c.at(when)), run.elem.clone())),
        _ => Value::build(source.program, &local.ty, &mut units.iter().map(|c| c.at(when))),
    }
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
            Stmt::If { .. } | Stmt::Assert { .. } | Stmt::Ghost { .. } => &[],
        };
        found.extend(places.iter().filter_map(|p| match p.base {
            Base::Local(id) => Some(id),
            Base::Const(_) => None,
        }));
    });
    found
}
