//! Covering a network of small functions by functions of three inputs.
//!
//! Cuts are enumerated bottom up; a first choice by area flow, then rounds that choose each node's cut again by the exact
//! number of cells it adds.

use crate::gates::{table_of, Circuit, Gate};
use std::collections::BTreeMap;

/// A node: a leaf, or a function of up to three earlier nodes (bit `a + 2b + 4c` of the table).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    Leaf,
    Function { operands: Vec<u32>, table: u8 },
}

/// A cell of the cover: `node` is this function of `leaves` (up to three; further table bits repeat).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub node: u32,
    pub leaves: Vec<u32>,
    pub table: u8,
}

/// Cuts kept per node.
const CUTS_MAX: usize = 24;
/// Rounds of exact choice.
const ROUNDS: usize = 4;
const COLUMNS: [u8; 3] = [0xaa, 0xcc, 0xf0];

type Cut = Vec<u32>;

struct Cover<'a> {
    nodes: &'a [Node],
    cuts: Vec<Vec<Cut>>,
    choice: Vec<usize>,
    refs: Vec<u32>,
}

/// Cells in order that compute all `roots`, as few as the heuristic finds. Functions must follow their operands.
pub fn cover(nodes: &[Node], roots: &[u32]) -> Vec<Cell> {
    let mut c = Cover { nodes, cuts: Vec::new(), choice: vec![0; nodes.len()], refs: vec![0; nodes.len()] };
    c.enumerate(roots);
    roots.iter().for_each(|r| {
        c.take(*r);
    });
    for _ in 0..ROUNDS {
        for n in 0..nodes.len() as u32 {
            c.choose_again(n);
        }
    }
    let used: Vec<u32> = (0..nodes.len() as u32).filter(|n| c.refs[*n as usize] > 0 && c.is_function(*n)).collect();
    used.into_iter().map(|n| c.cell(n)).collect()
}

impl Cover<'_> {
    fn is_function(&self, n: u32) -> bool {
        matches!(self.nodes[n as usize], Node::Function { .. })
    }

    fn enumerate(&mut self, roots: &[u32]) {
        let mut fanout = vec![0u32; self.nodes.len()];
        roots.iter().for_each(|r| fanout[*r as usize] += 1);
        for node in self.nodes {
            if let Node::Function { operands, .. } = node {
                operands.iter().for_each(|o| fanout[*o as usize] += 1);
            }
        }
        let mut flow = vec![0f64; self.nodes.len()];
        for n in 0..self.nodes.len() {
            let Node::Function { operands, .. } = &self.nodes[n] else {
                self.cuts.push(vec![vec![n as u32]]);
                continue;
            };
            let mut merged: Vec<Cut> = vec![vec![]];
            for o in operands {
                let mut options = if self.is_function(*o) { self.cuts[*o as usize].clone() } else { vec![] };
                options.push(vec![*o]);
                merged = join(&merged, &options);
            }
            let cost = |cut: &Cut| 1.0 + cut.iter().map(|l| flow[*l as usize] / f64::from(fanout[*l as usize].max(1))).sum::<f64>();
            merged.sort_by(|a, b| cost(a).total_cmp(&cost(b)).then_with(|| a.cmp(b)));
            merged.truncate(CUTS_MAX);
            flow[n] = merged.first().map_or(0.0, cost);
            self.cuts.push(merged);
        }
    }

    /// Counts a use of a node; gives the cells that became needed.
    fn take(&mut self, n: u32) -> usize {
        self.refs[n as usize] += 1;
        if self.refs[n as usize] > 1 || !self.is_function(n) {
            return 0;
        }
        let cut = self.cuts[n as usize][self.choice[n as usize]].clone();
        1 + cut.iter().map(|l| self.take(*l)).sum::<usize>()
    }

    fn drop_use(&mut self, n: u32) -> usize {
        self.refs[n as usize] -= 1;
        if self.refs[n as usize] > 0 || !self.is_function(n) {
            return 0;
        }
        let cut = self.cuts[n as usize][self.choice[n as usize]].clone();
        1 + cut.iter().map(|l| self.drop_use(*l)).sum::<usize>()
    }

    fn choose_again(&mut self, n: u32) {
        let k = n as usize;
        if self.refs[k] == 0 || !self.is_function(n) {
            return;
        }
        let uses = std::mem::replace(&mut self.refs[k], 1);
        self.drop_use(n);
        let mut best = (usize::MAX, 0);
        for option in 0..self.cuts[k].len() {
            self.choice[k] = option;
            let cost = self.take(n);
            self.drop_use(n);
            if cost < best.0 {
                best = (cost, option);
            }
        }
        self.choice[k] = best.1;
        self.take(n);
        self.refs[k] = uses;
    }

    fn cell(&self, n: u32) -> Cell {
        let leaves = self.cuts[n as usize][self.choice[n as usize]].clone();
        let mut known: BTreeMap<u32, u8> = leaves.iter().copied().zip(COLUMNS).collect();
        Cell { node: n, table: self.columns(n, &mut known), leaves }
    }

    fn columns(&self, n: u32, known: &mut BTreeMap<u32, u8>) -> u8 {
        if let Some(v) = known.get(&n) {
            return *v;
        }
        let Node::Function { operands, table } = &self.nodes[n as usize] else { return 0 };
        let mut at = [0u64; 3];
        for (slot, o) in at.iter_mut().zip(operands) {
            *slot = u64::from(self.columns(*o, known));
        }
        let v = crate::gates::lut(*table, at) as u8;
        known.insert(n, v);
        v
    }
}

/// Unions of one cut of each side that stay within three leaves.
fn join(a: &[Cut], b: &[Cut]) -> Vec<Cut> {
    let mut all = Vec::new();
    for x in a {
        for y in b {
            let mut cut = [x.as_slice(), y].concat();
            cut.sort_unstable();
            cut.dedup();
            if cut.len() <= 3 && !all.contains(&cut) {
                all.push(cut);
            }
        }
    }
    all
}

/// The same function in gates of three inputs.
pub fn covered(c: &Circuit) -> Circuit {
    let mut nodes = vec![Node::Leaf; c.inputs as usize];
    for g in &c.gates {
        let operands = g.operands();
        let table = table_of(g);
        nodes.push(Node::Function { operands, table });
    }
    let mut place: Vec<u32> = (0..nodes.len() as u32).collect();
    let mut gates = Vec::new();
    for cell in cover(&nodes, &c.outputs) {
        let at = |k: usize| cell.leaves.get(k).or(cell.leaves.last()).map_or(0, |l| place[*l as usize]);
        gates.push(Gate::Lut([at(0), at(1), at(2)], repeated(cell.table, cell.leaves.len())));
        place[cell.node as usize] = c.inputs + gates.len() as u32 - 1;
    }
    Circuit { inputs: c.inputs, gates, outputs: c.outputs.iter().map(|o| place[*o as usize]).collect() }
}

/// The table when the last leaf stands in for the missing ones: rows where they differ never occur.
fn repeated(table: u8, leaves: usize) -> u8 {
    match leaves {
        0 => if table & 1 == 1 { 0xff } else { 0 },
        _ => table,
    }
}
