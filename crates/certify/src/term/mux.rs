//! A choice bit by bit, `x & y | ~x & z`, as the sum that it is.
//!
//! Needs: exclusive sums of products ([`super::bits`]).  Keeps: the two parts have no bit in common, so that their sum, their
//! exclusive sum and their union are one.  Absent: functions where no word has a name; there bits stay bits.

use super::{Terms, T};

impl Terms {
    /// `p q + (r - p r)` for the exclusive sum of `p q`, `p r` and `r`: compilers add the parts of a choice to what it is added
    /// to one by one.
    pub(super) fn choice(&mut self, products: &[Vec<T>], w: u32) -> Option<T> {
        if !self.has_names() || products.len() != 3 {
            return None;
        }
        let alone = products.iter().find(|p| p.len() == 1)?;
        let r = alone[0];
        let pairs: Vec<&Vec<T>> = products.iter().filter(|p| p.len() == 2).collect();
        let [a, b] = pairs[..] else { return None };
        let (with, other) = match (a.contains(&r), b.contains(&r)) {
            (true, false) => (a, b),
            (false, true) => (b, a),
            _ => return None,
        };
        let p = *with.iter().find(|t| **t != r)?;
        if !other.contains(&p) {
            return None;
        }
        let chosen = self.from_products([other.clone()].into(), w);
        let rest = self.from_products([alone.clone(), with.clone()].into(), w);
        let sum = self.side_by_side(chosen, rest);
        self.choices.entry(sum).or_insert_with(|| products.to_vec());
        Some(sum)
    }
}
