//! Branches and addresses of every function of the library that gets a secret: one trace for all secrets, on the model of the E31 and on emulated Cortex-M.

mod support;

use santoku_lab::calls::Job;
use santoku_lab::cross::Cross;
use santoku_lab::harness::{Arg, Call, Level, Ret, Rv32Job, Source, Toolchain};
use santoku_lab::rv32::Config;
use santoku_lab::traces::traces;
use santoku_num::SplitMix64;
use santoku_skips::{checked, seeds};
use std::collections::BTreeSet;
use support::{c_file, shipped_unit, tree, CALLED};

/// Operations of `c/every_trace.c`; with `TWIN`, one more, which reads at a secret address.
const OPERATIONS: u32 = 22;
const SIGN: u32 = 11;
const SECRET: usize = 64;

/// All zeros, all ones, one bit, then random bytes.
fn secrets(count: usize) -> Vec<Vec<u8>> {
    let mut random = SplitMix64::new(seeds::first() + 0x7472_6163);
    let mut all = vec![vec![0; SECRET], vec![0xff; SECRET], (0..SECRET).map(|k| u8::from(k == 31) << 6).collect()];
    while all.len() < count {
        all.push((0..SECRET).map(|_| random.next_u64() as u8).collect());
    }
    all.truncate(count);
    all
}

fn sources(told: &str) -> Vec<Source> {
    let units = CALLED.iter().map(|u| Source::Text { name: format!("{u}.c"), text: format!("{told}{}", shipped_unit(u)) });
    let main = std::fs::read_to_string(c_file("every_trace.c")).expect("in the tree");
    units.chain([Source::Text { name: "every_trace.c".into(), text: format!("{told}{main}") }]).collect()
}

fn include_dirs() -> Vec<std::path::PathBuf> {
    CALLED.iter().map(|u| tree().root.join("dist/c").join(u)).collect()
}

/// The operations that have more than one trace on the model of the E31.
fn different_on_rv32(told: &str, level: Level, operations: u32, count: usize) -> BTreeSet<u32> {
    let all = secrets(count);
    let call = |which| Call {
        declaration: "int operation(unsigned which, const unsigned char *secret)".into(),
        function: "operation".into(),
        args: vec![Arg::Word32(which), Arg::In(all[0].clone())],
        ret: Ret::Word32,
    };
    let calls: Vec<Call> = (0..operations).map(call).collect();
    let job = Rv32Job { level, include_dirs: include_dirs(), ..Rv32Job::new(sources(told), calls) };
    let mut program = Toolchain::find().expect("the cross compiler is installed").build(&job).unwrap_or_else(|e| panic!("{e}"));
    let mut seen: Vec<BTreeSet<u64>> = vec![BTreeSet::new(); operations as usize];
    for secret in &all {
        (0..operations as usize).for_each(|which| program.set_input(which, 1, secret).expect("as long"));
        let ran = program.run(&Config { step_limit: u64::MAX, ..Config::default() }).unwrap_or_else(|e| panic!("{e}"));
        for (which, seen) in seen.iter_mut().enumerate() {
            assert_eq!(ran.outputs[which].ret, 0, "operation {which}");
            let window = &ran.run.windows[which];
            assert!(window.instret > 100, "operation {which} does nothing");
            seen.insert(window.trace_hash);
        }
    }
    (0..operations).zip(seen).filter(|(_, seen)| seen.len() > 1).map(|(which, _)| which).collect()
}

#[test]
fn one_trace_for_every_secret_on_rv32() {
    let mut traced = 0;
    for level in seeds::one([Level::O1, Level::O2, Level::O3, Level::Os], 0) {
        assert_eq!(different_on_rv32("", level, OPERATIONS, 4), BTreeSet::new(), "{level}");
        traced += OPERATIONS as usize * 4;
    }
    checked(traced, "calls with other secrets on the E31's model, one trace for each function");
    // Must fail: exactly the operation that reads at a secret address.
    assert_eq!(different_on_rv32("#define TWIN 1\n", Level::O2, OPERATIONS + 1, 3), BTreeSet::from([OPERATIONS]));
}

/// The operations that have more than one trace on an emulated Cortex-M. Signatures, which take a thousand times as long as others, have a test of their own
/// (`traces.rs`).
fn different_on(target: &str, told: &str, operations: std::ops::Range<u32>, count: usize) -> BTreeSet<u32> {
    let target = tree().target(target).unwrap_or_else(|e| panic!("{e}"));
    let cross = Cross::find(&target, None).unwrap_or_else(|e| panic!("{e}"));
    let call = Call {
        declaration: "int traced(unsigned char *wrong, const unsigned char *secrets, unsigned first, unsigned last, unsigned n)".into(),
        function: "traced".into(),
        args: vec![Arg::Out(1), Arg::In(secrets(count).concat()), Arg::Word32(operations.start), Arg::Word32(operations.end - 1), Arg::Word32(count as u32)],
        ret: Ret::Word32,
    };
    let job = Job { sources: sources(told), include_dirs: include_dirs(), calls: vec![call], level: Level::Os };
    let windows = traces(&cross, &job, ["trace_begin", "trace_end"]).unwrap_or_else(|e| panic!("{}: {e}", target.name));
    assert_eq!(windows.len(), operations.len() * count, "{}", target.name);
    assert!(windows.iter().all(|w| w.instructions > 100));
    operations.zip(windows.chunks(count)).filter(|(_, w)| w.iter().collect::<BTreeSet<_>>().len() > 1).map(|(which, _)| which).collect()
}

#[test]
fn one_trace_for_every_secret_on_cortex_m() {
    let mut traced = 0;
    for (k, target) in ["cortex-m0", "cortex-m3", "cortex-m4"].into_iter().enumerate() {
        // The key exchange takes long where products are made in parts.
        let slow = seeds::in_turn(k as u64, 3);
        let first = if slow { 0 } else { 2 };
        for range in [first..SIGN, SIGN + 1..OPERATIONS] {
            traced += range.len() * 3;
            assert_eq!(different_on(target, "", range, 3), BTreeSet::new(), "{target}");
        }
    }
    checked(traced, "calls with other secrets on emulated Cortex-M, one trace for each function");
    assert_eq!(different_on("cortex-m3", "#define TWIN 1\n", 16..OPERATIONS + 1, 3), BTreeSet::from([OPERATIONS]));
}
