//! Circuits for tables that are not on record: Shannon expansion and algebraic normal form as starting points, then gates
//! replaced by cheaper ones of equal value until nothing is gained.

use crate::gates::{Circuit, Gate};
use std::collections::{BTreeMap, BTreeSet};

/// Values of a node on all inputs of the table, 64 to a word.
type Truth = Vec<u64>;

/// Above this many gates the quadratic resubstitution is left out.
const RESUB_MAX: usize = 160;

/// Two-input gates for a table; correct by construction, small by luck.
pub fn search(inputs: u32, outputs: u32, entries: &[u64]) -> Circuit {
    let mut candidates: Vec<Circuit> = orders(inputs).iter().map(|o| shannon(inputs, outputs, entries, o)).collect();
    candidates.push(normal_form(inputs, outputs, entries));
    // Improvement is costly: only the most promising starts are worth it.
    candidates.sort_by_key(|c| c.gates.len());
    candidates.dedup();
    let improved = candidates.into_iter().take(8).map(improve);
    improved.min_by_key(|c| c.gates.len()).unwrap_or_else(|| normal_form(inputs, outputs, entries))
}

/// All orders of up to 4 variables, the rotations of more.
fn orders(n: u32) -> Vec<Vec<u32>> {
    if n > 4 {
        return (0..n).map(|r| (0..n).map(|i| (i + r) % n).collect()).collect();
    }
    let mut all = vec![Vec::new()];
    for _ in 0..n {
        let grow = |p: Vec<u32>| (0..n).filter(|v| !p.contains(v)).map(|v| [p.clone(), vec![v]].concat()).collect::<Vec<_>>();
        all = all.into_iter().flat_map(grow).collect();
    }
    all
}

/// Gates with their truth tables; a gate of known value is not made again.
struct Builder {
    inputs: u32,
    gates: Vec<Gate>,
    truth: Vec<Truth>,
    by_truth: BTreeMap<Truth, u32>,
}

impl Builder {
    fn new(inputs: u32) -> Builder {
        let mut b = Builder { inputs, gates: Vec::new(), truth: Vec::new(), by_truth: BTreeMap::new() };
        for i in 0..inputs {
            let t = tabulate(inputs, |x| x >> i & 1 == 1);
            b.by_truth.insert(t.clone(), i);
            b.truth.push(t);
        }
        b
    }

    fn node(&mut self, g: Gate) -> u32 {
        let t = self.value(&g);
        if let Some(n) = self.by_truth.get(&t) {
            return *n;
        }
        let n = self.truth.len() as u32;
        self.gates.push(g);
        self.by_truth.insert(t.clone(), n);
        self.truth.push(t);
        n
    }

    fn value(&self, g: &Gate) -> Truth {
        let mask = mask(self.inputs);
        (0..self.truth_words()).map(|w| g.columns(|n| self.truth[n as usize][w]) & mask).collect()
    }

    fn truth_words(&self) -> usize {
        (1usize << self.inputs).div_ceil(64)
    }

    fn complement(&self, t: &Truth) -> Truth {
        t.iter().map(|w| !w & mask(self.inputs)).collect()
    }

    /// A node of this value: an existing one, or its inverse, or by Shannon expansion along `order`.
    fn expand(&mut self, order: &[u32], t: &Truth) -> u32 {
        if let Some(n) = self.by_truth.get(t) {
            return *n;
        }
        if t.iter().all(|w| *w == 0) {
            return self.node(Gate::Const(false));
        }
        if let Some(&n) = self.by_truth.get(&self.complement(t)) {
            return self.node(Gate::Not(n));
        }
        if self.complement(t).iter().all(|w| *w == 0) {
            return self.node(Gate::Const(true));
        }
        let (x, rest) = (order[0], &order[1..]);
        let side = |one: bool| tabulate(self.inputs, |i| bit(t, if one { i | 1 << x } else { i & !(1 << x) }));
        let (low, high) = (side(false), side(true));
        let zero = |t: &Truth| t.iter().all(|w| *w == 0);
        let differ: Truth = low.iter().zip(&high).map(|(a, b)| a ^ b).collect();
        if zero(&differ) {
            return self.expand(rest, &low);
        }
        if zero(&low) {
            let h = self.expand(rest, &high);
            return self.node(Gate::And(x, h));
        }
        if zero(&self.complement(&high)) {
            let l = self.expand(rest, &low);
            return self.node(Gate::Or(x, l));
        }
        let l = self.expand(rest, &low);
        if zero(&self.complement(&differ)) {
            return self.node(Gate::Xor(l, x));
        }
        let d = self.expand(rest, &differ);
        let masked = self.node(Gate::And(x, d));
        self.node(Gate::Xor(l, masked))
    }

    fn finish(self, outputs: Vec<u32>) -> Circuit {
        Circuit { inputs: self.inputs, gates: self.gates, outputs }.swept()
    }
}

fn mask(inputs: u32) -> u64 {
    if inputs >= 6 { !0 } else { (1 << (1 << inputs)) - 1 }
}

fn bit(t: &Truth, x: usize) -> bool {
    t[x / 64] >> (x % 64) & 1 == 1
}

fn tabulate(inputs: u32, f: impl Fn(usize) -> bool) -> Truth {
    let mut t = vec![0; (1usize << inputs).div_ceil(64)];
    (0..1 << inputs).filter(|x| f(*x)).for_each(|x| t[x / 64] |= 1 << (x % 64));
    t
}

fn wanted(inputs: u32, entries: &[u64], output: u32) -> Truth {
    tabulate(inputs, |x| entries[x] >> output & 1 == 1)
}

fn shannon(inputs: u32, outputs: u32, entries: &[u64], order: &[u32]) -> Circuit {
    let mut b = Builder::new(inputs);
    let outs = (0..outputs).map(|o| b.expand(order, &wanted(inputs, entries, o))).collect();
    b.finish(outs)
}

/// Exclusive or of products, products shared.
fn normal_form(inputs: u32, outputs: u32, entries: &[u64]) -> Circuit {
    let mut b = Builder::new(inputs);
    let mut outs = Vec::new();
    for o in 0..outputs {
        let mut c: Vec<bool> = entries.iter().map(|e| e >> o & 1 == 1).collect();
        for i in 0..inputs {
            for x in (0..c.len()).filter(|x| x >> i & 1 == 1) {
                c[x] ^= c[x & !(1 << i)];
            }
        }
        let mut sum = None;
        for x in (0..c.len()).filter(|x| c[*x]) {
            let product = product(&mut b, x);
            sum = Some(sum.map_or(product, |s| b.node(Gate::Xor(s, product))));
        }
        let node = sum.unwrap_or_else(|| b.node(Gate::Const(false)));
        outs.push(node);
    }
    b.finish(outs)
}

fn product(b: &mut Builder, set: usize) -> u32 {
    let vars: Vec<u32> = (0..b.inputs).filter(|i| set >> i & 1 == 1).collect();
    let Some((first, rest)) = vars.split_first() else { return b.node(Gate::Const(true)) };
    rest.iter().fold(*first, |p, v| b.node(Gate::And(p, *v)))
}

/// Replaces gates by one gate of two nodes that are not built from them, as long as gates fall away.
fn improve(start: Circuit) -> Circuit {
    let mut best = start;
    while best.gates.len() <= RESUB_MAX {
        let Some(better) = resubstitute(&best) else { break };
        best = better;
    }
    best
}

/// A smaller circuit of the same function, where one replacement gives it.
fn resubstitute(c: &Circuit) -> Option<Circuit> {
    let mut b = Builder::new(c.inputs);
    for g in &c.gates {
        let t = b.value(g);
        b.truth.push(t);
    }
    let values: BTreeSet<&Truth> = b.truth.iter().collect();
    let total = b.truth.len();
    for target in (c.inputs as usize..total).rev() {
        let want = &b.truth[target];
        let below = descendants(c, target);
        let free: Vec<Pick> = (0..total).filter(|x| !below[*x]).map(|x| Pick::new(x, &b.truth[x], want)).collect();
        for (k, x) in free.iter().enumerate() {
            if !(x.covers || x.inside || values.contains(&x.rest)) {
                continue;
            }
            for y in &free[k..] {
                let smaller = x.gates(y, want).into_iter().flatten().find_map(|g| replaced(c, target, g));
                if smaller.is_some() {
                    return smaller;
                }
            }
        }
    }
    None
}

/// A node as an operand of a gate that is to have a wanted value.
struct Pick<'a> {
    node: u32,
    truth: &'a Truth,
    /// 1 wherever the wanted value is: what both operands of an and are.
    covers: bool,
    /// 0 wherever the wanted value is: what both operands of an or are.
    inside: bool,
    /// The other operand of an exclusive or.
    rest: Truth,
}

impl Pick<'_> {
    fn new<'a>(node: usize, truth: &'a Truth, want: &Truth) -> Pick<'a> {
        let pairs = || truth.iter().zip(want);
        Pick {
            node: node as u32,
            truth,
            covers: pairs().all(|(t, w)| w & !t == 0),
            inside: pairs().all(|(t, w)| t & !w == 0),
            rest: pairs().map(|(t, w)| t ^ w).collect(),
        }
    }

    /// The gates of the two nodes that have the wanted value.
    fn gates(&self, other: &Pick<'_>, want: &Truth) -> [Option<Gate>; 3] {
        let (x, y) = (self.node, other.node);
        let is = |f: fn(u64, u64) -> u64| self.truth.iter().zip(other.truth).zip(want).all(|((a, b), w)| f(*a, *b) == *w);
        [
            (self.covers && other.covers && is(|a, b| a & b)).then_some(Gate::And(x, y)),
            (self.inside && other.inside && is(|a, b| a | b)).then_some(Gate::Or(x, y)),
            (self.rest == *other.truth).then_some(Gate::Xor(x, y)),
        ]
    }
}

/// Nodes that depend on `target`, itself included.
fn descendants(c: &Circuit, target: usize) -> Vec<bool> {
    let n = c.inputs as usize;
    let mut hit = vec![false; n + c.gates.len()];
    hit[target] = true;
    for (k, g) in c.gates.iter().enumerate() {
        hit[n + k] |= g.operands().iter().any(|o| hit[*o as usize]);
    }
    hit
}

/// The circuit with another gate for `target`, in a valid order, if it has fewer gates.
fn replaced(c: &Circuit, target: usize, g: Gate) -> Option<Circuit> {
    let n = c.inputs as usize;
    let mut gates = c.gates.clone();
    gates[target - n] = g;
    let mut order = Vec::new();
    let mut place: BTreeMap<u32, u32> = (0..c.inputs).map(|i| (i, i)).collect();
    for o in &c.outputs {
        visit(*o, n, &gates, &mut place, &mut order);
    }
    if order.len() >= c.gates.len() {
        return None;
    }
    let outputs = c.outputs.iter().map(|o| place[o]).collect();
    Some(Circuit { inputs: c.inputs, gates: order, outputs })
}

fn visit(node: u32, n: usize, gates: &[Gate], place: &mut BTreeMap<u32, u32>, order: &mut Vec<Gate>) {
    if place.contains_key(&node) {
        return;
    }
    let g = gates[node as usize - n];
    g.operands().iter().for_each(|o| visit(*o, n, gates, place, order));
    order.push(g.map(|o| place[&o]));
    place.insert(node, (n + order.len() - 1) as u32);
}
