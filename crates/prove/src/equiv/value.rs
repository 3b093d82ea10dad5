//! Values during symbolic execution: aggregates are opened up only where a part is written or read.
//!
//! Needs: [`super::dag`].  Keeps: copies are cheap (shared until written).  Absent: types; the graph's sorts say
//! how an opaque aggregate splits.

use super::dag::{Dag, Id, Sort};
use std::rc::Rc;

/// A term, or an aggregate of fixed size as the list of its parts.
#[derive(Clone, Debug)]
pub enum Value {
    Term(Id),
    Parts(Rc<Vec<Value>>, Sort),
}

/// One step into an aggregate: a part of fixed number (element or field), or an element chosen by a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Part(u32),
    At(Id),
}

impl Value {
    pub fn sort(&self, dag: &Dag) -> Sort {
        match self {
            Value::Term(id) => dag.sort(*id),
            Value::Parts(_, sort) => *sort,
        }
    }

    /// The value as one term.
    pub fn term(&self, dag: &mut Dag) -> Id {
        match self {
            Value::Term(id) => *id,
            Value::Parts(parts, sort) => {
                let ids = parts.iter().map(|p| p.term(dag)).collect();
                dag.aggregate(ids, *sort)
            }
        }
    }

    /// Opens an opaque aggregate of fixed size, so that its parts can be written; `false` for run-time lengths.
    fn open(&mut self, dag: &mut Dag) -> bool {
        if let Value::Term(id) = self {
            let sort = dag.sort(*id);
            let Some(parts) = dag.explode(*id) else { return false };
            *self = Value::Parts(Rc::new(parts.into_iter().map(Value::Term).collect()), sort);
        }
        true
    }

    /// The part a step leads to.
    pub fn step(&self, dag: &mut Dag, step: Step) -> Value {
        match (self, step) {
            (Value::Parts(parts, _), Step::Part(k)) if (k as usize) < parts.len() => parts[k as usize].clone(),
            (Value::Term(id), Step::Part(k)) => {
                let record = dag.is_record(*id);
                Value::Term(if record { dag.field(*id, k) } else { dag.load_at(*id, u64::from(k)) })
            }
            (_, Step::At(i)) => {
                let whole = self.term(dag);
                Value::Term(dag.load(whole, i))
            }
            (Value::Parts(..), Step::Part(k)) => {
                let whole = self.term(dag);
                Value::Term(dag.load_at(whole, u64::from(k)))
            }
        }
    }

    /// Writes `new` at the end of a path. Returns how many steps stayed within parts of fixed number: where the
    /// path is cut short of its end, the whole value at the cut has become one opaque term.
    pub fn write(&mut self, dag: &mut Dag, path: &[Step], new: Value) -> usize {
        match path {
            [] => {
                *self = new;
                0
            }
            [Step::Part(k), rest @ ..] if self.opens_at(dag, *k) => {
                let Value::Parts(parts, _) = self else { return 0 };
                1 + Rc::make_mut(parts)[*k as usize].write(dag, rest, new)
            }
            [first, rest @ ..] => {
                let mut part = self.step(dag, *first);
                part.write(dag, rest, new);
                let (whole, part) = (self.term(dag), part.term(dag));
                let index = match first {
                    Step::Part(k) => dag.int(*k),
                    Step::At(i) => *i,
                };
                *self = Value::Term(dag.store(whole, index, part));
                0
            }
        }
    }

    fn opens_at(&mut self, dag: &mut Dag, k: u32) -> bool {
        self.open(dag) && matches!(self, Value::Parts(parts, _) if (k as usize) < parts.len())
    }

    /// `if c { self } else { other }`; parts that are the same on both sides are left alone.
    pub fn select(&self, dag: &mut Dag, c: Id, other: &Value) -> Value {
        match (self, other) {
            (Value::Term(a), Value::Term(b)) => Value::Term(dag.select(c, *a, *b)),
            (Value::Parts(a, _), Value::Parts(b, _)) if Rc::ptr_eq(a, b) => self.clone(),
            (Value::Parts(a, sort), Value::Parts(b, _)) => {
                let parts = a.iter().zip(b.iter()).map(|(x, y)| x.select(dag, c, y)).collect();
                Value::Parts(Rc::new(parts), *sort)
            }
            (_, _) => {
                let (a, b) = (self.term(dag), other.term(dag));
                Value::Term(dag.select(c, a, b))
            }
        }
    }
}

impl Dag {
    fn is_record(&self, id: Id) -> bool {
        matches!(self.sort(id), Sort::Agg(a) if matches!(self.agg(a), super::dag::Agg::Rec(_)))
    }
}
