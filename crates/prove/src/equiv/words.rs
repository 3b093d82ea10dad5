//! Integers of specifications as words: a sum below a power of two is a sum of words, a remainder its low bits, a quotient a shift.
//!
//! Needs: [`super::dag`].  Keeps: the value of every term; a word stands for an integer only where it is below its power of two.
//! Absent: integers without bounds, which stay terms that nothing is known of.
//! Trusted: engines.

use super::arith::log2;
use super::dag::{Dag, Id, Node, Sort};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use santoku_ir::BinOp;
use std::collections::HashMap;

/// Widest word that an integer is taken for.
const BITS_MAX: u64 = 128;

type Bounds = Option<(BigInt, BigInt)>;

/// What is known of the integers of one graph.
#[derive(Debug, Default)]
pub struct Words {
    words: HashMap<(Id, u32), Id>,
    bounds: HashMap<Id, Bounds>,
}

impl Words {
    fn bounds(&mut self, dag: &Dag, x: Id) -> Bounds {
        if let Some(known) = self.bounds.get(&x) {
            return known.clone();
        }
        let found = self.bounds_of(dag, x);
        self.bounds.insert(x, found.clone());
        found
    }

    fn bounds_of(&mut self, dag: &Dag, x: Id) -> Bounds {
        match dag.node(x) {
            Node::Const(v) => Some((v.clone(), v.clone())),
            Node::ToInt(y) => Some((BigInt::zero(), (BigInt::one() << dag.bits_max(*y)) - 1)),
            Node::Mod(_, m) => Some((BigInt::zero(), m - 1)),
            Node::Div(y, d) => self.bounds(dag, *y).map(|(lo, hi)| (lo.div_floor(d), hi.div_floor(d))),
            Node::Select(_, a, b) => {
                let (a, b) = (self.bounds(dag, *a)?, self.bounds(dag, *b)?);
                Some((a.0.min(b.0), a.1.max(b.1)))
            }
            Node::Sum(terms, c) => terms.iter().try_fold((c.clone(), c.clone()), |(lo, hi), (id, k)| {
                let (a, b) = self.bounds(dag, *id)?;
                Some(if k.is_negative() { (lo + k * b, hi + k * a) } else { (lo + k * a, hi + k * b) })
            }),
            Node::Prod(xs) => xs.iter().try_fold((BigInt::one(), BigInt::one()), |(lo, hi), x| {
                let (a, b) = self.bounds(dag, *x).filter(|b| !b.0.is_negative())?;
                Some((lo * a, hi * b))
            }),
            Node::Load(table, i) => {
                let Node::Array(parts) = dag.node(*table) else { return None };
                let (first, last) = self.bounds(dag, *i)?;
                let inside = !first.is_negative() && last < parts.len().into();
                let values: Vec<&BigInt> = parts.iter().map(|p| dag.as_const(*p)).collect::<Option<_>>().filter(|_| inside)?;
                Some((values.iter().copied().min()?.clone(), values.iter().copied().max()?.clone()))
            }
            _ => None,
        }
    }

    /// Bits of the word that an integer is: of the word that it was made of, or as many as it needs.
    fn width(&mut self, dag: &Dag, x: Id) -> Option<u32> {
        if let (Node::ToInt(y), Sort::Word(n)) = (dag.node(x), self.made_of(dag, x)) {
            debug_assert!(dag.bits_max(*y) <= n);
            return Some(n);
        }
        let (lo, hi) = self.bounds(dag, x)?;
        (!lo.is_negative() && hi.bits() <= BITS_MAX).then(|| hi.bits().max(1) as u32)
    }

    fn made_of(&self, dag: &Dag, x: Id) -> Sort {
        match dag.node(x) {
            Node::ToInt(y) => dag.sort(*y),
            _ => dag.sort(x),
        }
    }

    /// The word that an integer is if it may be any word of so many bits, and their number.
    fn full(&mut self, dag: &mut Dag, x: Id) -> Option<(Id, u32)> {
        if let Node::ToInt(y) = *dag.node(x) {
            return match dag.sort(y) {
                Sort::Word(bits) => Some((y, bits)),
                _ => None,
            };
        }
        let (lo, hi) = self.bounds(dag, x)?;
        let bits = log2(&(hi + 1u32)).filter(|b| lo.is_zero() && *b > 0 && u64::from(*b) <= BITS_MAX)?;
        Some((self.word(dag, x, bits), bits))
    }

    /// The word of `bits` bits that is an integer modulo `2^bits`.
    pub fn word(&mut self, dag: &mut Dag, x: Id, bits: u32) -> Id {
        if let Some(known) = self.words.get(&(x, bits)) {
            return *known;
        }
        let found = self.word_of(dag, x, bits);
        self.words.insert((x, bits), found);
        found
    }

    fn word_of(&mut self, dag: &mut Dag, x: Id, bits: u32) -> Id {
        let sort = Sort::Word(bits);
        match dag.node(x).clone() {
            Node::ToInt(y) => narrowed(dag, y, bits).unwrap_or(x),
            Node::Sum(terms, c) => match rotated(dag, &terms, &c, bits).or_else(|| complement(dag, &terms, &c, bits)) {
                Some(word) => word,
                None => terms.iter().fold(dag.constant(c, sort), |sum, (id, k)| {
                    let low = bits.saturating_sub(k.trailing_zeros().unwrap_or(0) as u32);
                    let word = cut(dag, *id, bits, low).unwrap_or_else(|| self.word(dag, *id, bits));
                    let scaled = dag.scale(word, k);
                    dag.add(sum, scaled)
                }),
            },
            Node::Prod(xs) => xs.iter().fold(dag.constant(1, sort), |product, x| {
                let word = self.word(dag, *x, bits);
                dag.mul(product, word)
            }),
            Node::Mod(y, m) => match log2(&m) {
                Some(k) if k >= bits => self.word(dag, y, bits),
                Some(k) if k > 0 => {
                    let low = self.word(dag, y, k);
                    dag.cast(low, sort).unwrap_or(x)
                }
                _ => dag.cast(x, sort).unwrap_or(x),
            },
            Node::Select(c, a, b) => {
                let (a, b) = (self.word(dag, a, bits), self.word(dag, b, bits));
                dag.select(c, a, b)
            }
            _ => dag.cast(x, sort).unwrap_or(x),
        }
    }

    /// `x mod m`, `m > 0`
    pub fn modulo(&mut self, dag: &mut Dag, x: Id, m: &BigInt) -> Id {
        if self.bounds(dag, x).is_some_and(|(lo, hi)| !lo.is_negative() && hi < *m) {
            return x;
        }
        let whole = self.full(dag, x);
        match (log2(m), whole) {
            (Some(k), Some((word, bits))) if k > 0 && k < bits => {
                let low = dag.cast(word, Sort::Word(k)).unwrap_or(word);
                integer(dag, low)
            }
            (Some(k), _) if k > 0 && u64::from(k) <= BITS_MAX && self.bounds(dag, x).is_some() => {
                let low = self.word(dag, x, k);
                integer(dag, low)
            }
            _ => dag.modulo(x, m),
        }
    }

    /// `floor(x / d)`, `d > 0`
    pub fn quotient(&mut self, dag: &mut Dag, x: Id, d: &BigInt) -> Id {
        let whole = self.full(dag, x);
        let width = self.width(dag, x);
        match (log2(d), width) {
            (Some(k), Some(bits)) if k < bits => {
                let word = whole.map_or_else(|| self.word(dag, x, bits), |w| w.0);
                let count = dag.int(k);
                let high = dag.binary(BinOp::Shr, word, count);
                integer(dag, high)
            }
            (Some(_), Some(_)) => dag.int(0),
            _ => dag.div(x, d),
        }
    }

    /// An operation on the bits of integers that are words. `None`: one is negative, or nothing is known of its size.
    pub fn bitwise(&mut self, dag: &mut Dag, op: BinOp, x: Id, y: Id) -> Option<Id> {
        let bits = self.width(dag, x)?.max(self.width(dag, y)?);
        // Small numbers in long words: what is made of them is known to be small, too.
        let short = |s: &mut Self, x: Id| s.bounds(dag, x).map_or(bits, |(_, hi)| hi.bits().max(1) as u32);
        let bits = bits.min(short(self, x).max(short(self, y)));
        let (x, y) = (self.word(dag, x, bits), self.word(dag, y, bits));
        let word = dag.binary(op, x, y);
        Some(integer(dag, word))
    }

    /// Equality of integers.
    pub fn equal(&mut self, dag: &mut Dag, x: Id, y: Id) -> Id {
        match (self.width(dag, x), self.width(dag, y)) {
            (Some(a), Some(b)) if x != y => {
                let below = |s: &mut Self, x: Id, bits: u32| s.bounds(dag, x).is_some_and(|(_, hi)| hi.bits() <= u64::from(bits));
                let (x_fits, y_fits) = (below(self, x, b), below(self, y, a));
                let bits = if y_fits { a } else if x_fits { b } else { a.max(b) };
                let (x, y) = (self.word(dag, x, bits), self.word(dag, y, bits));
                dag.eq_scalar(x, y)
            }
            _ => dag.eq_scalar(x, y),
        }
    }

    /// The word of an integer that has bounds, else the integer itself.
    pub fn short(&mut self, dag: &mut Dag, x: Id) -> Id {
        match self.width(dag, x) {
            Some(bits) if dag.sort(x) == Sort::Int => self.word(dag, x, bits),
            _ => x,
        }
    }
}

/// The word of `bits` bits of which an integer is at least the `low` lowest, and no more than that is asked for.
fn cut(dag: &Dag, x: Id, bits: u32, low: u32) -> Option<Id> {
    let Node::ToInt(y) = *dag.node(x) else { return None };
    let Node::Resize(z) = *dag.node(y) else { return None };
    let enough = matches!(dag.sort(y), Sort::Word(n) if n >= low);
    (enough && dag.sort(z) == Sort::Word(bits)).then_some(z)
}

/// A word or truth value as a word of `bits` bits; what cuts bits off goes to the operands of operations on bits.
fn narrowed(dag: &mut Dag, y: Id, bits: u32) -> Option<Id> {
    let to = Sort::Word(bits);
    let (op, xs, c) = match dag.node(y).clone() {
        Node::And(xs, c) => (BinOp::And, xs, c),
        Node::Or(xs, c) => (BinOp::Or, xs, c),
        Node::Xor(xs, c) => (BinOp::Xor, xs, c),
        _ => return dag.cast(y, to),
    };
    if !matches!(dag.sort(y), Sort::Word(n) if n > bits) {
        return dag.cast(y, to);
    }
    let mut all = dag.constant(c, to);
    for x in xs {
        let x = narrowed(dag, x, bits)?;
        all = dag.binary(op, all, x);
    }
    Some(all)
}

/// A scalar as the integer that it reads as.
pub fn integer(dag: &mut Dag, x: Id) -> Id {
    dag.cast(x, Sort::Int).unwrap_or(x)
}

/// `x mod 2^n * 2^(bits - n) + floor(x / 2^n)` for a word `x` of `bits` bits.
fn rotated(dag: &mut Dag, terms: &[(Id, BigInt)], c: &BigInt, bits: u32) -> Option<Id> {
    let [a, b] = terms else { return None };
    let (low, high) = if a.1.is_one() { (b, a) } else { (a, b) };
    let Node::ToInt(shifted) = *dag.node(high.0) else { return None };
    let Node::Shr(x, n) = *dag.node(shifted) else { return None };
    if !c.is_zero() || !high.1.is_one() || dag.sort(x) != Sort::Word(bits) || log2(&low.1) != Some(bits - n) {
        return None;
    }
    let cut = dag.cast(x, Sort::Word(n))?;
    if integer(dag, cut) != low.0 {
        return None;
    }
    let count = dag.int(n);
    Some(dag.binary(BinOp::Rotr, x, count))
}

/// `2^bits - 1 - x` for a word `x` of `bits` bits.
fn complement(dag: &mut Dag, terms: &[(Id, BigInt)], c: &BigInt, bits: u32) -> Option<Id> {
    let [(x, k)] = terms else { return None };
    let Node::ToInt(word) = *dag.node(*x) else { return None };
    let is = *k == BigInt::from(-1) && *c == (BigInt::one() << bits) - 1 && dag.sort(word) == Sort::Word(bits);
    is.then(|| dag.not(word))
}

impl Dag {
    /// Whether two words surely have no bit in common.
    pub(super) fn apart_bits(&self, a: Id, b: Id) -> bool {
        let Sort::Word(bits) = self.sort(a) else { return false };
        (self.may_be_ones(a, bits) & self.may_be_ones(b, bits)).is_zero()
    }

    fn may_be_ones(&self, x: Id, bits: u32) -> BigInt {
        let all = (BigInt::one() << bits) - 1;
        let own = |x: Id| (BigInt::one() << self.bits_max(x).min(bits)) - 1;
        match self.node(x) {
            Node::Const(v) => v.clone(),
            Node::Sum(terms, c) => {
                let mut so_far = c.clone();
                for (id, k) in terms {
                    let Some(up) = log2(k) else { return all };
                    let here = (own(*id) << up) & &all;
                    if !(&so_far & &here).is_zero() {
                        return all;
                    }
                    so_far |= here;
                }
                so_far
            }
            _ => own(x),
        }
    }
}
