//! Vectors that NIST, RFCs and authors publish as files, read from Debian's package `python3-cryptography-vectors`: none of them is in this tree.

use crate::file::{responses, Datum, Record};
use santoku_num::from_hex;
use std::path::Path;

/// Where the package has its files.
pub const FOLDER: &str = "/usr/lib/python3/dist-packages/cryptography_vectors";

/// The text of a file of the package; `None` where it is not installed.
///
/// # Panics
/// The package is there, and has no such file.
pub fn text(name: &str) -> Option<String> {
    let folder = Path::new(FOLDER);
    folder.is_dir().then(|| std::fs::read_to_string(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}")))
}

/// The cases of a file whose lines are those of CAVP's; RFCs' files have them, too.
///
/// # Panics
/// A line is another.
pub fn cases(text: &str) -> Vec<Record> {
    responses(text).unwrap_or_else(|e| panic!("{e}"))
}

/// The bytes of a value.
///
/// # Panics
/// There is none of this name, or it is not hexadecimal.
pub fn bytes(case: &Record, name: &str) -> Vec<u8> {
    let Some(Datum::Text(value)) = case.data.get(name) else { panic!("no {name} in {case:?}") };
    from_hex(value).unwrap_or_else(|| panic!("{name} = {value}"))
}

/// The seed of a Monte Carlo test, and the digest after each thousand (SHAVS, 6.4).
///
/// # Panics
/// There is no seed.
pub fn monte(text: &str) -> (Vec<u8>, Vec<Vec<u8>>) {
    let all = cases(text);
    let of = |name: &'static str| all.iter().filter(move |c| c.data.contains_key(name)).map(move |c| bytes(c, name));
    (of("Seed").next().expect("a seed"), of("MD").collect())
}
