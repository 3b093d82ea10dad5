//! A hash table from functions of five variables to numbers, with a filter before it: most look-ups find nothing.
//! Trusted: text.

const FILTER_BITS: u32 = 21;

/// Keys are not 0. A key keeps its first number.
pub struct Map {
    filter: Vec<u64>,
    slots: Vec<(u32, u32)>,
    len: usize,
}

fn mix(key: u32) -> u32 {
    let k = key.wrapping_mul(0x9e37_79b1);
    (k ^ k >> 15).wrapping_mul(0x85eb_ca77)
}

impl Map {
    pub fn new() -> Map {
        Map { filter: vec![0; 1 << (FILTER_BITS - 6)], slots: vec![(0, 0); 1 << 10], len: 0 }
    }

    pub fn get(&self, key: u32) -> Option<u32> {
        let h = mix(key);
        let f = h >> (32 - FILTER_BITS);
        if self.filter[f as usize >> 6] >> (f & 63) & 1 == 0 {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut at = h as usize & mask;
        loop {
            match self.slots[at] {
                (0, _) => return None,
                (k, v) if k == key => return Some(v),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// False if the key was there.
    pub fn insert(&mut self, key: u32, value: u32) -> bool {
        if 2 * (self.len + 1) > self.slots.len() {
            let grown = vec![(0, 0); 2 * self.slots.len()];
            let old = std::mem::replace(&mut self.slots, grown);
            old.into_iter().filter(|s| s.0 != 0).for_each(|(k, v)| {
                self.place(k, v);
            });
        }
        let new = self.place(key, value);
        self.len += usize::from(new);
        let f = mix(key) >> (32 - FILTER_BITS);
        self.filter[f as usize >> 6] |= 1 << (f & 63);
        new
    }

    fn place(&mut self, key: u32, value: u32) -> bool {
        let mask = self.slots.len() - 1;
        let mut at = mix(key) as usize & mask;
        loop {
            match self.slots[at].0 {
                0 => {
                    self.slots[at] = (key, value);
                    return true;
                }
                k if k == key => return false,
                _ => at = (at + 1) & mask,
            }
        }
    }
}
