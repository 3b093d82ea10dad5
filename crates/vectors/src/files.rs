//! Vectors that NIST, RFCs and authors publish as files, read from Debian's package `python3-cryptography-vectors`: none of them is in this tree.

use santoku_num::from_hex;
use std::collections::BTreeMap;
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

/// The cases of a file of `name = value` lines: blank lines and lines with `#` or `[` end nothing; a case ends before the next value of its first
/// name.
pub fn cases(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut all: Vec<BTreeMap<String, String>> = vec![];
    let mut first = None;
    for line in text.lines().map(str::trim).filter(|l| !l.starts_with(['#', '['])) {
        let Some((name, value)) = line.split_once('=') else { continue };
        let (name, value) = (name.trim().to_string(), value.trim().to_string());
        if *first.get_or_insert_with(|| name.clone()) == name {
            all.push(BTreeMap::new());
        }
        if let Some(case) = all.last_mut() {
            case.insert(name, value);
        }
    }
    all
}

/// The bytes of a value.
///
/// # Panics
/// There is none of this name, or it is not hexadecimal.
pub fn bytes(case: &BTreeMap<String, String>, name: &str) -> Vec<u8> {
    let value = case.get(name).unwrap_or_else(|| panic!("no {name} in {case:?}"));
    from_hex(value).unwrap_or_else(|| panic!("{name} = {value}"))
}

/// Messages and digests of a file of CAVP's: `Len` is in bits, and an empty message has a byte all the same.
pub fn digests(text: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    let of = |case: &BTreeMap<String, String>| {
        let bits: usize = case["Len"].parse().unwrap_or_else(|e| panic!("{case:?}: {e}"));
        assert_eq!(bits % 8, 0, "the files for whole bytes");
        let mut m = bytes(case, "Msg");
        m.truncate(bits / 8);
        (m, bytes(case, "MD"))
    };
    cases(text).iter().map(of).collect()
}

/// The seed of a Monte Carlo test, and the digest after each thousand (SHAVS, 6.4).
pub fn monte(text: &str) -> (Vec<u8>, Vec<Vec<u8>>) {
    let value = |line: &str, name: &str| line.strip_prefix(name).and_then(|l| l.trim().strip_prefix('=')).and_then(|v| from_hex(v.trim()));
    let seed = text.lines().find_map(|l| value(l, "Seed")).expect("a seed");
    (seed, text.lines().filter_map(|l| value(l, "MD")).collect())
}
