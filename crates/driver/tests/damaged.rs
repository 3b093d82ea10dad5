//! Damaged programs of the library: whatever comes out, it is never a fault of ours.

mod support;

use proptest::prelude::*;
use santoku_driver::{built_in, check, read_choices, read_machine, Failure, Request};
use santoku_skips::seeds;
use std::path::Path;
use std::time::{Duration, Instant};
use support::pieces;

/// More than an answer takes on a slow machine.
const LONGEST: Duration = Duration::from_secs(30);

const PROGRAMS: &[&str] = &["hash/sha512.stk", "cipher/chacha20.stk", "cipher/rectangle.stk", "field/pseudo_mersenne.stk", "curve/ed25519.stk"];

fn lib(path: &str) -> Option<String> {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).ok()
}

fn outcome(entry: &str, text: &str) -> Result<(), Failure> {
    let target = santoku_driver::built_in("portable").unwrap().unwrap();
    let request = Request { roots: vec!["lib".into()], ..Request::new(entry, target) };
    let mut load = |path: &str| Ok(if path == entry { Some(text.to_string()) } else { lib(path) });
    check(&request, &mut load).map(drop)
}

#[test]
fn undamaged_programs_are_accepted() {
    for p in PROGRAMS {
        let entry = format!("lib/{p}");
        let text = lib(&entry).unwrap();
        assert!(outcome(&entry, &text).is_ok(), "{p}: {:?}", outcome(&entry, &text).err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, max_shrink_iters: 50, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_program_is_the_users_fault(
        program in proptest::sample::select(PROGRAMS),
        at in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
        how in 0..3u8,
    ) {
        let entry = format!("lib/{program}");
        let mut parts = pieces(&lib(&entry).unwrap());
        let (i, j) = (at.index(parts.len()), from.index(parts.len()));
        match how {
            0 => drop(parts.remove(i)),
            1 => parts[i] = parts[j].clone(),
            _ => parts.insert(i, parts[j].clone()),
        }
        if let Err(Failure::Internal { stage, message }) = outcome(&entry, &parts.concat()) {
            return Err(TestCaseError::fail(format!("internal error in {stage}: {message}")));
        }
    }
}

/// A description of a target with a piece left out, exchanged or doubled: a target that works, or the user's fault.
#[test]
fn a_damaged_tuning_file_is_the_users_fault() {
    tuning_files(200, 1);
}

#[test]
#[ignore = "long"]
fn soak_damaged_tuning_files_are_the_users_fault() {
    tuning_files(seeds::count(10_000), 1 + seeds::first());
}

/// So many changes of each file that describes a target.
fn tuning_files(each: u64, mut state: u64) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let listed = |folder: &str| std::fs::read_dir(root.join(folder)).unwrap().map(|e| e.unwrap().path()).filter(|p| !p.ends_with("compilers.toml"));
    let mut files: Vec<_> = listed("targets").chain(listed("tuned")).collect();
    files.sort();
    let mut below = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 9) as usize % n
    };
    let (mut tried, mut read, mut refused, mut checked) = (0, 0, 0, 0);
    for file in files {
        let choice = file.parent().is_some_and(|p| p.ends_with("tuned"));
        let whole = pieces(&std::fs::read_to_string(&file).unwrap());
        for _ in 0..each {
            let mut parts = whole.clone();
            let (i, j) = (below(parts.len()), below(parts.len()));
            match below(4) {
                0 => drop(parts.remove(i)),
                1 => parts.insert(i, parts[j].clone()),
                2 => parts[i] = parts[j].clone(),
                _ => parts[i] = ["0", "-1", "4294967296", "99999999999999999999", "\"", "[", "]", "=", "\u{0}", "é", "word_bits", "nan"][below(12)].to_string(),
            }
            tried += 1;
            let start = Instant::now();
            let (text, path) = (parts.concat(), "damaged.toml");
            let made = if choice { read_choices("damaged", path, &text, &mut built_in) } else { read_machine("damaged", path, &text) };
            match made {
                Ok(target) => {
                    read += 1;
                    // What it chooses may not exist.
                    if read % (each / 5).max(1) == 0 {
                        let entry = "lib/curve/ed25519.stk";
                        let request = Request { roots: vec!["lib".into()], ..Request::new(entry, target) };
                        let answer = check(&request, &mut |path: &str| Ok(lib(path)));
                        assert!(!matches!(answer, Err(Failure::Internal { .. })), "{}", parts.concat());
                        checked += 1;
                    }
                }
                Err(Failure::Refused { diagnostics, .. }) => {
                    assert!(diagnostics.iter().all(|d| d.code == "bad-description" && d.help.is_some()));
                    refused += 1;
                }
                Err(Failure::Internal { stage, message }) => panic!("internal error in {stage}: {message}\n{}", parts.concat()),
            }
            assert!(start.elapsed() < LONGEST, "{:?} for\n{}", start.elapsed(), parts.concat());
        }
    }
    println!("tried: {tried} tuning files, {read} read, {refused} refused, {checked} used");
    assert!(read > 100 && refused > 100 && checked > 0);
}
