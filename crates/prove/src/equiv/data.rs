//! Aggregates: arrays, records, selection.
//!
//! Needs: [`super::dag`], [`super::arith`].  Keeps: two forms of one aggregate meet in one node: an array or record
//! whose parts are all parts of one term, in order, is that term.  Absent: aliasing; values have no address.

use super::dag::{Agg, Dag, Id, Node, Part, Sort};
use num_traits::{ToPrimitive, Zero};

impl Dag {
    /// Builds an aggregate of fixed size from its parts.
    pub fn aggregate(&mut self, parts: Vec<Id>, sort: Sort) -> Id {
        let whole = parts.first().and_then(|&p| self.owner(p));
        if let Some(whole) = whole.filter(|&w| self.sort(w) == sort) {
            let same = parts.iter().enumerate().all(|(i, &p)| self.part_of(p) == Some((whole, i as u64)));
            if same {
                return whole;
            }
        }
        match sort {
            Sort::Agg(id) if matches!(self.agg(id), Agg::Rec(_)) => self.intern(Node::Rec(parts), sort),
            _ => self.intern(Node::Array(parts), sort),
        }
    }

    fn owner(&self, part: Id) -> Option<Id> {
        self.part_of(part).map(|(whole, _)| whole)
    }

    /// The aggregate and the number a part was read from.
    fn part_of(&self, part: Id) -> Option<(Id, u64)> {
        match self.node(part) {
            Node::Load(a, i) => Some((*a, self.as_const(*i)?.to_u64()?)),
            Node::Field(a, k) => Some((*a, u64::from(*k))),
            _ => None,
        }
    }

    /// The parts of an aggregate of fixed size.
    pub fn explode(&mut self, x: Id) -> Option<Vec<Id>> {
        let sort = self.sort(x);
        let sorts = self.parts(sort)?;
        if let Node::Array(parts) | Node::Rec(parts) = self.node(x) {
            return Some(parts.clone());
        }
        let record = matches!(sort, Sort::Agg(id) if matches!(self.agg(id), Agg::Rec(_)));
        let count = sorts.len();
        Some((0..count).map(|i| if record { self.field(x, i as u32) } else { self.load_at(x, i as u64) }).collect())
    }

    pub fn load_at(&mut self, a: Id, i: u64) -> Id {
        let i = self.int(i);
        self.load(a, i)
    }

    fn elem_sort(&self, a: Id) -> Sort {
        match self.sort(a) {
            Sort::Agg(id) => match self.agg(id) {
                Agg::Arr(elem, _) => *elem,
                Agg::Rec(_) => Sort::Int,
            },
            other => other,
        }
    }

    /// Element `i` of an array. An index outside the array gives a term without rules: no verified program has one.
    pub fn load(&mut self, a: Id, i: Id) -> Id {
        if let (Node::Array(parts), Some(k)) = (self.node(a), self.as_const(i)) {
            // By reference: constant tables are wide.
            return match k.to_usize().and_then(|k| parts.get(k)) {
                Some(&part) => part,
                None => self.raw_load(a, i),
            };
        }
        if let Node::Array(_) = self.node(a) {
            return self.raw_load(a, i);
        }
        match self.node(a).clone() {
            Node::Store(_, j, v) if i == j => v,
            Node::Store(b, j, _) if self.apart(i, j) => self.load(b, i),
            Node::Repeat(e, _) => e,
            Node::Select(c, x, y) => self.read_once((a, Part::Element(i)), |dag| {
                let (x, y) = (dag.load(x, i), dag.load(y, i));
                dag.select(c, x, y)
            }),
            Node::Undef => {
                let sort = self.elem_sort(a);
                self.intern(Node::Undef, sort)
            }
            _ => self.raw_load(a, i),
        }
    }

    fn read_once(&mut self, of: (Id, Part), read: impl FnOnce(&mut Dag) -> Id) -> Id {
        if let Some(&known) = self.reads.get(&of) {
            return known;
        }
        let found = read(self);
        self.reads.insert(of, found);
        found
    }

    /// Do two indices differ on every input?
    fn apart(&mut self, i: Id, j: Id) -> bool {
        self.const_difference(i, j).is_some_and(|d| !d.is_zero())
    }

    fn raw_load(&mut self, a: Id, i: Id) -> Id {
        let sort = self.elem_sort(a);
        self.intern(Node::Load(a, i), sort)
    }

    /// An array with element `i` replaced. Stores to different places are kept in ascending order of index term.
    pub fn store(&mut self, a: Id, i: Id, v: Id) -> Id {
        let sort = self.sort(a);
        if self.load(a, i) == v {
            return a;
        }
        match self.node(a).clone() {
            Node::Store(b, j, _) if i == j => self.store(b, i, v),
            Node::Store(b, j, w) if i < j && self.apart(i, j) => {
                let inner = self.store(b, i, v);
                self.intern(Node::Store(inner, j, w), sort)
            }
            _ => self.intern(Node::Store(a, i, v), sort),
        }
    }

    pub fn field(&mut self, x: Id, k: u32) -> Id {
        let sort = match self.sort(x) {
            Sort::Agg(id) => match self.agg(id) {
                Agg::Rec(sorts) => sorts.get(k as usize).copied().unwrap_or(Sort::Int),
                Agg::Arr(elem, _) => *elem,
            },
            other => other,
        };
        match self.node(x).clone() {
            Node::Rec(parts) if (k as usize) < parts.len() => parts[k as usize],
            Node::Select(c, a, b) => self.read_once((x, Part::Field(k)), |dag| {
                let (a, b) = (dag.field(a, k), dag.field(b, k));
                dag.select(c, a, b)
            }),
            Node::Undef => self.intern(Node::Undef, sort),
            _ => self.intern(Node::Field(x, k), sort),
        }
    }

    /// `if c { a } else { b }`; aggregates of fixed size are selected part by part.
    pub fn select(&mut self, c: Id, a: Id, b: Id) -> Id {
        if a == b {
            return a;
        }
        if let Some(v) = self.as_const(c) {
            return if v.is_zero() { b } else { a };
        }
        // `!c` selects the other way round; `x ^ true` is how the graph writes it.
        if let Node::Xor(xs, one) = self.node(c).clone() {
            if !one.is_zero() {
                let positive = self.not(c);
                debug_assert!(!xs.is_empty());
                return self.select(positive, b, a);
            }
        }
        let sort = self.sort(a);
        if let (Some(xs), Some(ys)) = (self.explode(a), self.explode(b)) {
            let parts = xs.into_iter().zip(ys).map(|(x, y)| self.select(c, x, y)).collect();
            return self.aggregate(parts, sort);
        }
        let a = self.under(c, a, true);
        let b = self.under(c, b, false);
        if a == b {
            return a;
        }
        if sort == Sort::Bool {
            if let Some(done) = self.select_bool(c, a, b) {
                return done;
            }
        }
        self.intern(Node::Select(c, a, b), sort)
    }

    /// A selection by the same condition is decided inside its own arm.
    fn under(&self, c: Id, x: Id, holds: bool) -> Id {
        match self.node(x) {
            Node::Select(d, a, b) if *d == c => *(if holds { a } else { b }),
            _ => x,
        }
    }

    fn select_bool(&mut self, c: Id, a: Id, b: Id) -> Option<Id> {
        let truth = |dag: &Dag, x: Id| dag.as_const(x).map(|v| !v.is_zero());
        match (truth(self, a), truth(self, b)) {
            (Some(true), _) => Some(self.or(c, b)),
            (Some(false), _) => {
                let no = self.not(c);
                Some(self.and(no, b))
            }
            (None, Some(false)) => Some(self.and(c, a)),
            (None, Some(true)) => {
                let no = self.not(c);
                Some(self.or(no, a))
            }
            (None, None) => None,
        }
    }

    /// Equality of two values of one sort; aggregates of fixed size part by part.
    pub fn equal(&mut self, a: Id, b: Id) -> Id {
        if a == b {
            return self.bool(true);
        }
        if !matches!(self.sort(a), Sort::Agg(_)) {
            return self.eq_scalar(a, b);
        }
        let (Some(xs), Some(ys)) = (self.explode(a), self.explode(b)) else {
            return self.intern(Node::Eq(a.min(b), a.max(b)), Sort::Bool);
        };
        let mut all = self.bool(true);
        for (x, y) in xs.into_iter().zip(ys) {
            let same = self.equal(x, y);
            all = self.and(all, same);
        }
        all
    }
}
