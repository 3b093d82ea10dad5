//! A choice of tower as gates.
//! Trusted: text.

use crate::builder::Builder;
use crate::gates::{Circuit, Gate};
use crate::linear::{Sums, Vector};
use crate::middle::Middle;
use crate::rest::Rest;
use crate::tower::Split;

/// A choice with its sums.
pub struct Candidate {
    pub split: Split,
    /// The forms that the products take, from the inputs.
    pub top: Sums,
    /// The outputs' sums of products, backwards: from outputs to products.
    pub bottom: Sums,
    pub results: Vec<Vector>,
    pub rest: Rest,
}

impl Candidate {
    pub fn cost(&self) -> usize {
        self.top.steps.len() + self.bottom.steps.len() + self.rest.cost as usize
    }
}

/// The circuit of a candidate.
pub fn gates(middle: &Middle, c: &Candidate) -> Option<Circuit> {
    let mut b = Builder::new(8);
    let values = first_sums(&mut b, &c.top)?;
    let form = |v: Vector| c.top.place(v).and_then(|k| values[k]);
    let forms: Vec<u32> = c.split.forms.iter().map(|f| form(*f)).collect::<Option<_>>()?;
    let bits = norm(&mut b, middle, c, &values, &forms)?;
    let z = middle.gates(&mut b, &bits);
    let mut terms: Vec<Terms> = vec![Terms::default(); c.bottom.values.len()];
    for p in (0..18).filter(|p| c.results[*p] != 0) {
        let product = b.node(Gate::And(z[p % 9], forms[p]));
        terms[c.bottom.place(c.results[p])?].nodes.push(product);
    }
    if c.results[18] != 0 {
        terms[c.bottom.place(c.results[18])?].flip = true;
    }
    let outputs = spread(&mut b, &c.bottom, terms)?;
    Some(b.finish(outputs))
}

/// Nodes of the sums of inputs; the value that is 1 has none.
fn first_sums(b: &mut Builder, top: &Sums) -> Option<Vec<Option<u32>>> {
    let mut values: Vec<Option<u32>> = (0..8).map(Some).chain([None]).collect();
    for (i, j) in &top.steps {
        let node = match (values[*i as usize], values[*j as usize]) {
            (Some(x), Some(y)) => b.xor(x, y),
            (Some(x), None) | (None, Some(x)) => b.not(x),
            (None, None) => return None,
        };
        values.push(Some(node));
    }
    Some(values)
}

/// The four bits of the norm.
fn norm(b: &mut Builder, middle: &Middle, c: &Candidate, values: &[Option<u32>], forms: &[u32]) -> Option<Vec<u32>> {
    let mut terms: Vec<Terms> = vec![Terms::default(); middle.sums.values.len()];
    for p in 0..9 {
        let (x, y) = (forms[p], forms[p + 9]);
        let product = b.node(if c.rest.ors >> p & 1 == 1 { Gate::Or(x, y) } else { Gate::And(x, y) });
        terms[middle.sums.place(middle.takes[p])?].nodes.push(product);
    }
    for (v, g) in &c.rest.at {
        for part in c.top.parts(*g) {
            match values[part] {
                Some(n) => terms[*v].nodes.push(n),
                None => terms[*v].flip ^= true,
            }
        }
    }
    spread(b, &middle.sums, terms)
}

/// What comes in at one value of sums that are run backwards.
#[derive(Clone, Debug, Default)]
struct Terms {
    nodes: Vec<u32>,
    flip: bool,
}

/// Sums run backwards: what comes in at a value goes to every input that the value is a sum of.
fn spread(b: &mut Builder, sums: &Sums, mut terms: Vec<Terms>) -> Option<Vec<u32>> {
    for (k, (i, j)) in sums.steps.iter().enumerate().rev() {
        let own = std::mem::take(&mut terms[sums.dims + k]);
        for to in [*i as usize, *j as usize] {
            match collected(b, own.clone()) {
                Some(n) => terms[to].nodes.push(n),
                None => terms[to].flip ^= own.flip,
            }
        }
    }
    terms.truncate(sums.dims);
    terms.into_iter().map(|t| collected(b, t)).collect()
}

fn collected(b: &mut Builder, t: Terms) -> Option<u32> {
    let n = b.sum(t.nodes)?;
    Some(if t.flip { b.not(n) } else { n })
}
