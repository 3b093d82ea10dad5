//! The natural loops of a function's code: heads and bodies.
//!
//! Needs: the flow of the code.  Keeps: an edge to a point that dominates its origin is a back edge.  Absent: loops with two
//! entries, which are no loops here.

use std::collections::{BTreeMap, BTreeSet};

/// For every head of a loop, the instructions of the loop.
pub(crate) fn loops(edges: &Edges, entry: u64) -> BTreeMap<u64, BTreeSet<u64>> {
    let mut before: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (pc, next) in edges {
        for n in next.iter().flatten() {
            before.entry(*n).or_default().push(*pc);
        }
    }
    let mut found: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for (pc, head) in retreating(edges, entry) {
        if reaches_without(edges, entry, head, pc) {
            continue;
        }
        let body = found.entry(head).or_insert_with(|| BTreeSet::from([head]));
        let mut open = vec![pc];
        while let Some(at) = open.pop() {
            if body.insert(at) {
                open.extend(before.get(&at).into_iter().flatten());
            }
        }
    }
    found
}

/// Edges to an instruction that the walk through the code has come through on its way.
fn retreating(edges: &Edges, entry: u64) -> Vec<(u64, u64)> {
    let next = |pc: u64| edges.get(&pc).into_iter().flatten().flatten().copied();
    let (mut found, mut seen, mut way) = (vec![], BTreeSet::from([entry]), BTreeSet::from([entry]));
    let mut stack = vec![(entry, next(entry).collect::<Vec<_>>())];
    while let Some((pc, open)) = stack.last_mut() {
        let pc = *pc;
        match open.pop() {
            Some(to) if way.contains(&to) => found.push((pc, to)),
            Some(to) if seen.insert(to) => {
                way.insert(to);
                stack.push((to, next(to).collect()));
            }
            Some(_) => {}
            None => {
                way.remove(&pc);
                stack.pop();
            }
        }
    }
    found
}

/// Whether `to` is reached from `from` without passing `through`.
fn reaches_without(edges: &Edges, from: u64, through: u64, to: u64) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(pc) = open.pop() {
        if pc == through || !seen.insert(pc) {
            continue;
        }
        if pc == to {
            return true;
        }
        open.extend(edges.get(&pc).into_iter().flatten().flatten());
    }
    false
}

/// The successors of every instruction of one function.
pub(crate) type Edges = BTreeMap<u64, Vec<Option<u64>>>;
