//! The tree of calls of a run: one node per chain of callers.

use std::collections::{BTreeMap, BTreeSet};

/// One function under one chain of callers.
pub struct Node {
    /// Caller's node; the root is its own.
    pub parent: usize,
    /// Entry address of the function.
    pub function: u64,
    pub calls: u64,
    pub self_cycles: u64,
}

/// Nodes in order of first visit (a parent before its children), and where the run stands.
pub struct CallTree {
    pub nodes: Vec<Node>,
    index: BTreeMap<(usize, u64), usize>,
    /// Waiting callers: node and the address they wait for.
    frames: Vec<(usize, u64)>,
    current: usize,
}

impl CallTree {
    pub fn new(function: u64) -> Self {
        let root = Node { parent: 0, function, calls: 1, self_cycles: 0 };
        CallTree { nodes: vec![root], index: BTreeMap::new(), frames: Vec::new(), current: 0 }
    }

    pub fn function(&self) -> u64 {
        self.nodes[self.current].function
    }

    pub fn charge(&mut self, cycles: u64) {
        self.nodes[self.current].self_cycles += cycles;
    }

    pub fn call(&mut self, function: u64, back: u64) {
        self.frames.push((self.current, back));
        self.enter(self.current, function);
    }

    /// A jump into another function: it returns to our caller.
    pub fn tail_call(&mut self, function: u64) {
        self.enter(self.nodes[self.current].parent, function);
    }

    /// A return to `back` closes every frame above the one that waits for it; a return nobody waits for is a jump.
    pub fn ret(&mut self, back: u64) -> bool {
        let Some(at) = self.frames.iter().rposition(|(_, b)| *b == back) else { return false };
        self.current = self.frames[at].0;
        self.frames.truncate(at);
        true
    }

    fn enter(&mut self, parent: usize, function: u64) {
        let fresh = self.nodes.len();
        let node = *self.index.entry((parent, function)).or_insert(fresh);
        if node == fresh {
            self.nodes.push(Node { parent, function, calls: 0, self_cycles: 0 });
        }
        self.nodes[node].calls += 1;
        self.current = node;
    }

    /// Functions from the root to `node`.
    pub fn chain(&self, node: usize) -> Vec<u64> {
        let mut chain = vec![self.nodes[node].function];
        let mut at = node;
        while at != 0 {
            at = self.nodes[at].parent;
            chain.push(self.nodes[at].function);
        }
        chain.reverse();
        chain
    }

    /// Cycles with callees, per function; recursion is counted once.
    pub fn inclusive(&self) -> BTreeMap<u64, u64> {
        let mut sums = BTreeMap::new();
        for (n, node) in self.nodes.iter().enumerate() {
            let functions: BTreeSet<u64> = self.chain(n).into_iter().collect();
            for function in functions {
                *sums.entry(function).or_insert(0) += node.self_cycles;
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recursion_is_counted_once_and_returns_unwind() {
        let mut tree = CallTree::new(1);
        tree.charge(10);
        tree.call(2, 100);
        tree.charge(5);
        tree.call(2, 200);
        tree.charge(7);
        tree.tail_call(3);
        tree.charge(1);
        assert!(!tree.ret(999));
        assert!(tree.ret(200));
        assert_eq!(tree.function(), 2);
        assert!(tree.ret(100));
        assert_eq!(tree.function(), 1);
        let inclusive = tree.inclusive();
        assert_eq!((inclusive[&1], inclusive[&2], inclusive[&3]), (23, 13, 1));
    }

    #[test]
    fn a_return_past_several_frames_closes_them() {
        let mut tree = CallTree::new(1);
        tree.call(2, 100);
        tree.call(3, 200);
        assert!(tree.ret(100));
        assert_eq!(tree.function(), 1);
        assert!(!tree.ret(200), "that frame is gone");
    }
}
