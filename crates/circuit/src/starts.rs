//! First circuits of tables that have a shape of their own: Shannon expansion and algebraic normal form.
//! Trusted: text.

use crate::builder::Builder;
use crate::gates::{Circuit, Gate};
use crate::truth::{held, not, wanted, xor, Truth, ZERO};

/// One circuit for each order of the variables.
pub fn starts(inputs: u32, outputs: u32, entries: &[u64]) -> Vec<Circuit> {
    let mut all: Vec<Circuit> = orders(inputs).iter().map(|o| shannon(inputs, outputs, entries, o)).collect();
    all.push(normal_form(inputs, outputs, entries));
    all
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

fn shannon(inputs: u32, outputs: u32, entries: &[u64], order: &[u32]) -> Circuit {
    let mut b = Builder::new(inputs);
    let outs = (0..outputs).map(|o| expand(&mut b, order, &wanted(inputs, entries, o))).collect();
    b.finish(outs)
}

/// A node of this value: an existing one, or its inverse, or by expansion along `order`.
fn expand(b: &mut Builder, order: &[u32], t: &Truth) -> u32 {
    if let Some(n) = b.find(t) {
        return n;
    }
    if *t == ZERO || not(t) == ZERO {
        return b.node(Gate::Const(*t != ZERO));
    }
    if let Some(n) = b.find(&not(t)) {
        return b.not(n);
    }
    let (x, rest) = (order[0], &order[1..]);
    let (low, high) = (held(t, x, false), held(t, x, true));
    let differ = xor(&low, &high);
    if differ == ZERO {
        return expand(b, rest, &low);
    }
    if low == ZERO {
        let h = expand(b, rest, &high);
        return b.node(Gate::And(x, h));
    }
    if not(&high) == ZERO {
        let l = expand(b, rest, &low);
        return b.node(Gate::Or(x, l));
    }
    let l = expand(b, rest, &low);
    if not(&differ) == ZERO {
        return b.xor(l, x);
    }
    let d = expand(b, rest, &differ);
    let masked = b.node(Gate::And(x, d));
    b.xor(l, masked)
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
            let product = product(&mut b, inputs, x);
            sum = Some(sum.map_or(product, |s| b.xor(s, product)));
        }
        let node = sum.unwrap_or_else(|| b.node(Gate::Const(false)));
        outs.push(node);
    }
    b.finish(outs)
}

fn product(b: &mut Builder, inputs: u32, set: usize) -> u32 {
    let vars: Vec<u32> = (0..inputs).filter(|i| set >> i & 1 == 1).collect();
    let Some((first, rest)) = vars.split_first() else { return b.node(Gate::Const(true)) };
    rest.iter().fold(*first, |p, v| b.node(Gate::And(p, *v)))
}
