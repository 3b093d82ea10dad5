//! The E31 instruction cache: 16 KiB, two ways, 64-byte lines. A refill goes into the way that a shift register says, whatever lies there.
//!
//! Source: rocket-chip 1.2.6, `ICache.scala` and Chisel's `MaxPeriodFibonacciLFSR(16)`.

const SETS: usize = 128;
const LINE_SHIFT: u32 = 6;
const EMPTY: u32 = u32::MAX;

/// Tags of the cache. Starts empty.
#[derive(Clone)]
pub struct ICache {
    tags: [[u32; 2]; SETS],
    /// Shifted up at each refill; its highest bit is the way.
    register: u16,
}

impl Default for ICache {
    fn default() -> Self {
        ICache { tags: [[EMPTY; 2]; SETS], register: 1 << 15 }
    }
}

impl ICache {
    /// Number of the line that holds an address.
    pub fn line(addr: u32) -> u32 {
        addr >> LINE_SHIFT
    }

    /// Touches a line; true when it had to be fetched.
    pub fn miss(&mut self, line: u32) -> bool {
        let tags = &mut self.tags[line as usize % SETS];
        if tags.contains(&line) {
            return false;
        }
        let bit = |k: u32| self.register >> k & 1;
        self.register = self.register << 1 | (bit(15) ^ bit(13) ^ bit(12) ^ bit(10));
        tags[usize::from(self.register >> 15)] = line;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::ICache;

    /// The register comes back after 2^16 - 1 refills, and both ways are taken alike.
    #[test]
    fn ways_are_taken_alike() {
        let mut cache = ICache::default();
        let first = cache.register;
        let mut high = 0u32;
        for n in 1..=65_535u32 {
            assert!(cache.miss(2 * n));
            high += u32::from(cache.register >> 15);
            assert_eq!(cache.register == first, n == 65_535);
        }
        assert_eq!(high, 32_768);
    }

    /// Three lines of one set cannot all stay; two may, and are found again.
    #[test]
    fn a_set_holds_two_lines() {
        let mut cache = ICache::default();
        let held = |cache: &mut ICache| (0..3).filter(|k| !cache.clone().miss(128 * k)).count();
        for k in (0..3).cycle().take(60) {
            cache.miss(128 * k);
            assert!(!cache.miss(128 * k));
            assert!(held(&mut cache) <= 2);
        }
        assert_eq!(held(&mut cache), 2);
    }
}
