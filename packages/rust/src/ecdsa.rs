//! ECDSA and ECDH: FIPS 186-5, section 6; SEC 1; RFC 6979; SP 800-56A, 5.7.1.2. One macro for all curves: their lengths are types.

macro_rules! curve {
    ($(#[$doc:meta])* $module:ident, $raw:ident, $bytes:literal, $seed:literal, $hash:ident, $der:literal) => {
        $(#[$doc])*
        pub mod $module {
            use crate::raw::$raw as raw;
            use crate::{NotAKey, LONGEST};
            use rand_core::CryptoRngCore;
            use sha2::digest::{Digest, FixedOutput};
            use signature::hazmat::{PrehashSigner, PrehashVerifier, RandomizedPrehashSigner};
            use signature::{DigestSigner, DigestVerifier, Error, Keypair, RandomizedSigner, SignatureEncoding, Signer, Verifier};
            use zeroize::Zeroizing;

            /// Bytes of a scalar, and of a coordinate.
            pub const BYTES: usize = $bytes;
            /// The most bytes of a signature in DER.
            pub const DER_BYTES: usize = $der;

            /// `r` and `s`, big-endian.
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct Signature([u8; 2 * BYTES]);

            impl Signature {
                /// # Errors
                /// `r` or `s` is not in 1..n-1.
                pub fn from_bytes(bytes: &[u8; 2 * BYTES]) -> Result<Self, Error> {
                    let half = |at: usize| core::array::from_fn::<u8, BYTES, _>(|i| bytes[at + i]);
                    let in_range = raw::is_private_key(&half(0)) && raw::is_private_key(&half(BYTES));
                    in_range.then_some(Signature(*bytes)).ok_or_else(Error::new)
                }

                /// # Errors
                /// Not the one form that DER allows (RFC 3279, 2.2.3), or out of range.
                pub fn from_der(der: &[u8]) -> Result<Self, Error> {
                    match raw::signature_from_der(der) {
                        (bytes, 0) => Signature::from_bytes(&bytes),
                        _ => Err(Error::new()),
                    }
                }

                /// In DER, behind it zeros, and how many bytes it has.
                #[must_use]
                pub fn to_der(&self) -> ([u8; DER_BYTES], usize) {
                    let (der, length) = raw::signature_to_der(&self.0);
                    (der, length as usize)
                }

                /// The signature with the smaller of `s` and `n - s`: of the same digests.
                #[must_use]
                pub fn low_s(&self) -> Self {
                    Signature(raw::signature_low_s(&self.0).0)
                }

                /// `r`, then `s`.
                #[must_use]
                pub fn to_bytes(&self) -> [u8; 2 * BYTES] {
                    self.0
                }
            }

            impl SignatureEncoding for Signature {
                type Repr = [u8; 2 * BYTES];
            }

            impl TryFrom<&[u8]> for Signature {
                type Error = Error;

                fn try_from(bytes: &[u8]) -> Result<Self, Error> {
                    Signature::from_bytes(bytes.try_into().map_err(|_| Error::new())?)
                }
            }

            impl From<Signature> for [u8; 2 * BYTES] {
                fn from(signature: Signature) -> Self {
                    signature.0
                }
            }

            /// A public key: a point that is not the point at infinity.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct VerifyingKey([u8; 2 * BYTES]);

            impl VerifyingKey {
                /// SEC 1, 2.3.4: both coordinates behind 4, or x behind 2 or 3.
                ///
                /// # Errors
                /// Any other form, and what is no point of the curve.
                pub fn from_sec1_bytes(bytes: &[u8]) -> Result<Self, NotAKey> {
                    match raw::public_key_decode(bytes) {
                        (point, 0) => Ok(VerifyingKey(point)),
                        _ => Err(NotAKey),
                    }
                }

                /// Both coordinates behind 4.
                #[must_use]
                pub fn to_sec1_bytes(&self) -> [u8; 1 + 2 * BYTES] {
                    core::array::from_fn(|i| if i == 0 { 4 } else { self.0[i - 1] })
                }

                /// x behind 2 or 3.
                #[must_use]
                pub fn to_sec1_compressed(&self) -> [u8; 1 + BYTES] {
                    raw::public_key_compress(&self.0)
                }

                /// The key under which the signature is one of the digest: SEC 1, 4.1.6. Bit 0 of `recid`: the parity of y of the signature's point; bit 1:
                /// its x is `r + n`.
                ///
                /// # Errors
                /// There is none, or `recid` is above 3.
                pub fn recover_from_prehash(prehash: &[u8], signature: &Signature, recid: u8) -> Result<Self, Error> {
                    if recid > 3 || prehash.len() > LONGEST {
                        return Err(Error::new());
                    }
                    match raw::recover(prehash, &signature.0, recid.into()) {
                        (point, 0) => Ok(VerifyingKey(point)),
                        _ => Err(Error::new()),
                    }
                }
            }

            impl PrehashVerifier<Signature> for VerifyingKey {
                fn verify_prehash(&self, prehash: &[u8], signature: &Signature) -> Result<(), Error> {
                    let valid = prehash.len() <= LONGEST && raw::verify(prehash, &signature.0, &self.0);
                    valid.then_some(()).ok_or_else(Error::new)
                }
            }

            impl Verifier<Signature> for VerifyingKey {
                fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), Error> {
                    self.verify_prehash(&sha2::$hash::digest(message), signature)
                }
            }

            impl<D: Digest + FixedOutput> DigestVerifier<D, Signature> for VerifyingKey {
                fn verify_digest(&self, digest: D, signature: &Signature) -> Result<(), Error> {
                    self.verify_prehash(&digest.finalize_fixed(), signature)
                }
            }

            /// A private key, and its public key. It is overwritten when it is dropped.
            #[derive(Clone)]
            pub struct SigningKey {
                secret: [u8; BYTES],
                public: VerifyingKey,
            }

            impl SigningKey {
                /// # Errors
                /// The number, big-endian, is not in 1..n-1.
                pub fn from_bytes(secret: &[u8; BYTES]) -> Result<Self, NotAKey> {
                    match raw::public_key(secret) {
                        (point, 0) => Ok(SigningKey { secret: *secret, public: VerifyingKey(point) }),
                        _ => Err(NotAKey),
                    }
                }

                /// # Errors
                /// As [`SigningKey::from_bytes`], and another length.
                pub fn from_slice(secret: &[u8]) -> Result<Self, NotAKey> {
                    SigningKey::from_bytes(secret.try_into().map_err(|_| NotAKey)?)
                }

                /// Of random bytes, 64 bits more than the order has: FIPS 186-5, A.2.1.
                #[must_use]
                pub fn random(rng: &mut impl CryptoRngCore) -> Self {
                    let mut seed = Zeroizing::new([0u8; $seed]);
                    rng.fill_bytes(&mut *seed);
                    let secret = Zeroizing::new(raw::private_key(&seed));
                    let (point, _) = raw::public_key(&secret);
                    SigningKey { secret: *secret, public: VerifyingKey(point) }
                }

                /// The number, big-endian.
                #[must_use]
                pub fn to_bytes(&self) -> Zeroizing<[u8; BYTES]> {
                    Zeroizing::new(self.secret)
                }

                /// Its public key.
                #[must_use]
                pub fn verifying_key(&self) -> &VerifyingKey {
                    &self.public
                }

                /// ECDH: x of the product, big-endian, to be hashed before it is used as a key.
                #[must_use]
                pub fn diffie_hellman(&self, peer: &VerifyingKey) -> Zeroizing<[u8; BYTES]> {
                    Zeroizing::new(raw::ecdh(&self.secret, &peer.0).0)
                }
            }

            fn made((signature, status): ([u8; 2 * BYTES], i32)) -> Result<Signature, Error> {
                if status == 0 { Ok(Signature(signature)) } else { Err(Error::new()) }
            }

            /// With the nonce of RFC 6979.
            impl PrehashSigner<Signature> for SigningKey {
                fn sign_prehash(&self, prehash: &[u8]) -> Result<Signature, Error> {
                    if prehash.len() > LONGEST {
                        return Err(Error::new());
                    }
                    made(raw::sign(prehash, &self.secret))
                }
            }

            /// With 32 random bytes in the nonce: RFC 6979, 3.6.
            impl RandomizedPrehashSigner<Signature> for SigningKey {
                fn sign_prehash_with_rng(&self, rng: &mut impl CryptoRngCore, prehash: &[u8]) -> Result<Signature, Error> {
                    if prehash.len() > LONGEST {
                        return Err(Error::new());
                    }
                    let mut entropy = Zeroizing::new([0u8; 32]);
                    rng.try_fill_bytes(&mut *entropy).map_err(|_| Error::new())?;
                    made(raw::sign_hedged(prehash, &self.secret, &entropy))
                }
            }

            impl Signer<Signature> for SigningKey {
                fn try_sign(&self, message: &[u8]) -> Result<Signature, Error> {
                    self.sign_prehash(&sha2::$hash::digest(message))
                }
            }

            impl RandomizedSigner<Signature> for SigningKey {
                fn try_sign_with_rng(&self, rng: &mut impl CryptoRngCore, message: &[u8]) -> Result<Signature, Error> {
                    self.sign_prehash_with_rng(rng, &sha2::$hash::digest(message))
                }
            }

            impl<D: Digest + FixedOutput> DigestSigner<D, Signature> for SigningKey {
                fn try_sign_digest(&self, digest: D) -> Result<Signature, Error> {
                    self.sign_prehash(&digest.finalize_fixed())
                }
            }

            impl Keypair for SigningKey {
                type VerifyingKey = VerifyingKey;

                fn verifying_key(&self) -> VerifyingKey {
                    self.public
                }
            }

            secret!(SigningKey, secret);
        }
    };
}

curve!(
    /// NIST P-224; messages are hashed by SHA-256.
    p224, p224, 28, 36, Sha256, 64
);
curve!(
    /// NIST P-256; messages are hashed by SHA-256.
    p256, p256, 32, 40, Sha256, 72
);
curve!(
    /// NIST P-384; messages are hashed by SHA-384.
    p384, p384, 48, 56, Sha384, 104
);
curve!(
    /// NIST P-521; messages are hashed by SHA-512.
    p521, p521, 66, 74, Sha512, 141
);
curve!(
    /// secp256k1; messages are hashed by SHA-256.
    secp256k1, secp256k1, 32, 40, Sha256, 72
);
