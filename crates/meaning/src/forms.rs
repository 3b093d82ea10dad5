//! What words were put together of by operations on bits, so that words put together in another order get the same form.
//! Trusted: field, bytes, leaks.

use crate::poly::Poly;
use santoku_num::Itv;
use std::collections::{BTreeMap, BTreeSet};

/// What is remembered of words, each a polynomial.
#[derive(Clone, Debug, Default)]
pub struct Forms {
    /// Words, not zero, that give a word by `xor`.
    xors: BTreeMap<Poly, BTreeSet<Poly>>,
    /// Words that are another one, rotated to the left by a number of bits in words of a width.
    turns: BTreeMap<(Poly, u32), (Poly, u32)>,
    /// Bounds of words, closer than those of their terms.
    bounds: BTreeMap<Poly, Itv>,
}

impl Forms {
    /// Words that give this one by `xor`.
    pub fn parts(&self, p: &Poly) -> BTreeSet<Poly> {
        match self.xors.get(p) {
            Some(parts) => parts.clone(),
            None if p.is_zero() => BTreeSet::new(),
            None => [p.clone()].into(),
        }
    }
    /// Remembers that a word is the `xor` of others.
    pub fn made_of(&mut self, p: &Poly, parts: BTreeSet<Poly>) {
        if p.as_const().is_none() && !parts.contains(p) {
            self.xors.insert(p.clone(), parts);
        }
    }
    /// The word that this one is by a rotation to the left, and by how many bits: itself by none if nothing is known.
    pub fn turned(&self, p: &Poly, bits: u32) -> (Poly, u32) {
        self.turns.get(&(p.clone(), bits)).cloned().unwrap_or_else(|| (p.clone(), 0))
    }
    /// Remembers that a word is another one, rotated to the left.
    pub fn turned_from(&mut self, p: &Poly, (word, left, bits): (&Poly, u32, u32)) {
        if p.as_const().is_none() {
            self.turns.insert((p.clone(), bits), (word.clone(), left));
        }
    }
    /// Remembers bounds that hold on all executions.
    pub fn within(&mut self, p: &Poly, itv: Itv) {
        self.bounds.insert(p.clone(), itv);
    }
    pub fn bounds(&self, p: &Poly) -> Option<Itv> {
        self.bounds.get(p).cloned()
    }
    /// Remembers of a name what is known of the word that has it.
    pub fn named(&mut self, p: &Poly, name: &Poly) {
        if let Some(parts) = self.xors.get(p).cloned() {
            self.made_of(name, parts);
        }
        let turns: Vec<_> = self.turns.range((p.clone(), 0)..=(p.clone(), u32::MAX)).map(|(k, t)| (k.1, t.clone())).collect();
        self.turns.extend(turns.into_iter().map(|(bits, t)| ((name.clone(), bits), t)));
    }
}
