//! Ed25519 and X25519 in the assembly that is shipped for the E31, fast and small: published vectors and random ones, the promised figures, one trace
//! for all secrets, and a spoiled twin.

mod support;

use santoku_lab::harness::{Arg, Call, CallOutput, Ret, Rv32Job, Source, Toolchain};
use santoku_lab::rv32::{Config, Measure};
use santoku_vectors::{cases, ed25519, named, oracle, Expected};
use santoku_skips::seeds;
use std::collections::BTreeSet;
use support::{shipped_assembly, spoiled};

fn fast(unit: &str) -> String {
    shipped_assembly("e31", unit)
}

fn small(unit: &str) -> String {
    shipped_assembly("rv32-small", unit)
}

const SIGN: &str = "nacl_sign";
const CURVE: &str = "scalarmult_curve25519";

/// The machine's memory holds the inputs of so many calls.
const CALLS_MAX: usize = 40;

/// The label of products of the field.
const PRODUCT: &str = "_mul";

/// What each call left, and what it took on the model.
fn ran(text: &str, calls: Vec<Call>) -> Vec<(CallOutput, Measure)> {
    let toolchain = Toolchain::find().expect("the cross compiler is installed");
    let count = calls.len();
    let job = Rv32Job::new(vec![Source::Text { name: "unit.s".into(), text: text.into() }], calls);
    let ran = toolchain.build(&job).and_then(|program| program.run(&Config::default())).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((ran.outputs.len(), ran.run.windows.len()), (count, count));
    ran.outputs.into_iter().zip(ran.run.windows).collect()
}

fn public_key(seed: &[u8]) -> Call {
    let declaration = "void santoku_sign_public_key(unsigned char *pk, const unsigned char *seed)".into();
    Call { declaration, function: "santoku_sign_public_key".into(), args: vec![Arg::Out(32), Arg::In(seed.to_vec())], ret: Ret::Void }
}

fn sign(key: &[u8], message: &[u8]) -> Call {
    let declaration = "void santoku_sign_detached(unsigned char *sig, unsigned n, const unsigned char *m, const unsigned char *sk)".into();
    let args = vec![Arg::Out(64), Arg::Word32(message.len() as u32), Arg::In(message.to_vec()), Arg::In(key.to_vec())];
    Call { declaration, function: "santoku_sign_detached".into(), args, ret: Ret::Void }
}

/// The function returns 1 for a valid signature.
fn verify(public: &[u8], message: &[u8], signature: &[u8]) -> Call {
    let declaration = "unsigned santoku_sign_verify(unsigned n, const unsigned char *m, const unsigned char *sig, const unsigned char *pk)".into();
    let args = vec![Arg::Word32(message.len() as u32), Arg::In(message.to_vec()), Arg::In(signature.to_vec()), Arg::In(public.to_vec())];
    Call { declaration, function: "santoku_sign_verify".into(), args, ret: Ret::Word32 }
}

fn x25519(scalar: &[u8], point: &[u8]) -> Call {
    let declaration = "void santoku_x25519(unsigned char *r, const unsigned char *k, const unsigned char *u)".into();
    let args = vec![Arg::Out(32), Arg::In(scalar.to_vec()), Arg::In(point.to_vec())];
    Call { declaration, function: "santoku_x25519".into(), args, ret: Ret::Void }
}

/// What a call is to leave: bytes in its first buffer, or a value.
enum Left {
    Bytes(Vec<u8>),
    Value(u64),
}

/// Calls by name whose results are not what they are to be.
fn wrong(text: &str, all: &[(String, Call, Left)]) -> Vec<String> {
    assert!(!all.is_empty(), "a check of nothing");
    let found = ran(text, all.iter().map(|c| c.1.clone()).collect());
    let is_right = |((found, _), (_, _, want)): &(&(CallOutput, Measure), &(String, Call, Left))| match want {
        Left::Bytes(bytes) => found.buffers[0].as_ref() == Some(bytes),
        Left::Value(n) => found.ret == *n,
    };
    found.iter().zip(all).filter(|both| !is_right(both)).map(|(_, (name, ..))| name.clone()).collect()
}

/// Public keys, signatures and verdicts: RFC 8032, Wycheproof, and random keys and messages with the results of another library.
fn signatures() -> Vec<(String, Call, Left)> {
    let mut all = vec![];
    for v in ed25519::rfc8032() {
        all.push((format!("{} key", v.id), public_key(&v.seed), Left::Bytes(v.public.to_vec())));
        all.push((format!("{} signature", v.id), sign(&[v.seed, v.public].concat(), &v.message), Left::Bytes(v.signature.to_vec())));
        all.push((format!("{} verdict", v.id), verify(&v.public, &v.message, &v.signature), Left::Value(1)));
    }
    for v in ed25519::wycheproof().into_iter().filter(|v| v.signature.len() == 64) {
        assert_ne!(v.expected, Expected::Acceptable, "{}: a verdict is wanted", v.id);
        all.push((v.id.clone(), verify(&v.public, &v.message, &v.signature), Left::Value((v.expected == Expected::Valid).into())));
    }
    for c in cases::sign_cases(seeds::turn(), 8) {
        let public = oracle::public_dalek(&c.seed);
        all.push((format!("random {}", c.index), sign(&[c.seed, public].concat(), &c.message), Left::Bytes(oracle::sign_dalek(&c.seed, &c.message).to_vec())));
    }
    all
}

fn shared_secrets() -> Vec<(String, Call, Left)> {
    let all = named::of("scalarmult.curve25519").expect("vectors").into_iter();
    all.map(|v| {
        let input = |name: &str| v.inputs.iter().find(|i| i.0 == name).map(|i| i.1.clone()).expect("a parameter");
        let result = v.outputs.first().expect("a result");
        (v.id.clone(), x25519(&input("k"), &input("u")), Left::Bytes(result.clone()))
    })
    .collect()
}

#[test]
fn vectors_of_the_assembly_are_right() {
    let small = ("small nacl_sign", small(SIGN), signatures(), 12);
    for (name, text, all, one_in) in [(SIGN, fast(SIGN), signatures(), 3), (CURVE, fast(CURVE), shared_secrets(), 3), small] {
        let (count, part) = (all.len(), seeds::some(all, one_in));
        let failed: Vec<String> = part.chunks(CALLS_MAX).flat_map(|c| wrong(&text, c)).collect();
        assert!(failed.is_empty(), "{name}: {} of {} are wrong: {:?}", failed.len(), part.len(), &failed[..failed.len().min(5)]);
        assert!(count > 150 && part.len() * (one_in as usize + 1) > count, "{} of {count}", part.len());
        assert!(!wrong(&spoiled(&text, PRODUCT), &part[..4]).is_empty(), "{name}: a spoiled product is not found");
        println!("{name} for the E31: {} of {count} vectors", part.len());
    }
}

/// A key of two bytes and its signature of 256 bytes, as in the published figures.
fn measured_calls() -> [Call; 3] {
    let (seed, message): ([u8; 32], Vec<u8>) = (std::array::from_fn(|i| i as u8), cases::bytes(seeds::turn(), 0, 256));
    let public = oracle::public_dalek(&seed);
    let signature = oracle::sign_dalek(&seed, &message);
    [sign(&[seed, public].concat(), &message), verify(&public, &message, &signature), x25519(&seed, &public)]
}

/// Cycles of the model, which is within 0.5 % of the RTL (`make rtl`).
#[test]
fn promised_figures_of_the_assembly_hold() {
    let [sign, verify, secret] = measured_calls();
    let signing = ran(&fast(SIGN), vec![sign, verify]);
    let agreeing = ran(&fast(CURVE), vec![secret]);
    assert_eq!(signing[1].0.ret, 1, "the signature is valid");
    let figures = [
        ("sign", signing[0].1.cycles_core, 1_000_000),
        ("verify", signing[1].1.cycles_core, 2_400_000),
        ("X25519", agreeing[0].1.cycles_core, 1_900_000),
        ("sign, stack", u64::from(signing[0].1.stack_bytes), 1_900),
    ];
    println!("{figures:?}");
    assert!(figures.iter().all(|(_, is, most)| is <= most && *is > most / 2), "{figures:?}");
}

/// Bytes at the smallest setting: code and constants of signing and verifying, and the stack of a signature.
#[test]
fn promised_sizes_of_the_assembly_hold() {
    let [sign, ..] = measured_calls();
    let toolchain = Toolchain::find().expect("the cross compiler is installed");
    let job = Rv32Job::new(vec![Source::Text { name: "unit.s".into(), text: small(SIGN) }], vec![sign.clone()]);
    let size = toolchain.build(&job).and_then(|p| p.size_bytes()).unwrap_or_else(|e| panic!("{e}"));
    let stack = ran(&small(SIGN), vec![sign])[0].1.stack_bytes;
    println!("{size} bytes of code and constants, {stack} bytes of stack");
    assert!((8_000..=14_000).contains(&size) && (800..=1_300).contains(&stack), "{size} {stack}");
}

/// Trace hashes of one call for so many secrets.
fn traces(text: &str, calls: Vec<Call>) -> BTreeSet<u64> {
    // A run of its own each: buffers lie at the same addresses.
    calls.into_iter().map(|c| ran(text, vec![c])[0].1.trace_hash).collect()
}

#[test]
fn the_assembly_has_one_trace_for_all_secrets() {
    let secret = |n: u64| cases::sign_cases(seeds::turn() + 7, n + 1).last().expect("a case").seed;
    let signing = |n: u64| sign(&[secret(n), oracle::public_dalek(&secret(n))].concat(), &cases::bytes(seeds::turn(), n, 100));
    let agreeing = |n: u64| x25519(&secret(n), &oracle::public_dalek(&secret(9)));
    let (sign_text, curve_text) = (fast(SIGN), fast(CURVE));
    for text in [&sign_text, &small(SIGN)] {
        assert_eq!(traces(text, (0..4).map(signing).collect()).len(), 1);
    }
    assert_eq!(traces(&curve_text, (0..4).map(agreeing).collect()).len(), 1);
    // Verification takes what time its input asks for, so that traces do tell.
    let verifying = |n: u64| {
        let (seed, message) = (secret(n), cases::bytes(seeds::turn(), n, 100));
        verify(&oracle::public_dalek(&seed), &message, &oracle::sign_dalek(&seed, &message))
    };
    assert!(traces(&sign_text, (0..3).map(verifying).collect()).len() > 1);
}
