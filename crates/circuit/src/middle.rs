//! The middle of a tower, the same for every table: from nine products to the norm, and from the norm to the forms of its inverse.
//! Trusted: text.

use crate::builder::Builder;
use crate::field::{inverse, mul, power};
use crate::greedy::Wishes;
use crate::linear::{sums, Sums, Vector};
use crate::pool::{plain, Pool, Word};
use crate::random::Random;
use crate::small::Small;

/// Exponents of the basis that the four bits of the norm are taken in, and of what its inverse is multiplied by. Of all bases these
/// need the fewest gates: ten sums of the products, and eighteen gates from four bits to nine.
const BASIS: [u32; 4] = [12, 11, 2, 1];
const FACTOR: u32 = 2;
/// Pools tried for the eighteen.
const SEEDS: u64 = 8;

/// The part that no table changes: the sums of nine products that are the four bits of `n / w`, and those bits to the nine forms of
/// `sigma w / n`.
pub struct Middle {
    pub theta: [u8; 4],
    pub sigma: u8,
    /// By product: which of the four bits take it.
    pub takes: Vec<Vector>,
    /// Those sums backwards: from four bits to nine.
    pub sums: Sums,
    pool: Pool,
    /// The forms, as functions of the four bits.
    forms: Vec<Word>,
}

/// Nine functions of four variables, wanted of a pool.
struct All(Vec<Word>);

impl Wishes for All {
    fn wanted(&self) -> Vec<(Word, usize)> {
        self.0.iter().map(|w| (*w, 0)).collect()
    }

    fn taken(&mut self, w: Word) {
        self.0.retain(|x| plain(*x) != plain(w));
    }
}

impl Middle {
    pub fn new(small: &Small) -> Option<Middle> {
        let theta = BASIS.map(|e| power(small.generator, e));
        let sigma = power(small.generator, FACTOR);
        let takes: Vec<Vector> = (0..9).map(|p| (0..4).fold(0, |v, j| v | (small.expansion[theta[j] as usize] >> p & 1) << j)).collect();
        let mut random = Random::new(1);
        let programs = (0..4).filter_map(|_| sums(4, &takes, &mut random));
        let sums = programs.min_by_key(|s| s.steps.len())?;
        let mut forms: Vec<Word> = vec![0; small.forms.len()];
        for t in small.elements() {
            let bits = (0..4).filter(|j| small.trace(mul(theta[*j as usize], t))).fold(0, |b, j| b | 1u32 << j);
            let z = mul(sigma, inverse(t));
            for (form, m) in forms.iter_mut().zip(&small.forms) {
                *form |= if small.trace(mul(*m, z)) { 0x1_0001 << bits } else { 0 };
            }
        }
        let pools = (0..SEEDS).map(|seed| {
            let mut pool = Pool::new(4, Random::new(seed));
            pool.gather(&mut All(forms.clone()));
            pool
        });
        let missing = |p: &Pool| forms.iter().filter(|f| p.made.iter().all(|m| m.value != **f)).count();
        let pool = pools.min_by_key(|p| p.made.len() + missing(p))?;
        Some(Middle { theta, sigma, takes, sums, pool, forms })
    }

    /// The forms on top of four nodes.
    pub fn gates(&self, b: &mut Builder, bits: &[u32]) -> Vec<u32> {
        let nodes = self.pool.gates(b, bits);
        let form = |b: &mut Builder, f: &Word| {
            let exact = self.pool.made.iter().position(|m| m.value == *f);
            exact.map(|k| nodes[k]).or_else(|| self.pool.find(*f).map(|k| b.not(nodes[k as usize]))).unwrap_or(0)
        };
        self.forms.iter().map(|f| form(b, f)).collect()
    }
}
