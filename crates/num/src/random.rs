//! Numbers without meaning that repeat from run to run.

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). Not for secrets.
#[derive(Clone, Debug, Default)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 for `n = 0`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next_u64() % n.max(1)
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count.div_ceil(8)).flat_map(|_| self.next_u64().to_le_bytes()).take(count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the reference code (Vigna, splitmix64.c) for the seed 1234567.
    #[test]
    fn the_published_sequence() {
        let mut r = SplitMix64::new(1_234_567);
        let first: Vec<u64> = (0..5).map(|_| r.next_u64()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431, 16_408_922_859_458_223_821]);
        assert_eq!((r.below(0), r.bytes(11).len()), (0, 11));
    }
}
