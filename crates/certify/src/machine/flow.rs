//! How execution may go through a function: where the two ways of a branch meet again (immediate post-dominators), and loops.
//!
//! Needs: code.  Keeps: an answer only for branches all of whose ways lead to the function's end.  Absent: values. What is
//! found here only says where states are joined, never that they are equal.

use super::code::{Code, Flow};
use super::shape::Edges;
use super::{live, shape};
use santoku_isa::{Inst, Sem};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The successors of an instruction inside its function; `None` stands for the end.
fn successors(code: &Code, pc: u64, inst: &Inst) -> Vec<Option<u64>> {
    let next = pc + u64::from(inst.len);
    let target = code.mask(pc.wrapping_add(inst.imm as u64));
    match inst.row.sem {
        Sem::Branch(_) => vec![Some(next), Some(target)],
        Sem::Jump(_) if inst.rd != 0 => vec![Some(next)],
        Sem::Jump(_) if inst.row.name == "jal" && code.same_function(pc, target) => vec![Some(target)],
        Sem::Jump(_) => vec![None],
        // Nothing is executed behind it: what stands there is entered from elsewhere.
        Sem::Break => vec![],
        _ => vec![Some(next)],
    }
}

/// The instructions of the function at `entry` with their successors.
fn edges(code: &Code, entry: u64) -> Edges {
    let mut edges = Edges::new();
    let mut open = vec![entry];
    while let Some(pc) = open.pop() {
        if edges.contains_key(&pc) {
            continue;
        }
        let next = code.guess(pc).map_or(vec![None], |inst| successors(code, pc, &inst));
        open.extend(next.iter().flatten());
        edges.insert(pc, next);
    }
    edges
}

impl Flow {
    pub fn new(code: &Code, entry: u64) -> Flow {
        let edges = edges(code, entry);
        // The end comes last.
        let nodes: Vec<u64> = edges.keys().copied().collect();
        let number: BTreeMap<u64, usize> = nodes.iter().enumerate().map(|(k, pc)| (*pc, k)).collect();
        let end = nodes.len();
        let succ: Vec<Vec<usize>> =
            nodes.iter().map(|pc| edges[pc].iter().map(|s| s.map_or(end, |s| number[&s])).collect()).collect();
        let post = post_dominators(&succ, end);
        let meets = number.iter().map(|(pc, k)| (*pc, post[*k].filter(|k| *k != end).map(|k| nodes[k]))).collect();
        let loops = shape::loops(&edges, entry).into_iter().map(|(head, body)| (head, Rc::new(body))).collect();
        let order = order(&edges, entry);
        let live = live::live(code, &edges);
        Flow { edges, meets, loops, order, live }
    }

    /// Instructions that lie right before one and lead to it.
    pub fn before(&self, pc: u64) -> Vec<u64> {
        let near = self.edges.range(pc.saturating_sub(4)..pc);
        near.filter(|(_, next)| next.contains(&Some(pc))).map(|(at, _)| *at).collect()
    }

    /// Something else leads to an instruction than the one before it.
    pub fn is_entered(&self, pc: u64) -> bool {
        self.edges.iter().filter(|(_, next)| next.contains(&Some(pc))).count() > 1
    }

    pub fn meet(&self, pc: u64) -> Option<u64> {
        self.meets.get(&pc).copied().flatten()
    }

    pub fn order(&self, pc: u64) -> usize {
        self.order.get(&pc).copied().unwrap_or(usize::MAX)
    }

    /// Registers whose values matter at `pc`, one bit each.
    pub fn live(&self, pc: u64) -> u32 {
        self.live.get(&pc).copied().unwrap_or(u32::MAX)
    }

    /// Whether `pc` is in the loop with this head. A step from there to the head is a step back.
    pub fn is_in_loop(&self, pc: u64, head: u64) -> bool {
        self.loops.get(&head).is_some_and(|body| body.contains(&pc))
    }

    /// Whether a way from the branch at `pc` leads back to the head of a loop around it before the ways meet.
    pub fn turns_back(&self, pc: u64) -> bool {
        let around: Vec<u64> = self.loops.iter().filter(|(_, body)| body.contains(&pc)).map(|(head, _)| *head).collect();
        if around.is_empty() {
            return false;
        }
        let meet = self.meet(pc);
        let (mut seen, mut open) = (BTreeSet::new(), vec![pc]);
        while let Some(at) = open.pop() {
            for to in self.edges.get(&at).into_iter().flatten().flatten().filter(|to| Some(**to) != meet) {
                if around.contains(to) && self.is_in_loop(at, *to) {
                    return true;
                }
                if seen.insert(*to) {
                    open.push(*to);
                }
            }
        }
        false
    }

    /// The longest loop around `pc` that does not hold `stop`.
    pub fn around(&self, pc: u64, stop: Option<u64>) -> Option<Rc<BTreeSet<u64>>> {
        let fits = |body: &&Rc<BTreeSet<u64>>| body.contains(&pc) && stop.is_none_or(|s| !body.contains(&s));
        self.loops.values().filter(fits).max_by_key(|body| body.len()).cloned()
    }
}

/// Reverse post-order of a walk through the code.
fn order(edges: &Edges, entry: u64) -> BTreeMap<u64, usize> {
    let next = |pc: u64| edges.get(&pc).into_iter().flatten().flatten().copied().collect::<Vec<_>>();
    let (mut seen, mut left) = (BTreeSet::from([entry]), vec![]);
    let mut stack = vec![(entry, next(entry))];
    while let Some((pc, open)) = stack.last_mut() {
        match open.pop() {
            Some(to) if seen.insert(to) => stack.push((to, next(to))),
            Some(_) => {}
            None => {
                left.push(*pc);
                stack.pop();
            }
        }
    }
    left.into_iter().rev().enumerate().map(|(k, pc)| (pc, k)).collect()
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

impl Code<'_> {
    /// How execution may go through the function around `pc`.
    pub(crate) fn flow_of(&self, pc: u64) -> Option<Rc<Flow>> {
        let entry = self.image.function_at(pc)?.address;
        let mut all = self.flows.borrow_mut();
        Some(all.entry(entry).or_insert_with(|| Rc::new(Flow::new(self, entry))).clone())
    }
}
