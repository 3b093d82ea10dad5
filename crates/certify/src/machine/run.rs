//! Arrays of run-time length: loads and stores of their scalars, copies of all of them.
//!
//! Needs: the layout of one element ([`crate::source::layout`], the same that the source side reads by).  Keeps: every byte that is
//! read or written belongs to a scalar of a certain place in an element that is shown to be inside, or to padding, which holds
//! anything.  Absent: stores of a part of a scalar, copies of a part of an array whose length is no constant.

use crate::source::layout::{Object, Unit};
use crate::term::{Array, OutSpec, T, Terms, Written};
use super::memory::{choices, Kind};
use super::state::{Exec, State};
use super::stop::Why;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};
use santoku_ir::{Func, Len};

/// Places in an element that one computed offset may choose from.
const PLACES_MAX: usize = 64;

/// An element of the array in an object: its place, the layout that it has there, and scalars in it.
struct Element<'e> {
    object: usize,
    index: T,
    layout: &'e Object,
    count: usize,
}

/// A piece of an element.
enum Piece {
    /// A scalar, by its number among all of the array; how many of its bytes lie before the piece; bytes of the piece.
    Scalar(T, Unit, u32, u32),
    Padding,
}

fn apart() -> Why {
    Why::Unsupported("part of an element of an array of run-time length".into())
}

impl Exec<'_> {
    /// The word at an offset.
    pub(super) fn load_run(&mut self, state: &State, object: usize, element: &Object, offset: T, bytes: u32) -> Result<T, Why> {
        let count = element.units.len();
        if let Some((one, index, at)) = self.place(element, offset)? {
            return self.bytes_of(state, &Element { object, index, layout: &one, count: one.units.len() }, (at, bytes));
        }
        // An array in each element, at an index of its own.
        let (index, rest) = self.element(offset, &BigInt::from(element.size));
        let all = choices(self.terms, rest).filter(|all| all.count <= PLACES_MAX && all.first >= 0).ok_or_else(apart)?;
        let mut list = vec![];
        for at in all.offsets() {
            list.push(self.bytes_of(state, &Element { object, index, layout: element, count }, (at as u64, bytes))?);
        }
        let first = self.terms.int(all.first);
        let x = self.terms.sub(rest, first);
        let x = self.terms.div(x, &BigInt::from(all.step));
        self.pick(&list, x, 8 * bytes).ok_or(Why::TooBig)
    }

    /// Writes a word to an offset.
    pub(super) fn store_run(&mut self, state: &mut State, object: usize, offset: T, (bytes, value): (u32, T)) -> Result<(), Why> {
        let Kind::Run { element, .. } = &state.objects[object].kind else { return Err(apart()) };
        let element = element.clone();
        let (one, index, at) = self.place(&element, offset)?.ok_or_else(apart)?;
        if element.units.iter().any(|u| u.signed != element.units[0].signed) && one.units.len() < element.units.len() {
            return Err(apart());
        }
        let pieces = self.pieces(state, &Element { object, index, layout: &one, count: one.units.len() }, (at, bytes))?;
        let mut skip = 0;
        for piece in pieces {
            let Piece::Scalar(at, unit, 0, part) = piece else { return Err(apart()) };
            if part != unit.bytes {
                return Err(apart());
            }
            let word = self.terms.slice(value, 8 * skip, 8 * part);
            let scalar = self.as_value(word, &unit);
            if let Kind::Run { content, .. } = &mut state.objects[object].kind {
                content.write(self.terms, at, scalar);
            }
            skip += part;
        }
        Ok(())
    }

    /// The element that an offset lies in and the constant rest, with the layout that both are meant in; `None`: no constant.
    fn place(&mut self, element: &Object, offset: T) -> Result<Option<(Object, T, u64)>, Why> {
        let unit = element.units.first().ok_or_else(apart)?;
        // Scalars of one size without gaps are elements of one scalar.
        let layout = match even(element) {
            Some(stride) => Object { units: vec![Unit { offset: 0, ..unit.clone() }], size: stride, ..element.clone() },
            None => element.clone(),
        };
        let (index, rest) = self.element(offset, &BigInt::from(layout.size));
        let at = self.terms.as_const(rest).and_then(|r| r.to_u64());
        match at {
            None if layout.size != element.size => Err(apart()),
            at => Ok(at.map(|at| (layout, index, at))),
        }
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

    /// What bytes from `at` on are of, counted from the beginning of an element.
    fn pieces(&mut self, state: &State, e: &Element<'_>, (at, bytes): (u64, u32)) -> Result<Vec<Piece>, Why> {
        let (mut found, mut next, end) = (vec![], at, at + u64::from(bytes));
        while next < end {
            let (round, inside) = next.div_mod_floor(&e.layout.size.max(1));
            let holds = |u: &Unit| u.offset <= inside && inside < u.offset + u64::from(u.bytes);
            let n = e.layout.units.iter().position(holds);
            let round = self.terms.int(round);
            let index = self.terms.add(e.index, round);
            let place = self.inside(state, e.object, (index, n.unwrap_or(0), e.count))?;
            let Some(unit) = n.map(|n| &e.layout.units[n]) else {
                found.push(Piece::Padding);
                next += 1;
                continue;
            };
            let skip = (inside - unit.offset) as u32;
            let part = u64::from(unit.bytes - skip).min(end - next) as u32;
            found.push(Piece::Scalar(place, unit.clone(), skip, part));
            next += u64::from(part);
        }
        Ok(found)
    }

    fn bytes_of(&mut self, state: &State, e: &Element<'_>, at: (u64, u32)) -> Result<T, Why> {
        let (mut sum, mut next) = (Terms::ZERO, 0);
        for piece in self.pieces(state, e, at)? {
            let (part, bytes) = match piece {
                Piece::Scalar(place, unit, skip, bytes) => {
                    let word = self.scalar_at(state, e.object, place, 8 * unit.bytes);
                    (self.terms.slice(word, 8 * skip, 8 * bytes), bytes)
                }
                Piece::Padding => (self.unknown("padding in an array", 8), 1),
            };
            let part = self.terms.scale(part, &(BigInt::one() << (8 * next)));
            sum = self.terms.add(sum, part);
            next += bytes;
        }
        Ok(sum)
    }

    /// A scalar, as it is stored.
    fn scalar_at(&mut self, state: &State, object: usize, at: T, bits: u32) -> T {
        let read = state.objects[object].content().and_then(|c| c.read(self.terms, self.arrays, at));
        match read {
            Some(value) => self.terms.mod2k(value, bits),
            None => self.unknown("an element never written", bits),
        }
    }

    /// The number of a scalar, which is shown to be one of the array's.
    fn inside(&mut self, state: &State, object: usize, (index, n, count): (T, usize, usize)) -> Result<T, Why> {
        let Kind::Run { length, .. } = &state.objects[object].kind else { return Err(apart()) };
        let (first, n) = (self.terms.scale(index, &BigInt::from(count)), self.terms.int(n as u64));
        let at = self.terms.add(first, n);
        let (low, high) = (self.terms.lt0(at), self.terms.lt(at, *length));
        let not_high = self.terms.not_bit(high);
        if !self.never(state, low) || !self.never(state, not_high) {
            let (at, path) = (self.terms.show(at, 3), self.terms.show(state.path, 3));
            return Err(Why::Memory(format!("element {at} of an array, not shown to be inside where {path}")));
        }
        Ok(at)
    }

    /// The array of run-time length that an address is the beginning of.
    pub(super) fn whole_run(&mut self, state: &State, address: T) -> Option<usize> {
        let (object, offset) = self.split(address);
        object.filter(|k| offset == Terms::ZERO && state.objects[*k].content().is_some())
    }

    /// Whether so many scalars are all that the array has.
    pub(super) fn is_all_of(&mut self, state: &State, object: usize, scalars: T) -> bool {
        let Kind::Run { length, .. } = &state.objects[object].kind else { return false };
        let d = self.terms.sub(scalars, *length);
        d == Terms::ZERO || self.terms.under(d, &self.facts) == Terms::ZERO
    }

    /// Copies all of one array to another, or fills it; `false`: it is something else.
    pub(super) fn whole_copied(&mut self, state: &mut State, dst: T, source: Filling, bytes: T) -> Result<bool, Why> {
        let Some(k) = self.whole_run(state, dst) else { return Ok(false) };
        let Kind::Run { element, .. } = &state.objects[k].kind else { return Ok(false) };
        let element = element.clone();
        let (elements, rest) = self.element(bytes, &BigInt::from(element.size));
        let scalars = self.terms.scale(elements, &BigInt::from(element.units.len()));
        if rest != Terms::ZERO || !self.is_all_of(state, k, scalars) || !state.objects[k].writable {
            return Ok(false);
        }
        let new = match source {
            Filling::Array(src) => {
                let Some(from) = self.whole_run(state, src) else { return Ok(false) };
                let Kind::Run { element: theirs, content, .. } = &state.objects[from].kind else { return Ok(false) };
                let (alike, content) = (same_places(&element, theirs), content.clone());
                if !alike || !self.is_all_of(state, from, scalars) {
                    return Ok(false);
                }
                content
            }
            Filling::Byte(byte) if byte == Terms::ZERO || element.units.iter().all(|u| u.bytes == 1 && !u.signed) => {
                Written::filled(self.terms, vec![byte; element.units.len()])
            }
            Filling::Byte(_) => return Ok(false),
        };
        state.objects[k].set_content(new);
        Ok(true)
    }

    /// An array of which nothing is known.
    pub(crate) fn unknown_run(&mut self, what: &str, element: &Object) -> Written {
        self.fresh += 1;
        any_run(self.terms, format!("{what}?{}", self.fresh), element)
    }
}

/// What an array is made of as a whole.
#[derive(Clone, Copy)]
pub(super) enum Filling {
    /// The array at this address.
    Array(T),
    Byte(T),
}

/// An array of which nothing is known but its name.
pub(crate) fn any_run(terms: &mut Terms, name: String, element: &Object) -> Written {
    let words = element.units.iter().map(|u| word(u.bytes)).collect::<Vec<_>>();
    Written::of(terms.array(Array::Any(name), &words))
}

/// Scalars of an array of a function whose lengths are these; `None`: its length is none of them.
pub(crate) fn scalars_of(terms: &mut Terms, f: &Func, lens: &[T], (object, len): (&Object, &Len)) -> Option<T> {
    let count = match len {
        Len::Const(n) => terms.int(*n),
        Len::Param { param, add } => {
            let at = f.lens.iter().position(|l| l == param)?;
            let add = terms.int(*add);
            terms.add(*lens.get(at)?, add)
        }
    };
    Some(terms.scale(count, &BigInt::from(object.units.len())))
}

/// Anything that so many bytes hold.
fn word(bytes: u32) -> OutSpec {
    OutSpec { lo: BigInt::zero(), hi: (BigInt::one() << (8 * bytes)) - 1, public: false }
}

/// Scalars of the same kind lie at the same places.
pub(super) fn same_places(a: &Object, b: &Object) -> bool {
    let alike = |(x, y): (&Unit, &Unit)| (x.offset, x.bytes, x.signed) == (y.offset, y.bytes, y.signed);
    a.size == b.size && a.units.len() == b.units.len() && a.units.iter().zip(&b.units).all(alike)
}

/// The distance of scalars that all have one size and follow each other without gaps.
fn even(element: &Object) -> Option<u64> {
    let bytes = u64::from(element.units.first()?.bytes);
    let close = element.units.iter().enumerate().all(|(k, u)| u64::from(u.bytes) == bytes && u.offset == k as u64 * bytes);
    (close && !bytes.is_zero() && element.size == element.units.len() as u64 * bytes).then_some(bytes)
}
