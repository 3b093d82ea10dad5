//! Branches and addresses of the shipped file on processors whose wide products take a time that depends on the operands: the same for all keys.

mod support;

use santoku_lab::cross::Cross;
use santoku_lab::calls::Job;
use santoku_lab::harness::{Arg, Call, Ret, Source};
use santoku_lab::traces::{traces, Trace};
use santoku_num::SplitMix64;
use santoku_skips::seeds;
use santoku_target::Level;
use std::collections::BTreeSet;
use support::{c_file, shipped, shipped_source, tree};

/// Key pairs and signatures of so many keys: their traces, first all of key pairs, then all of signatures.
fn of_keys(target: &str, keys: usize, told: &str) -> [Vec<Trace>; 2] {
    let target = tree().target(target).unwrap_or_else(|e| panic!("{e}"));
    let cross = Cross::find(&target, None).unwrap_or_else(|e| panic!("{e}"));
    let mut random = SplitMix64::new(seeds::first() + 0x6b65_7973);
    // Keys of one bit, then random ones.
    let mut all: Vec<u8> = (0..32).map(|k| u8::from(k == 0)).chain([0xff; 32]).collect();
    while all.len() < 32 * keys {
        all.push(random.next_u64() as u8);
    }
    let call = Call {
        declaration: "int traced(unsigned char *first, const unsigned char *seeds, unsigned long n)".into(),
        function: "traced".into(),
        args: vec![Arg::Out(keys), Arg::In(all[..32 * keys].to_vec()), Arg::Word32(keys as u32)],
        ret: Ret::Word32,
    };
    let sources = vec![Source::Text { name: "nacl_sign.c".into(), text: format!("{told}{}", shipped_source()) }, Source::File(c_file("traced.c"))];
    let job = Job { sources, include_dirs: vec![shipped()], calls: vec![call], level: Level::O2 };
    let windows = traces(&cross, &job, ["trace_begin", "trace_end"]).unwrap_or_else(|e| panic!("{}: {e}", target.name));
    assert_eq!(windows.len(), 2 * keys);
    let every_other = |from: usize| windows.iter().skip(from).step_by(2).copied().collect();
    [every_other(0), every_other(1)]
}

fn different(traces: &[Trace]) -> usize {
    traces.iter().collect::<BTreeSet<_>>().len()
}

fn one_trace(keys: usize) {
    for target in ["cortex-m0", "cortex-m3"] {
        for (what, traces) in ["key pair", "signature"].iter().zip(of_keys(target, keys, "")) {
            assert_eq!(different(&traces), 1, "{target}: traces of {what}: {traces:?}");
            assert!(traces[0].instructions > 1_000_000 && traces[0].accesses > 100_000, "{target}: {what}: {:?}", traces[0]);
            println!("tried: {target}: {what}: one trace of {} instructions and {} accesses for {keys} keys", traces[0].instructions, traces[0].accesses);
        }
    }
}

#[test]
fn branches_and_addresses_are_the_same_for_every_key() {
    one_trace(3);
}

#[test]
#[ignore = "minutes; `make soak` runs it"]
fn soak_branches_and_addresses_are_the_same_for_a_hundred_keys() {
    one_trace(100);
}

/// Where the file is told to make wide products at once, the compiler's function for them branches on the operands.
#[test]
fn whole_products_show_the_key() {
    let told = "#define STK_PRODUCTS_IN_PARTS 0\n#define STK_ALLOW_VARIABLE_TIME\n";
    let [pairs, signatures] = of_keys("cortex-m0", 3, told);
    assert_eq!((different(&pairs), different(&signatures)), (3, 3), "{pairs:?} {signatures:?}");
}
