//! Terms that depend on one value of few possibilities, such as the index of a table: what holds of them is settled by trying
//! all.

use super::atom::Atom;
use super::{Terms, A, T};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

/// Possibilities tried at most.
const VALUES_MAX: u32 = 16;

impl Terms {
    /// A property of a term as a comparison of the one value it depends on with a constant, if it is one.
    pub(crate) fn by_values(&mut self, t: T, holds: fn(&BigInt) -> bool) -> Option<T> {
        if self.poly(t).len() > 4 {
            return None;
        }
        let base = self.base_of(t)?;
        if self.atom_is_bit(base) || self.poly(t).iter().all(|(m, _)| self.monos[*m as usize].iter().all(|a| *a == base)) {
            return None;
        }
        let (lo, hi) = (self.atoms[base as usize].lo.clone(), self.atoms[base as usize].hi.clone());
        let mut yes = vec![];
        let mut x = lo.clone();
        while x <= hi {
            yes.push(holds(&self.value_at(t, base, &x)));
            x += 1;
        }
        let base = self.atom_term(base);
        let changes: Vec<usize> = (1..yes.len()).filter(|k| yes[*k] != yes[k - 1]).collect();
        let at = |k: usize| &lo + k;
        let test = match changes[..] {
            [] => Terms::ONE,
            [k] => {
                let limit = self.int(at(k));
                self.lt(base, limit)
            }
            [k, next] if next == k + 1 => {
                let here = self.int(at(k));
                let hit = self.eq(base, here);
                self.not_bit(hit)
            }
            _ => return None,
        };
        Some(if yes[0] { test } else { self.not_bit(test) })
    }

    /// The atom that alone decides the value, of few possibilities.
    fn base_of(&self, t: T) -> Option<A> {
        let mut base = None;
        for (m, _) in self.poly(t).iter() {
            for a in &self.monos[*m as usize] {
                let root = match self.atoms[*a as usize].atom {
                    Atom::Div(x, _) | Atom::Neg(x) | Atom::Zero(x) => self.base_of(x)?,
                    _ => *a,
                };
                if *base.get_or_insert(root) != root {
                    return None;
                }
            }
        }
        let i = &self.atoms[base? as usize];
        (&i.hi - &i.lo < BigInt::from(VALUES_MAX)).then_some(base?)
    }

    fn value_at(&self, t: T, base: A, x: &BigInt) -> BigInt {
        let mut sum = BigInt::zero();
        for (m, c) in self.poly(t).iter() {
            let atoms = self.monos[*m as usize].iter();
            sum += atoms.fold(c.clone(), |product, a| product * self.atom_at(*a, base, x));
        }
        sum
    }

    fn atom_at(&self, a: A, base: A, x: &BigInt) -> BigInt {
        if a == base {
            return x.clone();
        }
        let bit = |b: bool| BigInt::from(u8::from(b));
        match self.atoms[a as usize].atom {
            Atom::Div(t, k) => self.value_at(t, base, x).div_floor(&(BigInt::one() << k)),
            Atom::Neg(t) => bit(self.value_at(t, base, x).is_negative()),
            Atom::Zero(t) => bit(self.value_at(t, base, x).is_zero()),
            _ => BigInt::zero(),
        }
    }
}
