//! SHA-512, FIPS 180-4 examples.

use crate::data_lines;
use crate::hex::{array, field};

/// A message and its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashVector {
    /// Message.
    pub message: Vec<u8>,
    /// Digest.
    pub digest: [u8; 64],
}

/// Empty, one block, two blocks.
pub fn fips180() -> Vec<HashVector> {
    let vectors: Vec<_> = data_lines(include_str!("../data/sha512.txt"))
        .map(|f| HashVector { message: field(f[0]), digest: array(f[1]) })
        .collect();
    assert_eq!(vectors.len(), 3);
    vectors
}
