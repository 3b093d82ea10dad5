//! Loads and stores.
//!
//! Needs: the executor's state.  Keeps: an access lies inside one object whatever the inputs, and its address depends on no
//! secret.  Absent: what the objects hold ([`super::memory`]).

use crate::term::{T, Terms};
use super::memory::{choices, Choices, Kind};
use super::state::{Exec, State};
use super::stop::{Leak, Why};
use num_bigint::BigInt;
use num_traits::ToPrimitive;

impl Exec<'_> {
    /// The object an address lies in and the offset; no object: the address itself, as the file has it.
    pub(crate) fn split(&mut self, address: T) -> (Option<usize>, T) {
        for (k, base) in self.bases.iter().enumerate() {
            if let Some(offset) = self.terms.without(address, *base) {
                return (Some(k), offset);
            }
        }
        (None, self.in_constant(address).map_or(address, |(_, at)| at))
    }

    /// Words lie at multiples of their size: elsewhere processors trap, or take their time.
    pub(super) fn aligned(&mut self, address: T, bytes: u8) -> Result<(), Why> {
        match self.terms.mod2k(address, bytes.trailing_zeros()) {
            Terms::ZERO => Ok(()),
            _ => Err(Why::Memory(format!("{bytes} bytes at an address that is not known to be a multiple of {bytes}"))),
        }
    }

    fn open(&mut self, state: &State, address: T) -> Result<(Option<usize>, T), Why> {
        let (object, offset) = self.split(address);
        if !self.terms.public(offset) {
            return Err(Why::Secret(Leak::Address, self.secret(offset)));
        }
        if self.facts.is_empty() || self.terms.as_const(offset).is_some() {
            return Ok((object, offset));
        }
        // Elements of an array are known by the index that the source has.
        let offset = match object.map(|k| &state.objects[k].kind) {
            Some(Kind::Run { .. }) => self.terms.under(offset, &self.facts),
            _ => self.terms.short_under(offset, &self.facts),
        };
        Ok((object, offset))
    }

    /// The word at an address.
    pub(crate) fn load(&mut self, state: &mut State, address: T, bytes: u32) -> Result<T, Why> {
        if let Some(c) = self.terms.bit_of_base(address, &self.all_bases()) {
            return self.load_either(state, c, address, bytes);
        }
        let (object, offset) = self.open(state, address)?;
        self.constants.through = self.in_constant(address).map(|(island, _)| island).filter(|_| object.is_none());
        if let Some(k) = object {
            if let Kind::Run { element, .. } = &state.objects[k].kind {
                return self.load_run(state, k, &element.clone(), offset, bytes);
            }
        }
        if let Some(at) = self.terms.as_const(offset) {
            let at = at.to_i64().ok_or_else(|| Why::Memory("an address that is none".into()))?;
            return self.load_at(state, object, at, bytes);
        }
        let (all, certain) = self.choices(state, object, offset)?;
        let mut list = vec![];
        for at in all.offsets() {
            list.push(self.load_at(state, object, at, bytes)?);
        }
        if !certain {
            return Ok(self.one_of(&all, &list, offset));
        }
        let first = self.terms.int(all.first);
        let x = self.terms.sub(offset, first);
        let x = self.terms.div(x, &BigInt::from(all.step));
        self.pick(&list, x, 8 * bytes).ok_or(Why::TooBig)
    }

    /// The offsets that are meant, and whether they are all that the offset may be without what is assumed.
    fn choices(&mut self, state: &State, object: Option<usize>, offset: T) -> Result<(Choices, bool), Why> {
        let mut all = choices(self.terms, offset).ok_or_else(|| self.unbounded(state, object, offset))?;
        let count = all.count;
        if !self.facts.is_empty() {
            all.narrow(self.terms, offset, &self.facts);
        }
        let certain = all.count == count;
        Ok((all, certain))
    }

    /// The element that is meant, where the offset is one of these under a condition alone: elsewhere it is any of them.
    fn one_of(&mut self, all: &Choices, list: &[T], offset: T) -> T {
        let mut value = list[0];
        for (at, t) in all.offsets().zip(list).skip(1) {
            let at = self.terms.int(at);
            let hit = self.terms.eq(offset, at);
            value = self.terms.ite(hit, *t, value);
        }
        value
    }

    /// The word at an address in one object where `c` is 1, in another where it is 0.
    fn load_either(&mut self, state: &State, c: T, address: T, bytes: u32) -> Result<T, Why> {
        if !self.terms.public(c) {
            return Err(Why::Secret(Leak::Address, self.secret(c)));
        }
        let not = self.terms.not_bit(c);
        let mut found = [Terms::ZERO; 2];
        for (holds, word) in [c, not].into_iter().zip(&mut found) {
            let mut there = state.clone();
            there.path = self.terms.and(state.path, holds, 1);
            if there.path == Terms::ZERO {
                continue;
            }
            there.conditions.push(holds);
            let known = self.known();
            self.assume(holds);
            let address = self.terms.where_bit(address, holds);
            let loaded = self.load(&mut there, address, bytes);
            self.forget(known);
            *word = loaded?;
        }
        Ok(self.terms.ite(c, found[0], found[1]))
    }

    fn unbounded(&self, state: &State, object: Option<usize>, offset: T) -> Why {
        let name = object.map_or("constants", |k| state.objects[k].name.as_str());
        Why::Memory(format!("an offset into {name} without bounds: {}", self.terms.show(offset, 3)))
    }

    /// An element of a list of words. The source may know the list as signed values.
    pub(super) fn pick(&mut self, list: &[T], x: T, bits: u32) -> Option<T> {
        let signed: Vec<T> = list.iter().map(|t| self.terms.signed(*t, bits)).collect();
        if signed != list {
            if let Some(t) = self.terms.known_pick(&signed, x) {
                return Some(self.terms.mod2k(t, bits));
            }
        }
        self.terms.pick(list, x)
    }

    fn load_at(&mut self, state: &mut State, object: Option<usize>, at: i64, bytes: u32) -> Result<T, Why> {
        let Some(k_object) = object else { return self.constant(at, bytes) };
        let o = &state.objects[k_object];
        if !o.holds(at, bytes) {
            return Err(Why::Memory(format!("{bytes} bytes at offset {at} of {} are read, outside it", o.name)));
        }
        if k_object == 0 && !self.in_frame(state, at, bytes)? {
            return Err(Why::Memory(format!("the stack is read at offset {at}, outside the frame")));
        }
        let o = &state.objects[k_object];
        if let Some(t) = o.load(self.terms, at, bytes) {
            return Ok(t);
        }
        // Bytes nobody wrote have some value, the same each time.
        let name = o.name.clone();
        for k in at..at + i64::from(bytes) {
            if state.objects[k_object].load(self.terms, k, 1).is_none() {
                let t = self.unknown(&format!("{name}+{k}"), 8);
                state.objects[k_object].store(self.terms, k, 1, t);
            }
        }
        state.objects[k_object].load(self.terms, at, bytes).ok_or(Why::TooBig)
    }

    /// The condition does not hold here.
    pub(crate) fn never(&mut self, state: &State, c: T) -> bool {
        let not = self.terms.not_bit(c);
        if c == Terms::ZERO || state.conditions.contains(&not) || self.excluded(state.path, c) {
            return true;
        }
        let all: Vec<T> = state.conditions.iter().copied().chain([state.path, c]).collect();
        self.terms.never_all(&all)
    }

    /// Writes a word to an address.
    pub(crate) fn store(&mut self, state: &mut State, address: T, bytes: u32, value: T) -> Result<(), Why> {
        let value = self.terms.renamed(value);
        let (object, offset) = self.open(state, address)?;
        let Some(k) = object else { return Err(Why::Memory("a fixed address is written".into())) };
        if !state.objects[k].writable {
            return Err(Why::Memory(format!("{} is written, which is an input", state.objects[k].name)));
        }
        if state.objects[k].content().is_some() {
            return self.store_run(state, k, offset, (bytes, value));
        }
        if let Some(at) = self.terms.as_const(offset).and_then(|o| o.to_i64()) {
            self.may_store(state, k, at, bytes)?;
            state.objects[k].store(self.terms, at, bytes, value);
            return Ok(());
        }
        let (all, _) = self.choices(state, object, offset)?;
        for at in all.offsets() {
            self.may_store(state, k, at, bytes)?;
            let old = self.load_at(state, object, at, bytes)?;
            let here = self.terms.int(at);
            let hit = self.terms.eq(offset, here);
            let new = self.terms.ite(hit, value, old);
            state.objects[k].store(self.terms, at, bytes, new);
        }
        Ok(())
    }

    pub(crate) fn may_store(&mut self, state: &State, k: usize, at: i64, bytes: u32) -> Result<(), Why> {
        let o = &state.objects[k];
        if !o.holds(at, bytes) {
            return Err(Why::Memory(format!("{bytes} bytes at offset {at} of {} are written, outside it", o.name)));
        }
        if k == 0 && !self.in_frame(state, at, bytes)? {
            return Err(Why::Memory(format!("the stack is written at offset {at}, outside the frame")));
        }
        Ok(())
    }
}
