//! ChaCha20 and RECTANGLE.

use crate::data_lines;
use crate::hex::{array, field};

/// ChaCha20 of RFC 8439: 96-bit nonce, 32-bit block counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChaCha20Vector {
    /// Section of the RFC.
    pub id: String,
    /// Key.
    pub key: [u8; 32],
    /// Counter of the first block.
    pub counter: u32,
    /// Nonce.
    pub nonce: [u8; 12],
    /// Plaintext; zero where the RFC gives key stream.
    pub plaintext: Vec<u8>,
    /// Ciphertext, as long.
    pub ciphertext: Vec<u8>,
}

/// RFC 8439, sections 2.3.2, 2.4.2 and A.1.
pub fn chacha20_rfc8439() -> Vec<ChaCha20Vector> {
    let vectors: Vec<_> = data_lines(include_str!("../data/chacha20.txt"))
        .map(|f| ChaCha20Vector {
            id: format!("RFC 8439 {}", f[0]),
            key: array(f[1]),
            counter: f[2].parse().expect("data files hold decimal counters"),
            nonce: array(f[3]),
            plaintext: field(f[4]),
            ciphertext: field(f[5]),
        })
        .collect();
    assert_eq!(vectors.len(), 7);
    vectors
}

/// A key of RECTANGLE, by rows, row 0 first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RectangleKey {
    /// Five rows of 16 bits.
    K80([u16; 5]),
    /// Four rows of 32 bits.
    K128([u32; 4]),
}

/// One block of RECTANGLE. A block is four rows of 16 bits, row 0 first; bit j of a row is column j; the S-box takes a column
/// with row 0 as its lowest bit. Written as one hexadecimal number, the paper puts row 0 leftmost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RectangleVector {
    /// Key size and pattern.
    pub id: String,
    /// Key.
    pub key: RectangleKey,
    /// Plaintext.
    pub plaintext: [u16; 4],
    /// Ciphertext.
    pub ciphertext: [u16; 4],
}

/// Test vectors of the RECTANGLE paper (ePrint 2014/084, 2015 version): two for each key size.
pub fn rectangle() -> Vec<RectangleVector> {
    let vectors: Vec<_> = data_lines(include_str!("../data/rectangle.txt"))
        .map(|f| RectangleVector {
            id: format!("RECTANGLE-{}", f[0]),
            key: match f[1].len() {
                24 => RectangleKey::K80(rows(f[1], |r| u16::from_str_radix(r, 16).ok())),
                _ => RectangleKey::K128(rows(f[1], |r| u32::from_str_radix(r, 16).ok())),
            },
            plaintext: rows(f[2], |r| u16::from_str_radix(r, 16).ok()),
            ciphertext: rows(f[3], |r| u16::from_str_radix(r, 16).ok()),
        })
        .collect();
    assert_eq!(vectors.len(), 4);
    vectors
}

fn rows<T: std::fmt::Debug, const N: usize>(text: &str, read: impl Fn(&str) -> Option<T>) -> [T; N] {
    let rows: Option<Vec<T>> = text.split(',').map(read).collect();
    rows.and_then(|r| r.try_into().ok()).expect("data files hold rows of the right number and width")
}
