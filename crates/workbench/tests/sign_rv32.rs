//! `crypto_sign` on the RV32 model: vectors, figures that must hold, and traces that must not depend on secrets.

mod support;

use santoku_lab::harness::{run_rv32, Level, Rv32Job, Source, Toolchain};
use santoku_vectors::{cases, oracle};
use santoku_workbench::sign::{self, measure, trace_hashes, SignRun};
use santoku_workbench::sign_table::{setting, NAME};
use santoku_workbench::subject::{ours, Subject};
use santoku_workbench::BenchError;
use std::collections::BTreeSet;
use std::sync::OnceLock;
use support::{c_file, nacl, on_big_stack, published, random, shipped, shipped_source, tree, with_a_wrong_constant};

fn toolchain() -> Toolchain {
    Toolchain::find().expect("the cross compiler is installed")
}

/// Our code for RV32 at every level, compiled once for all tests.
fn subject(level: Level) -> &'static Subject {
    static ALL: [OnceLock<Subject>; 5] = [const { OnceLock::new() }; 5];
    let at = Level::ALL.iter().position(|l| *l == level).expect("a level");
    ALL[at].get_or_init(|| build("rv32", level))
}

fn build(target: &str, level: Level) -> Subject {
    let tree = tree();
    let primitive = tree.primitive(NAME).expect("declared");
    on_big_stack(move || ours(&tree, &primitive, target, level, &BTreeSet::new()).unwrap_or_else(|e| panic!("{e}")))
}

/// The batch on the model, by `source` in the place of the shipped file.
fn run_batch(source: Source, cases: &[support::Case]) -> Vec<String> {
    let room: usize = cases.iter().map(|c| c.expected.len()).sum();
    let mut job = Rv32Job::new(vec![source, Source::File(c_file("batch.c"))], vec![support::batch_call(cases)]);
    job.include_dirs = vec![shipped()];
    job.ram_bytes = 8 << 20;
    let report = run_rv32(&toolchain(), &job).unwrap_or_else(|e| panic!("{e}"));
    let made = report.outputs[0].ret as usize;
    assert!(made <= room, "{made} bytes made where {room} are right");
    support::failures(cases, &report.outputs[0].buffers[0].as_ref().expect("the output")[..made])
}

#[test]
fn the_shipped_file_passes_the_vectors_on_the_model() {
    let mut cases = published();
    // Of the random cases, signatures and spoiled verifications: a minute of simulation is enough.
    let random = random(100).iter().filter(|c| matches!(c.input[0], b'S' | b'V')).cloned();
    cases.extend(random);
    // A prime apart, so that each operation on NaCl's vectors has its turn.
    cases.extend(nacl().into_iter().step_by(61));
    assert_eq!(cases.len(), 4 * 5 + 151 + 2 * 100 + 68);
    let failed = run_batch(Source::File(shipped().join("nacl_sign.c")), &cases);
    assert!(failed.is_empty(), "{} of {} fail: {:?}", failed.len(), cases.len(), &failed[..failed.len().min(5)]);
    println!("RV32 model: {} records", cases.len());
}

#[test]
#[ignore = "minutes; `make soak` runs it"]
fn the_shipped_file_passes_all_vectors_on_the_model() {
    let mut cases = nacl();
    assert_eq!(cases.len(), 4 * 1024);
    cases.extend(published());
    cases.extend_from_slice(random(500));
    for part in cases.chunks(256) {
        let failed = run_batch(Source::File(shipped().join("nacl_sign.c")), part);
        assert!(failed.is_empty(), "{} of {} fail: {:?}", failed.len(), part.len(), &failed[..failed.len().min(5)]);
    }
    println!("RV32 model: {} records", cases.len());
}

#[test]
fn a_wrong_constant_fails_on_the_model() {
    let text = with_a_wrong_constant(&shipped_source());
    let cases = &published()[..4];
    let failed = run_batch(Source::Text { name: "nacl_sign.c".into(), text: text.clone() }, cases);
    assert_eq!(failed.len(), 4, "{failed:?}");
    // The measurement refuses it too: no figure for a wrong program.
    let header = std::fs::read_to_string(shipped().join("nacl_sign.h")).expect("readable");
    let text = text.replacen("#include \"nacl_sign.h\"\n", &header, 1);
    let wrong = Subject { sources: vec![Source::Text { name: "wrong.c".into(), text }], ..subject(Level::O1).clone() };
    assert!(matches!(measure(&toolchain(), &wrong, setting(Level::O1)), Err(BenchError::WrongResult { .. })));
}

#[test]
fn the_measured_signature_is_what_an_independent_library_makes() {
    let key = sign::key();
    let seed: [u8; 32] = key[..32].try_into().expect("32 bytes");
    assert_eq!(oracle::public_dalek(&seed), key[32..]);
    let signature = oracle::sign_dalek(&seed, &sign::message());
    assert_eq!(signature.iter().map(|b| format!("{b:02x}")).collect::<String>(), sign::SIGNATURE);
}

fn measured(subject: &Subject, level: Level) -> SignRun {
    measure(&toolchain(), subject, setting(level)).unwrap_or_else(|e| panic!("{e}"))
}

/// The figures Santoku promises for RV32, with the limits they must keep.
#[test]
fn promised_figures_hold() {
    let o2 = measured(subject(Level::O2), Level::O2);
    let os = measured(subject(Level::Os), Level::Os);
    let ladder = measured(&build("rv32-spark", Level::O2), Level::O2);
    let figures = [
        ("sign -O2, cycles", o2.sign.measure.cycles_core, 3_000_000),
        ("open -O2, cycles", o2.open.measure.cycles_core, 6_000_000),
        ("sign -Os, stack", os.sign.stack_bound, 2_400),
        ("sign and open -Os, bytes", os.size_bytes, 20_000),
        ("sign with SPARKNaCl's algorithm -O2, cycles", ladder.sign.measure.cycles_core, 17_300_000),
    ];
    let broken: Vec<String> = figures.iter().filter(|(_, is, limit)| is > limit).map(|(what, is, limit)| format!("{what}: {is} > {limit}")).collect();
    assert!(broken.is_empty(), "{broken:?}");
    // Cycles far below the work there is would mean that the wrong window was measured.
    assert!(figures.iter().all(|(_, is, limit)| *is > limit / 5), "{figures:?}");
    for run in [&o2, &os, &ladder] {
        for call in [&run.sign, &run.open] {
            assert!(u64::from(call.measure.stack_bytes) <= call.stack_bound, "the bound is one");
        }
    }
}

/// Random keys with their public halves, and messages.
fn secrets(count: u64) -> Vec<(Vec<u8>, Vec<u8>)> {
    let one = |c: cases::SignCase| ([c.seed, oracle::public_dalek(&c.seed)].concat(), cases::bytes(77, c.index, sign::MESSAGE_BYTES));
    cases::sign_cases(100, count).map(one).collect()
}

fn traces(subject: &Subject, level: Level, count: u64) -> BTreeSet<u64> {
    let hashes = trace_hashes(&toolchain(), subject, setting(level), &secrets(count)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(hashes.len() as u64, count);
    hashes.into_iter().collect()
}

fn one_trace_per_level(count: u64) {
    let all: Vec<u64> = Level::ALL
        .into_iter()
        .flat_map(|level| {
            let traces = traces(subject(level), level, count);
            assert_eq!(traces.len(), 1, "-{}: {count} keys gave {} traces", level.name(), traces.len());
            traces
        })
        .collect();
    // Different programs have different traces, or nothing was traced.
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 5);
}

#[test]
fn signing_has_one_trace_for_4_keys_and_messages_at_every_level() {
    one_trace_per_level(4);
}

#[test]
#[ignore = "minutes; `make soak` runs it"]
fn signing_has_one_trace_for_100_keys_and_messages_at_every_level() {
    one_trace_per_level(100);
}

#[test]
fn a_secret_dependent_load_is_seen_in_the_trace() {
    let mut leaking = subject(Level::O2).clone();
    let Source::Text { text, .. } = &mut leaking.sources[0] else { panic!("ours is text") };
    let honest = "    memmove(sm + 64, m, (size_t)n);\n";
    assert!(text.contains(honest));
    let leak = "    { static volatile const unsigned char table[256] = {1}; sm[0] = table[sk[0]]; }\n";
    *text = text.replacen(honest, &format!("{honest}{leak}"), 1);
    assert!(traces(&leaking, Level::O2, 4).len() > 1);
}
