//! Terms bit by bit: two words that are not one term may still be one function of the bits they are made of.
//!
//! Needs: [`super::dag`], gates.  Keeps: an answer is a proof; what has no gates here is a word of unknown bits, the same for the same term.
//! Absent: arithmetic beyond sums; search.
//! Trusted: engines.

use super::arith::log2;
use super::dag::{Dag, Id, Node, Sort};
use crate::gates::{Bit, Gates};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};
use std::collections::{BTreeSet, HashMap};

/// Bits of an exact integer.
const EXACT_MAX: usize = 2_048;
/// Elements of a table that is looked into.
const TABLE_MAX: usize = 1 << 10;

/// The bits of terms of one graph: of a word as many as it has, of a truth value one, of an integer its two's complement, the last being its sign.
#[derive(Default)]
pub struct Blast {
    gates: Gates,
    of: HashMap<Id, Vec<Bit>>,
    inputs: u32,
    #[cfg(test)]
    leaves: Vec<(Id, u32)>,
}

impl Blast {
    /// Whether two scalars are the same, as the integers they read as.
    pub fn same(&mut self, dag: &Dag, a: Id, b: Id) -> bool {
        let (Some(x), Some(y)) = (self.exact(dag, a), self.exact(dag, b)) else { return false };
        let n = x.len().max(y.len());
        let pairs: Vec<(Bit, Bit)> = Gates::extended(&x, n).into_iter().zip(Gates::extended(&y, n)).collect();
        !self.gates.full && pairs.into_iter().all(|(x, y)| self.gates.same(x, y))
    }

    /// A scalar as an integer.
    fn exact(&mut self, dag: &Dag, x: Id) -> Option<Vec<Bit>> {
        let bits = self.bits(dag, x)?;
        Some(self.unsigned(dag, x, bits))
    }

    fn unsigned(&mut self, dag: &Dag, x: Id, mut bits: Vec<Bit>) -> Vec<Bit> {
        if dag.sort(x) != Sort::Int {
            bits.push(self.gates.constant(false));
        }
        Gates::trimmed(bits)
    }

    /// The bits of a scalar, those of its operands first. `None`: an integer whose bits are not known to be so many, or too much.
    fn bits(&mut self, dag: &Dag, x: Id) -> Option<Vec<Bit>> {
        let (mut wanted, mut todo) = (BTreeSet::new(), vec![x]);
        while let Some(t) = todo.pop() {
            if !self.of.contains_key(&t) && wanted.insert(t) {
                todo.extend(operands(dag, t));
            }
        }
        // A term comes behind its operands.
        for t in wanted {
            // What is made of an integer without bounds may still be a word of unknown bits.
            let Some(bits) = self.made(dag, t).or_else(|| self.unknown(dag, t)) else { continue };
            if self.gates.full || bits.len() > EXACT_MAX {
                return None;
            }
            self.of.insert(t, bits);
        }
        self.of.get(&x).cloned()
    }

    /// A word that nothing is known of but its size.
    fn unknown(&mut self, dag: &Dag, x: Id) -> Option<Vec<Bit>> {
        let bits = match dag.sort(x) {
            Sort::Word(n) => n,
            Sort::Bool => 1,
            Sort::Int | Sort::Agg(_) => return None,
        };
        let first = self.inputs;
        #[cfg(test)]
        self.leaves.push((x, first));
        self.inputs += bits;
        Some((first..first + bits).map(|n| self.gates.input(n)).collect())
    }

    /// Words of unknown bits that are in the gates, and the first of their inputs.
    #[cfg(test)]
    pub fn leaves(&self) -> &[(Id, u32)] {
        &self.leaves
    }

    /// The value of a scalar where these are the values of inputs.
    #[cfg(test)]
    pub fn value(&mut self, dag: &Dag, x: Id, inputs: &dyn Fn(u32) -> bool) -> Option<BigInt> {
        let bits = self.exact(dag, x)?;
        let values = self.gates.values(&bits, inputs);
        let (sign, low) = values.split_last()?;
        let number = low.iter().rev().fold(BigInt::from(0), |v, b| v * 2 + u8::from(*b));
        Some(if *sign { number - (BigInt::from(1) << low.len()) } else { number })
    }

    fn known(&self, x: Id) -> Option<&Vec<Bit>> {
        self.of.get(&x)
    }

    /// The gates of a term whose operands have theirs. `None`: it has none here.
    fn made(&mut self, dag: &Dag, x: Id) -> Option<Vec<Bit>> {
        let sort = dag.sort(x);
        Some(match dag.node(x) {
            Node::Const(v) => match sort {
                Sort::Word(n) => self.gates.word(v, n),
                Sort::Bool => vec![self.gates.constant(!v.is_zero())],
                Sort::Int => self.gates.exact(v),
                Sort::Agg(_) => return None,
            },
            Node::Sum(terms, c) => self.sum(terms, c, sort)?,
            Node::And(xs, c) => self.bitwise(xs, c, sort, Gates::and)?,
            Node::Or(xs, c) => self.bitwise(xs, c, sort, Gates::or)?,
            Node::Xor(xs, c) => self.bitwise(xs, c, sort, Gates::xor)?,
            Node::Div(y, d) => Gates::exact_shr(self.known(*y)?, log2(d)? as usize),
            Node::Mod(y, d) => {
                let y = self.known(*y)?.clone();
                self.gates.exact_low(&y, log2(d)? as usize)
            }
            Node::Shr(y, k) => {
                let zero = self.gates.constant(false);
                let y = self.known(*y)?;
                (0..y.len()).map(|i| y.get(i + *k as usize).copied().unwrap_or(zero)).collect()
            }
            Node::Rotl(y, k) => {
                let y = self.known(*y)?;
                let n = y.len();
                (0..n).map(|i| y[(i + n - *k as usize % n) % n]).collect()
            }
            Node::Resize(y) | Node::FromBool(y) => {
                let Sort::Word(n) = sort else { return None };
                let zero = self.gates.constant(false);
                let y = self.known(*y)?;
                (0..n as usize).map(|i| y.get(i).copied().unwrap_or(zero)).collect()
            }
            Node::ToInt(y) => {
                let bits = self.known(*y)?.clone();
                self.unsigned(dag, *y, bits)
            }
            Node::FromInt(y) => {
                let Sort::Word(n) = sort else { return None };
                Gates::extended(self.known(*y)?, n as usize)
            }
            Node::Eq(a, b) => {
                let (a, b) = self.alike(dag, *a, *b)?;
                vec![self.gates.equal(&a, &b)]
            }
            Node::Lt(a, b) => {
                let (a, b) = self.alike(dag, *a, *b)?;
                vec![self.gates.exact_less(&a, &b)]
            }
            Node::Select(c, a, b) => {
                let c = *self.known(*c)?.first()?;
                let (a, b) = match sort {
                    Sort::Int => self.alike(dag, *a, *b)?,
                    _ => (self.known(*a)?.clone(), self.known(*b)?.clone()),
                };
                a.iter().zip(&b).map(|(x, y)| self.gates.choose(c, *x, *y)).collect()
            }
            Node::Load(table, i) => self.element(dag, *table, *i, sort)?,
            _ => return None,
        })
    }

    /// Two scalars as integers of as many bits.
    fn alike(&mut self, dag: &Dag, a: Id, b: Id) -> Option<(Vec<Bit>, Vec<Bit>)> {
        let (x, y) = (self.known(a)?.clone(), self.known(b)?.clone());
        let (x, y) = (self.unsigned(dag, a, x), self.unsigned(dag, b, y));
        let n = x.len().max(y.len());
        Some((Gates::extended(&x, n), Gates::extended(&y, n)))
    }

    fn bitwise(&mut self, xs: &[Id], c: &BigInt, sort: Sort, op: fn(&mut Gates, Bit, Bit) -> Bit) -> Option<Vec<Bit>> {
        let n = match sort {
            Sort::Word(n) => n,
            Sort::Bool => 1,
            Sort::Int | Sort::Agg(_) => return None,
        };
        let mut all = self.gates.word(c, n);
        for x in xs {
            let bits = self.known(*x)?.clone();
            for (a, b) in all.iter_mut().zip(bits) {
                *a = op(&mut self.gates, *a, b);
            }
        }
        Some(all)
    }

    /// Multiples of powers of two are shifted; others are sums of these.
    fn sum(&mut self, terms: &[(Id, BigInt)], c: &BigInt, sort: Sort) -> Option<Vec<Bit>> {
        match sort {
            Sort::Word(n) => {
                let mut all = self.gates.word(c, n);
                let (zero, unit) = (self.gates.constant(false), BigInt::from(1) << n);
                for (x, k) in terms {
                    let bits = self.known(*x)?.clone();
                    let minus = k.is_negative();
                    let k = k.abs() % &unit;
                    for at in (0..n as usize).filter(|at| k.bit(*at as u64)) {
                        let shifted: Vec<Bit> = (0..n as usize).map(|i| if i < at { zero } else { bits[i - at] }).collect();
                        all = if minus { self.gates.minus(&all, &shifted) } else { self.gates.add_words(&all, &shifted, zero) };
                    }
                }
                Some(all)
            }
            Sort::Int => {
                let mut all = self.gates.exact(c);
                for (x, k) in terms {
                    let bits = self.known(*x)?.clone();
                    let minus = k.is_negative();
                    let k = k.abs();
                    for at in (0..k.bits()).filter(|at| k.bit(*at)) {
                        let shifted = self.gates.exact_shl(&bits, at as usize);
                        all = if minus { self.gates.exact_sub(&all, &shifted) } else { self.gates.exact_add(&all, &shifted) };
                        if all.len() > EXACT_MAX {
                            return None;
                        }
                    }
                }
                Some(all)
            }
            Sort::Bool | Sort::Agg(_) => None,
        }
    }

    /// An element of a constant table whose index surely lies in it.
    fn element(&mut self, dag: &Dag, table: Id, index: Id, sort: Sort) -> Option<Vec<Bit>> {
        let Node::Array(parts) = dag.node(table) else { return None };
        let values: Vec<BigInt> = parts.iter().map(|p| dag.as_const(*p).cloned()).collect::<Option<_>>()?;
        let bits = self.known(index)?.clone();
        let mut index = self.unsigned(dag, index, bits);
        let sign = index.pop()?;
        let inside = index.len() < 16 && 1usize << index.len() <= values.len();
        if values.len() > TABLE_MAX || !inside || self.gates.known(sign) != Some(false) || values.iter().any(Signed::is_negative) {
            return None;
        }
        let longest = values.iter().map(BigInt::bits).max().unwrap_or(0).to_u32()?;
        let n = match sort {
            Sort::Word(n) => n,
            Sort::Bool => 1,
            Sort::Int => longest,
            Sort::Agg(_) => return None,
        };
        let mut out: Vec<Bit> = (0..n).map(|bit| self.gates.look(&values, bit, &index)).collect();
        if sort == Sort::Int {
            out.push(self.gates.constant(false));
        }
        Some(out)
    }
}

/// The scalars that a term's gates are made of.
fn operands(dag: &Dag, x: Id) -> Vec<Id> {
    match dag.node(x) {
        Node::Sum(terms, _) => terms.iter().map(|(t, _)| *t).collect(),
        Node::And(xs, _) | Node::Or(xs, _) | Node::Xor(xs, _) => xs.clone(),
        Node::Div(y, _) | Node::Mod(y, _) | Node::Shr(y, _) | Node::Rotl(y, _) | Node::Resize(y) | Node::FromBool(y) | Node::ToInt(y) | Node::FromInt(y) => vec![*y],
        Node::Eq(a, b) | Node::Lt(a, b) => vec![*a, *b],
        Node::Select(c, a, b) => vec![*c, *a, *b],
        Node::Load(_, i) => vec![*i],
        _ => vec![],
    }
    .into_iter()
    .filter(|t| !matches!(dag.sort(*t), Sort::Agg(_)))
    .collect()
}
