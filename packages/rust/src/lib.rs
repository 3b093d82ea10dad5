//! Elliptic curves and authenticated encryption over C that Santoku made of proved programs: no branch and no address depends on a secret.
//!
//! ECDSA and ECDH on P-224, P-256, P-384, P-521 and secp256k1, Ed25519, X25519, ChaCha20-Poly1305, XChaCha20-Poly1305 and AES-GCM, with the traits of
//! RustCrypto: `signature`, `aead`, `digest`, `rand_core`, `zeroize`. No allocation, no standard library.
//!
//! ```
//! use santoku::p256::{Signature, SigningKey};
//! use santoku::signature::{Signer, Verifier};
//!
//! let key = SigningKey::from_bytes(&[7; 32]).expect("a number below the order");
//! let signature: Signature = key.sign(b"message");
//! assert!(key.verifying_key().verify(b"message", &signature).is_ok());
//! assert!(key.verifying_key().verify(b"another", &signature).is_err());
//! ```
#![no_std]
#![warn(missing_docs)]

#[allow(missing_docs, clippy::all, dead_code)]
mod raw;

/// The longest message, digest or text in bytes that the C takes.
const LONGEST: usize = 0x7fff_ffff;

/// Secrets that are overwritten when they are dropped.
macro_rules! overwritten {
    ($name:ident, $field:tt) => {
        impl Drop for $name {
            fn drop(&mut self) {
                zeroize::Zeroize::zeroize(&mut self.$field);
            }
        }

        impl zeroize::ZeroizeOnDrop for $name {}
    };
}

/// Keys of which `Debug` tells nothing, too.
macro_rules! secret {
    ($name:ident, $field:tt) => {
        overwritten!($name, $field);

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

mod ciphers;
mod ecdsa;
pub mod ed25519;
pub mod x25519;

pub use aead;
pub use ciphers::{Aes128Gcm, Aes256Gcm, ChaCha20Poly1305, XChaCha20Poly1305};
pub use ecdsa::{p224, p256, p384, p521, secp256k1};
pub use signature;

/// Bytes are no key: of another length, out of range, or no point of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAKey;

impl core::fmt::Display for NotAKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("not a key")
    }
}

impl core::error::Error for NotAKey {}
