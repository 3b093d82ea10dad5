//! One word of two ways that meet, where what is known here makes it the same on both.
//!
//! Needs: the facts of the path.  Keeps: the word that is kept is a word on every input, and where execution comes here, by
//! whichever way, it is what the code has.  Absent: secrets, whose choices stay choices.

use crate::term::{T, Terms};
use super::state::Exec;
use num_bigint::BigInt;
use num_traits::{One, Signed};

impl Exec<'_> {
    /// `x` where `c` is 1, `y` where it is 0. Where the source has loops to match, a choice such as the greater of a length and 2
    /// is the length, if that is known to be no less.
    pub(super) fn either(&mut self, c: T, x: T, y: T) -> T {
        if self.has_loops && [c, x, y].iter().all(|t| self.terms.public(*t)) {
            let not = self.terms.not_bit(c);
            for (word, other, when) in [(x, y, not), (y, x, c)] {
                if self.terms.as_const(word).is_none() && self.is_word(word) && self.same_where(word, other, when) {
                    return word;
                }
            }
        }
        self.terms.ite(c, x, y)
    }

    fn is_word(&self, t: T) -> bool {
        let (lo, hi) = self.terms.range(t);
        !lo.is_negative() && hi < BigInt::one() << self.code.xlen()
    }

    /// Whether two words are one wherever a condition holds here.
    fn same_where(&mut self, a: T, b: T, when: T) -> bool {
        let mut facts = self.facts.clone();
        let more = self.terms.facts(when, &facts);
        facts.extend(more);
        let (above, below) = (self.terms.sub(a, b), self.terms.sub(b, a));
        [above, below].into_iter().all(|d| {
            let d = self.terms.sub(d, Terms::ONE);
            self.terms.negative_under(d, &facts)
        })
    }
}
