//! Whole programs against the RTL: a TweetNaCl signature of 256 bytes must cost what the Rocket RTL says, within 0.5 %.
//!
//! `tests/data/e31-programs.tsv` holds what the RTL of `lab/rtl` printed for the calibration programs (GCC 12.2, rv32imc).
//! The O0 figure is older and of another driver; nine minutes of RTL simulation are not repeated for it.

use std::fs;
use std::path::{Path, PathBuf};

use santoku_lab::calibration::{build, run_on_model, timed_main};
use santoku_lab::harness::{run_rv32, Arg, Call, Level, Code, Ret, Rv32Job, Rv32Report, Source, Toolchain};
use santoku_lab::peers;
use santoku_lab::rv32::Config;

const PROGRAMS: &str = include_str!("data/e31-programs.tsv");
const O0_CYCLES: u64 = 215_876_060;
const TOLERANCE: f64 = 0.005;

fn root() -> PathBuf {
    peers::find_root(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("inside the repository")
}

fn tweetnacl() -> Option<peers::Peer> {
    match peers::fetch(&root(), "tweetnacl") {
        Ok(peer) => Some(peer),
        Err(error) => {
            santoku_skips::skip("TweetNaCl", format!("it cannot be fetched here: {error}"));
            None
        }
    }
}

fn toolchain() -> Toolchain {
    Toolchain::find().expect("the cross compiler is installed")
}

fn within(model: u64, rtl: u64) -> bool {
    (model as f64 / rtl as f64 - 1.0).abs() < TOLERANCE
}

fn sign(peer: &peers::Peer, level: Level) -> Rv32Report {
    let call = Call {
        declaration: "int crypto_sign_ed25519_tweet(unsigned char *, unsigned long long *, const unsigned char *, \
                      unsigned long long, const unsigned char *)"
            .into(),
        function: "crypto_sign_ed25519_tweet".into(),
        args: vec![
            Arg::Out(256 + 64),
            Arg::Out(8),
            Arg::In((0..=255).collect()),
            Arg::Word64(256),
            Arg::In((0..64).map(|i| i * 3 + 1).collect()),
        ],
        ret: Ret::Word32,
    };
    let sources = peer.sources.iter().cloned().map(Source::File).collect();
    let job = Rv32Job { include_dirs: peer.include_dirs.clone(), level, ..Rv32Job::new(sources, vec![call]) };
    run_rv32(&toolchain(), &job).expect("TweetNaCl runs")
}

#[test]
fn signatures_cost_what_the_rtl_says() {
    let Some(peer) = tweetnacl() else { return };
    let main = fs::read_to_string(root().join("lab/rtl/tweetnacl.h")).expect("the calibration driver is there");
    let mut compared = 0;
    for row in PROGRAMS.lines().filter(|l| !l.starts_with('#')) {
        let [_, level, cycles, instructions] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let level = Level::ALL.into_iter().find(|l| l.name() == level).expect("a level");
        let main = timed_main(&main, "sign()");
        let sources: Vec<Source> = peer.sources.iter().cloned().map(Source::File).chain([main]).collect();
        let (elf, _) = build(&toolchain(), &sources, Code::Compressed, level).expect("builds");
        let model = run_on_model(&elf, &Config::default()).expect("runs");
        assert_eq!(model[1], instructions.parse::<u64>().unwrap(), "{level:?}: another compiler than the RTL's");
        let cycles = cycles.parse().unwrap();
        assert!(within(model[0], cycles), "{level:?}: model {}, RTL {cycles}", model[0]);
        assert!(!within(model[0] + model[0] / 100, cycles), "the tolerance would hide one per cent");
        compared += 1;
    }
    assert_eq!(compared, 2);
}

#[test]
fn an_unoptimised_signature_costs_what_the_rtl_says_and_meets_its_stack_bound() {
    let Some(peer) = tweetnacl() else { return };
    let report = sign(&peer, Level::O0);
    let measure = report.measures[0];
    assert!(within(measure.cycles_core, O0_CYCLES), "{} cycles", measure.cycles_core);
    assert_eq!((report.stack_bounds[0].bytes, measure.stack_bytes), (3456, 3456));
    let path: Vec<&str> = report.stack_bounds[0].path.iter().filter_map(|f| f.rsplit(':').next()).collect();
    assert_eq!(path, ["crypto_sign_ed25519_tweet", "scalarbase", "scalarmult", "add", "M", "car25519"]);
}
