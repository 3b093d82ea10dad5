//! Inversion of the field of 256 elements by the field of 16, between affine maps.
//!
//! With any basis `u`, `v` over the field of 16, `X = a u + b v` has the norm `n = X^17`, and `1 / X = X^16 / n`; `n / w` is
//! `a b` and something linear, for a constant `w`. So there are three products of the field of 16, each of nine products of bits, and an
//! inversion in it. Which forms of `X` the products of bits take is a choice of `a`, `b` and the products; the search goes through all
//! of them, and looks for few sums for those forms and for the results.
//! Trusted: text.

use crate::field::{inverse, mul, power, trace, Twist};
use crate::linear::Vector;
use crate::small::Small;

/// Bit that stands for 1 in affine forms of the inputs, and among the inputs of the last sums.
pub const ONE: Vector = 1 << 8;

/// A choice of `a` and `b`: which forms of the inputs and which sums of products there are.
#[derive(Clone, Debug)]
pub struct Split {
    /// The nine forms of `a`, then those of `b`, affine in the inputs.
    pub forms: Vec<Vector>,
    /// By element `c` of the field of 16: `trace(c l)`, where `n / w = a b + l`, affine in the inputs.
    pub rest: Vec<Vector>,
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
