//! The E31 instruction cache: 16 KiB, two ways, 64-byte lines, least recently used way replaced.
//!
//! The hardware replaces a random way; see `docs/lab.md` for what that means for programs that overflow the cache.

const SETS: usize = 128;
const LINE_SHIFT: u32 = 6;
const EMPTY: u32 = u32::MAX;

/// Tags of the cache. Starts empty.
#[derive(Clone)]
pub struct ICache {
    tags: [[u32; 2]; SETS],
    victim: [u8; SETS],
}

impl Default for ICache {
    fn default() -> Self {
        ICache { tags: [[EMPTY; 2]; SETS], victim: [0; SETS] }
    }
}

impl ICache {
    /// Number of the line that holds an address.
    pub fn line(addr: u32) -> u32 {
        addr >> LINE_SHIFT
    }

    /// Touches a line; true when it had to be fetched.
    pub fn miss(&mut self, line: u32) -> bool {
        let set = line as usize % SETS;
        let tags = &mut self.tags[set];
        let way = if tags[0] == line {
            0
        } else if tags[1] == line {
            1
        } else {
            let way = if tags[0] == EMPTY {
                0
            } else if tags[1] == EMPTY {
                1
            } else {
                self.victim[set] as usize
            };
            tags[way] = line;
            self.victim[set] = 1 - way as u8;
            return true;
        };
        self.victim[set] = 1 - way;
        false
    }
}
