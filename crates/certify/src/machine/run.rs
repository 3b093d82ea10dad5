//! Loads from arrays of run-time length.
//!
//! Needs: the layout of one element ([`crate::source::layout`], the same that the source side reads by).  Keeps: every byte that is
//! read belongs to a scalar of a certain place in an element that is shown to be inside, or to padding, which holds anything.
//! Absent: stores; no result is such an array.

use crate::source::layout::{Object, Unit};
use crate::term::{T, Terms};
use super::memory::choices;
use super::state::{Exec, State};
use super::stop::Why;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};

/// Places in an element that one computed offset may choose from.
const PLACES_MAX: usize = 64;

impl Exec<'_> {
    /// The word at an offset.
    pub(super) fn load_run(&mut self, state: &State, (array, element): (u32, &Object), offset: T, bytes: u32) -> Result<T, Why> {
        let apart = || Why::Unsupported("part of an element of an array of run-time length".into());
        let (unit, count) = (element.units.first().ok_or_else(apart)?, element.units.len());
        // Scalars of one size without gaps are elements of one scalar.
        if let Some(stride) = even(element) {
            let (index, rest) = self.element(offset, &BigInt::from(stride));
            let one = Object { units: vec![Unit { offset: 0, ..unit.clone() }], size: stride, ..element.clone() };
            let at = self.terms.as_const(rest).and_then(|r| r.to_u64()).ok_or_else(apart)?;
            return self.bytes_of(state, (array, &one, 1), index, (at, bytes));
        }
        let (index, rest) = self.element(offset, &BigInt::from(element.size));
        if let Some(at) = self.terms.as_const(rest).and_then(|r| r.to_u64()) {
            return self.bytes_of(state, (array, element, count), index, (at, bytes));
        }
        // An array in each element, at an index of its own.
        let all = choices(self.terms, rest).filter(|all| all.count <= PLACES_MAX && all.first >= 0).ok_or_else(apart)?;
        let mut list = vec![];
        for at in all.offsets() {
            list.push(self.bytes_of(state, (array, element, count), index, (at as u64, bytes))?);
        }
        let first = self.terms.int(all.first);
        let x = self.terms.sub(rest, first);
        let x = self.terms.div(x, &BigInt::from(all.step));
        self.pick(&list, x, 8 * bytes).ok_or(Why::TooBig)
    }

    /// `offset = size * index + rest`: what is a multiple of the size is the index's.
    fn element(&mut self, offset: T, size: &BigInt) -> (T, T) {
        let rest = self.terms.rem(offset, size);
        if self.terms.as_const(rest).is_some() {
            return (self.terms.div(offset, size), rest);
        }
        let (index, rest) = self.terms.whole(offset, size);
        (index, rest)
    }

    /// Bytes from `at` on, counted from the beginning of element `index`, of which each has `count` scalars.
    fn bytes_of(&mut self, state: &State, (array, element, count): (u32, &Object, usize), index: T, (at, bytes): (u64, u32)) -> Result<T, Why> {
        let (mut sum, mut next, end) = (Terms::ZERO, at, at + u64::from(bytes));
        while next < end {
            let (round, inside) = next.div_mod_floor(&element.size.max(1));
            let holds = |u: &Unit| u.offset <= inside && inside < u.offset + u64::from(u.bytes);
            let found = element.units.iter().position(holds);
            let here = self.terms.int(round);
            let here = self.terms.add(index, here);
            let (part, part_end) = match found {
                Some(n) => {
                    let unit = &element.units[n];
                    let word = self.scalar_of(state, array, (here, n, count), 8 * unit.bytes)?;
                    let skip = (inside - unit.offset) as u32;
                    let part_end = (next + u64::from(unit.bytes - skip)).min(end);
                    (self.terms.slice(word, 8 * skip, 8 * (part_end - next) as u32), part_end)
                }
                None => {
                    self.inside(state, array, (here, 0, count))?;
                    (self.unknown("padding in an array", 8), next + 1)
                }
            };
            let part = self.terms.scale(part, &(BigInt::one() << (8 * (next - at) as u32)));
            sum = self.terms.add(sum, part);
            next = part_end;
        }
        Ok(sum)
    }

    /// Scalar `n` of `count` of an element, as it is stored.
    fn scalar_of(&mut self, state: &State, array: u32, place: (T, usize, usize), bits: u32) -> Result<T, Why> {
        let at = self.inside(state, array, place)?;
        let value = self.arrays.read(self.terms, array, at);
        Ok(self.terms.mod2k(value, bits))
    }

    /// The number of a scalar, which is shown to be one of the array's.
    fn inside(&mut self, state: &State, array: u32, (index, n, count): (T, usize, usize)) -> Result<T, Why> {
        let (first, n) = (self.terms.scale(index, &BigInt::from(count)), self.terms.int(n as u64));
        let at = self.terms.add(first, n);
        let length = self.arrays.length(self.terms, array);
        let (low, high) = (self.terms.lt0(at), self.terms.lt(at, length));
        let not_high = self.terms.not_bit(high);
        if !self.never(state, low) || !self.never(state, not_high) {
            let (at, path) = (self.terms.show(at, 3), self.terms.show(state.path, 3));
            return Err(Why::Memory(format!("element {at} of an array is read, not shown to be inside where {path}")));
        }
        Ok(at)
    }
}

/// The distance of scalars that all have one size and follow each other without gaps.
fn even(element: &Object) -> Option<u64> {
    let bytes = u64::from(element.units.first()?.bytes);
    let close = element.units.iter().enumerate().all(|(k, u)| u64::from(u.bytes) == bytes && u.offset == k as u64 * bytes);
    (close && !bytes.is_zero() && element.size == element.units.len() as u64 * bytes).then_some(bytes)
}
