//! Conditions of the code that are conditions of the source in another form.
//!
//! A carry is written in many ways, and what is chosen by it inherits the way: unlike the source's from there on, and longer at
//! each further choice. So a condition takes the source's form where the ways part.
//!
//! Needs: [`super::settle`].  Keeps: the condition given back is equal on every input.  Absent: conditions that are open for
//! another reason than their form.

use super::atom::Atom;
use super::{Terms, A, T};
use std::collections::BTreeSet;

/// Conditions of the source that are tried for one.
const CANDIDATES: usize = 3;
/// Levels of definitions a question may open.
const LEVELS: u32 = 12;

impl Terms {
    /// A condition of the source that those of the machine may turn out to be.
    pub fn expect_condition(&mut self, bit: T) {
        if self.as_const(bit).is_some() || self.settling.conditions.contains_key(&bit) {
            return;
        }
        let known = self.unknowns(bit);
        self.settling.conditions.insert(bit, known);
    }

    /// The condition of the source that this one is, or whose negation it is, in the source's form; else the bit itself.
    pub fn like_condition(&mut self, bit: T) -> T {
        if !self.settling.on || self.as_const(bit).is_some() {
            return bit;
        }
        let negated = self.not_bit(bit);
        if let Some(known) = self.settling.found.get(&bit) {
            return *known;
        }
        let mine = self.unknowns(bit);
        let alike = |(other, theirs): (&T, &BTreeSet<A>)| {
            let (common, apart) = (mine.intersection(theirs).count(), mine.symmetric_difference(theirs).count());
            let same = |t: T| self.values[t.0 as usize] == self.values[other.0 as usize];
            (common > 0 && (same(bit) || same(negated))).then_some((apart, *other))
        };
        let mut list: Vec<(usize, T)> = self.settling.conditions.iter().filter_map(alike).collect();
        list.sort_unstable();
        list.truncate(CANDIDATES);
        let mut form = bit;
        for (_, other) in list {
            if self.settled_within(bit, other, LEVELS) {
                form = other;
                break;
            }
            if self.settled_within(negated, other, LEVELS) {
                form = self.not_bit(other);
                break;
            }
        }
        self.settling.found.insert(bit, form);
        form
    }

    /// Inputs, names and results of calls that the term is made of.
    pub(super) fn unknowns(&self, t: T) -> BTreeSet<A> {
        let (mut found, mut seen, mut open) = (BTreeSet::new(), BTreeSet::from([t]), vec![t]);
        while let Some(t) = open.pop() {
            for a in self.poly(t).iter().flat_map(|(m, _)| &self.monos[*m as usize]) {
                let parts: Vec<T> = match &self.atoms[*a as usize].atom {
                    Atom::Div(x, _) | Atom::DivBy(x, _) | Atom::Neg(x) | Atom::Zero(x) => vec![*x],
                    Atom::Pick(list, x) => list.iter().chain([x]).copied().collect(),
                    Atom::Bits(products) => products.iter().flatten().copied().collect(),
                    Atom::Or(list) => list.clone(),
                    Atom::Name(x) if self.atom_is_bit(*a) => vec![*x],
                    Atom::Var(_) | Atom::Name(_) | Atom::Read(..) | Atom::Out(..) => {
                        found.insert(*a);
                        vec![]
                    }
                };
                open.extend(parts.into_iter().filter(|x| seen.insert(*x)));
            }
        }
        found
    }
}
