//! Many functions of at most five variables by few gates.
//!
//! A pool of functions that have gates grows by the cheapest of the functions still wanted: what is one gate of the pool away, what
//! is one exclusive or of two such, and so on. Only the first exclusive or is guessed by meeting in the middle: a random function
//! is almost never an and of two others.
//! Trusted: text.

use crate::builder::Builder;
use crate::gates::Gate;
use crate::map::Map;
use crate::random::Random;

/// Values on 32 inputs. With four variables they repeat.
pub type Word = u32;

pub const VARIABLES: [Word; 5] = [0xaaaa_aaaa, 0xcccc_cccc, 0xf0f0_f0f0, 0xff00_ff00, 0xffff_0000];

/// A function up to complement.
pub fn plain(w: Word) -> Word {
    if w & 1 == 1 { !w } else { w }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    And,
    Or,
    Xor,
    Not,
}

impl Op {
    pub fn of(self, a: Word, b: Word) -> Word {
        match self {
            Op::And => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            Op::Not => !a,
        }
    }
}

/// A function within reach of the pool: `op` of two others, `cost` gates in all. Pool members have cost 0 and are numbered by `a`.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    pub value: Word,
    pub op: Op,
    pub cost: u8,
    pub a: u32,
    pub b: u32,
}

/// A gate of the pool: variables have none.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub value: Word,
    pub gate: Option<(Op, u32, u32)>,
}

/// The cheapest way found to a wanted function: the exclusive or of two within reach, or one alone.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub a: u32,
    pub b: Option<u32>,
}

/// Pool members up to which everything within several gates is listed anew for each choice.
const SMALL: usize = 44;
/// Pairs tried for one more level of functions within reach: where few functions are wanted, and where there are many to choose from.
const PAIRS_FEW: usize = 800_000;
const PAIRS_MANY: usize = 250_000;
/// Wanted functions that are many.
const MANY: usize = 9;
/// Look-ups per level when meeting in the middle.
const MEET_MAX: usize = 2_000_000;

/// Look-ups for what is not met there.
const DEEPER_MAX: usize = 8_000_000;

pub struct Pool {
    pub variables: usize,
    pub made: Vec<Made>,
    members: Map,
    pub reach: Vec<Reach>,
    /// Beginning in `reach` of each cost.
    starts: Vec<usize>,
    /// What is in `reach`, by function up to complement.
    pub by_value: Map,
    pub random: Random,
}

impl Pool {
    pub fn new(variables: usize, random: Random) -> Pool {
        let (members, by_value) = (Map::new(), Map::new());
        let mut pool = Pool { variables, made: Vec::new(), members, reach: Vec::new(), starts: Vec::new(), by_value, random };
        VARIABLES[..variables].iter().for_each(|v| pool.member(*v, None));
        pool
    }

    fn member(&mut self, value: Word, gate: Option<(Op, u32, u32)>) {
        self.members.insert(plain(value), self.made.len() as u32);
        self.made.push(Made { value, gate });
    }

    /// The member that is this function or its complement. Constants have none.
    pub fn find(&self, w: Word) -> Option<u32> {
        self.members.get(plain(w)).filter(|_| plain(w) != 0)
    }

    pub fn is_small(&self) -> bool {
        self.made.len() <= SMALL
    }

    pub fn note(&mut self, r: Reach) {
        let key = plain(r.value);
        if key != 0 && self.by_value.insert(key, self.reach.len() as u32) {
            self.reach.push(r);
        }
    }

    /// Notes all gates of two functions.
    pub fn note_pair(&mut self, x: u32, y: u32, cost: u8) {
        let (a, b) = (self.reach[x as usize].value, self.reach[y as usize].value);
        for op in [Op::Xor, Op::And, Op::Or] {
            self.note(Reach { value: op.of(a, b), op, cost, a: x, b: y });
        }
    }

    fn note_members(&mut self) {
        self.by_value = Map::new();
        self.reach.clear();
        for k in 0..self.made.len() as u32 {
            let value = self.made[k as usize].value;
            if self.by_value.insert(plain(value), self.reach.len() as u32) || self.reach.iter().all(|r| r.value != value) {
                self.reach.push(Reach { value, op: Op::Not, cost: 0, a: k, b: k });
            }
        }
        self.starts = vec![0, self.reach.len()];
    }

    /// Lists what is within reach, cost by cost, until a wanted function is met or there is no room.
    fn list(&mut self, wanted: &[Word]) {
        self.note_members();
        let met = |p: &Pool| wanted.iter().any(|w| p.by_value.get(plain(*w)).is_some());
        while !met(self) && self.starts.len() < 10 {
            let cost = self.starts.len() - 1;
            let sizes = |a: usize, b: usize| (self.starts[a + 1] - self.starts[a]) * (self.starts[b + 1] - self.starts[b]);
            let work: usize = (0..=(cost - 1) / 2).map(|a| sizes(a, cost - 1 - a)).sum();
            let few = wanted.len() < MANY && self.variables == VARIABLES.len();
            if work > if few { PAIRS_FEW } else { PAIRS_MANY } {
                break;
            }
            for a in 0..=(cost - 1) / 2 {
                self.list_pairs(a, cost - 1 - a, cost as u8);
            }
            if cost == 1 {
                self.list_complements();
            }
            self.starts.push(self.reach.len());
        }
    }

    fn list_pairs(&mut self, a: usize, b: usize, cost: u8) {
        for x in self.starts[a]..self.starts[a + 1] {
            for y in self.starts[b].max(if a == b { x + 1 } else { 0 })..self.starts[b + 1] {
                self.note_pair(x as u32, y as u32, cost);
            }
        }
    }

    /// Complements of members: for the ands and ors that need them.
    fn list_complements(&mut self) {
        for x in 0..self.starts[1] {
            let value = !self.reach[x].value;
            if self.made.iter().all(|m| m.value != value) {
                self.reach.push(Reach { value, op: Op::Not, cost: 1, a: x as u32, b: x as u32 });
            }
        }
    }

    /// The way that takes the fewest gates to any wanted function.
    pub fn cheapest(&mut self, wanted: &[Word]) -> Option<Way> {
        self.list(wanted);
        let found = wanted.iter().filter_map(|w| self.by_value.get(plain(*w))).map(|a| Way { a, b: None });
        let mut best = found.min_by_key(|way| self.cost(way));
        let mut least = best.map_or(u8::MAX, |way| self.cost(&way));
        let from = self.random.below(self.reach.len());
        for level in 0..self.starts.len() - 1 {
            let (start, end) = (self.starts[level], self.starts[level + 1]);
            let wanted = &wanted[..wanted.len().min(MEET_MAX / (end - start).max(1))];
            for x in 0..end - start {
                // No sum of two functions this far or farther is cheaper.
                if least <= 2 * level as u8 + 1 {
                    return best;
                }
                let x = start + (x + from) % (end - start);
                for w in wanted {
                    let Some(y) = self.by_value.get(plain(w ^ self.reach[x].value)) else { continue };
                    let way = Way { a: x as u32, b: Some(y) };
                    if self.cost(&way) < least {
                        least = self.cost(&way);
                        best = Some(way);
                    }
                }
            }
        }
        best.or_else(|| self.deeper(wanted))
    }

    /// An exclusive or of something listed and something one level beyond what is: the first one met.
    fn deeper(&mut self, wanted: &[Word]) -> Option<Way> {
        let top = self.starts.len() - 2;
        let mut left = DEEPER_MAX / wanted.len();
        for a in 0..=top / 2 {
            let (first, second) = (self.starts[a]..self.starts[a + 1], self.starts[top - a]..self.starts[top - a + 1]);
            let from = self.random.below(second.len().max(1));
            for k in 0..second.len() {
                let y = second.start + (from + k) % second.len();
                let high = self.reach[y].value;
                left = left.checked_sub(3 * first.len())?;
                for x in first.clone() {
                    for op in [Op::Xor, Op::And, Op::Or] {
                        let value = op.of(self.reach[x].value, high);
                        for w in wanted {
                            let Some(z) = self.by_value.get(plain(w ^ value)) else { continue };
                            self.reach.push(Reach { value, op, cost: top as u8 + 1, a: x as u32, b: y as u32 });
                            return Some(Way { a: self.reach.len() as u32 - 1, b: Some(z) });
                        }
                    }
                }
            }
        }
        None
    }

    /// Gates that a way takes.
    pub fn cost(&self, way: &Way) -> u8 {
        self.reach[way.a as usize].cost + way.b.map_or(0, |b| self.reach[b as usize].cost + 1)
    }

    /// Adds a function within reach, and what it needs.
    fn make(&mut self, r: u32) -> u32 {
        let Reach { op, cost, a, b, .. } = self.reach[r as usize];
        if cost == 0 {
            return a;
        }
        let (x, y) = (self.make(a), self.make(b));
        self.gate(op, x, y)
    }

    pub fn gate(&mut self, op: Op, x: u32, y: u32) -> u32 {
        let value = op.of(self.made[x as usize].value, self.made[y as usize].value);
        if let Some(k) = self.made.iter().position(|m| m.value == value) {
            return k as u32;
        }
        self.member(value, Some((op, x, y)));
        self.made.len() as u32 - 1
    }

    pub fn follow(&mut self, way: Way) {
        let x = self.make(way.a);
        if let Some(b) = way.b {
            let y = self.make(b);
            let value = self.made[x as usize].value ^ self.made[y as usize].value;
            if plain(value) != 0 && self.find(value).is_none() {
                self.gate(Op::Xor, x, y);
            }
        }
    }

    /// The pool's gates, on nodes for its variables. Gives the node of each member.
    pub fn gates(&self, b: &mut Builder, variables: &[u32]) -> Vec<u32> {
        let mut nodes: Vec<u32> = Vec::new();
        for m in &self.made {
            let n = match m.gate {
                None => variables[nodes.len()],
                Some((op, x, y)) => {
                    let (x, y) = (nodes[x as usize], nodes[y as usize]);
                    b.node(match op {
                        Op::And => Gate::And(x, y),
                        Op::Or => Gate::Or(x, y),
                        Op::Xor => Gate::Xor(x, y),
                        Op::Not => Gate::Not(x),
                    })
                }
            };
            nodes.push(n);
        }
        nodes
    }
}
