//! Circuits under construction: a gate whose value is there already is not made again.
//! Trusted: text.

use crate::gates::{Circuit, Gate};
use crate::truth::{not, variable, Truth};
use std::collections::BTreeMap;

/// Gates with their truth tables.
pub struct Builder {
    inputs: u32,
    gates: Vec<Gate>,
    truth: Vec<Truth>,
    depth: Vec<u32>,
    by_truth: BTreeMap<Truth, u32>,
}

impl Builder {
    pub fn new(inputs: u32) -> Builder {
        let truth: Vec<Truth> = (0..inputs).map(variable).collect();
        let by_truth = truth.iter().copied().zip(0..).collect();
        Builder { inputs, gates: Vec::new(), depth: vec![0; truth.len()], truth, by_truth }
    }

    pub fn node(&mut self, g: Gate) -> u32 {
        let t: Truth = std::array::from_fn(|w| g.columns(|n| self.truth[n as usize][w]));
        if let Some(n) = self.by_truth.get(&t) {
            return *n;
        }
        let n = self.truth.len() as u32;
        self.depth.push(g.operands().iter().map(|o| self.depth[*o as usize] + 1).max().unwrap_or(0));
        self.gates.push(g);
        self.by_truth.insert(t, n);
        self.truth.push(t);
        n
    }

    /// The node of this value, if there is one.
    pub fn find(&self, t: &Truth) -> Option<u32> {
        self.by_truth.get(t).copied()
    }

    pub fn truth(&self, n: u32) -> Truth {
        self.truth[n as usize]
    }

    pub fn not(&mut self, n: u32) -> u32 {
        self.node(Gate::Not(n))
    }

    pub fn xor(&mut self, a: u32, b: u32) -> u32 {
        self.node(Gate::Xor(a, b))
    }

    /// The exclusive or of all, the shallowest first. `None` of none.
    pub fn sum(&mut self, mut all: Vec<u32>) -> Option<u32> {
        while all.len() > 1 {
            all.sort_by_key(|n| std::cmp::Reverse(self.depth[*n as usize]));
            let (a, b) = (all.pop()?, all.pop()?);
            all.push(self.xor(a, b));
        }
        all.pop()
    }

    /// The node itself, or its inverse, whichever has this value. `None` where neither does.
    pub fn polarised(&mut self, n: u32, want: &Truth) -> Option<u32> {
        let t = self.truth(n);
        match t == *want {
            true => Some(n),
            false => (not(&t) == *want).then(|| self.not(n)),
        }
    }

    pub fn finish(self, outputs: Vec<u32>) -> Circuit {
        Circuit { inputs: self.inputs, gates: self.gates, outputs }.swept()
    }
}
