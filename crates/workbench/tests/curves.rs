//! Units of curves on this machine: all of Wycheproof's vectors and those of RFC 6979, with limbs of 64 and of 32 bits.

mod support;

use santoku_lab::calls::{run, Job};
use santoku_lab::cross::Cross;
use santoku_lab::harness::{Arg, Call, Ret, Rv32Job, Source, Toolchain};
use santoku_lab::rv32::Config;
use santoku_num::SplitMix64;
use santoku_skips::{checked, seeds};
use santoku_target::Level;
use santoku_vectors::curves;
use santoku_vectors::named::{self, Vector};
use santoku_workbench::interface::Function;
use santoku_workbench::operation::Case;
use santoku_workbench::subject::{ours, Ours};
use std::collections::{BTreeMap, BTreeSet};
use support::{on_big_stack, shipped, tree};

/// The C of a curve for a target, and its functions.
fn made(curve: &str, target: &str) -> Ours {
    let primitive = tree().primitive(curve).unwrap_or_else(|e| panic!("{e}"));
    on_big_stack(|| ours(&tree(), &primitive, target, Level::O2, &BTreeSet::new()).unwrap_or_else(|e| panic!("{curve}, {target}: {e}")))
}

/// What fails of the vectors, by C that is built for this machine.
fn wrong(text: &str, functions: &[Function], vectors: &[Vector]) -> Vec<String> {
    let target = tree().target("host64").unwrap_or_else(|e| panic!("{e}"));
    let cross = Cross::named(&target, Some("gcc")).unwrap_or_else(|e| panic!("{e}"));
    let mut failed = vec![];
    for part in vectors.chunks(1000) {
        let asked: Vec<Case> = part.iter().map(|v| Case::of(functions, v).unwrap_or_else(|e| panic!("{e}"))).collect();
        let calls: Vec<Call> = asked.iter().map(|c| c.call(functions, target.byte_order).unwrap_or_else(|e| panic!("{e}"))).collect();
        let sources = vec![Source::Text { name: "curve.c".into(), text: text.into() }];
        let ran = run(&cross, &Job { sources, include_dirs: vec![shipped()], calls, level: Level::O2 }).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(ran.len(), part.len());
        failed.extend(ran.iter().zip(&asked).filter_map(|(left, c)| c.wrong(functions, left, target.byte_order)));
    }
    failed
}

/// The vectors of a curve on C of a target; how many there were, by function. A twin with sums for products fails.
fn passes(curve: &str, target: &str) -> BTreeMap<&'static str, usize> {
    let made = made(curve, target);
    let vectors = named::of(curve).expect("a curve with vectors");
    let failed = wrong(&made.text, &made.functions, &vectors);
    assert!(failed.is_empty(), "{curve}, {target}: {} of {}: {:?}", failed.len(), vectors.len(), &failed[..failed.len().min(5)]);
    let spoiled = made.text.replace(" * ", " + ");
    assert!(!wrong(&spoiled, &made.functions, &vectors[..vectors.len().min(400)]).is_empty(), "{curve}, {target}: wrong products are not seen");
    let mut counts = BTreeMap::new();
    for v in &vectors {
        *counts.entry(v.function).or_insert(0) += 1;
    }
    counts
}

#[test]
fn curves_pass_all_vectors() {
    let (mut tried, mut ran) = (0, 0);
    for curve in seeds::some(curves::names(), 6) {
        for target in ["host64", "portable"] {
            let counts = passes(curve, target);
            assert!(counts.len() >= 3 && counts.values().all(|n| *n > 0), "{curve}: {counts:?}");
            println!("tried: {curve}, {target}: {counts:?}");
            ran += counts.values().sum::<usize>();
        }
        tried += 1;
    }
    println!("tried: {ran} vectors on {tried} curves");
    assert!(tried > 0 && ran > 2000);
}

/// Traces of a key, signatures and an agreement on the model of the E31, for each private key.
fn traces(curve: &str, bytes: usize, keys: &[Vec<u8>]) -> Vec<Vec<u64>> {
    let made = made(curve, "rv32");
    let name = |function: &str| format!("santoku_{}_{function}", curve.trim_start_matches("ec."));
    let source = |text: String| vec![Source::Text { name: "curve.c".into(), text }];
    let call = |function: &str, declared: &str, args: Vec<Arg>| Call { declaration: format!("void {}({declared})", name(function)), function: name(function), args, ret: Ret::Void };
    let (status, key) = (Arg::Out(4), || Arg::In(keys[0].clone()));
    let first = call("public_key", "unsigned char *pk, int *status, const unsigned char *sk", vec![Arg::Out(2 * bytes), status.clone(), key()]);
    let run = |calls: Vec<Call>| {
        // The nonce of the caller is a secret, too.
        let secret: Vec<(usize, usize)> = [(0, 2), (1, 4), (1, 5), (2, 2), (3, 4)].into_iter().filter(|(call, _)| *call < calls.len()).collect();
        let mut program = Toolchain::find().expect("the cross compiler is installed").build(&Rv32Job { level: Level::O2, ..Rv32Job::new(source(made.text.clone()), calls) }).unwrap_or_else(|e| panic!("{e}"));
        keys.iter()
            .map(|k| {
                secret.iter().for_each(|(call, arg)| program.set_input(*call, *arg, k).expect("as long"));
                program.run(&Config { step_limit: u64::MAX, ..Config::default() }).unwrap_or_else(|e| panic!("{e}"))
            })
            .collect::<Vec<_>>()
    };
    let peer = run(vec![first.clone()])[1].outputs[0].buffers[0].clone().expect("a public key");
    let signs = "unsigned char *sig, int *status, unsigned n, const unsigned char *digest, const unsigned char *sk, const unsigned char *k";
    let signature = |function: &str, last: Arg| call(function, signs, vec![Arg::Out(2 * bytes), status.clone(), Arg::Word32(32), Arg::In(vec![7; 32]), key(), last]);
    let masked = call("sign_with_nonce_masked", &format!("{signs}, const unsigned char *mask"), {
        vec![Arg::Out(2 * bytes), status.clone(), Arg::Word32(32), Arg::In(vec![7; 32]), key(), Arg::In(vec![1; bytes]), Arg::In(vec![3; bytes + 8])]
    });
    let mut all = vec![
        first,
        masked,
        call("ecdh", "unsigned char *shared, int *status, const unsigned char *sk, const unsigned char *pk", vec![Arg::Out(bytes), status.clone(), key(), Arg::In(peer)]),
    ];
    // Where many numbers of as many bits are no nonces, how often one is refused is seen, and differs.
    if !curve.starts_with("ec.brainpool") {
        all.push(signature("sign_hedged", Arg::In(vec![9; 32])));
    }
    run(all).iter().map(|ran| ran.run.windows.iter().map(|w| w.trace_hash).collect()).collect()
}

/// Branches and addresses are the same for all private keys; must fail: those of a number that is none.
#[test]
fn one_trace_for_every_private_key() {
    let all: Vec<(&str, usize)> = curves::names().map(|name| (name, curves::bytes(name))).collect();
    let mut traced = 0;
    for (curve, bytes) in seeds::some(all, 9) {
        let mut random = SplitMix64::new(seeds::first() + 0x6375_7276);
        let mut keys: Vec<Vec<u8>> = [1, 2].map(|k| (0..bytes).map(|i| if i == bytes - 1 { k } else { 0 }).collect()).into();
        // The first byte is 0 and the second below that of any order.
        keys.extend((0..2).map(|_| (0..bytes).map(|i| if i == 0 { 0 } else { random.next_u64() as u8 }).collect::<Vec<u8>>()));
        let seen = traces(curve, bytes, &keys);
        assert!(seen.iter().all(|t| *t == seen[0] && t.len() >= 3), "{curve}: {seen:?}");
        let other = traces(curve, bytes, &[keys[0].clone(), keys[1].clone(), vec![0; bytes]]);
        assert!(other[0] == seen[0] && (0..seen[0].len()).all(|k| other[2][k] != seen[0][k]), "{curve}: {other:?}");
        traced += seen[0].len() * keys.len();
        println!("tried: {curve}");
    }
    checked(traced, "calls with other private keys on the E31's model, one trace for each function");
}
