//! Digests in text.
//! Trusted: bytes, leaks, certifier.

use santoku_elf::{Function, Image};
use santoku_num::hex;

/// Hash of a function as text.
pub(crate) fn hash_of(image: &Image, f: &Function) -> String {
    hex(&image.code_hash(f))
}
