//! The cheapest steps found for a permutation: parts that move alike, or exchanges of bits at one distance.

use super::step::{Move, Step};
use super::network;
use santoku_ir::perm::Perm;
use std::collections::BTreeMap;

/// Steps on words of so many bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub bits: u32,
    pub steps: Vec<Step>,
}

/// A rotation is one operation on many machines and three on others; of narrow words two shifts, an or and a mask on all.
fn rotation(bits: u32) -> usize {
    if bits < 32 { 4 } else { 2 }
}
/// Two shifts, two exclusive ors, one of them of three words, and a mask.
const SWAP: usize = 6;

impl Step {
    /// Machine operations, about.
    fn cost(&self, bits: u32) -> usize {
        let one = |(m, mask): &(Move, Option<u128>)| {
            usize::from(mask.is_some())
                + match m {
                    Move::Left(0) => 0,
                    Move::Left(_) | Move::Right(_) => 1,
                    Move::Around(_) => rotation(bits),
                }
        };
        match self {
            Step::Swap { .. } => SWAP,
            Step::Moves(moves) => moves.iter().map(one).sum::<usize>() + moves.len().saturating_sub(1),
        }
    }
}

impl Plan {
    pub fn cost(&self) -> usize {
        self.steps.iter().map(|s| s.cost(self.bits)).sum()
    }
}

/// The best of what is tried.
pub fn plan(perm: &Perm) -> Plan {
    let bits = perm.inputs.max(perm.from.len() as u32).next_power_of_two();
    let mut best = Plan { bits, steps: vec![moves(perm, bits)] };
    if let Some(full) = completed(perm, bits) {
        for steps in [network::of_index_bits(&full), network::exchanges(&full)].into_iter().flatten() {
            let other = Plan { bits, steps };
            if other.cost() < best.cost() {
                best = other;
            }
        }
    }
    best
}

/// Bits that go the same way go together.
fn moves(perm: &Perm, bits: u32) -> Step {
    // By rotation: the bits of the result that come from the left, and those that come from the right.
    let mut ways: BTreeMap<u32, (u128, u128)> = BTreeMap::new();
    for (j, from) in perm.from.iter().enumerate() {
        let j = j as u32;
        let way = ways.entry((bits + j - from) % bits).or_default();
        let side = if j >= *from { &mut way.0 } else { &mut way.1 };
        *side |= 1 << j;
    }
    let ones = |n: u32| if n == 128 { u128::MAX } else { (1 << n) - 1 };
    let (input, output) = (ones(perm.inputs), ones(perm.from.len() as u32));
    let masked = |m: Move, all: u128, wanted: u128| (m, Some(wanted).filter(|w| all & output != *w));
    let part = |(k, (up, down)): (u32, (u128, u128))| match (up, down) {
        (up, 0) => masked(Move::Left(k), input << k & ones(bits), up),
        (0, down) => masked(Move::Right(bits - k), input >> (bits - k), down),
        (up, down) => masked(Move::Around(k), (input << k | input >> (bits - k)) & ones(bits), up | down),
    };
    Step::Moves(ways.into_iter().map(part).collect())
}

/// The permutation on all `bits` bits: those that are not wanted stay where they can. `None` where a bit is wanted twice.
fn completed(perm: &Perm, bits: u32) -> Option<Vec<usize>> {
    let bits = bits as usize;
    let mut full: Vec<Option<usize>> = perm.from.iter().map(|f| Some(*f as usize)).collect();
    full.resize(bits, None);
    let mut taken = vec![false; bits];
    for from in full.iter().flatten() {
        if std::mem::replace(&mut taken[*from], true) {
            return None;
        }
    }
    for j in 0..bits {
        if full[j].is_none() && !taken[j] {
            (full[j], taken[j]) = (Some(j), true);
        }
    }
    let mut free = (0..bits).filter(|i| !taken[*i]).collect::<Vec<_>>().into_iter();
    full.into_iter().map(|f| f.or_else(|| free.next())).collect()
}
