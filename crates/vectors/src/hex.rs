//! Fields of data files.

use santoku_num::from_hex;

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
