//! Arrays of run-time length, by number: arrays of one number are equal.
//!
//! Needs: terms.  Keeps: a number stands for one value of every scalar there could be, whatever the length; two numbers may stand
//! for equal arrays, so that nothing follows from their being different.  Absent: the arrays among the inputs, which are known to
//! the environment ([`Given`]).

use super::array::{Array, Group, Written, FIRST};
use super::atom::OutSpec;
use super::{Terms, T};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{ToPrimitive, Zero};
use santoku_num::SplitMix64;
use std::collections::BTreeMap;

/// Cases looked at until two arrays are the same.
const CASES: u32 = 200;
/// Writes and choices that one read looks through.
const DEPTH: u32 = 64;

/// What the arrays among the inputs hold.
pub trait Given {
    /// Scalar `index` (elements laid out one after the other, each in storage order) of the input of this number.
    fn read(&self, terms: &mut Terms, array: u32, index: T) -> T;
    /// Whether all of it is public.
    fn array_public(&self, _array: u32) -> bool {
        false
    }
}

impl Terms {
    /// The number of an array. `element`: what its scalars may be, for those of one element.
    pub fn array(&mut self, array: Array, element: &[OutSpec]) -> T {
        let next = self.arrays.all.len() as u32;
        let number = *self.arrays.numbers.entry(array.clone()).or_insert(next);
        if number == next {
            self.arrays.all.push((array, element.to_vec()));
        }
        self.int(FIRST + number)
    }

    /// The number of `a` where the bit is 1, of `b` where it is 0.
    pub fn either_array(&mut self, c: T, a: T, b: T) -> T {
        match (self.as_const(a), self.as_const(b)) {
            _ if a == b || c == Terms::ONE => a,
            _ if c == Terms::ZERO => b,
            (Some(_), Some(_)) => self.ite(c, a, b),
            // Choices in choices would be multiplied out.
            _ => {
                let not = self.not_bit(c);
                let array = if c < not { Array::Either(c, a, b) } else { Array::Either(not, b, a) };
                self.array(array, &[])
            }
        }
    }

    /// Whether a number is that of an input.
    pub fn is_input(&self, number: T) -> bool {
        self.as_const(number).and_then(|n| n.to_u32()).is_some_and(|n| n < FIRST)
    }

    fn show_array(&self, number: T, depth: u32) -> String {
        let k = self.as_const(number).and_then(|n| n.to_u32()).map(|n| (n, n.checked_sub(FIRST)));
        match (k, depth) {
            (Some((n, None)), _) => format!("array{n}"),
            (None, _) => format!("one of arrays by {}", self.show(number, depth)),
            (_, 0) => "...".into(),
            (Some((_, Some(k))), _) => match self.arrays.all.get(k as usize).map(|(array, _)| array) {
                Some(Array::Any(name)) => format!("`{name}`"),
                Some(Array::Result(name, ..)) => format!("a result of `{name}`"),
                Some(Array::Filled(_)) => "the same element everywhere".into(),
                Some(Array::Written(w)) => w.show(self, depth - 1),
                Some(Array::Either(c, a, b)) => {
                    let (a, b) = (self.show_array(*a, depth - 1), self.show_array(*b, depth - 1));
                    format!("{a} where {}, else {b}", self.show(*c, depth))
                }
                None => "?".into(),
            },
        }
    }

    /// What scalar `index` may be, where these are the scalars of an element.
    pub(crate) fn spec_at(&self, element: &[OutSpec], index: T) -> OutSpec {
        // The same scalar of every element, where the index says so.
        let (step, rest) = self.stride(index);
        let count = BigInt::from(element.len().max(1));
        let of_one = self.as_const(index).is_some() || (&step % &count).is_zero();
        let one = rest.mod_floor(&count).to_usize().filter(|n| of_one && *n < element.len());
        let units = one.map_or(element, |n| &element[n..=n]);
        OutSpec {
            lo: units.iter().map(|u| u.lo.clone()).min().unwrap_or_default(),
            hi: units.iter().map(|u| u.hi.clone()).max().unwrap_or_default(),
            public: units.iter().all(|u| u.public),
        }
    }

    fn scalar_in(&mut self, given: &dyn Given, number: T, index: T, depth: u32) -> Option<T> {
        let depth = depth.checked_sub(1)?;
        let Some(n) = self.as_const(number).and_then(|n| n.to_u32()) else {
            let (c, a, b) = self.chosen(number)?;
            let (a, b) = (self.scalar_in(given, a, index, depth)?, self.scalar_in(given, b, index, depth)?);
            return Some(self.ite(c, a, b));
        };
        let Some(k) = n.checked_sub(FIRST) else { return Some(given.read(self, n, index)) };
        let (array, element) = self.arrays.all.get(k as usize)?.clone();
        match array {
            Array::Any(_) | Array::Result(..) => {
                let spec = self.spec_at(&element, index);
                let any = |n: usize, at: &BigInt| {
                    let seed = at.iter_u64_digits().fold(u64::from(k) << 32 | n as u64, |h, d| SplitMix64::new(h ^ d).next_u64());
                    let mut random = SplitMix64::new(seed);
                    let span = &spec.hi - &spec.lo + 1u32;
                    let far = (0..=span.bits() / 64).fold(BigInt::zero(), |v, _| (v << 64u32) + random.next_u64());
                    &spec.lo + far.mod_floor(&span)
                };
                Some(self.read(n, index, &spec, any))
            }
            Array::Filled(scalars) => {
                let count = BigInt::from(scalars.len());
                let k = self.rem(index, &count);
                self.pick(&scalars, k)
            }
            Array::Written(w) => self.scalar_within(given, &w, index, depth),
            Array::Either(c, a, b) => {
                let (a, b) = (self.scalar_in(given, a, index, depth)?, self.scalar_in(given, b, index, depth)?);
                Some(self.ite(c, a, b))
            }
        }
    }

    fn scalar_within(&mut self, given: &dyn Given, w: &Written, index: T, depth: u32) -> Option<T> {
        let mut open: Vec<(T, T)> = vec![];
        let mut value = None;
        'groups: for group in w.writes.iter().rev() {
            let d = self.sub(index, group.base);
            if let Some(d) = self.as_const(d) {
                value = group.by_distance.get(&d).copied();
                if value.is_some() {
                    break;
                }
                continue;
            }
            for (at, v) in &group.by_distance {
                let at = self.int(at.clone());
                let hit = self.eq(d, at);
                match hit {
                    Terms::ZERO => {}
                    Terms::ONE => {
                        value = Some(*v);
                        break 'groups;
                    }
                    hit => open.push((hit, *v)),
                }
            }
        }
        let mut value = match (value, w.origin) {
            (Some(v), _) => Some(v),
            (None, Some(origin)) => Some(self.scalar_in(given, origin, index, depth)?),
            (None, None) => None,
        };
        // What was never assigned is not read.
        for (hit, v) in open.into_iter().rev() {
            value = Some(value.map_or(v, |old| self.ite(hit, v, old)));
        }
        value
    }

    /// Whether the arrays of two numbers, of `length` scalars, are shown to be equal, in each case of the conditions that choose between others.
    /// Without scalars, they are.
    pub fn same_arrays(&mut self, a: T, b: T, length: T) -> bool {
        let empty = self.eq(length, Terms::ZERO);
        let some = self.not_bit(empty);
        self.same_where(a, b, some, &mut { CASES })
    }

    fn same_where(&mut self, a: T, b: T, path: T, left: &mut u32) -> bool {
        if a == b || path == Terms::ZERO {
            return true;
        }
        if *left == 0 {
            return false;
        }
        *left -= 1;
        let cases = self.choice(a).map(|cases| (cases, b)).or_else(|| Some((self.choice(b)?, a)));
        if let Some(((c, one, other), rest)) = cases {
            let not = self.not_bit(c);
            let (here, there) = (self.and(path, c, 1), self.and(path, not, 1));
            return self.same_where(one, rest, here, left) && self.same_where(other, rest, there, left);
        }
        match (self.written(a), self.written(b)) {
            (Some(x), Some(y)) => {
                let like = x.writes == y.writes && !x.writes.is_empty();
                like && x.origin.zip(y.origin).is_some_and(|(x, y)| self.same_where(x, y, path, left))
            }
            _ => false,
        }
    }

    fn written(&self, number: T) -> Option<Written> {
        let k = self.as_const(number)?.to_u32()?.checked_sub(FIRST)?;
        match &self.arrays.all.get(k as usize)?.0 {
            Array::Written(w) => Some(w.clone()),
            _ => None,
        }
    }

    /// The condition that chooses an array, and the numbers of both.
    fn choice(&mut self, number: T) -> Option<(T, T, T)> {
        let Some(n) = self.as_const(number).and_then(|n| n.to_u32()) else { return self.chosen(number) };
        match self.arrays.all.get(n.checked_sub(FIRST)? as usize)?.0 {
            Array::Either(c, a, b) => Some((c, a, b)),
            _ => None,
        }
    }

    /// A number that a condition chooses: the condition and both numbers.
    fn chosen(&mut self, number: T) -> Option<(T, T, T)> {
        let bit = self.poly(number).iter().flat_map(|(m, _)| self.factors(*m)).copied().find(|a| self.atom_is_bit(*a))?;
        let c = self.atom_term(bit);
        Some((c, self.with_bit(number, bit, true), self.with_bit(number, bit, false)))
    }

    /// Whether no scalar of an array is secret.
    pub fn is_array_public(&mut self, given: &dyn Given, number: T) -> bool {
        self.all_public(given, number, DEPTH)
    }

    fn all_public(&mut self, given: &dyn Given, number: T, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let Some(n) = self.as_const(number).and_then(|n| n.to_u32()) else {
            let Some((c, a, b)) = self.chosen(number) else { return false };
            return self.public(c) && self.all_public(given, a, depth) && self.all_public(given, b, depth);
        };
        let Some(k) = n.checked_sub(FIRST) else { return given.array_public(n) };
        let Some((array, element)) = self.arrays.all.get(k as usize).cloned() else { return false };
        match array {
            Array::Any(_) | Array::Result(..) => !element.is_empty() && element.iter().all(|u| u.public),
            Array::Filled(scalars) => scalars.iter().all(|t| self.public(*t)),
            Array::Written(w) => {
                let public = w.writes.iter().all(|g| self.public(g.base) && g.by_distance.values().all(|t| self.public(*t)));
                public && w.origin.is_some_and(|o| self.all_public(given, o, depth))
            }
            Array::Either(c, a, b) => self.public(c) && self.all_public(given, a, depth) && self.all_public(given, b, depth),
        }
    }
}

impl Written {
    /// The array of this number.
    pub fn of(number: T) -> Written {
        Written { origin: Some(number), writes: vec![] }
    }

    /// One to which nothing was ever assigned.
    pub fn unset() -> Written {
        Written { origin: None, writes: vec![] }
    }

    /// Every element has these scalars.
    pub fn filled(terms: &mut Terms, mut scalars: Vec<T>) -> Written {
        if scalars.iter().all(|t| *t == scalars[0]) {
            scalars.truncate(1);
        }
        Written::of(terms.array(Array::Filled(scalars), &[]))
    }

    /// Its number; `None` where some of it may not be assigned.
    pub fn number(&self, terms: &mut Terms) -> Option<T> {
        let origin = self.origin?;
        if self.writes.is_empty() {
            return Some(origin);
        }
        Some(terms.array(Array::Written(self.clone()), &[]))
    }

    /// Writes scalar `index`.
    pub fn write(&mut self, terms: &mut Terms, index: T, value: T) {
        let (base, distance) = terms.without_constant(index);
        match self.writes.last_mut().filter(|g| g.base == base) {
            Some(group) => {
                group.by_distance.insert(distance, value);
            }
            None => self.writes.push(Group { base, by_distance: BTreeMap::from([(distance, value)]) }),
        }
    }

    /// Scalar `index`; `None` where none was assigned, or where too many choices lie between.
    pub fn read(&self, terms: &mut Terms, given: &dyn Given, index: T) -> Option<T> {
        terms.scalar_within(given, self, index, DEPTH)
    }

    /// This array where the bit is 1, `other` where it is 0. What was assigned to one alone is taken from there.
    pub fn either(&self, terms: &mut Terms, c: T, other: &Written) -> Written {
        match (self.number(terms), other.number(terms)) {
            _ if self == other => self.clone(),
            (None, _) => other.clone(),
            (_, None) => self.clone(),
            (Some(a), Some(b)) => Written::of(terms.either_array(c, a, b)),
        }
    }

    /// In words.
    pub fn show(&self, terms: &Terms, depth: u32) -> String {
        let origin = self.origin.map_or("nothing".into(), |o| terms.show_array(o, depth));
        let groups = self.writes.iter().map(|g| {
            let (first, last) = (g.by_distance.keys().next().cloned().unwrap_or_default(), g.by_distance.keys().last().cloned().unwrap_or_default());
            let value = g.by_distance.values().next().map_or(String::new(), |t| terms.show(*t, depth));
            format!(", at {} + {first}..={last}: {value}, ...", terms.show(g.base, depth))
        });
        format!("{origin}{}", groups.collect::<String>())
    }

    /// The scalars of two arrays that are equal if these pairs are; `None` where more is needed.
    pub fn pairs(&self, other: &Written) -> Option<Vec<(T, T)>> {
        let alike = |(a, b): (&Group, &Group)| a.base == b.base && a.by_distance.keys().eq(b.by_distance.keys());
        let same = self.origin.is_some() && self.origin == other.origin && self.writes.len() == other.writes.len();
        let all = || self.writes.iter().zip(&other.writes);
        (same && all().all(alike)).then(|| all().flat_map(|(a, b)| a.by_distance.values().copied().zip(b.by_distance.values().copied())).collect())
    }
}
