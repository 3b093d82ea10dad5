//! Whole calls beside aws-lc-rs, ring, the crates of RustCrypto and dalek: `cargo bench --manifest-path beside/Cargo.toml`.

use aws_lc_rs::signature as aws;
use criterion::{criterion_group, criterion_main, Criterion};
use rand_core::OsRng;
use ring::signature as ring_signature;
use santoku::signature::{Signer, Verifier};

const MESSAGE: &[u8] = &[7; 256];

macro_rules! curve {
    ($c:expr, $ours:ident, $theirs:ident, $name:literal) => {{
        let mut group = $c.benchmark_group($name);
        let a = santoku::$ours::SigningKey::random(&mut OsRng);
        let b = $theirs::ecdsa::SigningKey::random(&mut OsRng);
        let (s, t): (santoku::$ours::Signature, $theirs::ecdsa::Signature) = (a.sign(MESSAGE), b.sign(MESSAGE));
        group.bench_function("sign/santoku", |x| x.iter(|| -> santoku::$ours::Signature { a.sign(MESSAGE) }));
        group.bench_function(concat!("sign/", stringify!($theirs)), |x| x.iter(|| -> $theirs::ecdsa::Signature { b.sign(MESSAGE) }));
        group.bench_function("verify/santoku", |x| x.iter(|| a.verifying_key().verify(MESSAGE, &s).expect("valid")));
        let key = $theirs::ecdsa::VerifyingKey::from(&b);
        group.bench_function(concat!("verify/", stringify!($theirs)), |x| x.iter(|| key.verify(MESSAGE, &t).expect("valid")));
        let peer = *santoku::$ours::SigningKey::random(&mut OsRng).verifying_key();
        group.bench_function("exchange/santoku", |x| x.iter(|| a.diffie_hellman(&peer)));
        let (secret, peer) = ($theirs::SecretKey::random(&mut OsRng), $theirs::SecretKey::random(&mut OsRng).public_key());
        group.bench_function(concat!("exchange/", stringify!($theirs)), |x| x.iter(|| $theirs::ecdh::diffie_hellman(secret.to_nonzero_scalar(), peer.as_affine())));
        group.finish();
    }};
}

/// Signatures of ring and aws-lc-rs, whose interfaces are the same.
macro_rules! others {
    ($c:expr, $group:literal, $package:literal, $library:ident, $sign:expr, $verify:expr) => {{
        let mut group = $c.benchmark_group($group);
        let random = $library::rand::SystemRandom::new();
        let document = $library::signature::EcdsaKeyPair::generate_pkcs8($sign, &random).expect("a key");
        let key = pair!($library, $sign, document, random);
        let signature = key.sign(&random, MESSAGE).expect("a signature");
        let public = $library::signature::UnparsedPublicKey::new($verify, $library::signature::KeyPair::public_key(&key).as_ref().to_vec());
        group.bench_function(concat!("sign/", $package), |x| x.iter(|| key.sign(&random, MESSAGE).expect("a signature")));
        group.bench_function(concat!("verify/", $package), |x| x.iter(|| public.verify(MESSAGE, signature.as_ref()).expect("valid")));
        group.finish();
    }};
}

macro_rules! pair {
    (ring, $sign:expr, $document:ident, $random:ident) => {
        ring::signature::EcdsaKeyPair::from_pkcs8($sign, $document.as_ref(), &$random).expect("a key")
    };
    (aws_lc_rs, $sign:expr, $document:ident, $random:ident) => {
        aws_lc_rs::signature::EcdsaKeyPair::from_pkcs8($sign, $document.as_ref()).expect("a key")
    };
}

fn curve25519(c: &mut Criterion) {
    let mut group = c.benchmark_group("Ed25519");
    let (a, b) = (santoku::ed25519::SigningKey::generate(&mut OsRng), ed25519_dalek::SigningKey::from_bytes(&[5; 32]));
    let (s, t) = (a.sign(MESSAGE), b.sign(MESSAGE));
    group.bench_function("sign/santoku", |x| x.iter(|| a.sign(MESSAGE)));
    group.bench_function("sign/dalek", |x| x.iter(|| b.sign(MESSAGE)));
    group.bench_function("verify/santoku", |x| x.iter(|| a.verifying_key().verify(MESSAGE, &s).expect("valid")));
    group.bench_function("verify/dalek", |x| x.iter(|| b.verifying_key().verify(MESSAGE, &t).expect("valid")));
    group.finish();
    let mut group = c.benchmark_group("X25519");
    let (a, b) = (santoku::x25519::StaticSecret::random(&mut OsRng), x25519_dalek::StaticSecret::random_from_rng(OsRng));
    let (p, q) = (santoku::x25519::StaticSecret::random(&mut OsRng).public_key(), x25519_dalek::PublicKey::from([9; 32]));
    group.bench_function("exchange/santoku", |x| x.iter(|| a.diffie_hellman(&p)));
    group.bench_function("exchange/dalek", |x| x.iter(|| b.diffie_hellman(&q)));
    group.finish();
}

fn all(c: &mut Criterion) {
    curve!(c, p256, p256, "P-256");
    others!(c, "P-256", "ring", ring, &ring_signature::ECDSA_P256_SHA256_ASN1_SIGNING, &ring_signature::ECDSA_P256_SHA256_ASN1);
    others!(c, "P-256", "aws-lc-rs", aws_lc_rs, &aws::ECDSA_P256_SHA256_ASN1_SIGNING, &aws::ECDSA_P256_SHA256_ASN1);
    curve!(c, p384, p384, "P-384");
    others!(c, "P-384", "ring", ring, &ring_signature::ECDSA_P384_SHA384_ASN1_SIGNING, &ring_signature::ECDSA_P384_SHA384_ASN1);
    others!(c, "P-384", "aws-lc-rs", aws_lc_rs, &aws::ECDSA_P384_SHA384_ASN1_SIGNING, &aws::ECDSA_P384_SHA384_ASN1);
    curve!(c, p521, p521, "P-521");
    others!(c, "P-521", "aws-lc-rs", aws_lc_rs, &aws::ECDSA_P521_SHA512_ASN1_SIGNING, &aws::ECDSA_P521_SHA512_ASN1);
    curve!(c, secp256k1, k256, "secp256k1");
    curve25519(c);
}

criterion_group!(speed, all);
criterion_main!(speed);
