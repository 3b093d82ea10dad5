//! Units of curves on this machine: all of Wycheproof's vectors and those of RFC 6979, with limbs of 64 and of 32 bits.

mod support;

use santoku_lab::calls::{run, Job};
use santoku_lab::cross::Cross;
use santoku_lab::harness::{Call, Source};
use santoku_skips::seeds;
use santoku_target::Level;
use santoku_vectors::curves;
use santoku_vectors::named::{self, Vector};
use santoku_workbench::interface::Function;
use santoku_workbench::operation::Case;
use santoku_workbench::subject::ours;
use std::collections::{BTreeMap, BTreeSet};
use support::{on_big_stack, shipped, tree};

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
    let primitive = tree().primitive(curve).unwrap_or_else(|e| panic!("{e}"));
    let made = on_big_stack(|| ours(&tree(), &primitive, target, Level::O2, &BTreeSet::new()).unwrap_or_else(|e| panic!("{curve}, {target}: {e}")));
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

/// Every curve in `turns` turns.
fn some(turns: u64) {
    let (mut tried, mut ran) = (0, 0);
    for (k, curve) in curves::names().enumerate() {
        if (k as u64 + seeds::turn()) % turns == 0 {
            for target in ["host64", "portable"] {
                let counts = passes(curve, target);
                assert!(counts.len() >= 3 && counts.values().all(|n| *n > 0), "{curve}: {counts:?}");
                println!("tried: {curve}, {target}: {counts:?}");
                ran += counts.values().sum::<usize>();
            }
            tried += 1;
        }
    }
    println!("tried: {ran} vectors on {tried} curves");
    assert!(tried > 0 && ran > 2000);
}

#[test]
fn curves_pass_all_vectors() {
    some(6);
}

#[test]
#[ignore = "minutes; `make soak` runs it"]
fn every_curve_passes_all_vectors() {
    some(1);
}
