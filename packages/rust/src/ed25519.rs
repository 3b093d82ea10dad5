//! Ed25519: RFC 8032, section 5.1.

use crate::raw::ed25519 as raw;
use crate::{NotAKey, LONGEST};
use rand_core::CryptoRngCore;
use signature::{Error, Keypair, SignatureEncoding, Signer, Verifier};
use zeroize::Zeroizing;

/// R, then S.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature([u8; 64]);

impl Signature {
    /// Whether it is one of a message under a key, verification sees.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 64]) -> Self {
        Signature(*bytes)
    }

    /// R, then S.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 64] {
        self.0
    }
}

impl SignatureEncoding for Signature {
    type Repr = [u8; 64];
}

impl TryFrom<&[u8]> for Signature {
    type Error = Error;

    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        bytes.try_into().map(Signature).map_err(|_| Error::new())
    }
}

impl From<Signature> for [u8; 64] {
    fn from(signature: Signature) -> Self {
        signature.0
    }
}

/// A public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VerifyingKey([u8; 32]);

impl VerifyingKey {
    /// # Errors
    /// Not the one encoding of a point.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, NotAKey> {
        raw::is_public_key(bytes).then_some(VerifyingKey(*bytes)).ok_or(NotAKey)
    }

    /// RFC 8032, 5.1.2.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0
    }

    /// Whether 8 times the key is the neutral element: a signature under such a key says nothing of the message.
    #[must_use]
    pub fn has_small_order(&self) -> bool {
        raw::has_small_order(&self.0)
    }
}

impl Verifier<Signature> for VerifyingKey {
    fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), Error> {
        let valid = message.len() <= LONGEST && raw::verify(message, &signature.0, &self.0);
        valid.then_some(()).ok_or_else(Error::new)
    }
}

/// A seed and its public key. It is overwritten when it is dropped.
#[derive(Clone)]
pub struct SigningKey {
    seed: [u8; 32],
    public: VerifyingKey,
}

impl SigningKey {
    /// Any 32 bytes are a seed.
    #[must_use]
    pub fn from_bytes(seed: &[u8; 32]) -> Self {
        SigningKey { seed: *seed, public: VerifyingKey(raw::public_key(seed)) }
    }

    /// Of 32 random bytes.
    #[must_use]
    pub fn generate(rng: &mut impl CryptoRngCore) -> Self {
        let mut seed = Zeroizing::new([0u8; 32]);
        rng.fill_bytes(&mut *seed);
        SigningKey::from_bytes(&seed)
    }

    /// The seed.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.seed)
    }

    /// Its public key.
    #[must_use]
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.public
    }
}

impl Signer<Signature> for SigningKey {
    fn try_sign(&self, message: &[u8]) -> Result<Signature, Error> {
        if message.len() > LONGEST {
            return Err(Error::new());
        }
        Ok(Signature(raw::sign(message, &self.seed, &self.public.0)))
    }
}

impl Keypair for SigningKey {
    type VerifyingKey = VerifyingKey;

    fn verifying_key(&self) -> VerifyingKey {
        self.public
    }
}

secret!(SigningKey, seed);
