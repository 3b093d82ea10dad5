//! Every machine that is described: its library is built by each of its compilers and executed there on published vectors.

mod support;

use santoku_lab::calls::{run, Job};
use santoku_lab::cross::Cross;
use santoku_lab::harness::{Arg, Call, CallOutput, Ret, Source};
use santoku_lab::LabError;
use santoku_target::{Level, Target};
use santoku_workbench::p256;
use santoku_workbench::subject::ours;
use std::collections::{BTreeMap, BTreeSet};
use support::{c_file, failures, input, nacl, on_big_stack, published, shipped, tree, with_a_wrong_constant, Case};

/// C of a primitive for a target, its header pasted in. Targets whose C is the same share it.
#[derive(Default)]
struct Library(BTreeMap<String, String>);

impl Library {
    fn text(&mut self, primitive: &str, target: &Target) -> String {
        let key = format!("{primitive} {} {} {:?} {:?}", target.word_bits, target.widest, target.variable_time.mul, target.impls);
        let made = self.0.entry(key).or_insert_with(|| {
            let (tree, name) = (tree(), target.name.clone());
            let primitive = tree.primitive(primitive).expect("declared");
            let subject = on_big_stack(|| ours(&tree, &primitive, &name, Level::O2, &BTreeSet::new()).unwrap_or_else(|e| panic!("{name}: {e}")));
            match &subject.sources[0] {
                Source::Text { text, .. } => text.clone(),
                Source::File(path) => panic!("{}", path.display()),
            }
        });
        made.clone()
    }
}

/// Machines, with what there is of choices for them.
fn targets() -> Vec<Target> {
    santoku_target::names().into_iter().map(|name| tree().target(name).unwrap_or_else(|e| panic!("{e}"))).collect()
}

fn job(sources: Vec<Source>, calls: Vec<Call>, level: Level) -> Job {
    Job { sources, support: vec![], include_dirs: vec![shipped()], calls, level, flags: vec![] }
}

/// What fails of a batch of signatures, by `text` in the place of the library.
fn signatures(cross: &Cross, text: &str, cases: &[Case], level: Level) -> Result<Vec<String>, LabError> {
    let bytes = input(cases);
    let room: usize = cases.iter().map(|c| c.expected.len()).sum();
    let call = Call {
        declaration: "unsigned long long stk_batch(unsigned char *, const unsigned char *, unsigned long long)".into(),
        function: "stk_batch".into(),
        args: vec![Arg::Out(room), Arg::In(bytes.clone()), Arg::Word64(bytes.len() as u64)],
        ret: Ret::Word64,
    };
    let sources = vec![Source::Text { name: "nacl_sign.c".into(), text: text.into() }, Source::File(c_file("batch.c"))];
    let ran = run(cross, &job(sources, vec![call], level))?;
    assert_eq!(ran[0].ret as usize, room, "{}: bytes made", cross.target.name);
    Ok(failures(cases, ran[0].buffers[0].as_ref().expect("the output")))
}

/// Verdicts of P-256, one call a vector; what differs from those of the vectors' authors.
fn verdicts(cross: &Cross, text: &str, level: Level, step: usize) -> (usize, Vec<String>) {
    let vectors: Vec<_> = p256::vectors().into_iter().step_by(step).collect();
    let call = |(v, rs): &(santoku_vectors::ecdsa::P256Vector, [u8; 64])| Call {
        declaration: "_Bool p256_ecdsa_verify(const unsigned char *, const unsigned char *, const unsigned char *)".into(),
        function: "p256_ecdsa_verify".into(),
        args: vec![Arg::In(v.digest.to_vec()), Arg::In(rs.to_vec()), Arg::In(v.public[1..].to_vec())],
        ret: Ret::Word32,
    };
    let sources = vec![Source::Text { name: "p256.c".into(), text: text.into() }];
    let ran = run(cross, &job(sources, vectors.iter().map(call).collect(), level)).unwrap_or_else(|e| panic!("{}: {e}", cross.target.name));
    let wrong = |(o, (v, _)): (&CallOutput, &(santoku_vectors::ecdsa::P256Vector, [u8; 64]))| (!v.expected.agrees(o.ret != 0)).then(|| v.id.clone());
    assert_eq!(ran.len(), vectors.len());
    (vectors.len(), ran.iter().zip(&vectors).filter_map(wrong).collect())
}

/// Runs vectors on all targets; the names of those that were tried. `all`: every vector at every level, not a part at the first.
fn every_target(all: bool) -> BTreeSet<String> {
    let mut library = Library::default();
    let mut cases = published();
    cases.extend(nacl().into_iter().step_by(if all { 1 } else { 61 }));
    let (mut tried, mut ran) = (BTreeSet::new(), 0);
    for target in targets() {
        let sign = library.text("nacl.sign", &target);
        let verify = (target.widest == 128).then(|| library.text("ecdsa.p256", &target));
        for using in target.compilers.iter().filter(|c| !c.levels.is_empty()) {
            let cross = Cross::named(&target, Some(&using.name)).unwrap_or_else(|e| panic!("{e}"));
            for level in using.levels.iter().take(if all { usize::MAX } else { 1 }) {
                let what = format!("{} {} {level}", target.name, using.name);
                // Simulators take their time.
                let part: Vec<Case> = cases.iter().step_by(if all { 1 } else { 7 }).cloned().collect();
                let failed = signatures(&cross, &sign, &part, *level).unwrap_or_else(|e| panic!("{what}: {e}"));
                assert!(failed.is_empty(), "{what}: {} of {} fail: {:?}", failed.len(), part.len(), &failed[..failed.len().min(5)]);
                let mut counts = format!("{} records of signatures", part.len());
                if let Some(text) = &verify {
                    let (n, wrong) = verdicts(&cross, text, *level, if all { 1 } else { 6 });
                    assert!(wrong.is_empty() && n > 30, "{what}: {wrong:?}");
                    counts += &format!(", {n} verifications");
                }
                println!("tried: {what}: {counts}");
                ran += 1;
            }
        }
        tried.insert(target.name);
    }
    assert!(ran >= tried.len());
    tried
}

#[test]
fn every_described_machine_passes_vectors() {
    let tried = every_target(false);
    assert_eq!(tried, santoku_target::names().into_iter().map(str::to_string).collect());
    assert!(tried.len() >= 12, "{tried:?}");
}

#[test]
#[ignore = "minutes; `make soak` runs it"]
fn every_described_machine_passes_all_vectors_at_every_level() {
    every_target(true);
}

/// A wrong constant is seen on every kind of executor.
#[test]
fn a_wrong_constant_fails_on_every_kind_of_machine() {
    let mut library = Library::default();
    let cases = &published()[..4];
    for name in ["portable", "rv32", "rv64im", "aarch64", "s390x"] {
        let target = tree().target(name).unwrap_or_else(|e| panic!("{e}"));
        let text = with_a_wrong_constant(&library.text("nacl.sign", &target));
        let cross = Cross::find(&target, None).unwrap_or_else(|e| panic!("{e}"));
        let failed = signatures(&cross, &text, cases, Level::O2).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(failed.len(), 4, "{name}: {failed:?}");
    }
}

/// What a description must say before it is shipped: nothing is described that nobody builds.
#[test]
fn shipped_descriptions_are_whole() {
    let mut seen = 0;
    for target in targets() {
        let name = &target.name;
        assert!(!target.title.is_empty() && target.run.is_some() && !target.compilers.is_empty(), "{name}");
        assert_eq!(target.variable_time.mul.is_some(), !target.variable_time.source.is_empty(), "{name}: no source");
        assert!(target.compilers.iter().any(|c| !c.levels.is_empty()), "{name}: no level");
        seen += 1;
    }
    assert!(seen >= 12);
}
