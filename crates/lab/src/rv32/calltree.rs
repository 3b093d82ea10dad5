//! Call tree of a run, with the cycles spent in each node.
//!
//! Calls are jumps that write ra, returns are jumps through ra, and a jump to the first instruction of another function
//! is a tail call. A return unwinds to the frame that waits for its address, so frames skipped by a tail call or by
//! `longjmp` close correctly.

use std::collections::BTreeMap;

use super::image::Image;
use super::memory::FLASH_BASE;

/// A function, and the chain of calls that led to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Index of the caller's node; the root is its own parent.
    pub parent: usize,
    /// Index into [`CallTree::functions`].
    pub function: usize,
    /// Cycles spent in the function itself under this chain.
    pub self_cycles: u64,
    /// Times it was entered from this chain.
    pub calls: u64,
}

/// Call tree under construction, then finished. Node 0 is the root: everything outside measuring windows hangs below it
/// with the code that was running when the window opened.
#[derive(Clone, Debug)]
pub struct CallTree {
    /// Function names; index 0 stands for code of no known function, the caller of a window among it.
    pub functions: Vec<String>,
    /// Nodes in creation order: a parent comes before its children.
    pub nodes: Vec<Node>,
    function_at: Vec<u32>,
    entry_of: Vec<bool>,
    children: BTreeMap<(usize, usize), usize>,
    frames: Vec<(usize, u32)>,
    current: usize,
    stopped: bool,
}

impl CallTree {
    /// Empty tree for an image whose code has `halfwords` halfwords.
    pub fn new(image: &Image, halfwords: usize) -> Self {
        let mut tree = CallTree {
            functions: vec!["(other)".to_string()],
            nodes: vec![Node { parent: 0, function: 0, self_cycles: 0, calls: 1 }],
            function_at: vec![0; halfwords],
            entry_of: vec![false; halfwords],
            children: BTreeMap::new(),
            frames: Vec::new(),
            current: 0,
            stopped: false,
        };
        for (name, symbol) in image.symbols.iter().filter(|(_, s)| s.function) {
            let first = (symbol.addr.wrapping_sub(FLASH_BASE) / 2) as usize;
            let last = first.saturating_add((symbol.size / 2) as usize).min(halfwords);
            if first >= last {
                continue;
            }
            tree.entry_of[first] = true;
            tree.function_at[first..last].fill(tree.functions.len() as u32);
            tree.functions.push(name.clone());
        }
        tree
    }

    /// Forgets everything counted so far: a measuring window opens.
    pub fn restart(&mut self) {
        self.nodes.truncate(1);
        self.nodes[0].self_cycles = 0;
        self.children.clear();
        self.frames.clear();
        self.current = 0;
        self.stopped = false;
    }

    /// Stops counting until the next [`CallTree::restart`]: the window closes.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Charges cycles to the function that is running.
    #[inline]
    pub fn charge(&mut self, cycles: u64) {
        if !self.stopped {
            self.nodes[self.current].self_cycles += cycles;
        }
    }

    /// A call to the code at halfword `index`, to return to `back`.
    pub fn call(&mut self, index: usize, back: u32) {
        self.frames.push((self.current, back));
        self.descend(self.current, index);
    }

    /// A jump without link to halfword `index`: a tail call if that is where another function begins. The tree shows it
    /// below the function that made it, or at the function itself if tail calls led back to it.
    pub fn jump(&mut self, index: usize) {
        let function = self.function_at[index] as usize;
        if !self.entry_of[index] || self.nodes[self.current].function == function {
            return;
        }
        let frame = self.frames.last().map_or(0, |&(caller, _)| caller);
        let mut node = self.current;
        while node != frame && node != 0 {
            if self.nodes[node].function == function {
                self.current = node;
                self.nodes[node].calls += u64::from(!self.stopped);
                return;
            }
            node = self.nodes[node].parent;
        }
        self.descend(self.current, index);
    }

    /// A return to address `back`.
    pub fn ret(&mut self, back: u32) {
        if let Some(at) = self.frames.iter().rposition(|&(_, b)| b == back) {
            self.current = self.frames[at].0;
            self.frames.truncate(at);
        }
    }

    fn descend(&mut self, parent: usize, index: usize) {
        if self.stopped {
            return;
        }
        let function = self.function_at[index] as usize;
        let next = self.nodes.len();
        let node = *self.children.entry((parent, function)).or_insert(next);
        if node == next {
            self.nodes.push(Node { parent, function, self_cycles: 0, calls: 0 });
        }
        self.nodes[node].calls += 1;
        self.current = node;
    }
}
