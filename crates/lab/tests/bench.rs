//! One trait for every machine that measures: the same calls are built, run and counted on each, and give the same results.

use santoku_lab::bench::{machine, measures, Built, Operation, Subject};
use santoku_lab::cross;
use santoku_lab::harness::{Arg, Call, Ret, Source};
use santoku_lab::LabError;
use std::collections::BTreeSet;

const TEXT: &str = "
void square(unsigned *out, unsigned n, const unsigned char *in);
unsigned work(unsigned n);
void square(unsigned *out, unsigned n, const unsigned char *in)
{
    volatile unsigned sum = 0;
    unsigned i;
    for (i = 0; i < n; i++) {
        sum += (unsigned)in[i] * in[i];
    }
    *out = sum;
}
unsigned work(unsigned n)
{
    volatile unsigned x = 1;
    while (n--) {
        x = x * 3 + 1;
    }
    return x;
}
";

fn subject(name: &str, text: &str) -> Subject {
    let square = Call {
        declaration: "void square(unsigned *out, unsigned n, const unsigned char *in)".into(),
        function: "square".into(),
        args: vec![Arg::Out(4), Arg::Word32(5), Arg::In(vec![1, 2, 3, 4, 250])],
        ret: Ret::Void,
    };
    let work = |n: u32| Call { declaration: "unsigned work(unsigned n)".into(), function: "work".into(), args: vec![Arg::Word32(n)], ret: Ret::Word32 };
    Subject::new(name, vec![Source::Text { name: "u.c".into(), text: text.into() }], vec![square, work(1000), work(10000)])
}

fn operations() -> Vec<Operation> {
    ["square", "short", "long"].map(|name| Operation { name: name.into(), bytes: 0 }).to_vec()
}

/// Machines that measure, by the name of a target on each.
fn targets() -> Vec<&'static str> {
    let mut seen = BTreeSet::new();
    let measured = santoku_target::machine_names().into_iter().filter(|name| {
        let target = cross::machine(name).expect("described");
        let run = target.run.as_ref().map(|r| r.machine.clone()).unwrap_or_default();
        measures(&target) && seen.insert(run)
    });
    measured.collect()
}

fn built(target: &str, subjects: &[Subject]) -> Result<Box<dyn Built>, LabError> {
    machine(&cross::machine(target).expect("described")).expect("it measures").build(subjects, &operations())
}

const SQUARES: u32 = 1 + 4 + 9 + 16 + 62500;

#[test]
fn the_same_calls_on_every_machine() {
    let mut tried = 0;
    let same = |n: u32| (0..n).fold(1u32, |x, _| x.wrapping_mul(3).wrapping_add(1));
    for target in targets() {
        let mut made = built(target, &[subject("a", TEXT), subject("b", TEXT)]).unwrap_or_else(|e| panic!("{target}: {e}"));
        let squares = made.run(0).unwrap_or_else(|e| panic!("{target}: {e}"));
        assert_eq!(squares.len(), 2);
        for o in &squares {
            assert_eq!(o.left.buffers[0].as_deref(), Some(&SQUARES.to_le_bytes()[..]), "{target}");
            assert_eq!(o.left.buffers[2].as_deref(), Some(&[1u8, 2, 3, 4, 250][..]), "{target}");
        }
        let (short, long) = (made.run(1).expect("a run"), made.run(2).expect("a run"));
        assert_eq!((short[0].left.ret as u32, long[1].left.ret as u32), (same(1000), same(10000)), "{target}");
        let (a, b) = (&short[0].measures, &long[0].measures);
        // Ten times the rounds: ten times the cycles and instructions, within what a call takes. Where others share the machine, its cycles vary:
        // there the longer call is only told from the shorter.
        let ratio = b.cycles as f64 / a.cycles as f64;
        let within = if a.spread.is_some() { 2.0..50.0 } else { 8.0..12.0 };
        assert!(within.contains(&ratio), "{target}: {} and {} cycles", a.cycles, b.cycles);
        let (i, j) = (a.instret.expect("counted"), b.instret.expect("counted"));
        assert!((8 * i..12 * i).contains(&j) && i >= 300, "{target}: {i} and {j} instructions");
        let fact = &made.facts()[0];
        let stack = fact.stack_accesses.expect("disassembled");
        assert!(stack.accesses > 3 && stack.accesses < stack.instructions && fact.size_bytes.is_some_and(|n| n > 40), "{target}: {fact:?}");
        if a.spread.is_none() {
            assert_eq!(squares[0].measures, squares[1].measures, "{target}: simulators repeat exactly");
            assert!(a.stack_bytes.is_some());
        } else {
            assert!(!made.note().is_empty() && made.raw().is_some());
        }
        println!("tried: {target}: {} cycles, {i} instructions", a.cycles);
        tried += 1;
    }
    assert_eq!(tried, 4, "e31, ckb-vm, zkvm, host");
}

#[test]
fn simulators_take_other_inputs_and_say_where_cycles_go() {
    let mut tried = 0;
    for target in targets() {
        let mut made = built(target, &[subject("a", TEXT)]).unwrap_or_else(|e| panic!("{target}: {e}"));
        let Ok(other) = made.run_on(0, 0, &[(2, vec![0, 0, 0, 0, 1])]) else { continue };
        assert_eq!(other.left.buffers[0].as_deref(), Some(&1u32.to_le_bytes()[..]), "{target}");
        for wrong in [(2, vec![1]), (1, vec![0; 4]), (9, vec![])] {
            assert!(matches!(made.run_on(0, 0, &[wrong.clone()]), Err(LabError::BadJob(_))), "{target}: {wrong:?}");
        }
        assert!(made.run_on(1, 0, &[]).is_err() && made.run_on(0, 7, &[]).is_err() && made.run(3).is_err());
        let profile = made.profile(0, 2, "work").unwrap_or_else(|e| panic!("{target}: {e}"));
        assert_eq!(profile.leaves[0].function, "work", "{target}");
        assert!(profile.svg.contains("<svg") && profile.leaves[0].self_cycles * 10 > profile.cycles * 9);
        tried += 1;
    }
    assert_eq!(tried, 3);
}

#[test]
fn what_does_not_build_or_end_is_an_error() {
    for target in targets() {
        assert!(matches!(built(target, &[]), Err(LabError::BadJob(_))), "{target}");
        let fewer = Subject { calls: vec![], ..subject("a", TEXT) };
        assert!(matches!(built(target, &[fewer]), Err(LabError::BadJob(_))), "{target}");
        assert!(built(target, &[subject("a", "not C")]).is_err(), "{target}");
        let stops = TEXT.replace("*out = sum;", "*out = sum; __builtin_trap();");
        let ran = built(target, &[subject("a", &stops)]).and_then(|mut made| made.run(0).map(drop));
        assert!(ran.is_err(), "{target}: a trap is no result");
    }
    let emulated = cross::machine("aarch64").expect("described");
    assert!(machine(&emulated).is_err_and(|e| e.to_string().contains("counts no cycles")));
}
