//! Hashes for the tables that every operation asks: a multiplication a word.
//!
//! Needs: nothing.  Keeps: only how fast an entry is found depends on a hash, never which.  Absent: a key against those who choose
//! what collides; they would only make their own certificate slow.

use std::hash::{BuildHasherDefault, Hasher};

pub(super) type Quick = BuildHasherDefault<Words>;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Words(u64);

impl Hasher for Words {
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for w in words.by_ref() {
            self.write_u64(u64::from_le_bytes(w.try_into().unwrap_or_default()));
        }
        for b in words.remainder() {
            self.write_u64(u64::from(*b));
        }
    }

    fn write_u8(&mut self, n: u8) {
        self.write_u64(u64::from(n));
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(23) ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }

    fn write_isize(&mut self, n: isize) {
        self.write_u64(n as u64);
    }

    /// Tables take the lowest and the highest bits.
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}
