//! What the interface promises beyond the vectors.

use rand_core::{CryptoRng, OsRng, RngCore};
use santoku::aead::{Aead, AeadInPlace, KeyInit, Payload};
use santoku::signature::hazmat::PrehashSigner;
use santoku::signature::{Keypair, RandomizedSigner, Signer, Verifier};
use santoku::{ed25519, x25519, Aes128Gcm, Aes256Gcm, ChaCha20Poly1305, XChaCha20Poly1305};

macro_rules! curve {
    ($module:ident) => {
        #[test]
        fn $module() {
            use santoku::$module::{Signature, SigningKey, VerifyingKey, BYTES};
            let key = SigningKey::random(&mut OsRng);
            let public = *key.verifying_key();
            assert_eq!(Keypair::verifying_key(&key), public);
            let signature: Signature = key.sign(b"message");
            let hedged: Signature = key.sign_with_rng(&mut OsRng, b"message");
            assert!(signature == key.sign(b"message") && hedged != signature && hedged != key.sign_with_rng(&mut OsRng, b"message"));
            for s in [signature, hedged, signature.low_s(), hedged.low_s()] {
                assert!(public.verify(b"message", &s).is_ok() && public.verify(b"another", &s).is_err());
                assert!(SigningKey::random(&mut OsRng).verifying_key().verify(b"message", &s).is_err());
                let (der, length) = s.to_der();
                assert_eq!(Signature::from_der(&der[..length]).expect("DER"), s);
                assert!(Signature::from_der(&der[..length - 1]).is_err() && Signature::from_der(&[&der[..length], &[0]].concat()).is_err());
            }
            assert!(Signature::from_bytes(&[0; 2 * BYTES]).is_err() && Signature::from_bytes(&[0xff; 2 * BYTES]).is_err() && Signature::try_from(&[1u8][..]).is_err());
            // Keys.
            for wrong in [[0; BYTES], [0xff; BYTES]] {
                assert!(SigningKey::from_bytes(&wrong).is_err());
            }
            assert!(SigningKey::from_slice(&[1; BYTES - 1]).is_err());
            assert_eq!(*SigningKey::from_bytes(&key.to_bytes()).expect("the same").verifying_key(), public);
            let (long, short) = (public.to_sec1_bytes(), public.to_sec1_compressed());
            assert!(VerifyingKey::from_sec1_bytes(&long) == Ok(public) && VerifyingKey::from_sec1_bytes(&short) == Ok(public));
            let mut wrong = long;
            wrong[2 * BYTES] ^= 1;
            for wrong in [&wrong[..], &long[..2 * BYTES], &[], &[0], &[&[6], &long[1..]].concat(), &[&[2], &[0xff; BYTES][..]].concat()] {
                assert!(VerifyingKey::from_sec1_bytes(wrong).is_err());
            }
            // Agreement, and recovery.
            let peer = SigningKey::random(&mut OsRng);
            assert_eq!(key.diffie_hellman(peer.verifying_key()), peer.diffie_hellman(&public));
            let by: Signature = key.sign_prehash(&[7; 32]).expect("a signature");
            let found: Vec<VerifyingKey> = (0..4).filter_map(|recid| VerifyingKey::recover_from_prehash(&[7; 32], &by, recid).ok()).collect();
            assert!(found.contains(&public) && VerifyingKey::recover_from_prehash(&[7; 32], &by, 4).is_err());
            // Nothing is told of a key.
            assert_eq!(format!("{key:?}"), "SigningKey { .. }");
        }
    };
}

curve!(p224);
curve!(p256);
curve!(p384);
curve!(p521);
curve!(secp256k1);

/// A generator that fails.
struct Broken;

impl RngCore for Broken {
    fn next_u32(&mut self) -> u32 {
        0
    }
    fn next_u64(&mut self) -> u64 {
        0
    }
    fn fill_bytes(&mut self, _: &mut [u8]) {}
    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), rand_core::Error> {
        Err(rand_core::Error::from(core::num::NonZeroU32::MIN))
    }
}

impl CryptoRng for Broken {}

#[test]
fn a_generator_that_fails_makes_no_signature() {
    let key = santoku::p256::SigningKey::random(&mut OsRng);
    let made: Result<santoku::p256::Signature, _> = key.try_sign_with_rng(&mut Broken, b"message");
    assert!(made.is_err());
}

fn sealed<C: Aead + AeadInPlace + KeyInit>() {
    let cipher = C::new(&C::generate_key(&mut OsRng));
    for n in [0, 1, 15, 16, 17, 63, 64, 65, 1000] {
        let nonce = C::generate_nonce(&mut OsRng);
        let m = vec![n as u8; n];
        let sealed = cipher.encrypt(&nonce, Payload { msg: &m, aad: b"with" }).expect("sealed");
        assert!(sealed.len() == n + 16 && cipher.decrypt(&nonce, Payload { msg: &sealed, aad: b"with" }).expect("opened") == m);
        assert!(cipher.decrypt(&nonce, Payload { msg: &sealed, aad: b"without" }).is_err());
        for at in 0..sealed.len().min(40) {
            let mut wrong = sealed.clone();
            wrong[at] ^= 1;
            assert!(cipher.decrypt(&nonce, Payload { msg: &wrong, aad: b"with" }).is_err());
        }
        // A wrong tag leaves nothing of the message.
        let mut buffer = sealed[..n].to_vec();
        assert!(cipher.decrypt_in_place_detached(&nonce, b"with", &mut buffer, &Default::default()).is_err());
        assert_eq!(buffer, vec![0; n]);
    }
}

#[test]
fn ciphers() {
    sealed::<ChaCha20Poly1305>();
    sealed::<XChaCha20Poly1305>();
    sealed::<Aes128Gcm>();
    sealed::<Aes256Gcm>();
}

#[test]
fn curve25519() {
    let key = ed25519::SigningKey::generate(&mut OsRng);
    let signature = key.sign(b"message");
    let public = *key.verifying_key();
    assert!(public.verify(b"message", &signature).is_ok() && public.verify(b"another", &signature).is_err());
    assert_eq!(ed25519::SigningKey::from_bytes(&key.to_bytes()).sign(b"message"), signature);
    let mut identity = [0; 32];
    identity[0] = 1;
    assert!(ed25519::VerifyingKey::from_bytes(&identity).expect("a point").has_small_order() && !public.has_small_order());
    identity[0] = 2;
    assert!(ed25519::VerifyingKey::from_bytes(&identity).is_err() && ed25519::Signature::try_from(&[0u8; 63][..]).is_err());
    let (a, b) = (x25519::StaticSecret::random(&mut OsRng), x25519::StaticSecret::random(&mut OsRng));
    assert_eq!(a.diffie_hellman(&b.public_key()), b.diffie_hellman(&a.public_key()));
    assert!(a.diffie_hellman(&x25519::PublicKey([0; 32])).is_err());
}
