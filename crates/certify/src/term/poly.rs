//! Sums and products.

use super::atom::{Atom, AtomInfo};
use super::{Terms, A, M, T};
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Products are multiplied out up to this many summands; factors of more are named first.
const PRODUCT_MAX: usize = 3000;

/// Summands of a bit of which one is put in terms of its name, such names in one question, and summands of all that comes of it.
const SHORT_BIT: usize = 6;
const NAMES_MAX: usize = 8;
const WRITTEN_MAX: usize = 4000;

/// A polynomial by the atoms of its monomials.
type Long = BTreeMap<Vec<A>, BigInt>;

/// Which values get a name where they are assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Naming {
    /// Those of at least so many summands
    pub least: usize,
    /// in at most so many machine words.
    pub words: u32,
}

impl Terms {
    pub fn add(&mut self, a: T, b: T) -> T {
        self.combine(a, &BigInt::one(), b)
    }

    pub fn sub(&mut self, a: T, b: T) -> T {
        self.combine(a, &-BigInt::one(), b)
    }

    pub fn neg(&mut self, a: T) -> T {
        self.scale(a, &-BigInt::one())
    }

    /// `a + k b`
    pub(crate) fn combine(&mut self, a: T, k: &BigInt, b: T) -> T {
        if k.is_zero() || b == Terms::ZERO {
            return a;
        }
        if a == Terms::ZERO {
            return self.scale(b, k);
        }
        let (x, y) = (self.poly(a).clone(), self.poly(b).clone());
        let mut out = Vec::with_capacity(x.len() + y.len());
        let (mut i, mut j) = (0, 0);
        while i < x.len() || j < y.len() {
            let order = match (x.get(i), y.get(j)) {
                (Some((m, _)), Some((n, _))) => m.cmp(n),
                (Some(_), None) => std::cmp::Ordering::Less,
                _ => std::cmp::Ordering::Greater,
            };
            match order {
                std::cmp::Ordering::Less => {
                    out.push(x[i].clone());
                    i += 1;
                }
                std::cmp::Ordering::Greater => {
                    out.push((y[j].0, &y[j].1 * k));
                    j += 1;
                }
                std::cmp::Ordering::Equal => {
                    let c = &x[i].1 + &y[j].1 * k;
                    if !c.is_zero() {
                        out.push((x[i].0, c));
                    }
                    i += 1;
                    j += 1;
                }
            }
        }
        let t = self.intern(out);
        let ((alo, ahi), (blo, bhi)) = (self.range(a), self.range(b));
        let (blo, bhi) = if k.is_negative() { (bhi * k, blo * k) } else { (blo * k, bhi * k) };
        self.note_range(t, &(alo + blo), &(ahi + bhi));
        t
    }

    pub fn scale(&mut self, a: T, k: &BigInt) -> T {
        if k.is_zero() {
            return Terms::ZERO;
        }
        if k.is_one() {
            return a;
        }
        let p = self.poly(a).iter().map(|(m, c)| (*m, c * k)).collect();
        let t = self.intern(p);
        let (lo, hi) = self.range(a);
        let (lo, hi) = if k.is_negative() { (hi * k, lo * k) } else { (lo * k, hi * k) };
        self.note_range(t, &lo, &hi);
        t
    }

    pub(crate) fn shl(&mut self, a: T, k: u32) -> T {
        self.scale(a, &(BigInt::one() << k))
    }

    pub fn mul(&mut self, a: T, b: T) -> T {
        if let Some(c) = self.as_const(a) {
            return self.scale(b, &c);
        }
        if let Some(c) = self.as_const(b) {
            return self.scale(a, &c);
        }
        if let Some(t) = self.mul_bits(a, b) {
            return self.check("bits", t, |s, n| s.sample(a, n) * s.sample(b, n));
        }
        let (bit_a, bit_b) = (self.is_bit(a), self.is_bit(b));
        let mut a = if bit_a { self.factor(a, bit_b) } else { a };
        let mut b = if bit_b { self.factor(b, bit_a) } else { b };
        // Bits multiply without growth: naming them would hide that they are 0 or 1.
        while self.poly(a).len() * self.poly(b).len() > PRODUCT_MAX {
            if self.poly(a).len() >= self.poly(b).len() {
                a = self.name(a);
            } else {
                b = self.name(b);
            }
        }
        let t = self.multiplied(a, b);
        self.check("product", t, |s, n| s.sample(a, n) * s.sample(b, n))
    }

    /// The product, summand by summand.
    pub(crate) fn multiplied(&mut self, a: T, b: T) -> T {
        let (x, y) = (self.poly(a).clone(), self.poly(b).clone());
        let mut sum: BTreeMap<M, BigInt> = BTreeMap::new();
        for (m, c) in x.iter() {
            for (n, d) in y.iter() {
                if let Some(mn) = self.times(*m, *n) {
                    *sum.entry(mn).or_default() += c * d;
                }
            }
        }
        let t = self.intern(sum.into_iter().filter(|(_, c)| !c.is_zero()).collect());
        let ((alo, ahi), (blo, bhi)) = (self.range(a), self.range(b));
        let ends = [&alo * &blo, &alo * &bhi, &ahi * &blo, &ahi * &bhi];
        if let (Some(lo), Some(hi)) = (ends.iter().min(), ends.iter().max()) {
            self.note_range(t, lo, hi);
        }
        t
    }

    /// A bit as a factor: one atom or one minus it; of another bit, also a product of atoms.
    fn factor(&mut self, bit: T, product: bool) -> T {
        let (base, _) = self.without_constant(bit);
        let [.., (m, lead)] = &**self.poly(base) else { return bit };
        let atoms = self.monos[*m as usize].len();
        let (single, negative) = (self.poly(base).len() == 1 && (product || atoms == 1), lead.is_negative());
        if single {
            return bit;
        }
        if let Some(one) = self.single_value(bit) {
            return one;
        }
        if negative {
            let other = self.not_bit(bit);
            let named = self.name(other);
            return self.not_bit(named);
        }
        self.name(bit)
    }

    /// A bit made of comparisons of one value with constants, where it differs from its usual value at one point alone: the
    /// test for that point.
    fn single_value(&mut self, bit: T) -> Option<T> {
        let summands = self.poly(bit).clone();
        let mut tests: Vec<(BigInt, bool, BigInt)> = vec![];
        let (mut constant, mut base) = (BigInt::zero(), None);
        for (m, factor) in summands.iter() {
            match self.monos[*m as usize][..] {
                [] => constant = factor.clone(),
                [a] => {
                    let (b, c, is_neg) = self.comparison(a)?;
                    if *base.get_or_insert(b) != b {
                        return None;
                    }
                    tests.push((-c, is_neg, factor.clone()));
                }
                _ => return None,
            }
        }
        let base = base?;
        let (lo, hi) = self.range(base);
        let at = |x: &BigInt| {
            let holds = |(limit, is_neg, _): &&(BigInt, bool, BigInt)| if *is_neg { x < limit } else { x == limit };
            tests.iter().filter(holds).fold(constant.clone(), |sum, (_, _, factor)| sum + factor)
        };
        // Between these points and their neighbours nothing changes.
        let mut points: Vec<BigInt> = tests.iter().flat_map(|(c, _, _)| [c - 1, c.clone(), c + 1]).collect();
        points.extend([lo.clone(), hi.clone()]);
        points.retain(|x| *x >= lo && *x <= hi);
        for usual in [BigInt::zero(), BigInt::one()] {
            let mut others: Vec<&BigInt> = points.iter().filter(|x| at(x) != usual).collect();
            others.sort_unstable();
            others.dedup();
            let [x] = others[..] else { continue };
            let alone = (*x == lo || at(&(x - 1)) == usual) && (*x == hi || at(&(x + 1)) == usual);
            if alone && (at(x) - &usual).magnitude().is_one() {
                let x = self.int(x.clone());
                let test = self.eq(base, x);
                return Some(if usual.is_zero() { test } else { self.not_bit(test) });
            }
        }
        None
    }

    /// Two bits that exclude or imply each other.
    fn mul_bits(&mut self, a: T, b: T) -> Option<T> {
        if !self.is_bit(a) || !self.is_bit(b) {
            return None;
        }
        let sum = self.add(a, b);
        if self.range(sum).1.is_one() {
            return Some(Terms::ZERO);
        }
        let d = self.sub(a, b);
        let (lo, hi) = self.range(d);
        if !lo.is_negative() {
            return Some(b);
        }
        (!hi.is_positive()).then_some(a)
    }

    /// A term as one atom, for products that would be too long.
    pub(crate) fn name(&mut self, t: T) -> T {
        if let Some(n) = self.named.get(&t) {
            return *n;
        }
        let (lo, hi) = self.range(t);
        let named = self.atom(Atom::Name(t), |s| AtomInfo {
            atom: Atom::Name(t),
            lo,
            hi,
            public: s.public(t),
            values: s.range_values(t),
            spread: 0,
        });
        self.named.insert(t, named);
        named
    }

    /// A value of at least `least` summands by names, one for each machine word of it; the machine's words that are equal to
    /// these take the same names ([`Terms::renamed`]). Bits stay as they are: named, they would exclude nothing any more.
    pub fn name_value(&mut self, t: T, Naming { least, words }: Naming) -> T {
        let word = self.word;
        let bits = self.spread(t) + u32::from(self.range(t).0.is_negative());
        // Of a borrow, too, which is 0 or -1.
        let one_bit = self.is_bit(t) || self.range(t) == (-BigInt::one(), BigInt::zero());
        if self.poly(t).len() < least || one_bit || bits > words * word {
            return t;
        }
        let mut sum = Terms::ZERO;
        for at in (0..bits).step_by(word as usize) {
            let piece = self.div2k(t, at);
            let piece = if at + word < bits { self.mod2k(piece, word) } else { piece };
            let named = if self.poly(piece).len() > 1 { self.name(piece) } else { piece };
            let (from, to) = (self.mod2k(piece, word), self.mod2k(named, word));
            if from != to {
                self.rename(from, to);
            }
            self.expect(from);
            let up = self.shl(named, at);
            sum = self.add(sum, up);
        }
        let (lo, hi) = self.range(t);
        self.note_range(sum, &lo, &hi);
        sum
    }

    /// Product of two monomials; `None` is zero. Bits are idempotent, and of comparisons of one value with several
    /// constants the strongest is kept.
    fn times(&mut self, m: M, n: M) -> Option<M> {
        if m == 0 {
            return Some(n);
        }
        if n == 0 {
            return Some(m);
        }
        let mut atoms = self.monos[m as usize].clone();
        for a in self.monos[n as usize].clone() {
            self.times_atom(&mut atoms, a)?;
        }
        atoms.sort_unstable();
        Some(self.mono(atoms))
    }

    fn times_atom(&mut self, atoms: &mut Vec<A>, a: A) -> Option<()> {
        let bit = self.atom_is_bit(a);
        if bit && atoms.contains(&a) {
            return Some(());
        }
        if let (true, Atom::Name(t)) = (bit, self.atoms[a as usize].atom.clone()) {
            return self.times_name(atoms, (a, t));
        }
        let Some((base, c, is_neg)) = bit.then(|| self.comparison(a)).flatten() else {
            // x [x == 0]
            for other in atoms.clone() {
                if self.tests_zero_of(other, a) {
                    return None;
                }
            }
            atoms.push(a);
            return Some(());
        };
        for other in atoms.clone() {
            if self.tests_zero_of(a, other) {
                return None;
            }
        }
        for k in 0..atoms.len() {
            let Some((base_k, c_k, is_neg_k)) = self.comparison(atoms[k]) else { continue };
            if base_k != base {
                continue;
            }
            match (is_neg_k, is_neg) {
                // base + c < 0 and base + d < 0: the larger constant decides
                (true, true) => {
                    if c > c_k {
                        atoms[k] = a;
                    }
                    return Some(());
                }
                // base = -c fixes the other
                (false, false) => return None,
                (false, true) => return if c < c_k { Some(()) } else { None },
                (true, false) => {
                    if c_k >= c {
                        return None;
                    }
                    atoms[k] = a;
                    return Some(());
                }
            }
        }
        atoms.push(a);
        Some(())
    }

    /// Whether `x` is 0 where the test holds: `[x == 0]`, and `[p < 2^k]` of the quotient of `p`, never negative, by `2^k`.
    fn tests_zero_of(&mut self, test: A, x: A) -> bool {
        match (self.atoms[test as usize].atom.clone(), self.atoms[x as usize].atom.clone()) {
            (Atom::Zero(p), _) => self.as_atom(p) == Some(x),
            (Atom::Neg(p), Atom::Div(q, k)) => {
                let d = self.sub(q, p);
                let below = self.as_const(d).is_some_and(|d| d <= BigInt::one() << k);
                below && !self.range(q).0.is_negative()
            }
            _ => false,
        }
    }

    /// Whether the terms are equal once, for every short bit that has a name, one of its summands is written in terms of the
    /// name: `x` as `n - u` for a name `n` of `x + u`.
    pub(crate) fn same(&mut self, a: T, b: T) -> bool {
        if a == b {
            return true;
        }
        let d = self.sub(a, b);
        let mut sum: Long = self.poly(d).iter().map(|(m, c)| (self.monos[*m as usize].clone(), c.clone())).collect();
        let mut gone: Vec<A> = vec![];
        while let Some((x, instead)) = self.one_summand(&sum, &gone) {
            let Some(new) = self.put(&sum, x, &instead) else { return false };
            sum = new;
            gone.push(x);
        }
        sum.is_empty()
    }

    /// A summand `x`, one atom, of a named bit, and what it is in terms of the name.
    fn one_summand(&self, sum: &Long, gone: &[A]) -> Option<(A, Long)> {
        if gone.len() >= NAMES_MAX {
            return None;
        }
        let names = sum.keys().flatten().filter_map(|n| match self.atoms[*n as usize].atom {
            Atom::Name(u) if self.atom_is_bit(*n) && self.poly(u).len() <= SHORT_BIT => Some((*n, u)),
            _ => None,
        });
        for (n, u) in names {
            let single = |(m, c): &&(M, BigInt)| match self.monos[*m as usize][..] {
                [x] => c.magnitude().is_one() && !self.atom_is_bit(x) && !gone.contains(&x),
                _ => false,
            };
            // Where one was put in, the name is written in full already.
            if self.poly(u).iter().any(|(m, _)| self.monos[*m as usize].iter().any(|x| gone.contains(x))) {
                continue;
            }
            let Some((m, c)) = self.poly(u).iter().find(single) else { continue };
            let mut instead: Long = self.poly(u).iter().filter(|(k, _)| k != m).map(|(k, d)| (self.monos[*k as usize].clone(), -d * c)).collect();
            *instead.entry(vec![n]).or_default() += c;
            return Some((self.monos[*m as usize][0], instead));
        }
        None
    }

    /// The polynomial with something in the place of an atom; `None` if that is long.
    fn put(&self, sum: &Long, x: A, instead: &Long) -> Option<Long> {
        let mut out = Long::new();
        for (atoms, c) in sum {
            let rest: Vec<A> = atoms.iter().copied().filter(|a| *a != x).collect();
            let mut parts: Vec<(Vec<A>, BigInt)> = vec![(rest.clone(), c.clone())];
            for _ in rest.len()..atoms.len() {
                parts = parts.iter().flat_map(|(y, c)| instead.iter().map(move |(z, d)| ([&y[..], &z[..]].concat(), c * d))).collect();
            }
            for (mut atoms, c) in parts {
                atoms.sort_unstable();
                atoms.dedup_by(|a, b| a == b && self.atom_is_bit(*a));
                *out.entry(atoms).or_default() += c;
            }
            if out.len() > WRITTEN_MAX {
                return None;
            }
        }
        out.retain(|_, c| !c.is_zero());
        Some(out)
    }

    /// A bit that has a name, as one more factor: of two of which one implies the other, that one is kept.
    fn times_name(&mut self, atoms: &mut Vec<A>, (a, t): (A, T)) -> Option<()> {
        for k in 0..atoms.len() {
            let Atom::Name(u) = self.atoms[atoms[k] as usize].atom else { continue };
            match self.ordered((a, t), (atoms[k], u)) {
                Some(Ordering::Greater) => return Some(()),
                Some(_) => {
                    atoms[k] = a;
                    return Some(());
                }
                None => {}
            }
        }
        atoms.push(a);
        Some(())
    }

    /// Of two bits with names, the one that the other implies is the greater; `None`: neither implies the other.
    fn ordered(&mut self, (a, t): (A, T), (b, u): (A, T)) -> Option<Ordering> {
        if let Some(known) = self.ordered.get(&(a, b)) {
            return *known;
        }
        let short = self.poly(t).len() + self.poly(u).len() <= 2 * SHORT_BIT;
        let order = (short && self.is_bit(u)).then(|| self.sub(t, u)).map(|d| self.range(d)).and_then(|(lo, hi)| match () {
            _ if !lo.is_negative() => Some(Ordering::Greater),
            _ if !hi.is_positive() => Some(Ordering::Less),
            _ => None,
        });
        self.ordered.insert((a, b), order);
        order
    }

    pub(crate) fn atom_is_bit(&self, a: A) -> bool {
        let i = &self.atoms[a as usize];
        i.lo.is_zero() && i.hi.is_one()
    }

    /// For `[base + c < 0]` (true) and `[base + c == 0]` (false): base without constant, and c.
    fn comparison(&mut self, a: A) -> Option<(T, BigInt, bool)> {
        let (p, is_neg) = match self.atoms[a as usize].atom {
            Atom::Neg(p) => (p, true),
            Atom::Zero(p) => (p, false),
            _ => return None,
        };
        let (base, c) = self.without_constant(p);
        Some((base, c, is_neg))
    }

    /// Two zero tests that cannot both hold.
    pub(crate) fn exclude(&mut self, x: A, y: A) -> bool {
        match (self.comparison(x), self.comparison(y)) {
            (Some((p, c, false)), Some((q, d, false))) => p == q && c != d,
            _ => false,
        }
    }

    /// `t / g`, where g divides every coefficient.
    pub(crate) fn exactly(&mut self, t: T, g: &BigInt) -> T {
        let p = self.poly(t).iter().map(|(m, c)| (*m, c / g)).collect();
        self.intern(p)
    }

    /// The other summands.
    pub(crate) fn without_summand(&mut self, t: T, m: M) -> T {
        let rest = self.poly(t).iter().filter(|(n, _)| *n != m).cloned().collect();
        self.intern(rest)
    }

    /// Splits off the constant summand.
    pub(crate) fn without_constant(&mut self, t: T) -> (T, BigInt) {
        match self.poly(t).first() {
            Some((0, c)) => {
                let (c, rest) = (c.clone(), self.poly(t)[1..].to_vec());
                (self.intern(rest), c)
            }
            _ => (t, BigInt::zero()),
        }
    }
}
