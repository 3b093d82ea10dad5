//! Circuits for tables that are not on record: what each way of finding one gives, improved; the smallest is taken.
//! Trusted: text.

use crate::gates::Circuit;
use crate::improve::improve;
use crate::random::Random;
use crate::{field, plan, starts, ternary, Observer};

/// Starts that are improved, and changes tried on each.
const STARTS: usize = 4;
const STEPS_START: usize = 1500;
/// Changes tried on the best.
const STEPS_LAST: usize = 20_000;

/// Two-input gates for a table; correct by construction, small by luck.
pub fn search(inputs: u32, outputs: u32, entries: &[u64], observer: &mut dyn Observer) -> Circuit {
    if let Some(c) = inversion(inputs, outputs, entries, observer) {
        return c;
    }
    let mut best = Best { found: None, observer };
    let mut random = Random::new(3);
    best.observer.stage("expansion");
    let mut starts = starts::starts(inputs, outputs, entries);
    // Improvement is costly: only the most promising starts are worth it.
    starts.sort_by_key(|c| c.gates.len());
    starts.dedup();
    for c in starts.into_iter().take(STARTS) {
        best.offer(improve(&c, STEPS_START, &mut random));
    }
    best.observer.stage("pools");
    for (leaf, seed) in attempts(inputs, outputs) {
        if best.is_tiny(inputs) {
            break;
        }
        let mut random = Random::new(seed);
        let mut order: Vec<u32> = (0..inputs).collect();
        random.shuffle(&mut order);
        best.offer(ternary::expand(inputs, outputs, entries, &order, leaf as usize, &random));
    }
    best.observer.stage("improvement");
    let c = best.found.take().unwrap_or_else(|| starts::starts(inputs, outputs, entries).remove(0));
    best.offer(improve(&c, STEPS_LAST, &mut random));
    best.found.take().unwrap_or(c)
}

/// How many variables a pool has, and seeds: as many as are worth their time.
fn attempts(inputs: u32, outputs: u32) -> Vec<(u32, u64)> {
    let (four, five) = match inputs {
        0..=4 => (10, 0),
        5 => (4, 4),
        6 => (4, 4),
        7 => (4, 4),
        _ => (4, 4),
    };
    let four = (1..=four).map(|seed| (inputs.min(4), seed));
    let _ = outputs;
    four.chain((1..=five).map(|seed| (5, seed))).collect()
}

/// The smallest circuit so far.
struct Best<'o> {
    found: Option<Circuit>,
    observer: &'o mut dyn Observer,
}

impl Best<'_> {
    fn offer(&mut self, c: Circuit) {
        let key = |c: &Circuit| (c.gates.len(), c.depth());
        if self.found.as_ref().is_none_or(|b| key(&c) < key(b)) {
            self.observer.found(c.gates.len());
            self.found = Some(c);
        }
    }

    /// So small that there is nothing to look for.
    fn is_tiny(&self, inputs: u32) -> bool {
        self.found.as_ref().is_some_and(|c| c.gates.len() <= inputs as usize)
    }
}

/// Tables that are inversion in the field of 256 elements between affine maps.
fn inversion(inputs: u32, outputs: u32, entries: &[u64], observer: &mut dyn Observer) -> Option<Circuit> {
    if (inputs, outputs) != (8, 8) {
        return None;
    }
    let table: Vec<u8> = entries.iter().map(|e| *e as u8).collect();
    let twist = field::twisted(&table)?;
    let mut best = Best { found: None, observer };
    best.observer.stage("inversion");
    for c in plan::plan(&twist) {
        best.offer(improve(&c, STEPS_LAST, &mut Random::new(4)));
    }
    best.found.take().filter(|c| c.computes(entries))
}
