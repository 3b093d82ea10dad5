//! Digests in text.
//! Trusted: bytes, leaks, certifier.

use santoku_elf::{Function, Image};

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Hash of a function as text.
pub(crate) fn hash_of(image: &Image, f: &Function) -> String {
    hex(&image.code_hash(f))
}
