//! Bits as polynomials over tests: two forms of one Boolean function are one polynomial once names in them are multiplied out.
//!
//! Needs: polynomials.  Keeps: an answer is a proof: a name is what it names, and products are exact.  Absent: functions whose
//! polynomial is long; these are left as they are.

use super::atom::Atom;
use super::{Terms, T};
use num_bigint::BigInt;
use std::collections::HashMap;

/// Summands of a function that is multiplied out.
const SUMMANDS_MAX: usize = 64;
/// Summands and names one answer may look at.
const STEPS_MAX: usize = 2_000;

impl Terms {
    /// Whether two terms are the same once names of bits in them are multiplied out, whichever parts of them have names:
    /// `(a or b) and c` is `a c + b c - a b c`, in whatever order it was put together.
    pub(crate) fn same_bits(&mut self, a: T, b: T) -> bool {
        if a == b {
            return true;
        }
        if self.values[a.0 as usize] != self.values[b.0 as usize] {
            return false;
        }
        let (mut known, mut left) = (HashMap::new(), STEPS_MAX);
        let a = self.without_names(a, &mut known, &mut left);
        a.is_some() && a == self.without_names(b, &mut known, &mut left)
    }

    /// The term with every name of a bit multiplied out. `None`: too long.
    fn without_names(&mut self, t: T, known: &mut HashMap<T, T>, left: &mut usize) -> Option<T> {
        if let Some(r) = known.get(&t) {
            return Some(*r);
        }
        if self.poly(t).len() > SUMMANDS_MAX {
            return None;
        }
        let mut sum = Terms::ZERO;
        for (m, c) in self.poly(t).clone().iter() {
            *left = left.checked_sub(1)?;
            let (mut plain, mut named) = (vec![], vec![]);
            for a in self.monos[*m as usize].clone() {
                match self.atoms[a as usize].atom {
                    Atom::Name(x) if self.atom_is_bit(a) => named.push(x),
                    _ => plain.push(a),
                }
            }
            let plain = self.mono(plain);
            let mut product = self.intern(vec![(plain, c.clone())]);
            for x in named {
                let x = self.without_names(x, known, left)?;
                if self.poly(product).len() * self.poly(x).len() > SUMMANDS_MAX {
                    return None;
                }
                product = self.multiplied(product, x);
            }
            sum = self.combine(sum, &BigInt::from(1), product);
        }
        let sum = self.check("bits without names", sum, |s, n| s.sample(t, n).clone());
        known.insert(t, sum);
        Some(sum)
    }
}
