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

/// Starts that are improved, and changes tried on each.
const STARTS: usize = 4;
const STEPS_START: usize = 1500;
/// Changes tried on the best; fewer where it is large, for they take longer and find less.
const STEPS_LAST: usize = 20_000;
const LARGE: usize = 150;

/// Correct by construction, small by luck.
pub fn search(inputs: u32, outputs: u32, entries: &[u64], observer: &mut dyn Observer) -> Found {
    let mut all = starts::starts(inputs, outputs, entries);
    all.sort_by_key(Circuit::count);
    all.dedup();
    let mut best = Best::new(all[0].clone(), observer);
    let is_inversion = (inputs, outputs) == (8, 8) && inversion(entries, &mut best);
    if is_inversion {
        return best.found;
    }
    let mut random = Random::new(3);
    best.observer.stage("expansion");
    // Improvement is costly: only the most promising starts are worth it.
    for c in all.iter().take(STARTS) {
        best.offer(c.clone());
        best.offer(improve(c, STEPS_START, &mut random));
    }
    best.observer.stage("pools");
    for (leaf, seed) in attempts(inputs) {
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
    let steps = if c.count() > LARGE { STEPS_LAST / 8 } else { STEPS_LAST };
    best.offer(improve(&c, steps, &mut random));
    best.found
}

/// How many variables a pool has, and the seed: as many attempts as are worth their time.
fn attempts(inputs: u32) -> impl Iterator<Item = (usize, u64)> {
    let (four, five) = if inputs < 5 { (10, 0) } else { (3, 4) };
    (1..=four).map(move |seed| (inputs.min(4) as usize, seed)).chain((1..=five).map(|seed| (5, seed)))
}

/// The smallest circuits so far.
struct Best<'o> {
    found: Found,
    observer: &'o mut dyn Observer,
}

impl<'o> Best<'o> {
    fn new(first: Circuit, observer: &'o mut dyn Observer) -> Best<'o> {
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
}

/// Tables that are inversion in the field of 256 elements between affine maps. True if there is a circuit that computes it.
fn inversion(entries: &[u64], best: &mut Best) -> bool {
    let table: Vec<u8> = entries.iter().map(|e| *e as u8).collect();
    let Some(twist) = field::twisted(&table) else { return false };
    best.observer.stage("inversion");
    let circuits: Vec<Circuit> = plan::plan(&twist).into_iter().filter(|c| c.computes(entries)).collect();
    for c in &circuits {
        best.offer(c.clone());
        best.offer(improve(c, STEPS_LAST / 2, &mut Random::new(4)));
    }
    !circuits.is_empty()
}
