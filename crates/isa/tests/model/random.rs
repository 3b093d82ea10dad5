//! Numbers that repeat from run to run, and operands that find faults.

use santoku_num::SplitMix64;

pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(SplitMix64::new(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A register value: half the time random of a random size, else at some edge. Not cut to XLEN.
    pub fn operand(&mut self) -> u64 {
        const EDGES: [u64; 20] = [
            0,
            1,
            2,
            u64::MAX,
            1 << 63,
            (1 << 63) - 1,
            1 << 31,
            (1 << 31) - 1,
            1 << 32,
            (1 << 32) - 1,
            0xffff_ffff_8000_0000,
            0xffff_ffff_7fff_ffff,
            0x7f,
            0x80,
            0x7fff,
            0x8000,
            31,
            32,
            63,
            64,
        ];
        let bit = 1 << self.below(64);
        match self.below(8) {
            0..=1 => self.next(),
            2..=3 => self.next() >> self.below(64),
            4 => (self.next() as i64 >> self.below(64)) as u64,
            5 => [bit, !bit, bit - 1][self.below(3) as usize],
            _ => EDGES[self.below(20) as usize].wrapping_add(if self.one_in(4) { self.below(3).wrapping_sub(1) } else { 0 }),
        }
    }
}
