//! All vectors of vectors.txt: RFC 6979, RFC 8032, and Wycheproof's. A line is a source and number, a function, its arguments, and behind an arrow what it leaves
//! and gives back.

use santoku::aead::{AeadInPlace, KeyInit};
use santoku::signature::hazmat::{PrehashSigner, PrehashVerifier};
use santoku::signature::{Signer, Verifier};
use santoku::{ed25519, x25519, Aes128Gcm, Aes256Gcm, ChaCha20Poly1305};
use std::collections::{BTreeMap, HashMap};

struct Case<'a> {
    function: &'a str,
    arguments: HashMap<&'a str, Vec<u8>>,
    results: Vec<Vec<u8>>,
    valid: Option<bool>,
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hexadecimal")).collect()
}

fn case(line: &str) -> Case<'_> {
    let (before, after) = line.split_once(" ->").expect("an arrow");
    let mut fields = before.split(' ').skip(1);
    let function = fields.next().expect("a function").strip_prefix("santoku_").expect("one of ours");
    let arguments = fields.map(|f| f.split_once('=').map(|(name, value)| (name, hex(value))).expect("an argument")).collect();
    let after: Vec<&str> = after.split(' ').skip(1).collect();
    let valid = after.contains(&"valid").then_some(true).or(after.contains(&"invalid").then_some(false));
    let results = after.iter().filter(|f| !["valid", "invalid"].contains(f)).map(|f| hex(f)).collect();
    Case { function, arguments, results, valid }
}

macro_rules! curve_holds {
    ($module:ident, $operation:expr, $case:expr) => {{
        use santoku::$module::{Signature, SigningKey, VerifyingKey};
        let argument = |name: &str| $case.arguments[name].as_slice();
        let uncompressed = |point: &[u8]| [&[4], point].concat();
        let judged = |key: &[u8], signature: Result<Signature, _>| match (VerifyingKey::from_sec1_bytes(key), signature) {
            (Ok(key), Ok(signature)) => key.verify_prehash(argument("digest"), &signature).is_ok(),
            _ => false,
        };
        match $operation {
            "sign" => {
                let key = SigningKey::from_slice(argument("sk")).expect("a key");
                let signature: Signature = key.sign_prehash(argument("digest")).expect("a signature");
                signature.to_bytes().as_slice() == $case.results[0]
            }
            "verify" => Some(judged(&uncompressed(argument("pk")), Signature::try_from(argument("sig")))) == $case.valid,
            "verify_der" => Some(judged(argument("pk"), Signature::from_der(argument("sig")))) == $case.valid,
            "ecdh" | "ecdh_encoded" => {
                let peer = if $operation == "ecdh" { uncompressed(argument("pk")) } else { argument("encoded").to_vec() };
                match (SigningKey::from_slice(argument("sk")), VerifyingKey::from_sec1_bytes(&peer)) {
                    (Ok(key), Ok(peer)) => key.diffie_hellman(&peer).as_slice() == $case.results[0] && $case.results[1] == [0; 4],
                    _ => $case.results[1] == [0xff; 4],
                }
            }
            other => panic!("no test for {other}"),
        }
    }};
}

fn cipher_holds<C: AeadInPlace + KeyInit>(operation: &str, case: &Case) -> bool {
    let argument = |name: &str| case.arguments[name].as_slice();
    let cipher = C::new_from_slice(argument("key")).expect("a key");
    let nonce = argument("nonce").try_into().expect("a nonce");
    let nonce = santoku::aead::generic_array::GenericArray::<u8, C::NonceSize>::from_slice::<>(nonce).clone();
    if operation == "seal" {
        let mut buffer = argument("m").to_vec();
        let tag = cipher.encrypt_in_place_detached(&nonce, argument("a"), &mut buffer).expect("short enough");
        return buffer == case.results[0] && tag.as_slice() == case.results[1];
    }
    let mut buffer = argument("c").to_vec();
    let tag = santoku::aead::generic_array::GenericArray::<u8, C::TagSize>::from_slice(argument("tag")).clone();
    match cipher.decrypt_in_place_detached(&nonce, argument("a"), &mut buffer, &tag) {
        Ok(()) => buffer == case.results[0] && case.results[1][0] == 1,
        Err(_) => case.results[1][0] == 0,
    }
}

fn ed25519_holds(operation: &str, case: &Case) -> bool {
    let argument = |name: &str| case.arguments[name].as_slice();
    if operation == "verify" {
        let key = ed25519::VerifyingKey::from_bytes(argument("pk").try_into().expect("32 bytes"));
        let signature = ed25519::Signature::try_from(argument("sig")).expect("64 bytes");
        return Some(key.is_ok_and(|key| key.verify(argument("m"), &signature).is_ok())) == case.valid;
    }
    let key = ed25519::SigningKey::from_bytes(argument("seed").try_into().expect("32 bytes"));
    match operation {
        "public_key" => key.verifying_key().to_bytes().as_slice() == case.results[0],
        _ => key.sign(argument("m")).to_bytes().as_slice() == case.results[0],
    }
}

fn holds(case: &Case) -> bool {
    let (family, operation) = case.function.split_once('_').unwrap_or((case.function, ""));
    match family {
        "p224" => curve_holds!(p224, operation, case),
        "p256" => curve_holds!(p256, operation, case),
        "p384" => curve_holds!(p384, operation, case),
        "p521" => curve_holds!(p521, operation, case),
        "secp256k1" => curve_holds!(secp256k1, operation, case),
        "chacha20poly1305" => cipher_holds::<ChaCha20Poly1305>(operation, case),
        "aes128gcm" => cipher_holds::<Aes128Gcm>(operation, case),
        "aes256gcm" => cipher_holds::<Aes256Gcm>(operation, case),
        "ed25519" => ed25519_holds(operation, case),
        "x25519" => {
            let argument = |name: &str| <[u8; 32]>::try_from(case.arguments[name].as_slice()).expect("32 bytes");
            let shared = x25519::StaticSecret::from_bytes(&argument("k")).diffie_hellman(&x25519::PublicKey(argument("u")));
            shared.map_or([0; 32], |s| *s).as_slice() == case.results[0]
        }
        other => panic!("no test for {other}"),
    }
}

#[test]
fn all_vectors_hold() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut spoilt = 0;
    for line in include_str!("vectors.txt").lines().filter(|l| !l.starts_with('#')) {
        let mut case = case(line);
        assert!(holds(&case), "{line}");
        let count = counts.entry(case.function.split('_').next().unwrap_or_default()).or_default();
        *count += 1;
        // Other results do not hold.
        if *count % 50 == 1 {
            case.results.iter_mut().filter(|r| !r.is_empty()).for_each(|r| r[0] ^= 1);
            case.valid = case.valid.map(|v| !v);
            assert!(!holds(&case), "a spoilt {line}");
            spoilt += 1;
        }
    }
    println!("{counts:?}");
    assert!(counts.len() == 10 && counts.values().sum::<usize>() > 24_000 && spoilt > 400, "{counts:?}, {spoilt}");
}
