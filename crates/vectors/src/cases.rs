//! Repeatable random cases for differential runs.

use sha2::{Digest, Sha512};

/// A signing key's seed and a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignCase {
    /// Number in its stream.
    pub index: u64,
    /// Seed.
    pub seed: [u8; 32],
    /// Message of 0 to 511 bytes; every eighth case is at a SHA-512 padding edge of one of Ed25519's three hashes.
    pub message: Vec<u8>,
}

/// `count` cases; the same `stream` gives the same cases, on every machine.
pub fn sign_cases(stream: u64, count: u64) -> impl Iterator<Item = SignCase> {
    (0..count).map(move |index| {
        let seed = block(stream, index, 0);
        let shape = block(stream, index, 1);
        let len = match index % 8 {
            // Lengths around 112 and 128 bytes after the 32 and 64 bytes hashed before the message.
            0 => [47, 48, 49, 63, 64, 65, 79, 80, 81, 95, 96, 97][shape[0] as usize % 12],
            1 => 0,
            _ => usize::from(shape[0]) + usize::from(shape[1]),
        };
        SignCase { index, seed: std::array::from_fn(|i| seed[i]), message: bytes(stream, index, len) }
    })
}

/// `len` random bytes of case `index`, independent of its seed.
pub fn bytes(stream: u64, index: u64, len: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(len + 64);
    for part in 2.. {
        if out.len() >= len {
            break;
        }
        out.extend(block(stream, index, part));
    }
    out.truncate(len);
    out
}

fn block(stream: u64, index: u64, part: u64) -> [u8; 64] {
    let mut hash = Sha512::new();
    for word in [stream, index, part] {
        hash.update(word.to_le_bytes());
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn cases_repeat_and_differ() {
        let a: Vec<_> = sign_cases(1, 200).collect();
        assert_eq!(a, sign_cases(1, 200).collect::<Vec<_>>());
        assert_eq!(a.iter().map(|c| c.seed).collect::<BTreeSet<_>>().len(), 200);
        assert_ne!(a[0], sign_cases(2, 1).next().expect("one case"));
        let lens: BTreeSet<_> = a.iter().map(|c| c.message.len()).collect();
        assert!(lens.contains(&0) && lens.len() > 100 && lens.iter().all(|l| *l < 512), "{lens:?}");
    }
}
