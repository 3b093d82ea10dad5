//! Authenticated encryption with the traits of `aead`: RFC 8439, draft-irtf-cfrg-xchacha-03, SP 800-38D.

use crate::{raw, LONGEST};
use aead::consts::{U0, U12, U16, U24, U32};
use aead::{AeadCore, AeadInPlace, Error, Key, KeyInit, KeySizeUser, Nonce, Tag};

macro_rules! cipher {
    ($(#[$doc:meta])* $name:ident, $key:ty, $key_bytes:literal, $nonce:ty, $seal:path, $open:path) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name([u8; $key_bytes]);

        impl KeySizeUser for $name {
            type KeySize = $key;
        }

        impl KeyInit for $name {
            fn new(key: &Key<Self>) -> Self {
                $name((*key).into())
            }
        }

        impl AeadCore for $name {
            type NonceSize = $nonce;
            type TagSize = U16;
            type CiphertextOverhead = U0;
        }

        impl AeadInPlace for $name {
            fn encrypt_in_place_detached(&self, nonce: &Nonce<Self>, associated_data: &[u8], buffer: &mut [u8]) -> Result<Tag<Self>, Error> {
                if buffer.len() > LONGEST || associated_data.len() > LONGEST {
                    return Err(Error);
                }
                Ok($seal(&self.0, &(*nonce).into(), associated_data, buffer).into())
            }

            /// Where the tag is wrong, the buffer has zeros afterwards.
            fn decrypt_in_place_detached(&self, nonce: &Nonce<Self>, associated_data: &[u8], buffer: &mut [u8], tag: &Tag<Self>) -> Result<(), Error> {
                if buffer.len() > LONGEST || associated_data.len() > LONGEST {
                    return Err(Error);
                }
                if $open(&self.0, &(*nonce).into(), associated_data, buffer, &(*tag).into()) == 1 { Ok(()) } else { Err(Error) }
            }
        }

        overwritten!($name, 0);
    };
}

cipher!(
    /// RFC 8439. No nonce is used twice with a key.
    ChaCha20Poly1305, U32, 32, U12, raw::aead_chacha20poly1305::seal, raw::aead_chacha20poly1305::open
);
cipher!(
    /// draft-irtf-cfrg-xchacha-03. Nonces may be random.
    XChaCha20Poly1305, U32, 32, U24, raw::aead_xchacha20poly1305::seal, raw::aead_xchacha20poly1305::open
);
cipher!(
    /// SP 800-38D. No nonce is used twice with a key.
    Aes128Gcm, U16, 16, U12, raw::aead_aesgcm::aes128gcm_seal, raw::aead_aesgcm::aes128gcm_open
);
cipher!(
    /// SP 800-38D. No nonce is used twice with a key.
    Aes256Gcm, U32, 32, U12, raw::aead_aesgcm::aes256gcm_seal, raw::aead_aesgcm::aes256gcm_open
);
