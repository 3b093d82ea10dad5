//! Ways to wanted functions through a large pool.
//!
//! A list of everything several gates away would be too long; what is one gate away is kept, and each new gate is looked at once
//! for each wanted function.
//! Trusted: text.

use crate::map::Map;
use crate::pool::{plain, Op, Pool, Reach, Way, Word};
use std::collections::BTreeMap;

/// Look-ups for one function that nothing within three gates gives.
const DEEP_MAX: usize = 3_000_000;
/// Work for one function that is to be an exclusive or with something masked.
const MASKED_MAX: usize = 150_000;
const MASKED_WANTED: usize = 30;
/// Inputs on which the masked operand may be anything.
const FREE_LEAST: u32 = 15;
/// Functions that are looked at so deeply for one choice.
const DEEP_WANTED: usize = 12;

/// What is one gate away, and the best way so far to each function.
pub struct Scout {
    /// Values of what is in `reach` and one gate away at most, by place.
    values: Vec<Word>,
    /// Place in `reach` of each member that has been paired with the earlier ones.
    members: Vec<u32>,
    ways: BTreeMap<Word, Way>,
}

impl Scout {
    pub fn new(pool: &mut Pool) -> Scout {
        pool.reach.clear();
        pool.by_value = Map::new();
        Scout { values: Vec::new(), members: Vec::new(), ways: BTreeMap::new() }
    }

    /// The cheapest way to any wanted function, without a list of what is several gates away.
    pub fn cheapest(&mut self, pool: &mut Pool, wanted: &[Word]) -> Option<Way> {
        let from = pool.reach.len();
        let promoted = self.pair(pool);
        self.values.extend(pool.reach[self.values.len()..].iter().map(|r| r.value));
        let new: Vec<u32> = promoted.into_iter().chain(from as u32..pool.reach.len() as u32).collect();
        for w in wanted {
            self.look(pool, *w, &new);
        }
        let found = wanted.iter().filter_map(|w| self.ways.get(w)).min_by_key(|way| pool.cost(way)).copied();
        if found.is_some_and(|way| pool.cost(&way) <= 3) {
            return found;
        }
        let masked = wanted.iter().take(MASKED_WANTED).find_map(|w| self.masked(pool, *w));
        masked.or(found).or_else(|| wanted.iter().take(DEEP_WANTED).find_map(|w| self.deep(pool, *w)))
    }

    /// Looks for a better way to a function through what is new.
    fn look(&mut self, pool: &Pool, w: Word, new: &[u32]) {
        let mut best = self.ways.get(&w).copied();
        if let Some(a) = pool.by_value.get(w) {
            best = Some(Way { a, b: None });
        }
        let mut least = best.map_or(u8::MAX, |way| pool.cost(&way));
        for x in new {
            let Some(y) = pool.by_value.get(plain(w ^ pool.reach[*x as usize].value)) else { continue };
            let way = Way { a: *x, b: Some(y) };
            if pool.cost(&way) < least {
                least = pool.cost(&way);
                best = Some(way);
            }
        }
        if let Some(way) = best {
            self.ways.insert(w, way);
        }
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
