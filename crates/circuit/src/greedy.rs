//! Wanted functions join the pool, the cheapest first.
//! Trusted: text.

use crate::pool::{plain, Op, Pool, Reach, Way, Word, VARIABLES};
use std::collections::BTreeMap;

/// What is wanted of a pool. Taking a function may change what else is wanted.
pub trait Wishes {
    /// Functions wanted now, up to complement, and how many others nobody wants any more when it is taken.
    fn wanted(&self) -> Vec<(Word, usize)>;
    /// The function is in the pool, or constant.
    fn taken(&mut self, w: Word);
}

/// Look-ups for one function that nothing within three gates gives.
const DEEP_MAX: usize = 3_000_000;
/// Work for one function that is to be an exclusive or with something masked.
const MASKED_MAX: usize = 150_000;
const MASKED_WANTED: usize = 30;
/// Inputs on which the masked operand may be anything.
const FREE_LEAST: u32 = 15;
/// Functions that are looked at so deeply for one choice.
const DEEP_WANTED: usize = 12;

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

    /// A function of fewer variables, for which searches mostly do not end.
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

/// Ways to wanted functions through a large pool: only what is new is looked at again.
struct Scout {
    /// Values of what is in `reach` and one gate away at most, by place.
    values: Vec<Word>,
    /// Place in `reach` of each member that has been paired with the earlier ones.
    members: Vec<u32>,
    ways: BTreeMap<Word, Way>,
}

impl Scout {
    fn new(pool: &mut Pool) -> Scout {
        pool.reach.clear();
        pool.by_value = crate::map::Map::new();
        Scout { values: Vec::new(), members: Vec::new(), ways: BTreeMap::new() }
    }

    fn cheapest(&mut self, pool: &mut Pool, wanted: &[Word]) -> Option<Way> {
        let from = pool.reach.len();
        let promoted = self.pair(pool);
        self.values.extend(pool.reach[self.values.len()..].iter().map(|r| r.value));
        let new: Vec<u32> = promoted.into_iter().chain(from as u32..pool.reach.len() as u32).collect();
        for w in wanted {
            let mut best = self.ways.get(w).copied();
            let cost = |pool: &Pool, way: &Option<Way>| way.map_or(u8::MAX, |way| pool.cost(&way));
            let mut least = cost(pool, &best);
            if let Some(a) = pool.by_value.get(*w) {
                best = Some(Way { a, b: None });
                least = cost(pool, &best);
            }
            for x in &new {
                let Some(y) = pool.by_value.get(plain(w ^ pool.reach[*x as usize].value)) else { continue };
                let way = Way { a: *x, b: Some(y) };
                if pool.cost(&way) < least {
                    least = pool.cost(&way);
                    best = Some(way);
                }
            }
            if let Some(way) = best {
                self.ways.insert(*w, way);
            }
        }
        let found = wanted.iter().filter_map(|w| self.ways.get(w)).min_by_key(|way| pool.cost(way)).copied();
        if found.is_some_and(|way| pool.cost(&way) <= 3) {
            return found;
        }
        let masked = wanted.iter().take(MASKED_WANTED).find_map(|w| self.masked(pool, *w));
        masked.or(found).or_else(|| wanted.iter().take(DEEP_WANTED).find_map(|w| self.deep(pool, *w)))
    }

    /// Notes the gates of new members with all others; gives members that had been noted as gates before.
    fn pair(&mut self, pool: &mut Pool) -> Vec<u32> {
        let mut promoted = Vec::new();
        for k in self.members.len() as u32..pool.made.len() as u32 {
            let value = pool.made[k as usize].value;
            let member = Reach { value, op: Op::Not, cost: 0, a: k, b: k };
            let at = match pool.by_value.get(plain(value)) {
                Some(at) if pool.reach[at as usize].cost > 0 && pool.reach[at as usize].value == value => {
                    pool.reach[at as usize] = member;
                    promoted.push(at);
                    at
                }
                Some(_) => {
                    pool.reach.push(member);
                    pool.reach.len() as u32 - 1
                }
                None => {
                    pool.note(member);
                    pool.reach.len() as u32 - 1
                }
            };
            for m in &self.members {
                pool.note_pair(at, *m, 1);
            }
            self.members.push(at);
        }
        promoted
    }

    /// An exclusive or of a member and an and (or) of a member and something one gate away.
    fn masked(&self, pool: &mut Pool, w: Word) -> Option<Way> {
        let mut left = MASKED_MAX;
        for p in &self.members {
            let rest = w ^ pool.reach[*p as usize].value;
            for q in &self.members {
                let mask = pool.reach[*q as usize].value;
                // By rest or its complement, as an and or an or: where the other operand is free.
                let ways = [(Op::And, rest, !mask), (Op::And, !rest, !mask), (Op::Or, !rest, mask), (Op::Or, rest, mask)];
                for (op, want, free) in ways {
                    if want & free != 0 && op == Op::And || op == Op::Or && !want & free != 0 {
                        continue;
                    }
                    // Most of the bits left to agree on, hardly anything does.
                    if free.count_ones() < FREE_LEAST {
                        continue;
                    }
                    left = left.checked_sub(self.values.len() / 8)?;
                    if let Some(s) = self.values.iter().position(|v| (v ^ want) & !free == 0) {
                        let value = op.of(pool.reach[s].value, mask);
                        let cost = pool.reach[s].cost + 1;
                        pool.reach.push(Reach { value, op, cost, a: s as u32, b: *q });
                        return Some(Way { a: pool.reach.len() as u32 - 1, b: Some(*p) });
                    }
                }
            }
        }
        None
    }

    /// An exclusive or of something one gate away and something two gates away.
    fn deep(&self, pool: &mut Pool, w: Word) -> Option<Way> {
        let size = pool.reach.len();
        let from = pool.random.below(size);
        let mut left = DEEP_MAX;
        for k in 0..size {
            let x = (from + k) % size;
            let s = pool.reach[x];
            if s.cost != 1 {
                continue;
            }
            left = left.checked_sub(3 * self.members.len())?;
            for m in &self.members {
                let p = pool.reach[*m as usize].value;
                for op in [Op::Xor, Op::And, Op::Or] {
                    let value = op.of(s.value, p);
                    let Some(y) = pool.by_value.get(plain(w ^ value)) else { continue };
                    pool.reach.push(Reach { value, op, cost: 2, a: x as u32, b: *m });
                    return Some(Way { a: pool.reach.len() as u32 - 1, b: Some(y) });
                }
            }
        }
        None
    }
}
