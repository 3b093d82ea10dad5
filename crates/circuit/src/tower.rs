//! Inversion of the field of 256 elements by the field of 16, between affine maps.
//!
//! With any basis `u`, `v` over the field of 16, `X = a u + b v` has the norm `n = X^17`, and `1 / X = X^16 / n`; `n / w` is
//! `a b` and something linear, for a constant `w`. So there are three products of the field of 16, each of nine products of bits, and an
//! inversion in it. Which forms of `X` the products of bits take is a choice of `a`, `b` and the products; the search goes through all
//! of them, and looks for few sums for those forms and for the results.
//! Trusted: text.

use crate::builder::Builder;
use crate::field::{inverse, mul, power, trace, Twist};
use crate::gates::{Circuit, Gate};
use crate::linear::{sums, Sums, Vector};
use crate::random::Random;

/// Bit that stands for 1 in affine forms of the inputs, and among the inputs of the last sums.
const ONE: Vector = 1 << 8;

/// The field of 16: its trace to the field of two, its generator, and which nine forms the products take.
pub struct Small {
    /// Elements as elements of the field of 256, and their numbers.
    generator: u8,
    /// Multipliers of the nine forms, three for each of three classes.
    pub forms: Vec<u8>,
    /// By element `c`: which products of forms sum to `trace(c a b)`.
    pub expansion: Vec<u16>,
    /// Some element with `trace16(m c) = form m of c`.
    half: u8,
}

impl Small {
    /// `classes`: which three of the five multiplicative classes of the field of 4 the forms are of.
    pub fn new(classes: [u32; 3]) -> Small {
        let generator = (2..=255).find(|g| power(*g, 15) == 1 && power(*g, 5) != 1 && power(*g, 3) != 1).unwrap_or(1);
        let forms: Vec<u8> = classes.iter().flat_map(|c| (0..3).map(move |k| c + 5 * k)).map(|e| power(generator, e)).collect();
        // The trace of the field of 256 is that of the field of 16 after multiplying by an element whose own trace to it is 1.
        let half = (1..=255).find(|h| h ^ power(*h, 16) == 1).unwrap_or(1);
        let mut small = Small { generator, forms, expansion: vec![0; 256], half };
        for c in small.elements() {
            small.expansion[c as usize] = small.expand(c).unwrap_or(0);
        }
        small
    }

    pub fn elements(&self) -> Vec<u8> {
        (0..15).map(|e| power(self.generator, e)).collect()
    }

    /// Trace of the field of 16 to the field of two.
    pub fn trace(&self, a: u8) -> bool {
        trace(mul(self.half, a))
    }

    /// Products that sum to `trace(c a b)`.
    fn expand(&self, c: u8) -> Option<u16> {
        let basis: Vec<u8> = (0..4).map(|e| power(self.generator, e)).collect();
        // On all pairs of basis elements: nine columns and the wanted one.
        let rows = basis.iter().flat_map(|a| basis.iter().map(move |b| (*a, *b))).map(|(a, b)| {
            let column = |k: usize| self.trace(mul(self.forms[k], a)) && self.trace(mul(self.forms[k], b));
            (0..9).filter(|k| column(*k)).fold(u16::from(self.trace(mul(c, mul(a, b)))) << 9, |r, k| r | 1 << k)
        });
        let rows: Vec<u16> = rows.collect();
        (0..512u16).find(|s| rows.iter().all(|r| ((r & s).count_ones() & 1) as u16 == r >> 9))
    }
}

/// A choice of `a` and `b`: which forms of the inputs and which sums of products there are.
#[derive(Clone, Debug)]
pub struct Split {
    /// The nine forms of `a`, then those of `b`, affine in the inputs.
    pub forms: Vec<Vector>,
    /// By element `c` of the field of 16: `trace(c l)`, where `n / w = a b + l`, affine in the inputs.
    rest: Vec<Vector>,
    /// Per output bit: what `z a` and what `z b` are multiplied by before the trace.
    factors: Vec<(u8, u8)>,
}

/// A twist of inversion as forms.
pub struct Outline {
    /// By element `c`: `trace(c X)` as an affine form of the inputs.
    form: Vec<Vector>,
    /// Per output bit: `c` such that the bit is `trace(c / X)`, but for a constant.
    outer: Vec<u8>,
    /// Constants of the outputs.
    constants: u8,
}

impl Outline {
    pub fn new(twist: &Twist) -> Outline {
        let inner = |c: u8, x: usize| trace(mul(c, twist.inner[x]));
        let form = |c: u8| (0..8).filter(|i| inner(c, 1 << i) != inner(c, 0)).fold(if inner(c, 0) { ONE } else { 0 }, |v, i| v | 1 << i);
        let bit = |k: usize, z: usize| (twist.outer[z] ^ twist.outer[0]) >> k & 1 == 1;
        let outer = |k: usize| (0..=255u8).find(|c| (0..8).all(|i| trace(mul(*c, 1 << i)) == bit(k, 1 << i))).unwrap_or(0);
        Outline { form: (0..=255).map(form).collect(), outer: (0..8).map(outer).collect(), constants: twist.outer[0] }
    }

    /// `a` and `b` are the traces of `tau X` and `rho X` to the field of 16. `None` where one is a multiple of the other.
    pub fn split(&self, small: &Small, tau: u8, rho: u8) -> Option<Split> {
        let down = |x: u8| x ^ power(x, 16);
        if power(mul(tau, inverse(rho)), 16) == mul(tau, inverse(rho)) {
            return None;
        }
        let dual = |own: u8, other: u8| (1..=255u8).find(|x| down(mul(own, *x)) == 1 && down(mul(other, *x)) == 0);
        let (u, v) = (dual(tau, rho)?, dual(rho, tau)?);
        let (u16, v16) = (power(u, 16), power(v, 16));
        let w = inverse(mul(u, v16) ^ mul(u16, v));
        let (square_a, square_b) = (mul(w, mul(u, u16)), mul(w, mul(v, v16)));
        let forms = [tau, rho].iter().flat_map(|t| small.forms.iter().map(move |m| self.form[mul(*m, *t) as usize])).collect();
        // trace(c s a^2) = trace(r a) with r^2 = c s.
        let root = |x: u8| power(x, 128);
        let mut rest = vec![0; 256];
        for c in small.elements() {
            let a = self.form[mul(root(mul(c, square_a)), tau) as usize];
            rest[c as usize] = a ^ self.form[mul(root(mul(c, square_b)), rho) as usize];
        }
        let factor = |b: &u8| (down(mul(*b, mul(u16, w))), down(mul(*b, mul(v16, w))));
        Some(Split { forms, rest, factors: self.outer.iter().map(factor).collect() })
    }

    /// The sums of 18 products and 1 that the outputs are, by product: which outputs take it. `sigma`: what `z` is multiplied by.
    pub fn results(&self, small: &Small, split: &Split, sigma: u8) -> Vec<Vector> {
        let s = inverse(sigma);
        let mut by_product = vec![0; 19];
        for (k, (a, b)) in split.factors.iter().enumerate() {
            let products = u32::from(small.expansion[mul(*a, s) as usize]) | u32::from(small.expansion[mul(*b, s) as usize]) << 9;
            (0..18).filter(|p| products >> p & 1 == 1).for_each(|p| by_product[p] |= 1 << k);
        }
        by_product[18] = Vector::from(self.constants);
        by_product
    }
}

#[cfg(test)]
mod explore {
    use super::*;
    use crate::greedy::Wishes;
    use crate::pool::{plain, Pool, Word};
    struct W(Vec<Word>);
    impl Wishes for W {
        fn wanted(&self) -> Vec<(Word, usize)> { self.0.iter().map(|w| (*w, 0)).collect() }
        fn taken(&mut self, w: Word) { self.0.retain(|x| plain(*x) != plain(w)); }
    }
    #[test]
    fn explore_middle() {
        let mut r = Random::new(1);
        for classes in [[0, 1, 2], [0, 1, 3]] {
            let small = Small::new(classes);
            let el = small.elements();
            let mut hist = std::collections::BTreeMap::new();
            let mut cand = vec![];
            for a in 0..15 { for b in 0..a { for c in 0..b { for d in 0..c {
                let th = [el[a], el[b], el[c], el[d]];
                let span: std::collections::BTreeSet<u8> = (0..16).map(|m| (0..4).filter(|i| m >> i & 1 == 1).fold(0, |s, i| s ^ th[i])).collect();
                if span.len() < 16 { continue; }
                // transposed: 9 targets in 4 dims
                let targets: Vec<Vector> = (0..9).map(|p| (0..4).fold(0, |v, j| v | (small.expansion[th[j] as usize] >> p & 1) << j)).collect();
                let cost = (0..4).map(|_| sums(4, &targets, 99, &mut r).unwrap().steps.len()).min().unwrap() + 5;
                *hist.entry(cost).or_insert(0) += 1;
                cand.push((cost, th));
            }}}}
            println!("MID {hist:?}");
            cand.sort();
            let least = cand[0].0;
            let mut ghist = std::collections::BTreeMap::new();
            let t = std::time::Instant::now();
            for (k, (c, th)) in cand.iter().enumerate() {
                if *c > least + 1 { break; }
                if k % 3 != 0 { continue }
                for e in 0..5 {
                    let sigma = power(small.generator, e);
                    // input bits: trace(th_j t)
                    let mut words = vec![0 as Word; 9];
                    for t in 0..16u32 {
                        let el = |p: u32| small.elements().into_iter().chain([0]).find(|x| (0..4).all(|j| small.trace(mul(th[j], *x)) == (p >> j & 1 == 1))).unwrap();
                        let z = inverse(el(t));
                        for (m, w) in small.forms.iter().zip(&mut words) {
                            if small.trace(mul(*m, mul(sigma, z))) { *w |= 1 << t | 1 << (t + 16); }
                        }
                    }
                    let mut best = 99;
                    for s in 0..3 {
                        let mut p = Pool::new(4, Random::new(s));
                        let mut w = W(words.clone());
                        p.gather(&mut w);
                        let nots = words.iter().filter(|w| p.made.iter().all(|m| m.value != **w)).count();
                        best = best.min(p.made.len() - 4 + nots);
                    }
                    ghist.entry((c + best, *c, best)).or_insert(vec![]).push((*th, e));
                }
            }
            for (k, v) in ghist.iter().take(6) { println!("MID {k:?} {} {:?}", v.len(), v[0]); }
            println!("MID {:?}", t.elapsed());
        }
    }
}
