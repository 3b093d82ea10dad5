//! Hexadecimal to bytes and back.

/// Bytes of an even number of hexadecimal digits; none if the text is anything else.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    if text.len() % 2 != 0 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).ok()).collect()
}

/// Lower-case hexadecimal digits of `bytes`.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Bytes of a field of this crate's own data files, where `-` stands for none.
pub(crate) fn field(text: &str) -> Vec<u8> {
    match text {
        "-" => Vec::new(),
        digits => from_hex(digits).expect("data files hold hexadecimal fields"),
    }
}

/// As [`field`], of known length.
pub(crate) fn array<const N: usize>(text: &str) -> [u8; N] {
    field(text).try_into().expect("data files hold fields of the right length")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        assert_eq!(from_hex("00fFa0"), Some(vec![0, 255, 160]));
        assert_eq!(to_hex(&[0, 255, 160]), "00ffa0");
        for bad in ["0", "0g", "+1", "é"] {
            assert_eq!(from_hex(bad), None, "{bad}");
        }
    }
}
