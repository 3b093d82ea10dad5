//! Bytes as numbers and as text.
//! Trusted: bytes, leaks, certifier.

/// The number that up to 16 bytes are, the lowest first; of more, the first 16.
pub fn little(bytes: &[u8]) -> u128 {
    bytes.iter().take(16).rev().fold(0, |v, b| v << 8 | u128::from(*b))
}

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Bytes of an even number of hexadecimal digits; none if the text is anything else.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    if text.len() % 2 != 0 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).ok()).collect()
}
