//! What the norm has beside products: sums of forms, where adding them is cheapest.
//! Trusted: text.

use crate::linear::{Sums, Vector};
use crate::middle::Middle;
use crate::tower::Split;

/// What is added to the four bits of `n / w` beside products.
#[derive(Clone, Debug)]
pub struct Rest {
    pub cost: u32,
    /// First products that are ors: those add their operands.
    pub ors: u32,
    /// By value of the middle's sums: the form that is added there.
    pub at: Vec<(usize, Vector)>,
}

/// The cheapest way to add what is no product: some products as ors, and forms where sums for several bits branch.
pub fn rest(middle: &Middle, split: &Split, top: &Sums) -> Rest {
    let shared: Vec<usize> = (0..middle.sums.values.len()).filter(|v| middle.sums.values[*v].count_ones() > 1).collect();
    let mut best = Rest { cost: u32::MAX, ors: 0, at: vec![] };
    for ors in 0..512u32 {
        let mut open: [Vector; 4] = middle.theta.map(|t| split.rest[t as usize]);
        for p in (0..9).filter(|p| ors >> p & 1 == 1) {
            add(&mut open, middle.takes[p], split.forms[p] ^ split.forms[p + 9]);
        }
        let alone: u32 = open.iter().map(|v| u32::from(top.distance[*v as usize])).sum();
        // What branches saves little.
        if alone >= best.cost.saturating_add(3) {
            continue;
        }
        let (cost, at) = placed(middle, top, &shared, open);
        if cost < best.cost {
            best = Rest { cost, ors, at };
        }
    }
    best
}

/// Adds a form to the bits that a value goes to.
fn add(open: &mut [Vector; 4], value: Vector, form: Vector) {
    (0..4).filter(|j| value >> j & 1 == 1).for_each(|j| open[j] ^= form);
}

/// Where the four forms are added, and by how many gates.
fn placed(middle: &Middle, top: &Sums, shared: &[usize], mut open: [Vector; 4]) -> (u32, Vec<(usize, Vector)>) {
    let distance = |v: Vector| u32::from(top.distance[v as usize]);
    let (mut cost, mut at) = (0, Vec::new());
    for v in shared {
        let value = middle.sums.values[*v];
        let with = |g: Vector| {
            let mut left = open;
            add(&mut left, value, g);
            distance(g) + left.iter().map(|v| distance(*v)).sum::<u32>()
        };
        let forms = (0..4).filter(|j| value >> j & 1 == 1).map(|j| open[j]).chain(top.values.iter().copied());
        let Some(g) = forms.min_by_key(|g| with(*g)) else { continue };
        if with(g) < with(0) {
            cost += distance(g);
            add(&mut open, value, g);
            at.push((*v, g));
        }
    }
    cost += open.iter().map(|v| distance(*v)).sum::<u32>();
    at.extend(open.iter().copied().enumerate());
    (cost, at)
}
