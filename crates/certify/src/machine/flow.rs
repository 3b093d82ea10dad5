//! Where the two ways of a branch meet again: immediate post-dominators in one function's code.
//!
//! Needs: code.  Keeps: an answer only for branches all of whose ways lead to the function's end.  Absent: values. What is
//! found here only says where states are joined, never that they are equal.

use super::exec::Code;
use santoku_isa::{Inst, Sem};
use std::collections::{BTreeMap, BTreeSet};

/// The successors of an instruction inside its function; `None` stands for the end.
fn successors(code: &Code, pc: u64, inst: &Inst) -> Vec<Option<u64>> {
    let next = pc + u64::from(inst.len);
    let target = code.mask(pc.wrapping_add(inst.imm as u64));
    match inst.row.sem {
        Sem::Branch(_) => vec![Some(next), Some(target)],
        Sem::Jump(_) if inst.rd != 0 => vec![Some(next)],
        Sem::Jump(_) if inst.row.name == "jal" && code.same_function(pc, target) => vec![Some(target)],
        Sem::Jump(_) => vec![None],
        _ => vec![Some(next)],
    }
}

/// The instructions of the function at `entry` with their successors.
pub(crate) fn edges(code: &Code, entry: u64) -> BTreeMap<u64, Vec<Option<u64>>> {
    let mut edges: BTreeMap<u64, Vec<Option<u64>>> = BTreeMap::new();
    let mut open = vec![entry];
    while let Some(pc) = open.pop() {
        if edges.contains_key(&pc) {
            continue;
        }
        let next = code.decode(pc).map_or(vec![None], |inst| successors(code, pc, &inst));
        open.extend(next.iter().flatten());
        edges.insert(pc, next);
    }
    edges
}

/// For every branch of the function at `entry`, where its ways meet; `None`: at the end only.
pub fn meets(code: &Code, entry: u64) -> BTreeMap<u64, Option<u64>> {
    let edges = edges(code, entry);
    let is_branch = |pc: &u64| code.decode(*pc).is_some_and(|inst| matches!(inst.row.sem, Sem::Branch(_)));
    let branches: BTreeSet<u64> = edges.keys().copied().filter(is_branch).collect();
    // Nodes in an order in which the end comes first, by depth-first search on the reversed graph.
    let nodes: Vec<u64> = edges.keys().copied().collect();
    let number: BTreeMap<u64, usize> = nodes.iter().enumerate().map(|(k, pc)| (*pc, k)).collect();
    let end = nodes.len();
    let succ: Vec<Vec<usize>> =
        nodes.iter().map(|pc| edges[pc].iter().map(|s| s.map_or(end, |s| number[&s])).collect()).collect();
    let post = post_dominators(&succ, end);
    branches.into_iter().map(|pc| (pc, post[number[&pc]].filter(|k| *k != end).map(|k| nodes[k]))).collect()
}

/// Immediate post-dominator of each node (Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed
/// graph); `None` where the end is not reached.
fn post_dominators(succ: &[Vec<usize>], end: usize) -> Vec<Option<usize>> {
    let n = succ.len() + 1;
    let mut pred: Vec<Vec<usize>> = vec![vec![]; n];
    for (k, ss) in succ.iter().enumerate() {
        ss.iter().for_each(|s| pred[*s].push(k));
    }
    let mut order = vec![];
    let mut seen = vec![false; n];
    let mut stack = vec![(end, 0usize)];
    seen[end] = true;
    while let Some((v, k)) = stack.pop() {
        if let Some(p) = pred[v].get(k) {
            stack.push((v, k + 1));
            if !seen[*p] {
                seen[*p] = true;
                stack.push((*p, 0));
            }
        } else {
            order.push(v);
        }
    }
    let mut rank = vec![0; n];
    order.iter().enumerate().for_each(|(k, v)| rank[*v] = k);
    let mut dom: Vec<Option<usize>> = vec![None; n];
    dom[end] = Some(end);
    let mut changed = true;
    while changed {
        changed = false;
        for v in order.iter().rev().filter(|v| **v != end) {
            let mut new: Option<usize> = None;
            for s in succ[*v].iter().filter(|s| dom[**s].is_some()) {
                new = Some(match new {
                    None => *s,
                    Some(mut a) => {
                        let mut b = *s;
                        while a != b {
                            while rank[a] < rank[b] {
                                a = dom[a].unwrap_or(end);
                            }
                            while rank[b] < rank[a] {
                                b = dom[b].unwrap_or(end);
                            }
                        }
                        a
                    }
                });
            }
            if dom[*v] != new {
                dom[*v] = new;
                changed = true;
            }
        }
    }
    dom
}
