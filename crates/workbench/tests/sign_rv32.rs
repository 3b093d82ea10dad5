//! `crypto_sign` on the RV32 model: vectors, figures that must hold, and traces that must not depend on secrets.

mod support;

use santoku_lab::bench::{Measures, Subject};
use santoku_lab::harness::{run_rv32, Arg, Level, Rv32Job, Source, Toolchain};
use santoku_vectors::{cases, oracle};
use santoku_workbench::subject::{ours, Ours};
use santoku_workbench::table::{Bench, Line};
use santoku_workbench::BenchError;
use std::collections::BTreeSet;
use std::sync::OnceLock;
use support::{c_file, nacl, on_big_stack, published, random, shipped, shipped_source, tree, with_a_wrong_constant};

fn toolchain() -> Toolchain {
    Toolchain::find().expect("the cross compiler is installed")
}

const NAME: &str = "nacl.sign";

/// Our code for RV32 at every level, compiled once for all tests.
fn code(level: Level) -> &'static Ours {
    static ALL: [OnceLock<Ours>; 5] = [const { OnceLock::new() }; 5];
    let at = Level::ALL.iter().position(|l| *l == level).expect("a level");
    ALL[at].get_or_init(|| build("rv32", level))
}

fn build(target: &str, level: Level) -> Ours {
    let tree = tree();
    let primitive = tree.primitive(NAME).expect("declared");
    on_big_stack(move || ours(&tree, &primitive, target, level, &BTreeSet::new()).unwrap_or_else(|e| panic!("{e}")))
}

/// The primitive on the model.
fn bench() -> &'static Bench {
    static BENCH: OnceLock<Bench> = OnceLock::new();
    BENCH.get_or_init(|| {
        let tree = tree();
        let (primitive, target) = (tree.primitive(NAME).expect("declared"), tree.target("rv32").expect("described"));
        Bench::new(&tree, &primitive, target, code(Level::O1).clone()).unwrap_or_else(|e| panic!("{e}"))
    })
}

fn subject(text: &str, level: Level) -> Subject {
    Subject { level, ..bench().subject(&tree(), "ours", text.into()).unwrap_or_else(|e| panic!("{e}")) }
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
    let cases = santoku_skips::seeds::some(cases, 5);
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
    let text = with_a_wrong_constant(&code(Level::O1).text);
    assert!(matches!(bench().line(&subject(&text, Level::O1)), Err(BenchError::WrongResult { .. })));
}

#[test]
fn the_measured_signature_is_what_an_independent_library_makes() {
    let case = &bench().work.cases[0];
    let (key, message) = (&case.inputs["sk"], &case.inputs["m"]);
    let seed: [u8; 32] = key[..32].try_into().expect("32 bytes");
    assert_eq!(oracle::public_dalek(&seed), key[32..]);
    assert_eq!(oracle::sign_dalek(&seed, message)[..], case.results["sm"][..64]);
    assert_eq!(message.len(), 256, "as in the published figures");
}

fn measured(code: &Ours, level: Level) -> Line {
    bench().line(&subject(&code.text, level)).unwrap_or_else(|e| panic!("{e}")).0
}

/// Sign and open.
fn both(line: &Line) -> (&Measures, &Measures) {
    let names: Vec<&str> = bench().work.operations.iter().map(|o| o.name.as_str()).collect();
    assert_eq!(names, ["sign", "open"]);
    (&line.measures[0], &line.measures[1])
}

/// The figures Santoku promises for RV32, with the limits they must keep.
#[test]
fn promised_figures_hold() {
    let o2 = measured(code(Level::O2), Level::O2);
    let os = measured(code(Level::Os), Level::Os);
    let ladder = measured(&build("rv32-spark", Level::O2), Level::O2);
    let figures = [
        ("sign -O2, cycles", both(&o2).0.cycles, 1_400_000),
        ("open -O2, cycles", both(&o2).1.cycles, 3_200_000),
        ("sign -Os, stack", both(&os).0.stack_bound_bytes.expect("bounded"), 2_400),
        ("sign and open -Os, bytes", os.fact.size_bytes.expect("counted"), 16_000),
        ("sign with SPARKNaCl's algorithm -O2, cycles", both(&ladder).0.cycles, 17_300_000),
    ];
    let broken: Vec<String> = figures.iter().filter(|(_, is, limit)| is > limit).map(|(what, is, limit)| format!("{what}: {is} > {limit}")).collect();
    assert!(broken.is_empty(), "{broken:?}");
    // Cycles far below the work there is would mean that the wrong window was measured.
    assert!(figures.iter().all(|(_, is, limit)| *is > limit / 5), "{figures:?}");
    for run in [&o2, &os, &ladder] {
        for call in &run.measures {
            assert!(call.stack_bytes.is_some() && call.stack_bytes <= call.stack_bound_bytes, "the bound is one");
        }
    }
}

/// Random keys with their public halves, and messages.
fn secrets(count: u64) -> Vec<(Vec<u8>, Vec<u8>)> {
    let one = |c: cases::SignCase| ([c.seed, oracle::public_dalek(&c.seed)].concat(), cases::bytes(77, c.index, 256));
    cases::sign_cases(100, count).map(one).collect()
}

/// Trace hashes of signing with random keys and messages. Equal hashes mean equal program counters and data addresses throughout.
fn traces(text: &str, level: Level, count: u64) -> BTreeSet<u64> {
    let subject = subject(text, level);
    let (m, sk) = (2, 4);
    assert!(matches!((&subject.calls[0].args[m], &subject.calls[0].args[sk]), (Arg::In(message), Arg::In(key)) if message.len() == 256 && key.len() == 64));
    let mut built = bench().build(std::slice::from_ref(&subject)).unwrap_or_else(|e| panic!("{e}"));
    let one = |(key, message): (Vec<u8>, Vec<u8>)| built.run_on(0, 0, &[(m, message), (sk, key)]).unwrap_or_else(|e| panic!("{e}")).measures.trace_hash.expect("traced");
    let hashes: Vec<u64> = secrets(count).into_iter().map(one).collect();
    assert_eq!(hashes.len() as u64, count);
    hashes.into_iter().collect()
}

fn one_trace_per_level(count: u64, levels: &[Level]) {
    let all: Vec<u64> = levels
        .iter()
        .copied()
        .flat_map(|level| {
            let traces = traces(&code(level).text, level, count);
            assert_eq!(traces.len(), 1, "-{}: {count} keys gave {} traces", level.name(), traces.len());
            traces
        })
        .collect();
    // Different programs have different traces, or nothing was traced.
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), levels.len());
}

#[test]
fn signing_has_one_trace_for_4_keys_and_messages_at_a_level() {
    one_trace_per_level(4, &santoku_skips::seeds::some(Level::ALL, 2));
}

#[test]
#[ignore = "minutes; `make soak` runs it"]
fn signing_has_one_trace_for_100_keys_and_messages_at_every_level() {
    one_trace_per_level(100, &Level::ALL);
}

#[test]
fn a_secret_dependent_load_is_seen_in_the_trace() {
    let text = &code(Level::O2).text;
    let honest = "    memmove(sm + 64, m, (size_t)n);\n";
    assert!(text.contains(honest));
    let leak = "    { static volatile const unsigned char table[256] = {1}; sm[0] = table[sk[0]]; }\n";
    let leaking = text.replacen(honest, &format!("{honest}{leak}"), 1);
    assert!(traces(&leaking, Level::O2, 4).len() > 1);
}
