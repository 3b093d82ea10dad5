//! Reading and writing places.
//!
//! Needs: [`super::exec`].  Keeps: an index inside its array is an obligation proved elsewhere; where an index is computed
//! under a condition, it is taken to be inside only where the condition holds.  Absent: addresses.

use crate::term::{Everywhere, T, Terms};
use super::state::{Inputs, Path, Source, State, Step};
use super::stop::Stop;
use super::value::{RunArray, Value};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use santoku_ir::{Func, Place, Proj};
use std::rc::Rc;

impl<'a> Source<'a> {
    pub(super) fn resolve(&mut self, f: &'a Func, place: &'a Place, state: &State) -> Result<Path, Stop> {
        let mut path = Path { steps: Vec::with_capacity(place.projs.len()), slice: None };
        for proj in &place.projs {
            match proj {
                Proj::Field(k) => path.steps.push(Step::Field(*k)),
                Proj::Index(e) => {
                    let mut index = self.scalar(f, e, state)?;
                    if let Some((off, _)) = path.slice.take() {
                        index = self.terms.add(off, index);
                    }
                    path.steps.push(Step::At(index));
                }
                Proj::Slice { off, len } => {
                    let mut start = self.scalar(f, off, state)?;
                    if let Some((outer, _)) = path.slice {
                        start = self.terms.add(outer, start);
                    }
                    path.slice = Some((start, *len));
                }
            }
        }
        Ok(path)
    }

    /// The part of `value` that a path leads to; `when`: the condition under which this happens.
    pub(super) fn read_at(&mut self, value: &Value, path: &Path, when: T) -> Result<Value, Stop> {
        let mut value = value.clone();
        for step in &path.steps {
            value = self.step(&value, *step, when)?;
        }
        let Some((off, len)) = path.slice else { return Ok(value) };
        let mut parts = Vec::new();
        for k in 0..len {
            let index = self.after(off, k);
            parts.push(self.step(&value, Step::At(index), when)?);
        }
        Ok(Value::parts(parts))
    }

    fn after(&mut self, off: T, k: u64) -> T {
        let k = self.terms.int(k);
        self.terms.add(off, k)
    }

    fn step(&mut self, value: &Value, step: Step, when: T) -> Result<Value, Stop> {
        self.spend(1)?;
        match (value, step) {
            (Value::Parts(parts), Step::Field(k)) => {
                parts.get(k as usize).cloned().ok_or_else(|| Stop::Malformed("no such field".into()))
            }
            (Value::Parts(parts), Step::At(index)) => {
                let certain = self.inside(index, parts.len(), when)?;
                match self.terms.as_const(index).and_then(|k| k.to_usize()) {
                    _ if !certain => self.element_if_inside(parts, index),
                    Some(k) => Ok(parts[k].clone()),
                    None => {
                        self.spend(parts.len() as u64)?;
                        chosen(self.terms, &parts.iter().collect::<Vec<_>>(), index)
                    }
                }
            }
            (Value::Run(run), Step::At(index)) => self.read_run(run, index),
            (Value::Undef, _) => Err(Stop::Undefined),
            (Value::Scalar(_), _) | (Value::Run(_), Step::Field(_)) => Err(Stop::Malformed("a part of a scalar".into())),
        }
    }

    /// Makes it known that an index lies inside `0..len`; `false` where that is certain under the condition alone.
    fn inside(&mut self, index: T, len: usize, when: T) -> Result<bool, Stop> {
        let outside = || Stop::OutOfRange(format!("an index of an array of {len}"));
        if len == 0 {
            return Err(outside());
        }
        let last = BigInt::from(len - 1);
        let (lo, hi) = self.terms.range(index);
        if !lo.is_negative() && hi <= last {
            return Ok(true);
        }
        let Some(here) = Everywhere::at(when) else { return Ok(false) };
        if lo > last || hi.is_negative() {
            return Err(outside());
        }
        self.note(here, index, &BigInt::ZERO, &last)?;
        Ok(true)
    }

    /// The elements that an index may mean, each with the condition that it is meant.
    fn meant(&mut self, index: T, len: usize) -> Result<Vec<(usize, T)>, Stop> {
        let (lo, hi) = self.terms.range(index);
        let first = if lo.is_negative() { 0 } else { lo.to_usize().unwrap_or(len) };
        let last = if hi.is_negative() { None } else { Some(hi.to_usize().unwrap_or(usize::MAX).min(len - 1)) };
        let mut out = vec![];
        for k in first..last.map_or(0, |l| l + 1) {
            self.spend(1)?;
            let element = self.terms.int(k as u64);
            let here = self.terms.eq(index, element);
            if here != Terms::ZERO {
                out.push((k, here));
            }
        }
        Ok(out)
    }

    /// An element, where the index lies inside only under the condition of the read: elsewhere it is any of them.
    fn element_if_inside(&mut self, parts: &[Value], index: T) -> Result<Value, Stop> {
        let mut meant = self.meant(index, parts.len())?.into_iter();
        let Some((k, _)) = meant.next() else { return Ok(parts[0].clone()) };
        let mut value = parts[k].clone();
        for (k, here) in meant {
            value = parts[k].select(self.terms, here, &value)?;
        }
        Ok(value)
    }

    fn read_run(&mut self, run: &RunArray, index: T) -> Result<Value, Stop> {
        let blank = Value::blank(self.program, &run.elem)?;
        let mut scalars = vec![];
        for at in self.scalars_at(&blank, index) {
            self.spend(1)?;
            let Some(t) = run.content.read(self.terms, &Inputs(self.env), at) else { return Ok(blank) };
            scalars.push(t);
        }
        Value::build(self.program, &run.elem, &mut scalars.into_iter())
    }

    /// The places of an element's scalars among all of an array.
    fn scalars_at(&mut self, element: &Value, index: T) -> Vec<T> {
        let per = count(element);
        let first = self.terms.scale(index, &BigInt::from(per));
        (0..per as u64).map(|k| self.after(first, k)).collect()
    }

    pub(super) fn write_at(&mut self, target: &mut Value, path: &Path, new: Value, when: T) -> Result<(), Stop> {
        let Some((off, len)) = path.slice else { return self.write(target, &path.steps, new, when) };
        let Value::Parts(parts) = &new else { return Err(Stop::Malformed("a slice receives no array".into())) };
        if parts.len() as u64 != len {
            return Err(Stop::Malformed("a slice receives an array of another length".into()));
        }
        let mut steps = path.steps.clone();
        for (k, part) in parts.iter().enumerate() {
            steps.push(Step::At(self.after(off, k as u64)));
            self.write(target, &steps, part.clone(), when)?;
            steps.pop();
        }
        Ok(())
    }

    fn write(&mut self, target: &mut Value, steps: &[Step], new: Value, when: T) -> Result<(), Stop> {
        self.spend(1)?;
        let Some((first, rest)) = steps.split_first() else {
            *target = new;
            return Ok(());
        };
        match (target, *first) {
            (Value::Parts(parts), Step::Field(k)) => {
                let part = Rc::make_mut(parts).get_mut(k as usize).ok_or_else(|| Stop::Malformed("no such field".into()))?;
                self.write(part, rest, new, when)
            }
            (Value::Parts(parts), Step::At(index)) => {
                let certain = self.inside(index, parts.len(), when)?;
                let parts = Rc::make_mut(parts);
                match self.terms.as_const(index).and_then(|k| k.to_usize()) {
                    Some(k) if certain => self.write(&mut parts[k], rest, new, when),
                    _ => self.write_somewhere(parts, index, rest, &new, when),
                }
            }
            (Value::Run(run), Step::At(index)) => {
                let value = if rest.is_empty() {
                    new
                } else {
                    let mut part = self.read_run(&run.clone(), index)?;
                    self.write(&mut part, rest, new, when)?;
                    part
                };
                let flat = value.flat(self.terms)?;
                for (at, t) in self.scalars_at(&value, index).into_iter().zip(flat) {
                    Rc::make_mut(run).content.write(self.terms, at, t);
                }
                Ok(())
            }
            (Value::Undef | Value::Scalar(_), _) | (Value::Run(_), Step::Field(_)) => {
                Err(Stop::Malformed("a part of a scalar".into()))
            }
        }
    }

    /// Every element that the index may mean becomes a choice.
    fn write_somewhere(&mut self, parts: &mut [Value], index: T, rest: &[Step], new: &Value, when: T) -> Result<(), Stop> {
        for (k, here) in self.meant(index, parts.len())? {
            let mut written = parts[k].clone();
            self.write(&mut written, rest, new.clone(), when)?;
            parts[k] = if here == Terms::ONE { written } else { written.select(self.terms, here, &parts[k])? };
        }
        Ok(())
    }
}

/// Scalars in a value of fixed size.
fn count(value: &Value) -> usize {
    match value {
        Value::Parts(parts) => parts.iter().map(count).sum(),
        Value::Undef | Value::Scalar(_) | Value::Run(_) => 1,
    }
}

/// `options[index]`, scalar by scalar. An element never assigned is not the one meant.
fn chosen(terms: &mut Terms, options: &[&Value], index: T) -> Result<Value, Stop> {
    let Some(known) = options.iter().find(|v| ***v != Value::Undef) else { return Ok(Value::Undef) };
    match known {
        Value::Scalar(t) => {
            let mut list = Vec::with_capacity(options.len());
            for v in options {
                list.push(if **v == Value::Undef { *t } else { v.scalar()? });
            }
            let same = list.iter().all(|v| v == t);
            Ok(Value::Scalar(match same {
                true => *t,
                false => terms.pick(&list, index).ok_or_else(|| Stop::OutOfRange("an index".into()))?,
            }))
        }
        Value::Parts(first) => {
            let mut parts = Vec::with_capacity(first.len());
            for k in 0..first.len() {
                let column = options.iter().map(|v| match v {
                    Value::Parts(p) if p.len() == first.len() => Ok(&p[k]),
                    Value::Undef => Ok(&Value::Undef),
                    _ => Err(Stop::Malformed("elements of two shapes".into())),
                });
                parts.push(chosen(terms, &column.collect::<Result<Vec<_>, _>>()?, index)?);
            }
            Ok(Value::parts(parts))
        }
        Value::Undef | Value::Run(_) => Err(Stop::Unsupported("a choice between arrays of run-time length".into())),
    }
}
