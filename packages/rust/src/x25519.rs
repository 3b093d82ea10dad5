//! X25519: RFC 7748.

use crate::raw::scalarmult_curve25519 as raw;
use crate::NotAKey;
use rand_core::CryptoRngCore;
use zeroize::Zeroizing;

/// A public key: any 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PublicKey(pub [u8; 32]);

/// A secret key. It is overwritten when it is dropped.
#[derive(Clone)]
pub struct StaticSecret([u8; 32]);

impl StaticSecret {
    /// Any 32 bytes are a secret key.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        StaticSecret(*bytes)
    }

    /// Of 32 random bytes.
    #[must_use]
    pub fn random(rng: &mut impl CryptoRngCore) -> Self {
        let mut bytes = Zeroizing::new([0u8; 32]);
        rng.fill_bytes(&mut *bytes);
        StaticSecret(*bytes)
    }

    /// Its public key.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        PublicKey(raw::x25519_base(&self.0))
    }

    /// What is shared, to be hashed before it is used as a key.
    ///
    /// # Errors
    /// The peer's key has a low order, so that 0 would be shared: RFC 7748, section 6.1.
    pub fn diffie_hellman(&self, peer: &PublicKey) -> Result<Zeroizing<[u8; 32]>, NotAKey> {
        let shared = Zeroizing::new(raw::x25519(&self.0, &peer.0));
        // All bytes are looked at, whatever they are.
        if shared.iter().fold(0, |seen, byte| seen | byte) == 0 { Err(NotAKey) } else { Ok(shared) }
    }
}

secret!(StaticSecret, 0);
