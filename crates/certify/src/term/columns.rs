//! Words that are combined bit by bit, compared on every value of a column: bit `i` of the result is one function of the bits `i` below, whatever `i` is.
//!
//! Needs: bitwise values.  Keeps: an answer is a proof: all columns are run, and what is no bitwise value stands for any.  Absent: functions of many words.

use super::atom::Atom;
use super::{Terms, T};
use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use std::collections::HashMap;

/// Words below a function: two to this power are the columns.
const LEAVES_MAX: usize = 10;
/// Values of one answer.
const NODES_MAX: usize = 4_000;

/// How a value is made of values before it.
enum Node {
    Leaf(usize),
    /// Exclusive or of conjunctions; the empty one is all ones.
    Sum(Vec<Vec<usize>>),
    Or(Vec<usize>),
}

#[derive(Default)]
struct Columns {
    nodes: Vec<Node>,
    of: HashMap<T, usize>,
    leaves: usize,
    /// Bits of complements and of constants that are all ones.
    width: Option<u64>,
    /// Bits of the longest leaf.
    longest: u64,
}

impl Columns {
    fn push(&mut self, t: T, node: Node) -> Option<usize> {
        if self.nodes.len() >= NODES_MAX {
            return None;
        }
        self.nodes.push(node);
        self.of.insert(t, self.nodes.len() - 1);
        Some(self.nodes.len() - 1)
    }

    /// All complements are of as many bits: above these both they and what they are of have none.
    fn complement(&mut self, bits: u64) -> Option<()> {
        (*self.width.get_or_insert(bits) == bits).then_some(())
    }

    /// The values of all nodes, a bit for each column.
    fn tables(&self) -> Vec<Vec<u64>> {
        let words = (1usize << self.leaves).div_ceil(64);
        let mut out: Vec<Vec<u64>> = vec![];
        for node in &self.nodes {
            let table = match node {
                Node::Leaf(n) => (0..words).map(|w| (0..64).fold(0, |v, b| v | (((64 * w + b) >> n & 1) as u64) << b)).collect(),
                Node::Or(list) => (0..words).map(|w| list.iter().fold(0, |v, n| v | out[*n][w])).collect(),
                Node::Sum(sum) => (0..words).map(|w| sum.iter().fold(0, |v, p| v ^ p.iter().fold(u64::MAX, |v, n| v & out[*n][w]))).collect(),
            };
            out.push(table);
        }
        out
    }
}

impl Terms {
    /// Whether both are the same function of words, bit by bit.
    pub(super) fn same_columns(&self, a: T, b: T) -> bool {
        let mut c = Columns::default();
        let (Some(x), Some(y)) = (self.column(a, &mut c), self.column(b, &mut c)) else { return false };
        if c.width.is_some_and(|w| c.longest > w) {
            return false;
        }
        let tables = c.tables();
        tables[x] == tables[y]
    }

    fn column(&self, t: T, c: &mut Columns) -> Option<usize> {
        if let Some(n) = c.of.get(&t) {
            return Some(*n);
        }
        let node = match self.bitwise_value(t, c)? {
            Some(node) => node,
            None => self.leaf(t, c)?,
        };
        c.push(t, node)
    }

    /// What a value is made of, if it is made bit by bit. `None`: too much, or of different lengths.
    fn bitwise_value(&self, t: T, c: &mut Columns) -> Option<Option<Node>> {
        if let Some(v) = self.as_const(t) {
            if v.is_zero() {
                return Some(Some(Node::Sum(vec![])));
            }
            // Any other constant is as good as an unknown.
            let Some(bits) = all_ones(&v) else { return Some(None) };
            c.complement(bits)?;
            return Some(Some(Node::Sum(vec![vec![]])));
        }
        if let Some((sum, w)) = self.choices.get(&t) {
            if sum.contains(&vec![]) {
                c.complement(u64::from(*w))?;
            }
            let products: Vec<Vec<T>> = sum.iter().cloned().collect();
            return Some(Some(self.column_sum(&products, c)?));
        }
        let node = match self.as_atom(t).map(|a| &self.atoms[a as usize].atom) {
            Some(Atom::Bits(products)) => Some(self.column_sum(products, c)?),
            Some(Atom::Or(list)) => Some(Node::Or(list.iter().map(|x| self.column(*x, c)).collect::<Option<_>>()?)),
            Some(Atom::Name(x)) => Some(Node::Sum(vec![vec![self.column(*x, c)?]])),
            Some(_) => None,
            None => match self.complement_of(t) {
                Some((x, bits)) => {
                    c.complement(bits)?;
                    Some(Node::Sum(vec![vec![self.column(x, c)?], vec![]]))
                }
                None => match self.xor_parts.get(&t) {
                    // What was made before.
                    Some((x, y)) if *x < t && *y < t => Some(self.column_sum(&[vec![*x], vec![*y]], c)?),
                    _ => None,
                },
            },
        };
        Some(node)
    }

    fn column_sum(&self, products: &[Vec<T>], c: &mut Columns) -> Option<Node> {
        let product = |p: &Vec<T>, c: &mut Columns| p.iter().map(|x| self.column(*x, c)).collect::<Option<Vec<_>>>();
        products.iter().map(|p| product(p, c)).collect::<Option<_>>().map(Node::Sum)
    }

    fn leaf(&self, t: T, c: &mut Columns) -> Option<Node> {
        let (lo, hi) = self.range(t);
        if lo.is_negative() || c.leaves == LEAVES_MAX {
            return None;
        }
        c.longest = c.longest.max(hi.bits());
        c.leaves += 1;
        Some(Node::Leaf(c.leaves - 1))
    }

    /// `x` where the term is `2^n - 1 - x` and `x` has at most `n` bits; and `n`.
    fn complement_of(&self, t: T) -> Option<(T, u64)> {
        let [(0, all), rest @ ..] = &self.poly(t)[..] else { return None };
        let bits = all_ones(all)?;
        let negated: Vec<_> = rest.iter().map(|(m, c)| (*m, -c)).collect();
        let x = *self.poly_of.get(negated.as_slice())?;
        let (lo, hi) = self.range(x);
        (!lo.is_negative() && hi <= *all).then_some((x, bits))
    }
}

/// `n` where the number is `2^n - 1`, at least 1.
fn all_ones(v: &BigInt) -> Option<u64> {
    let next = v + 1u32;
    (v.is_positive() && next.trailing_zeros() == Some(next.bits() - 1)).then(|| v.bits())
}

#[cfg(test)]
mod tests {
    use super::super::{Naming, Terms, Var, T};
    use num_bigint::BigInt;
    use santoku_num::SplitMix64 as Rng;

    /// Words of 32 bits, one of 8, and functions of them bit by bit, with complements of both lengths, shifts and sums between.
    fn random(s: &mut Terms, seed: u64, values: &mut Rng) -> Vec<T> {
        let mut rng = Rng::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut pool: Vec<T> = [32, 32, 32, 8]
            .iter()
            .enumerate()
            .map(|(k, w)| {
                let hi = (BigInt::from(1) << *w) - 1;
                let values = (0..s.samples()).map(|_| BigInt::from(values.next_u64()) & &hi).collect();
                s.var(Var { name: format!("x{k}"), lo: BigInt::ZERO, hi, public: false, values })
            })
            .collect();
        for _ in 0..24 {
            let (a, b) = (pool[rng.below(pool.len() as u64) as usize], pool[rng.below(pool.len() as u64) as usize]);
            let t = match rng.below(12) {
                0..=2 => s.and(a, b, 32),
                3..=5 => s.xor(a, b, 32),
                6 | 7 => s.or(a, b, 32),
                8 => s.not(a, 32),
                9 => {
                    let low = s.mod2k(a, 8);
                    s.not(low, 8)
                }
                10 => s.rotl(a, 1 + rng.below(31) as u32, 32),
                _ => s.name_value(a, Naming { least: 2, words: 1 }),
            };
            pool.push(t);
        }
        pool
    }

    /// One sample, at which all is zero, tells nothing; in a second arena many samples do.
    #[test]
    fn what_is_the_same_column_by_column_is_the_same() {
        let (mut yes, mut differ) = (0, 0);
        for seed in 1..=200 {
            let (mut few, mut many) = (Terms::new(32, 1), Terms::new(32, 200));
            let a = random(&mut few, seed, &mut Rng::new(1 << 63));
            let b = random(&mut many, seed, &mut Rng::new(seed | 1));
            assert_eq!(few.broken().or(many.broken()), None);
            for i in 0..a.len() {
                for j in (i + 1)..a.len() {
                    let same = (0..many.samples()).all(|n| many.sample(b[i], n) == many.sample(b[j], n));
                    let found = few.same_columns(a[i], a[j]);
                    assert!(same || !found, "seed {seed}: {} and {}", few.show(a[i], 5), few.show(a[j], 5));
                    yes += u32::from(found && a[i] != a[j]);
                    differ += u32::from(!same);
                }
            }
        }
        println!("{differ} pairs that differ, {yes} found to be the same");
        assert!(differ > 10_000 && yes > 10, "{differ} {yes}");
    }

    /// What a compiler makes of `a & (b ^ c) ^ ..`: a product of sums where the source has a sum of products.
    #[test]
    fn a_product_of_sums_is_the_sum_of_products() {
        for wrong in [false, true] {
            let mut s = Terms::new(32, 1);
            let x: Vec<T> = (0..10)
                .map(|k| s.var(Var { name: format!("x{k}"), lo: BigInt::ZERO, hi: BigInt::from(u32::MAX), public: false, values: vec![BigInt::ZERO] }))
                .collect();
            let (mut left, mut right, mut sum) = (Terms::ZERO, Terms::ZERO, Terms::ZERO);
            for k in 0..5 {
                left = s.xor(left, x[k], 32);
                right = s.xor(right, x[k + 5], 32);
                for j in 5..10 {
                    let p = s.and(x[k], x[if wrong && (k, j) == (4, 9) { 8 } else { j }], 32);
                    sum = s.xor(sum, p, 32);
                }
            }
            let left = s.name_word(left, 32);
            let product = s.and(left, right, 32);
            assert_ne!(product, sum, "the normal form does not know");
            assert_eq!(s.same_columns(product, sum), !wrong);
        }
    }
}
