//! Few exclusive ors for many sums of the same inputs.
//!
//! Greedy with cancellation: of all sums of two values at hand, the one that brings the wanted sums nearest. Vectors are so short
//! that the distance of every one of them is in a table.
//! Trusted: text.

use crate::random::Random;

/// A vector over two elements, one bit per input.
pub type Vector = u16;

/// Inputs, then one value per step, which is the sum of two earlier values.
#[derive(Clone, Debug)]
pub struct Sums {
    pub dims: usize,
    pub steps: Vec<(u16, u16)>,
    pub values: Vec<Vector>,
    /// By vector: the fewest values that sum to it.
    pub distance: Vec<u8>,
}

impl Sums {
    pub fn new(dims: usize) -> Sums {
        let distance = (0..1u32 << dims).map(|v| v.count_ones() as u8).collect();
        Sums { dims, steps: Vec::new(), values: (0..dims).map(|i| 1 << i).collect(), distance }
    }

    pub fn place(&self, v: Vector) -> Option<usize> {
        self.values.iter().position(|w| *w == v)
    }

    fn add(&mut self, i: usize, j: usize) {
        let v = self.values[i] ^ self.values[j];
        self.steps.push((i as u16, j as u16));
        self.values.push(v);
        // A vector and its sum with the new value are each other's only way to become nearer.
        for u in 0..self.distance.len() {
            let w = u ^ v as usize;
            if u < w {
                let (a, b) = (self.distance[u], self.distance[w]);
                self.distance[u] = a.min(b + 1);
                self.distance[w] = b.min(a + 1);
            }
        }
    }

    /// Values that sum to `v`, as few as there are.
    pub fn parts(&self, v: Vector) -> Vec<usize> {
        let (mut rest, mut parts) = (v, Vec::new());
        while rest != 0 {
            let nearer = |w: &Vector| self.distance[(rest ^ w) as usize] < self.distance[rest as usize];
            let Some(k) = self.values.iter().position(nearer) else { break };
            rest ^= self.values[k];
            parts.push(k);
        }
        parts
    }
}

/// Steps until every target is a value; `None` where a target has bits beyond `dims`.
pub fn sums(dims: usize, targets: &[Vector], random: &mut Random) -> Option<Sums> {
    if targets.iter().any(|t| t >> dims != 0) {
        return None;
    }
    let mut s = Sums::new(dims);
    let mut open: Vec<Vector> = targets.iter().copied().filter(|t| s.distance[*t as usize] > 1).collect();
    open.sort_unstable();
    open.dedup();
    let mut seen = vec![0u32; 1 << dims];
    let mut round = 0;
    while !open.is_empty() {
        round += 1;
        let (i, j) = next(&s, &open, &mut seen, round, random);
        s.add(i, j);
        open.retain(|t| s.distance[*t as usize] > 1);
    }
    Some(s)
}

/// The pair to sum next: one that is a target, else one that leaves the least total distance, the unevenly spread first.
fn next(s: &Sums, open: &[Vector], seen: &mut [u32], round: u32, random: &mut Random) -> (usize, usize) {
    let easy = open.iter().find(|t| s.distance[**t as usize] == 2);
    let mut best = ((u32::MAX, 0u32), (0, 0));
    let mut ties = 0;
    for i in 0..s.values.len() {
        for j in 0..i {
            let v = s.values[i] ^ s.values[j];
            if let Some(t) = easy {
                if v == *t {
                    return (i, j);
                }
                continue;
            }
            if s.distance[v as usize] < 2 || std::mem::replace(&mut seen[v as usize], round) == round {
                continue;
            }
            let (mut sum, mut squares) = (0, 0);
            for t in open {
                let d = u32::from(s.distance[*t as usize].min(s.distance[(t ^ v) as usize] + 1));
                sum += d;
                squares += d * d;
            }
            let key = (sum, u32::MAX - squares);
            if key > best.0 {
                continue;
            }
            ties = if key == best.0 { ties + 1 } else { 1 };
            if random.below(ties) == 0 {
                best = (key, (i, j));
            }
        }
    }
    best.1
}
