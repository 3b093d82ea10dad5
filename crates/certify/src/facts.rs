//! What assumed conditions say of terms: knowledge of a path, beside [`crate::term`], which knows what holds on all inputs.
//!
//! Needs: bounds.  Keeps: an answer is a proof: a sum of the term and non-negative multiples of facts that cannot reach zero; no
//! term remembers it, for what terms remember is private to their module. A term put in the place of another has the same value
//! where the facts hold and any other elsewhere. Answers are compared with the samples on which their facts hold.  Absent:
//! completeness.

use crate::term::{Atom, Terms, A, T};
use num_bigint::BigInt;
use num_traits::{One, Signed};
use std::collections::BTreeSet;

/// Facts used together in one answer.
const TOGETHER: u32 = 3;
/// Facts looked at: those found last.
const FACTS_MAX: usize = 48;
/// Summands of a term, and of a fact, that is looked at.
const LONG: usize = 16;
/// Summands of a bit that is a fact by itself.
const BIT_MAX: usize = 4;
/// Quotients whose remainders are facts, twice.
const QUOTIENTS_MAX: usize = 12;
/// Tests and quotients that are settled by facts at one point.
const OPEN_MAX: usize = 24;
/// Quotients by two to this many bits are carries out of words.
const WHOLE: u32 = 24;
/// Summands of a term in which a bit settles comparisons.
const SETTLED_MAX: usize = 64;
/// Sums one answer may try.
const SUMS_MAX: u32 = 300;
/// Quotients in each other that are looked into.
const DEPTH: u32 = 3;
/// Bits in a test that are looked at case by case.
const CASES: u32 = 3;
/// Bits used on one term: those known last; and how often one is put in.
const BITS_MAX: usize = 16;
const PUT_MAX: u32 = 200;

impl Terms {
    /// Compares an answer with the samples on which these bits are 1 and none of these facts is negative.
    fn judged(&mut self, rule: &str, (bits, facts): (&[T], &[T]), holds: impl Fn(&Terms, usize) -> bool) {
        let here = |n: usize| bits.iter().all(|b| self.sample(*b, n).is_one()) && !facts.iter().any(|f| self.sample(*f, n).is_negative());
        if let Some(n) = (0..self.samples()).find(|n| here(*n) && !holds(self, *n)) {
            self.fault(format!("{rule} does not hold on sample {n}"));
        }
    }

    /// A term that is not negative where `bit` is 1, if `bit` is a comparison or a short sum.
    pub fn fact(&mut self, bit: T) -> Option<T> {
        let Some((atom, holds)) = self.literal(bit) else {
            let short = self.is_bit(bit) && self.poly(bit).len() <= BIT_MAX;
            return short.then(|| self.sub(bit, Terms::ONE));
        };
        match (self.kind(atom), holds) {
            (Atom::Neg(p), false) => Some(*p),
            (Atom::Neg(p), true) => {
                let minus = self.neg(*p);
                Some(self.sub(minus, Terms::ONE))
            }
            _ => None,
        }
    }

    /// Terms that are not negative where `bit` is 1 and none of `facts` is negative.
    pub fn facts(&mut self, bit: T, facts: &[T]) -> Vec<T> {
        let mut found: Vec<T> = self.fact(bit).into_iter().collect();
        if let Some((Atom::Zero(p), holds)) = self.literal(bit).map(|(a, holds)| (self.kind(a).clone(), holds)) {
            let minus = self.neg(p);
            let (below, above) = (self.sub(p, Terms::ONE), self.sub(minus, Terms::ONE));
            if holds {
                found.extend([p, minus]);
            } else if self.negative_under(above, facts) {
                found.push(below);
            } else if self.negative_under(below, facts) {
                found.push(above);
            }
        }
        // floor(p / 2^k) is at least c where p is at least 2^k c.
        for t in found.clone() {
            let (rest, c) = self.without_constant(t);
            let Some(a) = self.as_atom(rest) else { continue };
            let Atom::Div(p, k) = *self.kind(a) else { continue };
            let c = self.int(c << k);
            found.push(self.add(p, c));
        }
        self.judged("a fact of a bit", (&[bit], facts), |s, n| !found.iter().any(|t| s.sample(*t, n).is_negative()));
        found
    }

    /// The same bit wherever none of `facts` is negative, in the form that the source may know: `[p == 0]` is `[p < 1]` where
    /// `p` is never negative, and a sign inside a sign goes where it decides nothing.
    pub(crate) fn plainer(&mut self, bit: T, facts: &[T]) -> T {
        let Some((a, holds)) = self.literal(bit) else { return bit };
        let new = match *self.kind(a) {
            Atom::Zero(p) => self.zero_in_case(p, facts).or_else(|| self.as_order(p, facts)),
            Atom::Neg(p) => self.without_sign(p, facts).map(|p| self.lt0(p)),
            _ => None,
        };
        let new = match new {
            Some(new) if holds => new,
            Some(new) => self.not_bit(new),
            None => bit,
        };
        self.judged("a plainer test", (&[], facts), |s, n| s.sample(new, n) == s.sample(bit, n));
        new
    }

    /// `[p == 0]` where `p` holds a test that must have one result for that: this result, and what is left of `p` then.
    fn zero_in_case(&mut self, p: T, facts: &[T]) -> Option<T> {
        for (m, _) in self.poly(p).clone().iter().take(LONG) {
            let [a] = self.factors(*m)[..] else { continue };
            let (Atom::Neg(q) | Atom::Zero(q)) = *self.kind(a) else { continue };
            let tests_zero = matches!(*self.kind(a), Atom::Zero(_));
            for one in [true, false] {
                let other = self.with_bit(p, a, !one);
                if !self.nonzero_under(other, facts) {
                    continue;
                }
                let (rest, bit) = (self.with_bit(p, a, one), self.atom_term(a));
                let minus = self.neg(q);
                if one && tests_zero && (rest == q || rest == minus) {
                    return Some(bit);
                }
                let (bit, rest) = (if one { bit } else { self.not_bit(bit) }, self.eq0(rest));
                return Some(self.and(bit, rest, 1));
            }
        }
        None
    }

    fn as_order(&mut self, p: T, facts: &[T]) -> Option<T> {
        let (lo, hi) = self.range(p);
        if !lo.is_negative() || !hi.is_positive() {
            // Bounds say so by themselves: both sides have the form for that.
            return None;
        }
        let minus = self.neg(p);
        for (t, opposite) in [(p, minus), (minus, p)] {
            let below = self.sub(opposite, Terms::ONE);
            if self.negative_under(below, facts) {
                let first = self.sub(t, Terms::ONE);
                return Some(self.lt0(first));
            }
        }
        None
    }

    /// A term of the same sign with one of the signs in it set to a constant.
    fn without_sign(&mut self, p: T, facts: &[T]) -> Option<T> {
        for (m, _) in self.poly(p).clone().iter().take(LONG) {
            let [a] = self.factors(*m)[..] else { continue };
            let Atom::Neg(q) = *self.kind(a) else { continue };
            let minus = self.neg(q);
            let negative = self.sub(minus, Terms::ONE);
            let both = [self.with_bit(p, a, true), self.with_bit(p, a, false)];
            // Where the sign is not the one put in, the term has the same sign nevertheless.
            for (k, other) in [(0, q), (1, negative)] {
                let mut facts = facts.to_vec();
                facts.push(other);
                let sign = self.sign_under(both[k], &facts);
                if sign.is_some() && sign == self.sign_under(both[1 - k], &facts) {
                    return Some(both[k]);
                }
            }
        }
        None
    }

    /// Whether `t` is negative wherever none of the facts is; `None`: not known.
    fn sign_under(&mut self, t: T, facts: &[T]) -> Option<bool> {
        if self.negative_under(t, facts) {
            return Some(true);
        }
        let minus = self.neg(t);
        let below = self.sub(minus, Terms::ONE);
        self.negative_under(below, facts).then_some(false)
    }

    /// The atom a bit is, and whether it is it or its opposite.
    pub(crate) fn literal(&mut self, bit: T) -> Option<(A, bool)> {
        if let Some(a) = self.as_atom(bit) {
            return Some((a, true));
        }
        let not = self.not_bit(bit);
        self.as_atom(not).map(|a| (a, false))
    }

    /// Atoms whose values are known wherever `bits` are 1 and none of `facts` is negative: these bits, and tests and quotients
    /// found in `terms`.
    pub(crate) fn pinned(&mut self, terms: &[T], bits: &[T], facts: &[T]) -> Vec<(A, bool)> {
        self.pinned_from(terms, bits, facts, WHOLE)
    }

    /// [`Terms::pinned`] with quotients by two to at least so many bits.
    fn pinned_from(&mut self, terms: &[T], bits: &[T], facts: &[T], least: u32) -> Vec<(A, bool)> {
        let last = &bits[bits.len().saturating_sub(BITS_MAX)..];
        let mut known: Vec<(A, bool)> = last.iter().filter_map(|b| self.literal(*b)).collect();
        let mut open = BTreeSet::new();
        for t in terms {
            self.decided(*t, (DEPTH, least), &mut open);
        }
        for a in open {
            let value = match *self.kind(a) {
                Atom::Neg(p) => self.sign_under(p, facts),
                Atom::Zero(p) => self.nonzero_under(p, facts).then_some(false),
                Atom::Div(p, k) => self.small_under(p, k, facts).then_some(false),
                _ => None,
            };
            known.extend(value.map(|v| (a, v)));
        }
        let values: Vec<(T, bool)> = known.iter().map(|(a, v)| (self.atom_term(*a), *v)).collect();
        self.judged("a known test", (bits, facts), |s, n| values.iter().all(|(t, v)| s.sample(*t, n).is_one() == *v));
        known
    }

    /// Whether `bit` is 0 wherever none of `facts` is negative.
    pub(crate) fn never_under(&mut self, bit: T, facts: &[T]) -> bool {
        if let Some(fact) = self.fact(bit) {
            return self.negative_under(fact, facts);
        }
        match self.literal(bit).map(|(a, holds)| (self.kind(a).clone(), holds)) {
            Some((Atom::Zero(p), true)) => self.nonzero_under(p, facts),
            Some((Atom::Zero(p), false)) => self.zero_under(p, facts),
            _ => false,
        }
    }

    /// Whether two tests for zero have one result wherever none of `facts` is negative, each way the bits in the first may be.
    pub(crate) fn same_test_under(&mut self, a: T, b: T, facts: &[T]) -> bool {
        let same = self.same_test_in_cases(a, b, facts, CASES);
        if same {
            self.judged("one result of two tests", (&[], facts), |s, n| s.sample(a, n) == s.sample(b, n));
        }
        same
    }

    /// Whether a test is 1 where `left` is not positive and nowhere else, wherever none of `facts` is negative.
    pub(crate) fn tests_end(&mut self, bit: T, left: T, facts: &[T]) -> bool {
        let (more, none) = (self.facts(bit, facts), self.neg(left));
        let (below, not) = (self.sub(left, Terms::ONE), self.not_bit(bit));
        let ends = self.negative_under(below, &[facts, &more].concat()) && self.never_under(not, &[facts, &[none]].concat());
        if ends {
            self.judged("a test of the end", (&[], facts), |s, n| s.sample(bit, n).is_one() != s.sample(left, n).is_positive());
        }
        ends
    }

    fn same_test_in_cases(&mut self, a: T, b: T, facts: &[T], cases: u32) -> bool {
        if a == b {
            return true;
        }
        let (Some(p), Some(q)) = (self.tested(a), self.tested(b)) else { return false };
        let (d, s) = (self.sub(p, q), self.add(p, q));
        if [d, s].into_iter().any(|t| self.zero_under(t, facts)) {
            return true;
        }
        let bits: BTreeSet<A> = self.poly(p).iter().flat_map(|(m, _)| self.factors(*m).to_vec()).collect();
        let Some(bit) = bits.into_iter().find(|bit| cases > 0 && self.atom_is_bit(*bit)) else { return false };
        [true, false].into_iter().all(|one| {
            let term = self.atom_term(bit);
            let here = if one { term } else { self.not_bit(term) };
            let more = self.facts(here, facts);
            let facts = [facts, &more].concat();
            let p = self.with_bit(p, bit, one);
            let a = self.eq0(p);
            self.same_test_in_cases(a, b, &facts, cases - 1)
        })
    }

    /// The term that a bit tests for zero.
    fn tested(&mut self, bit: T) -> Option<T> {
        let (a, holds) = self.literal(bit)?;
        match *self.kind(a) {
            Atom::Zero(p) if holds => Some(p),
            _ => None,
        }
    }

    fn zero_under(&mut self, t: T, facts: &[T]) -> bool {
        let minus = self.neg(t);
        self.sign_under(t, facts) == Some(false) && self.sign_under(minus, facts) == Some(false)
    }

    fn nonzero_under(&mut self, p: T, facts: &[T]) -> bool {
        let minus = self.neg(p);
        self.negative_under(p, facts) || self.negative_under(minus, facts)
    }

    /// `p` lies in `0 .. 2^k`.
    fn small_under(&mut self, p: T, k: u32, facts: &[T]) -> bool {
        let top = self.int(BigInt::one() << k);
        let over = self.sub(p, top);
        self.negative_under(over, facts) && self.sign_under(p, facts) == Some(false)
    }

    /// Atoms that conditions may decide.
    fn decided(&self, t: T, (depth, least): (u32, u32), found: &mut BTreeSet<A>) {
        if self.poly(t).len() > LONG {
            return;
        }
        for a in self.poly(t).iter().flat_map(|(m, _)| self.factors(*m)) {
            let (inner, itself) = match *self.kind(*a) {
                Atom::Neg(p) | Atom::Zero(p) => (p, true),
                Atom::Div(p, k) => (p, k >= least),
                _ => continue,
            };
            if itself && found.len() < OPEN_MAX {
                found.insert(*a);
            }
            if depth > 0 {
                self.decided(inner, (depth - 1, least), found);
            }
        }
    }

    /// A bit that multiplies one of `bases` in `t`, if there is one.
    pub(crate) fn bit_of_base(&mut self, t: T, bases: &[T]) -> Option<T> {
        let bases: Vec<A> = bases.iter().filter_map(|b| self.poly(*b).last()).flat_map(|(m, _)| self.factors(*m).to_vec()).collect();
        let bit = self.poly(t).iter().find_map(|(m, _)| {
            let atoms = self.factors(*m);
            let mixed = atoms.len() > 1 && atoms.iter().any(|a| bases.contains(a));
            atoms.iter().copied().find(|a| mixed && self.atom_is_bit(*a))
        })?;
        Some(self.atom_term(bit))
    }

    /// A term with the same value wherever `bit` is 1, its comparisons that `bit` settles put in.
    pub(crate) fn settled_by(&mut self, t: T, bit: T) -> T {
        let new = self.settled_tests(t, bit);
        self.judged("a settled test", (&[bit], &[]), |s, n| s.sample(new, n) == s.sample(t, n));
        new
    }

    fn settled_tests(&mut self, mut t: T, bit: T) -> T {
        if self.poly(t).len() > SETTLED_MAX {
            return t;
        }
        let all: BTreeSet<A> = self.poly(t).iter().flat_map(|(m, _)| self.factors(*m).to_vec()).collect();
        for a in all {
            if !matches!(*self.kind(a), Atom::Neg(_) | Atom::Zero(_)) {
                continue;
            }
            let test = self.atom_term(a);
            match self.mul(bit, test) {
                Terms::ZERO => t = self.with_bit(t, a, false),
                p if p == bit => t = self.with_bit(t, a, true),
                _ => {}
            }
        }
        t
    }

    /// A term with the same value wherever this bit is 1.
    pub(crate) fn where_bit(&mut self, t: T, bit: T) -> T {
        match self.literal(bit) {
            Some(known) => self.given(t, &[known]),
            None => t,
        }
    }

    /// A term with the same value wherever these atoms are 1 or 0; they are looked for in quotients too.
    pub(crate) fn given(&mut self, t: T, known: &[(A, bool)]) -> T {
        let new = self.given_deep(t, known, DEPTH, &mut { PUT_MAX });
        if new != t {
            let mut bits = vec![];
            for (a, holds) in known {
                let test = self.atom_term(*a);
                bits.push(if *holds { test } else { self.not_bit(test) });
            }
            self.judged("known tests put in", (&bits, &[]), |s, n| s.sample(new, n) == s.sample(t, n));
        }
        new
    }

    /// A term with the same value wherever none of `facts` is negative.
    pub(crate) fn under(&mut self, t: T, facts: &[T]) -> T {
        let known = self.pinned(&[t], &[], facts);
        self.given(t, &known)
    }

    /// [`Terms::under`], all quotients looked at.
    pub(crate) fn short_under(&mut self, t: T, facts: &[T]) -> T {
        let known = self.pinned_from(&[t], &[], facts, 0);
        self.given(t, &known)
    }

    fn given_deep(&mut self, mut t: T, known: &[(A, bool)], depth: u32, left: &mut u32) -> T {
        for (a, holds) in known {
            if *left == 0 || self.poly(t).len() > LONG {
                return t;
            }
            *left -= 1;
            t = self.with_bit(t, *a, *holds);
        }
        if depth == 0 || known.is_empty() {
            return t;
        }
        for (m, c) in self.poly(t).clone().iter() {
            let [a] = self.factors(*m)[..] else { continue };
            let Atom::Div(q, k) = *self.kind(a) else { continue };
            let new = self.given_deep(q, known, depth - 1, left);
            if new != q {
                let (old, new) = (self.div2k(q, k), self.div2k(new, k));
                let d = self.sub(new, old);
                t = self.combine(t, c, d);
            }
        }
        t
    }

    /// Whether `t` is negative wherever none of the facts is.
    pub fn negative_under(&mut self, t: T, facts: &[T]) -> bool {
        let last = &facts[facts.len().saturating_sub(FACTS_MAX)..];
        let mut short: Vec<T> = last.iter().copied().filter(|f| self.poly(*f).len() <= LONG).collect();
        let known = self.quotients(&short, t);
        short.extend(known);
        let negative = self.sinks(t, &short, TOGETHER, &mut { SUMS_MAX });
        if negative {
            self.judged("a sign", (&[], last), |s, n| s.sample(t, n).is_negative());
        }
        negative
    }

    /// What the quotients in facts and in a term are: their remainders are neither negative nor too large.
    fn quotients(&mut self, facts: &[T], t: T) -> Vec<T> {
        let mut found = vec![];
        for t in facts.iter().chain([&t]) {
            for (m, _) in self.poly(*t).clone().iter() {
                let [a] = self.factors(*m)[..] else { continue };
                let Atom::Div(q, k) = *self.kind(a) else { continue };
                if found.len() >= QUOTIENTS_MAX || self.poly(q).len() > LONG {
                    continue;
                }
                let quotient = self.atom_term(a);
                let whole = self.shl(quotient, k);
                let rest = self.sub(q, whole);
                if found.contains(&rest) {
                    continue;
                }
                let top = self.int((BigInt::one() << k) - 1);
                let above = self.sub(top, rest);
                found.extend([rest, above]);
                // At most floor(c / 2^k), where what is divided is at most c.
                for fact in facts {
                    let most = self.add(*fact, q);
                    if let Some(c) = self.as_const(most) {
                        let most = self.int(c >> k);
                        found.push(self.sub(most, quotient));
                    }
                }
            }
        }
        found
    }

    fn sinks(&mut self, t: T, facts: &[T], depth: u32, left: &mut u32) -> bool {
        if self.range(t).1.is_negative() {
            return true;
        }
        if depth == 0 || self.poly(t).len() > LONG {
            return false;
        }
        for fact in facts {
            // Every monomial of opposite signs can be made to vanish: |b| t + |a| fact.
            let mine = self.poly(t).clone();
            let theirs = self.poly(*fact).clone();
            for (m, a) in mine.iter().filter(|(m, _)| *m != 0) {
                let Some((_, b)) = theirs.iter().find(|(n, b)| n == m && b.is_negative() != a.is_negative()) else { continue };
                if *left == 0 {
                    return false;
                }
                *left -= 1;
                let scaled = if b.abs().is_one() { t } else { self.scale(t, &b.abs()) };
                let sum = self.combine(scaled, &a.abs(), *fact);
                if sum != t && self.sinks(sum, facts, depth - 1, left) {
                    return true;
                }
            }
        }
        false
    }
}
