//! Tables of more variables than a pool has, by expansion along the others.
//!
//! A function `f` with the halves `low` and `high` for a variable `x` is `low ^ (x & d)` and `high ^ (!x & d)` with
//! `d = low ^ high`: of three smaller functions `d` and one other are enough, and which one is left to what the pool has.
//! Trusted: text.

use crate::builder::Builder;
use crate::gates::{Circuit, Gate};
use crate::greedy::Wishes;
use crate::pool::{plain, Pool, Word};
use crate::random::Random;
use crate::truth::{bit, held, not, wanted, xor, Truth, ZERO};

/// One function on the way down: which half it is of, and its value.
struct Node {
    truth: Truth,
    /// Children: low, high, their difference. Leaves have none.
    children: Option<[usize; 3]>,
    /// Node above, and which child of it this is.
    above: Option<(usize, usize)>,
    /// Which half was chosen.
    side: Option<usize>,
    word: Word,
    done: bool,
}

/// A table expanded down to functions of the first variables of `order`.
struct Expansion<'a> {
    order: &'a [u32],
    leaf_variables: usize,
    nodes: Vec<Node>,
    roots: Vec<usize>,
}

impl<'a> Expansion<'a> {
    fn new(outputs: &[Truth], order: &'a [u32], leaf_variables: usize) -> Expansion<'a> {
        let mut e = Expansion { order, leaf_variables, nodes: Vec::new(), roots: Vec::new() };
        e.roots = outputs.iter().map(|t| e.node(*t, None, order.len())).collect();
        e
    }

    /// Expands along the variables before `depth` that are not a leaf's.
    fn node(&mut self, truth: Truth, above: Option<(usize, usize)>, depth: usize) -> usize {
        let at = self.nodes.len();
        self.nodes.push(Node { truth, children: None, above, side: None, word: 0, done: false });
        if depth <= self.leaf_variables {
            self.nodes[at].word = self.word(&truth);
            return at;
        }
        let x = self.order[depth - 1];
        let (low, high) = (held(&truth, x, false), held(&truth, x, true));
        let children = [low, high, xor(&low, &high)];
        let children = std::array::from_fn(|k| self.node(children[k], Some((at, k)), depth - 1));
        self.nodes[at].children = Some(children);
        at
    }

    /// The function in the variables of the pool.
    fn word(&self, t: &Truth) -> Word {
        let place = |p: usize| self.order[..self.leaf_variables].iter().enumerate().fold(0, |x, (i, v)| x | (p >> i & 1) << v);
        (0..32).filter(|p| bit(t, place(*p))).fold(0, |w, p| w | 1 << p)
    }

    fn live(&self, mut at: usize) -> bool {
        while let Some((above, k)) = self.nodes[at].above {
            if k < 2 && self.nodes[above].side.is_some_and(|s| s != k) {
                return false;
            }
            at = above;
        }
        true
    }

    /// Leaves that are no longer wanted when this one is chosen.
    fn loss(&self, mut at: usize) -> usize {
        let mut loss = 0;
        let mut size = 1;
        while let Some((above, k)) = self.nodes[at].above {
            if k < 2 && self.nodes[above].side.is_none() {
                loss += size;
            }
            size *= 3;
            at = above;
        }
        loss
    }

    fn choose(&mut self, mut at: usize) {
        self.nodes[at].done = true;
        while let Some((above, k)) = self.nodes[at].above {
            if k < 2 {
                self.nodes[above].side = Some(k);
            }
            at = above;
        }
    }

    fn open(&self, n: usize) -> bool {
        self.nodes[n].children.is_none() && !self.nodes[n].done && self.live(n)
    }

    /// A node that is this function or its complement; `None` for constants.
    fn build(&self, at: usize, depth: usize, b: &mut Builder, leaves: &[u32], pool: &Pool) -> Option<u32> {
        let node = &self.nodes[at];
        if node.truth == ZERO || not(&node.truth) == ZERO {
            return None;
        }
        if let Some(n) = b.find(&node.truth).or_else(|| b.find(&not(&node.truth))) {
            return Some(n);
        }
        let Some(children) = node.children else { return pool.find(node.word).map(|k| leaves[k as usize]) };
        let x = self.order[depth - 1];
        let side = node.side.unwrap_or(0);
        let rest = self.build(children[side], depth - 1, b, leaves, pool);
        let differ = children[2];
        let masked = match self.build(differ, depth - 1, b, leaves, pool) {
            None if self.nodes[differ].truth == ZERO => return rest,
            None => x,
            // The low half is exclusive or with `x & d`, the high half with `!x & d`; the complement of either is an or.
            Some(d) if b.truth(d) == self.nodes[differ].truth => {
                let x = if side == 0 { x } else { b.not(x) };
                b.node(Gate::And(x, d))
            }
            Some(d) => {
                let x = if side == 0 { b.not(x) } else { x };
                b.node(Gate::Or(x, d))
            }
        };
        Some(rest.map_or(masked, |r| b.xor(r, masked)))
    }
}

impl Wishes for Expansion<'_> {
    fn wanted(&self) -> Vec<(Word, usize)> {
        (0..self.nodes.len()).filter(|n| self.open(*n)).map(|n| (self.nodes[n].word, self.loss(n))).collect()
    }

    fn taken(&mut self, w: Word) {
        for n in 0..self.nodes.len() {
            if self.open(n) && plain(self.nodes[n].word) == plain(w) {
                self.choose(n);
            }
        }
    }
}

/// One attempt: the first `leaf_variables` of `order` are the pool's.
pub fn expand(inputs: u32, outputs: u32, entries: &[u64], order: &[u32], leaf_variables: usize, random: &Random) -> Circuit {
    let wants: Vec<Truth> = (0..outputs).map(|o| wanted(inputs, entries, o)).collect();
    let mut expansion = Expansion::new(&wants, order, leaf_variables);
    let mut pool = Pool::new(leaf_variables, random.clone());
    pool.gather(&mut expansion);
    let mut b = Builder::new(inputs);
    let leaves = pool.gates(&mut b, &order[..leaf_variables]);
    let nodes = expansion.roots.iter().zip(&wants).map(|(root, want)| {
        let made = expansion.build(*root, order.len(), &mut b, &leaves, &pool);
        let made = made.unwrap_or_else(|| b.node(Gate::Const(false)));
        b.polarised(made, want).unwrap_or(made)
    });
    let nodes: Vec<u32> = nodes.collect();
    b.finish(nodes)
}
