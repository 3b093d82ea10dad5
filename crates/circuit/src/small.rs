//! The field of 16 elements inside that of 256: products and inversion in it by products of bits.
//! Trusted: text.

use crate::field::{inverse, mul, power, trace};

/// The field of 16: its trace to the field of two, its generator, and which nine forms the products take.
pub struct Small {
    /// Elements as elements of the field of 256, and their numbers.
    pub generator: u8,
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

#[cfg(test)]
mod explore {
    use super::*;
    use crate::linear::{sums, Vector};
    use crate::random::Random;
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
                if *c > least { break; }
                let _ = k;
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
                    for s in 0..2 {
                        let mut p = Pool::new(4, Random::new(s));
                        let mut w = W(words.clone());
                        p.gather(&mut w);
                        let nots = words.iter().filter(|w| p.made.iter().all(|m| m.value != **w)).count();
                        best = best.min(p.made.len() - 4 + nots);
                    }
                    ghist.entry((c + best, *c, e)).or_insert(vec![]).push(th.map(|x| el.iter().position(|y| *y == x).unwrap()));
                }
            }
            for (k, v) in ghist.iter().take(12) { println!("MID {k:?} {} {:?}", v.len(), &v[..v.len().min(3)]); }
            println!("MID {:?}", t.elapsed());
        }
    }
}
