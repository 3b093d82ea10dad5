//! The files that NIST (CAVP, with the Monte Carlo tests), RFCs and the authors of Ed25519 publish, asked of the shipped C in both widths.

mod support;

use santoku_lab::host::HostProgram;
use santoku_num::from_hex;
use santoku_skips::{checked, seeds, skip};
use santoku_vectors::files::{bytes, cases, monte, text};
use support::{c_file, shipped_file, shipped_unit, with_a_wrong_constant};

const UNITS: [&str; 8] = ["aead_aesgcm", "hash_sha256", "hash_sha384", "hkdf_sha256", "hmac_sha256", "hmac_sha384", "hmac_sha512", "nacl"];

/// Numbers of operations in `c/published.c`.
const HASHES: [(&str, u8); 3] = [("SHA256", 0), ("SHA384", 1), ("SHA512", 2)];
const HMACS: [(&str, u8); 3] = [("sha256", 3), ("sha384", 4), ("sha512", 5)];
const X25519: u8 = 6;
const ED25519: u8 = 7;
const MONTE: u8 = 8;
const LADDERS: u8 = 11;
/// By the size of the key: sealing, and opening behind it.
const GCM: [(u32, u8); 2] = [(128, 12), (256, 14)];
const HKDF: u8 = 16;

struct Asked {
    id: String,
    operation: u8,
    given: [Vec<u8>; 2],
    wanted: Vec<u8>,
}

fn all() -> Option<Vec<Asked>> {
    let mut all = vec![];
    for (name, operation) in HASHES {
        for file in ["ShortMsg", "LongMsg"] {
            for (k, case) in cases(&text(&format!("hashes/SHA2/{name}{file}.rsp"))?).iter().enumerate() {
                all.push(Asked { id: format!("CAVP {name}{file} {k}"), operation, given: [bytes(case, "Msg"), vec![]], wanted: bytes(case, "MD") });
            }
        }
        let (seed, after) = monte(&text(&format!("hashes/SHA2/{name}Monte.rsp"))?);
        assert_eq!(after.len(), 100, "{name}");
        all.push(Asked { id: format!("CAVP {name}Monte"), operation: MONTE + operation, given: [seed, vec![]], wanted: after.concat() });
    }
    for (name, operation) in HMACS {
        for (k, case) in cases(&text(&format!("HMAC/rfc-4231-{name}.txt"))?).iter().enumerate() {
            // The fifth case of the RFC is of authenticators that are cut off.
            all.push(Asked { id: format!("RFC 4231 {name} {k}"), operation, given: [bytes(case, "Key"), bytes(case, "Msg")], wanted: bytes(case, "MD") });
        }
    }
    for (k, case) in cases(&text("asymmetric/X25519/rfc7748.txt")?).iter().enumerate() {
        all.push(Asked { id: format!("RFC 7748 {k}"), operation: X25519, given: [bytes(case, "INPUT_SCALAR"), bytes(case, "INPUT_U")], wanted: bytes(case, "OUTPUT_U") });
    }
    for (bits, seal) in GCM {
        for (file, operation) in [("EncryptExtIV", seal), ("Decrypt", seal + 1)] {
            let text = text(&format!("ciphers/AES/GCM/gcm{file}{bits}.rsp"))?;
            for (k, case) in cases(&text).iter().enumerate() {
                let of = |name| bytes(case, name);
                if of("IV").len() != 12 || of("Tag").len() != 16 {
                    continue;
                }
                let (sealed, failed) = ([of("CT"), of("Tag")].concat(), !case.data.contains_key("PT"));
                let opened = if failed { vec![0; of("CT").len() + 1] } else { [of("PT"), vec![1]].concat() };
                let (given, wanted) = if operation == seal { (of("PT"), sealed) } else { (sealed, opened) };
                all.push(Asked { id: format!("CAVP gcm{file}{bits} {k}"), operation, given: [[of("Key"), of("IV"), of("AAD")].concat(), given], wanted });
            }
        }
    }
    for file in ["rfc-5869-HKDF-SHA256", "hkdf-generated"] {
        let records = cases(&text(&format!("KDF/{file}.txt"))?);
        for (k, case) in records.iter().enumerate().filter(|(_, c)| c.data.contains_key("IKM")) {
            // The second case of the RFC has an empty line before its results.
            let results = records[k..].iter().find(|c| c.data.contains_key("OKM")).expect("results");
            let (salt, okm) = (bytes(case, "salt"), bytes(results, "OKM"));
            let head = [salt.len() as u8, okm.len() as u8, (okm.len() >> 8) as u8];
            let given = [[&head[..], &salt, &bytes(case, "info")].concat(), bytes(case, "IKM")];
            all.push(Asked { id: format!("{file} {k}"), operation: HKDF, given, wanted: okm });
        }
    }
    let nine: Vec<u8> = (0..32).map(|k| if k == 0 { 9 } else { 0 }).collect();
    let after = |times: u32, wanted: &str| Asked {
        id: format!("RFC 7748, section 5.2, {times} times"),
        operation: LADDERS,
        given: [nine.clone(), times.to_le_bytes().to_vec()],
        wanted: from_hex(wanted).expect("hexadecimal"),
    };
    all.push(after(1, "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"));
    all.push(after(1000, "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"));
    for (k, line) in text("asymmetric/Ed25519/sign.input")?.lines().enumerate() {
        let fields: Vec<Vec<u8>> = line.split(':').take(4).map(|f| from_hex(f).expect("hexadecimal")).collect();
        let (seed, public) = fields[0].split_at(32);
        let wanted = [public, &fields[3][..64], &[1]].concat();
        all.push(Asked { id: format!("sign.input {k}"), operation: ED25519, given: [seed.to_vec(), fields[2].clone()], wanted });
    }
    Some(all)
}

/// What is answered otherwise.
fn wrong(compiler: &str, flags: &[&str], spoil: &dyn Fn(String) -> String, all: &[Asked]) -> Vec<String> {
    let units: Vec<(String, String)> = UNITS.iter().map(|u| (format!("{u}.c"), spoil(shipped_unit(u)))).collect();
    let headers: Vec<(String, String)> = UNITS.iter().map(|u| (format!("{u}.h"), shipped_file(u, "h"))).collect();
    let main = std::fs::read_to_string(c_file("published.c")).expect("in the tree");
    let files: Vec<(&str, &str)> = units.iter().chain(&headers).map(|(n, t)| (n.as_str(), t.as_str())).chain([("main.c", main.as_str())]).collect();
    let flags = [&["-std=c99", "-Wall", "-Wextra", "-Werror"][..], flags].concat();
    let program = HostProgram::build(compiler, &flags, &files).unwrap_or_else(|e| panic!("{e}"));
    let mut input = vec![];
    for a in all {
        input.push(a.operation);
        a.given.iter().for_each(|g| input.extend((g.len() as u32).to_le_bytes()));
        a.given.iter().for_each(|g| input.extend(g));
    }
    let out = program.run(&[], &input).unwrap_or_else(|e| panic!("{e}"));
    let mut rest = &out[..];
    let mut wrong = vec![];
    for a in all {
        let answer;
        (answer, rest) = rest.split_at(a.wanted.len().min(rest.len()));
        if answer != a.wanted {
            wrong.push(a.id.clone());
        }
    }
    assert!(rest.is_empty(), "more answers than questions");
    wrong
}

#[test]
fn published_files_are_answered() {
    let Some(all) = all() else { return skip("published files", "python3-cryptography-vectors is not installed") };
    let mut tried = 0;
    for (k, width) in [&[][..], &["-DSANTOKU_32BIT"], &["-DSANTOKU_SMALL"]].into_iter().enumerate() {
        for compiler in seeds::one(["gcc", "clang-19"], k) {
            let failed = wrong(compiler, &[&["-O2"], width].concat(), &|text| text, &all);
            assert!(failed.is_empty(), "{compiler} {width:?}: {failed:?}");
            tried += all.len();
        }
    }
    let of = |what: &str| all.iter().filter(|a| a.id.starts_with(what)).count();
    println!("{} of CAVP, {} of them of GCM, {} of RFC 4231, {} of HKDF, {} of RFC 7748, {} of sign.input", of("CAVP"), of("CAVP gcm"), of("RFC 4231"), of("rfc-5869") + of("hkdf"), of("RFC 7748"), of("sign.input"));
    assert_eq!(of("sign.input"), 1024);
    checked(tried, "published cases");
}

/// One bit of a constant of SHA-512: all that hash by it are wrong, and nothing else.
#[test]
fn a_wrong_constant_fails_them() {
    let Some(all) = all() else { return skip("published files", "python3-cryptography-vectors is not installed") };
    let few: Vec<Asked> = all.into_iter().filter(|a| ![LADDERS, MONTE, MONTE + 1, MONTE + 2].contains(&a.operation)).collect();
    let spoil = |text: String| if text.contains("UINT64_C(0x428a2f98d728ae22)") { with_a_wrong_constant(&text) } else { text };
    let failed = wrong("gcc", &["-O1"], &spoil, &few);
    let expected: Vec<String> = few.iter().filter(|a| !matches!(a.operation, 0 | 3 | X25519 | 12..)).map(|a| a.id.clone()).collect();
    assert_eq!(failed, expected);
    checked(failed.len(), "cases that fail by a wrong constant");
}
