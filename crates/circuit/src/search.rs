//! Circuits for tables that are not on record: what each way of finding one gives, improved; the smallest is taken.
//! Trusted: text.

use crate::gates::Circuit;
use crate::improve::improve;
use crate::random::Random;
use crate::{covered, field, plan, starts, ternary, Observer};

/// The smallest circuits found for a table.
#[derive(Clone, Debug)]
pub struct Found {
    /// In gates of two inputs.
    pub two: Circuit,
    /// In gates of three inputs; not always the first one covered.
    pub three: Circuit,
}

/// How much is tried, in counted steps: the same on every machine.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Changes tried on each of the most promising starts.
    pub start: usize,
    /// Attempts with pools of four variables where these are all, with four where there are more, and with five.
    pub attempts: [u64; 3],
    /// Changes tried on the best.
    pub last: usize,
}

/// As much as is worth its time.
pub const FULL: Effort = Effort { start: 1500, attempts: [10, 3, 4], last: 20_000 };

/// Starts that are improved.
const STARTS: usize = 4;
/// Above this many gates, changes take longer and find less.
const LARGE: usize = 150;

/// Correct by construction, small by luck.
pub fn search(inputs: u32, outputs: u32, entries: &[u64], effort: &Effort, observer: &mut dyn Observer) -> Found {
    let mut all = starts::starts(inputs, outputs, entries);
    all.sort_by_key(Circuit::count);
    all.dedup();
    let mut best = Best::new(all[0].clone(), observer);
    if (inputs, outputs) == (8, 8) {
        let table: Vec<u8> = entries.iter().map(|e| *e as u8).collect();
        if field::twisted(&table).is_some_and(|twist| best.inversion(&twist, entries, effort)) {
            return best.found;
        }
    }
    let mut random = Random::new(3);
    best.observer.stage("expansion");
    // Improvement is costly: only the most promising starts are worth it.
    for c in all.iter().take(STARTS) {
        best.offer(improve(c, effort.start, &mut random));
    }
    best.observer.stage("pools");
    for (leaf, seed) in attempts(inputs, effort) {
        // A gate for each output, and there is nothing to look for.
        if best.found.two.count() <= outputs as usize {
            break;
        }
        let mut random = Random::new(seed);
        let mut order: Vec<u32> = (0..inputs).collect();
        random.shuffle(&mut order);
        best.offer(ternary::expand(inputs, outputs, entries, &order, leaf, &random));
    }
    best.observer.stage("improvement");
    let c = best.found.two.clone();
    let steps = if c.count() > LARGE { effort.last / 8 } else { effort.last };
    best.offer(improve(&c, steps, &mut random));
    best.found
}

/// How many variables a pool has, and the seed.
fn attempts(inputs: u32, effort: &Effort) -> impl Iterator<Item = (usize, u64)> {
    let [only, four, five] = effort.attempts;
    let (four, five) = if inputs < 5 { (only, 0) } else { (four, five) };
    (1..=four).map(move |seed| (inputs.min(4) as usize, seed)).chain((1..=five).map(|seed| (5, seed)))
}

/// The smallest circuits so far.
pub struct Best<'o> {
    pub found: Found,
    observer: &'o mut dyn Observer,
}

impl<'o> Best<'o> {
    pub fn new(first: Circuit, observer: &'o mut dyn Observer) -> Best<'o> {
        Best { found: Found { three: covered(&first), two: first }, observer }
    }

    fn offer(&mut self, c: Circuit) {
        let key = |c: &Circuit| (c.count(), c.depth());
        let three = covered(&c);
        if key(&three) < key(&self.found.three) {
            self.found.three = three;
        }
        if key(&c) < key(&self.found.two) {
            self.observer.found(c.count());
            self.found.two = c;
        }
    }

    /// Circuits for a table that is said to be a twist of inversion. False if none of them computes it.
    pub fn inversion(&mut self, twist: &field::Twist, entries: &[u64], effort: &Effort) -> bool {
        self.observer.stage("inversion");
        let circuits: Vec<Circuit> = plan::plan(twist).into_iter().filter(|c| c.computes(entries)).collect();
        for c in &circuits {
            self.offer(c.clone());
            self.offer(improve(c, effort.last / 2, &mut Random::new(4)));
        }
        !circuits.is_empty()
    }
}
