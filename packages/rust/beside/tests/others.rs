//! The same calls of this package and of the crates of RustCrypto and dalek, with random, small and spoilt arguments.

use rand_core::{OsRng, RngCore};
use santoku::aead::{AeadInPlace, KeyInit};
use santoku::signature::hazmat::{PrehashSigner, PrehashVerifier};
use santoku::signature::{Signer, Verifier};

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    OsRng.fill_bytes(&mut bytes);
    bytes
}

/// One bit changed.
fn spoilt(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = OsRng.next_u32() as usize % (8 * bytes.len());
    bytes[at / 8] ^= 1 << (at % 8);
    bytes
}

/// `$alike`: both sign by the same nonce; `$low`: theirs has the smaller s.
macro_rules! curve {
    ($ours:ident, $theirs:ident, $bytes:literal, $alike:literal, $low:literal) => {
        #[test]
        fn $ours() {
            use santoku::$ours as ours;
            use $theirs as theirs;
            use theirs::elliptic_curve::sec1::ToEncodedPoint;
            let small = |k: u8| std::array::from_fn::<u8, $bytes, _>(|i| if i == $bytes - 1 { k } else { 0 });
            let keys = (1..20).map(small).chain((0..30).map(|_| {
                let mut key = random::<$bytes>();
                key[0] = 0;
                key
            }));
            let mut checked = 0;
            for secret in keys {
                let a = ours::SigningKey::from_bytes(&secret).expect("a key");
                let b = theirs::ecdsa::SigningKey::from_slice(&secret).expect("a key");
                let c = theirs::SecretKey::from_slice(&secret).expect("a key");
                let point = c.public_key().to_encoded_point(false);
                assert_eq!(a.verifying_key().to_sec1_bytes().as_slice(), point.as_bytes());
                assert_eq!(a.verifying_key().to_sec1_compressed().as_slice(), c.public_key().to_encoded_point(true).as_bytes());
                for _ in 0..10 {
                    let encoded = spoilt(point.as_bytes());
                    assert_eq!(ours::VerifyingKey::from_sec1_bytes(&encoded).is_ok(), theirs::PublicKey::from_sec1_bytes(&encoded).is_ok());
                    let encoded = spoilt(c.public_key().to_encoded_point(true).as_bytes());
                    let read = ours::VerifyingKey::from_sec1_bytes(&encoded).map(|k| k.to_sec1_bytes().to_vec()).ok();
                    assert_eq!(read, theirs::PublicKey::from_sec1_bytes(&encoded).map(|k| k.to_encoded_point(false).as_bytes().to_vec()).ok());
                    checked += 2;
                }
                // Of longer ones, p521 takes other bits than FIPS 186-5, 6.4.1, and OpenSSL: the leftmost 521.
                let digest = &random::<$bytes>()[..$bytes.min(64)];
                let ours_made: ours::Signature = a.sign_prehash(digest).expect("a signature");
                let theirs_made: theirs::ecdsa::Signature = b.sign_prehash(digest).expect("a signature");
                if $alike {
                    let same = if $low { ours_made.low_s() } else { ours_made };
                    assert_eq!(same.to_bytes().as_slice(), theirs_made.to_bytes().as_slice());
                }
                let their_key = theirs::ecdsa::VerifyingKey::from(&b);
                for bytes in [theirs_made.to_bytes().to_vec(), ours_made.low_s().to_bytes().to_vec(), spoilt(&theirs_made.to_bytes()), spoilt(&theirs_made.to_bytes())] {
                    let judged = ours::Signature::try_from(bytes.as_slice()).is_ok_and(|s| a.verifying_key().verify_prehash(digest, &s).is_ok());
                    let judged_there = theirs::ecdsa::Signature::from_slice(&bytes).is_ok_and(|s| their_key.verify_prehash(digest, &s).is_ok());
                    assert_eq!(judged, judged_there);
                    checked += 1;
                }
                let peer = theirs::SecretKey::random(&mut OsRng);
                let shared = theirs::ecdh::diffie_hellman(c.to_nonzero_scalar(), peer.public_key().as_affine());
                let our_peer = ours::VerifyingKey::from_sec1_bytes(peer.public_key().to_encoded_point(false).as_bytes()).expect("a point");
                assert_eq!(a.diffie_hellman(&our_peer).as_slice(), shared.raw_secret_bytes().as_slice());
                checked += 1;
            }
            assert!(checked > 1000, "{checked}");
        }
    };
}

curve!(p224, p224, 28, false, false);
curve!(p256, p256, 32, true, false);
curve!(p384, p384, 48, true, false);
// p521 takes other nonces than RFC 6979, A.2.7.
curve!(p521, p521, 66, false, false);
curve!(secp256k1, k256, 32, true, true);

#[test]
fn curve25519() {
    for n in 0..100 {
        let (seed, message) = (random::<32>(), vec![n as u8; n]);
        let (a, b) = (santoku::ed25519::SigningKey::from_bytes(&seed), ed25519_dalek::SigningKey::from_bytes(&seed));
        let signature = a.sign(&message).to_bytes();
        assert_eq!(signature, b.sign(&message).to_bytes());
        assert_eq!(a.verifying_key().to_bytes(), b.verifying_key().to_bytes());
        let wrong = spoilt(&signature);
        assert!(a.verifying_key().verify(&message, &wrong.as_slice().try_into().expect("64 bytes")).is_err());
        let point = random::<32>();
        let shared = santoku::x25519::StaticSecret::from_bytes(&seed).diffie_hellman(&santoku::x25519::PublicKey(point)).expect("no low order");
        let theirs = x25519_dalek::StaticSecret::from(seed).diffie_hellman(&x25519_dalek::PublicKey::from(point));
        assert_eq!(*shared, theirs.to_bytes());
    }
}

fn alike<A: AeadInPlace + KeyInit, B: AeadInPlace<NonceSize = A::NonceSize, TagSize = A::TagSize> + KeyInit<KeySize = A::KeySize>>() {
    for n in (0..300).chain([1000, 5000, 20_000]) {
        let (key, nonce) = (A::generate_key(&mut OsRng), santoku::aead::Nonce::<A>::clone_from_slice(&random::<24>()[..<A::NonceSize as santoku::aead::generic_array::typenum::Unsigned>::USIZE]));
        let (mut a, with) = (vec![n as u8; n], vec![1; n % 50]);
        let mut b = a.clone();
        let tag = A::new(&key).encrypt_in_place_detached(&nonce, &with, &mut a).expect("sealed");
        assert_eq!(tag, B::new(&key).encrypt_in_place_detached(&nonce, &with, &mut b).expect("sealed"));
        assert_eq!(a, b);
        A::new(&key).decrypt_in_place_detached(&nonce, &with, &mut a, &tag).expect("opened");
        assert_eq!(a, vec![n as u8; n]);
    }
}

#[test]
fn ciphers() {
    alike::<santoku::ChaCha20Poly1305, chacha20poly1305::ChaCha20Poly1305>();
    alike::<santoku::XChaCha20Poly1305, chacha20poly1305::XChaCha20Poly1305>();
    alike::<santoku::Aes128Gcm, aes_gcm::Aes128Gcm>();
    alike::<santoku::Aes256Gcm, aes_gcm::Aes256Gcm>();
}
