//! Every published vector against independent implementations, and the same checks on spoiled vectors.

use santoku_vectors::ed25519::SignVector;
use santoku_vectors::{cases, cipher, ecdsa, ed25519, named, oracle, secp256k1, sha512, Expected};
use std::path::Path;

fn check_sign(v: &SignVector) -> bool {
    oracle::public_dalek(&v.seed) == v.public
        && oracle::public_ring(&v.seed) == v.public
        && oracle::sign_dalek(&v.seed, &v.message) == v.signature
        && oracle::sign_ring(&v.seed, &v.message) == v.signature
        && oracle::verify_dalek_strict(&v.public, &v.message, &v.signature)
        && oracle::verify_ring(&v.public, &v.message, &v.signature)
}

#[test]
fn rfc8032_signatures_are_reproduced() {
    let vectors = ed25519::rfc8032();
    for v in &vectors {
        assert!(check_sign(v), "{}", v.id);
        let mut spoiled = v.clone();
        spoiled.signature[40] ^= 1;
        assert!(!check_sign(&spoiled), "{} spoiled", v.id);
    }
    assert_eq!(vectors[3].message.len(), 1023);
    println!("RFC 8032: {} vectors", vectors.len());
}

#[test]
fn nacl_signatures_are_reproduced() {
    let root = santoku_lab::peers::find_root(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("inside the repository");
    let peer = santoku_lab::peers::fetch(&root, "nacl-vectors").expect("the vector file is fetched");
    let text = std::fs::read_to_string(&peer.data[0]).expect("readable");
    let vectors = ed25519::nacl(&text).expect("the table is as described");
    assert_eq!(vectors.len(), 1024);
    for v in &vectors {
        assert!(check_sign(v), "{}", v.id);
    }
    println!("NaCl sign: {} vectors", vectors.len());
}

#[test]
fn wycheproof_ed25519_is_judged_as_its_authors_say() {
    let vectors = ed25519::wycheproof();
    type Verify = fn(&[u8], &[u8], &[u8]) -> bool;
    let judges: [(&str, Verify); 3] =
        [("dalek", oracle::verify_dalek), ("dalek strict", oracle::verify_dalek_strict), ("ring", oracle::verify_ring)];
    let mut differ = Vec::new();
    for v in &vectors {
        for (name, verify) in judges {
            if !v.expected.agrees(verify(&v.public, &v.message, &v.signature)) {
                differ.push(format!("{name}: {} expected {:?}, {}", v.id, v.expected, v.comment));
            }
        }
    }
    let count = |e| vectors.iter().filter(|v| v.expected == e).count();
    println!("Wycheproof Ed25519: {} vectors, {} valid, {} invalid", vectors.len(), count(Expected::Valid), count(Expected::Invalid));
    assert_eq!((vectors.len(), count(Expected::Valid), count(Expected::Invalid)), (151, 88, 63));
    assert!(differ.is_empty(), "{differ:#?}");
}

#[test]
fn wycheproof_p256_is_judged_as_its_authors_say() {
    let vectors = ecdsa::wycheproof_p256();
    let mut differ = Vec::new();
    for v in &vectors {
        if !v.expected.agrees(oracle::verify_p256_ring(&v.public, &v.message, &v.signature)) {
            differ.push(format!("{} expected {:?}, {}", v.id, v.expected, v.comment));
        }
    }
    let well_formed = vectors.iter().filter(|v| v.rs().is_some()).count();
    println!("Wycheproof P-256 SHA-256 P1363: {} vectors, {well_formed} with 64-byte signatures", vectors.len());
    assert_eq!((vectors.len(), well_formed), (262, 241));
    assert!(differ.is_empty(), "{differ:#?}");
}

#[test]
fn a_verifier_that_says_yes_or_no_to_all_is_found_out() {
    for answer in [true, false] {
        assert!(ed25519::wycheproof().iter().any(|v| !v.expected.agrees(answer)));
        assert!(ecdsa::wycheproof_p256().iter().any(|v| !v.expected.agrees(answer)));
    }
    assert!(Expected::Acceptable.agrees(true) && Expected::Acceptable.agrees(false));
}

#[test]
fn ciphers_and_hash_match() {
    let chacha = cipher::chacha20_rfc8439();
    for v in &chacha {
        assert_eq!(oracle::chacha20(&v.key, v.counter, &v.nonce, &v.plaintext), v.ciphertext, "{}", v.id);
        assert_ne!(oracle::chacha20(&v.key, v.counter + 1, &v.nonce, &v.plaintext), v.ciphertext, "{}", v.id);
    }
    let rectangle = cipher::rectangle();
    for v in &rectangle {
        assert_eq!(oracle::rectangle(&v.key, v.plaintext), v.ciphertext, "{}", v.id);
        let other = v.plaintext.map(|row| row ^ 1);
        assert_ne!(oracle::rectangle(&v.key, other), v.ciphertext, "{}", v.id);
    }
    let hashes = sha512::fips180();
    for v in &hashes {
        assert_eq!(oracle::sha512(&v.message), v.digest);
    }
    println!("ChaCha20: {}, RECTANGLE: {}, SHA-512: {} vectors", chacha.len(), rectangle.len(), hashes.len());
}

#[test]
fn the_two_signers_agree_on_random_cases() {
    let mut done = 0;
    for case in cases::sign_cases(8032, 200) {
        let signature = oracle::sign_dalek(&case.seed, &case.message);
        assert_eq!(signature, oracle::sign_ring(&case.seed, &case.message), "case {}", case.index);
        let public = oracle::public_ring(&case.seed);
        assert!(oracle::verify_dalek_strict(&public, &case.message, &signature));
        let mut forged = signature;
        forged[case.index as usize % 64] ^= 0x10;
        assert!(!oracle::verify_ring(&public, &case.message, &forged), "case {}", case.index);
        done += 1;
    }
    assert_eq!(done, 200);
}

#[test]
fn signatures_made_on_purpose_are_judged_alike() {
    let made = secp256k1::on_purpose(0, 97);
    for m in &made {
        assert_eq!(secp256k1::verify(&m.digest, &m.signature, &m.public), m.valid, "{m:?}");
    }
    let valid = made.iter().filter(|m| m.valid).count();
    println!("secp256k1: {} signatures made on purpose, {valid} valid", made.len());
    assert!(valid > 40 && valid < made.len() / 2, "{valid} of {}", made.len());
}

#[test]
fn a_published_signature_gives_its_key() {
    for v in named::of("ecdsa.secp256k1").expect("vectors").iter().filter(|v| v.returned == Some(Expected::Valid)).step_by(9) {
        let input = |name: &str| v.inputs.iter().find(|i| i.0 == name).map(|i| i.1.clone()).expect("a parameter");
        let (digest, sig) = (input("digest").try_into().expect("32 bytes"), input("sig").try_into().expect("64 bytes"));
        let found = (0..4).filter_map(|r| secp256k1::recover(&digest, &sig, r)).any(|k| k[..] == input("pk")[..]);
        assert!(found, "{}", v.id);
    }
}
