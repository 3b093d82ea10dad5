//! Fewer gates for a circuit that is there: gates take other operands, at random, as long as no gates are added.
//!
//! A gate may be replaced by any other that agrees with it on the inputs on which its value shows in an output.
//! Trusted: text.

use crate::gates::{Circuit, Gate};
use crate::net::{operands, Net};
use crate::random::Random;
use crate::truth::Truth;
use std::collections::BTreeMap;

/// Tries `steps` changes. Deterministic.
pub fn improve(start: &Circuit, steps: usize, random: &mut Random) -> Circuit {
    let mut net = Net::new(start.swept());
    for _ in 0..steps {
        let gates = net.circuit.gates.len();
        if gates == 0 {
            break;
        }
        let target = net.first_gate() + random.below(gates);
        let next = if random.below(4) == 0 { regrouped(&net, target, random) } else { replaced(&mut net, target, random) };
        if let Some(c) = next.filter(|c| c.gates.len() <= gates) {
            net = Net::new(c);
        }
    }
    net.circuit
}

/// What stands in for a gate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Wire(u32),
    Gate(Gate),
}

/// The best change of one gate, one of several at random.
fn replaced(net: &mut Net, target: usize, random: &mut Random) -> Option<Circuit> {
    let mut best: Option<(i64, Change)> = None;
    let mut ties = 0;
    for change in changes(net, target) {
        let (kept, new) = match &change {
            Change::Wire(n) => ([Some(*n), None], 0),
            Change::Gate(g) => (operands(g), 1),
        };
        let gain = i64::from(net.freed(target, kept)) - new;
        let least = best.as_ref().map_or(0, |b| b.0);
        if gain < least {
            continue;
        }
        ties = if gain > least { 1 } else { ties + 1 };
        if random.below(ties) == 0 {
            best = Some((gain, change));
        }
    }
    Some(match best?.1 {
        Change::Wire(n) => net.changed(&[], &[], Some((target, n))),
        Change::Gate(g) => net.changed(&[(target, g)], &[], None),
    })
}

/// Everything that agrees with `target` where its value shows.
fn changes(net: &Net, target: usize) -> Vec<Change> {
    let (below, care) = net.seen(target);
    let masked = |t: &Truth| -> Truth { std::array::from_fn(|w| t[w] & care[w]) };
    let want = masked(&net.truth[target]);
    let free: Vec<(u32, Truth)> = (0..net.truth.len()).filter(|n| !below[*n]).map(|n| (n as u32, masked(&net.truth[n]))).collect();
    let mut found = Vec::new();
    let old = net.gate(target);
    for (n, t) in &free {
        if *t == want {
            found.push(Change::Wire(*n));
        } else if (0..4).all(|w| t[w] ^ want[w] == care[w]) {
            found.push(Change::Gate(Gate::Not(*n)));
        }
    }
    let by_value: BTreeMap<&Truth, u32> = free.iter().map(|(n, t)| (t, *n)).collect();
    for (n, t) in &free {
        let rest: Truth = std::array::from_fn(|w| t[w] ^ want[w]);
        if let Some(m) = by_value.get(&rest).filter(|m| *m < n) {
            found.push(Change::Gate(Gate::Xor(*m, *n)));
        }
    }
    let over: Vec<&(u32, Truth)> = free.iter().filter(|(_, t)| (0..4).all(|w| want[w] & !t[w] == 0)).collect();
    let under: Vec<&(u32, Truth)> = free.iter().filter(|(_, t)| (0..4).all(|w| t[w] & !want[w] == 0)).collect();
    for (all, gate, is) in [
        (over, Gate::And as fn(u32, u32) -> Gate, (|a, b| a & b) as fn(u64, u64) -> u64),
        (under, Gate::Or as fn(u32, u32) -> Gate, (|a, b| a | b) as fn(u64, u64) -> u64),
    ] {
        for (k, (n, t)) in all.iter().enumerate() {
            for (m, s) in &all[..k] {
                if (0..4).all(|w| is(t[w], s[w]) == want[w]) {
                    found.push(Change::Gate(gate(*m, *n)));
                }
            }
        }
    }
    found.retain(|c| *c != Change::Gate(old));
    found
}

/// `(a . b) . c` as `a . (b . c)`, where nothing else uses `a . b`.
fn regrouped(net: &Net, target: usize, random: &mut Random) -> Option<Circuit> {
    let pair = |n: usize| match (n >= net.first_gate()).then(|| net.gate(n))? {
        Gate::And(a, b) => Some((Gate::And as fn(u32, u32) -> Gate, 0, a, b)),
        Gate::Or(a, b) => Some((Gate::Or as fn(u32, u32) -> Gate, 1, a, b)),
        Gate::Xor(a, b) => Some((Gate::Xor as fn(u32, u32) -> Gate, 2, a, b)),
        _ => None,
    };
    let (gate, kind, p, q) = pair(target)?;
    let (inner, c) = if random.below(2) == 0 { (p, q) } else { (q, p) };
    let (_, inner_kind, a, b) = pair(inner as usize)?;
    if inner_kind != kind || net.uses[inner as usize] != 1 {
        return None;
    }
    let (a, b) = if random.below(2) == 0 { (a, b) } else { (b, a) };
    // `b . c` may be there already.
    let there = net.circuit.gates.iter().position(|g| *g == gate(b, c) || *g == gate(c, b));
    Some(match there {
        Some(k) => net.changed(&[(target, gate(a, (net.first_gate() + k) as u32))], &[], None),
        None => net.changed(&[(target, gate(a, net.truth.len() as u32))], &[gate(b, c)], None),
    })
}
