//! What programs may contain, and what chooses.

use crate::ty::Range;
use num_bigint::BigInt;
use num_traits::One;
use santoku_num::SplitMix64;

/// What generated programs may contain.
#[derive(Clone, Debug)]
pub struct Config {
    /// Widths of words.
    pub words: Vec<u32>,
    /// No exact integer, intermediate ones included, has a magnitude of `2^int_bits` or more.
    pub int_bits: u32,
    /// Public length parameters and arrays of such lengths.
    pub lens: bool,
    pub structs: bool,
    pub calls: bool,
    /// Statements per block, at most.
    pub statements: u64,
    /// Nesting of loops and branches, at most.
    pub nesting: u32,
    /// Depth of expressions, at most.
    pub depth: u32,
}

impl Default for Config {
    /// What every back end handles: whole machine words and integers of 62 bits.
    fn default() -> Config {
        Config {
            words: vec![8, 16, 32, 64],
            int_bits: 62,
            lens: true,
            structs: true,
            calls: true,
            statements: 5,
            nesting: 2,
            depth: 3,
        }
    }
}

impl Config {
    /// Everything the language has: odd word sizes and integers far beyond machine words.
    pub fn all() -> Config {
        Config { words: vec![1, 4, 7, 8, 16, 24, 32, 33, 64, 65, 127, 128], int_bits: 300, ..Config::default() }
    }
    /// Words, constant-length arrays and loops only.
    pub fn plain() -> Config {
        Config { lens: false, structs: false, calls: false, ..Config::default() }
    }
}

/// Chooses programs and values.
#[derive(Clone, Debug)]
pub struct Rng(SplitMix64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(SplitMix64::new(seed))
    }
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
    /// A number below `n`; 0 for `n = 0`.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 { 0 } else { self.0.below(n) }
    }
    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
    /// An element of a list that is not empty.
    pub fn pick<'v, T>(&mut self, from: &'v [T]) -> &'v T {
        &from[self.below(from.len() as u64) as usize]
    }
    fn bits128(&mut self) -> u128 {
        u128::from(self.next_u64()) << 64 | u128::from(self.next_u64())
    }
    /// A word of `bits` bits, extreme values often.
    pub fn word(&mut self, bits: u32) -> u128 {
        let top = u128::MAX >> (128 - bits.clamp(1, 128));
        match self.below(6) {
            0 => 0,
            1 => top,
            2 => 1u128 << self.below(u64::from(bits)),
            3 => u128::from(self.below(4)) & top,
            _ => self.bits128() & top,
        }
    }
    /// An integer of a range, its ends often.
    pub fn int_in(&mut self, range: &Range) -> BigInt {
        let (lo, hi) = (range.lo.to_big(), range.hi.to_big());
        let width = &hi - &lo + BigInt::one();
        match self.below(5) {
            0 => lo,
            1 => hi,
            2 if range.holds(0) => BigInt::from(0),
            _ => {
                let noise = (0..width.bits() / 128 + 2).fold(BigInt::from(0), |v, _| (v << 128) + self.bits128());
                lo + noise % width
            }
        }
    }
}

/// A range to declare, well inside what integers may grow to.
pub(super) fn declared_range(rng: &mut Rng, config: &Config) -> Range {
    let bits = 1 + rng.below(u64::from(config.int_bits / 3)) as u32;
    let top = BigInt::one() << bits;
    match rng.below(4) {
        0 => Range::new(-&top, top),
        1 => Range::new(-&top, &top - BigInt::one()),
        2 => Range::new(0, top),
        _ => Range::new(0, top - BigInt::one()),
    }
}
