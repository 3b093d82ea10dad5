//! Keys and signatures of ECDSA in the forms of certificates: every published vector, keys compressed and not, and forms that are no DER, beside ring
//! and k256.

mod support;

use santoku_driver::{build, BuildOptions};
use santoku_lab::host::HostProgram;
use santoku_num::SplitMix64;
use santoku_skips::{checked, lacking};
use santoku_target::Level;
use santoku_vectors::ecdsa::{wycheproof_der, EcdsaVector};
use santoku_vectors::{oracle, secp256k1, Expected};
use santoku_workbench::compile::front;
use std::collections::{BTreeMap, BTreeSet};
use support::{on_big_stack, tree};

/// Digest, signature, key.
struct Asked {
    digest: [u8; 32],
    signature: Vec<u8>,
    key: Vec<u8>,
}

/// Reads requests and writes a byte for each: 1 for a signature.
const DRIVER: &str = "#include <stdio.h>
#include <stdlib.h>
#include \"UNIT.h\"
static size_t length(void)
{
    unsigned char b[4];
    if (fread(b, 1, 4, stdin) != 4) exit(0);
    return b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16;
}
int main(void)
{
    for (;;) {
        size_t sig_len = length(), pk_len = length();
        /* In storage of their own: a byte too many is seen. */
        unsigned char digest[32], *sig = malloc(sig_len + !sig_len), *pk = malloc(pk_len + !pk_len);
        if (fread(digest, 1, 32, stdin) != 32 || fread(sig, 1, sig_len, stdin) != sig_len || fread(pk, 1, pk_len, stdin) != pk_len) return 1;
        putchar(UNIT(sig_len, pk_len, digest, sig, pk) == 0);
        free(sig);
        free(pk);
    }
}
";

/// The verdicts of our C for a curve, under sanitizers.
fn verdicts(curve: &str, asked: &[Asked]) -> Vec<bool> {
    let tree = tree();
    let unit = format!("{curve}_ecdsa_verify_der");
    let checked = front(&tree, &format!("lib/ecdsa/{curve}_der.stk"), tree.target("host64").expect("a target")).unwrap_or_else(|e| panic!("{e}"));
    let options = BuildOptions { level: Level::O2, without: BTreeSet::new(), dump_after: None, unit: unit.clone(), provenance: String::new(), keep_secrets: false };
    let built = on_big_stack(|| build(&checked, &options, &|| 0).unwrap_or_else(|e| panic!("{e:?}")));
    let driver = DRIVER.replace("UNIT", &unit);
    let files: Vec<(&str, &str)> = built.files.iter().map(|(n, t)| (n.as_str(), t.as_str())).chain([("main.c", driver.as_str())]).collect();
    let flags = ["-std=c99", "-O2", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let program = HostProgram::build("gcc", &flags, &files).unwrap_or_else(|e| panic!("{e}"));
    let mut input = vec![];
    for a in asked {
        [&a.signature, &a.key].iter().for_each(|b| input.extend((b.len() as u32).to_le_bytes()));
        [&a.digest[..], &a.signature, &a.key].iter().for_each(|b| input.extend(*b));
    }
    let out = program.run(&[], &input).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(out.len(), asked.len(), "a verdict for each");
    out.iter().map(|b| *b == 1).collect()
}

/// 0x02 or 0x03 and x.
fn compressed(public: &[u8; 65]) -> Vec<u8> {
    [&[2 + (public[64] & 1)], &public[1..33]].concat()
}

fn of(v: &EcdsaVector, key: Vec<u8>) -> Asked {
    Asked { digest: v.digest, signature: v.signature.clone(), key }
}

#[test]
fn every_published_signature_is_judged_as_it_should_be() {
    if !santoku_lab::host::available("gcc") {
        return lacking("ECDSA in DER", "no gcc");
    }
    for curve in ["p256", "secp256k1"] {
        let vectors = wycheproof_der(curve);
        let asked: Vec<Asked> = vectors.iter().flat_map(|v| [of(v, v.public.to_vec()), of(v, compressed(&v.public))]).collect();
        let said = verdicts(curve, &asked);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (v, said) in vectors.iter().zip(said.chunks(2)) {
            assert_eq!(said[0], said[1], "{}: the same key, compressed", v.id);
            match v.expected {
                Expected::Valid => assert!(said[0], "{}: {}", v.id, v.comment),
                Expected::Invalid => assert!(!said[0], "{}: {}", v.id, v.comment),
                Expected::Acceptable => {}
            }
            *counts.entry(format!("{:?}, {}", v.expected, if said[0] { "accepted" } else { "refused" })).or_default() += 1;
        }
        assert!(counts["Valid, accepted"] > 60 && counts["Invalid, refused"] > 200, "{counts:?}");
        checked(asked.len(), format!("signatures of {curve} in DER, under both forms of the key: {counts:?}"));
    }
}

/// A valid encoding with one thing changed.
fn changed(sig: &[u8], rng: &mut SplitMix64) -> Vec<u8> {
    let mut s = sig.to_vec();
    let at = rng.below(s.len() as u64) as usize;
    let structure = [0, 1, 2, 3, 4 + s[3] as usize, 5 + s[3] as usize];
    match rng.below(9) {
        0 => s[at] ^= 1 << rng.below(8),
        1 => s.truncate(at),
        2 => s.push(rng.below(256) as u8),
        3 => s[structure[rng.below(6) as usize]] = rng.below(256) as u8,
        // A zero more before a number, in step with all lengths.
        4 => padded(&mut s, 0),
        5 => padded(&mut s, 0xff),
        // The length in the long form.
        6 => {
            s.insert(1, 0x81);
        }
        7 => {
            s[1] = 0x80;
            s.extend([0, 0]);
        }
        _ => {
            s.remove(at);
        }
    }
    s
}

fn padded(s: &mut Vec<u8>, with: u8) {
    s.insert(4, with);
    s[3] = s[3].wrapping_add(1);
    s[1] = s[1].wrapping_add(1);
}

#[test]
fn forms_that_are_no_der_are_refused_as_others_refuse_them() {
    if !santoku_lab::host::available("gcc") {
        return lacking("ECDSA in DER", "no gcc");
    }
    let mut rng = SplitMix64::new(7);
    for curve in ["p256", "secp256k1"] {
        let valid: Vec<EcdsaVector> = wycheproof_der(curve).into_iter().filter(|v| v.expected == Expected::Valid).collect();
        let mut asked = vec![];
        let mut expected = vec![];
        for k in 0..3000 {
            let v = &valid[k % valid.len()];
            let signature = if k % 4 == 0 { v.signature.clone() } else { changed(&v.signature, &mut rng) };
            let mut key = if curve == "p256" || k % 2 == 0 { v.public.to_vec() } else { compressed(&v.public) };
            if k % 5 == 4 && curve == "secp256k1" {
                let at = rng.below(key.len() as u64) as usize;
                // k256 also takes a form that has no y, 0x05.
                key[at] ^= 1 << rng.below(8);
                key[0] = if key[0] == 5 { 0 } else { key[0] };
            }
            expected.push(if curve == "p256" { oracle::verify_p256_ring_der(&key, &v.message, &signature) } else { secp256k1::verify_der(&key, &v.digest, &signature) });
            asked.push(Asked { digest: v.digest, signature, key });
        }
        let said = verdicts(curve, &asked);
        for ((a, said), wanted) in asked.iter().zip(&said).zip(&expected) {
            assert_eq!(said, wanted, "{curve}: signature {:02x?}, key {:02x?}", a.signature, a.key);
        }
        let good = said.iter().filter(|s| **s).count();
        assert!(good > 500 && said.len() - good > 1000, "{good} of {}", said.len());
        checked(said.len(), format!("signatures of {curve}, changed and not, {good} accepted, as by {}", if curve == "p256" { "ring" } else { "k256" }));
    }
}

/// Keys of every form and length: what is no point of SEC 1 is refused; of the compressed, the wrong parity, and an x of no point.
#[test]
fn keys_that_are_none_are_refused() {
    if !santoku_lab::host::available("gcc") {
        return lacking("ECDSA in DER", "no gcc");
    }
    for curve in ["p256", "secp256k1"] {
        let v = wycheproof_der(curve).into_iter().find(|v| v.expected == Expected::Valid).expect("a valid one");
        let (whole, short) = (v.public.to_vec(), compressed(&v.public));
        let mut wrong: Vec<Vec<u8>> = (0..70).filter(|n| ![33, 65].contains(n)).map(|n| whole.iter().cycle().take(n).copied().collect()).collect();
        for form in 0..=255u8 {
            wrong.extend([&whole, &short].into_iter().filter(|k| k[0] != form).map(|k| [&[form], &k[1..]].concat()));
        }
        // No x is as great as the prime.
        wrong.push([&[2], &[0xff; 32][..]].concat());
        // An x of no point: half of them have none.
        let off = (1..=255u8).map(|k| [&short[..32], &[short[32] ^ k]].concat());
        wrong.extend(off);
        let asked: Vec<Asked> = wrong.iter().cloned().chain([whole, short]).map(|k| of(&v, k)).collect();
        let said = verdicts(curve, &asked);
        let (refused, taken) = said.split_at(wrong.len());
        assert!(taken == [true, true], "{curve}: {taken:?}");
        for (k, said) in wrong.iter().zip(refused) {
            assert!(!said, "{curve}: {k:02x?}");
        }
        checked(said.len(), format!("keys of {curve}"));
    }
}
