//! Wanted functions join the pool, the cheapest first.
//! Trusted: text.

use crate::pool::{plain, Op, Pool, Word, VARIABLES};
use crate::scout::Scout;

/// What is wanted of a pool. Taking a function may change what else is wanted.
pub trait Wishes {
    /// Functions wanted now, up to complement, and how many others nobody wants any more when it is taken.
    fn wanted(&self) -> Vec<(Word, usize)>;
    /// The function is in the pool, or constant.
    fn taken(&mut self, w: Word);
}

impl Pool {
    /// Makes everything that is wanted.
    pub fn gather(&mut self, wishes: &mut dyn Wishes) {
        let mut scout = None;
        loop {
            let mut wanted = self.open(wishes);
            if wanted.is_empty() {
                return;
            }
            self.random.shuffle(&mut wanted);
            wanted.sort_by_key(|w| w.1);
            let wanted: Vec<Word> = wanted.into_iter().map(|w| w.0).collect();
            if !self.is_small() {
                if let Some(way) = scout.get_or_insert_with(|| Scout::new(self)).cheapest(self, &wanted) {
                    self.follow(way);
                    continue;
                }
                scout = None;
            }
            let dbg = self.cheapest(&wanted);
            match dbg {
                Some(way) => self.follow(way),
                None => self.expand(wanted[0]),
            }
        }
    }

    /// What is wanted and not there.
    fn open(&self, wishes: &mut dyn Wishes) -> Vec<(Word, usize)> {
        loop {
            let mut wanted: Vec<(Word, usize)> = wishes.wanted().into_iter().map(|(w, loss)| (plain(w), loss)).collect();
            wanted.sort_unstable();
            wanted.dedup_by_key(|w| w.0);
            let there: Vec<Word> = wanted.iter().map(|w| w.0).filter(|w| *w == 0 || self.find(*w).is_some()).collect();
            if there.is_empty() {
                return wanted;
            }
            there.into_iter().for_each(|w| wishes.taken(w));
        }
    }

    /// Makes a function by the halves it has for one of the variables: what is left where searches end.
    fn expand(&mut self, w: Word) {
        if plain(w) != 0 {
            self.expanded(w);
        }
    }

    /// A member that is `w` or its complement; `w` is not constant.
    fn expanded(&mut self, w: Word) -> u32 {
        if let Some(k) = self.find(w) {
            return k;
        }
        let distance = |p: &Pool, w: Word| if plain(w) == 0 { 0 } else { p.by_value.get(plain(w)).map_or(9, |r| p.reach[r as usize].cost) };
        let choices = (0..self.variables).filter(|v| halves(w, *v).0 != halves(w, *v).1);
        let v = choices.min_by_key(|v| distance(self, halves(w, *v).0) + distance(self, halves(w, *v).0 ^ halves(w, *v).1)).unwrap_or(0);
        let (low, high) = halves(w, v);
        let differ = low ^ high;
        let mut masked = v as u32;
        if plain(differ) != 0 {
            let d = self.smaller(differ);
            let have = self.made[d as usize].value;
            masked = if have == differ {
                self.gate(Op::And, d, v as u32)
            } else {
                let not = self.gate(Op::Not, v as u32, v as u32);
                self.gate(Op::Or, d, not)
            };
        }
        if plain(low) == 0 {
            return masked;
        }
        let l = self.smaller(low);
        self.gate(Op::Xor, l, masked)
    }

    /// A function of fewer variables, to which a search mostly finds a way.
    fn smaller(&mut self, w: Word) -> u32 {
        if let Some(way) = self.cheapest(&[plain(w)]) {
            self.follow(way);
        }
        self.expanded(w)
    }
}

/// The function with a variable at 0, and at 1.
fn halves(w: Word, v: usize) -> (Word, Word) {
    let (high, shift) = (VARIABLES[v], 1 << v);
    let low = w & !high;
    (low | low << shift, (w & high) | (w & high) >> shift)
}
