mod searches;

use super::*;

const RECTANGLE: [u64; 16] = [6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2];
const PRESENT: [u64; 16] = [12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2];

/// A deterministic random table.
fn random(inputs: u32, outputs: u32, seed: u64) -> Vec<u64> {
    let mut s = seed | 1;
    let mut next = || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        s >> 20 & ((1 << outputs) - 1)
    };
    (0..1 << inputs).map(|_| next()).collect()
}

fn both(inputs: u32, outputs: u32, entries: &[u64]) -> (usize, usize) {
    let (two, three) = (circuit(inputs, outputs, entries).unwrap(), circuit3(inputs, outputs, entries).unwrap());
    for (x, want) in entries.iter().enumerate() {
        assert_eq!((two.evaluate(x as u64), three.evaluate(x as u64)), (*want, *want), "input {x}");
    }
    assert!(two.gates.iter().all(|g| !matches!(g, Gate::Lut(..))));
    (two.gates.len(), three.gates.len())
}

#[test]
fn rectangle_has_its_published_circuit() {
    assert_eq!(both(4, 4, &RECTANGLE), (12, 8));
}

#[test]
fn tables_off_record_get_circuits() {
    let (two, three) = both(4, 4, &PRESENT);
    assert!(two <= 32 && three <= 20, "{two} {three}");
    assert!(three < two);
    for (inputs, outputs) in [(1, 1), (2, 3), (3, 2), (5, 5), (6, 4), (7, 2)] {
        both(inputs, outputs, &random(inputs, outputs, 0x5eed + u64::from(inputs)));
    }
    both(3, 2, &[0; 8]);
    both(3, 2, &[3; 8]);
    both(2, 2, &[0, 1, 2, 3]);
}

#[test]
fn malformed_tables_have_none() {
    assert_eq!(circuit(4, 4, &RECTANGLE[..15]), None);
    assert_eq!(circuit(4, 3, &RECTANGLE), None);
    assert_eq!(circuit(0, 1, &[1]), None);
    assert_eq!(circuit3(9, 1, &[0; 512]), None);
}

#[test]
fn one_wrong_gate_is_seen_on_every_record() {
    for c in [circuit(4, 4, &RECTANGLE).unwrap(), circuit3(4, 4, &RECTANGLE).unwrap()] {
        for at in 0..c.gates.len() {
            let mut wrong = c.clone();
            wrong.gates[at] = match wrong.gates[at] {
                Gate::Xor(a, b) => Gate::Or(a, b),
                Gate::And(a, b) | Gate::Or(a, b) => Gate::Xor(a, b),
                Gate::Not(a) => Gate::And(a, a),
                Gate::Lut(abc, t) => Gate::Lut(abc, t ^ 1),
                Gate::Const(b) => Gate::Const(!b),
            };
            assert!(!wrong.computes(&RECTANGLE), "gate {at}");
        }
    }
}

#[test]
fn a_cover_uses_three_inputs() {
    // (a & b) ^ c and ((a & b) ^ c) | d: one cell each; the and disappears.
    let f = |operands: &[u32], table| Node::Function { operands: operands.to_vec(), table };
    let nodes = [Node::Leaf, Node::Leaf, Node::Leaf, Node::Leaf, f(&[0, 1], 0x88), f(&[4, 2], 0x66), f(&[5, 3], 0xee)];
    let cells = cover(&nodes, &[5, 6]);
    assert_eq!(cells.len(), 2);
    assert_eq!(cells[0], Cell { node: 5, leaves: vec![0, 1, 2], table: 0x78 });
    assert_eq!(cells[1].leaves, vec![3, 5]);
}
