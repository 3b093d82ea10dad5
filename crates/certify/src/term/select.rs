//! Choices: conditional values, elements of lists, uninterpreted results.

use super::atom::{Atom, AtomInfo, OutSpec};
use super::{Terms, T};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use santoku_num::SplitMix64;

impl Terms {
    /// `a` where `c` is not 0, `b` where it is.
    pub fn ite(&mut self, c: T, a: T, b: T) -> T {
        let c = self.as_bit(c);
        let r = self.ite_raw(c, a, b);
        self.check("ite", r, |s, n| if s.sample(c, n).is_zero() { s.sample(b, n).clone() } else { s.sample(a, n).clone() })
    }

    /// 1 where the term is not 0: itself, where it is known to be a bit on every input.
    pub(crate) fn as_bit(&mut self, c: T) -> T {
        if self.is_bit(c) {
            return c;
        }
        let zero = self.eq0(c);
        self.not_bit(zero)
    }

    /// [`Terms::ite`] for a bit.
    pub(super) fn ite_raw(&mut self, c: T, a: T, b: T) -> T {
        if c == Terms::ONE || a == b {
            return a;
        }
        if c == Terms::ZERO {
            return b;
        }
        let not = self.not_bit(c);
        let settled = |x: T, holds: bool| match x {
            _ if x == c => if holds { Terms::ONE } else { Terms::ZERO },
            _ if x == not => if holds { Terms::ZERO } else { Terms::ONE },
            _ => x,
        };
        let (a, b) = (settled(a, true), settled(b, false));
        let d = self.sub(a, b);
        let cd = self.mul(c, d);
        let r = self.add(b, cd);
        let ((alo, ahi), (blo, bhi)) = (self.range(a), self.range(b));
        self.note_range(r, &alo.min(blo), &ahi.max(bhi));
        r
    }

    /// `values[index]`. `None` where the index may lie outside the list.
    pub fn pick(&mut self, values: &[T], index: T) -> Option<T> {
        let (list, x) = match self.picked(values, index)? {
            Picked::Term(t) => return Some(t),
            Picked::Element(list, x) => (list, x),
        };
        let r = self.pick_atom(list, x);
        Some(self.check("pick", r, |s, n| {
            let i = s.sample(index, n).to_usize().unwrap_or(usize::MAX);
            values.get(i).map_or(BigInt::zero(), |v| s.sample(*v, n).clone())
        }))
    }

    /// What `values[index]` is an element of, by which index, once both are brought to one form for all who ask.
    fn picked(&mut self, values: &[T], index: T) -> Option<Picked> {
        let (lo, hi) = self.range(index);
        let (first, last) = (lo.to_usize()?, hi.to_usize()?);
        if last >= values.len() {
            return None;
        }
        let window = &values[first..=last];
        if window.iter().all(|v| *v == window[0]) {
            return Some(Picked::Term(window[0]));
        }
        let (base, c) = self.without_constant(index);
        let g = self.content(base);
        let g = if self.poly(base).last().is_some_and(|(_, c)| c.is_negative()) { -g } else { g };
        // index = g x + c: only every g-th element can be meant
        let x = self.exactly(base, &g);
        // The index lies in the window, which may say more of x than its own bounds.
        let ends = (BigInt::from(first) - &c, BigInt::from(last) - &c);
        let (low, high) = if g.is_negative() { (ends.1, ends.0) } else { ends };
        self.note_range(x, &low.div_ceil(&g), &high.div_floor(&g));
        let (xlo, xhi) = self.range(x);
        let count = (&xhi - &xlo).to_usize()?;
        let mut list = Vec::with_capacity(count + 1);
        for k in 0..=count {
            let at = &g * (&xlo + k) + &c;
            // A bound of x may be wider than that of the index: what lies outside the window is never meant.
            let inside = at.to_usize().filter(|i| (first..=last).contains(i));
            list.push(inside.map_or(Terms::ZERO, |i| values[i]));
        }
        let low = self.int(xlo);
        let x = self.sub(x, low);
        Some(Picked::Element(list, x))
    }

    /// `floor(t / 2^from) mod 2^bits`. Of an element of a list of constants it is an element of the list of their slices.
    pub(crate) fn slice(&mut self, t: T, from: u32, bits: u32) -> T {
        let list = self.as_atom(t).and_then(|a| match &self.atoms[a as usize].atom {
            Atom::Pick(list, x) => Some((list.clone(), *x)),
            _ => None,
        });
        if let Some((list, x)) = list.filter(|(list, _)| list.iter().all(|v| self.as_const(*v).is_some())) {
            let parts: Vec<T> = list.into_iter().map(|v| self.slice(v, from, bits)).collect();
            if let Some(r) = self.pick(&parts, x) {
                return self.check("slice", r, |s, n| (s.sample(t, n) >> from).mod_floor(&(BigInt::one() << bits)));
            }
        }
        let part = self.div2k(t, from);
        self.mod2k(part, bits)
    }

    fn pick_atom(&mut self, list: Vec<T>, x: T) -> T {
        if list.len() == 2 {
            return self.ite_raw(x, list[1], list[0]);
        }
        let lo = list.iter().map(|t| self.range(*t).0).min().unwrap_or_default();
        let hi = list.iter().map(|t| self.range(*t).1).max().unwrap_or_default();
        let atom = Atom::Pick(list.clone(), x);
        self.atom(atom.clone(), |s| AtomInfo {
            atom,
            lo,
            hi,
            public: s.public(x) && list.iter().all(|t| s.public(*t)),
            values: (0..s.samples)
                .map(|n| {
                    let i = s.sample(x, n).to_usize().unwrap_or(usize::MAX);
                    list.get(i).map_or(BigInt::zero(), |v| s.sample(*v, n).clone())
                })
                .collect(),
            spread: 0,
        })
    }

    /// Element of an array of run-time length, told apart by number. `value` gives an element on a sample.
    pub fn read(&mut self, array: u32, index: T, spec: &OutSpec, value: impl Fn(usize, &BigInt) -> BigInt) -> T {
        let atom = Atom::Read(array, index);
        self.atom(atom.clone(), |s| AtomInfo {
            atom,
            lo: spec.lo.clone(),
            hi: spec.hi.clone(),
            public: spec.public && s.public(index),
            values: (0..s.samples).map(|n| value(n, s.sample(index, n))).collect(),
            spread: 0,
        })
    }

    /// Results of a call that is not looked into: equal for equal arguments. The sample values are arbitrary but fixed by
    /// the arguments.
    pub fn call(&mut self, name: &str, args: &[T], outs: &[OutSpec]) -> Vec<T> {
        self.call_valued(name, args, outs, &[])
    }

    /// [`Terms::call`]; where it is new, with the values that its results (in a row) have on the samples, if they are known.
    pub fn call_valued(&mut self, name: &str, args: &[T], outs: &[OutSpec], known: &[Option<Vec<BigInt>>]) -> Vec<T> {
        let key = (name.to_string(), args.to_vec());
        if let Some(r) = self.calls.get(&key) {
            return r.clone();
        }
        let id = self.calls.len() as u32;
        let mut results = Vec::with_capacity(outs.len());
        for (k, out) in outs.iter().enumerate() {
            let atom = Atom::Out(id, k as u32);
            results.push(self.atom(atom.clone(), |s| AtomInfo {
                atom,
                lo: out.lo.clone(),
                hi: out.hi.clone(),
                public: out.public,
                values: (0..s.samples)
                    .map(|n| match known.get(n) {
                        Some(Some(values)) => values[k].clone(),
                        _ => arbitrary(s, args, (name, k), out, n),
                    })
                    .collect(),
                spread: 0,
            }));
        }
        self.calls.insert(key, results.clone());
        results
    }

    /// How often a call with these arguments was made on either side.
    pub fn called(&self, name: &str, args: &[T]) -> bool {
        self.calls.contains_key(&(name.to_string(), args.to_vec()))
    }

    /// The greatest step g and a remainder r such that the term is always `r mod g`; g is 1 or more.
    pub fn stride(&self, t: T) -> (BigInt, BigInt) {
        let g = self.content(t);
        let c = self.poly(t).first().filter(|(m, _)| *m == 0).map_or(BigInt::zero(), |(_, c)| c.clone());
        let g = if g.is_zero() { BigInt::one() } else { g };
        (g, c)
    }

    /// `t - base` where `base` (one atom with a coefficient) is a summand of `t` exactly.
    pub fn without(&mut self, t: T, base: T) -> Option<T> {
        let (m, c) = self.poly(base).last()?.clone();
        self.poly(t).iter().find(|(n, d)| *n == m && *d == c)?;
        Some(self.sub(t, base))
    }

    /// [`Terms::pick`], if that element of that list was asked for before. To ask leaves no trace: who asks next gets the same answer.
    pub fn known_pick(&mut self, values: &[T], index: T) -> Option<T> {
        if let Picked::Element(list, x) = self.picked(values, index)? {
            if list.len() > 2 && !self.atom_of.contains_key(&Atom::Pick(list, x)) {
                return None;
            }
        }
        self.pick(values, index)
    }
}

/// An element of a list of terms.
enum Picked {
    /// All elements that can be meant are this term.
    Term(T),
    Element(Vec<T>, T),
}

/// A value in range that depends on the arguments' values only.
fn arbitrary(s: &Terms, args: &[T], (name, k): (&str, usize), out: &OutSpec, n: usize) -> BigInt {
    let mut h = 0xcbf2_9ce4_8422_2325u64 ^ k as u64;
    let mut eat = |b: u8| h = (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
    name.bytes().for_each(&mut eat);
    for a in args {
        s.sample(*a, n).to_signed_bytes_le().into_iter().for_each(&mut eat);
        eat(0xff);
    }
    let span: BigInt = &out.hi - &out.lo + BigInt::one();
    let mut x = BigInt::zero();
    let mut random = SplitMix64::new(h);
    for _ in 0..=span.bits() / 64 {
        x = (x << 64u32) + random.next_u64();
    }
    debug_assert!(!span.is_negative());
    &out.lo + x.mod_floor(&span)
}
