//! The field of 16 elements inside that of 256: products and inversion in it by products of bits.
//! Trusted: text.

use crate::field::{mul, power, trace};

/// Which three of the five classes of elements, up to the field of 4, the forms are of. Any three give the same choices: multiples and
/// squares of these, which the choice of `a` and `b` goes through anyway.
const CLASSES: [u32; 3] = [0, 1, 2];

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
    pub fn new() -> Small {
        let generator = (2..=255).find(|g| power(*g, 15) == 1 && power(*g, 5) != 1 && power(*g, 3) != 1).unwrap_or(1);
        let forms: Vec<u8> = CLASSES.iter().flat_map(|c| (0..3).map(move |k| c + 5 * k)).map(|e| power(generator, e)).collect();
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
