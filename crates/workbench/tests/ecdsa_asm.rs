//! Verification of ECDSA and recovery of keys in assembly of ours, with whole point operations in one function each: every published vector, signatures made
//! on purpose, the promised figures, and spoiled twins.

mod support;

use santoku_lab::bench::Subject;
use santoku_lab::calls::{run, Job};
use santoku_lab::cross::Cross;
use santoku_lab::harness::{Arg, Call, CallOutput, Ret, Source};
use santoku_skips::seeds;
use santoku_target::Level;
use santoku_vectors::named::Vector;
use santoku_vectors::{cases, named, secp256k1};
use santoku_workbench::ladder;
use santoku_workbench::table::{Bench, Vectors};
use santoku_workbench::BenchError;
use std::ops::RangeInclusive;
use support::{assembly, choice, on_big_stack, shipped_assembly, spoiled, tree};

/// A primitive, choices for a machine, how many vectors there are, and the least and the most cycles, or instructions, of its workloads.
struct Promise {
    primitive: &'static str,
    choice: &'static str,
    vectors: usize,
    within: RangeInclusive<u64>,
}

const PROMISES: [Promise; 4] = [
    Promise { primitive: "ecdsa.p256", choice: "ckb-ecdsa", vectors: 241, within: 400_000..=515_000 },
    Promise { primitive: "ecdsa.secp256k1", choice: "ckb-ecdsa", vectors: 234, within: 200_000..=332_000 },
    Promise { primitive: "ecdsa.p256", choice: "zkvm-ecdsa", vectors: 241, within: 500_000..=700_000 },
    Promise { primitive: "ecdsa.secp256k1", choice: "zkvm-ecdsa", vectors: 234, within: 200_000..=345_000 },
];
/// What another sequence of digits may cost more. A number that division steps do not invert costs far more.
const SPREAD: u64 = 12_000;

/// The machine that choices are for.
fn machine(name: &str) -> &'static str {
    if name.starts_with("ckb") { "ckb" } else { "rv64im" }
}

/// Whole point operations in one function each.
const INLINE: usize = 200;

fn judged(bench: &Bench, unit: &str, text: String) -> Result<(Vec<u64>, Vectors), BenchError> {
    let subject = bench.subject(&tree(), "assembly", String::new())?;
    let sources = vec![Source::Text { name: format!("{unit}.s"), text }];
    let (line, mut built) = bench.line(&Subject { sources, ..subject })?;
    let vectors = bench.vectors("verify-valid", built.as_mut(), &|_| true)?;
    Ok((line.measures.iter().map(|m| m.cycles).collect(), vectors))
}

/// From portable C to our assembly: each build takes fewer cycles than the one before, down to the promised figure.
#[test]
fn the_ladder_falls_with_every_rung() {
    let found = on_big_stack(|| ladder::run(&tree(), "ckb-p256", &|_| ()).unwrap_or_else(|e| panic!("{e}")));
    let cycles: Vec<u64> = found.all.iter().map(|c| c.profile.cycles).collect();
    println!("{}", found.text());
    assert!(cycles.len() >= 8 && cycles.windows(2).all(|w| w[1] < w[0]), "{cycles:?}");
    assert!(cycles[0] > 1_800_000 && *PROMISES[0].within.end() >= cycles[cycles.len() - 1], "{cycles:?}");
    assert!(found.all.iter().all(|c| c.profile.leaves.len() > 5), "functions are told apart");
    let wrong = on_big_stack(|| ladder::run(&tree(), "no-ladder", &|_| ()).err().map(|e| e.to_string()));
    assert!(wrong.is_some_and(|e| e.contains("ckb-p256")));
}

/// The label of a group of doublings.
const DOUBLINGS: &str = "_steps";

#[test]
fn all_vectors_are_judged_rightly_within_the_promised_figures() {
    for p in &PROMISES {
        let declared = tree().primitive(p.primitive).expect("declared");
        let (bench, text) = (support::bench(p.primitive, machine(p.choice)), shipped_assembly(p.choice, &declared.unit));
        let (cycles, vectors) = judged(&bench, &declared.unit, text.clone()).unwrap_or_else(|e| panic!("{e}"));
        println!("{} for {}: {} vectors, {} accepted; {cycles:?}, {:?}", p.primitive, p.choice, vectors.ran, vectors.accepted, vectors.spread);
        assert_eq!(vectors.ran, p.vectors);
        assert!(vectors.accepted > 100 && vectors.accepted < vectors.ran);
        assert!(!cycles.is_empty() && cycles.iter().all(|n| p.within.contains(n)), "{cycles:?}");
        assert!((*p.within.start()..=p.within.end() + SPREAD).contains(&vectors.spread[2]), "{:?}", vectors.spread);
        let found = judged(&bench, &declared.unit, spoiled(&text, DOUBLINGS));
        assert!(matches!(found, Err(BenchError::WrongResult { .. })), "{:?}", found.map(|r| r.0));
    }
}

/// What the calls of one function leave on the machine of a choice.
fn called(name: &str, entry: &str, spoil: bool, calls: Vec<Call>) -> Vec<CallOutput> {
    let text = assembly(entry, "unit", &choice(name), INLINE);
    let text = if spoil { spoiled(&text, DOUBLINGS) } else { text };
    let cross = Cross::find(&tree().target(machine(name)).expect("described"), None).unwrap_or_else(|e| panic!("{e}"));
    run(&cross, &Job { sources: vec![Source::Text { name: "unit.s".into(), text }], include_dirs: vec![], calls, level: Level::O2 }).unwrap_or_else(|e| panic!("{e}"))
}

fn verdicts(name: &str, spoil: bool, made: &[secp256k1::Made]) -> Vec<bool> {
    let call = |m: &secp256k1::Made| Call {
        declaration: "int secp256k1_ecdsa_verify(const unsigned char *digest, const unsigned char *sig, const unsigned char *pk)".into(),
        function: "secp256k1_ecdsa_verify".into(),
        args: vec![Arg::In(m.digest.to_vec()), Arg::In(m.signature.to_vec()), Arg::In(m.public.to_vec())],
        ret: Ret::Word32,
    };
    called(name, "lib/ecdsa/secp256k1.stk", spoil, made.iter().map(call).collect()).iter().map(|o| o.ret == 0).collect()
}

#[test]
fn signatures_made_on_purpose_are_judged_rightly() {
    let (mut ran, every) = (0, 61);
    for name in ["ckb-ecdsa", "zkvm-ecdsa"] {
        let made = secp256k1::on_purpose((seeds::turn() % every) as usize, every as usize);
        let found = verdicts(name, false, &made);
        for (m, found) in made.iter().zip(&found) {
            assert_eq!(*found, m.valid, "{name}: {m:?}");
        }
        // Some signatures are so small that they take no doubling: among many, others do.
        let valid: Vec<secp256k1::Made> = made.iter().filter(|m| m.valid).take(20).cloned().collect();
        assert!(valid.len() > 10 && verdicts(name, true, &valid).contains(&false), "{name}: a spoiled product is found");
        ran += made.len();
    }
    println!("secp256k1: {ran} signatures made on purpose");
    assert!(ran > 200, "{ran}");
}

/// Digests and signatures of all kinds: published ones, random ones, and the ends of ranges.
fn asked() -> Vec<([u8; 32], [u8; 64])> {
    let input = |v: &Vector, name: &str| v.inputs.iter().find(|i| i.0 == name).map(|i| i.1.clone()).expect("a parameter");
    let published = named::of("ecdsa.secp256k1").expect("vectors").into_iter().step_by(4).map(|v| (input(&v, "digest"), input(&v, "sig")));
    let random = (0..8).map(|n| (cases::bytes(seeds::turn(), n, 32), cases::bytes(seeds::turn(), n + 100, 64)));
    let edges = secp256k1::edges().into_iter().map(|s| (vec![if s[31] % 2 == 0 { 0xff } else { 0 }; 32], s.to_vec()));
    let all = published.chain(random).chain(edges);
    all.map(|(d, s)| (d.try_into().expect("32 bytes"), s.try_into().expect("64 bytes"))).collect()
}

/// Keys that are recovered, by digest, signature and number.
fn keys(spoil: bool, asked: &[([u8; 32], [u8; 64], u8)]) -> Vec<Option<Vec<u8>>> {
    let call = |(digest, sig, recid): &([u8; 32], [u8; 64], u8)| Call {
        declaration: "void secp256k1_ecdsa_recover(unsigned char *pk, int *status, const unsigned char *digest, const unsigned char *sig, unsigned recid)".into(),
        function: "secp256k1_ecdsa_recover".into(),
        args: vec![Arg::Out(64), Arg::Out(4), Arg::In(digest.to_vec()), Arg::In(sig.to_vec()), Arg::Word32(u32::from(*recid))],
        ret: Ret::Void,
    };
    let left = called("zkvm-ecdsa", "lib/ecdsa/secp256k1_recover.stk", spoil, asked.iter().map(call).collect());
    let of = |o: &CallOutput, k: usize| o.buffers[k].clone().expect("a buffer");
    left.iter().map(|o| (of(o, 1) == [0; 4]).then(|| of(o, 0))).collect()
}

#[test]
fn keys_are_recovered_as_another_library_does() {
    let all: Vec<_> = asked().into_iter().flat_map(|(d, s)| (0..4u8).map(move |r| (d, s, r))).collect();
    let found = keys(false, &all);
    for ((digest, sig, recid), found) in all.iter().zip(&found) {
        let want = secp256k1::recover(digest, sig, *recid);
        assert_eq!(found.as_deref(), want.as_ref().map(|k| &k[..]), "{digest:02x?} {sig:02x?} {recid}");
    }
    let there = found.iter().flatten().count();
    println!("secp256k1: {} questions for a key, {there} with an answer", all.len());
    assert!(there > 150 && there < all.len(), "{there} of {}", all.len());
    assert_ne!(keys(true, &all[..4]), found[..4], "a spoiled product is found");
    // With N added to its r, and without.
    assert!(all.iter().zip(&found).filter(|(a, f)| a.2 >= 2 && f.is_some()).count() >= 10);
}
