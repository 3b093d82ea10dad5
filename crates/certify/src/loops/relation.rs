//! Guesses: how a register or a word of memory follows the source at the head of a loop.
//!
//! Needs: what is known at the first arrival and after one lap.  Keeps: nothing; every guess is checked by the caller.

use super::source::{Carried, Cut, When};
use crate::term::{Terms, T};
use num_bigint::BigInt;
use std::collections::HashMap;

/// What a word of the machine is at the head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    Same(T),
    /// So much more with every round.
    Linear(T, BigInt),
    /// A word of a scalar that the source carries.
    Source(usize, View),
    /// An array of run-time length that the source carries.
    Array(usize),
    /// A 64-bit word whose low half is a scalar that the source carries, its high half anything.
    Low(usize),
    Nothing,
}

/// Part of a scalar: `bits` bits from bit `shift` on, of its two's complement; `sign`: bit 31 copied into the bits above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    pub shift: u32,
    pub bits: u32,
    pub sign: bool,
}

impl View {
    /// Whether it is the whole of a signed value.
    fn is_signed(self, c: &Carried) -> bool {
        c.unit.signed && self.shift == 0 && self.bits == 8 * c.unit.bytes
    }

    pub fn of(self, terms: &mut Terms, value: T) -> T {
        if self.sign {
            let low = terms.mod2k(value, 32);
            let signed = terms.signed(low, 32);
            return terms.mod2k(signed, self.bits);
        }
        let all = terms.mod2k(value, self.shift + self.bits);
        terms.div2k(all, self.shift)
    }
}

impl Relation {
    /// The word, or for [`Relation::Low`] its low half, at position `at` of the loop; `None`: any.
    pub fn value(&self, terms: &mut Terms, cut: &Cut, at: T, when: When) -> Option<T> {
        match self {
            Relation::Same(t) => Some(*t),
            Relation::Linear(first, step) => {
                let rounds = terms.sub(at, cut.lo);
                let rise = terms.scale(rounds, step);
                Some(terms.add(*first, rise))
            }
            Relation::Source(k, view) => Some(view.of(terms, cut.carried[*k].at(when))),
            Relation::Array(k) => Some(cut.carried[*k].at(when)),
            Relation::Low(k) => Some(terms.mod2k(cut.carried[*k].at(when), 32)),
            Relation::Nothing => None,
        }
    }

    /// Whether a word that is `t` is so; `None`: any is.
    pub fn holds(&self, terms: &mut Terms, cut: &Cut, (at, when): (T, When), t: Option<T>) -> Option<bool> {
        let want = self.value(terms, cut, at, when)?;
        Some(t.is_some_and(|t| match self {
            Relation::Low(_) => terms.mod2k(t, 32) == want,
            Relation::Source(k, view) => terms.same(t, want) || terms.settled(t, want) || view.is_signed(&cut.carried[*k]) && {
                let t = terms.signed(t, view.bits);
                terms.same(t, cut.carried[*k].at(when))
            },
            Relation::Same(_) | Relation::Linear(..) | Relation::Array(_) | Relation::Nothing => terms.same(t, want),
        }))
    }
}

/// Words of the scalars carried, by width and value, before the loop or after a round.
pub struct Index {
    of: fn(&Carried) -> T,
    by_width: HashMap<u32, HashMap<T, Vec<(usize, View)>>>,
}

impl Index {
    /// By value before the loop.
    pub fn before() -> Index {
        Index { of: |c| c.before, by_width: HashMap::new() }
    }

    /// By value after a round.
    pub fn next() -> Index {
        Index { of: |c| c.next, by_width: HashMap::new() }
    }

    /// A word that is `t`, if there is one.
    pub fn find(&mut self, terms: &mut Terms, cut: &Cut, bits: u32, t: T) -> Option<Relation> {
        let (k, view) = *self.width(terms, cut, bits).get(&t)?.first()?;
        Some(Relation::Source(k, view))
    }

    /// The source's array that has this number, if there is one.
    pub fn find_array(&self, cut: &Cut, number: T) -> Option<Relation> {
        cut.carried.iter().position(|c| c.is_array && (self.of)(c) == number).map(Relation::Array)
    }

    /// [`Index::guesses`] for an array of run-time length, by its numbers.
    pub fn array_guesses(&self, cut: &Cut, before: T, later: Option<T>) -> Vec<Relation> {
        let mut found: Vec<(bool, usize)> = vec![];
        for (k, c) in cut.carried.iter().enumerate().filter(|(_, c)| c.is_array && (self.of)(c) == before) {
            found.push((c.first.is_none() || c.first != later, k));
        }
        found.sort_unstable();
        let mut guesses: Vec<Relation> = found.into_iter().map(|(_, k)| Relation::Array(k)).collect();
        if later.is_none_or(|l| l == before) {
            guesses.insert(0, Relation::Same(before));
        }
        guesses.push(Relation::Nothing);
        guesses
    }

    fn width(&mut self, terms: &mut Terms, cut: &Cut, bits: u32) -> &HashMap<T, Vec<(usize, View)>> {
        let of = self.of;
        self.by_width.entry(bits).or_insert_with(|| {
            let mut found: HashMap<T, Vec<(usize, View)>> = HashMap::new();
            for (k, c) in cut.carried.iter().enumerate().filter(|(_, c)| !c.is_array) {
                let mut views: Vec<View> = vec![];
                let mut shift = 0;
                while shift < (8 * c.unit.bytes).max(bits.min(64)) {
                    views.push(View { shift, bits, sign: false });
                    shift += bits;
                }
                if bits == 64 && c.unit.bytes <= 4 {
                    views.push(View { shift: 0, bits, sign: true });
                    views.push(View { shift: 0, bits: 32, sign: false });
                }
                for view in views {
                    let t = view.of(terms, of(c));
                    found.entry(t).or_default().push((k, view));
                }
            }
            found
        })
    }

    /// Guesses for a word that is `before` at the first arrival and `later` after one lap, the best first: for words in memory
    /// what the source carries at the same offset, for registers what is no part of something longer.
    pub fn guesses(&mut self, terms: &mut Terms, cut: &Cut, (bits, offset): (u32, Option<i64>), before: T, later: Option<T>) -> Vec<Relation> {
        let mut found = vec![];
        if later.is_none_or(|l| l == before) {
            found.push(Relation::Same(before));
        }
        if let Some(later) = later.filter(|l| *l != before) {
            let d = terms.sub(later, before);
            if let Some(d) = terms.as_const(d) {
                found.push(Relation::Linear(before, d));
            }
        }
        let views = self.width(terms, cut, bits).get(&before).cloned().unwrap_or_default();
        let (mut sure, mut rest) = (vec![], vec![]);
        for (k, view) in views {
            let first = cut.carried[k].first.map(|t| view.of(terms, t));
            let fits = first.zip(later).is_some_and(|(first, later)| terms.same(first, later));
            if fits { sure.push(Relation::Source(k, view)) } else { rest.push(Relation::Source(k, view)) }
        }
        let far = |r: &Relation| match (r, offset) {
            (Relation::Source(k, _), Some(at)) => at != cut.carried[*k].unit.offset as i64,
            (Relation::Source(k, _), None) => !cut.carried[*k].alone,
            _ => true,
        };
        sure.sort_by_key(far);
        rest.sort_by_key(far);
        let low = sure.iter().chain(&rest).filter_map(|r| match r {
            Relation::Source(k, view) if bits == 64 && view.shift == 0 && cut.carried[*k].unit.bytes <= 4 => Some(Relation::Low(*k)),
            _ => None,
        });
        let low: Vec<Relation> = low.collect();
        sure.extend(found);
        sure.extend(rest);
        sure.extend(low);
        sure.push(Relation::Nothing);
        sure
    }
}
