//! Calls: of functions that have a source, and of the C library's memory functions.
//!
//! Needs: [`crate::source::abi`].  Keeps: a call is replaced only as [`super::contract`] allows, and leaves nothing but its
//! results.  Absent: whether the source makes the same call, which is asked at the end.

use crate::source::abi::{self, InRegisters, Place, Role};
use crate::source::layout;
use crate::term::{Array, OutSpec, T, Terms, Written};
use super::code::SP;
use super::contract::{not_followed, Passed};
use super::run::{same_places, scalars_of, Filling};
use super::state::{Exec, Made, State};
use super::stop::Why;
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive};
use santoku_ir::{Func, FuncId, Len};
use std::collections::BTreeMap;

/// Bytes a copy of known length may have: more than a function's objects.
const KNOWN_COPY_MAX: i64 = 1 << 20;
/// Bytes a copy of computed length may have.
const COPY_MAX: i64 = 4096;
/// Scalars of an array that is passed for one of run-time length.
const ELEMENTS_MAX: u64 = 4096;

/// Bytes of an array of run-time length, of which none shares another's object in part.
const WHOLE: u64 = u64::MAX;

/// Where a result goes.
struct Out {
    /// Its position among the results.
    position: usize,
    address: T,
    object: layout::Object,
}

impl Exec<'_> {
    /// Replaces the call at `pc` by the results of the source's function.
    pub(crate) fn replace(&mut self, state: &mut State, func: FuncId, pc: u64) -> Result<(), Why> {
        let f = self.code.program.func(func);
        let xlen = self.code.xlen();
        let bad = |what: String| Why::Convention(format!("the call of `{}`: {what}", f.name));
        // The function whose call is being replaced.
        let convention = self.refused.map(|to| self.code.convention_at(to)).unwrap_or_default();
        let signature = abi::signature_under(self.code.program, f, xlen, &convention).map_err(|e| bad(e.to_string()))?;
        let (mut lens, mut params, mut outs, mut passed) = (vec![], vec![], vec![], vec![]);
        let (mut public, mut given, mut arrays_passed) = (true, vec![], vec![]);
        for arg in &signature.args {
            given.push((arg.role, params.len()));
            let words = self.words_at(state, &arg.place, &arg.kind, xlen)?;
            match &arg.kind {
                abi::Kind::Scalar(s) => {
                    let v = s.value(self.terms, &words, xlen);
                    self.extended(s, &words, v).map_err(bad)?;
                    if matches!(arg.role, Role::Len(_)) { lens.push(v) } else { params.push(v) }
                }
                abi::Kind::Pointer(object) => {
                    let spots = self.pointer(words[0], object)?;
                    if let Role::Ret(r) = arg.role {
                        let [(Some(_), _)] = spots[..] else { return Err(bad("a result is not written to one object".into())) };
                        let size = if object.repeat.is_some() { WHOLE } else { object.size };
                        outs.push(Out { position: r, address: words[0], object: object.clone() });
                        passed.push(Passed { position: r, is_result: true, spots, size });
                        continue;
                    }
                    let whole = object.repeat.as_ref().and_then(|len| Some((len, self.whole_run(state, words[0])?)));
                    if let Some((len, k)) = whole {
                        let content = state.objects[k].content();
                        let number = content.and_then(|c| c.number(self.terms)).ok_or_else(|| bad("an array that was never written".into()))?;
                        // One that is an input has the length that the source knows it by.
                        if !self.terms.is_input(number) {
                            arrays_passed.push((k, object.clone(), len.clone()));
                        }
                        public &= self.terms.is_array_public(self.arrays, number);
                        params.push(number);
                        if let Role::Param(p) = arg.role {
                            passed.push(Passed { position: p, is_result: false, spots, size: WHOLE });
                        }
                        continue;
                    }
                    let object = match &object.repeat {
                        Some(len) => &self.of_length(f, object, len, &lens).ok_or_else(|| bad("a part of an array of run-time length".into()))?,
                        None => object,
                    };
                    self.whole(state, words[0], object)?;
                    for u in &object.units {
                        let at = self.at(words[0], u.offset);
                        let t = self.load(state, at, u.bytes)?;
                        params.push(self.as_value(t, u));
                    }
                    if let Role::Param(p) = arg.role {
                        passed.push(Passed { position: p, is_result: false, spots, size: object.size });
                    }
                }
            }
        }
        let shared = self.apart_from_all(state, &passed, u64::from(signature.stack)).map_err(bad)?;
        let args: Vec<T> = match convention.is_source() {
            true => lens.into_iter().chain(params).collect(),
            false => self.all_given(state, func, &convention, (&lens, &params, &given)).map_err(bad)?,
        };
        let args: Vec<T> = args.into_iter().map(|t| self.settled(state, t)).collect();
        for Out { address, object, .. } in &outs {
            if let Some(len) = &object.repeat {
                let k = self.whole_run(state, *address).filter(|k| state.objects[*k].writable);
                let k = k.ok_or_else(|| bad("a result of run-time length that is not one of this function".into()))?;
                arrays_passed.push((k, object.clone(), len.clone()));
            }
        }
        for (k, object, len) in &arrays_passed {
            self.as_long_as(state, f, *k, (object, len, &args)).map_err(bad)?;
        }
        let args = self.as_in_source(state, func, args);
        let args = self.terms.call_like(&f.name, args);
        let public = public && args.iter().all(|t| self.terms.public(*t));
        let mut specs = self.specs(func).map_err(|e| bad(e.to_string()))?;
        specs.iter_mut().for_each(|s| s.public |= public);
        let results = self.terms.call(&f.name, &args, &specs);
        let arrays = self.arrays_of(func, &args, public).map_err(|e| bad(e.to_string()))?;
        self.made.push(Made { pc, func, args, path: state.path, conditions: state.conditions.clone(), shared });
        self.clobber(state, signature.stack)?;
        let mut results = results.into_iter();
        if let Some(s) = &signature.returned {
            let words = s.words(self.terms, results.next().unwrap_or(Terms::ZERO), xlen);
            for (k, w) in words.into_iter().enumerate() {
                state.regs[10 + k] = w;
            }
        }
        for Out { position, address, object } in outs {
            if object.repeat.is_some() {
                let (Some(k), Some(array)) = (self.whole_run(state, address), arrays.get(&position)) else { return Err(Why::TooBig) };
                state.objects[k].set_content(array.clone());
                continue;
            }
            for u in &object.units {
                let v = results.next().unwrap_or(Terms::ZERO);
                let v = self.terms.mod2k(v, 8 * u.bytes);
                let at = self.at(address, u.offset);
                self.store(state, at, u.bytes, v)?;
            }
            self.spoil(state, address, &object)?;
        }
        Ok(())
    }

    /// An argument with the conditions of the path used, as the source does where it proves loops by induction.
    fn settled(&mut self, state: &State, t: T) -> T {
        if !self.cuts.iter().any(|c| c.constant) {
            return t;
        }
        state.conditions.iter().fold(t, |t, c| self.terms.settled_by(t, *c))
    }

    /// A stored word as the value the source has.
    pub(crate) fn as_value(&mut self, t: T, u: &layout::Unit) -> T {
        if !u.signed {
            return t;
        }
        self.terms.signed(t, 8 * u.bytes)
    }

    fn specs(&self, func: FuncId) -> Result<Vec<OutSpec>, layout::NoLayout> {
        let f = self.code.program.func(func);
        let mut specs = vec![];
        for id in &f.rets {
            let local = f.local(*id);
            let object = layout::object(self.code.program, &local.ty, f.gives_public(*id))?;
            if object.repeat.is_some() {
                continue;
            }
            specs.extend(object.units.into_iter().map(|u| OutSpec { lo: u.lo, hi: u.hi, public: u.public }));
        }
        Ok(specs)
    }

    fn words_at(&mut self, state: &mut State, place: &Place, kind: &abi::Kind, xlen: u32) -> Result<Vec<T>, Why> {
        let slot = xlen / 8;
        let stack = |exec: &mut Self, state: &mut State, offset: u32| {
            let at = exec.terms.int(offset);
            let at = exec.terms.add(state.regs[SP], at);
            exec.load(state, at, slot)
        };
        Ok(match *place {
            Place::Regs { first, count } => (0..count).map(|k| state.regs[(10 + first + k) as usize]).collect(),
            Place::Stack { offset } => {
                let bits = match kind {
                    abi::Kind::Pointer(_) => xlen,
                    abi::Kind::Scalar(s) => s.bits,
                };
                let mut words = vec![];
                for k in 0..bits.div_ceil(xlen) {
                    words.push(stack(self, state, offset + k * slot)?);
                }
                words
            }
            Place::Split { offset } => vec![state.regs[17], stack(self, state, offset)?],
        })
    }

    /// Results that are arrays of run-time length, by position.
    fn arrays_of(&mut self, func: FuncId, args: &[T], public: bool) -> Result<BTreeMap<usize, Written>, layout::NoLayout> {
        let f = self.code.program.func(func);
        let mut found = BTreeMap::new();
        for (r, id) in f.rets.iter().enumerate() {
            let local = f.local(*id);
            let object = layout::object(self.code.program, &local.ty, f.gives_public(*id))?;
            if object.repeat.is_some() {
                let element: Vec<OutSpec> =
                    object.units.into_iter().map(|u| OutSpec { lo: u.lo, hi: u.hi, public: u.public || public }).collect();
                let number = self.terms.array(Array::Result(f.name.clone(), args.to_vec(), r), &element);
                found.insert(r, Written::of(number));
            }
        }
        Ok(found)
    }

    /// An array is as long as the one of the function called in whose place it is.
    fn as_long_as(&mut self, state: &State, f: &Func, k: usize, array: (&layout::Object, &Len, &[T])) -> Result<(), String> {
        let scalars = scalars_of(self.terms, f, array.2, (array.0, array.1)).ok_or("an array of unknown length")?;
        match state.objects[k].element().is_some_and(|e| same_places(e, array.0)) && self.is_all_of(state, k, scalars) {
            true => Ok(()),
            false => Err(format!("{} is not shown to be as long as the array in whose place it is passed", state.objects[k].name)),
        }
    }

    /// All elements of an array whose length is known where it is passed.
    fn of_length(&self, f: &Func, element: &layout::Object, len: &Len, lens: &[T]) -> Option<layout::Object> {
        let count = match len {
            Len::Const(n) => *n,
            Len::Param { param, add } => {
                let at = f.lens.iter().position(|l| l == param)?;
                self.terms.as_const(*lens.get(at)?)?.to_u64()?.checked_add_signed(*add)?
            }
        };
        if count.checked_mul(element.units.len() as u64)? > ELEMENTS_MAX {
            return None;
        }
        let place = |i: u64| element.units.iter().map(move |u| layout::Unit { offset: i * element.size + u.offset, ..u.clone() });
        let units = (0..count).flat_map(place).collect();
        Some(layout::Object { units, size: count * element.size, align: element.align, repeat: None })
    }

    /// `memcpy`, `memmove`, `memset`; anything else is not followed.
    pub(crate) fn external(&mut self, state: &mut State, name: &str) -> Result<(), Why> {
        let (dst, second, n) = (state.regs[10], state.regs[11], state.regs[12]);
        match name {
            "memcpy" | "memmove" => self.copy(state, name, (dst, second), n)?,
            "memset" => self.fill(state, dst, second, n)?,
            _ => return Err(not_followed(name)),
        }
        self.clobber(state, 0)?;
        state.regs[10] = dst;
        Ok(())
    }

    fn same_object(&mut self, a: T, b: T) -> bool {
        self.split(a).0 == self.split(b).0
    }

    fn length(&mut self, n: T) -> Result<(i64, Option<T>), Why> {
        if let Some(n) = self.terms.as_const(n) {
            let n = n.to_i64().filter(|n| *n <= KNOWN_COPY_MAX);
            return n.map(|n| (n, None)).ok_or_else(|| Why::Memory("a copy that is longer than any object".into()));
        }
        if !self.terms.public(n) {
            return Err(Why::Secret(super::Leak::Address, self.secret(n)));
        }
        let hi = self.terms.range(n).1.to_i64().filter(|h| *h <= COPY_MAX);
        hi.map(|h| (h, Some(n))).ok_or_else(|| Why::Unsupported("a copy of unbounded length".into()))
    }

    /// Copies through a list of all bytes read first, so that overlap does no harm.
    fn copy(&mut self, state: &mut State, name: &str, (dst, src): (T, T), n: T) -> Result<(), Why> {
        if (name == "memmove" || dst == src || !self.same_object(dst, src)) && self.whole_copied(state, dst, Filling::Array(src), n)? {
            return Ok(());
        }
        let (count, guard) = self.length(n)?;
        self.may_copy(name, dst, src, count)?;
        let parts = match guard {
            None => self.parts(state, src, count),
            Some(_) => (0..count).map(|k| (k, 1)).collect(),
        };
        let mut words = vec![];
        for (at, bytes) in &parts {
            let (path, here, known) = (state.path, self.after(src, *at), state.conditions.len());
            if let Some(n) = guard {
                let k = self.terms.int(*at);
                let inside = self.terms.lt(k, n);
                state.path = self.terms.and(path, inside, 1);
                state.conditions.push(inside);
            }
            let word = if state.path == Terms::ZERO { Ok(Terms::ZERO) } else { self.load(state, here, *bytes) };
            state.path = path;
            state.conditions.truncate(known);
            words.push(word?);
        }
        for ((at, bytes), word) in parts.into_iter().zip(words) {
            self.put(state, dst, at, (bytes, word), guard)?;
        }
        Ok(())
    }

    fn fill(&mut self, state: &mut State, dst: T, byte: T, n: T) -> Result<(), Why> {
        let byte = self.terms.mod2k(byte, 8);
        if self.whole_copied(state, dst, Filling::Byte(byte), n)? {
            return Ok(());
        }
        let (count, guard) = self.length(n)?;
        let mut at = 0;
        while at < count {
            let bytes = if guard.is_none() && count - at >= 4 { 4 } else { 1 };
            let ones = (0..bytes).fold(BigInt::ZERO, |s, k| s + (BigInt::one() << (8 * k)));
            let word = self.terms.scale(byte, &ones);
            self.put(state, dst, at, (bytes, word), guard)?;
            at += i64::from(bytes);
        }
        Ok(())
    }

    /// Stores a word at `dst + at`; with a guard only where `at` is below it.
    fn put(&mut self, state: &mut State, dst: T, at: i64, (bytes, word): (u32, T), guard: Option<T>) -> Result<(), Why> {
        let to = self.after(dst, at);
        let word = match guard {
            None => word,
            Some(n) => {
                let k = self.terms.int(at);
                let inside = self.terms.lt(k, n);
                if inside == Terms::ZERO {
                    return Ok(());
                }
                let old = self.load(state, to, bytes)?;
                self.terms.ite(inside, word, old)
            }
        };
        self.store(state, to, bytes, word)
    }

    fn after(&mut self, base: T, at: i64) -> T {
        let at = self.terms.int(at);
        self.terms.add(base, at)
    }

    /// Cuts `count` bytes into words, at the borders of the words that are there.
    fn parts(&mut self, state: &State, src: T, count: i64) -> Vec<(i64, u32)> {
        let (object, offset) = self.split(src);
        let start = self.terms.as_const(offset).and_then(|o| o.to_i64());
        let mut borders = vec![];
        if let (Some(k), Some(start)) = (object, start) {
            for (at, cell) in state.objects[k].cells().range(start - 16..start + count) {
                borders.push(at - start);
                borders.push(at - start + i64::from(cell.bytes));
            }
        } else {
            let (step, _) = self.terms.stride(offset);
            let step = if step.bit(0) || count % 4 != 0 { 1 } else { 4 };
            borders.extend((0..count).step_by(step));
        }
        borders.push(0);
        borders.push(count);
        borders.retain(|b| (0..=count).contains(b));
        borders.sort_unstable();
        borders.dedup();
        let mut parts = vec![];
        for pair in borders.windows(2) {
            let mut at = pair[0];
            while at < pair[1] {
                let left = pair[1] - at;
                let bytes = [8, 4, 2, 1].into_iter().find(|b| *b <= left && at % b == 0).unwrap_or(1);
                let bytes = if pair[1] - pair[0] == 16 && left == 16 { 16 } else { bytes };
                parts.push((at, bytes as u32));
                at += bytes;
            }
        }
        parts
    }
}
