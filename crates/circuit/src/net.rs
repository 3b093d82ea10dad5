//! A circuit with the values of its nodes, for changing one gate at a time.
//! Trusted: text.

use crate::gates::{Circuit, Gate};
use crate::truth::{variable, Truth, ZERO};
use std::collections::BTreeMap;

pub struct Net {
    pub circuit: Circuit,
    pub truth: Vec<Truth>,
    /// Uses of each node, outputs among them.
    pub uses: Vec<u32>,
}

/// Operands without a list.
pub fn operands(g: &Gate) -> [Option<u32>; 2] {
    match *g {
        Gate::And(a, b) | Gate::Or(a, b) | Gate::Xor(a, b) => [Some(a), Some(b)],
        Gate::Not(a) => [Some(a), None],
        Gate::Const(_) | Gate::Lut(..) => [None, None],
    }
}

impl Net {
    pub fn new(circuit: Circuit) -> Net {
        let mut truth: Vec<Truth> = (0..circuit.inputs).map(variable).collect();
        for g in &circuit.gates {
            truth.push(value(g, &truth));
        }
        let mut uses = vec![0; truth.len()];
        circuit.outputs.iter().for_each(|o| uses[*o as usize] += 1);
        circuit.gates.iter().flat_map(operands).flatten().for_each(|o| uses[o as usize] += 1);
        Net { circuit, truth, uses }
    }

    pub fn first_gate(&self) -> usize {
        self.circuit.inputs as usize
    }

    pub fn gate(&self, node: usize) -> Gate {
        self.circuit.gates[node - self.first_gate()]
    }

    /// Nodes that depend on `target`, itself included, and the inputs on which its value shows in an output.
    pub fn seen(&self, target: usize) -> (Vec<bool>, Truth) {
        let first = self.first_gate();
        let mut below = vec![false; self.truth.len()];
        let mut flipped = self.truth.clone();
        below[target] = true;
        flipped[target] = flipped[target].map(|w| !w);
        for n in target.max(first - 1) + 1..self.truth.len() {
            let g = &self.circuit.gates[n - first];
            if operands(g).into_iter().flatten().any(|o| below[o as usize]) {
                below[n] = true;
                flipped[n] = value(g, &flipped);
            }
        }
        let mut care = ZERO;
        for o in &self.circuit.outputs {
            let o = *o as usize;
            (0..4).for_each(|w| care[w] |= self.truth[o][w] ^ flipped[o][w]);
        }
        (below, care)
    }

    /// Gates that fall away when `target` gets other operands, which are `kept`.
    pub fn freed(&mut self, target: usize, kept: [Option<u32>; 2]) -> u32 {
        kept.into_iter().flatten().for_each(|k| self.uses[k as usize] += 1);
        let freed = self.release(target);
        self.hold(target);
        kept.into_iter().flatten().for_each(|k| self.uses[k as usize] -= 1);
        freed
    }

    fn release(&mut self, node: usize) -> u32 {
        if node < self.first_gate() {
            return 0;
        }
        let mut freed = 1;
        for o in operands(&self.gate(node)).into_iter().flatten() {
            self.uses[o as usize] -= 1;
            if self.uses[o as usize] == 0 {
                freed += self.release(o as usize);
            }
        }
        freed
    }

    fn hold(&mut self, node: usize) {
        if node < self.first_gate() {
            return;
        }
        for o in operands(&self.gate(node)).into_iter().flatten() {
            self.uses[o as usize] += 1;
            if self.uses[o as usize] == 1 {
                self.hold(o as usize);
            }
        }
    }

    /// The circuit with other gates for some nodes and new ones behind, which may come in any order; without what no output needs.
    pub fn changed(&self, changes: &[(usize, Gate)], new: &[Gate], wires: Option<(usize, u32)>) -> Circuit {
        let mut gates = self.circuit.gates.clone();
        gates.extend_from_slice(new);
        for (n, g) in changes {
            gates[*n - self.first_gate()] = *g;
        }
        let mut order = Order { first: self.first_gate(), gates: &gates, wires, place: BTreeMap::new(), made: Vec::new() };
        let outputs = self.circuit.outputs.iter().map(|o| order.visit(*o)).collect();
        Circuit { inputs: self.circuit.inputs, gates: order.made, outputs }
    }
}

fn value(g: &Gate, truth: &[Truth]) -> Truth {
    let at = |n: u32| &truth[n as usize];
    match *g {
        Gate::And(a, b) => std::array::from_fn(|w| at(a)[w] & at(b)[w]),
        Gate::Or(a, b) => std::array::from_fn(|w| at(a)[w] | at(b)[w]),
        Gate::Xor(a, b) => std::array::from_fn(|w| at(a)[w] ^ at(b)[w]),
        _ => std::array::from_fn(|w| g.columns(|n| at(n)[w])),
    }
}

/// Gates in an order in which operands come first.
struct Order<'a> {
    first: usize,
    gates: &'a [Gate],
    /// A node that another stands in for.
    wires: Option<(usize, u32)>,
    place: BTreeMap<u32, u32>,
    made: Vec<Gate>,
}

impl Order<'_> {
    fn visit(&mut self, node: u32) -> u32 {
        let node = self.wires.filter(|w| w.0 == node as usize).map_or(node, |w| w.1);
        if (node as usize) < self.first {
            return node;
        }
        if let Some(p) = self.place.get(&node) {
            return *p;
        }
        let g = self.gates[node as usize - self.first];
        let made = match g {
            Gate::And(a, b) => Gate::And(self.visit(a), self.visit(b)),
            Gate::Or(a, b) => Gate::Or(self.visit(a), self.visit(b)),
            Gate::Xor(a, b) => Gate::Xor(self.visit(a), self.visit(b)),
            Gate::Not(a) => Gate::Not(self.visit(a)),
            Gate::Const(_) | Gate::Lut(..) => g,
        };
        self.made.push(made);
        let p = (self.first + self.made.len() - 1) as u32;
        self.place.insert(node, p);
        p
    }
}
