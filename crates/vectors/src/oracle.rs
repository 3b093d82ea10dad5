//! Independent implementations to compare with: two of Ed25519 (`ed25519-dalek`: Rust; `ring`: C and assembly), one of ECDSA
//! (`ring`), SHA-512 (`sha2`), ChaCha20 (`chacha20`), and a plain RECTANGLE written from its paper, since no kept crate has it.

use crate::cipher::RectangleKey;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use ring::signature::{EcdsaKeyPair, Ed25519KeyPair, KeyPair, UnparsedPublicKey, ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_FIXED, ED25519};
use sha2::{Digest, Sha512};

/// Public key of `seed`, by dalek.
pub fn public_dalek(seed: &[u8; 32]) -> [u8; 32] {
    SigningKey::from_bytes(seed).verifying_key().to_bytes()
}

/// Signature of `message` under `seed`, by dalek.
pub fn sign_dalek(seed: &[u8; 32], message: &[u8]) -> [u8; 64] {
    SigningKey::from_bytes(seed).sign(message).to_bytes()
}

/// Verdict of dalek's `verify`: S < L is required, keys and R of small order are not refused.
pub fn verify_dalek(public: &[u8], message: &[u8], signature: &[u8]) -> bool {
    dalek(public, signature).is_some_and(|(key, sig)| ed25519_dalek::Verifier::verify(&key, message, &sig).is_ok())
}

/// Verdict of dalek's `verify_strict`: refuses, further, keys and R of small order.
pub fn verify_dalek_strict(public: &[u8], message: &[u8], signature: &[u8]) -> bool {
    dalek(public, signature).is_some_and(|(key, sig)| key.verify_strict(message, &sig).is_ok())
}

fn dalek(public: &[u8], signature: &[u8]) -> Option<(VerifyingKey, Signature)> {
    Some((VerifyingKey::try_from(public).ok()?, Signature::from_slice(signature).ok()?))
}

/// A new key on P-256 and its signature of `message` with SHA-256, by ring: x and y, then r and s, 32 bytes each.
pub fn new_p256(message: &[u8]) -> ([u8; 64], [u8; 64]) {
    let random = ring::rand::SystemRandom::new();
    let how = &ring::signature::ECDSA_P256_SHA256_FIXED_SIGNING;
    let document = EcdsaKeyPair::generate_pkcs8(how, &random).expect("a key");
    let key = EcdsaKeyPair::from_pkcs8(how, document.as_ref(), &random).expect("the same key");
    let signature = key.sign(&random, message).expect("a signature");
    // The first byte says that both coordinates follow.
    let public = key.public_key().as_ref()[1..].try_into().expect("two coordinates");
    (public, signature.as_ref().try_into().expect("two numbers"))
}

/// Public key of `seed`, by ring.
pub fn public_ring(seed: &[u8; 32]) -> [u8; 32] {
    let key = ring_key(seed);
    key.public_key().as_ref().try_into().expect("Ed25519 public keys have 32 bytes")
}

/// Signature of `message` under `seed`, by ring.
pub fn sign_ring(seed: &[u8; 32], message: &[u8]) -> [u8; 64] {
    ring_key(seed).sign(message).as_ref().try_into().expect("Ed25519 signatures have 64 bytes")
}

fn ring_key(seed: &[u8; 32]) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(seed).expect("any 32 bytes are an Ed25519 seed")
}

/// Verdict of ring: S < L is required, small orders are not refused.
pub fn verify_ring(public: &[u8], message: &[u8], signature: &[u8]) -> bool {
    UnparsedPublicKey::new(&ED25519, public).verify(message, signature).is_ok()
}

/// Verdict of ring on ECDSA P-256 with SHA-256, signature in P1363 form; `public` is 0x04, x, y.
pub fn verify_p256_ring(public: &[u8], message: &[u8], signature: &[u8]) -> bool {
    UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public).verify(message, signature).is_ok()
}

/// The same of a signature in DER.
pub fn verify_p256_ring_der(public: &[u8], message: &[u8], signature: &[u8]) -> bool {
    UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, public).verify(message, signature).is_ok()
}

/// SHA-512 digest.
pub fn sha512(message: &[u8]) -> [u8; 64] {
    Sha512::digest(message).into()
}

/// Encrypts (or decrypts) `data` by ChaCha20 from block `counter` on. The counter must not pass 2^32 within `data`.
pub fn chacha20(key: &[u8; 32], counter: u32, nonce: &[u8; 12], data: &[u8]) -> Vec<u8> {
    let mut cipher = chacha20::ChaCha20::new(key.into(), nonce.into());
    cipher.seek(u64::from(counter) * 64);
    let mut out = data.to_vec();
    cipher.apply_keystream(&mut out);
    out
}

const RECTANGLE_SBOX: [u8; 16] = [6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2];
const RECTANGLE_ROUNDS: usize = 25;

/// Encrypts one block by RECTANGLE; rows as in [`crate::cipher::RectangleVector`].
pub fn rectangle(key: &RectangleKey, plaintext: [u16; 4]) -> [u16; 4] {
    let round_keys = rectangle_round_keys(key);
    let mut state = plaintext;
    for round_key in &round_keys[..RECTANGLE_ROUNDS] {
        let mut rows: [u32; 4] = std::array::from_fn(|i| u32::from(state[i] ^ round_key[i]));
        substitute(&mut rows, 16);
        let [a, b, c, d] = rows.map(|r| r as u16);
        state = [a, b.rotate_left(1), c.rotate_left(12), d.rotate_left(13)];
    }
    std::array::from_fn(|i| state[i] ^ round_keys[RECTANGLE_ROUNDS][i])
}

/// The 26 round keys of a RECTANGLE key.
pub fn rectangle_round_keys(key: &RectangleKey) -> [[u16; 4]; RECTANGLE_ROUNDS + 1] {
    let mut constant = 1u8;
    let mut next_constant = || {
        let now = constant;
        constant = ((constant << 1) & 31) | (((constant >> 4) ^ (constant >> 2)) & 1);
        u32::from(now)
    };
    let mut out = [[0; 4]; RECTANGLE_ROUNDS + 1];
    match *key {
        RectangleKey::K80(mut k) => {
            for round_key in &mut out {
                *round_key = [k[0], k[1], k[2], k[3]];
                let mut rows = [k[0], k[1], k[2], k[3]].map(u32::from);
                substitute(&mut rows, 4);
                let [a, b, c, d] = rows.map(|r| r as u16);
                k = [a.rotate_left(8) ^ b ^ next_constant() as u16, c, d, d.rotate_left(12) ^ k[4], a];
            }
        }
        RectangleKey::K128(mut k) => {
            for round_key in &mut out {
                *round_key = k.map(|row| row as u16);
                substitute(&mut k, 8);
                let [a, b, c, d] = k;
                k = [a.rotate_left(8) ^ b ^ next_constant(), c, c.rotate_left(16) ^ d, a];
            }
        }
    }
    out
}

/// Replaces the lowest `columns` columns by their S-box values.
fn substitute(rows: &mut [u32; 4], columns: u32) {
    for j in 0..columns {
        let column = (0..4).fold(0, |v, i| v | ((rows[i] >> j & 1) << i));
        let value = u32::from(RECTANGLE_SBOX[column as usize]);
        for (i, row) in rows.iter_mut().enumerate() {
            *row = *row & !(1 << j) | (value >> i & 1) << j;
        }
    }
}
