//! Gates over unknown bits, in a normal form: exclusive ors as sets, elements of constant tables, everything else as conjunctions of two.
//!
//! Keeps: equal edges are equal functions; what is built stays below [`GATES_MAX`].  Absent: search; but functions of a few inputs can be run on all
//! of them ([`Gates::same`]).
//! Trusted: engines, c.

use num_bigint::BigInt;
use num_traits::Signed;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A bit: an edge into the graph.
pub type Bit = u32;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gate {
    Zero,
    Input(u32),
    And(Bit, Bit),
    /// Sum of these and a constant.
    Xor(Vec<Bit>, bool),
    /// One bit of an element of a table; the index, lowest bit first, lies in the table or the bit is 0.
    Look { table: u32, bit: u32, index: Vec<Bit> },
}

/// Inputs of functions that are run on all of them, and gates of one.
const RUN_INPUTS_MAX: usize = 10;
const RUN_GATES_MAX: usize = 20_000;

/// Sums that stay longer are not merged: what a round adds up to before the next products, four S-boxes and keys among them, fits.
const SUM_MAX: usize = 128;
/// Once sums hold this many terms together, only shorter ones are merged, for the sake of memory.
const TERMS_MAX: usize = 20_000_000;
const SUM_MAX_LATER: usize = 24;
/// Gates of one comparison, both sides together: some hundreds of megabytes.
pub const GATES_MAX: usize = 3_000_000;

#[derive(Default)]
pub struct Gates {
    gates: Vec<Gate>,
    index: BTreeMap<Gate, Bit>,
    /// Terms of all sums.
    terms: usize,
    tables: Vec<Vec<BigInt>>,
    /// No room was left; what was built since is worth nothing.
    pub full: bool,
}

impl Gates {
    pub fn len(&self) -> usize {
        self.gates.len()
    }
    fn add(&mut self, g: Gate) -> Bit {
        if let Some(b) = self.index.get(&g) {
            return *b;
        }
        if self.gates.len() >= GATES_MAX {
            self.full = true;
            return 0;
        }
        let b = self.gates.len() as Bit;
        if let Gate::Xor(xs, _) = &g {
            self.terms += xs.len();
        }
        self.gates.push(g.clone());
        self.index.insert(g, b);
        b
    }
    pub fn input(&mut self, n: u32) -> Bit {
        self.add(Gate::Input(n))
    }
    pub fn constant(&mut self, v: bool) -> Bit {
        self.sum(vec![], v)
    }
    /// The value of a bit that depends on no input.
    pub fn known(&self, b: Bit) -> Option<bool> {
        match &self.gates[b as usize] {
            Gate::Zero => Some(false),
            Gate::Xor(xs, true) if xs.is_empty() => Some(true),
            _ => None,
        }
    }
    fn terms(&self, b: Bit) -> (Vec<Bit>, bool) {
        match &self.gates[b as usize] {
            Gate::Zero => (vec![], false),
            Gate::Xor(xs, c) => (xs.clone(), *c),
            Gate::Input(_) | Gate::And(..) | Gate::Look { .. } => (vec![b], false),
        }
    }
    /// The sum of these, in order and each once.
    fn sum(&mut self, xs: Vec<Bit>, c: bool) -> Bit {
        match xs.as_slice() {
            [] if !c => self.add(Gate::Zero),
            [x] if !c => *x,
            _ => self.add(Gate::Xor(xs, c)),
        }
    }
    pub fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        let ((xs, c), (ys, d)) = (self.terms(a), self.terms(b));
        // `(b ^ c) ^ b`, where `b` was too long to be merged.
        if xs.len() > 1 && xs.contains(&b) {
            return self.sum(odd(&xs, &[b]), c);
        }
        if ys.len() > 1 && ys.contains(&a) {
            return self.sum(odd(&ys, &[a]), d);
        }
        let (once, most) = (odd(&xs, &ys), if self.terms < TERMS_MAX { SUM_MAX } else { SUM_MAX_LATER });
        match once.len() > most {
            true => self.sum(vec![a.min(b), a.max(b)], false),
            false => self.sum(once, c ^ d),
        }
    }
    pub fn not(&mut self, a: Bit) -> Bit {
        let (xs, c) = self.terms(a);
        self.sum(xs, !c)
    }
    pub fn and(&mut self, a: Bit, b: Bit) -> Bit {
        match (self.known(a), self.known(b)) {
            (Some(false), _) | (_, Some(true)) => a,
            (_, Some(false)) | (Some(true), _) => b,
            _ if a == b => a,
            _ => self.add(Gate::And(a.min(b), a.max(b))),
        }
    }
    pub fn or(&mut self, a: Bit, b: Bit) -> Bit {
        let (x, y) = (self.not(a), self.not(b));
        let n = self.and(x, y);
        self.not(n)
    }
    /// Bit `bit` of the element of a table; 0 behind its end.
    pub fn look(&mut self, table: &[BigInt], bit: u32, index: &[Bit]) -> Bit {
        let known: Option<Vec<bool>> = index.iter().map(|b| self.known(*b)).collect();
        if let Some(known) = known {
            let at = known.iter().rev().fold(0usize, |at, b| at << 1 | usize::from(*b));
            return self.constant(table.get(at).is_some_and(|v| v.bit(u64::from(bit))));
        }
        let table = match self.tables.iter().position(|t| t == table) {
            Some(at) => at,
            None => {
                self.tables.push(table.to_vec());
                self.tables.len() - 1
            }
        };
        self.add(Gate::Look { table: table as u32, bit, index: index.to_vec() })
    }

    /// Whether two edges are the same function: one edge, or run on all values of their inputs, if these are few.
    pub fn same(&self, a: Bit, b: Bit) -> bool {
        a == b || self.run_on_all(a, b).is_some_and(|(x, y)| x == y)
    }

    /// The values of two edges on all values of their inputs. `None`: too many inputs, or gates.
    fn run_on_all(&self, a: Bit, b: Bit) -> Option<(Vec<u64>, Vec<u64>)> {
        let mut cone = BTreeSet::new();
        let (mut todo, mut inputs) = (vec![a, b], 0);
        while let Some(g) = todo.pop() {
            if !cone.insert(g) {
                continue;
            }
            match &self.gates[g as usize] {
                Gate::Zero => {}
                Gate::Input(_) => inputs += 1,
                Gate::And(x, y) => todo.extend([*x, *y]),
                Gate::Xor(xs, _) => todo.extend(xs),
                Gate::Look { index, .. } => todo.extend(index),
            }
            if inputs > RUN_INPUTS_MAX || cone.len() > RUN_GATES_MAX {
                return None;
            }
        }
        let words = (1usize << inputs).div_ceil(64);
        let mut values: HashMap<Bit, Vec<u64>> = HashMap::new();
        let mut input = 0;
        // Operands come before what is made of them.
        for g in cone {
            let gate = &self.gates[g as usize];
            let value = (0..words).map(|w| self.value(gate, &|b| values.get(&b).map_or(0, |v| v[w]), &|_| every_value(input, w))).collect();
            input += usize::from(matches!(gate, Gate::Input(_)));
            values.insert(g, value);
        }
        Some((values.get(&a)?.clone(), values.get(&b)?.clone()))
    }

    /// What a gate gives on 64 choices of inputs.
    fn value(&self, gate: &Gate, of: &dyn Fn(Bit) -> u64, inputs: &dyn Fn(u32) -> u64) -> u64 {
        match gate {
            Gate::Zero => 0,
            Gate::Input(n) => inputs(*n),
            Gate::And(a, b) => of(*a) & of(*b),
            Gate::Xor(xs, c) => xs.iter().fold(if *c { u64::MAX } else { 0 }, |v, x| v ^ of(*x)),
            Gate::Look { table, bit, index } => self.looked(*table, *bit, index.iter().map(|b| of(*b))),
        }
    }

    /// A bit of 64 elements of a table.
    fn looked(&self, table: u32, bit: u32, index: impl Iterator<Item = u64>) -> u64 {
        let index: Vec<u64> = index.collect();
        let at = |k: u32| index.iter().rev().fold(0usize, |at, b| at << 1 | (b >> k & 1) as usize);
        (0..64).fold(0, |v, k| v | u64::from(self.tables[table as usize].get(at(k)).is_some_and(|e| e.bit(u64::from(bit)))) << k)
    }

    /// `if c { a } else { b }`
    pub fn choose(&mut self, c: Bit, a: Bit, b: Bit) -> Bit {
        let d = self.xor(a, b);
        let d = self.and(c, d);
        self.xor(b, d)
    }

    /// `a + b + carry`, as an adder of full adders.
    pub fn add_words(&mut self, a: &[Bit], b: &[Bit], mut carry: Bit) -> Vec<Bit> {
        let mut out = Vec::new();
        for (&x, &y) in a.iter().zip(b) {
            let p = self.xor(x, y);
            out.push(self.xor(p, carry));
            let (g, t) = (self.and(x, y), self.and(p, carry));
            carry = self.xor(g, t);
        }
        out
    }
    pub fn minus(&mut self, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
        let inverse: Vec<Bit> = b.iter().map(|x| self.not(*x)).collect();
        let one = self.constant(true);
        self.add_words(a, &inverse, one)
    }
    /// Shifted rows, added one after the other.
    pub fn times(&mut self, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
        let zero = self.constant(false);
        let mut sum = vec![zero; a.len()];
        for (k, y) in b.iter().enumerate() {
            let mut row = vec![zero; k];
            row.extend(a[..a.len() - k].iter().map(|x| self.and(*x, *y)));
            sum = self.add_words(&sum, &row, zero);
        }
        sum
    }
    pub fn word(&mut self, v: &BigInt, bits: u32) -> Vec<Bit> {
        (0..bits).map(|k| self.constant(v.bit(u64::from(k)))).collect()
    }

    /// The values of all edges on 64 choices of inputs.
    fn run(&self, inputs: &dyn Fn(u32) -> u64) -> Vec<u64> {
        let mut value: Vec<u64> = Vec::with_capacity(self.gates.len());
        for g in &self.gates {
            value.push(self.value(g, &|b| value[b as usize], inputs));
        }
        value
    }

    /// The values of edges on one choice of inputs.
    #[cfg(test)]
    pub(crate) fn values(&self, bits: &[Bit], inputs: &dyn Fn(u32) -> bool) -> Vec<bool> {
        let all = self.run(&|n| if inputs(n) { u64::MAX } else { 0 });
        bits.iter().map(|b| all[*b as usize] & 1 == 1).collect()
    }

    /// Do two edges agree on these inputs, 64 of them at a time? Different answers are different functions.
    pub fn agree(&self, pairs: &[(Bit, Bit)], inputs: &dyn Fn(u32) -> u64) -> Option<usize> {
        let value = self.run(inputs);
        pairs.iter().position(|(a, b)| value[*a as usize] != value[*b as usize])
    }
}

/// Input `n` of a function that is run on all values of its inputs: word `w` of its values.
fn every_value(n: usize, w: usize) -> u64 {
    (0..64).fold(0, |v, k| v | (((64 * w + k) >> n & 1) as u64) << k)
}

/// What is in one of two sorted lists, but not in both.
fn odd(xs: &[Bit], ys: &[Bit]) -> Vec<Bit> {
    let (mut out, mut k) = (Vec::with_capacity(xs.len() + ys.len()), 0);
    for &x in xs {
        while k < ys.len() && ys[k] < x {
            out.push(ys[k]);
            k += 1;
        }
        if ys.get(k) == Some(&x) {
            k += 1;
        } else {
            out.push(x);
        }
    }
    out.extend(&ys[k..]);
    out
}

/// Exact integers that depend on inputs: two's complement, the last bit is the sign, no bit more than needed.
impl Gates {
    pub fn exact(&mut self, v: &BigInt) -> Vec<Bit> {
        let n = v.bits() as u32 + 1;
        let low = if v.is_negative() { v + (BigInt::from(1) << n) } else { v.clone() };
        self.word(&low, n)
    }
    pub fn trimmed(mut v: Vec<Bit>) -> Vec<Bit> {
        while v.len() > 1 && v[v.len() - 1] == v[v.len() - 2] {
            v.pop();
        }
        v
    }
    /// The same integer in `n` bits, or its low `n` bits.
    pub fn extended(v: &[Bit], n: usize) -> Vec<Bit> {
        let sign = v[v.len() - 1];
        (0..n).map(|k| v.get(k).copied().unwrap_or(sign)).collect()
    }
    pub fn exact_add(&mut self, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
        let n = a.len().max(b.len()) + 1;
        let zero = self.constant(false);
        Gates::trimmed(self.add_words(&Gates::extended(a, n), &Gates::extended(b, n), zero))
    }
    pub fn exact_sub(&mut self, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
        let n = a.len().max(b.len()) + 1;
        Gates::trimmed(self.minus(&Gates::extended(a, n), &Gates::extended(b, n)))
    }
    pub fn exact_mul(&mut self, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
        let n = a.len() + b.len();
        Gates::trimmed(self.times(&Gates::extended(a, n), &Gates::extended(b, n)))
    }
    pub fn exact_shl(&mut self, a: &[Bit], k: usize) -> Vec<Bit> {
        let zero = self.constant(false);
        let mut v = vec![zero; k];
        v.extend(a);
        Gates::trimmed(v)
    }
    /// Floor division by `2^k`.
    pub fn exact_shr(a: &[Bit], k: usize) -> Vec<Bit> {
        a[k.min(a.len() - 1)..].to_vec()
    }
    /// Floor remainder modulo `2^k`.
    pub fn exact_low(&mut self, a: &[Bit], k: usize) -> Vec<Bit> {
        let mut v = Gates::extended(a, k);
        v.push(self.constant(false));
        Gates::trimmed(v)
    }
    /// `a < b` of exact integers.
    pub fn exact_less(&mut self, a: &[Bit], b: &[Bit]) -> Bit {
        let d = self.exact_sub(a, b);
        d[d.len() - 1]
    }
    /// Are two lists of bits the same?
    pub fn equal(&mut self, a: &[Bit], b: &[Bit]) -> Bit {
        let mut all = self.constant(true);
        for (x, y) in a.iter().zip(b) {
            let d = self.xor(*x, *y);
            let e = self.not(d);
            all = self.and(all, e);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use santoku_num::SplitMix64 as Rng;

    /// Gates over six inputs and a table of 16 elements.
    fn random(gates: &mut Gates, rng: &mut Rng) -> Vec<Bit> {
        let table: Vec<BigInt> = (0..16).map(|_| rng.below(4).into()).collect();
        let mut pool: Vec<Bit> = (0..6).map(|n| gates.input(n)).collect();
        for _ in 0..40 {
            let mut one = || pool[rng.below(pool.len() as u64) as usize];
            let (a, b, c, d) = (one(), one(), one(), one());
            let made = match rng.below(6) {
                0 => gates.and(a, b),
                1 => gates.or(a, b),
                2 => gates.xor(a, b),
                3 => gates.not(a),
                4 => gates.choose(a, b, c),
                _ => gates.look(&table, rng.below(2) as u32, &[a, b, c, d]),
            };
            pool.push(made);
        }
        pool
    }

    #[test]
    fn functions_are_the_same_where_all_inputs_say_so() {
        let (mut yes, mut no) = (0, 0);
        for seed in 1..=100 {
            let mut gates = Gates::default();
            let pool = random(&mut gates, &mut Rng::new(seed));
            for (i, a) in pool.iter().enumerate() {
                for b in &pool[i + 1..] {
                    // All 64 values of the six inputs in one word.
                    let agree = gates.agree(&[(*a, *b)], &|n| every_value(n as usize, 0)).is_none();
                    assert_eq!(gates.same(*a, *b), agree, "seed {seed}: {a} and {b}");
                    yes += u32::from(agree && a != b);
                    no += u32::from(!agree);
                }
            }
        }
        assert!(yes > 50 && no > 5_000, "{yes} {no}");
    }
}
